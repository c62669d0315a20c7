//! Finds the documents with a value in a range.
//!
//! Blocks whose least and greatest values lie outside the range are skipped, 64 blocks together if the
//! summary of their range allows it. The values of blocks that lie inside the range are not read. All others
//! are unpacked and compared.

use std::ops::Bound;

use crate::column::{Column, ColumnCursor, ColumnKind, DictionaryReader, JumpEntry, Scan, StringCursor};
use crate::error::{Error, Result};
use crate::query::{ValueRange, after_prefix};
use crate::schema::{Value, ValueRef};
use crate::search::budget::Clock;
use crate::search::doc_set::DocSet;
use crate::search::exec::bits::docs_of;
use crate::search::exec::view::View;

/// The documents of a view with a value in the range. If only the documents `among` matter, which ascend,
/// others may be left out.
pub(crate) fn filter(view: &View, range: &ValueRange, among: Option<&[u32]>) -> Result<DocSet> {
    if let Some(docs) = among
        && let Some(found) = look_up(view, range, docs)?
    {
        return Ok(found);
    }
    scan(view, range)
}

/// An upper bound of the number of documents of a view in a range of values, from the bounds of blocks; 0 for
/// paths, whose documents stand together.
pub(crate) fn at_most(view: &View, range: &ValueRange) -> Result<u64> {
    let Some(column) = view.leaf.column(range.field) else { return Ok(0) };
    if column.kind() == ColumnKind::Path || view.first >= view.end {
        return Ok(0);
    }
    let Some(bounds) = OrderBounds::of(column, range)? else { return Ok(0) };
    let mut documents = 0;
    for number in column.block_of(view.first)?..column.blocks() {
        let entry = column.entry(number)?;
        if entry.first >= view.end {
            break;
        }
        let is_text = column.kind().is_strings();
        if entry.values > 0 && (is_text || !bounds.are_outside(entry.least, entry.most)) {
            documents += u64::from(entry.present);
        }
    }
    Ok(documents)
}

/// Scans the column.
fn scan(view: &View, range: &ValueRange) -> Result<DocSet> {
    let words = (view.end.saturating_sub(view.first) as usize).div_ceil(64);
    let mut found = ValueBits {
        first: view.first,
        end: view.end,
        clock: view.clock,
        words: vec![0; words],
        found: Vec::new(),
    };
    if let Some(column) = view.leaf.column(range.field) {
        if column.kind() == ColumnKind::Path && !is_unbounded(range) {
            found.of_paths(column, range)?;
        } else if let Some(bounds) = OrderBounds::of(column, range)? {
            found.between(column, bounds)?;
        }
    }
    Ok(DocSet::Bits { first: view.first, words: found.words })
}

/// A bit for each document of a view from its first one on, a multiple of 64, which is set if the document
/// has a value from `low` to `high`, as integers of a column of numbers.
pub(crate) fn between(view: &View, column: &Column, low: u64, high: u64) -> Result<Vec<u64>> {
    let words = (view.end.saturating_sub(view.first) as usize).div_ceil(64);
    let mut found = ValueBits {
        first: view.first,
        end: view.end,
        clock: view.clock,
        words: vec![0; words],
        found: Vec::new(),
    };
    if low <= high {
        found.between(column, OrderBounds { low, high })?;
    }
    Ok(found.words)
}

