//! Number, sum and bounds of the values of a range of documents.
//!
//! Whole blocks are not read: their numbers and bounds are in the jump table and in the ranges of 64 blocks,
//! and a column of unsigned integers has a table with the sum of all values up to the end of each block. So a
//! range of any length reads at most two blocks. Segment trees and prefix sums are the textbook form of this.

use std::ops::Range;

use super::entry::{BLOCKS_OF_RANGE, BlockRange, SUM};
use super::read::Column;
use super::scan::Scan;
use crate::error::Result;

/// Figures of the values of a range of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeFigures {
    /// Number of values.
    pub values: u64,
    /// Their sum, or 0 if columns of this kind have no sums.
    pub sum: u128,
    /// The least value, or [`u64::MAX`] without values.
    pub least: u64,
    /// The greatest value, or 0 without values.
    pub most: u64,
}

impl RangeFigures {
    /// The figures of no documents.
    pub const NONE: RangeFigures = RangeFigures { values: 0, sum: 0, least: u64::MAX, most: 0 };

    fn add_values(&mut self, values: &[u64], has_sums: bool) {
        self.values = self.values.saturating_add(values.len() as u64);
        for &value in values {
            (self.least, self.most) = (self.least.min(value), self.most.max(value));
        }
        if has_sums {
            self.sum = self.sum.saturating_add(values.iter().copied().map(u128::from).sum());
        }
    }

    fn add_bounds(&mut self, range: &BlockRange) {
        self.values = self.values.saturating_add(range.values);
        (self.least, self.most) = (self.least.min(range.least), self.most.max(range.most));
    }
}

impl Column {
    /// Returns the sum of the values of a block; 0 if columns of this kind have no sums.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the index or the block is damaged.
    pub fn sum_of_block(&self, number: u32) -> Result<u128> {
        self.sum_of_blocks(number..number.saturating_add(1), &mut Scan::new())
    }

    /// The sum of the values of whole blocks.
    fn sum_of_blocks(&self, blocks: Range<u32>, scan: &mut Scan) -> Result<u128> {
        let kind = self.kind();
        if !kind.has_sums() || blocks.is_empty() {
            return Ok(0);
        }
        if self.header.has_sums {
            let (end, start) = (self.sum_before(blocks.end)?, self.sum_before(blocks.start)?);
            return end.checked_sub(start).ok_or_else(|| self.damaged(blocks.start));
        }
        let mut sum = 0;
        for block in blocks {
            sum += scan.read(self, block)?.values.iter().copied().map(u128::from).sum::<u128>();
        }
        Ok(sum)
    }

    /// The sum of the values of all blocks before this one, from the table of sums.
    fn sum_before(&self, block: u32) -> Result<u128> {
        let Some(last) = block.checked_sub(1) else { return Ok(0) };
        let at = self.header.places().sums + SUM * last as usize;
        let bytes = self.index.get(at..at + SUM)?.first_chunk();
        bytes.map(|bytes| u128::from_le_bytes(*bytes)).ok_or_else(|| self.damaged(block))
    }
}

/// Computes figures of ranges of documents. The last block that was read is kept.
#[derive(Debug)]
pub struct RangeReader<'c> {
    column: &'c Column,
    scan: Scan,
    /// The block in `scan`.
    block: Option<u32>,
}

impl<'c> RangeReader<'c> {
    /// Creates a reader of a column of numbers.
    pub fn new(column: &'c Column) -> Self {
        RangeReader { column, scan: Scan::new(), block: None }
    }

    /// The column.
    pub fn column(&self) -> &'c Column {
        self.column
    }

    /// Computes the figures of the documents in `docs`. Documents that the column does not have are ignored.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the column is damaged.
    pub fn figures(&mut self, docs: Range<u32>) -> Result<RangeFigures> {
        let mut figures = RangeFigures::NONE;
        let end = docs.end.min(self.column.documents());
        if docs.start >= end {
            return Ok(figures);
        }
        let (first, last) = (self.column.block_of(docs.start)?, self.column.block_of(end - 1)?);
        let (first_entry, last_entry) = (self.column.entry(first)?, self.column.entry(last)?);
        let starts_within = docs.start > first_entry.first;
        let ends_within = end < last_entry.first.saturating_add(last_entry.documents);
        if first == last && (starts_within || ends_within) {
            self.add_part(first, docs.start..end, &mut figures)?;
            return Ok(figures);
        }
        let whole = first + u32::from(starts_within)..last + u32::from(!ends_within);
        self.add_whole(whole, &mut figures)?;
        if starts_within {
            self.add_part(first, docs.start..end, &mut figures)?;
        }
        if ends_within {
            self.add_part(last, docs.start..end, &mut figures)?;
        }
        Ok(figures)
    }

    /// Adds whole blocks.
    fn add_whole(&mut self, blocks: Range<u32>, figures: &mut RangeFigures) -> Result<()> {
        let column = self.column;
        let mut number = blocks.start;
        while number < blocks.end {
            if (number as usize).is_multiple_of(BLOCKS_OF_RANGE) {
                let (range, these) = column.range(number / u32::try_from(BLOCKS_OF_RANGE).unwrap_or(1))?;
                if these.end <= blocks.end && these.end > number {
                    figures.add_bounds(&range);
                    number = these.end;
                    continue;
                }
            }
            let mut range = BlockRange::NONE;
            range.add(&column.entry(number)?);
            figures.add_bounds(&range);
            number += 1;
        }
        self.block = self.block.filter(|_| column.header.has_sums);
        figures.sum = figures.sum.saturating_add(column.sum_of_blocks(blocks, &mut self.scan)?);
        Ok(())
    }

    /// Adds those documents of a block that are in `docs`.
    fn add_part(&mut self, block: u32, docs: Range<u32>, figures: &mut RangeFigures) -> Result<()> {
        if self.block != Some(block) {
            self.block = None;
            self.scan.read(self.column, block)?;
            self.block = Some(block);
        }
        let has_sums = self.column.kind().has_sums();
        let values = self.scan.last();
        if values.present.is_none() && values.ends.is_none() {
            let place = |doc: u32| (doc.saturating_sub(values.first) as usize).min(values.values.len());
            let part = values.values.get(place(docs.start)..place(docs.end));
            figures.add_values(part.unwrap_or_default(), has_sums);
            return Ok(());
        }
        for (_, own) in values.documents().filter(|(doc, _)| docs.contains(doc)) {
            figures.add_values(own, has_sums);
        }
        Ok(())
    }
}
