//! Documents by the values of a column: a range becomes the set of those that have a value in it.
//!
//! Blocks whose least and greatest value lie outside are passed, 64 at once where the range over them says so; of those that
//! lie inside, values are not read. What is left is unpacked and compared.

use std::ops::Bound;

use super::budget::Clock;
use super::docset::DocSet;
use super::leaf::Leaf;
use super::query::ValueRange;
use super::sets::docs_of;
use crate::column::{Column, ColumnCursor, ColumnKind, DictionaryReader, Entry, Scan};
use crate::error::{Error, Result};
use crate::schema::{Field, FieldKind, Value, ValueRef, literal};

impl ValueRange {
    /// The range of one value, as it is.
    ///
    /// # Errors
    /// What could stand there.
    pub(super) fn exact(field: Field, kind: &FieldKind, text: &str) -> std::result::Result<Self, String> {
        let (low, high) = literal(kind, text)?;
        Ok(ValueRange { field, low: Bound::Included(low), high: Bound::Included(high) })
    }

    /// The range that a text asks for: `5` or `=5`, `>5`, `>=5`, `<5`, `<=5`; if it ends with a star that is `wild`, any
    /// value, or of keywords and paths those that begin so.
    ///
    /// # Errors
    /// What could stand there.
    pub(super) fn parse(
        field: Field,
        kind: &FieldKind,
        text: &str,
        wild: bool,
    ) -> std::result::Result<Self, String> {
        let is_text = matches!(kind, FieldKind::Keyword | FieldKind::Path);
        let sign = |sign: &str| text.strip_prefix(sign).map(str::trim_start);
        let (low, high) = if wild && text == "*" {
            (Bound::Unbounded, Bound::Unbounded)
        } else if let Some(text) = sign(">=") {
            (Bound::Included(literal(kind, text)?.0), Bound::Unbounded)
        } else if let Some(text) = sign(">") {
            (Bound::Excluded(literal(kind, text)?.1), Bound::Unbounded)
        } else if let Some(text) = sign("<=") {
            (Bound::Unbounded, Bound::Included(literal(kind, text)?.1))
        } else if let Some(text) = sign("<") {
            (Bound::Unbounded, Bound::Excluded(literal(kind, text)?.0))
        } else if let Some(text) = sign("=") {
            return Self::exact(field, kind, text);
        } else if let Some(prefix) = text.strip_suffix('*').filter(|_| wild && is_text) {
            let first = prefix.as_bytes().to_vec();
            let end = after_prefix(&first).map_or(Bound::Unbounded, |end| Bound::Excluded(Value::Text(end)));
            (Bound::Included(Value::Text(first)), end)
        } else {
            return Self::exact(field, kind, text);
        };
        Ok(ValueRange { field, low, high })
    }

    /// The range between two texts.
    ///
    /// # Errors
    /// What could stand there.
    pub(super) fn between(
        field: Field,
        kind: &FieldKind,
        (from, to): (Bound<&str>, Bound<&str>),
    ) -> std::result::Result<Self, String> {
        let low = match from {
            Bound::Included(text) => Bound::Included(literal(kind, text)?.0),
            Bound::Excluded(text) => Bound::Excluded(literal(kind, text)?.1),
            Bound::Unbounded => Bound::Unbounded,
        };
        let high = match to {
            Bound::Included(text) => Bound::Included(literal(kind, text)?.1),
            Bound::Excluded(text) => Bound::Excluded(literal(kind, text)?.0),
            Bound::Unbounded => Bound::Unbounded,
        };
        Ok(ValueRange { field, low, high })
    }
}

/// The first text after all that begin with `prefix`; `None` if there is none.
fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte < u8::MAX)?;
    let mut after = prefix.get(..=last)?.to_vec();
    if let Some(byte) = after.last_mut() {
        *byte += 1;
    }
    Some(after)
}

/// The documents of a leaf from `first` on, a multiple of 64, up to `end` that have a value in the range.
pub(super) fn documents(
    leaf: &dyn Leaf,
    range: &ValueRange,
    (first, end): (u32, u32),
    clock: Clock,
) -> Result<DocSet> {
    let mut found = Found { first, words: vec![0; (end.saturating_sub(first) as usize).div_ceil(64)] };
    if let Some(column) = leaf.column(range.field) {
        let all = (&range.low, &range.high) == (&Bound::Unbounded, &Bound::Unbounded);
        if column.kind() == ColumnKind::Path && !all {
            found.of_paths(column, range, clock)?;
        } else if let Some(bounds) = bounds(column, range)? {
            found.between(column, bounds, end, clock)?;
        }
    }
    Ok(DocSet::Bits { first, words: found.words })
}

