//! Where terms stand in their documents: a place per term beside its entry, and a chain of differences.
//!
//! A term has one difference for each of its occurrences, over all documents in their order: the position of the first
//! occurrence in a document as it is, each other less the one before. The latest stands in the term's place, all before
//! it as varints in a chain of the arena that postings are in. How many belong to a document is its frequency, so
//! nothing parts them. A term that was seen once has no chain: of a metadata dump that is most terms.

use super::chunks::Chunks;
use crate::error::Result;
use crate::schema::Postings;
use crate::sys::{PageSize, Plain, Slab, prefetch};

/// The latest occurrence of a term.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
struct Place {
    /// Where the differences before the latest end; see `chunks.rs`.
    tail: u64,
    /// The position of the latest occurrence.
    last: u32,
    /// The latest difference.
    delta: u32,
}

// SAFETY: integers only, 8 + 4 + 4 bytes without padding; every bit pattern is valid.
unsafe impl Plain for Place {}

/// The places of all terms, under the numbers of their entries.
pub(super) struct Places {
    /// False if positions are not kept: then there are no places.
    pub(super) kept: bool,
    places: Slab<Place>,
}

impl Places {
    /// Room that may grow to `max_bytes`.
    pub(super) fn new(postings: Postings, max_bytes: usize, pages: PageSize) -> Result<Places> {
        let kept = postings == Postings::Positions;
        let room = if kept { max_bytes / size_of::<Place>() } else { 0 };
        Ok(Places { kept, places: Slab::reserve(room, pages)? })
    }

    /// Bytes of memory that `terms` places take.
    pub(super) fn touched(&self, terms: usize) -> usize {
        if self.kept { self.places.touched(terms) } else { 0 }
    }

    /// Gives the memory behind `terms` places back.
    pub(super) fn release_behind(&mut self, terms: usize) {
        if self.kept {
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
        self.places.get(entry as usize).map(|place| place.tail).filter(|&tail| tail != 0)
    }

    /// The end of the chain of a term, 0 if it has none, and its latest difference; `None` if positions are not kept.
    #[inline(always)]
    pub(super) fn get(&self, entry: u32) -> Option<(u64, u32)> {
        self.kept.then(|| &self.places[entry as usize]).map(|place| (place.tail, place.delta))
    }

    /// The place of term number `entry`, which is new.
    #[inline(always)]
    pub(super) fn insert(&mut self, entry: usize, position: u32) {
        self.places.grow(entry + 1);
        self.places[entry] = Place { tail: 0, last: position, delta: position };
    }

    /// Notes the next occurrence of a term; `goes_on` if it is in the same document as the latest.
    #[inline(always)]
    pub(super) fn occur(&mut self, entry: u32, position: u32, goes_on: bool, chunks: &mut Chunks) {
        let place = &mut self.places[entry as usize];
        let tail = chunks.append_number(place.tail, place.delta);
        let before = if goes_on { place.last } else { 0 };
        *place = Place { tail, last: position, delta: position.wrapping_sub(before) };
    }

    /// All differences of a term, whose chain is put into `parts`; `None` if positions are not kept.
    #[inline(always)]
    pub(super) fn deltas<'a>(
        &self,
        entry: u32,
        chunks: &'a Chunks,
        parts: &'a mut Vec<(usize, usize)>,
    ) -> Option<Deltas<'a>> {
        let (tail, latest) = self.get(entry)?;
        chunks.parts(tail, parts);
        Some(Deltas { arena: chunks.arena(), parts: parts.iter(), at: 0, end: 0, latest })
    }
}

/// Reads the differences of one term back, first occurrence first.
pub struct Deltas<'a> {
    arena: &'a [u8],
    parts: std::slice::Iter<'a, (usize, usize)>,
    at: usize,
    end: usize,
    /// The difference in the term's place.
    latest: u32,
}

impl Deltas<'_> {
    /// The next difference; there is one for every occurrence in every document, void ones included.
    #[inline(always)]
    pub fn next_delta(&mut self) -> u32 {
        match self.arena[self.at..self.end].first() {
            Some(&byte) if byte < 0x80 => {
                self.at += 1;
                u32::from(byte)
            }
            _ => self.next_long(),
        }
    }

    /// The same where the number has several bytes or begins a chunk.
    fn next_long(&mut self) -> u32 {
        let (mut value, mut shift) = (0u64, 0);
        loop {
            if self.at == self.end {
                match self.parts.next() {
                    Some(&part) => (self.at, self.end) = part,
                    None => return self.latest,
                }
                continue;
            }
            let byte = self.arena[self.at];
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return u32::try_from(value).unwrap_or(u32::MAX);
            }
        }
    }

    /// Passes `count` differences.
    pub fn skip(&mut self, count: u32) {
        for _ in 0..count {
            self.next_delta();
        }
    }
}
