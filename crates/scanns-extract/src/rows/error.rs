//! Why the rows of a table cannot be written.

use std::io;

use thiserror::Error;

/// An error of a table. The rows before it were written.
#[derive(Debug, Error)]
pub enum RowsError {
    /// The bytes break the rules of the format.
    #[error("damaged {format} after {rows} rows: {reason}")]
    Damaged {
        /// The name of the format.
        format: &'static str,
        /// The rows that were written.
        rows: u64,
        /// The rule that the bytes break.
        reason: String,
    },
    /// The table is sound, but this program cannot read it.
    #[error("unsupported {format}: {reason}")]
    Unsupported {
        /// The name of the format.
        format: &'static str,
        /// What is missing.
        reason: String,
    },
    /// The table needs a key.
    #[error("encrypted Parquet")]
    Encrypted,
    /// The file does not begin as a table does.
    #[error("neither Parquet nor Arrow")]
    NotATable,
    /// The file cannot be read.
    #[error("cannot read the table: {0}")]
    Input(#[source] io::Error),
    /// The rows cannot be written.
    #[error("cannot write the rows: {0}")]
    Output(#[source] io::Error),
}
