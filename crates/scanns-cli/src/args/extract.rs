//! The arguments of `scanns extract`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::values::time;
use crate::units::parse_size;

/// What a process that finds the text of documents may take.
#[derive(Clone, Copy, Debug, Args)]
pub struct ExtractLimitArgs {
    /// How long finding the text of one document may take
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time)]
    pub extract_time: Duration,
    /// The memory of a process that finds the text of documents, as address space
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = parse_size)]
    pub extract_memory: u64,
}

/// Arguments of `scanns extract`.
#[derive(Debug, Args)]
pub struct ExtractArgs {
    /// The files
    #[arg(value_name = "FILE", required_unless_present = "process")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub limits: ExtractLimitArgs,
    /// Print a JSON object for each file
    #[arg(long)]
    pub json: bool,
    /// Serve files that arrive at standard input, a socket
    #[arg(long, hide = true, group = "process", conflicts_with = "files")]
    pub serve: bool,
    /// Write the rows of the table at standard input as JSON Lines, with this memory
    #[cfg(feature = "arrow")]
    #[arg(long, value_name = "BYTES", hide = true, group = "process", conflicts_with = "files")]
    pub rows: Option<u64>,
}

/// Examples of `scanns extract`.
pub const EXTRACT_EXAMPLES: &str = "\
Examples:
  scanns extract paper.pdf             show the text and the fields that an index has of a file
  scanns extract --json *.nc | jq .fields.var

A file is read in a process that cannot write, has no network, and takes at most --extract-time and
--extract-memory.";
