//! Fields of documents: where those of records of JSON and CSV come from, and what is kept of files beside
//! their text.

use std::path::PathBuf;

use clap::Args;
use scanns::sources::CsvDelimiter;

/// What fields records have.
#[derive(Debug, Args)]
#[command(next_help_heading = "Fields")]
pub struct FieldArgs {
    /// The fields of records of JSON or CSV: a file as --infer-schema writes it [default: the fields that
    /// the index has; for a new index those that a sample of the records suggests]
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// Write the fields that a sample of the records suggests to FILE, or to standard output if FILE is -,
    /// and index nothing: edit it, and give it back with --schema
    #[arg(long, value_name = "FILE", conflicts_with = "schema")]
    pub infer_schema: Option<PathBuf>,
    /// What stands between the values of CSV: one character, or tab [default: what stands most often in the
    /// header: a comma, a semicolon, a tab or a bar]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub csv_delimiter: Option<CsvDelimiter>,
    /// Where every file is a document, keep as columns what the file system says of it: path, name, ext,
    /// size, mtime, atime, ctime, owner, group, uid, gid, mode, inode, links and device. An index has
    /// these from its first build on, or never
    #[arg(long)]
    pub metadata: bool,
}

fn delimiter(text: &str) -> Result<CsvDelimiter, String> {
    CsvDelimiter::parse(text).map_err(|error| error.to_string())
}
