//! The terms and postings of one index thread: table, entries, keys of long terms, chains of postings.
//!
//! Everything is in reserved memory that grows in place, so nothing is ever moved, and the memory is kept
//! from one segment to the next. The reported sizes are exact: they count the memory that the operating
//! system has provided.

use super::chunks::Chunks;
use super::entry::{TermEntry, TermKey};
use super::positions::{COUNTS, TermPlaces};
use super::table::{TermBucket, TermTable};
use crate::codec::{ByteReader, Occurrence, varint};
use crate::error::Result;
use crate::schema::Postings;
use crate::sys::{PageSize, Slab, prefetch};

/// The terms, in order of insertion.
pub(super) struct TermEntries {
    pub(super) entries: Slab<TermEntry>,
    pub(super) len: usize,
    /// Length (varint) and bytes of each long term.
    keys: Slab<u8>,
    keys_len: usize,
}

impl TermEntries {
    /// The bytes of a long term.
    pub(super) fn long(&self, key: TermKey) -> &[u8] {
        let mut reader = ByteReader::new(&self.keys[key.payload()..]);
        let len = reader.varint32().unwrap_or(0);
        reader.take(len as usize).unwrap_or_default()
    }

    /// Prefetches the bytes of a long term.
    #[inline(always)]
    pub(super) fn prefetch_long(&self, key: TermKey) {
        prefetch(self.keys.as_ptr().wrapping_add(key.payload()));
    }

    /// Prefetches the bytes of a term if they are not in its entry; the entry should be in the cache.
    #[inline(always)]
    pub(super) fn prefetch_bytes(&self, entry: u32) {
        let key = self.entries[entry as usize].key;
        if key.is_long() {
            self.prefetch_long(key);
        }
    }

    /// Calls `visit` with the bytes of the term of `entry`.
    #[inline(always)]
    pub(super) fn with_bytes<R>(&self, entry: u32, visit: impl FnOnce(&[u8]) -> R) -> R {
        let key = self.entries[entry as usize].key;
        if key.is_long() {
            visit(self.long(key))
        } else {
            let (bytes, len) = key.bytes();
            visit(&bytes[..len])
        }
    }

    /// Stores the bytes of a long term; returns their position.
    fn push_long(&mut self, term: &[u8]) -> usize {
        let at = self.keys_len;
        let (head, head_len) = varint(term.len() as u64);
        let body = at + head_len;
        let end = body + term.len();
        self.keys.grow(end);
        self.keys[at..body].copy_from_slice(&head[..head_len]);
        self.keys[body..end].copy_from_slice(term);
        self.keys_len = end;
        at
    }
}

/// The place of a token: its document, and the stored details of its occurrence.
#[derive(Clone, Copy)]
pub(super) struct TokenPlace {
    pub(super) doc: u32,
    pub(super) at: Occurrence,
}

/// The terms and postings of one index thread.
pub(super) struct TermStore {
    pub(super) table: TermTable,
    pub(super) terms: TermEntries,
    /// The latest occurrence of each term; empty if positions are not stored.
    pub(super) places: TermPlaces,
    pub(super) chunks: Chunks,
    /// The peak use of entries, keys, places and chunks since memory was last returned.
    marks: [usize; 4],
}

impl TermStore {
    /// Creates a store with initial room for `terms`; each component may grow to `max_bytes`.
    pub(super) fn new(
        terms: usize,
        max_bytes: usize,
        pages: PageSize,
        postings: Postings,
    ) -> Result<TermStore> {
        Ok(TermStore {
            table: TermTable::new(terms, max_bytes, pages)?,
            terms: TermEntries {
                entries: Slab::reserve(max_bytes / size_of::<TermEntry>(), pages)?,
                len: 0,
                keys: Slab::reserve(max_bytes, pages)?,
                keys_len: 0,
            },
            places: TermPlaces::new(postings, max_bytes, pages)?,
            chunks: Chunks::new(max_bytes, pages)?,
            marks: [0; 4],
        })
    }

    /// The number of bytes of memory in use.
    pub(super) fn bytes(&self) -> usize {
        self.table.bytes() + self.used().iter().sum::<usize>()
    }

    fn used(&self) -> [usize; 4] {
        [
            self.terms.entries.touched(self.terms.len),
            self.terms.keys.touched(self.terms.keys_len),
            self.places.touched(self.terms.len),
            self.chunks.bytes(),
        ]
    }

    /// The number of bytes of memory held, including memory kept from earlier segments.
    pub(super) fn resident(&self) -> usize {
        let kept: usize = self.marks.iter().zip(self.used()).map(|(&mark, used)| mark.max(used)).sum();
        self.table.bytes() + kept
    }

