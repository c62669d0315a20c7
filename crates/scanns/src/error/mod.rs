//! One typed error for all kinds of failures. It tells what was expected, what was found, where, and what to
//! do.
//!
//! Every other module returns [`Error`]. The command prints its text unchanged, so the text is written for
//! users.

use std::any::Any;
use std::path::{Path, PathBuf};

/// The result of every fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure. Its message says what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused a file operation.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// The operation, as a verb: `open`, `read`, `sync`.
        action: &'static str,
        /// The file or directory of the operation.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },

    /// An expression of find is not valid, or no index can answer it.
    #[error("{message}")]
    Expression {
        /// What is wrong, and what to write instead.
        message: String,
    },

    /// A facet, or what else is to be computed over all matches, cannot be parsed.
    #[error("{message}")]
    Facet {
        /// What is wrong, and what to write instead.
        message: String,
        /// Where the part begins that is wrong, in bytes.
        at: usize,
        /// The length of this part in bytes.
        length: usize,
    },

    /// A dump of a file system cannot be imported.
    #[error("cannot import the dump {}: {reason}", .path.display())]
    Dump {
        /// The dump; `-` is standard input.
        path: PathBuf,
        /// The reason, and what to write instead.
        reason: String,
    },

    /// A list of changes cannot be applied.
    #[error("cannot apply the changes of {}: {reason}", .path.display())]
    Changes {
        /// The list; `-` is standard input.
        path: PathBuf,
        /// The reason, and what to do instead.
        reason: String,
    },

    /// A file of a plan, or the list of the shards of an index, is damaged.
    #[error("{file} is damaged: {what}; restore the file from a copy, or make it again")]
    DamagedPlan {
        /// The file.
        file: String,
        /// What was expected and what was found.
        what: String,
    },

    /// The shard of a plan cannot be used.
    #[error("cannot use {}: {reason}", .path.display())]
    Shard {
        /// The directory of the shard, or of the index of the plan.
        path: PathBuf,
        /// The reason, and what to do.
        reason: String,
    },

    /// The operating system refused a resource that is not a file: memory, threads, a ring.
    #[error("cannot {action}: {source}; {remedy}")]
    System {
        /// The operation, as a verb.
        action: &'static str,
        /// The error of the operating system.
        source: std::io::Error,
        /// What the user can do.
        remedy: &'static str,
    },

    /// The system refused memory.
    #[error("cannot {action}: {} of memory are needed, and {limit}; raise the limit, or do less at a time",
        in_mib(*.needed))]
    OutOfMemory {
        /// What the memory was for, as a verb and its object.
        action: String,
        /// The refused memory, in bytes.
        needed: u64,
        /// What limits the memory, as a sentence.
        limit: String,
    },

    /// Something is asked of a view of a snapshot that cannot be told without what the view hides.
    #[error("{what} cannot be told of a view, which shows only some documents: ask for it without a view")]
    NotInView {
        /// What was asked.
        what: &'static str,
    },

    /// A path is not an index.
    #[error("{} is not a scanns index: {why}", .path.display())]
    NotAnIndex {
        /// The path.
        path: PathBuf,
        /// Why it is not an index, and what to do.
        why: &'static str,
    },

    /// A file was written by a newer version of scanns.
    #[error("{file} has format version {found}, this program reads up to {supported}: use a newer scanns")]
    NewerFormat {
        /// The name of the file.
        file: String,
        /// The format version of the file.
        found: u32,
        /// The newest format version that this program reads.
        supported: u32,
    },

    /// A file was written by an older version of scanns, in a format that is no longer read.
    #[error(
        "{file} has format version {found}, this program reads from {oldest} on: build the index again, or \
         use an older scanns"
    )]
    OlderFormat {
        /// The name of the file.
        file: String,
        /// The format version of the file.
        found: u32,
        /// The oldest format version that this program reads.
        oldest: u32,
    },

    /// A file does not have the expected format: it is damaged, truncated, or belongs to another program.
    #[error(
        "{file} is damaged: {what}; restore the file from a copy, salvage the intact segments, or build \
         the index again"
    )]
    Corrupt {
        /// The name of the file or structure.
        file: String,
        /// What was expected and what was found.
        what: String,
    },

    /// Somebody is writing to the index.
    #[error("{} is {}", .path.display(), if *.here {
        "open for writing in this process: delete, change values, merge and commit by the methods of that \
         writer, or drop it first"
    } else {
        "being written by another process: wait until it ends, or use another output"
    })]
    Locked {
        /// The index.
        path: PathBuf,
        /// Whether it is this process.
        here: bool,
    },

    /// A file whose text is not stored in the index has changed since it was indexed.
    #[error(
        "{} has changed since it was indexed: {what}; index it again, or store the text of documents in the \
         index",
        .path.display()
    )]
    SourceChanged {
        /// The file.
        path: PathBuf,
        /// What has changed.
        what: String,
    },

    /// An index writer failed earlier. Its uncommitted changes are lost.
    #[error(
        "the writer failed, and uncommitted changes are lost: {cause}; open the index again, and repeat \
         these changes"
    )]
    WriterFailed {
        /// The first error.
        cause: String,
    },

    /// A query that cannot be parsed, or that this index cannot answer.
    #[error("query: {message}, at character {at}: {query}")]
    Query {
        /// The query as given.
        query: String,
        /// What is wrong, and what to write instead.
        message: String,
        /// The position of the error, in characters from 1.
        at: usize,
    },

    /// An invalid query in JSON, or one that this index cannot answer.
    #[error("query: {path}{}{message}", if .path.is_empty() { "" } else { ": " })]
    QueryJson {
        /// The path in the JSON, as in `bool.must[1].fuzzy.edits`; empty for the whole query.
        path: String,
        /// What is wrong, and what to write instead.
        message: String,
    },

    /// A name that is not one of a fixed set of names.
    #[error("unknown {what} '{name}': use {known}")]
    UnknownName {
        /// The kind of the name, as in `analyzer` or `operator`.
        what: &'static str,
        /// The name as given.
        name: String,
        /// The known names, as a list for display.
        known: String,
    },

    /// The index or the schema does not have this field.
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
        /// The name of the field.
        field: String,
        /// What is wrong with the field; the message continues after its name.
        problem: String,
        /// What to do instead.
        remedy: String,
    },

    /// A value that is not allowed.
    #[error("invalid {what} {found}: expected {expected}")]
    InvalidValue {
        /// The parameter or the part of the input, as in `k1 of bm25`.
        what: String,
        /// The value as given.
        found: String,
        /// The allowed values.
        expected: String,
    },

    /// Two settings that exclude each other, or a setting that does not fit the index.
    #[error("{what} conflicts with {with}; {remedy}")]
    Conflict {
        /// The setting.
        what: String,
        /// What the setting contradicts.
        with: String,
        /// What to change.
        remedy: String,
    },

    /// One of several indexes that are searched as one did not answer.
    #[error("shard {shard} of the index did not answer ({index}): {reason}")]
    ShardAnswer {
        /// The number of the shard, from 0.
        shard: usize,
        /// The index of the shard.
        index: String,
        /// The reason.
        reason: String,
    },

    /// None of the given paths can be read.
    #[error("nothing to index: {what}")]
    NoInput {
        /// The first path, and why it cannot be read.
        what: String,
    },

    /// The number of some items exceeds a limit.
    #[error("too many {what}: at most {limit} are allowed; {remedy}")]
    TooMany {
        /// The items, in the plural.
        what: &'static str,
        /// The maximum number.
        limit: u64,
        /// What to do instead.
        remedy: &'static str,
    },

    /// A valid request that is not supported.
    #[error("{what} is not supported; {remedy}")]
    Unsupported {
        /// The request.
        what: String,
        /// What to do instead.
        remedy: String,
    },

    /// Data that is stored only on request, and that this index does not have.
    #[error("the index has no {what}: build an index with {what}, or use what needs none")]
    NotIndexed {
        /// The missing data: `positions` or `offsets`.
        what: &'static str,
    },

    /// A hit that does not belong to the searched segments.
    #[error("no document {doc} in segment {segment}: use hits of a search over the same commit")]
    UnknownHit {
        /// The number of the segment in its searcher.
        segment: usize,
        /// The number of the document in its segment.
        doc: u32,
    },

    /// A thread panicked. This is a bug in scanns.
    #[error("{worker} panicked: {message}; this is a bug in scanns, please report it")]
    WorkerPanicked {
        /// The task of the thread, as in `an index thread`.
        worker: &'static str,
        /// The message of the panic.
        message: String,
    },

    /// An invalid name of an analyzer, or an invalid chain.
    #[error("{part} {problem}")]
    InvalidAnalyzer {
        /// The invalid part of the name, as in `step 2 of the chain, 'x':`.
        part: String,
        /// What is wrong with the part, and what to write instead; the message continues after the part.
        problem: String,
    },

    /// The operation was cancelled.
    #[error("stopped on request; earlier commits are kept")]
    Cancelled,
}

impl Error {
    /// Creates an [`Error::Io`] about `path`.
    pub fn io(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        Error::Io { action, path: path.to_path_buf(), source }
    }

    /// Creates an [`Error::Corrupt`] about the file or structure called `file`.
    pub fn corrupt(file: impl Into<String>, what: impl Into<String>) -> Self {
        Error::Corrupt { file: file.into(), what: what.into() }
    }

    /// Creates an [`Error::InvalidValue`] for the parameter `what`.
    pub fn invalid(what: impl Into<String>, found: impl ToString, expected: impl Into<String>) -> Self {
        Error::InvalidValue { what: what.into(), found: found.to_string(), expected: expected.into() }
    }

    /// Creates an [`Error::WorkerPanicked`] with the message in the payload that joining the thread returned.
    pub fn panicked(worker: &'static str, payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Error::WorkerPanicked { worker, message: text.unwrap_or_else(|| "no message".to_owned()) }
    }
}

/// A number of bytes in MiB, rounded up.
fn in_mib(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

/// The end of a message about an unknown field: a list of the existing fields.
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
