//! Errors of exports, with the options of the command that help.

use anyhow::{Error, anyhow};
use scanns_export::ExportError;

/// The error as the command reports it.
pub fn told(error: ExportError) -> Error {
    let text = error.to_string();
    match error {
        // The error of the system tells whether the reader of a pipe has ended.
        ExportError::Write(source) => Error::new(source).context(text),
        ExportError::Temporary { source, .. } => {
            Error::new(source).context(format!("{text}; --sort-memory sets how much is sorted in memory"))
        }
        ExportError::TooLarge(_) => anyhow!("{text} from --fields"),
        ExportError::Engine(error) => Error::new(error),
        error => Error::new(error),
    }
}