/// Looks up the values of each document; `None` for ranges of paths, where that gains nothing.
///
/// A look-up costs some ten nanoseconds, so it pays only if few documents can match at all.
fn look_up(view: &View, range: &ValueRange, docs: &[u32]) -> Result<Option<DocSet>> {
    let Some(column) = view.leaf.column(range.field) else { return Ok(Some(DocSet::Numbers(Vec::new()))) };
    if column.kind() == ColumnKind::Path && !is_unbounded(range) {
        return Ok(None);
    }
    let Some(bounds) = OrderBounds::of(column, range)? else {
        return Ok(Some(DocSet::Numbers(Vec::new())));
    };
    let (mut cursor, mut found, mut values) = (ColumnCursor::new(column), Vec::new(), Vec::new());
    for &doc in docs {
        if view.clock.is_up() {
            break;
        }
        let entry = cursor.block_of(doc)?.entry;
        let strings = column.kind().is_strings();
        if entry.values == 0 || (!strings && bounds.are_outside(entry.least, entry.most)) {
            continue;
        }
        let is_in = if strings || bounds.contain(entry.least, entry.most) {
            cursor.block_of(doc)?.rank(doc).is_some()
        } else {
            values.clear();
            cursor.get(doc, &mut values)?;
            values.iter().any(|value| (bounds.low..=bounds.high).contains(value))
        };
        if is_in {
            found.push(doc);
        }
    }
    Ok(Some(DocSet::Numbers(found)))
}

fn is_unbounded(range: &ValueRange) -> bool {
    (&range.low, &range.high) == (&Bound::Unbounded, &Bound::Unbounded)
}

/// The least and the greatest integer of a range of values; both are in it.
#[derive(Clone, Copy)]
struct OrderBounds {
    low: u64,
    high: u64,
}

impl OrderBounds {
    /// The bounds of a range in a column; `None` if the range is empty.
    fn of(column: &Column, range: &ValueRange) -> Result<Option<Self>> {
        if column.kind().is_strings() && !is_unbounded(range) {
            return Err(Error::Unsupported {
                what: "a filter by the values of a column of texts or bytes".into(),
                remedy: "filter by a keyword field, or search the text".into(),
            });
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
        let bounds = low.zip(high).filter(|(low, high)| low <= high);
        Ok(bounds.map(|(low, high)| OrderBounds { low, high }))
    }

    /// True if no value from `least` to `most` is within the bounds.
    fn are_outside(&self, least: u64, most: u64) -> bool {
        least > self.high || most < self.low
    }

    /// True if all values from `least` to `most` are within the bounds.
    fn contain(&self, least: u64, most: u64) -> bool {
        least >= self.low && most <= self.high
    }
}

/// The integer of a value in a column. If the column does not know the value: `Err` with the integer of the
/// next greater one.
pub(crate) fn order(column: &Column, value: &Value) -> Result<std::result::Result<u64, u64>> {
    match (column.terms(), value.as_ref()) {
        (Some(terms), ValueRef::Text(text)) => Ok(terms.find(text)?.map(u64::from).map_err(u64::from)),
        (None, value) => column.kind().order_of(value).map(Ok).ok_or_else(other_kind),
        _ => Err(other_kind()),
    }
}

fn other_kind() -> Error {
    Error::Unsupported {
        what: "a filter by values of another kind than the field".into(),
        remedy: "use values of the same kind as the field".into(),
    }
}

/// The documents that were found from `first` to before `end`, a bit for each.
struct ValueBits<'a> {
    first: u32,
    end: u32,
    clock: Clock<'a>,
    words: Vec<u64>,
    /// The bits of the last block.
    found: Vec<u64>,
}

