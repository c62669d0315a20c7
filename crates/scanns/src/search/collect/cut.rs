//! Which buckets the values of a leaf belong to.
//!
//! All but ranges give a value the number of one bucket. What the numbers of keywords and directories mean is the dictionary's
//! of the leaf; those of numbers and intervals are the same in all leaves.

use super::facet::{Facet, FacetRange};
use super::intervals::Intervals;
use crate::column::{Column, ColumnKind, DictionaryReader};
use crate::error::{Error, Result};
use crate::schema::Value;
use crate::search::values::order;

/// See the module.
#[derive(Debug)]
pub(super) enum Cut {
    /// Every value is one.
    Values,
    /// Intervals of numbers.
    Intervals(Intervals),
    /// Directories, as ranges of their numbers, ascending, with what they have in common.
    Directories(Vec<Directory>),
    /// Ranges of integers: where each begins, and by how much its last is more. `None` for one that holds nothing.
    Ranges(Vec<Option<(u64, u64)>>),
}

/// All directories in and below one.
#[derive(Debug)]
pub(super) struct Directory {
    first: u64,
    end: u64,
    pub(super) name: Vec<u8>,
}

/// Strings of no dictionary have no numbers to count by.
///
/// # Errors
/// [`Error::Options`] for a column of texts or bytes.
pub(super) fn refuse_strings(column: &Column) -> Result<()> {
    if column.kind().is_strings() {
        let why = "texts and bytes cannot be counted by value: make the field a keyword";
        return Err(Error::Options(why.into()));
    }
    Ok(())
}

impl Cut {
    /// That of a column in a leaf.
    ///
    /// # Errors
    /// [`Error::Options`] if the facet is not for such a column.
    pub(super) fn new(facet: &Facet, column: &Column) -> Result<Self> {
        let refuse = |why: &str| Err(Error::Options(why.into()));
        refuse_strings(column)?;
        let kind = column.kind();
        match (facet, column.terms()) {
            (Facet::Terms(terms), None) if !terms.prefix.is_empty() => refuse("only keywords have a prefix"),
            (Facet::Terms(_), _) => Ok(Cut::Values),
            (Facet::Histogram { interval, offset, .. }, _) => {
                Intervals::new(kind, *interval, *offset).map(Cut::Intervals)
            }
            (Facet::Calendar { unit, .. }, _) => Intervals::of_calendar(kind, *unit).map(Cut::Intervals),
            (Facet::Path { below, .. }, Some(terms)) if kind == ColumnKind::Path => {
                directories(terms, below).map(Cut::Directories)
            }
            (Facet::Path { .. }, _) => refuse("only a column of paths has directories"),
            (Facet::Ranges { ranges, .. }, _) => {
                ranges.iter().map(|range| integers(range, column)).collect::<Result<_>>().map(Cut::Ranges)
            }
        }
    }

    /// True if numbers of buckets mean something in this leaf only.
    pub(super) fn is_local(&self, column: &Column) -> bool {
        match self {
            Cut::Values => column.terms().is_some(),
            Cut::Directories(_) => true,
            Cut::Intervals(_) | Cut::Ranges(_) => false,
        }
    }

    /// The number of the bucket of a value; of no meaning for ranges.
    #[inline]
    pub(super) fn of(&self, value: u64) -> Option<u64> {
        match self {
            Cut::Values => Some(value),
            Cut::Intervals(intervals) => intervals.of(value),
            Cut::Directories(all) => {
                let at = all.partition_point(|one| one.first <= value).checked_sub(1)?;
                all.get(at).filter(|one| value < one.end).map(|_| at as u64)
            }
            Cut::Ranges(_) => None,
        }
    }
}

/// True if a range holds a value.
#[inline]
pub(super) fn holds(range: Option<(u64, u64)>, value: u64) -> bool {
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

/// The integer of a value, or of the first one that is greater.
fn integer(value: &Value, column: &Column) -> Result<u64> {
    Ok(order(column, value)?.unwrap_or_else(|next| next))
}

/// The directories right below one, and that one itself, if files are in it.
fn directories(terms: &DictionaryReader, below: &[u8]) -> Result<Vec<Directory>> {
    let all = terms.prefix_range(below)?;
    let (mut found, mut next, mut term) = (Vec::new(), all.start, Vec::new());
    while next < all.end {
        term.clear();
        terms.term(next, &mut term)?;
        let rest = term.get(below.len()..).unwrap_or_default();
        let slash = rest.iter().position(|&byte| byte == b'/');
        // A directory without a slash at its end is none above others.
        let name = slash.map_or(rest, |slash| rest.get(..=slash).unwrap_or_default());
        let name = [below, name].concat();
        let end = match slash {
            Some(_) => terms.prefix_range(&name)?.end.clamp(next + 1, all.end),
            None => next + 1,
        };
        found.push(Directory { first: next.into(), end: end.into(), name });
        next = end;
    }
    Ok(found)
}
