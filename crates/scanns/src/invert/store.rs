//! Where terms and postings of one index thread live: table, entries, keys of long terms, chains of postings.
//!
//! Everything is in reserved memory that grows in place, so nothing is ever moved, and is kept from one segment
//! to the next. The sizes are exact: what is counted is what the operating system has given.

use super::chunks::Chunks;
use super::entry::{Entry, Key};
use super::positions::{COUNTS, Places};
use super::table::{Bucket, Table};
use crate::codec::{ByteReader, Occurrence, varint};
use crate::error::Result;
use crate::schema::Postings;
use crate::sys::{PageSize, Slab, prefetch};

/// The terms in order of insertion.
pub(super) struct Terms {
    pub(super) entries: Slab<Entry>,
    pub(super) len: usize,
    /// Length (varint) and bytes of each long term.
    keys: Slab<u8>,
    keys_len: usize,
}

impl Terms {
    /// The bytes of a long term.
    pub(super) fn long(&self, key: Key) -> &[u8] {
        let mut reader = ByteReader::new(&self.keys[key.payload()..]);
        let len = reader.varint32().unwrap_or(0);
        reader.take(len as usize).unwrap_or_default()
    }

    /// Asks for the bytes of a long term ahead of use.
    #[inline(always)]
    pub(super) fn prefetch_long(&self, key: Key) {
        prefetch(self.keys.as_ptr().wrapping_add(key.payload()));
    }

    /// Asks for the bytes of a term, whose entry is at hand, if they are not in it.
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

    /// Keeps the bytes of a long term; returns their place.
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

/// A document, and where in it a token stands, as far as that is kept.
pub(super) type Spot = (u32, Occurrence);

/// See the module.
pub(super) struct Store {
    pub(super) table: Table,
    pub(super) terms: Terms,
    /// Where the latest occurrence of each term is; empty if positions are not kept.
    pub(super) places: Places,
    pub(super) chunks: Chunks,
    /// Most that entries, keys, places and chunks ever used since memory was last given back.
    marks: [usize; 4],
}

impl Store {
    /// Room for `terms` at first; each part may grow to `max_bytes`.
    pub(super) fn new(terms: usize, max_bytes: usize, pages: PageSize, postings: Postings) -> Result<Store> {
        Ok(Store {
            table: Table::new(terms, max_bytes, pages)?,
            terms: Terms {
                entries: Slab::reserve(max_bytes / size_of::<Entry>(), pages)?,
                len: 0,
                keys: Slab::reserve(max_bytes, pages)?,
                keys_len: 0,
            },
            places: Places::new(postings, max_bytes, pages)?,
            chunks: Chunks::new(max_bytes, pages)?,
            marks: [0; 4],
        })
    }

    /// Bytes of memory in use.
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

    /// Bytes of memory taken, what is kept from earlier segments included.
    pub(super) fn resident(&self) -> usize {
        let kept: usize = self.marks.iter().zip(self.used()).map(|(&mark, used)| mark.max(used)).sum();
        self.table.bytes() + kept
    }

    /// Gives memory back that is kept from earlier segments, if with it more than `budget` is taken.
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

    /// Counts one more occurrence of the term of `entry` in `doc`; `K` says what of `at` is kept.
    #[inline(always)]
    pub(super) fn count<const K: u8>(&mut self, entry: u32, (doc, at): Spot) {
        if K != COUNTS {
            let found = &mut self.terms.entries[entry as usize];
            let goes_on = found.doc == doc;
            if goes_on {
                let Some(freq) = found.term_freq.checked_add(1) else {
                    // There are as many positions as the frequency says, and that ends here.
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
    pub(super) fn find_short(&self, key: Key, fingerprint: u32) -> Option<u32> {
        self.table.candidates(fingerprint).find(|&entry| self.terms.entries[entry as usize].key == key)
    }

    /// The entry of a long term.
    pub(super) fn find_long(&self, digest: u64, term: &[u8], fingerprint: u32) -> Option<u32> {
        self.table.candidates(fingerprint).find(|&entry| self.is_long_term(entry, digest, term))
    }

    /// True if `entry` is that of the long term; bytes decide, the digest saves comparing them.
    pub(super) fn is_long_term(&self, entry: u32, digest: u64, term: &[u8]) -> bool {
        let key = self.terms.entries[entry as usize].key;
        key.is_long() && key.digest() == digest && self.terms.long(key) == term
    }

    /// Asks for the place where the next position of a term goes; its own place must be at hand.
    #[inline(always)]
    pub(super) fn prefetch_deltas(&self, entry: u32) {
        if let Some(tail) = self.places.tail(entry) {
            self.chunks.prefetch_tail(tail);
        }
    }

    /// Adds a term that is not there, seen once in a document. `free` finds the free slots of a bucket.
    #[inline(always)]
    pub(super) fn insert<const K: u8>(
        &mut self,
        key: Key,
        fingerprint: u32,
        (doc, at): Spot,
        free: impl FnOnce(&Bucket) -> u32,
    ) {
        if K != COUNTS {
            self.places.insert::<K>(self.terms.len, at);
        }
        self.terms.entries.grow(self.terms.len + 1);
        self.terms.entries[self.terms.len] = Entry { key, doc, term_freq: 1, tail: 0 };
        self.table.insert(fingerprint, u32::try_from(self.terms.len).unwrap_or(u32::MAX), free);
        self.terms.len += 1;
    }

    /// The same for a long term.
    #[inline(always)]
    pub(super) fn insert_long<const K: u8>(
        &mut self,
        (digest, term): (u64, &[u8]),
        fingerprint: u32,
        spot: Spot,
        free: impl FnOnce(&Bucket) -> u32,
    ) {
        let at = self.terms.push_long(term);
        self.insert::<K>(Key::long(digest, at as u64), fingerprint, spot, free);
    }

    /// Forgets all terms and keeps the memory.
    pub(super) fn clear(&mut self) {
        let used = self.used();
        self.marks.iter_mut().zip(used).for_each(|(mark, used)| *mark = used.max(*mark));
        self.table.clear();
        self.chunks.clear();
        (self.terms.len, self.terms.keys_len) = (0, 0);
    }
}
