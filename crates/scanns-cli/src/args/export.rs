//! What can be typed to export.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::OperatorArg;

pub const EXPORT_EXAMPLES: &str = "\
Examples:
  scanns export docs.scanns -o docs.csv
      all documents with all values that are kept
  scanns export files.scanns 'size:>1GiB mtime:<now-1y' --default-operator and --fields _key,size,owner
      large files that nobody has changed for a year, as CSV on standard output
  scanns export log.scanns 'status:500' -o errors.jsonl
      one JSON object a line

Rows are in the order of documents. In CSV, several values of a field have a semicolon between them; in JSON lines they are a
list, and a field without a value is left out. Dates are in RFC 3339, bytes in hexadecimal.";

/// Arguments of `scanns export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The index
    #[arg(value_name = "NAME.scanns")]
    pub index: PathBuf,
    /// Which documents; see scanns search [default: all]
    #[arg(value_name = "QUERY")]
    pub query: Option<String>,
    /// What to write of each, in this order; _key is the name of the document [default: _key and all that is kept]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub fields: Vec<String>,
    /// How rows are written [default: by the ending of the file, or csv]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ExportFormat>,
    /// The file to write, which appears when it is whole; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// How words without an operator between them combine
    #[arg(long, value_name = "OPERATOR", default_value = "or")]
    pub default_operator: OperatorArg,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Cells with commas between them, quoted where they must be; a header first
    Csv,
    /// A JSON object a line
    Jsonl,
}
