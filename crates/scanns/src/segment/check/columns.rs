//! Verifies columns: their blocks can be read, and their indexes agree with the blocks.

use crate::column::{BlockRange, Column, JumpEntry, Scan};
use crate::error::{Error, Result};
use crate::segment::layout::file_name;
use crate::segment::reader::Segment;

impl Segment {
    /// Reads all columns and compares them with their indexes.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for the first error that is found, and errors from `progress`.
    pub(super) fn check_columns(&self, progress: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        for (field, column) in self.columns() {
            let mut look = || progress(self.bytes());
            let mut fault = check_column(column, &mut look)?;
            if let (None, Some(names)) = (&fault, column.names()) {
                fault = check_column(names, &mut look)?;
            }
            if let Some(wrong) = fault {
                let what = format!("the column of field {}: {wrong}", field.number());
                return Err(Error::corrupt(file_name(self.id()), what));
            }
        }
        Ok(())
    }
}

/// Returns a description of the error if a readable column is inconsistent.
fn check_column(column: &Column, look: &mut dyn FnMut() -> Result<()>) -> Result<Option<String>> {
    let mut scan = Scan::new();
    let mut places = BlockPlaces::of(column);
    let (mut next, mut all) = (0, BlockRange::NONE);
    for number in 0..column.ranges() {
        let (range, blocks) = column.range(number)?;
        let mut found = BlockRange::NONE;
        for block in blocks {
            look()?;
            let entry = column.entry(block)?;
            if entry.first != next || column.block_of(entry.first)? != block {
                return Ok(Some(format!("the index does not lead to block {block} for its documents")));
            }
            next += entry.documents;
            if column.front(entry.offset)? != (entry.length, entry.documents) || !places.take(&entry) {
                return Ok(Some(format!("block {block} contradicts its entry")));
            }
            let read = found_in(&mut scan, column, block)?;
            if column.kind().has_sums() && column.sum_of_block(block)? != sum_of(&scan) {
                return Ok(Some(format!("block {block} has another sum than the table of sums")));
            }
            let is = match read.values {
                0 => (0, 0, 0, 0),
                values => (read.least, read.most, values, read.present),
            };
            if (entry.least, entry.most, u64::from(entry.values), entry.present) != is {
                return Ok(Some(format!("block {block} has other values than its entry")));
            }
            let (least, most) = if read.values > 0 { (read.least, read.most) } else { (u64::MAX, 0) };
            found.take(&BlockRange { least, most, documents: entry.documents, ..read });
        }
        if found != range {
            return Ok(Some(format!("range {number} contradicts its blocks")));
        }
        all.take(&found);
    }
    let bounds = (all.values > 0).then_some((all.least, all.most));
    let figures = (column.documents(), column.present(), column.values(), column.bounds());
    if figures != (all.documents, all.present.into(), all.values, bounds) {
        return Ok(Some("its figures contradict its blocks".into()));
    }
    if let Some(terms) = column.terms() {
        if bounds.is_some_and(|(_, most)| most >= u64::from(terms.len())) {
            return Ok(Some("it contains numbers of terms that do not exist".into()));
        }
        terms.check(look)?;
    }
    Ok(None)
}

/// The expected place of the next block. Blocks follow each other without gaps. In a column with changed
/// values, the replacing blocks follow each other after the blocks of the segment, which then have gaps.
struct BlockPlaces {
    written: u64,
    /// The start of the replacing blocks, if there are any.
    behind: u64,
    newer: u64,
    has_newer: bool,
}

impl BlockPlaces {
    fn of(column: &Column) -> Self {
        let behind = column.written_bytes();
        BlockPlaces { written: 0, behind, newer: behind, has_newer: column.has_newer() }
    }

    /// Returns false if the place of a block is invalid.
    fn take(&mut self, entry: &JumpEntry) -> bool {
        let is_newer = self.has_newer && entry.offset >= self.behind;
        let place = if is_newer { &mut self.newer } else { &mut self.written };
        let fits = entry.offset == *place || (self.has_newer && !is_newer && entry.offset > *place);
        *place = entry.offset.saturating_add(entry.length.into());
        fits
    }
}

/// The sum of the values of the block that was read last.
fn sum_of(scan: &Scan) -> u128 {
    scan.last().values.iter().copied().map(u128::from).sum()
}

/// Computes the figures of a block from its values. For strings the least and the greatest value are 0, as in
/// the index.
fn found_in(scan: &mut Scan, column: &Column, block: u32) -> Result<BlockRange> {
    let mut found = BlockRange::NONE;
    if column.kind().is_strings() {
        (found.least, found.most) = (0, 0);
        let mut last = None;
        scan.strings(column, block, |doc, _| {
            found.values += 1;
            found.present += u32::from(last != Some(doc));
            last = Some(doc);
            Ok(())
        })?;
        return Ok(found);
    }
    let mut sorted = true;
    for (_, values) in scan.read(column, block)?.documents() {
        found.present += 1;
        found.values += values.len() as u64;
        sorted &= !column.kind().is_sorted() || values.is_sorted();
        for &value in values {
            (found.least, found.most) = (found.least.min(value), found.most.max(value));
        }
    }
    if sorted { Ok(found) } else { Err(column.damaged(block)) }
}
