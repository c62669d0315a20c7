//! Why the bytes of a record are none.

/// A record that is malformed: none of its values count.
///
/// Places are in bytes of the record, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// Something else should stand there.
    #[error("{what} should stand at byte {at}")]
    Expected {
        /// Where.
        at: usize,
        /// What should.
        what: &'static str,
    },
    /// JSON that is no UTF-8.
    #[error("byte {at} is not UTF-8")]
    NotUtf8 {
        /// The first byte that is not.
        at: usize,
    },
    /// Objects and arrays in each other.
    #[error("byte {at} opens the object or array number {} in each other: at most {limit} can be", .limit + 1)]
    TooDeep {
        /// The bracket that is one too many.
        at: usize,
        /// How many may be.
        limit: usize,
    },
    /// A row with more values than the header has names.
    #[error("byte {at} begins a value more than the header has names, {names}")]
    TooMany {
        /// Where the first value without a name begins.
        at: usize,
        /// How many names there are.
        names: usize,
    },
    /// A record of 4 GiB or more.
    #[error("a record of {len} bytes is too long: it must be shorter than 4 GiB")]
    TooLong {
        /// How long it is.
        len: usize,
    },
    /// A record that is larger than what reads it may keep in memory.
    #[error("a record of {len} bytes does not fit into the memory of an index thread: give more --memory")]
    NoRoom {
        /// How long it is.
        len: usize,
    },
}

impl RecordError {
    pub(super) fn expected(at: usize, what: &'static str) -> Self {
        RecordError::Expected { at, what }
    }

    /// The byte of the record at which it went wrong.
    pub fn at(&self) -> usize {
        match *self {
            RecordError::Expected { at, .. }
            | RecordError::NotUtf8 { at }
            | RecordError::TooDeep { at, .. }
            | RecordError::TooMany { at, .. } => at,
            RecordError::TooLong { len } | RecordError::NoRoom { len } => len,
        }
    }
}