/// Those of `docs`, which ascend, that have a value in the range; `None` where asking one by one gains nothing. That costs some
/// ten nanoseconds each, and so much less than a look at all documents if few can match at all.
pub(super) fn among(
    leaf: &dyn Leaf,
    range: &ValueRange,
    docs: &[u32],
    clock: Clock,
) -> Result<Option<DocSet>> {
    let Some(column) = leaf.column(range.field) else { return Ok(Some(DocSet::Numbers(Vec::new()))) };
    let all = (&range.low, &range.high) == (&Bound::Unbounded, &Bound::Unbounded);
    if column.kind() == ColumnKind::Path && !all {
        return Ok(None);
    }
    let Some((low, high)) = bounds(column, range)? else { return Ok(Some(DocSet::Numbers(Vec::new()))) };
    let (mut cursor, mut found, mut values) = (ColumnCursor::new(column), Vec::new(), Vec::new());
    for &doc in docs {
        if clock.is_up() {
            break;
        }
        let entry = cursor.block_of(doc)?.entry;
        let strings = column.kind().is_strings();
        if entry.values == 0 || (!strings && (entry.least > high || entry.most < low)) {
            continue;
        }
        let is_in = match strings || (entry.least >= low && entry.most <= high) {
            true => cursor.block_of(doc)?.rank(doc).is_some(),
            false => {
                values.clear();
                cursor.get(doc, &mut values)?;
                values.iter().any(|value| (low..=high).contains(value))
            }
        };
        if is_in {
            found.push(doc);
        }
    }
    Ok(Some(DocSet::Numbers(found)))
}

/// The least and the greatest integer of a range; `None` if none is in it.
fn bounds(column: &Column, range: &ValueRange) -> Result<Option<(u64, u64)>> {
    if column.kind().is_strings() && (&range.low, &range.high) != (&Bound::Unbounded, &Bound::Unbounded) {
        let what = "values of texts and bytes are kept to be shown: filter by a keyword, or search the text";
        return Err(Error::Options(what.into()));
    }
    let low = match &range.low {
        Bound::Unbounded => Some(0),
        Bound::Included(value) => Some(order(column, value)?.unwrap_or_else(|next| next)),
        Bound::Excluded(value) => match order(column, value)? {
            Ok(there) => there.checked_add(1),
            Err(next) => Some(next),
        },
    };
    let high = match &range.high {
        Bound::Unbounded => Some(u64::MAX),
        Bound::Included(value) => match order(column, value)? {
            Ok(there) => Some(there),
            Err(next) => next.checked_sub(1),
        },
        Bound::Excluded(value) => match order(column, value)? {
            Ok(next) | Err(next) => next.checked_sub(1),
        },
    };
    Ok(low.zip(high).filter(|(low, high)| low <= high))
}

/// The integer of a value, or of the next greater one of those that are there.
pub(super) fn order(column: &Column, value: &Value) -> Result<std::result::Result<u64, u64>> {
    match (column.terms(), value.as_ref()) {
        (Some(terms), ValueRef::Text(text)) => Ok(terms.find(text)?.map(u64::from).map_err(u64::from)),
        (None, value) => column.kind().order_of(value).map(Ok).ok_or_else(other_kind),
        _ => Err(other_kind()),
    }
}

fn other_kind() -> Error {
    Error::Options("a filter has values of another kind than its field".into())
}

/// Documents that were found, a bit for each from `first` on.
struct Found {
    first: u32,
    words: Vec<u64>,
}

impl Found {
    #[inline]
    fn set(&mut self, doc: u32) {
        if let Some(place) = doc.checked_sub(self.first)
            && let Some(word) = self.words.get_mut(place as usize / 64)
        {
            *word |= 1 << (place % 64);
        }
    }

    fn set_range(&mut self, from: u32, to: u32) {
        let mut doc = from.max(self.first);
        while doc < to {
            let place = doc - self.first;
            let Some(word) = self.words.get_mut(place as usize / 64) else { return };
            let count = (64 - place % 64).min(to - doc);
            *word |= (u64::MAX >> (64 - count)) << (place % 64);
            doc += count;
        }
    }

