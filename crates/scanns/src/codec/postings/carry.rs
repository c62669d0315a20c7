//! Appends lists of another segment to the one that is written, and copies their blocks as they are.
//!
//! Within a block documents are kept as differences, so all that changes with their numbers is the table, and
//! the first difference of all. What waits for a block to become full has to be written as it is, as a loose
//! block. So that those stay few however often lists are merged, lists of a few blocks are not carried but
//! pushed anew.

use std::ops::Range;

use super::table::{Entry, Table};
use super::{ENTRY, ListCursor, ListEncoder, docs};
use crate::codec::bitpack::{BLOCK, UNIT, packed_len};

/// Blocks that a list must have to be worth a loose one before it: of about 140 bytes each, where that costs
/// 50 more than the same postings in a full one.
const LEAST_BLOCKS: usize = 8;

/// A list in the bytes of another segment.
#[derive(Clone, Copy, Debug)]
pub struct ListBytes<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Documents in it.
    pub doc_freq: u32,
    /// Occurrences in all of them.
    pub total_tf: u64,
    /// All documents are below this.
    pub max_doc: u32,
}

impl ListEncoder {
    /// True if the blocks of `list` would be copied now, if they were appended.
    pub fn would_carry(&self, list: &ListBytes<'_>) -> bool {
        let least = if self.len == 0 { 1 } else { LEAST_BLOCKS };
        (list.doc_freq as usize) >= least * BLOCK
    }

    /// Appends all of `list`, for which [`ListEncoder::would_carry`], with `shift` added to every document,
    /// which then are above those so far and have their norms in `norms`. Returns how many postings wait
    /// for more, all of which are of `list`; `None` if it is damaged.
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
        let is_loose = |entry: &[u8; ENTRY]| Entry::read(entry).loose().is_some();
        let last = table.entries.last()?;
        let to = table.entries.len() - usize::from(is_loose(last));
        let from = table.entries.iter().take(to).take_while(|&entry| is_loose(entry)).count();
        // They stay blocks of their own, since positions have an entry for each.
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

    /// Copies some blocks, of which the first and the last are not loose.
    fn copy(&mut self, table: &Table<'_>, blocks: Range<usize>, shift: u32, out: &mut Vec<u8>) -> Option<()> {
        let entries = table.entries.get(blocks.clone())?;
        let (first, last) = (Entry::read(entries.first()?), Entry::read(entries.last()?));
        let second = block_end(&first)?;
        let (bytes, rest) =
            (table.bytes.get(first.start..second)?, table.bytes.get(second..block_end(&last)?)?);
        let source_before = match blocks.start.checked_sub(1) {
            Some(before) => Entry::read(table.entries.get(before)?).last,
            None => u32::MAX,
        };
        let (code, units) = (self.copy_first(bytes, &first, source_before, shift, out)?, self.units);
        out.extend_from_slice(rest);
        let moved_by = i64::try_from(docs::len(code)).ok()? - i64::try_from(docs::len(first.code)).ok()?;
        let grown = i32::try_from(moved_by / UNIT as i64).ok()?;
        let mut place = first.start;
        for (number, bytes) in entries.iter().enumerate() {
            let entry = Entry::read(bytes);
            let in_order = place == entry.start && entry.start.is_multiple_of(UNIT);
            let next = entries.get(number + 1).map_or(Some(place), |next| Some(Entry::read(next).start));
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

    /// Copies the first block of a list, whose documents follow `before` there and are moved by `shift`;
    /// returns the code of how they are written now.
    fn copy_first(
        &self,
        block: &[u8],
        entry: &Entry,
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

/// Where a full block ends.
fn block_end(entry: &Entry) -> Option<usize> {
    entry.start.checked_add(docs::len(entry.code) + packed_len(entry.tf_width))
}
