//! A column in which some documents get other values: only the blocks that these are in are written anew.
//!
//! The jump table is what makes that possible: it leads to each block by itself, so a new one, which takes 64 bytes a block, can
//! lead to old blocks where they are and to new ones elsewhere. Lucene, whose columns are read from front to back, writes the
//! whole column (`updateNumericDocValue`).

use std::collections::BTreeMap;

use super::write::BlockSink;
use super::{Column, ColumnKind, ColumnWriter, Scan};
use crate::error::Result;

/// The values that documents get, by document; none for none.
pub type NewValues = BTreeMap<u32, Vec<u64>>;

impl ColumnKind {
    /// Writes the blocks in which documents get other values, and returns the index over all blocks.
    ///
    /// `written` is the column as its segment has it, `now` what it became since; either may be missing. Blocks of `now` that
    /// are not of `written` are copied, so the new blocks and `written` are all that the index leads to. Both columns
    /// and the values are of this kind, one of numbers.
    pub fn rewrite(
        self,
        written: Option<&Column>,
        now: Option<&Column>,
        documents: u32,
        values: &NewValues,
        out: &mut impl BlockSink,
    ) -> Result<Vec<u8>> {
        let before = written.map_or(0, Column::written_bytes);
        let mut writer = ColumnWriter::behind(self, before);
        let mut scan = Scan::new();
        let mut rest = values.iter().peekable();
        for block in 0..now.map_or(0, Column::blocks) {
            let Some(column) = now else { break };
            let entry = column.entry(block)?;
            let end = entry.first + entry.documents;
            if rest.peek().is_none_or(|(doc, _)| **doc >= end) {
                match entry.offset < before {
                    true => writer.keep(&entry, out)?,
                    false => writer.copy(&entry, column.block_bytes(block, &entry)?, out)?,
                }
                continue;
            }
            let mut outcome = Ok(());
            scan.read(column, block)?.each(|doc, old| {
                while let Some((&changed, new)) = rest.next_if(|(changed, _)| **changed <= doc) {
                    if outcome.is_ok() {
                        outcome = writer.put(changed, new, out);
                    }
                }
                if outcome.is_ok() && writer.documents() <= doc {
                    outcome = writer.put(doc, old, out);
                }
            });
            outcome?;
            while let Some((&changed, new)) = rest.next_if(|(changed, _)| **changed < end) {
                writer.put(changed, new, out)?;
            }
            writer.skip(end - writer.documents(), out)?;
            writer.seal(out)?;
        }
        for (&doc, new) in rest.filter(|(doc, _)| **doc < documents) {
            writer.put(doc, new, out)?;
        }
        writer.skip(documents.saturating_sub(writer.documents()), out)?;
        writer.finish(out)
    }
}

impl ColumnWriter {
    /// Ends documents without values up to `doc`, and `doc` with these.
    fn put(&mut self, doc: u32, values: &[u64], out: &mut impl BlockSink) -> Result<()> {
        self.skip(doc.saturating_sub(self.documents()), out)?;
        values.iter().for_each(|&value| self.push(value));
        self.end_document(out)
    }
}
