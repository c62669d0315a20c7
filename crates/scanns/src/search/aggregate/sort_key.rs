//! Sort keys, and the integers by which a leaf compares them.
//!
//! In a leaf a key is one integer: the earlier the document comes, the less it is. Numbers have the order of
//! their values, keywords the order of their numbers in the dictionary of the leaf. The values of hits of
//! other leaves are converted to integers when a leaf is entered. Integers of the leaf are all even, so a
//! term that its dictionary lacks falls between two of them.

use serde::{Deserialize, Serialize};

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use crate::codec::{float_of, order_of};
use crate::column::{Column, ColumnKind};
use crate::error::{Error, Result};
use crate::schema::{Field, Value, ValueRef};
use crate::search::searcher::Searcher;
use crate::search::top_k::Hit;

/// A criterion to sort hits by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SortBy {
    /// The values of a column of numbers, dates, booleans or keywords. If a document has several values,
    /// ascending order uses the least one, descending order the greatest one.
    Field(Field),
    /// The score.
    Score,
    /// Document order.
    Document,
}

/// The place of documents without a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Missing {
    /// Before all other documents.
    First,
    /// After all other documents.
    #[default]
    Last,
}

/// A sort key: a criterion, a direction, and the place of documents without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SortKey {
    /// The criterion to compare.
    pub by: SortBy,
    /// True if the greatest value comes first.
    pub descending: bool,
    /// The place of documents without a value, in both directions.
    pub missing: Missing,
}

impl SortKey {
    /// Sorts the least value first, documents without a value last.
    pub fn ascending(by: SortBy) -> Self {
        SortKey { by, descending: false, missing: Missing::Last }
    }

    /// Sorts the greatest value first, documents without a value last.
    pub fn descending(by: SortBy) -> Self {
        SortKey { descending: true, ..SortKey::ascending(by) }
    }

    /// Compares two values of this key.
    pub(crate) fn compare(&self, left: Option<&Value>, right: Option<&Value>) -> Ordering {
        let missing = match self.missing {
            Missing::First => Ordering::Less,
            Missing::Last => Ordering::Greater,
        };
        match (left, right) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => missing,
            (Some(_), None) => missing.reverse(),
            (Some(left), Some(right)) if self.descending => compare_values(right, left),
            (Some(left), Some(right)) => compare_values(left, right),
        }
    }
}

/// Compares two values of one field.
pub(crate) fn compare_values(left: &Value, right: &Value) -> Ordering {
    match (left.as_ref(), right.as_ref()) {
        (ValueRef::Text(left) | ValueRef::Bytes(left), ValueRef::Text(right) | ValueRef::Bytes(right)) => {
            left.cmp(right)
        }
        (left, right) => order_of_number(left).cmp(&order_of_number(right)),
    }
}

/// The integer of a number; `None` for other values.
pub(crate) fn order_of_number(value: ValueRef<'_>) -> Option<u64> {
    let kind = match value {
        ValueRef::Unsigned(_) => ColumnKind::Unsigned,
        ValueRef::Signed(_) => ColumnKind::Signed,
        ValueRef::Float(_) => ColumnKind::Float,
        ValueRef::Boolean(_) => ColumnKind::Boolean,
        ValueRef::Date(_) => ColumnKind::Date,
        ValueRef::Text(_) | ValueRef::Bytes(_) => return None,
    };
    kind.order_of(value)
}

/// Added to the integers of values, so that they are greater than [`BEFORE`].
const BASE: u128 = 1 << 65;

/// The integers of documents without a value.
const BEFORE: u128 = 0;
const BEHIND: u128 = 1 << 127;

/// A sort key in a leaf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeafKey<'c> {
    pub(crate) key: SortKey,
    pub(crate) column: Option<&'c Column>,
    leaf: usize,
}

impl<'c> LeafKey<'c> {
    /// The key in a leaf.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a column of texts, bytes or paths.
    pub(crate) fn new(key: SortKey, searcher: &Searcher<'c>, leaf: usize) -> Result<Self> {
        let column = match key.by {
            SortBy::Field(field) => searcher.column_in(leaf, field),
            SortBy::Score | SortBy::Document => None,
        };
        if column.is_some_and(|column| column.kind().is_strings() || column.kind() == ColumnKind::Path) {
            return Err(Error::Unsupported {
                what: "sorting by texts, bytes or paths".into(),
                remedy: "sort by a number, a date or a keyword".into(),
            });
        }
        Ok(LeafKey { key, column, leaf })
    }

