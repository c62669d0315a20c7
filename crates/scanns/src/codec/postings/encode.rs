//! Writes lists: fills a block, packs it when it is full, and appends the table at the end.

#![expect(clippy::indexing_slicing, reason = "`len` is below BLOCK: a full block is flushed at once")]

use super::impact::ImpactSet;
use super::{ENTRY, IMPACTS, LOOSE, docs};
use crate::codec::bitpack::{BLOCK, UNIT, pack, width_of};
use crate::codec::varint::put_varint;

/// The totals of a finished list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListSummary {
    /// Number of documents in the list.
    pub doc_freq: u32,
    /// Number of occurrences in all of these documents.
    pub total_tf: u64,
}

/// Encodes one list after another; its buffers are reused.
pub struct ListEncoder {
    docs: [u32; BLOCK],
    tfs: [u32; BLOCK],
    pub(super) len: usize,
    /// The document before the block; -1 (that is, `u32::MAX`) at the start.
    pub(super) before: u32,
    pub(super) doc_freq: u32,
    pub(super) total_tf: u64,
    /// Number of bytes written for this list so far, in units of [`UNIT`](crate::codec::bitpack::UNIT).
    pub(super) units: u32,
    pub(super) table: Vec<u8>,
}

impl Default for ListEncoder {
    fn default() -> Self {
        Self::new()
    }
}

impl ListEncoder {
    /// Creates an encoder at the start of a list.
    pub fn new() -> Self {
        ListEncoder {
            docs: [0; BLOCK],
            tfs: [0; BLOCK],
            len: 0,
            before: u32::MAX,
            doc_freq: 0,
            total_tf: 0,
            units: 0,
            table: Vec::new(),
        }
    }

    /// Appends a posting. The documents of a list must ascend strictly, `tf` must be at least 1, and `norms`
    /// must have the norm of every document. Nothing else may be written to `out` within a list.
    #[inline]
    pub fn push(&mut self, doc: u32, tf: u32, norms: &[u8], out: &mut Vec<u8>) {
        debug_assert!(
            tf > 0 && (doc > self.last() || self.last() == u32::MAX),
            "document {doc} out of order"
        );
        self.docs[self.len] = doc;
        self.tfs[self.len] = tf;
        self.len += 1;
        self.doc_freq += 1;
        if self.len == BLOCK {
            self.flush_block(norms, out);
        }
    }

    /// Ends the list and prepares the encoder for the next one.
    pub fn finish(&mut self, norms: &[u8], out: &mut Vec<u8>) -> ListSummary {
        self.total_tf += self.tfs[..self.len].iter().map(|&tf| u64::from(tf)).sum::<u64>();
        let last = self.last();
        self.write_tail(out);
        if !self.table.is_empty() {
            if self.len > 0 {
                let impacts = self.impacts(norms);
                self.push_entry(last, LOOSE, self.loose_count(), impacts);
            }
            self.write_table(out);
        }
        let summary = ListSummary { doc_freq: self.doc_freq, total_tf: self.total_tf };
        self.table.clear();
        (self.len, self.before, self.doc_freq, self.total_tf, self.units) = (0, u32::MAX, 0, 0, 0);
        summary
    }

    /// Returns the last document that was pushed.
    #[inline]
    fn last(&self) -> u32 {
        if self.len == 0 { self.before } else { self.docs[self.len - 1] }
    }

    /// Returns the number of pending postings, which is less than a block.
    fn loose_count(&self) -> u8 {
        u8::try_from(self.len).unwrap_or(0)
    }

    /// Writes the pending postings as a loose block, if there are any.
    pub(super) fn flush_loose(&mut self, norms: &[u8], out: &mut Vec<u8>) {
        if self.len == 0 {
            return;
        }
        let (start, last, impacts) = (out.len(), self.last(), self.impacts(norms));
        self.write_tail(out);
        let units = (out.len() - start).div_ceil(UNIT);
        out.resize(start + units * UNIT, 0);
        self.total_tf += self.tfs[..self.len].iter().map(|&tf| u64::from(tf)).sum::<u64>();
        self.push_entry(last, LOOSE, self.loose_count(), impacts);
        self.units += u32::try_from(units).unwrap_or(u32::MAX);
        (self.before, self.len) = (last, 0);
    }

    #[inline(never)]
    fn flush_block(&mut self, norms: &[u8], out: &mut Vec<u8>) {
        let (mut tf_bits, mut total_tf) = (0, 0);
        let impacts = self.impacts(norms);
        for tf in &mut self.tfs {
            total_tf += u64::from(*tf);
            *tf = tf.wrapping_sub(1);
            tf_bits |= *tf;
        }
        let (start, last, tf_width) = (out.len(), self.docs[BLOCK - 1], width_of(tf_bits));
        let code = docs::write(&self.docs, self.before, out);
        pack(&self.tfs, tf_width, out);
        self.push_entry(last, code, tf_width, impacts);
        self.units += u32::try_from((out.len() - start) / UNIT).unwrap_or(u32::MAX);
        self.before = last;
        self.total_tf += total_tf;
        self.len = 0;
    }

    fn impacts(&self, norms: &[u8]) -> [u8; IMPACTS] {
        let norm_of = |doc: &u32| norms.get(*doc as usize).copied().unwrap_or(0);
        let (docs, tfs) = (&self.docs[..self.len], &self.tfs[..self.len]);
        if tfs.iter().fold(0, |all, tf| all | tf) == 1 {
            return ImpactSet::of_ones(docs.iter().map(norm_of).fold(u8::MAX, u8::min));
        }
        let mut set = ImpactSet::new();
        for (doc, &tf) in docs.iter().zip(tfs) {
            set.add(tf, norm_of(doc));
        }
        set.pairs()
    }

    pub(super) fn push_entry(&mut self, last: u32, code: u8, tf_width: u8, impacts: [u8; IMPACTS]) {
        self.table.extend_from_slice(&last.to_le_bytes());
        self.table.extend_from_slice(&self.units.to_le_bytes());
        self.table.extend_from_slice(&[code, tf_width]);
        self.table.extend_from_slice(&impacts);
    }

    fn write_tail(&self, out: &mut Vec<u8>) {
        let mut before = self.before;
        for (&doc, &tf) in self.docs[..self.len].iter().zip(&self.tfs) {
            let gap = u64::from(doc.wrapping_sub(before).wrapping_sub(1));
            put_varint(out, gap << 1 | u64::from(tf == 1));
            if tf != 1 {
                put_varint(out, u64::from(tf));
            }
            before = doc;
        }
    }

    fn write_table(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.table);
        let mut whole = ImpactSet::new();
        for entry in self.table.as_chunks::<ENTRY>().0 {
            if let Some(impacts) = entry.last_chunk() {
                whole.add_impacts(impacts);
            }
        }
        out.extend_from_slice(&whole.pairs());
        let blocks = u32::try_from(self.table.len() / ENTRY).unwrap_or(u32::MAX);
        out.extend_from_slice(&blocks.to_le_bytes());
    }
}
