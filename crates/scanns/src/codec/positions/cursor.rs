//! Positions for a cursor over postings: wherever that goes, forwards or back, its positions are found.

use super::DeltaReader;
use crate::codec::postings::{ListCursor, NO_MORE};

/// Follows the [`ListCursor`] of the same term.
pub struct PositionCursor<'a> {
    deltas: DeltaReader<'a>,
    /// The block of postings in which `deltas` stands.
    block: usize,
    /// Postings of the block before the place of `deltas`.
    passed: usize,
    /// Those of the posting before that place.
    positions: Vec<u32>,
    corrupt: bool,
}

impl<'a> PositionCursor<'a> {
    /// A cursor over deltas from their start.
    pub fn new(deltas: DeltaReader<'a>) -> Self {
        PositionCursor { deltas, block: 0, passed: 0, positions: Vec::new(), corrupt: false }
    }

    /// True if the bytes turned out damaged; there are then no positions any more.
    pub fn corrupt(&self) -> bool {
        self.corrupt
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

    fn read(&mut self, list: &mut ListCursor<'_>) -> Option<()> {
        let (block, frequencies) = (list.block(), list.frequencies_so_far());
        let (&frequency, before) = frequencies.split_last()?;
        if block == self.block && self.passed == frequencies.len() {
            // Asked for the same document again.
            return Some(());
        }
        if block != self.block || self.passed > before.len() {
            self.deltas.seek(block)?;
            (self.block, self.passed) = (block, 0);
        }
        let between = before.get(self.passed..)?;
        self.deltas.skip(between.iter().map(|&frequency| u64::from(frequency)).sum())?;
        self.positions.clear();
        let (positions, mut position) = (&mut self.positions, 0u32);
        self.deltas.take(frequency, |deltas| {
            positions.extend(deltas.iter().map(|delta| {
                position = position.wrapping_add(*delta);
                position
            }));
        })?;
        self.passed = frequencies.len();
        self.positions.is_sorted().then_some(())
    }
}
