//! Reads the values of batches of documents, one column after another, for exports.
//!
//! If most documents of a block are wanted, the block is unpacked as a whole. If each of them has one value,
//! the values are passed on in one piece, which is as fast as unpacking. If few documents are wanted, their
//! values are looked up one at a time, after the memory that they are in was prefetched.

use super::entry::JumpEntry;
use super::read::Column;
use super::scan::{Scan, Values};
use crate::error::Result;

/// Unpacking a block of this many values takes as long as looking up one value.
const LOOK_UP: usize = 16;

/// Unpacking a block of this many values takes as long as picking one value from the packed block.
const PICK: usize = 2;

/// Blocks whose values are prefetched together.
const TOGETHER: usize = 8;
/// Documents by which the prefetch of index entries is ahead.
const AHEAD: usize = 16;

/// A block with some documents of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundBlock {
    /// The number of the block.
    pub(crate) number: u32,
    /// The index entry of the block.
    pub(crate) entry: JumpEntry,
    /// The end of its documents in the list.
    pub(crate) end: usize,
}

/// Prefetches the index entries that [`find_blocks`] reads first.
pub(crate) fn prefetch_entries(column: &Column, docs: &[u32]) {
    docs.iter().take(AHEAD).for_each(|&doc| column.prefetch_entry(doc));
}

/// Finds the next blocks of `docs`, which ascend, from index `found` on, and prefetches the first value of
/// each.
pub(crate) fn find_blocks(
    column: &Column,
    docs: &[u32],
    found: &mut usize,
    ahead: &mut Vec<FoundBlock>,
) -> Result<()> {
    while ahead.len() < TOGETHER
        && let Some(rest) = docs.get(*found..)
        && let Some((&first, &last)) = rest.first().zip(rest.last())
    {
        let number = column.block_of(first)?;
        let entry = column.entry(number)?;
        column.prefetch_value(&entry, first);
        let end = entry.first.saturating_add(entry.documents);
        let here = if last < end { rest.len() } else { rest.partition_point(|&doc| doc < end) };
        // Without this, a damaged block that does not have its document would be found again forever.
        *found += here.max(1);
        if let Some(&later) = docs.get(*found + AHEAD) {
            column.prefetch_entry(later);
        }
        ahead.push(FoundBlock { number, entry, end: *found });
    }
    Ok(())
}

/// Integers by row.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    rows: usize,
    /// True if some row has no value or several; then `ends` has an entry for each row.
    ragged: bool,
    ends: Vec<u32>,
    values: Vec<u64>,
}

impl Gathered {
    /// Removes all rows.
    pub fn clear(&mut self) {
        let Gathered { rows, ragged, ends, values } = self;
        (*rows, *ragged) = (0, false);
        ends.clear();
        values.clear();
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the values of all rows.
    #[inline]
    pub fn values(&self) -> &[u64] {
        &self.values
    }

    /// Returns the values of all rows, to be replaced.
    pub(crate) fn values_mut(&mut self) -> &mut [u64] {
        &mut self.values
    }

    /// Returns for each row the number of values up to its last one; `None` if each row has exactly one
    /// value.
    #[inline]
    pub fn ends(&self) -> Option<&[u32]> {
        self.ragged.then_some(&self.ends)
    }

    /// Returns the range of the values of a row.
    #[inline]
    pub fn of_row(&self, row: usize) -> std::ops::Range<usize> {
        let Some(ends) = self.ends() else { return row..row + 1 };
        let end = |row: usize| ends.get(row).map_or(0, |&end| end as usize);
        row.checked_sub(1).map_or(0, end)..end(row)
    }

    /// Adds a row with one value for each of `values`.
    pub fn push_singles(&mut self, values: &[u64]) {
        let before = self.values.len();
        self.values.extend_from_slice(values);
        self.rows += values.len();
        if self.ragged {
            self.ends.extend((before..).skip(1).take(values.len()).map(short));
        }
    }

    /// Adds a row with these values.
    #[inline]
    pub fn push(&mut self, values: impl IntoIterator<Item = u64>) {
        let before = self.values.len();
        self.values.extend(values);
        if !self.ragged && self.values.len() != before + 1 {
            self.ragged = true;
            self.ends.clear();
            self.ends.extend((1..=self.rows).map(short));
        }
        self.rows += 1;
        if self.ragged {
            self.ends.push(short(self.values.len()));
        }
    }
}

/// Converts a number of values. Callers bound the gathered values to far less than 2³².
fn short(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// Gathers the integers of a column, batch after batch.
#[derive(Debug)]
pub struct Gather<'c> {
    column: &'c Column,
    scan: Scan,
    /// The number of the block that is unpacked.
    held: Option<u32>,
    picked: Vec<u64>,
    blocks: Vec<FoundBlock>,
}

impl<'c> Gather<'c> {
    /// Creates a gatherer of values of `column`.
    pub fn new(column: &'c Column) -> Self {
        Gather { column, scan: Scan::new(), held: None, picked: Vec::new(), blocks: Vec::new() }
    }

