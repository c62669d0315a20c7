//! Reads a column block by block, at a fraction of a nanosecond per value.

use std::ops::{ControlFlow, RangeInclusive};

use super::entry::JumpEntry;
use super::read::{Column, ColumnBlock};
use crate::codec::{MOST_DOCUMENTS, StringBatch, StringBlock};
use crate::error::Result;

/// Unpacks whole blocks of a column; its memory is reused from block to block.
#[derive(Debug, Default)]
pub struct Scan {
    values: Vec<u64>,
    present: Vec<u16>,
    ends: Vec<u32>,
    text: Vec<u8>,
    last: LastBlock,
}

/// The block that was unpacked last.
#[derive(Debug, Default)]
struct LastBlock {
    first: u32,
    documents: u32,
    every: bool,
    several: bool,
}

/// Reads the strings of whole blocks, many at a time; its memory is reused from block to block.
#[derive(Debug, Default)]
pub struct StringScan {
    scan: Scan,
    docs: Vec<u32>,
    batch: StringBatch,
}

/// The values of a block.
#[derive(Clone, Copy, Debug)]
pub struct Values<'s> {
    /// The first document of the block.
    pub first: u32,
    /// Number of documents of the block.
    pub documents: u32,
    /// The documents with values, as distances from the first document; `None` if all documents have values.
    pub present: Option<&'s [u16]>,
    /// For each of them, the number of values up to its last; `None` if each has one value.
    pub ends: Option<&'s [u32]>,
    /// The values.
    pub values: &'s [u64],
}

impl Scan {
    /// Creates a scan that has not read a block.
    pub fn new() -> Self {
        Self::default()
    }

