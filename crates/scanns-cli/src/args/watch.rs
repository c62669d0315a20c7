//! Arguments of `scanns watch`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::values::time;

/// Arguments of `scanns watch`.
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// The index, or a new directory for one of names and metadata
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// Directories to scan and to watch [default: those that the index has scanned]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// How long changes are collected before they are applied: 2s, 30s, 5m
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = time)]
    pub every: Duration,
    /// Index only directories and what else matches; may be given several times
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// Skip files and directories that match; may be given several times
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
    /// Skip files and directories whose names begin with a dot
    #[arg(long)]
    pub skip_hidden: bool,
    /// Stay in the file systems of the given paths
    #[arg(short = 'x', long)]
    pub one_file_system: bool,
    /// Print only failures
    #[arg(short, long)]
    pub quiet: bool,
}

/// Examples for the help.
pub const WATCH_EXAMPLES: &str = "\
Examples:
  scanns watch home.scanns /home
      scans /home, then follows it until Ctrl-C; a line is printed for each update
  scanns watch home.scanns --every 30s
      follows the directories that the index has scanned, with fewer updates

The options must be those of the scan. Changes by other machines, of network file systems, are not seen: give
scanns index --changes a list of them. Times of access are not followed.";