    /// The integer of a document without a value.
    pub(crate) fn missing(&self) -> u128 {
        match self.key.missing {
            Missing::First => BEFORE,
            Missing::Last => BEHIND,
        }
    }

    /// The integer of an order of the column.
    #[inline]
    pub(crate) fn of_order(&self, order: u64) -> u128 {
        let rank = if self.key.descending { !order } else { order };
        BASE + (u128::from(rank) << 1)
    }

    /// The orders of the column whose integers are at most `integer`; `None` if there are none.
    pub(crate) fn orders_up_to(&self, integer: u128) -> Option<RangeInclusive<u64>> {
        let rank = u64::try_from(integer.checked_sub(BASE)? >> 1).unwrap_or(u64::MAX);
        Some(if self.key.descending { !rank..=u64::MAX } else { 0..=rank })
    }

    /// The integer of the values of a document, which has at least one.
    #[inline]
    pub(crate) fn of_values(&self, values: &[u64]) -> u128 {
        let order = if self.key.descending { values.last() } else { values.first() };
        order.map_or(self.missing(), |&order| self.of_order(order))
    }

    /// The integer of a document with this score.
    pub(crate) fn of_document(&self, doc: u32, score: f32) -> Result<u128> {
        match (self.key.by, self.column) {
            (SortBy::Score, _) => Ok(self.of_order(order_of(f64::from(score)))),
            (SortBy::Document, _) => Ok(self.of_order(place(self.leaf, doc))),
            (SortBy::Field(_), None) => Ok(self.missing()),
            (SortBy::Field(_), Some(column)) if self.key.descending => {
                let mut values = Vec::new();
                column.get(doc, &mut values)?;
                Ok(self.of_values(&values))
            }
            (SortBy::Field(_), Some(column)) => {
                Ok(column.first(doc)?.map_or(self.missing(), |order| self.of_order(order)))
            }
        }
    }

    /// The integer, in this leaf, of a value of any leaf.
    pub(crate) fn of_value(&self, value: Option<&Value>, hit: &Hit) -> Result<u128> {
        if self.key.by == SortBy::Document {
            return Ok(self.of_order(place(hit.leaf, hit.doc)));
        }
        let Some(value) = value else { return Ok(self.missing()) };
        if let Some(order) = order_of_number(value.as_ref()) {
            return Ok(self.of_order(order));
        }
        let (Some(terms), Value::Text(term)) = (self.column.and_then(Column::terms), value) else {
            // No document of this leaf has a value: any integer will do.
            return Ok(self.of_order(0));
        };
        Ok(match (terms.find(term)?, self.key.descending) {
            (Ok(order), _) => self.of_order(order.into()),
            (Err(next), false) => self.of_order(next.into()) - 1,
            (Err(next), true) => self.of_order(next.into()) + 1,
        })
    }

    /// The value of an integer.
    pub(crate) fn value(&self, integer: u128) -> Result<Option<Value>> {
        if integer == BEFORE || integer == BEHIND || self.key.by == SortBy::Document {
            return Ok(None);
        }
        let rank = u64::try_from(integer.saturating_sub(BASE) >> 1).unwrap_or(u64::MAX);
        let order = if self.key.descending { !rank } else { rank };
        match self.column {
            None => Ok(Some(Value::Float(float_of(order)))),
            Some(column) => value_of(column, order).map(Some),
        }
    }
}

/// The number of a document over all leaves.
fn place(leaf: usize, doc: u32) -> u64 {
    (leaf as u64) << 32 | u64::from(doc)
}

/// The value of an integer of a column.
pub(crate) fn value_of(column: &Column, order: u64) -> Result<Value> {
    let Some(terms) = column.terms() else { return Ok(column.kind().value_of(order)) };
    let mut term = Vec::new();
    terms.term(u32::try_from(order).unwrap_or(u32::MAX), &mut term)?;
    Ok(Value::Text(term))
}
