//! Positions for a cursor over postings: wherever that goes, forwards or back, its positions are found.

use std::ops::Range;

use super::{Columns, DeltaReader, Occurrence, OnlyPositions, WithOffsets};
use crate::codec::postings::{ListCursor, NO_MORE, PostingPlace};

/// Follows the [`ListCursor`] of the same term.
pub struct PositionCursor<'a, C = OnlyPositions> {
    deltas: DeltaReader<'a, C>,
    /// The block of postings in which `deltas` stands.
    block: usize,
    /// Occurrences of the block before the place of `deltas`.
    passed: u64,
    /// The posting before that place, once there is one.
    current: Option<PostingPlace>,
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

    /// Start and end in the text of each occurrence in the current document of `list`, as many as there are
    /// positions; none at its end.
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
        PositionCursor {
            deltas,
            block: 0,
            passed: 0,
            current: None,
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
        let (place, frequency) = (list.place(), list.tf());
        self.positions_at(place, frequency)
    }

    /// The positions of a posting with this frequency, ascending.
    #[inline]
    pub fn positions_at(&mut self, place: PostingPlace, frequency: u32) -> &[u32] {
        // Asked for the same document again.
        if self.current == Some(place) {
            return &self.positions;
        }
        if self.corrupt || self.read(place, frequency).is_none() {
            self.corrupt = true;
            self.positions.clear();
        }
        &self.positions
    }

    /// Adds the differences of many postings, which rise, to `deltas`: of each as many as its frequency.
    /// `None` if they turn out damaged.
    pub fn deltas_of(
        &mut self,
        places: &[PostingPlace],
        frequencies: &[u32],
        deltas: &mut Vec<u32>,
    ) -> Option<()> {
        self.current = None;
        let read = if self.corrupt { None } else { self.read_deltas(places, frequencies, deltas) };
        self.corrupt |= read.is_none();
        read
    }

    /// Sets `firsts` to the first position in each of many postings, which rise. `None` if they turn out
    /// damaged.
    pub fn firsts_of(&mut self, places: &[PostingPlace], firsts: &mut [u32]) -> Option<()> {
        self.current = None;
        let read = if self.corrupt { None } else { self.read_firsts(places, firsts) };
        self.corrupt |= read.is_none();
        read
    }

    fn read_firsts(&mut self, places: &[PostingPlace], firsts: &mut [u32]) -> Option<()> {
        let mut left = firsts;
        for of_block in places.chunk_by(|left, right| left.block == right.block) {
            let firsts;
            (firsts, left) = left.split_at_mut_checked(of_block.len())?;
            // The reader has to begin anew at the next question, too.
            (self.block, self.passed) = (of_block.first()?.block, u64::MAX);
            self.deltas.seek(self.block)?;
            self.deltas.firsts(of_block.iter().map(|place| place.before), firsts)?;
        }
        Some(())
    }

    fn read_deltas(
        &mut self,
        places: &[PostingPlace],
        frequencies: &[u32],
        deltas: &mut Vec<u32>,
    ) -> Option<()> {
        for (&place, &frequency) in places.iter().zip(frequencies) {
            let between = self.pass_to(place)?;
            if frequency == 1 {
                deltas.push(self.deltas.one_after(between)?);
            } else {
                self.deltas.skip(between)?;
                self.deltas.take(frequency, |found| deltas.extend_from_slice(found.positions))?;
            }
            self.passed = place.before + u64::from(frequency);
        }
        Some(())
    }

    /// How many occurrences there are from the current place up to a posting; moves to its block, or back, if
    /// need be.
    #[inline]
    fn pass_to(&mut self, place: PostingPlace) -> Option<u64> {
        if place.block != self.block || self.passed > place.before {
            self.deltas.seek(place.block)?;
            (self.block, self.passed) = (place.block, 0);
        }
        Some(place.before - self.passed)
    }

    fn read(&mut self, place: PostingPlace, frequency: u32) -> Option<()> {
        let between = self.pass_to(place)?;
        self.current = None;
        self.positions.clear();
        if frequency == 1 && !C::OFFSETS {
            self.positions.push(self.deltas.one_after(between)?);
            (self.passed, self.current) = (place.before + 1, Some(place));
            return Some(());
        }
        self.deltas.skip(between)?;
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
        (self.passed, self.current) = (place.before + u64::from(frequency), Some(place));
        (self.positions.is_sorted() && rises).then_some(())
    }
}
