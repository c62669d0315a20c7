//! What can be typed to export.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::columns::{SortArg, sort};
use super::values::timeout;
use super::{ModelArgs, OperatorArg};
use crate::units::parse_size;

pub const EXPORT_EXAMPLES: &str = "\
Examples:
  scanns export docs.scanns -o docs.csv
      all documents with all values that are kept
  scanns export files.scanns 'size:>1GiB mtime:<now-1y' --default-operator and --fields _key,size,owner
      large files that nobody has changed for a year, as CSV on standard output
  scanns export log.scanns 'status:500' -o errors.jsonl
      one JSON object a line
  scanns export crawl.scanns --fields host,status,length -o crawl.parquet
      for DuckDB, pandas, Polars or Spark
  scanns export crawl.scanns 'lang:de' --format arrow | python3 -c 'import sys, pyarrow as pa
print(pa.ipc.open_stream(sys.stdin.buffer).read_all())'
      as a stream of Arrow on standard output
  scanns export files.scanns 'ext:iso' --sort owner,size:desc -o iso.csv
      by owner, of each the largest first
  scanns export crawl.scanns -o all.jsonl --resume
      the same command until it is done, whatever comes in between

Rows are in the order of documents unless --sort says otherwise; memory does not grow with them in either
case. In CSV, several values of a field have a semicolon between them; in JSON lines they are a list, and
a field without a value is left out. Dates are in RFC 3339, bytes in hexadecimal; in JSON lines, what is
no UTF-8 in a text is replaced.

In Arrow and Parquet every field has its own type: unsigned and signed 64-bit integers, doubles, truths,
times in nanoseconds of UTC, bytes, and texts. No value is a null, and a field of which some document of
the index has several values is a list in every row, as is one that is only stored. A field in which a
text is no UTF-8 is bytes instead, so nothing is lost.";

/// Arguments of `scanns export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The index
    #[arg(value_name = "NAME.scanns")]
    pub index: PathBuf,
    /// Which documents; see scanns search [default: all]
    #[arg(value_name = "QUERY")]
    pub query: Option<String>,
    /// What to write of each, in this order; _key is the name of the document [default: _key and all that is
    /// kept]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub fields: Vec<String>,
    /// The order of rows, as in scanns search: columns, as in size:desc,owner, behind each of which may
    /// stand :asc, :desc, and :first for documents without a value to come first; score; key or -key
    /// [default: the order of the index]
    #[arg(long, value_name = "ORDER", allow_hyphen_values = true, value_parser = sort)]
    pub sort: Option<SortArg>,
    /// How many bytes of rows are sorted in memory; what is more goes through temporary files beside FILE,
    /// or in $TMPDIR for standard output
    #[arg(long, value_name = "SIZE", default_value = "128MiB", value_parser = parse_size, requires = "sort")]
    pub sort_memory: u64,
    /// How rows are written [default: by the ending of the file, or csv]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ExportFormat>,
    /// How Arrow and Parquet are compressed [default: zstd for Parquet, none for Arrow]
    #[arg(long, value_name = "HOW")]
    pub compression: Option<ExportCompression>,
    /// The file to write, which appears when it is whole; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Go on where an export to FILE was stopped or killed, if there is something to go on with; the command
    /// must be the same, and the index too. CSV and JSON lines only: Arrow and Parquet are begun anew
    #[arg(long)]
    pub resume: bool,
    /// How often it is made sure how much of FILE can be gone on with: what is lost when an export is killed
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = timeout)]
    pub checkpoint_every: Duration,
    /// How words without an operator between them combine
    #[arg(long, value_name = "OPERATOR", default_value = "or")]
    pub default_operator: OperatorArg,
    #[command(flatten)]
    pub model: ModelArgs,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Cells with commas between them, quoted where they must be; a header first. Endings: all that are not
    /// below
    Csv,
    /// A JSON object a line: .jsonl, .json, .ndjson
    Jsonl,
    /// Arrow IPC, a file: .arrow, .feather; a stream on standard output
    Arrow,
    /// Apache Parquet: .parquet
    Parquet,
}

/// How what is written is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportCompression {
    /// Not at all
    None,
    /// Least work, least gain; Parquet only
    Snappy,
    /// Fast
    Lz4,
    /// Small
    Zstd,
}
