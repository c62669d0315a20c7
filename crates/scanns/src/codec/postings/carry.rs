//! Appends lists of another segment to the current list, and copies their blocks unchanged.
//!
//! Documents are stored as differences within a block, so only the table and the very first difference depend
//! on their numbers. Postings that do not fill a block yet must be written as a loose block. To limit the
//! number of loose blocks, however often lists are merged, lists of few blocks are not carried but pushed
//! again.

use std::ops::Range;

use super::table::{BlockEntry, Table};
use super::{ENTRY, ListCursor, ListEncoder, docs};
use crate::codec::bitpack::{BLOCK, UNIT, packed_len};

/// Minimum number of blocks of a list that is worth a loose block before it. A block takes about 140 bytes,
/// and a loose block takes 50 bytes more than the same postings in a full one.
const LEAST_BLOCKS: usize = 8;

/// A list in the bytes of another segment.
#[derive(Clone, Copy, Debug)]
pub struct ListBytes<'a> {
    /// The encoded list.
    pub bytes: &'a [u8],
    /// Number of documents in the list.
    pub doc_freq: u32,
    /// Number of occurrences in all of these documents.
    pub total_tf: u64,
    /// An upper bound: all documents are below this number.
    pub max_doc: u32,
}

impl ListEncoder {
    /// Returns true if [`ListEncoder::carry`] would copy the blocks of `list`.
    pub fn would_carry(&self, list: &ListBytes<'_>) -> bool {
        let least = if self.len == 0 { 1 } else { LEAST_BLOCKS };
        (list.doc_freq as usize) >= least * BLOCK
    }

    /// Appends all of `list` and adds `shift` to every document. [`ListEncoder::would_carry`] must be true
    /// for the list. The new documents must be above those so far, and `norms` must contain their norms.
    /// Returns the number of postings, all of them of `list`, that do not fill a block yet; `None` if the
    /// list is damaged.
    pub fn carry(
        &mut self,
        list: &ListBytes<'_>,
        shift: u32,
        norms: &[u8],
        out: &mut Vec<u8>,
    ) -> Option<usize> {
        let table = Table::of(list.bytes)?;
        let mut cursor = ListCursor::new(list.bytes, list.doc_freq, list.max_doc)?;
        self.flush_loose(norms, out);
        let doc_freq = self.doc_freq.checked_add(list.doc_freq)?;
        let mut copied_tf = list.total_tf;
        let mut push_block = |encoder: &mut Self, block, out: &mut Vec<u8>| {
            cursor.load_block(block);
            let (docs, tfs) = cursor.rest_of_block();
            for (&doc, &tf) in docs.iter().zip(tfs) {
                encoder.push(doc.checked_add(shift)?, tf, norms, out);
                copied_tf = copied_tf.checked_sub(u64::from(tf))?;
            }
            (!docs.is_empty()).then_some(docs.len())
        };
        let is_loose = |entry: &[u8; ENTRY]| BlockEntry::read(entry).loose().is_some();
        let last = table.entries.last()?;
        let to = table.entries.len() - usize::from(is_loose(last));
        let from = table.entries.iter().take(to).take_while(|&entry| is_loose(entry)).count();
        // They stay separate blocks, because positions have an entry for each block.
        for block in 0..from {
            push_block(self, block, out)?;
            self.flush_loose(norms, out);
        }
        if from < to {
            self.copy(&table, from..to, shift, out)?;
        }
        let waiting = if is_loose(last) { push_block(self, to, out)? } else { 0 };
        (self.doc_freq, self.total_tf) = (doc_freq, self.total_tf.checked_add(copied_tf)?);
        Some(waiting)
    }

    /// Copies blocks; the first and the last of them must not be loose.
    fn copy(&mut self, table: &Table<'_>, blocks: Range<usize>, shift: u32, out: &mut Vec<u8>) -> Option<()> {
        let entries = table.entries.get(blocks.clone())?;
        let (first, last) = (BlockEntry::read(entries.first()?), BlockEntry::read(entries.last()?));
        let second = block_end(&first)?;
        let (bytes, rest) =
            (table.bytes.get(first.start..second)?, table.bytes.get(second..block_end(&last)?)?);
        let source_before = match blocks.start.checked_sub(1) {
            Some(before) => BlockEntry::read(table.entries.get(before)?).last,
            None => u32::MAX,
        };
        let (code, units) = (self.copy_first(bytes, &first, source_before, shift, out)?, self.units);
        out.extend_from_slice(rest);
        let moved_by = i64::try_from(docs::len(code)).ok()? - i64::try_from(docs::len(first.code)).ok()?;
        let grown = i32::try_from(moved_by / UNIT as i64).ok()?;
        let mut place = first.start;
        for (number, bytes) in entries.iter().enumerate() {
            let entry = BlockEntry::read(bytes);
            let in_order = place == entry.start && entry.start.is_multiple_of(UNIT);
            let next = entries.get(number + 1).map_or(Some(place), |next| Some(BlockEntry::read(next).start));
            place = if entry.loose().is_some() { next? } else { block_end(&entry)? };
            let (moved, code) = if number == 0 { (0, code) } else { (grown, entry.code) };
            let start = u32::try_from(entry.start.checked_sub(first.start)? / UNIT).ok()?;
            if !in_order || place < entry.start {
                return None;
            }
            self.table.extend_from_slice(&entry.last.checked_add(shift)?.to_le_bytes());
            self.table.extend_from_slice(&units.checked_add(start)?.checked_add_signed(moved)?.to_le_bytes());
            self.table.push(code);
            self.table.extend_from_slice(bytes.get(9..)?);
        }
        let copied = u32::try_from((bytes.len() + rest.len()) / UNIT).ok()?;
        self.units = units.checked_add(copied)?.checked_add_signed(grown)?;
        self.before = last.last.checked_add(shift)?;
        Some(())
    }

    /// Copies the first block of a list, in which its documents follow `before`, and adds `shift` to them.
    /// Returns the code of their new encoding.
    fn copy_first(
        &self,
        block: &[u8],
        entry: &BlockEntry,
        before: u32,
        shift: u32,
        out: &mut Vec<u8>,
    ) -> Option<u8> {
        if before.wrapping_add(shift) == self.before {
            out.extend_from_slice(block);
            return Some(entry.code);
        }
        let mut room: docs::Room = [0; _];
        docs::read(block, entry.code, before, &mut room)?;
        let moved: &mut [u32; BLOCK] = room.first_chunk_mut()?;
        if moved[BLOCK - 1] != entry.last {
            return None;
        }
        moved.iter_mut().for_each(|doc| *doc = doc.wrapping_add(shift));
        let code = docs::write(moved, self.before, out);
        out.extend_from_slice(block.get(docs::len(entry.code)..)?);
        Some(code)
    }
}

/// Returns the end of a full block.
fn block_end(entry: &BlockEntry) -> Option<usize> {
    entry.start.checked_add(docs::len(entry.code) + packed_len(entry.tf_width))
}