    /// Adds the documents up to `end` with an integer between the bounds.
    fn between(&mut self, column: &Column, bounds: (u64, u64), end: u32, clock: Clock) -> Result<()> {
        if self.words.is_empty() {
            return Ok(());
        }
        let mut scan = Scan::new();
        let mut number = column.block_of(self.first)?;
        let mut range = number / 64;
        while number < column.blocks() && !clock.is_up() {
            // A look at the range costs nothing beside one at all of its blocks.
            if number.is_multiple_of(64) || range != number / 64 {
                range = number / 64;
                let (found, blocks) = column.range(range)?;
                if found.values == 0 || found.least > bounds.1 || found.most < bounds.0 {
                    number = blocks.end;
                    continue;
                }
            }
            let entry = column.entry(number)?;
            if entry.first >= end {
                break;
            }
            self.block(column, (number, &entry), bounds, &mut scan)?;
            number += 1;
        }
        // Bits beyond the end belong to another range of documents.
        let beyond = (end - self.first) % 64;
        if beyond > 0
            && let Some(last) = self.words.last_mut()
        {
            *last &= !(u64::MAX << beyond);
        }
        Ok(())
    }

    fn block(
        &mut self,
        column: &Column,
        (number, entry): (u32, &Entry),
        (low, high): (u64, u64),
        scan: &mut Scan,
    ) -> Result<()> {
        if entry.values == 0 || entry.least > high || entry.most < low {
            return Ok(());
        }
        let inside = column.kind().is_strings() || (entry.least >= low && entry.most <= high);
        if inside && entry.present == entry.documents {
            self.set_range(entry.first, entry.first + entry.documents);
            return Ok(());
        }
        if column.kind().is_strings() {
            return scan.strings(column, number, |doc, _| {
                self.set(doc);
                Ok(())
            });
        }
        let values = scan.read(column, number)?;
        let reach = high - low;
        let is_in = |value: u64| value.wrapping_sub(low) <= reach;
        match (values.present, values.ends) {
            (None, None) if values.first >= self.first && (values.first - self.first).is_multiple_of(64) => {
                let words = self.words.iter_mut().skip((values.first - self.first) as usize / 64);
                for (word, values) in words.zip(values.values.chunks(64)) {
                    let bits = values.iter().zip(0..).map(|(&value, bit)| u64::from(is_in(value)) << bit);
                    *word |= bits.fold(0, |word, bit| word | bit);
                }
            }
            _ => values.each(|doc, values| {
                if values.iter().any(|&value| is_in(value)) {
                    self.set(doc);
                }
            }),
        }
        Ok(())
    }

    /// Adds the documents with a path, or with one below it.
    fn of_paths(&mut self, column: &Column, range: &ValueRange, clock: Clock) -> Result<()> {
        let refused = || {
            let what =
                "paths are asked for by one of them, or by how they begin: path:/data/anna, path:/data/an*";
            Error::Options(what.into())
        };
        let (Some(terms), Bound::Included(Value::Text(path))) = (column.terms(), &range.low) else {
            return Err(refused());
        };
        let after = after_prefix(path).map_or(Bound::Unbounded, |end| Bound::Excluded(Value::Text(end)));
        if range.high != range.low && range.high != after {
            return Err(refused());
        }
        let end = self.first.saturating_add(u32::try_from(self.words.len() * 64).unwrap_or(u32::MAX));
        let end = end.min(column.documents());
        let wildcard = range.low != range.high;
        let mut directory = path.clone();
        if !wildcard && directory.last() != Some(&b'/') {
            directory.push(b'/');
        }
        let below = terms.prefix_range(&directory)?;
        if !below.is_empty() {
            self.between(column, (below.start.into(), u64::from(below.end) - 1), end, clock)?;
        }
        self.named(column, terms, (path, wildcard), end, clock)
    }

    /// Adds the documents whose path is this one, or begins so.
    fn named(
        &mut self,
        column: &Column,
        terms: &DictionaryReader,
        (path, begins): (&[u8], bool),
        end: u32,
        clock: Clock,
    ) -> Result<()> {
        let cut = memchr::memrchr(b'/', path).map_or(0, |slash| slash + 1);
        let (directory, name) = path.split_at(cut);
        let (Ok(number), false) = (terms.find(directory)?, name.is_empty()) else { return Ok(()) };
        let mut in_directory = Found { first: self.first, words: vec![0; self.words.len()] };
        in_directory.between(column, (number.into(), number.into()), end, clock)?;
        let mut values = Vec::new();
        for doc in docs_of(self.first, &in_directory.words) {
            values.clear();
            column.values_of(doc, &mut values)?;
            let is_it = |value: &Value| match value.as_ref() {
                ValueRef::Text(text) if begins => text.starts_with(path),
                ValueRef::Text(text) => text == path,
                _ => false,
            };
            if values.iter().any(is_it) {
                self.set(doc);
            }
        }
        Ok(())
    }
}
