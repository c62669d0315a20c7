//! One typed error per kind of failure: what was expected, what was found, where, and what to do.
//!
//! Every room to the right returns [`Error`]; the command line prints it as it is, so its text is written for
//! the person who has to act on it.

use std::any::Any;
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
        "{file} is damaged: {what}; restore the file from a copy, salvage the intact segments, or build \
         the index again"
    )]
    Corrupt {
        /// Name of the file or structure.
        file: String,
        /// What was expected and what was found.
        what: String,
    },

    /// Another process is writing to the index.
    #[error("{path} is being written by another process: wait for it to end, or give another output",
        path = .path.display())]
    Locked {
        /// The index.
        path: PathBuf,
    },

    /// A file of which an index keeps no text is not what it was when it was indexed.
    #[error(
        "{} is not what it was when it was indexed: {what}; index it again, or keep the text of documents \
         in the index",
        .path.display()
    )]
    SourceChanged {
        /// The file.
        path: PathBuf,
        /// What has changed.
        what: String,
    },

    /// An index writer that failed before; what it had not committed is lost.
    #[error(
        "the writer failed, and what it had not committed is lost: {cause}; open the index again, and \
         write it again"
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

    /// A name that is not one of a fixed set of names.
    #[error("unknown {what} '{name}': use {known}")]
    UnknownName {
        /// What kind of thing the name should name, as in `analyzer` or `operator`.
        what: &'static str,
        /// The name as given.
        name: String,
        /// The names that are known, as a list to read.
        known: String,
    },

    /// A field that the index or the schema does not have.
    #[error("no field '{field}'{}", list_of_fields(.known))]
    UnknownField {
        /// The name as given.
        field: String,
        /// The fields that exist.
        known: Vec<String>,
    },

    /// A field that cannot be defined, or cannot be used in this way.
    #[error("field '{field}' {problem}; {remedy}")]
    InvalidField {
        /// Name of the field.
        field: String,
        /// What is wrong with it, to be read after its name.
        problem: String,
        /// What to do instead.
        remedy: String,
    },

    /// A value outside the values that are allowed.
    #[error("invalid {what} {found}: expected {expected}")]
    InvalidValue {
        /// The parameter or the part of the input, as in `k1 of bm25`.
        what: String,
        /// The value as given.
        found: String,
        /// The values that are allowed.
        expected: String,
    },

    /// Two settings that exclude each other, or a setting that contradicts the index.
    #[error("{what} conflicts with {with}; {remedy}")]
    Conflict {
        /// The setting.
        what: String,
        /// What it contradicts.
        with: String,
        /// What to change.
        remedy: String,
    },

    /// More of something than there may be.
    #[error("too many {what}: at most {limit} are allowed; {remedy}")]
    TooMany {
        /// What is counted, in the plural.
        what: &'static str,
        /// How many are allowed.
        limit: u64,
        /// What to do instead.
        remedy: &'static str,
    },

    /// A request that makes sense, but is not supported.
    #[error("{what} is not supported; {remedy}")]
    Unsupported {
        /// What was asked for.
        what: String,
        /// What to do instead.
        remedy: String,
    },

    /// A hit that does not belong to the segments that are searched.
    #[error("no document {doc} in segment {segment}: use hits of a search over the same commit")]
    UnknownHit {
        /// The number of the segment in its searcher.
        segment: usize,
        /// The number of the document in its segment.
        doc: u32,
    },

    /// A thread of this program panicked: a fault of the program.
    #[error("{worker} panicked: {message}; this is a fault of scanns, please report it")]
    WorkerPanicked {
        /// What the thread did, as in `an index thread`.
        worker: &'static str,
        /// The message of the panic.
        message: String,
    },

    /// The name of an analyzer, or a chain, that cannot be understood.
    #[error("{part} {problem}")]
    InvalidAnalyzer {
        /// The part of the name that is wrong, as in `step 2 of the chain, 'x':`.
        part: String,
        /// What is wrong with it and what to write instead, to be read after the part.
        problem: String,
    },

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

    /// An [`Error::InvalidValue`] for the parameter `what`.
    pub fn invalid(what: impl Into<String>, found: impl ToString, expected: impl Into<String>) -> Self {
        Error::InvalidValue { what: what.into(), found: found.to_string(), expected: expected.into() }
    }

    /// An [`Error::WorkerPanicked`] with the message in the payload that joining the thread returned.
    pub fn panicked(worker: &'static str, payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Error::WorkerPanicked { worker, message: text.unwrap_or_else(|| "no message".to_owned()) }
    }
}

/// How a message about an unknown field goes on: with the fields that exist.
fn list_of_fields(known: &[String]) -> String {
    match known {
        [] => ": there are no fields".to_owned(),
        known => format!(": the fields are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_field_names_the_known_ones() {
        let known = vec!["title".to_owned(), "body".to_owned()];
        let error = Error::UnknownField { field: "titel".to_owned(), known };
        assert_eq!(error.to_string(), "no field 'titel': the fields are title, body");
    }

    #[test]
    fn a_panic_keeps_its_message() {
        for payload in [Box::new("lost") as Box<dyn Any + Send>, Box::new("lost".to_owned())] {
            let error = Error::panicked("an index thread", &*payload);
            assert!(error.to_string().starts_with("an index thread panicked: lost;"), "{error}");
        }
    }
}
