//! Writes runs: packs a block of deltas when it is full; what a reader needs to find its way comes last.

use crate::codec::bitpack::{BLOCK, pack, width_of};
use crate::codec::varint::put_varint;

/// Encodes one run after the other; the buffers are reused.
pub struct PositionEncoder {
    deltas: [u32; BLOCK],
    len: usize,
    /// What the blocks so far take, in units of [`UNIT`](crate::codec::bitpack::UNIT) bytes.
    units: u32,
    widths: Vec<u8>,
    entries: Vec<u8>,
    postings: u32,
}

impl Default for PositionEncoder {
    fn default() -> Self {
        Self::new()
    }
}

impl PositionEncoder {
    /// An encoder at the start of a run.
    pub fn new() -> Self {
        PositionEncoder {
            deltas: [0; BLOCK],
            len: 0,
            units: 0,
            widths: Vec::new(),
            entries: Vec::new(),
            postings: 0,
        }
    }

    /// Begins the next posting of the list; its deltas follow.
    #[inline]
    pub fn begin_posting(&mut self) {
        if self.postings > 0 && (self.postings as usize).is_multiple_of(BLOCK) {
            let number = u32::try_from(self.widths.len()).unwrap_or(u32::MAX);
            self.entries.extend_from_slice(&number.to_le_bytes());
            self.entries.extend_from_slice(&self.units.to_le_bytes());
            self.entries.push(u8::try_from(self.len).unwrap_or(u8::MAX));
        }
        self.postings += 1;
    }

    /// Appends a delta of the posting. What is full is appended to `out`, to which nothing else may be written within a
    /// run; it may be emptied.
    #[inline(always)]
    pub fn push(&mut self, delta: u32, out: &mut Vec<u8>) {
        self.deltas[self.len % BLOCK] = delta;
        self.len += 1;
        if self.len == BLOCK {
            self.flush_block(out);
        }
    }

    /// The latest delta of which no block was written.
    pub fn waiting(&self) -> Option<u32> {
        self.deltas[..self.len].last().copied()
    }

    #[inline(never)]
    fn flush_block(&mut self, out: &mut Vec<u8>) {
        let width = width_of(self.deltas.iter().fold(0, |all, delta| all | delta));
        pack(&self.deltas, width, out);
        self.widths.push(width);
        self.units = self.units.saturating_add(u32::from(width));
        self.len = 0;
    }

    /// Ends the run and makes the encoder ready for the next one.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        for &delta in &self.deltas[..self.len] {
            put_varint(out, u64::from(delta));
        }
        out.extend_from_slice(&self.widths);
        out.extend_from_slice(&self.entries);
        self.abandon();
    }

    /// Forgets the run at hand, of which nothing has been written if it has less than a block.
    pub fn abandon(&mut self) {
        self.widths.clear();
        self.entries.clear();
        (self.len, self.units, self.postings) = (0, 0, 0);
    }
}
