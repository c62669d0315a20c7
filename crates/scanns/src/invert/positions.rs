//! The positions of terms in their documents: the latest occurrence next to the entry, and a chain of
//! differences.
//!
//! A term has one difference for each of its occurrences, over all documents in order: the first position in
//! a document unchanged, and every other position minus the previous one. The latest difference is stored
//! next to the entry, all earlier ones as varints in a chain in the arena of postings. The frequency gives
//! the number of differences of a document, so no separators are needed. A term with one occurrence has no
//! chain; in a metadata dump, this is the case for most terms.
//!
//! With offsets, the same chain has two more numbers for each occurrence, so that no other cache line must be
//! fetched: the distance from the start of the previous occurrence, and, if the length in the text differs
//! from the length of the term, the difference; see `Chunks::append_occurrence`. There is no room for another
//! difference next to the entry, so the latest one is in the chain too, and only a term with one occurrence
//! has no chain.

use super::chunks::Chunks;
use crate::codec::Occurrence;
use crate::error::Result;
use crate::schema::Postings;
use crate::sys::{PageSize, Plain, Slab, prefetch};

/// The details stored for an occurrence, as a constant parameter of the hot loop: only a count.
pub(super) const COUNTS: u8 = 0;
/// Like [`COUNTS`], and the position.
pub(super) const POSITIONS: u8 = 1;
/// Like [`POSITIONS`], and the place in the text.
pub(super) const OFFSETS: u8 = 2;

/// The latest occurrence of a term.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
struct LatestOccurrence {
    /// The end of the differences in the chain; see `chunks.rs`. With offsets and without a chain, [`ONLY`]
    /// and the [`Occurrence::extra`] of the only occurrence.
    tail: u64,
    /// The position of the latest occurrence.
    last: u32,
    /// The latest difference; with offsets, the start of the latest occurrence.
    more: u32,
}

// SAFETY: integers only, 8 + 4 + 4 bytes without padding; every bit pattern is valid.
unsafe impl Plain for LatestOccurrence {}

/// With offsets, set in the tail of a term without a chain, and never in the tail of a chain.
const ONLY: u64 = 1 << 63;

/// The latest occurrence of every term, under the number of its entry.
pub(super) struct TermPlaces {
    /// The stored details: one of the constants above.
    pub(super) kept: u8,
    places: Slab<LatestOccurrence>,
}

impl TermPlaces {
    /// Reserves memory that may grow to `max_bytes`.
    pub(super) fn new(postings: Postings, max_bytes: usize, pages: PageSize) -> Result<TermPlaces> {
        let kept = match postings {
            Postings::Documents | Postings::Frequencies => COUNTS,
            Postings::Positions => POSITIONS,
            Postings::Offsets => OFFSETS,
        };
        let room = if kept == COUNTS { 0 } else { max_bytes / size_of::<LatestOccurrence>() };
        Ok(TermPlaces { kept, places: Slab::reserve(room, pages)? })
    }

    /// True if positions are stored.
    #[inline(always)]
    pub(super) fn are_kept(&self) -> bool {
        self.kept != COUNTS
    }

    /// The number of bytes of memory that `terms` places take.
    pub(super) fn touched(&self, terms: usize) -> usize {
        if self.are_kept() { self.places.touched(terms) } else { 0 }
    }

    /// Returns the memory after `terms` places to the system.
    pub(super) fn release_behind(&mut self, terms: usize) {
        if self.are_kept() {
            self.places.release_behind(terms);
        }
    }

    /// Prefetches the place of an entry.
    #[inline(always)]
    pub(super) fn prefetch(&self, entry: u32) {
        prefetch(self.places.as_ptr().wrapping_add(entry as usize));
    }

    /// The end of a term's chain, if it has one.
    #[inline(always)]
    pub(super) fn tail(&self, entry: u32) -> Option<u64> {
        self.places.get(entry as usize).map(|place| place.tail).filter(|tail| (1..ONLY).contains(tail))
    }

    /// Adds the place of the new term number `entry`.
    #[inline(always)]
    pub(super) fn insert<const K: u8>(&mut self, entry: usize, at: Occurrence) {
        self.places.grow(entry + 1);
        self.places[entry] = match K {
            OFFSETS => {
                LatestOccurrence { tail: ONLY | u64::from(at.extra), last: at.position, more: at.start }
            }
            _ => LatestOccurrence { tail: 0, last: at.position, more: at.position },
        };
    }

