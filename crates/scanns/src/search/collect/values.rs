//! Values as sorting and grouping compare them, in a leaf and between leaves.
//!
//! In a leaf a key is one integer, which is the less the earlier the document comes: numbers have the order of values, and
//! keywords their numbers in the dictionary of the leaf. The integers of other leaves are made of values when a leaf is
//! entered; a term that its dictionary does not have is then a place between two of its integers, which are all even.

use std::cmp::Ordering;

use crate::codec::{float_of, order_of};
use crate::column::{Column, ColumnKind};
use crate::error::{Error, Result};
use crate::schema::{Field, Value, ValueRef};
use crate::search::{Hit, Searcher};

/// What hits are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortBy {
    /// The values of a column of numbers, dates, truths or keywords. Of several values of a document the least one counts
    /// if they ascend, the greatest if they descend.
    Field(Field),
    /// How well they answer the query.
    Score,
    /// The order of the index.
    Document,
}

/// Where documents without a value come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// Before all others.
    First,
    /// After all others.
    #[default]
    Last,
}

/// One of the keys of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortKey {
    /// What is compared.
    pub by: SortBy,
    /// True if the greatest come first.
    pub descending: bool,
    /// Where documents without a value come, whichever way the others go.
    pub missing: Missing,
}

impl SortKey {
    /// The least first, those without a value last.
    pub fn ascending(by: SortBy) -> Self {
        SortKey { by, descending: false, missing: Missing::Last }
    }

    /// The greatest first, those without a value last.
    pub fn descending(by: SortBy) -> Self {
        SortKey { descending: true, ..SortKey::ascending(by) }
    }

    /// How two values of this key compare.
    pub(super) fn compare(&self, left: Option<&Value>, right: Option<&Value>) -> Ordering {
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

/// The order of values of one field.
pub(super) fn compare_values(left: &Value, right: &Value) -> Ordering {
    match (left.as_ref(), right.as_ref()) {
        (ValueRef::Text(left) | ValueRef::Bytes(left), ValueRef::Text(right) | ValueRef::Bytes(right)) => {
            left.cmp(right)
        }
        (left, right) => order_of_number(left).cmp(&order_of_number(right)),
    }
}

/// The integer of a number; `None` for what is none.
pub(super) fn order_of_number(value: ValueRef<'_>) -> Option<u64> {
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

/// Behind those that are first without a value.
const BASE: u128 = 1 << 65;

/// Of documents without a value.
const BEFORE: u128 = 0;
const BEHIND: u128 = 1 << 127;

/// A key in a leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeafKey<'c> {
    pub(super) key: SortKey,
    pub(super) column: Option<&'c Column>,
    leaf: usize,
}

impl<'c> LeafKey<'c> {
    /// That of a leaf.
    ///
    /// # Errors
    /// [`Error::Options`] for a column of texts, bytes or paths.
    pub(super) fn new(key: SortKey, searcher: &Searcher<'c>, leaf: usize) -> Result<Self> {
        let column = match key.by {
            SortBy::Field(field) => searcher.column(leaf, field),
            SortBy::Score | SortBy::Document => None,
        };
        if column.is_some_and(|column| column.kind().is_strings() || column.kind() == ColumnKind::Path) {
            let why = "texts, bytes and paths have no order here: sort by a number, a date or a keyword";
            return Err(Error::Options(why.into()));
        }
        Ok(LeafKey { key, column, leaf })
    }

    /// What stands for a document without a value.
    pub(super) fn missing(&self) -> u128 {
        match self.key.missing {
            Missing::First => BEFORE,
            Missing::Last => BEHIND,
        }
    }

    /// What stands for an integer of the column.
    #[inline]
    pub(super) fn of_order(&self, order: u64) -> u128 {
        let rank = if self.key.descending { !order } else { order };
        BASE + (u128::from(rank) << 1)
    }

    /// What stands for the values of a document, of which there is at least one.
    #[inline]
    pub(super) fn of_values(&self, values: &[u64]) -> u128 {
        let order = if self.key.descending { values.last() } else { values.first() };
        order.map_or(self.missing(), |&order| self.of_order(order))
    }

    /// What stands for a document with this score.
    pub(super) fn of_document(&self, doc: u32, score: f32) -> Result<u128> {
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

    /// What stands here for a value of any leaf.
    pub(super) fn of_value(&self, value: Option<&Value>, hit: &Hit) -> Result<u128> {
        if self.key.by == SortBy::Document {
            return Ok(self.of_order(place(hit.leaf, hit.doc)));
        }
        let Some(value) = value else { return Ok(self.missing()) };
        if let Some(order) = order_of_number(value.as_ref()) {
            return Ok(self.of_order(order));
        }
        let (Some(terms), Value::Text(term)) = (self.column.and_then(Column::terms), value) else {
            // No document here has a value: it is before or behind all of them.
            return Ok(self.of_order(0));
        };
        Ok(match (terms.find(term)?, self.key.descending) {
            (Ok(order), _) => self.of_order(order.into()),
            (Err(next), false) => self.of_order(next.into()) - 1,
            (Err(next), true) => self.of_order(next.into()) + 1,
        })
    }

    /// The value that something stands for.
    pub(super) fn value(&self, stands: u128) -> Result<Option<Value>> {
        if stands == BEFORE || stands == BEHIND || self.key.by == SortBy::Document {
            return Ok(None);
        }
        let rank = u64::try_from(stands.saturating_sub(BASE) >> 1).unwrap_or(u64::MAX);
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

/// The value that an integer of a column stands for.
pub(super) fn value_of(column: &Column, order: u64) -> Result<Value> {
    let Some(terms) = column.terms() else { return Ok(column.kind().value_of(order)) };
    let mut term = Vec::new();
    terms.term(u32::try_from(order).unwrap_or(u32::MAX), &mut term)?;
    Ok(Value::Text(term))
}
