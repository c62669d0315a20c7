//! Options about the fields of documents: the fields of JSON and CSV records, and the metadata of files.

use std::path::PathBuf;

use clap::Args;
use scanns::sources::CsvDelimiter;

/// Which fields documents have.
#[derive(Debug, Args)]
#[command(next_help_heading = "Fields")]
pub struct FieldArgs {
    /// The fields of JSON or CSV records: a file in the format of --infer-schema [default: the fields of the
    /// index; for a new index, the fields inferred from a sample of the records]
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// Infer the fields from a sample of the records, write them to FILE (- for standard output), and index
    /// nothing. Edit the file and pass it with --schema
    #[arg(long, value_name = "FILE", conflicts_with = "schema")]
    pub infer_schema: Option<PathBuf>,
    /// The field whose values are the keys of documents: a record replaces an earlier one with the same key,
    /// and search, delete, update and eval name documents by it [default: the key of the index or of the
    /// schema; for a new index, the first field of paths that all differ in a sample, if there is one]
    #[arg(long, value_name = "FIELD")]
    pub key: Option<String>,
    /// The delimiter of CSV values: one character, or tab [default: the most frequent one in the header of
    /// comma, semicolon, tab and bar]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub csv_delimiter: Option<CsvDelimiter>,
    /// Do not store the metadata of files as columns: path, name, ext, size, mtime, atime, ctime, owner,
    /// group, uid, gid, mode, inode, links and device. They are stored by default where a file is a document,
    /// and cannot be added to an existing index
    #[arg(long)]
    pub no_metadata: bool,
}

fn delimiter(text: &str) -> Result<CsvDelimiter, String> {
    CsvDelimiter::parse(text).map_err(|error| error.to_string())
}
