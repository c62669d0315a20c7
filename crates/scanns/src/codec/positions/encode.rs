//! Writes runs. Packs a block of deltas when it is full, and appends the tables that a reader needs.

#![expect(clippy::indexing_slicing, reason = "`len` is below BLOCK: a full block is flushed at once")]

use super::{Columns, DeltaReader, ENTRY, LOOSE, Occurrence, WithOffsets};
use crate::codec::bitpack::{BLOCK, UNIT, pack, width_of};
use crate::codec::varint::put_varint;

/// Encodes one run after another; its buffers are reused.
pub struct PositionEncoder {
    deltas: [u32; BLOCK],
    starts: [u32; BLOCK],
    extras: [u32; BLOCK],
    /// True if starts and extras are encoded.
    offsets: bool,
    len: usize,
    /// Size of the blocks so far, in units of [`UNIT`](crate::codec::bitpack::UNIT) bytes.
    units: u32,
    widths: Vec<u8>,
    entries: Vec<u8>,
    /// True before the first posting.
    fresh: bool,
    /// Number of postings in the last block of postings.
    postings: usize,
}

impl PositionEncoder {
    /// Creates an encoder at the start of a run, with or without offsets.
    pub fn new(offsets: bool) -> Self {
        PositionEncoder {
            deltas: [0; BLOCK],
            starts: [0; BLOCK],
            extras: [0; BLOCK],
            offsets,
            len: 0,
            units: 0,
            widths: Vec::new(),
            entries: Vec::new(),
            fresh: true,
            postings: 0,
        }
    }

    /// Begins the next posting of the list; its deltas follow.
    #[inline]
    pub fn begin_posting(&mut self) {
        if self.postings == BLOCK {
            self.postings = 0;
        }
        if self.postings == 0 && !self.fresh {
            let (number, start, skip) = self.place();
            self.push_entry(number, start, skip);
        }
        self.fresh = false;
        self.postings += 1;
    }

    /// Returns the place of the next delta, as in an entry.
    fn place(&self) -> (u32, u32, u8) {
        let number = u32::try_from(self.widths.len()).unwrap_or(u32::MAX);
        (number, self.units, u8::try_from(self.len).unwrap_or(u8::MAX))
    }

    fn push_entry(&mut self, number: u32, start: u32, skip: u8) {
        self.entries.extend_from_slice(&number.to_le_bytes());
        self.entries.extend_from_slice(&start.to_le_bytes());
        self.entries.push(skip);
    }

    /// Returns true if runs have offsets.
    pub fn has_offsets(&self) -> bool {
        self.offsets
    }

    /// Appends a whole run from its first delta on; the last `waiting` postings of its list do not fill a
    /// block. The reader must read offsets if the encoder writes them. Returns bytes that the caller must
    /// append to the output before anything else, or `None` if the run is damaged.
    pub fn carry<'a, C: Columns>(
        &mut self,
        run: &mut DeltaReader<'a, C>,
        waiting: usize,
        out: &mut Vec<u8>,
    ) -> Option<&'a [u8]> {
        self.flush_loose(out);
        let (number, start, _) = self.place();
        if !self.fresh {
            self.push_entry(number, start, 0);
        }
        for entry in run.entries() {
            let (number_there, start_there, skip) = entry;
            self.push_entry(number.checked_add(number_there)?, start.checked_add(start_there)?, skip);
        }
        (self.fresh, self.postings) = (false, if waiting == 0 { BLOCK } else { waiting });
        let (blocks, widths) = run.blocks()?;
        self.widths.extend_from_slice(widths);
        self.units = start.checked_add(u32::try_from(blocks.len() / UNIT).ok()?)?;
        // The tail has fewer deltas than a block, so no block becomes full.
        run.take_tail(|tail| {
            self.len = tail.positions.len();
            self.deltas[..self.len].copy_from_slice(tail.positions);
            self.starts[..tail.starts.len()].copy_from_slice(tail.starts);
            self.extras[..tail.extras.len()].copy_from_slice(tail.extras);
        })?;
        Some(blocks)
    }

    /// Writes the pending deltas as a loose block, if there are any.
    fn flush_loose(&mut self, out: &mut Vec<u8>) {
        if self.len == 0 {
            return;
        }
        let start = out.len();
        self.put_rest(out);
        let units = (out.len() - start).div_ceil(UNIT);
        out.resize(start + units * UNIT, 0);
        let units = u8::try_from(units).unwrap_or(u8::MAX);
        self.widths.extend([LOOSE | units, u8::try_from(self.len).unwrap_or(0)]);
        self.units = self.units.saturating_add(u32::from(units));
        self.len = 0;
    }

    /// Appends the pending deltas without packing them.
    fn put_rest(&self, out: &mut Vec<u8>) {
        if !self.offsets {
            // Most runs are short and end here.
            return self.deltas[..self.len].iter().for_each(|&delta| put_varint(out, u64::from(delta)));
        }
        for at in 0..self.len {
            let (position, start, extra) = (self.deltas[at], self.starts[at], self.extras[at]);
            Occurrence { position, start, extra }.put::<WithOffsets>(out);
        }
    }

    /// Appends a delta as [`PositionEncoder::push`] does, with offsets.
    #[inline(always)]
    pub fn push_all(&mut self, delta: Occurrence, out: &mut Vec<u8>) {
        self.starts[self.len % BLOCK] = delta.start;
        self.extras[self.len % BLOCK] = delta.extra;
        self.push(delta.position, out);
    }

    /// Appends a delta of the current posting. Full blocks are appended to `out`; nothing else may be written
    /// to `out` within a run, but the caller may empty it.
    #[inline(always)]
    pub fn push(&mut self, delta: u32, out: &mut Vec<u8>) {
        self.deltas[self.len % BLOCK] = delta;
        self.len += 1;
        if self.len == BLOCK {
            self.flush_block(out);
        }
    }

    /// Returns the last delta that is not in a block yet.
    pub fn waiting(&self) -> Option<Occurrence> {
        let at = self.len.checked_sub(1)?;
        let (start, extra) = if self.offsets { (self.starts[at], self.extras[at]) } else { (0, 0) };
        Some(Occurrence { position: self.deltas[at], start, extra })
    }

    #[inline(never)]
    fn flush_block(&mut self, out: &mut Vec<u8>) {
        let columns = [&self.deltas, &self.starts, &self.extras];
        for column in &columns[..if self.offsets { 3 } else { 1 }] {
            let width = width_of(column.iter().fold(0, |all, delta| all | delta));
            pack(column, width, out);
            self.widths.push(width);
            self.units = self.units.saturating_add(u32::from(width));
        }
        self.len = 0;
    }

    /// Ends the run and prepares the encoder for the next one.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.put_rest(out);
        if !self.widths.is_empty() {
            out.extend_from_slice(&self.widths);
            out.extend_from_slice(&self.entries);
            for count in [self.widths.len(), self.entries.len() / ENTRY] {
                out.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
            }
            out.push(u8::try_from(self.len).unwrap_or(0));
        }
        self.abandon();
    }

    /// Drops the current run. Nothing of a run with less than a block has been written.
    pub fn abandon(&mut self) {
        self.widths.clear();
        self.entries.clear();
        (self.len, self.units, self.postings, self.fresh) = (0, 0, 0, true);
    }
}
