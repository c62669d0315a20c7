//! Where terms stand in their documents: a place per term beside its entry, and a chain of differences.
//!
//! A term has one difference for each of its occurrences, over all documents in their order: the position of the first
//! occurrence in a document as it is, each other less the one before. The latest stands in the term's place, all before
//! it as varints in a chain of the arena that postings are in. How many belong to a document is its frequency, so
//! nothing parts them. A term that was seen once has no chain: of a metadata dump that is most terms.
//!
//! With offsets, the same chain has two numbers more for each occurrence, so that no other cache line is waited for: how far
//! it begins behind the one before in the text, and, if its length there is not that of the term, by how much it differs;
//! see `Chunks::append_occurrence`. The place has no room for a difference too, so the latest is in the chain, and only a
//! term that was seen once has none.

use super::chunks::Chunks;
use crate::codec::Occurrence;
use crate::error::Result;
use crate::schema::Postings;
use crate::sys::{PageSize, Plain, Slab, prefetch};

/// What is kept of an occurrence, as the code of the hot loop is made for it: that it is one,
pub(super) const COUNTS: u8 = 0;
/// its position too,
pub(super) const POSITIONS: u8 = 1;
/// and where it is in the text.
pub(super) const OFFSETS: u8 = 2;

/// The latest occurrence of a term.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
struct Place {
    /// Where the differences end that are in the chain; see `chunks.rs`. With offsets, [`ONLY`] and the
    /// [`Occurrence::extra`] of the only occurrence as long as there is no chain.
    tail: u64,
    /// The position of the latest occurrence.
    last: u32,
    /// The latest difference; with offsets, where the latest occurrence begins.
    more: u32,
}

// SAFETY: integers only, 8 + 4 + 4 bytes without padding; every bit pattern is valid.
unsafe impl Plain for Place {}

/// Set in the tail of a term without a chain, with offsets; in that of a chain it never is.
const ONLY: u64 = 1 << 63;

/// The places of all terms, under the numbers of their entries.
pub(super) struct Places {
    /// What is kept: one of the numbers above.
    pub(super) kept: u8,
    places: Slab<Place>,
}

impl Places {
    /// Room that may grow to `max_bytes`.
    pub(super) fn new(postings: Postings, max_bytes: usize, pages: PageSize) -> Result<Places> {
        let kept = match postings {
            Postings::Documents | Postings::Frequencies => COUNTS,
            Postings::Positions => POSITIONS,
            Postings::Offsets => OFFSETS,
        };
        let room = if kept == COUNTS { 0 } else { max_bytes / size_of::<Place>() };
        Ok(Places { kept, places: Slab::reserve(room, pages)? })
    }

    /// True if there are places.
    #[inline(always)]
    pub(super) fn are_kept(&self) -> bool {
        self.kept != COUNTS
    }

    /// Bytes of memory that `terms` places take.
    pub(super) fn touched(&self, terms: usize) -> usize {
        if self.are_kept() { self.places.touched(terms) } else { 0 }
    }

    /// Gives the memory behind `terms` places back.
    pub(super) fn release_behind(&mut self, terms: usize) {
        if self.are_kept() {
            self.places.release_behind(terms);
        }
    }

    /// Asks for a place ahead of use.
    #[inline(always)]
    pub(super) fn prefetch(&self, entry: u32) {
        prefetch(self.places.as_ptr().wrapping_add(entry as usize));
    }

    /// The end of the chain of a term, if that has one.
    #[inline(always)]
    pub(super) fn tail(&self, entry: u32) -> Option<u64> {
        self.places.get(entry as usize).map(|place| place.tail).filter(|tail| (1..ONLY).contains(tail))
    }

    /// The place of term number `entry`, which is new.
    #[inline(always)]
    pub(super) fn insert<const K: u8>(&mut self, entry: usize, at: Occurrence) {
        self.places.grow(entry + 1);
        self.places[entry] = match K {
            OFFSETS => Place { tail: ONLY | u64::from(at.extra), last: at.position, more: at.start },
            _ => Place { tail: 0, last: at.position, more: at.position },
        };
    }

    /// Notes the next occurrence of a term; `goes_on` if it is in the same document as the latest.
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
            let tail = match place.tail < ONLY {
                true => place.tail,
                false => chunks.append_occurrence(0, only(*place)),
            };
            let start = at.start.wrapping_sub(begun);
            let tail = chunks.append_occurrence(tail, Occurrence { position, start, extra: at.extra });
            *place = Place { tail, last: at.position, more: at.start };
        } else {
            let tail = chunks.append_number(place.tail, place.more);
            *place = Place { tail, last: at.position, more: position };
        }
    }

    /// All differences of a term, whose chain is put into `parts`; `None` if positions are not kept.
    #[inline(always)]
    pub(super) fn deltas<'a>(
        &self,
        entry: u32,
        chunks: &'a Chunks,
        parts: &'a mut Vec<(usize, usize)>,
    ) -> Option<Deltas<'a>> {
        let place = self.are_kept().then(|| self.places[entry as usize])?;
        let offsets = self.kept == OFFSETS;
        let latest = match offsets {
            true => only(place),
            false => Occurrence { position: place.more, start: 0, extra: 0 },
        };
        chunks.parts(if place.tail < ONLY { place.tail } else { 0 }, parts);
        Some(Deltas { arena: chunks.arena(), parts: parts.iter(), at: 0, end: 0, latest, offsets })
    }
}

/// The only occurrence of a term, with offsets.
#[inline(always)]
fn only(place: Place) -> Occurrence {
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    let extra = place.tail as u32;
    Occurrence { position: place.last, start: place.more, extra }
}

/// Reads the differences of one term back, first occurrence first.
#[derive(Clone)]
pub struct Deltas<'a> {
    arena: &'a [u8],
    parts: std::slice::Iter<'a, (usize, usize)>,
    at: usize,
    end: usize,
    /// The difference in the term's place, which comes when the chain has ended.
    latest: Occurrence,
    offsets: bool,
}

impl Deltas<'_> {
    /// The next difference; there is one for every occurrence in every document, void ones included.
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

    /// The same of positions, where there are no offsets.
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

    /// The same where it has several bytes or begins a chunk.
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

    /// Passes `count` differences.
    pub fn skip(&mut self, count: u32) {
        for _ in 0..count {
            self.next_occurrence();
        }
    }

    /// How many differences a term has, before any was read; passes them.
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
        // The only one is not in the chain.
        count.max(1)
    }
}
