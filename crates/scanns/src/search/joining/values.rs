//! The values of the documents that match the query inside a join.

use super::tally::Tally;
use crate::column::ColumnKind;
use crate::error::Error;

/// The distinct values, in ascending order, and what they score.
#[derive(Debug)]
pub(crate) struct JoinValues {
    pub(crate) values: DistinctValues,
    /// By value.
    pub(crate) tallies: Vec<Tally>,
}

/// Ascending values.
#[derive(Debug)]
pub(crate) enum DistinctValues {
    /// No document has a value.
    Nothing,
    /// Keywords or keys.
    Texts(Vec<Vec<u8>>),
    /// Numbers of a column of this kind.
    Numbers(ColumnKind, Vec<u64>),
}

/// The error for a column whose values a join cannot compare with others.
pub(crate) fn not_comparable() -> Error {
    Error::Unsupported {
        what: "a join of values of different kinds, or of other values than keywords and whole numbers,"
            .into(),
        remedy: "compare keys and columns of keywords, or two columns of unsigned or of signed numbers"
            .into(),
    }
}
