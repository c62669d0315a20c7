//! Why a document gave no text, or not all of it.

use std::io;

use thiserror::Error;

/// An error of an extractor. What was found before it stays in the output.
#[derive(Debug, Error)]
pub enum ExtractError {
    /// The bytes break the rules of the format.
    #[error("damaged {format}: {reason}")]
    Damaged {
        /// The name of the format.
        format: &'static str,
        /// The rule that the bytes break.
        reason: String,
    },
    /// The document needs a password, or its text is encrypted in another way.
    #[error("encrypted {format}")]
    Encrypted {
        /// The name of the format.
        format: &'static str,
    },
    /// The document is sound, but this program cannot read it.
    #[error("unsupported {format}: {reason}")]
    Unsupported {
        /// The name of the format.
        format: &'static str,
        /// What is missing.
        reason: String,
    },
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl ExtractError {
    /// An error about bytes that break the rules of `format`.
    pub fn damaged(format: &'static str, reason: impl ToString) -> Self {
        Self::Damaged { format, reason: reason.to_string() }
    }
}