impl ValueBits<'_> {
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

    /// Adds the documents with an integer within the bounds.
    fn between(&mut self, column: &Column, bounds: OrderBounds) -> Result<()> {
        if self.words.is_empty() {
            return Ok(());
        }
        let mut scan = Scan::new();
        let mut number = column.block_of(self.first)?;
        let mut range = number / 64;
        while number < column.blocks() && !self.clock.is_up() {
            // Looking at a range of 64 blocks costs nothing compared with looking at all of them.
            if number.is_multiple_of(64) || range != number / 64 {
                range = number / 64;
                let (found, blocks) = column.range(range)?;
                if found.values == 0 || bounds.are_outside(found.least, found.most) {
                    number = blocks.end;
                    continue;
                }
            }
            let entry = column.entry(number)?;
            if entry.first >= self.end {
                break;
            }
            self.block(column, number, &entry, bounds, &mut scan)?;
            number += 1;
        }
        // Bits beyond the end belong to another range of documents.
        let beyond = (self.end - self.first) % 64;
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
        number: u32,
        entry: &JumpEntry,
        bounds: OrderBounds,
        scan: &mut Scan,
    ) -> Result<()> {
        if entry.values == 0 || bounds.are_outside(entry.least, entry.most) {
            return Ok(());
        }
        let inside = column.kind().is_strings() || bounds.contain(entry.least, entry.most);
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
        let mut words = std::mem::take(&mut self.found);
        scan.within(column, number, &(bounds.low..=bounds.high), &mut words)?;
        self.set_words(entry.first, &words);
        self.found = words;
        Ok(())
    }

    /// Sets the bits that are set in `words`, which begin with document `first`.
    fn set_words(&mut self, first: u32, words: &[u64]) {
        if first >= self.first && (first - self.first).is_multiple_of(64) {
            let own = self.words.iter_mut().skip((first - self.first) as usize / 64);
            own.zip(words).for_each(|(own, word)| *own |= word);
        } else {
            docs_of(first, words).for_each(|doc| self.set(doc));
        }
    }

    /// Adds the documents with a path, or with a path below it.
    fn of_paths(&mut self, column: &Column, range: &ValueRange) -> Result<()> {
        let refused = || Error::Unsupported {
            what: "a filter by a range of paths".into(),
            remedy: "use one path or a prefix of paths, as in path:/data/anna or path:/data/an*".into(),
        };
        let (Some(terms), Bound::Included(Value::Text(path))) = (column.terms(), &range.low) else {
            return Err(refused());
        };
        let after = after_prefix(path).map_or(Bound::Unbounded, |end| Bound::Excluded(Value::Text(end)));
        if range.high != range.low && range.high != after {
            return Err(refused());
        }
        let last = self.first.saturating_add(u32::try_from(self.words.len() * 64).unwrap_or(u32::MAX));
        self.end = last.min(column.documents());
        let wildcard = range.low != range.high;
        let mut directory = path.clone();
        if !wildcard && directory.last() != Some(&b'/') {
            directory.push(b'/');
        }
        let below = terms.prefix_range(&directory)?;
        if !below.is_empty() {
            self.between(column, OrderBounds { low: below.start.into(), high: u64::from(below.end) - 1 })?;
        }
        self.named(column, terms, path, wildcard)
    }

    /// Adds the documents whose path is `path`, or begins with it.
    fn named(&mut self, column: &Column, terms: &DictionaryReader, path: &[u8], begins: bool) -> Result<()> {
        let cut = memchr::memrchr(b'/', path).map_or(0, |slash| slash + 1);
        let (directory, name) = path.split_at(cut);
        let (Ok(number), false) = (terms.find(directory)?, name.is_empty()) else { return Ok(()) };
        let mut in_directory = ValueBits { words: vec![0; self.words.len()], found: Vec::new(), ..*self };
        in_directory.between(column, OrderBounds { low: number.into(), high: number.into() })?;
        let Some(mut names) = column.names().map(StringCursor::new) else { return Ok(()) };
        let (mut directories, mut numbers, mut of_doc) = (ColumnCursor::new(column), Vec::new(), Vec::new());
        for doc in docs_of(self.first, &in_directory.words) {
            numbers.clear();
            of_doc.clear();
            directories.get(doc, &mut numbers)?;
            let (mut rank, mut is_it) = (0, false);
            names.append(doc, &mut of_doc, |string| {
                let is_named = if begins { string.starts_with(name) } else { string == name };
                is_it |= is_named && numbers.get(rank) == Some(&u64::from(number));
                string.clear();
                rank += 1;
            })?;
            if is_it {
                self.set(doc);
            }
        }
        Ok(())
    }
}
