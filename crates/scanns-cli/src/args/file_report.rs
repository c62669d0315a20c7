//! Arguments of `scanns report`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use scanns::schema::parse_date;

use super::values::{days, positive};

/// Arguments of `scanns report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The index of a file system, from scanns index --content none or --dump
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// Files and directories in the index [default: everything]
    #[arg(value_name = "PATH")]
    pub paths: Vec<OsString>,
    /// The output format [default: by the extension of FILE, or table]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ReportFormat>,
    /// The file to write, which appears when it is complete; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// The most rows of each list [default: 10 in a table, 50 elsewhere]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub top: Option<usize>,
    /// Files are cold if they were neither read nor written for this number of days
    #[arg(long, value_name = "DAYS", default_value = "365", value_parser = days)]
    pub cold: u32,
    /// The date from which ages count, such as 2026-11-01 or 2026-11-01T12:00:00Z [default: now]
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub now: Option<i64>,
}

/// Formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Tables for a terminal
    Table,
    /// One table of all rows with the columns section, name, class, entries, size, space and value: .csv
    Csv,
    /// The same table as Apache Parquet: .parquet
    Parquet,
    /// One JSON object with all sums, lists and the tree of large directories: .json
    Json,
    /// One page with a map of directories, for a browser; it needs nothing else: .html
    Html,
}

fn date(text: &str) -> Result<i64, String> {
    parse_date(text.as_bytes()).ok_or_else(|| "not a date: write 2026-11-01 or 2026-11-01T12:00:00Z".into())
}

/// Examples for the help.
pub const REPORT_EXAMPLES: &str = "\
Examples:
  scanns report fs.scanns
      who has the space, how old it is, and which directories and files are the largest
  scanns report fs.scanns /data/lab --top 20 --cold 180
      the same below a directory, with longer lists; files not used for half a year are cold
  scanns report fs.scanns -o report.html
      a page for a browser, with a map of the directories; it can be sent by mail
  scanns report fs.scanns --format csv | grep ^owners
      rows for a spreadsheet or another program: section, name, class, entries, size, space, value
  scanns report fs.scanns -o report.parquet
      the same rows for DuckDB, pandas or Spark
  scanns report fs.scanns --format json | jq '.totals.cold.space'

A file with several names counts once, at the first of its names. Space is what files take on the medium, size
is what they hold. A file is cold only if both dates are known; many file systems note reads once a day, or
never. Values that the index does not know are counted, and the first entry is named.";
