//! What ends a walk before the end of the archive, and the errors that a member's reader gives.

use std::io;

/// Why a walk ended before the end of the archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// A header is not valid, so the next member cannot be found.
    #[error("the {format} header at byte {at} {reason}")]
    Header {
        /// The name of the archive's format.
        format: &'static str,
        /// The byte of the archive at which the header begins.
        at: u64,
        /// What is wrong, as a verb and an object.
        reason: &'static str,
    },
    /// The archive ends too early.
    #[error("the archive is cut off at byte {at}, within {within}")]
    CutOff {
        /// The length of the archive.
        at: u64,
        /// The part that is incomplete.
        within: &'static str,
    },
    /// The archive exceeds a limit of [`ArchiveLimits`](super::ArchiveLimits).
    #[error("the archive exceeds the limit `{limit}` of {most}; raise the limit to read more")]
    Limit {
        /// The name of the limit.
        limit: &'static str,
        /// Its value.
        most: u64,
    },
    /// A zip archive is read from its end, so its source must be able to seek.
    #[error("a zip archive can only be read from a source that can seek: copy it to a file or to memory")]
    NotSeekable,
    /// The file has no zip directory.
    #[error("the zip archive {reason}")]
    NoDirectory {
        /// What is wrong, as a verb and an object.
        reason: &'static str,
    },
    /// The source of the archive cannot be read.
    #[error("the archive cannot be read: {0}")]
    Source(#[source] io::Error),
    /// The visitor failed.
    #[error("{0}")]
    Visitor(#[source] io::Error),
}

impl ArchiveError {
    /// The limit in the typed error that a member's reader gave, if it failed because of one.
    pub fn of_reader(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

/// The error of a member that cannot be read.
pub(super) fn member_error(reason: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason.into())
}

/// The error of a member's reader that met a limit.
pub(super) fn limit_error(limit: &'static str, most: u64) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, ArchiveError::Limit { limit, most })
}

/// A copy of an error, for a reader that must fail again.
pub(super) fn copy_error(error: &io::Error) -> io::Error {
    match ArchiveError::of_reader(error) {
        Some(ArchiveError::Limit { limit, most }) => limit_error(limit, *most),
        _ => io::Error::new(error.kind(), error.to_string()),
    }
}
