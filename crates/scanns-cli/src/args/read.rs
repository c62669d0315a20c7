//! Options about how inputs are read.

use clap::{Args, ValueEnum};
use scanns::sources::PageSize;

use super::values::positive;
use crate::units;

/// How to read the inputs.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Reading (advanced)")]
pub struct ReadArgs {
    /// Number of read threads
    #[arg(long, value_name = "N", value_parser = positive)]
    pub read_threads: Option<usize>,
    /// Number of index threads, a multiple of the read threads
    #[arg(long, value_name = "N", value_parser = positive)]
    pub index_threads: Option<usize>,
    /// Bytes per block, a multiple of 4KiB [default: 1MiB]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    pub block_size: Option<u64>,
    /// Blocks per index thread, at least 2 [default: 4]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub blocks: Option<usize>,
    /// Concurrent reads per index thread [default: 4]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub queue_depth: Option<usize>,
    /// Divide files of lines among threads in chunks of this size
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = units::parse_size)]
    pub chunk_size: u64,
    /// When to bypass the page cache
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub direct: DirectArg,
    /// Drop files from the page cache after reading them
    #[arg(long)]
    pub drop_cache: bool,
    /// Use plain system calls even if io_uring works
    #[arg(long)]
    pub no_uring: bool,
    /// Keep threads near their memory on machines with several NUMA nodes (the default)
    #[arg(long, overrides_with = "no_pin")]
    pub pin: bool,
    /// Leave the placement of threads to the system
    #[arg(long)]
    pub no_pin: bool,
    /// Size of the pages for blocks, terms and postings [default: auto]
    #[arg(long, value_enum, value_name = "SIZE")]
    pub arena_page: Option<PageArg>,
}

/// When to bypass the page cache.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DirectArg {
    /// For large files that are not in the page cache
    Auto,
    /// For all large files, if the file system allows it
    Always,
    /// For no file
    Never,
}

/// Page sizes.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum PageArg {
    /// The size that is cheaper on this machine, measured as memory grows
    Auto,
    /// Base pages
    #[value(name = "4KiB")]
    Base,
    /// Huge pages, if the machine grants them
    #[value(name = "2MiB")]
    Huge,
}

impl From<PageArg> for PageSize {
    fn from(page: PageArg) -> Self {
        match page {
            PageArg::Auto => PageSize::Auto,
            PageArg::Base => PageSize::Base,
            PageArg::Huge => PageSize::Huge,
        }
    }
}
