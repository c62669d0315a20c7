//! The paged sub-allocator: memory comes in pages of 2 MiB, an allocation advances a mark, and nothing is
//! freed before the end.
//!
//! Keys and both kinds of nodes are stored one after another in the order in which they are allocated, so
//! that a new term, its node and its first TF node share cache lines. The pages are adjacent in one reserved
//! range of addresses. A place is therefore the number of a word, and accessing it costs the same as
//! following a pointer.

use super::chained::Chains;
use super::terms::{Storage, Visit};
use anyhow::{Result, ensure};
use scanns::internals::Slab;
use scanns::sources::PageSize;

/// The number of a word; 0 means none.
type Place = usize;

/// Bytes of a word.
const WORD: usize = 8;

/// Storage in pages.
pub(super) struct Arena {
    slab: Slab<u8>,
    /// Words in use.
    used: usize,
    /// Limit for the number of words.
    limit: usize,
    /// True if there was not enough room for an allocation.
    full: bool,
}

/// Where a key is stored.
#[derive(Clone, Copy)]
pub(super) struct ArenaKey {
    place: Place,
    len: u32,
}

/// Document frequency and newest TF node of a term.
///
/// A TF node is two words: document and frequency, and the place of the next older one.
#[derive(Clone, Copy, Default)]
pub(super) struct TfChain {
    doc_freq: u32,
    newest: Place,
}

/// Packs two halves into a word.
#[inline(always)]
fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// Unpacks what [`pair`] packed.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "halves of a word")]
fn halves(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

impl Arena {
    /// An empty arena that may grow to `bytes`.
    pub(super) fn reserve(bytes: usize, pages: PageSize) -> Result<Self> {
        let slab = Slab::reserve(bytes, pages)?;
        // The first word is taken, so that no place is 0.
        Ok(Arena { slab, used: 1, limit: bytes / WORD, full: false })
    }

    #[inline(always)]
    fn allocate(&mut self, words: usize) -> Option<Place> {
        let (place, end) = (self.used, self.used + words);
        if end > self.limit {
            self.full = true;
            return None;
        }
        self.slab.grow(end * WORD);
        self.used = end;
        Some(place)
    }

    #[inline(always)]
    fn word(&self, place: Place) -> u64 {
        u64::from_le_bytes(self.slab.as_chunks::<WORD>().0[place])
    }

    #[inline(always)]
    fn set(&mut self, place: Place, word: u64) {
        self.slab.as_chunks_mut::<WORD>().0[place] = word.to_le_bytes();
    }

    #[inline(always)]
    fn place(&self, at: Place) -> Place {
        usize::try_from(self.word(at)).unwrap_or(0)
    }
}

impl Storage for Arena {
    type Key = ArenaKey;
    type List = TfChain;

    #[inline(always)]
    fn keep(&mut self, key: &[u8]) -> Option<ArenaKey> {
        let place = self.allocate(key.len().div_ceil(WORD))?;
        self.slab[place * WORD..][..key.len()].copy_from_slice(key);
        Some(ArenaKey { place, len: u32::try_from(key.len()).unwrap_or(u32::MAX) })
    }

    #[inline(always)]
    fn bytes<'a>(&'a self, key: &'a ArenaKey) -> &'a [u8] {
        &self.slab[key.place * WORD..][..key.len as usize]
    }

    #[inline(always)]
    fn count(&mut self, list: &mut TfChain, doc: u32) {
        if list.newest != 0 {
            let (last, freq) = halves(self.word(list.newest));
            if last == doc {
                return self.set(list.newest, pair(doc, freq.saturating_add(1)));
            }
        }
        if let Some(place) = self.allocate(2) {
            self.set(place, pair(doc, 1));
            self.set(place + 1, list.newest as u64);
            list.newest = place;
            list.doc_freq += 1;
        }
    }

    fn read(&self, list: &TfChain, postings: &mut Vec<(u32, u32)>) -> u32 {
        let mut place = list.newest;
        while place != 0 {
            postings.push(halves(self.word(place)));
            place = self.place(place + 1);
        }
        list.doc_freq
    }

    fn check(&self) -> Result<()> {
        let mib = (self.limit * WORD) >> 20;
        ensure!(!self.full, "the index needs more than its {mib} MiB of memory: give more, or less text");
        Ok(())
    }
}

/// Words of a node of a chain: the place of the next node, its hash, the place of its key, the key length and
/// document frequency, and the place of its newest TF node.
const NODE: usize = 5;

impl Arena {
    /// The key and the list of a node.
    #[inline(always)]
    fn parts(&self, node: Place) -> (ArenaKey, TfChain) {
        let (len, doc_freq) = halves(self.word(node + 3));
        (ArenaKey { place: self.place(node + 2), len }, TfChain { doc_freq, newest: self.place(node + 4) })
    }

    #[inline(always)]
    fn set_list(&mut self, node: Place, key: ArenaKey, list: TfChain) {
        self.set(node + 3, pair(key.len, list.doc_freq));
        self.set(node + 4, list.newest as u64);
    }
}

impl Chains for Arena {
    type Link = Place;

    #[inline(always)]
    fn count_in(&mut self, chain: &mut Place, hash: u64, token: &[u8], doc: u32) -> bool {
        let mut node = *chain;
        while node != 0 {
            if self.word(node + 1) == hash {
                let (key, mut list) = self.parts(node);
                if self.bytes(&key) == token {
                    let newest = list.newest;
                    self.count(&mut list, doc);
                    if list.newest != newest {
                        self.set_list(node, key, list);
                    }
                    return true;
                }
            }
            node = self.place(node);
        }
        false
    }

    fn node(&mut self, hash: u64, token: &[u8], doc: u32) -> Option<Place> {
        let node = self.allocate(NODE)?;
        let key = self.keep(token)?;
        let mut list = TfChain::default();
        self.count(&mut list, doc);
        self.set(node + 1, hash);
        self.set(node + 2, key.place as u64);
        self.set_list(node, key, list);
        Some(node)
    }

    #[inline(always)]
    fn link(&mut self, chain: &mut Place, node: Place) {
        self.set(node, *chain as u64);
        *chain = node;
    }

    #[inline(always)]
    fn unlink(&mut self, chain: &mut Place) -> Option<(u64, Place)> {
        let node = *chain;
        if node == 0 {
            return None;
        }
        *chain = self.place(node);
        Some((self.word(node + 1), node))
    }

    fn show_all(&self, chain: &Place, postings: &mut Vec<(u32, u32)>, visit: Visit<'_>) {
        let mut node = *chain;
        while node != 0 {
            let (key, list) = self.parts(node);
            self.show(&key, &list, postings, visit);
            node = self.place(node);
        }
    }
}
