//! Positions for a cursor over postings: wherever that goes, forwards or back, its positions are found.

use std::ops::Range;

use super::{Columns, DeltaReader, Occurrence, OnlyPositions, WithOffsets};
use crate::codec::bitpack::BLOCK;
use crate::codec::postings::{ListCursor, NO_MORE};

/// Follows the [`ListCursor`] of the same term.
pub struct PositionCursor<'a, C = OnlyPositions> {
    deltas: DeltaReader<'a, C>,
    /// The block of postings in which `deltas` stands.
    block: usize,
    /// Postings of the block before the place of `deltas`.
    passed: usize,
    /// By posting of the block: occurrences up to and with it. Made when a second document of the block is asked for: for
    /// one alone it costs more than adding up what is before it.
    sums: Box<[u64; BLOCK]>,
    /// The block that `sums` are of.
    summed: Option<usize>,
    /// Those of the posting before that place.
    positions: Vec<u32>,
    /// Where they begin and end in the text, with the offsets of a term of `term_len` bytes.
    offsets: Vec<Range<u32>>,
    term_len: usize,
    corrupt: bool,
}

impl<'a> PositionCursor<'a, WithOffsets> {
    /// A cursor over the deltas of a term of `term_len` bytes, from their start.
    pub fn with_offsets(deltas: DeltaReader<'a, WithOffsets>, term_len: usize) -> Self {
        PositionCursor { term_len, ..Self::at_start(deltas) }
    }

    /// Start and end in the text of each occurrence in the current document of `list`, as many as there are positions;
    /// none at its end.
    pub fn offsets_of_current(&mut self, list: &mut ListCursor<'_>) -> &[Range<u32>] {
        if self.positions_of_current(list).is_empty() { &[] } else { &self.offsets }
    }
}

impl<'a> PositionCursor<'a> {
    /// A cursor over deltas from their start.
    pub fn new(deltas: DeltaReader<'a>) -> Self {
        Self::at_start(deltas)
    }
}

impl<'a, C: Columns> PositionCursor<'a, C> {
    fn at_start(deltas: DeltaReader<'a, C>) -> Self {
        let (positions, offsets) = (Vec::new(), Vec::new());
        let sums = Box::new([0; BLOCK]);
        PositionCursor {
            deltas,
            block: 0,
            passed: 0,
            sums,
            summed: None,
            positions,
            offsets,
            term_len: 0,
            corrupt: false,
        }
    }

    /// True if the bytes turned out damaged; there are then no positions any more.
    pub fn corrupt(&self) -> bool {
        self.corrupt
    }

    /// The positions that were asked for last.
    #[inline]
    pub fn positions(&self) -> &[u32] {
        &self.positions
    }

    /// The positions in the current document of `list`, ascending; none at its end.
    pub fn positions_of_current(&mut self, list: &mut ListCursor<'_>) -> &[u32] {
        if list.doc() == NO_MORE || self.corrupt {
            return &[];
        }
        if self.read(list).is_none() {
            self.corrupt = true;
            self.positions.clear();
        }
        &self.positions
    }

    /// Occurrences in the postings of the block from the place at hand up to number `at`.
    #[inline]
    fn between(&mut self, frequencies: &[u32], at: usize, is_new: bool) -> Option<u64> {
        if self.passed == at {
            return Some(0);
        }
        if self.summed != Some(self.block) {
            if is_new {
                let between = frequencies.get(self.passed..at)?;
                return Some(between.iter().map(|&frequency| u64::from(frequency)).sum());
            }
            let mut sum = 0;
            for (slot, &frequency) in self.sums.iter_mut().zip(frequencies) {
                sum += u64::from(frequency);
                *slot = sum;
            }
            self.summed = Some(self.block);
        }
        let up_to = |count: usize| if count == 0 { Some(0) } else { self.sums.get(count - 1).copied() };
        up_to(at)?.checked_sub(up_to(self.passed)?)
    }

    fn read(&mut self, list: &mut ListCursor<'_>) -> Option<()> {
        let (block, (frequencies, at)) = (list.block(), list.frequencies());
        let &frequency = frequencies.get(at)?;
        if block == self.block && self.passed == at + 1 {
            // Asked for the same document again.
            return Some(());
        }
        let is_new = block != self.block;
        if is_new || self.passed > at {
            self.deltas.seek(block)?;
            (self.block, self.passed) = (block, 0);
        }
        let between = self.between(frequencies, at, is_new)?;
        self.deltas.skip(between)?;
        self.positions.clear();
        self.offsets.clear();
        let (positions, mut position) = (&mut self.positions, 0u32);
        let (offsets, mut start, mut rises) = (&mut self.offsets, 0u32, true);
        self.deltas.take(frequency, |deltas| {
            positions.extend(deltas.positions.iter().map(|delta| {
                position = position.wrapping_add(*delta);
                position
            }));
            for (&delta, &extra) in deltas.starts.iter().zip(deltas.extras) {
                let next = start.checked_add(delta);
                let end = next.and_then(|next| Occurrence::end_of(next, extra, self.term_len));
                rises &= end.is_some();
                start = next.unwrap_or(start);
                offsets.push(start..end.unwrap_or(start));
            }
        })?;
        self.passed = at + 1;
        (self.positions.is_sorted() && rises).then_some(())
    }
}
