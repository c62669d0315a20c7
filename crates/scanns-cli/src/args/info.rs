//! Arguments of `scanns info`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::values::positive;

/// Arguments of `scanns info`.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// The index
    #[arg(value_name = "NAME.scanns")]
    pub index: PathBuf,
    /// List the terms that begin with PREFIX, and the number of documents that contain each
    #[arg(long, value_name = "PREFIX")]
    pub terms: Option<OsString>,
    /// Maximum number of terms to list
    #[arg(long, value_name = "N", default_value = "20", requires = "terms", value_parser = positive)]
    pub limit: usize,
    /// List the segments
    #[arg(long)]
    pub segments: bool,
    /// List the fields; for columns with the numbers of documents and values, the least and the greatest
    /// value, the number of different keywords, the size, and the encodings of blocks
    #[arg(long)]
    pub fields: bool,
    /// Count the different terms of the index, which reads all of them
    #[arg(long)]
    pub unique: bool,
    /// Say which directories were scanned and which dumps were read, when, and what is missing. The exit code
    /// is 1 if anything is
    #[arg(long, conflicts_with_all = ["terms", "segments", "fields", "unique"])]
    pub completeness: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