    /// Records the next occurrence of a term; `goes_on` is true if it is in the same document as the latest
    /// one.
    #[inline(always)]
    pub(super) fn occur<const K: u8>(
        &mut self,
        entry: u32,
        at: Occurrence,
        goes_on: bool,
        chunks: &mut Chunks,
    ) {
        let place = &mut self.places[entry as usize];
        let before = if goes_on { place.last } else { 0 };
        let position = at.position.wrapping_sub(before);
        if K == OFFSETS {
            let begun = if goes_on { place.more } else { 0 };
            let tail = if place.tail < ONLY { place.tail } else { chunks.append_occurrence(0, only(*place)) };
            let start = at.start.wrapping_sub(begun);
            let tail = chunks.append_occurrence(tail, Occurrence { position, start, extra: at.extra });
            *place = LatestOccurrence { tail, last: at.position, more: at.start };
        } else {
            let tail = chunks.append_number(place.tail, place.more);
            *place = LatestOccurrence { tail, last: at.position, more: position };
        }
    }

    /// All differences of a term; its chain is written to `parts`. Returns `None` if positions are not
    /// stored.
    #[inline(always)]
    pub(super) fn deltas<'a>(
        &self,
        entry: u32,
        chunks: &'a Chunks,
        parts: &'a mut Vec<(usize, usize)>,
    ) -> Option<Deltas<'a>> {
        let place = self.are_kept().then(|| self.places[entry as usize])?;
        let offsets = self.kept == OFFSETS;
        let latest =
            if offsets { only(place) } else { Occurrence { position: place.more, start: 0, extra: 0 } };
        chunks.parts(if place.tail < ONLY { place.tail } else { 0 }, parts);
        Some(Deltas { arena: chunks.arena(), parts: parts.iter(), at: 0, end: 0, latest, offsets })
    }
}

/// The only occurrence of a term, with offsets.
#[inline(always)]
fn only(place: LatestOccurrence) -> Occurrence {
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    let extra = place.tail as u32;
    Occurrence { position: place.last, start: place.more, extra }
}

/// Reads the differences of one term back, starting with the first occurrence.
#[derive(Clone)]
pub struct Deltas<'a> {
    arena: &'a [u8],
    parts: std::slice::Iter<'a, (usize, usize)>,
    at: usize,
    end: usize,
    /// The latest difference, which follows the chain.
    latest: Occurrence,
    offsets: bool,
}

impl Deltas<'_> {
    /// Returns the next difference; there is one for every occurrence in every document, including void ones.
    #[inline(always)]
    pub fn next_occurrence(&mut self) -> Occurrence {
        if !self.offsets {
            return Occurrence { position: self.next_delta(), start: 0, extra: 0 };
        }
        let Some(position) = self.next_number() else { return self.latest };
        let head = self.next_number().unwrap_or(0);
        let extra = if head & 1 == 1 { self.next_number().unwrap_or(0) } else { 0 };
        let [position, start, extra] =
            [position, head >> 1, extra].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        Occurrence { position, start, extra }
    }

    /// The next difference of positions, without offsets.
    #[inline(always)]
    pub fn next_delta(&mut self) -> u32 {
        match self.arena[self.at..self.end].first() {
            Some(&byte) if byte < 0x80 => {
                self.at += 1;
                u32::from(byte)
            }
            _ => match self.next_long() {
                Some(number) => u32::try_from(number).unwrap_or(u32::MAX),
                None => self.latest.position,
            },
        }
    }

    /// The next number of the chain.
    #[inline(always)]
    fn next_number(&mut self) -> Option<u64> {
        match self.arena[self.at..self.end].first() {
            Some(&byte) if byte < 0x80 => {
                self.at += 1;
                Some(u64::from(byte))
            }
            _ => self.next_long(),
        }
    }

    /// The next number if it has several bytes or starts a chunk.
    fn next_long(&mut self) -> Option<u64> {
        let (mut value, mut shift) = (0u64, 0);
        loop {
            if self.at == self.end {
                (self.at, self.end) = *self.parts.next()?;
                continue;
            }
            let byte = self.arena[self.at];
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return Some(value);
            }
        }
    }

    /// Skips `count` differences.
    pub fn skip(&mut self, count: u32) {
        for _ in 0..count {
            self.next_occurrence();
        }
    }

    /// The number of differences of a term; call it before reading any.
    pub(super) fn count(mut self) -> usize {
        if !self.offsets {
            let ends =
                |&(start, end): &(usize, usize)| self.arena[start..end].iter().filter(|&&byte| byte < 0x80);
            return self.parts.clone().flat_map(ends).count() + 1;
        }
        let mut count = 0;
        while self.next_number().is_some() {
            if self.next_number().unwrap_or(0) & 1 == 1 {
                self.next_number();
            }
            count += 1;
        }
        // A single occurrence is not in the chain.
        count.max(1)
    }
}
