//! Maps the values of a leaf to buckets.
//!
//! Every facet except ranges maps a value to the number of one bucket. The numbers of keywords and
//! directories refer to the dictionary of the leaf; the numbers of numeric values and intervals are the same
//! in all leaves.

use super::intervals::Intervals;
use super::request::{Facet, FacetRange};
use crate::column::{Column, ColumnKind, DictionaryReader};
use crate::error::{Error, Result};
use crate::schema::Value;
use crate::search::exec::value_filter::order;

/// How the values of a column are mapped to buckets.
#[derive(Debug)]
pub(crate) enum Bucketing {
    /// Every value is a bucket.
    Values,
    /// Intervals of numbers.
    Intervals(Intervals),
    /// Directories: ascending ranges of the numbers of the directories below each.
    Directories(Vec<DirectoryRange>),
    /// Ranges of integers: the first one, and the distance to the last one. `None` for an empty range.
    Ranges(Vec<Option<(u64, u64)>>),
}

/// A directory and everything below it.
#[derive(Debug)]
pub(crate) struct DirectoryRange {
    first: u64,
    end: u64,
    pub(crate) name: Vec<u8>,
}

/// Refuses columns without a dictionary, whose values have no numbers to count by.
///
/// # Errors
/// [`Error::Unsupported`] for a column of texts or bytes.
pub(crate) fn refuse_strings(column: &Column) -> Result<()> {
    if column.kind().is_strings() {
        return Err(Error::Unsupported {
            what: "counting texts or bytes by value".into(),
            remedy: "make the field a keyword".into(),
        });
    }
    Ok(())
}

impl Bucketing {
    /// The buckets of a facet in the column of a leaf.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the facet does not suit the kind of the column.
    pub(crate) fn new(facet: &Facet, column: &Column) -> Result<Self> {
        let refuse =
            |what: &str, remedy: &str| Err(Error::Unsupported { what: what.into(), remedy: remedy.into() });
        refuse_strings(column)?;
        let kind = column.kind();
        match (facet, column.terms()) {
            (Facet::Terms(terms), None) if !terms.prefix.is_empty() => {
                refuse("a prefix of values that are not keywords", "count keywords, or leave the prefix out")
            }
            (Facet::Terms(_), _) => Ok(Bucketing::Values),
            (Facet::Histogram { interval, offset, .. }, _) => {
                Intervals::new(kind, *interval, *offset).map(Bucketing::Intervals)
            }
            (Facet::Calendar { unit, .. }, _) => {
                Intervals::of_calendar(kind, *unit).map(Bucketing::Intervals)
            }
            (Facet::Path { below, .. }, Some(terms)) if kind == ColumnKind::Path => {
                directories(terms, below).map(Bucketing::Directories)
            }
            (Facet::Path { .. }, _) => {
                refuse("counting a column without paths by directory", "use a field of paths")
            }
            (Facet::Ranges { ranges, .. }, _) => ranges
                .iter()
                .map(|range| integers(range, column))
                .collect::<Result<_>>()
                .map(Bucketing::Ranges),
        }
    }

    /// True if the numbers of buckets are only valid in this leaf.
    pub(crate) fn is_local(&self, column: &Column) -> bool {
        match self {
            Bucketing::Values => column.terms().is_some(),
            Bucketing::Directories(_) => true,
            Bucketing::Intervals(_) | Bucketing::Ranges(_) => false,
        }
    }

    /// The number of the bucket of a value; `None` for ranges, and for values outside all buckets.
    #[inline]
    pub(crate) fn of(&self, value: u64) -> Option<u64> {
        match self {
            Bucketing::Values => Some(value),
            Bucketing::Intervals(intervals) => intervals.of(value),
            Bucketing::Directories(all) => {
                let at = all.partition_point(|one| one.first <= value).checked_sub(1)?;
                all.get(at).filter(|one| value < one.end).map(|_| at as u64)
            }
            Bucketing::Ranges(_) => None,
        }
    }
}

/// True if a range contains a value.
#[inline]
pub(crate) fn holds(range: Option<(u64, u64)>, value: u64) -> bool {
    range.is_some_and(|(first, length)| value.wrapping_sub(first) <= length)
}

/// The integers of a range.
fn integers(range: &FacetRange, column: &Column) -> Result<Option<(u64, u64)>> {
    let from = range.from.as_ref().map_or(Ok(0), |value| integer(value, column))?;
    let last = match range.to.as_ref().map(|value| integer(value, column)).transpose()? {
        None => Some(u64::MAX),
        Some(end) => end.checked_sub(1),
    };
    Ok(last.and_then(|last| last.checked_sub(from)).map(|length| (from, length)))
}

/// The integer of a value, or of the next greater value of the column.
fn integer(value: &Value, column: &Column) -> Result<u64> {
    Ok(order(column, value)?.unwrap_or_else(|next| next))
}

/// The directories directly below `below`, and `below` itself if it contains files.
fn directories(terms: &DictionaryReader, below: &[u8]) -> Result<Vec<DirectoryRange>> {
    let all = terms.prefix_range(below)?;
    let (mut found, mut next, mut term) = (Vec::new(), all.start, Vec::new());
    while next < all.end {
        term.clear();
        terms.term(next, &mut term)?;
        let rest = term.get(below.len()..).unwrap_or_default();
        let slash = rest.iter().position(|&byte| byte == b'/');
        // A directory without a slash at the end has no directories below it.
        let name = slash.map_or(rest, |slash| rest.get(..=slash).unwrap_or_default());
        let name = [below, name].concat();
        let end = match slash {
            Some(_) => terms.prefix_range(&name)?.end.clamp(next + 1, all.end),
            None => next + 1,
        };
        found.push(DirectoryRange { first: next.into(), end: end.into(), name });
        next = end;
    }
    Ok(found)
}
