//! Proves that columns are whole, and that their indexes say what is in their blocks.

use crate::column::{Column, Entry, Range, Scan};
use crate::error::{Error, Result};
use crate::segment::{Segment, file_name};

impl Segment {
    /// Reads all columns, and compares what their indexes say with what is there.
    ///
    /// # Errors
    /// The first thing that is wrong, as [`Error::Corrupt`], and whatever `go_on` says.
    pub(in crate::segment) fn check_columns(&self, go_on: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        for (field, column) in self.columns() {
            let mut look = || go_on(self.bytes());
            let outcome =
                check_column(column, &mut look).and_then(|wrong| match (wrong, column.names()) {
                    (None, Some(names)) => check_column(names, &mut look),
                    (wrong, _) => Ok(wrong),
                })?;
            if let Some(wrong) = outcome {
                let what = format!("the column of field {}: {wrong}", field.number());
                return Err(Error::corrupt(file_name(self.id()), what));
            }
        }
        Ok(())
    }
}

/// Says what is wrong with a column, if it can be read.
fn check_column(column: &Column, look: &mut dyn FnMut() -> Result<()>) -> Result<Option<String>> {
    let mut scan = Scan::new();
    let mut places = Places::of(column);
    let (mut next, mut all) = (0, Range::NONE);
    for number in 0..column.ranges() {
        let (range, blocks) = column.range(number)?;
        let mut found = Range::NONE;
        for block in blocks {
            look()?;
            let entry = column.entry(block)?;
            if entry.first != next || column.block_of(entry.first)? != block {
                return Ok(Some(format!("block {block} is not where its documents are looked for")));
            }
            next += entry.documents;
            if column.front(entry.offset)? != (entry.length, entry.documents) || !places.take(&entry) {
                return Ok(Some(format!("block {block} says something else of itself than its entry")));
            }
            let read = found_in(&mut scan, column, block)?;
            let is = match read.values {
                0 => (0, 0, 0, 0),
                values => (read.least, read.most, values, read.present),
            };
            if (entry.least, entry.most, u64::from(entry.values), entry.present) != is {
                return Ok(Some(format!("block {block} has other values than its entry says")));
            }
            let (least, most) = if read.values > 0 { (read.least, read.most) } else { (u64::MAX, 0) };
            found.take(&Range { least, most, documents: entry.documents, ..read });
        }
        if found != range {
            return Ok(Some(format!("range {number} says something else than its blocks")));
        }
        all.take(&found);
    }
    let bounds = (all.values > 0).then_some((all.least, all.most));
    let figures = (column.documents(), column.present(), column.values(), column.bounds());
    if figures != (all.documents, all.present.into(), all.values, bounds) {
        return Ok(Some("its figures are not those of its blocks".into()));
    }
    if let Some(terms) = column.terms() {
        if bounds.is_some_and(|(_, most)| most >= u64::from(terms.len())) {
            return Ok(Some("it has numbers of terms that are not there".into()));
        }
        terms.check(look)?;
    }
    Ok(None)
}

/// Where the next block must begin. Blocks follow each other; where values were changed, those that were written with the
/// segment have others between them, which follow each other behind.
struct Places {
    written: u64,
    /// Where changed blocks begin, if there are some.
    behind: u64,
    newer: u64,
    has_newer: bool,
}

impl Places {
    fn of(column: &Column) -> Self {
        let behind = column.written_bytes();
        Places { written: 0, behind, newer: behind, has_newer: column.has_newer() }
    }

    /// False for a block that is not where it can be.
    fn take(&mut self, entry: &Entry) -> bool {
        let is_newer = self.has_newer && entry.offset >= self.behind;
        let place = if is_newer { &mut self.newer } else { &mut self.written };
        let fits = entry.offset == *place || (self.has_newer && !is_newer && entry.offset > *place);
        *place = entry.offset.saturating_add(entry.length.into());
        fits
    }
}

/// What is in a block. The least and the greatest string are not known, and 0.
fn found_in(scan: &mut Scan, column: &Column, block: u32) -> Result<Range> {
    let mut found = Range::NONE;
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
    scan.read(column, block)?.each(|_, values| {
        found.present += 1;
        found.values += values.len() as u64;
        sorted &= !column.kind().is_sorted() || values.is_sorted();
        for &value in values {
            (found.least, found.most) = (found.least.min(value), found.most.max(value));
        }
    });
    if sorted { Ok(found) } else { Err(column.damaged(block)) }
}
