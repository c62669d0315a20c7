//! The arguments of `scanns extract`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `scanns extract`.
#[derive(Debug, Args)]
pub struct ExtractArgs {
    /// The files
    #[arg(value_name = "FILE", required_unless_present = "serve")]
    pub files: Vec<PathBuf>,
    /// Print a JSON object for each file
    #[arg(long)]
    pub json: bool,
    /// Serve files that arrive at standard input, a socket
    #[arg(long, hide = true, conflicts_with = "files")]
    pub serve: bool,
}

/// Examples of `scanns extract`.
pub const EXTRACT_EXAMPLES: &str = "\
Examples:
  scanns extract paper.pdf             show the text and the fields that an index has of a file
  scanns extract --json *.nc | jq .fields.var

A file is read in a process that cannot write, has no network, and takes at most 60 seconds and 2 GiB.";