    /// Returns memory from earlier segments to the system if more than `budget` bytes are held.
    pub(super) fn keep_within(&mut self, budget: usize) {
        if self.resident() > budget {
            let used = self.used();
            self.terms.entries.release_behind(self.terms.len);
            self.terms.keys.release_behind(self.terms.keys_len);
            self.places.release_behind(self.terms.len);
            self.chunks.release();
            self.marks = used;
        }
    }

    /// Counts one more occurrence of the term of `entry`; `K` selects the details to store.
    #[inline(always)]
    pub(super) fn count<const K: u8>(&mut self, entry: u32, place: TokenPlace) {
        let TokenPlace { doc, at } = place;
        if K != COUNTS {
            let found = &mut self.terms.entries[entry as usize];
            let goes_on = found.doc == doc;
            if goes_on {
                let Some(freq) = found.term_freq.checked_add(1) else {
                    // The number of positions equals the frequency, which cannot grow any more.
                    return;
                };
                found.term_freq = freq;
            } else {
                found.tail = self.chunks.append(found.tail, found.doc, found.term_freq, doc);
                (found.doc, found.term_freq) = (doc, 1);
            }
            self.places.occur::<K>(entry, at, goes_on, &mut self.chunks);
        } else {
            self.count_many(entry, doc, 1);
        }
    }

    /// Counts `freq` more occurrences.
    #[inline(always)]
    pub(super) fn count_many(&mut self, entry: u32, doc: u32, freq: u32) {
        let entry = &mut self.terms.entries[entry as usize];
        if entry.doc == doc {
            entry.term_freq = entry.term_freq.saturating_add(freq);
        } else {
            entry.tail = self.chunks.append(entry.tail, entry.doc, entry.term_freq, doc);
            (entry.doc, entry.term_freq) = (doc, freq);
        }
    }

    /// The entry of a short term.
    pub(super) fn find_short(&self, key: TermKey, fingerprint: u32) -> Option<u32> {
        self.table.candidates(fingerprint).find(|&entry| self.terms.entries[entry as usize].key == key)
    }

    /// The entry of a long term.
    pub(super) fn find_long(&self, digest: u64, term: &[u8], fingerprint: u32) -> Option<u32> {
        self.table.candidates(fingerprint).find(|&entry| self.is_long_term(entry, digest, term))
    }

    /// True if `entry` is the entry of a long term. The bytes decide; the digest saves most comparisons.
    pub(super) fn is_long_term(&self, entry: u32, digest: u64, term: &[u8]) -> bool {
        let key = self.terms.entries[entry as usize].key;
        key.is_long() && key.digest() == digest && self.terms.long(key) == term
    }

    /// Prefetches the place of the next position of a term; the term's place should be in the cache.
    #[inline(always)]
    pub(super) fn prefetch_deltas(&self, entry: u32) {
        if let Some(tail) = self.places.tail(entry) {
            self.chunks.prefetch_tail(tail);
        }
    }

    /// Adds a new term that occurs once. `free` finds the free slots of a bucket.
    #[inline(always)]
    pub(super) fn insert<const K: u8>(
        &mut self,
        key: TermKey,
        fingerprint: u32,
        place: TokenPlace,
        free: impl FnOnce(&TermBucket) -> u32,
    ) {
        let TokenPlace { doc, at } = place;
        if K != COUNTS {
            self.places.insert::<K>(self.terms.len, at);
        }
        self.terms.entries.grow(self.terms.len + 1);
        self.terms.entries[self.terms.len] = TermEntry { key, doc, term_freq: 1, tail: 0 };
        self.table.insert(fingerprint, u32::try_from(self.terms.len).unwrap_or(u32::MAX), free);
        self.terms.len += 1;
    }

    /// Adds a new long term, as [`TermStore::insert`] does.
    #[inline(always)]
    pub(super) fn insert_long<const K: u8>(
        &mut self,
        digest: u64,
        term: &[u8],
        fingerprint: u32,
        place: TokenPlace,
        free: impl FnOnce(&TermBucket) -> u32,
    ) {
        let at = self.terms.push_long(term);
        self.insert::<K>(TermKey::long(digest, at as u64), fingerprint, place, free);
    }

    /// Removes all terms, but keeps the memory.
    pub(super) fn clear(&mut self) {
        let used = self.used();
        self.marks.iter_mut().zip(used).for_each(|(mark, used)| *mark = used.max(*mark));
        self.table.clear();
        self.chunks.clear();
        (self.terms.len, self.terms.keys_len) = (0, 0);
    }
}
