//! One typed error per kind of failure: what was expected, what was found, where, and what to do.
//!
//! Every room to the right returns [`Error`]; the command line prints it as it is, so its text is written for
//! the person who has to act on it.

use std::path::{Path, PathBuf};

/// What every fallible function of this crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure, in words that say what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused a file operation.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// What was tried, as a verb: `open`, `read`, `sync`.
        action: &'static str,
        /// The file or directory it was tried on.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },

    /// The operating system refused a resource that is no file: memory, threads, a ring.
    #[error("cannot {action}: {source}; {remedy}")]
    System {
        /// What was tried.
        action: &'static str,
        /// What the operating system said.
        source: std::io::Error,
        /// What the user can do about it.
        remedy: &'static str,
    },

    /// A path that should be an index is something else.
    #[error("{} is not a scanns index: {why}", .path.display())]
    NotAnIndex {
        /// The path that was given.
        path: PathBuf,
        /// What is missing or in the way, and what to do.
        why: &'static str,
    },

    /// A file was written by a newer version of this program.
    #[error("{file} has format version {found}, this program reads up to {supported}: use a newer scanns")]
    NewerFormat {
        /// Name of the file.
        file: String,
        /// The version in the file.
        found: u32,
        /// The newest version that this program reads.
        supported: u32,
    },

    /// Bytes are not what the format says: damage, truncation, or another program's file.
    #[error(
        "{file} is damaged: {what}; restore the file from a copy, keep what is whole with scanns check --salvage, or \
         build the index again"
    )]
    Corrupt {
        /// Name of the file or structure.
        file: String,
        /// What was expected and what was found.
        what: String,
    },

    /// Another process is writing to the index.
    #[error("{} is being written by another process: wait for it to end, or give another output", .path.display())]
    Locked {
        /// The index.
        path: PathBuf,
    },

    /// A file of which an index keeps no text is not what it was when it was indexed.
    #[error(
        "{} is not what it was when it was indexed: {what}; bring the index up to date with scanns index, or keep text in \
         it with --store content", .path.display()
    )]
    SourceChanged {
        /// The file.
        path: PathBuf,
        /// What has changed.
        what: String,
    },

    /// An index writer that failed before; what it had not committed is lost.
    #[error(
        "the writer failed, and what it had not committed is lost: {cause}; open the index again, and write it again"
    )]
    WriterFailed {
        /// What went wrong first.
        cause: String,
    },

    /// A query that does not parse, or that this index cannot answer.
    #[error("query: {message}, at character {at}: {query}")]
    Query {
        /// The query as given.
        query: String,
        /// What is wrong and what to write instead.
        message: String,
        /// Position of the fault, in characters from 1.
        at: usize,
    },

    /// A query in JSON that is none, or that this index cannot answer.
    #[error("query: {path}{}{message}", if .path.is_empty() { "" } else { ": " })]
    QueryJson {
        /// Where in the JSON, as in `bool.must[1].fuzzy.edits`; empty for the whole.
        path: String,
        /// What is wrong and what to write instead.
        message: String,
    },

    /// An option or a combination of options that cannot work.
    #[error("{0}")]
    Options(String),

    /// The work was asked to stop.
    #[error("stopped on request; what was committed before stays")]
    Cancelled,
}

impl Error {
    /// An [`Error::Io`] about `path`.
    pub fn io(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        Error::Io { action, path: path.to_path_buf(), source }
    }

    /// An [`Error::Corrupt`] about the file or structure called `file`.
    pub fn corrupt(file: impl Into<String>, what: impl Into<String>) -> Self {
        Error::Corrupt { file: file.into(), what: what.into() }
    }
}