    /// Unpacks a block. In a column of strings, there are no `values`.
    pub fn read<'s>(&'s mut self, column: &Column, number: u32) -> Result<Values<'s>> {
        let block = column.block(number)?;
        self.unpack(&block).ok_or_else(|| column.damaged(number))
    }

    /// Fills `words` with a bit for each document of a block of numbers, the first document lowest, which is
    /// set if a value of the document is within bounds. If each document has at most one value, the values
    /// are compared without being unpacked.
    pub fn within(
        &mut self,
        column: &Column,
        number: u32,
        bounds: &RangeInclusive<u64>,
        words: &mut Vec<u64>,
    ) -> Result<()> {
        let block = column.block(number)?;
        self.docs_within(&block, bounds, words).ok_or_else(|| column.damaged(number))
    }

    fn docs_within(
        &mut self,
        block: &ColumnBlock<'_>,
        bounds: &RangeInclusive<u64>,
        words: &mut Vec<u64>,
    ) -> Option<()> {
        let count = (block.entry.documents as usize).div_ceil(64);
        if block.has_several() {
            let values = self.unpack(block)?;
            words.clear();
            words.resize(count, 0);
            for (doc, of_doc) in values.documents() {
                let is_in = of_doc.iter().any(|value| bounds.contains(value));
                set_bit(words, doc - values.first, is_in)?;
            }
            return Some(());
        }
        block.numbers.within(*bounds.start(), *bounds.end(), words)?;
        if block.presence.is_every() {
            return (words.len() == count).then_some(());
        }
        block.presence.list(&mut self.present)?;
        let of_values = std::mem::replace(words, vec![0; count]);
        for (places, mut left) in self.present.chunks(64).zip(of_values) {
            while left != 0 {
                let place = places.get(left.trailing_zeros() as usize)?;
                set_bit(words, u32::from(*place), true)?;
                left &= left - 1;
            }
        }
        Some(())
    }

    /// Returns the last block that was read without an error.
    pub fn last(&self) -> Values<'_> {
        let LastBlock { first, documents, every, several } = self.last;
        Values {
            first,
            documents,
            present: (!every).then_some(&self.present),
            ends: several.then_some(&self.ends),
            values: &self.values,
        }
    }

    /// Calls `visit` with each string of a block and its document, in order.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the block is damaged, and the first error from `visit`.
    pub fn strings(
        &mut self,
        column: &Column,
        number: u32,
        visit: impl FnMut(u32, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let block = column.block(number)?;
        if block.entry.values == 0 {
            return Ok(());
        }
        let mut outcome = Ok(());
        let read = self.visit_strings(&block, visit, &mut outcome);
        outcome?;
        read.ok_or_else(|| column.damaged(number))
    }

    fn visit_strings(
        &mut self,
        block: &ColumnBlock<'_>,
        mut visit: impl FnMut(u32, &[u8]) -> Result<()>,
        outcome: &mut Result<()>,
    ) -> Option<()> {
        let strings = StringBlock::open(block.text()).filter(|all| all.len() == block.entry.values)?;
        let mut text = std::mem::take(&mut self.text);
        let documents = self.unpack(block)?;
        let (mut place, mut rank) = (0u32, 0usize);
        let read = strings.each(0..strings.len() as usize, &mut text, |string| {
            while documents.ends.is_some_and(|ends| ends.get(rank).is_some_and(|&end| end <= place)) {
                rank += 1;
            }
            let rank = if documents.ends.is_some() { rank } else { place as usize };
            place += 1;
            let offset = match documents.present {
                Some(present) => present.get(rank).copied().map_or(0, u32::from),
                None => u32::try_from(rank).unwrap_or(0),
            };
            *outcome = visit(documents.first + offset, string);
            if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        self.text = text;
        read
    }

    fn unpack(&mut self, block: &ColumnBlock<'_>) -> Option<Values<'_>> {
        let Scan { values, present, ends, last, .. } = self;
        // Values that are not written below are left from another block and are cut off.
        values.resize(block.numbers.count(), 0);
        block.numbers.unpack(0, values)?;
        let every = block.presence.is_every();
        if !every {
            debug_assert!(block.presence.count() <= MOST_DOCUMENTS);
            block.presence.list(present)?;
        }
        ends.clear();
        if block.has_several() {
            for rank in 0..block.presence.count() {
                ends.push(u32::try_from(block.values_of(rank).ok()?.end).ok()?);
            }
            if ends.last().is_some_and(|&end| end != block.entry.values) {
                return None;
            }
        }
        let JumpEntry { first, documents, .. } = block.entry;
        *last = LastBlock { first, documents, every, several: block.has_several() };
        Some(self.last())
    }
}

/// Sets a bit if `is_set`; `None` after the last bit.
#[inline]
fn set_bit(words: &mut [u64], place: u32, is_set: bool) -> Option<()> {
    *words.get_mut(place as usize / 64)? |= u64::from(is_set) << (place % 64);
    Some(())
}

impl StringScan {
    /// Creates a scan that has not read a block.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls `visit` with the strings of a block, many at a time, and the document of each, in order.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the block is damaged, and the first error from `visit`.
    pub fn batches(
        &mut self,
        column: &Column,
        number: u32,
        mut visit: impl FnMut(&[u32], &StringBatch) -> Result<()>,
    ) -> Result<()> {
        let block = column.block(number)?;
        if block.entry.values == 0 {
            return Ok(());
        }
        let damaged = || column.damaged(number);
        let strings = StringBlock::open(block.text()).filter(|all| all.len() == block.entry.values);
        let strings = strings.ok_or_else(damaged)?;
        let StringScan { scan, docs, batch } = self;
        scan.unpack(&block).ok_or_else(damaged)?.docs_of_values(docs);
        strings.unpack(&mut scan.text).ok_or_else(damaged)?;
        let mut from = 0;
        while from < strings.len() as usize {
            strings.fill(&scan.text, from, batch).ok_or_else(damaged)?;
            visit(docs.get(from..from + batch.len()).ok_or_else(damaged)?, batch)?;
            from += batch.len();
        }
        Ok(())
    }
}

impl<'s> Values<'s> {
    /// Fills `docs` with the document of each value, in order.
    pub fn docs_of_values(&self, docs: &mut Vec<u32>) {
        docs.clear();
        let doc = |offset: u16| self.first + u32::from(offset);
        match (self.present, self.ends) {
            (None, None) => docs.extend(self.first..self.first + self.documents),
            (Some(present), None) => docs.extend(present.iter().map(|&offset| doc(offset))),
            (present, Some(ends)) => {
                let all = ends.last().copied().unwrap_or(0);
                for (rank, &end) in (0..).zip(ends) {
                    let of_rank = match present {
                        Some(present) => present.get(usize::from(rank)).map_or(self.first, |&at| doc(at)),
                        None => doc(rank),
                    };
                    // Ends of damaged bytes can be out of order.
                    docs.resize((end.min(all) as usize).max(docs.len()), of_rank);
                }
            }
        }
    }

    /// The documents that have values, each with its values.
    #[inline]
    pub fn documents(&self) -> impl Iterator<Item = (u32, &'s [u64])> + use<'s> {
        let Values { first, documents, present, ends, values } = *self;
        let of_rank = move |rank: usize| match ends {
            None => values.get(rank..rank + 1),
            Some(ends) => {
                let start = rank.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
                values.get(start as usize..ends.get(rank).copied().unwrap_or(0) as usize)
            }
        };
        let count = present.map_or(documents as usize, <[u16]>::len);
        (0..count).zip(0u32..).map(move |(rank, offset)| {
            let offset = present.map_or(offset, |present| present.get(rank).copied().unwrap_or(0).into());
            (first + offset, of_rank(rank).unwrap_or_default())
        })
    }
}
