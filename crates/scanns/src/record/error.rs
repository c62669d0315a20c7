//! Why a record is malformed.

/// Why a record is malformed, or unusual. None of the values of a malformed record are used.
///
/// Positions are in bytes of the record, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// Something else was expected.
    #[error("expected {what} at byte {at}")]
    Expected {
        /// The position.
        at: usize,
        /// What was expected.
        what: &'static str,
    },
    /// A record of a collection without a part that every one must have.
    #[error("the record has no {what}")]
    Lacks {
        /// The part.
        what: &'static str,
    },
    /// JSON that is not UTF-8.
    #[error("invalid UTF-8 at byte {at}")]
    NotUtf8 {
        /// The first invalid byte.
        at: usize,
    },
    /// Objects and arrays that are nested too deep.
    #[error("objects and arrays are nested more than {limit} deep at byte {at}")]
    TooDeep {
        /// The position of the first bracket beyond the limit.
        at: usize,
        /// The allowed depth.
        limit: usize,
    },
    /// A row with more values than the header has names.
    #[error("the row has more values than the {names} names of the header: the first one is at byte {at}")]
    TooMany {
        /// Where the first value without a name starts.
        at: usize,
        /// The number of names.
        names: usize,
    },
    /// A row with fewer values than the header has names. It is a document.
    #[error("the row has {values} values, but the header has {names} names")]
    TooFew {
        /// The number of values.
        values: usize,
        /// The number of names.
        names: usize,
    },
    /// A row with line feeds in quoted values. It is a document.
    #[error("the row has {lines} lines")]
    SeveralLines {
        /// The number of lines.
        lines: usize,
    },
    /// Lines that end with carriage returns alone.
    #[error("the lines end with carriage returns alone: convert them to line feeds, as tr '\\r' '\\n' does")]
    LoneReturns {
        /// The first of them.
        at: usize,
    },
    /// A record of 4 GiB or more.
    #[error("a record of {len} bytes is too long: it must be shorter than 4 GiB")]
    TooLong {
        /// The length of the record.
        len: usize,
    },
    /// A record that lies in an earlier one, which claims to be longer than it is and does not fit into
    /// memory.
    #[error("it is lost in an earlier record with a wrong Content-Length, which does not fit into memory")]
    Lost,
    /// A record that is larger than the reader's memory.
    #[error(
        "a record of {len} bytes does not fit into the memory of an index thread: raise the memory limit"
    )]
    NoRoom {
        /// The length of the record.
        len: usize,
    },
}

impl RecordError {
    pub(super) fn expected(at: usize, what: &'static str) -> Self {
        RecordError::Expected { at, what }
    }

    /// The position of the error, in bytes of the record.
    pub fn at(&self) -> usize {
        match *self {
            RecordError::Expected { at, .. }
            | RecordError::NotUtf8 { at }
            | RecordError::TooDeep { at, .. }
            | RecordError::LoneReturns { at }
            | RecordError::TooMany { at, .. } => at,
            RecordError::Lacks { .. }
            | RecordError::TooFew { .. }
            | RecordError::SeveralLines { .. }
            | RecordError::Lost => 0,
            RecordError::TooLong { len } | RecordError::NoRoom { len } => len,
        }
    }
}
