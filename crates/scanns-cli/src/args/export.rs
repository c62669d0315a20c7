//! Arguments of `scanns export`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::access::AsUserArgs;
use super::columns::{SortArg, sort};
use super::values::timeout;
use super::{ModelArgs, OperatorArg};
use crate::units::parse_size;

pub const EXPORT_EXAMPLES: &str = "\
Examples:
  scanns export docs.scanns -o docs.csv
      exports all documents with all columns and stored fields
  scanns export files.scanns 'size:>1GiB mtime:<now-1y' --default-operator and --fields _key,size,owner
      prints large files that nobody has changed for a year, as CSV
  scanns export log.scanns 'status:500' -o errors.jsonl
      writes one JSON object per line
  scanns export crawl.scanns --fields host,status,length -o crawl.parquet
      writes Parquet, for DuckDB, pandas, Polars or Spark
  scanns export crawl.scanns 'lang:de' --format arrow | python3 -c 'import sys, pyarrow as pa
print(pa.ipc.open_stream(sys.stdin.buffer).read_all())'
      streams Arrow to another program
  scanns export files.scanns 'ext:iso' --sort owner,size:desc -o iso.csv
      sorts by owner, and the files of each owner by descending size
  scanns export crawl.scanns -o all.jsonl --resume
      resumes an interrupted export; run the same command until it is done

Rows are in index order, unless --sort is given. Memory does not grow with the number of rows. In CSV,
several values of a field are separated by semicolons. In JSON lines they are a list, and a field without a
value is omitted. Dates are in RFC 3339, bytes in hexadecimal. In JSON lines, invalid UTF-8 in a text is
replaced, and the bytes of the text follow in hexadecimal as NAME_bytes.

In Arrow and Parquet every field has its own type: unsigned and signed 64-bit integers, doubles, booleans,
UTC timestamps in nanoseconds, bytes, and texts. A missing value is a null. A field is a list in every row
if some document of the index has several values, or if the field is only stored. A field with a text that
is not valid UTF-8 has the type bytes instead, so that nothing is lost.";

/// Arguments of `scanns export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The index; more indexes may follow, and are exported as one
    #[arg(value_name = "NAME.scanns")]
    pub index: PathBuf,
    /// The documents to export, as in scanns search [default: all]
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    #[command(flatten)]
    pub as_user: AsUserArgs,
    /// The fields to export, in this order; _key is the key of the document [default: _key, all columns and
    /// all stored fields]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub fields: Vec<String>,
    /// The order of rows, as in scanns search: score; key or -key; or columns, as in size:desc,owner, each
    /// with an optional :asc or :desc, and :first to put documents without a value first [default: index
    /// order]
    #[arg(long, value_name = "ORDER", allow_hyphen_values = true, value_parser = sort)]
    pub sort: Option<SortArg>,
    /// Maximum size of the rows to sort in memory; more rows are sorted in temporary files next to FILE, or
    /// in $TMPDIR for standard output
    #[arg(long, value_name = "SIZE", default_value = "128MiB", value_parser = parse_size, requires = "sort")]
    pub sort_memory: u64,
    /// The output format [default: by the extension of FILE, or csv]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ExportFormat>,
    /// The compression of Arrow and Parquet [default: zstd for Parquet, none for Arrow]
    #[arg(long, value_name = "HOW")]
    pub compression: Option<ExportCompression>,
    /// The file to write, which appears when it is complete; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Resume an export to FILE that was stopped or killed, if there is one; the command and the index must
    /// be the same. CSV and JSON lines only: an export to Arrow or Parquet must be started again
    #[arg(long)]
    pub resume: bool,
    /// How often to save progress, so that --resume loses no more than this
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = timeout)]
    pub checkpoint_every: Duration,
    /// How to combine words without an operator between them
    #[arg(long, value_name = "OPERATOR", default_value = "or")]
    pub default_operator: OperatorArg,
    #[command(flatten)]
    pub model: ModelArgs,
}

/// Output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Comma-separated values with a header; the default for all other extensions
    Csv,
    /// One JSON object per line: .jsonl, .json, .ndjson
    Jsonl,
    /// Arrow IPC: a file (.arrow, .feather), or a stream on standard output
    Arrow,
    /// Apache Parquet: .parquet
    Parquet,
}

/// Compression methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportCompression {
    /// No compression
    None,
    /// Least work, least savings; Parquet only
    Snappy,
    /// Fast
    Lz4,
    /// Small
    Zstd,
}