    /// Adds a row for each of `docs`, which ascend.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if a block cannot be read.
    pub fn read(&mut self, docs: &[u32], out: &mut Gathered) -> Result<()> {
        let (mut found, mut handed, mut blocks) = (0, 0, std::mem::take(&mut self.blocks));
        prefetch_entries(self.column, docs);
        while found < docs.len() {
            find_blocks(self.column, docs, &mut found, &mut blocks)?;
            for FoundBlock { number, entry, end } in blocks.drain(..) {
                let inside = docs.get(std::mem::replace(&mut handed, end)..end).unwrap_or_default();
                self.read_block(number, &entry, inside, out)?;
            }
        }
        self.blocks = blocks;
        Ok(())
    }

    /// Adds rows for documents of one block.
    fn read_block(&mut self, number: u32, entry: &JumpEntry, docs: &[u32], out: &mut Gathered) -> Result<()> {
        let values = entry.values as usize;
        if values == 0 {
            docs.iter().for_each(|_| out.push([]));
        } else if self.held != Some(number) && entry.is_plain() && docs.len() * PICK < values {
            self.picked.clear();
            self.column.pick(number, entry, docs, &mut self.picked)?;
            out.push_singles(&self.picked);
        } else if self.held != Some(number) && docs.len() * LOOK_UP < values {
            let block = self.column.block(number)?;
            for &doc in docs {
                self.picked.clear();
                block.get(doc, &mut self.picked).map_err(|_| self.column.damaged(number))?;
                out.push(self.picked.iter().copied());
            }
        } else {
            if self.held != Some(number) {
                self.held = None;
                self.scan.read(self.column, number)?;
                self.held = Some(number);
            }
            pick(&self.scan.last(), docs, out).ok_or_else(|| self.column.damaged(number))?;
        }
        Ok(())
    }
}

/// Adds rows for documents of an unpacked block.
fn pick(block: &Values<'_>, docs: &[u32], out: &mut Gathered) -> Option<()> {
    let Values { first, values, .. } = *block;
    let of = |rank: usize| match block.ends {
        None => values.get(rank..rank + 1),
        Some(ends) => {
            let before = rank.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
            values.get(before as usize..*ends.get(rank)? as usize)
        }
    };
    let (&start, &last) = (docs.first()?, docs.last()?);
    let Some(present) = block.present else {
        let offset = start.checked_sub(first)? as usize;
        if block.ends.is_none() && last.checked_sub(start)? as usize + 1 == docs.len() {
            out.push_singles(values.get(offset..offset + docs.len())?);
            return Some(());
        }
        for &doc in docs {
            out.push(of(doc.checked_sub(first)? as usize)?.iter().copied());
        }
        return Some(());
    };
    let mut rank = present.partition_point(|&offset| first + u32::from(offset) < start);
    for &doc in docs {
        while present.get(rank).is_some_and(|&offset| first + u32::from(offset) < doc) {
            rank += 1;
        }
        let has = present.get(rank).is_some_and(|&offset| first + u32::from(offset) == doc);
        out.push(if has { of(rank)? } else { &[] }.iter().copied());
    }
    Some(())
}
