//! Finds the positions of the postings that a list cursor visits, in any order.

use std::ops::Range;

use super::{Columns, DeltaReader, Occurrence, OnlyPositions, WithOffsets};
use crate::codec::postings::{ListCursor, NO_MORE, PostingPlace};

/// Finds the positions of postings of one term, usually of the current posting of a [`ListCursor`].
pub struct PositionCursor<'a, C = OnlyPositions> {
    deltas: DeltaReader<'a, C>,
    /// The block of postings of the current place of `deltas`.
    block: usize,
    /// Number of occurrences in the block before the current place of `deltas`.
    passed: u64,
    /// The posting that was read last, if its positions are available.
    current: Option<PostingPlace>,
    /// The positions of this posting.
    positions: Vec<u32>,
    /// The start and the end of each occurrence in the text, if the run has offsets. The term has `term_len`
    /// bytes.
    offsets: Vec<Range<u32>>,
    term_len: usize,
    corrupt: bool,
}

impl<'a> PositionCursor<'a, WithOffsets> {
    /// Creates a cursor at the start of the deltas of a term of `term_len` bytes.
    pub fn with_offsets(deltas: DeltaReader<'a, WithOffsets>, term_len: usize) -> Self {
        PositionCursor { term_len, ..Self::at_start(deltas) }
    }

    /// Returns the start and the end in the text of each occurrence in the current document of `list`, one
    /// for each position. Returns an empty slice at the end of the list.
    pub fn offsets_of_current(&mut self, list: &mut ListCursor<'_>) -> &[Range<u32>] {
        if self.positions_of_current(list).is_empty() { &[] } else { &self.offsets }
    }
}

impl<'a> PositionCursor<'a> {
    /// Creates a cursor at the start of deltas.
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

    /// Returns true if the bytes are damaged; then no more positions are returned.
    pub fn corrupt(&self) -> bool {
        self.corrupt
    }

    /// Returns the positions of the last request.
    #[inline]
    pub fn positions(&self) -> &[u32] {
        &self.positions
    }

    /// Returns the ascending positions in the current document of `list`; an empty slice at the end of the
    /// list.
    pub fn positions_of_current(&mut self, list: &mut ListCursor<'_>) -> &[u32] {
        if list.doc() == NO_MORE || self.corrupt {
            return &[];
        }
        let (place, frequency) = (list.place(), list.tf());
        self.positions_at(place, frequency)
    }

    /// Returns the ascending positions of a posting with this frequency.
    #[inline]
    pub fn positions_at(&mut self, place: PostingPlace, frequency: u32) -> &[u32] {
        // The same document was requested again.
        if self.current == Some(place) {
            return &self.positions;
        }
        if self.corrupt || self.read(place, frequency).is_none() {
            self.corrupt = true;
            self.positions.clear();
        }
        &self.positions
    }

    /// Calls `give` with slices of the position differences of a posting, in order, until it returns false;
    /// the first difference is a position. Returns `None` if the bytes are damaged.
    #[inline]
    pub fn each_slice(
        &mut self,
        place: PostingPlace,
        frequency: u32,
        give: impl FnMut(&[u32]) -> bool,
    ) -> Option<()> {
        self.current = None;
        let read = if self.corrupt { None } else { self.read_slices(place, frequency, give) };
        self.corrupt |= read.is_none();
        read
    }

    /// Sets `firsts` to the first position in each of many ascending postings. Returns `None` if the bytes
    /// are damaged.
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
            // The next request has to seek again too.
            (self.block, self.passed) = (of_block.first()?.block, u64::MAX);
            self.deltas.seek(self.block)?;
            self.deltas.firsts(of_block.iter().map(|place| place.before), firsts)?;
        }
        Some(())
    }

    #[inline]
    fn read_slices(
        &mut self,
        place: PostingPlace,
        frequency: u32,
        mut give: impl FnMut(&[u32]) -> bool,
    ) -> Option<()> {
        let between = self.pass_to(place)?;
        self.deltas.skip(between)?;
        let given = self.deltas.take_while(frequency, |found| give(found.positions))?;
        self.passed = place.before + u64::from(given);
        Some(())
    }

    /// Returns the number of occurrences between the current place and a posting. Moves to the block of the
    /// posting, or back to its start, if necessary.
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
