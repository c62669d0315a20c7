//! Why a file has no text, in words for its owner.

use std::io;
use std::process::ExitStatus;

use thiserror::Error;

use super::frame::FrameError;

/// The longest reason.
const REASON_CHARS: usize = 1000;

/// Why text was not extracted.
#[derive(Debug, Error)]
pub enum ExtractFailure {
    /// The file has no format that the extractor knows.
    #[error("not a document of a known format")]
    NotADocument,
    /// The extractor knows the format but cannot read this file.
    #[error("the document cannot be read: {0}")]
    Failed(String),
    /// The child process ended while it read the file.
    #[error("the extractor crashed on this file ({status}){}", with_colon(.message))]
    Died {
        /// The signal or status.
        status: ExitStatus,
        /// The end of what it wrote to its standard error.
        message: String,
    },
    /// There was no whole answer in time.
    #[error("no text after {seconds} s; raise the time limit to wait longer")]
    TimedOut {
        /// The limit.
        seconds: u64,
    },
    /// The child reached its memory limit.
    #[error(
        "the document needs more than {} MiB of memory; raise the extractors' memory limit",
        .limit >> 20
    )]
    TooMuchMemory {
        /// The limit in bytes.
        limit: u64,
    },
    /// The caller asked to stop.
    #[error("cancelled")]
    Cancelled,
    /// The child process or the copy of a file for it could not be made.
    #[error("cannot start the text extractor: {0}")]
    Start(#[source] io::Error),
    /// The answer breaks the protocol.
    #[error("the extractor's answer is invalid: {0}; report this as a bug of the extractor")]
    Protocol(String),
}

impl From<FrameError> for ExtractFailure {
    fn from(error: FrameError) -> Self {
        Self::Protocol(error.to_string())
    }
}

impl ExtractFailure {
    /// The child answered as it should and can serve the next file.
    pub(super) fn is_answer(&self) -> bool {
        matches!(self, Self::NotADocument | Self::Failed(_))
    }
}

/// A child's words on one line, without control characters and not too many: a document may have chosen them.
pub(super) fn printable(bytes: &[u8]) -> String {
    let all = String::from_utf8_lossy(bytes);
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    let line: String = all.trim().chars().take(REASON_CHARS).map(visible).collect();
    line.trim().to_owned()
}

fn with_colon(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_line_that_cannot_steer_a_terminal() {
        assert_eq!(printable(b"\n bad \x1b[31mtable\nof\xff pages\n"), "bad  [31mtable of\u{fffd} pages");
        assert_eq!(printable(&[b'x'; 5000]).len(), REASON_CHARS);
    }
}
