//! Arguments of `scanns duplicates`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::diff::DiffFormatArg;
use super::values::positive;
use crate::units;

/// Arguments of `scanns duplicates`.
#[derive(Debug, Args)]
pub struct DuplicatesArgs {
    /// The index of a file system, from scanns index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// Compare only files at and below these paths in the index
    #[arg(value_name = "PATH")]
    pub paths: Vec<OsString>,
    /// Leave out smaller files
    #[arg(long, value_name = "SIZE", default_value = "1", value_parser = units::parse_size)]
    pub min_size: u64,
    /// Compare the bytes of files whose hashes are equal, too
    #[arg(long)]
    pub verify: bool,
    /// How groups are written; csv and json show other names of a file (hard links), too
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "lines")]
    pub format: DiffFormatArg,
    /// End paths with NUL, and groups with another NUL
    #[arg(short = '0', long, conflicts_with = "format")]
    pub null: bool,
    /// Keep hashes in FILE, so that a later run reads only files that are new or have changed
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// The number of threads that read [default: one per processor, at most 8]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub threads: Option<usize>,
    /// Sort files that need more memory in temporary files
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = units::parse_size)]
    pub memory: u64,
    /// The directory of temporary files [default: $TMPDIR or /tmp]
    #[arg(long, value_name = "DIR")]
    pub temporary: Option<PathBuf>,
}

/// Examples for the help.
pub const DUPLICATES_EXAMPLES: &str = r"Examples:
  scanns duplicates fs.scanns --min-size 1m
      groups of files with equal content, the greatest waste first
  scanns duplicates fs.scanns /data/lab /home --resume hashes.scanhash
      can be stopped at any time; the same command goes on, and next month it reads only what is new
  scanns duplicates fs.scanns --format json | jq -r 'select(.wasted > 1e9) | .files[].path'
  scanns duplicates fs.scanns --verify -0 > groups

Nothing is changed. Only files whose size another file has are read: first 4 KiB at their start and end, then,
of those that are alike, all bytes. Their hashes have 128 bits (xxh3); --verify compares the bytes, too.
A file with several names (hard links) is read once and wastes nothing: = marks another name of a file.
Files that have changed since they were indexed are left out and counted: update the index to compare them.
Exit codes: 0 done; 1 some files were left out; 2 trouble; 130 stopped.";
