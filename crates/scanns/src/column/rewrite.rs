//! Changes the values of some documents of a written column. Only the blocks of these documents are written
//! again.
//!
//! The jump table makes this possible. It leads to each block separately, so a new table, which takes 64
//! bytes per block, can lead to old blocks where they are and to new blocks elsewhere. Lucene, whose columns
//! are read from front to back, writes the whole column (`updateNumericDocValue`).

use std::collections::BTreeMap;

use super::kind::ColumnKind;
use super::read::Column;
use super::scan::Scan;
use super::write::{BlockSink, ColumnWriter};
use crate::error::Result;

/// The new values by document; an empty list removes the values of a document.
pub type NewValues = BTreeMap<u32, Vec<u64>>;

impl ColumnKind {
    /// Writes the blocks of the documents that get new values, and returns the index over all blocks.
    ///
    /// `written` is the column in its segment and `now` the column with all changes so far; either may be
    /// missing. Blocks of `now` that are not in `written` are copied, so the index leads to the new blocks
    /// and to `written` only. Both columns and the values must be of this kind, which must be a kind of
    /// numbers.
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
                if entry.offset < before {
                    writer.keep(column, block, out)?;
                } else {
                    writer.copy(column, block, out)?;
                }
                continue;
            }
            for (doc, old) in scan.read(column, block)?.documents() {
                while let Some((&changed, new)) = rest.next_if(|(changed, _)| **changed <= doc) {
                    writer.put(changed, new, out)?;
                }
                if writer.documents() <= doc {
                    writer.put(doc, old, out)?;
                }
            }
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
    /// Ends the documents before `doc` without values, and `doc` with these values.
    fn put(&mut self, doc: u32, values: &[u64], out: &mut impl BlockSink) -> Result<()> {
        self.skip(doc.saturating_sub(self.documents()), out)?;
        values.iter().for_each(|&value| self.push(value));
        self.end_document(out)
    }
}
