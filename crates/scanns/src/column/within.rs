//! Finds the documents whose values are within bounds, as ranges of documents.
//!
//! Documents that are sorted by a column form one range, and only the blocks at its ends are read: all others
//! are decided by the bounds in the jump table.

use std::ops::Range;

use super::entry::{BLOCKS_OF_RANGE, JumpEntry};
use super::read::Column;
use super::scan::Scan;
use crate::error::Result;

/// Collects ranges; ranges that touch become one.
struct RangeList {
    ranges: Vec<Range<u32>>,
    most: usize,
}

impl RangeList {
    /// Adds a range, which comes after all others. Returns false if there are too many.
    fn push(&mut self, range: Range<u32>) -> bool {
        match self.ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.ranges.push(range),
        }
        self.ranges.len() <= self.most
    }
}

impl Column {
    /// Returns the documents that have a value from `low` to `high`, as ascending ranges that do not touch;
    /// `None` if there are more than `most` of them. The column must have numbers.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the column is damaged.
    pub fn ranges_within(&self, low: u64, high: u64, most: usize) -> Result<Option<Vec<Range<u32>>>> {
        let mut found = RangeList { ranges: Vec::new(), most };
        let mut scan = Scan::new();
        for number in 0..self.ranges() {
            let (range, blocks) = self.range(number)?;
            if range.values == 0 || range.least > high || range.most < low {
                continue;
            }
            for block in blocks {
                let entry = self.entry(block)?;
                if entry.values == 0 || entry.least > high || entry.most < low {
                    continue;
                }
                if !self.add_block(block, &entry, low..=high, &mut scan, &mut found)? {
                    return Ok(None);
                }
            }
        }
        Ok(Some(found.ranges))
    }

    /// Calls `visit` with the documents in `docs` that have values, and each value. Blocks without values are
    /// not read. The column must have numbers.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the column is damaged; the first error from `visit`.
    pub fn each_value_in(
        &self,
        docs: Range<u32>,
        mut visit: impl FnMut(u32, u64) -> Result<()>,
    ) -> Result<()> {
        let end = docs.end.min(self.documents());
        if docs.start >= end {
            return Ok(());
        }
        let mut scan = Scan::new();
        let (mut number, last) = (self.block_of(docs.start)?, self.block_of(end - 1)?);
        while number <= last {
            if (number as usize).is_multiple_of(BLOCKS_OF_RANGE) {
                let (range, blocks) = self.range(number / u32::try_from(BLOCKS_OF_RANGE).unwrap_or(1))?;
                if range.values == 0 {
                    number = blocks.end.max(number + 1);
                    continue;
                }
            }
            if self.entry(number)?.values > 0 {
                let documents = scan.read(self, number)?.documents();
                for (doc, values) in documents.filter(|(doc, _)| (docs.start..end).contains(doc)) {
                    values.iter().try_for_each(|&value| visit(doc, value))?;
                }
            }
            number += 1;
        }
        Ok(())
    }

    /// Adds the documents of a block. Returns false if there are too many ranges.
    fn add_block(
        &self,
        number: u32,
        entry: &JumpEntry,
        wanted: std::ops::RangeInclusive<u64>,
        scan: &mut Scan,
        found: &mut RangeList,
    ) -> Result<bool> {
        let is_inside = wanted.contains(&entry.least) && wanted.contains(&entry.most);
        if is_inside && entry.present == entry.documents {
            return Ok(found.push(entry.first..entry.first.saturating_add(entry.documents)));
        }
        for (doc, values) in scan.read(self, number)?.documents() {
            if values.iter().any(|value| wanted.contains(value)) && !found.push(doc..doc + 1) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
