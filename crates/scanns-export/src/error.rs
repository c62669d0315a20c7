//! Why rows cannot be exported.

use std::io;
use std::path::PathBuf;

/// The result of work on rows.
pub(crate) type Result<T> = std::result::Result<T, ExportError>;

/// Why rows cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The values cannot be read.
    #[error(transparent)]
    Engine(#[from] scanns::Error),
    /// The order has a field that rows cannot be sorted by.
    #[error("cannot sort by texts, bytes and paths: sort by a number, a date or a keyword, or by key")]
    NotSortable,
    /// The column with this number contains invalid UTF-8, but is not binary.
    #[error("column {} contains a text that is not valid UTF-8", .0 + 1)]
    NotUnicode(usize),
    /// A value of the column with this name exceeds what Arrow can address.
    #[error("a value of {0} is larger than 2 GiB, the limit of Arrow and Parquet: omit the field")]
    TooLarge(String),
    /// The output cannot be written.
    #[error("cannot write the rows")]
    Write(#[source] io::Error),
    /// Rows do not fit into memory, and temporary files cannot be used.
    #[error(
        "cannot sort the rows with temporary files in {}: they need as much space as the rows",
        .place.display()
    )]
    Temporary {
        /// The directory for temporary files.
        place: PathBuf,
        /// What failed.
        source: io::Error,
    },
    /// The rows cannot be written in the format.
    #[error("cannot make a table of the rows")]
    Table(#[source] Box<dyn std::error::Error + Send + Sync>),
}
