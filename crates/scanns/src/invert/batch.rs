//! The hot loop: tokens wait in a small batch while their cache lines are fetched.
//!
//! A look-up that waits for memory costs 170 to 350 ns; one whose line was prefetched in time costs 10 to 25
//! ns. So each token passes three stages, a batch apart. First its key and fingerprint are computed and its
//! bucket is prefetched. Then the bucket names a candidate entry, which is prefetched. Last the entry's key
//! is compared and its posting updated. Long terms take a fourth stage: their bytes are prefetched, then
//! compared. Tokens of one term stay in order, because a term is either always short or always long.

use std::ops::Range;

use super::arch::{Isa, Seed};
use super::entry::{INLINE, TermEntry, TermKey};
use super::hot_cache::HotCache;
use super::positions::{COUNTS, OFFSETS};
use super::store::{TermStore, TokenPlace};
use super::table::{NONE, TermBucket};
use crate::codec::Occurrence;
use crate::schema::MAX_TOKEN;
use crate::sys::prefetch;
use crate::tokenize::ShortToken;

/// Tokens per batch. Their buckets and entries take 16 KiB, half of a first-level cache.
const BATCH: usize = 256;

/// A batch is processed before it is full once its long terms have this many bytes.
const LONG_BYTES: usize = 32 << 10;

/// A long term of at most this many bytes is copied by one copy of this size.
const COPIED: usize = 64;

/// A token on its way into the table.
#[derive(Clone, Copy, Debug)]
struct PendingToken {
    /// For a long term the payload is its position in [`TokenBatch::long`].
    key: TermKey,
    fingerprint: u32,
    doc: u32,
    /// The entry under its fingerprint in the first bucket, or [`NONE`].
    candidate: u32,
    /// Length of a long term.
    len: u32,
}

/// The part of a document that a text belongs to.
#[derive(Clone, Copy)]
pub(super) struct TextPlace {
    pub(super) doc: u32,
    /// Position of the first token.
    pub(super) position: u32,
    /// Offset of byte 0 of the text in the document.
    pub(super) origin: u64,
}

/// Tokens waiting for their cache lines.
pub(super) struct TokenBatch {
    hot: Box<HotCache>,
    pending: Box<[PendingToken; BATCH]>,
    /// The position of each token in its document, if positions are kept.
    positions: Box<[u32; BATCH]>,
    /// The start of each token in the document and its [`Occurrence::extra`], if offsets are kept.
    offsets: Box<[(u32, u32); BATCH]>,
    len: usize,
    /// The bytes of the long terms in the batch, with room for one more.
    long: Box<[u8]>,
    long_len: usize,
    /// Long tokens whose candidate has the same digest.
    unsure: Vec<u32>,
    seed: Seed,
}

impl TokenBatch {
    pub(super) fn new() -> TokenBatch {
        let empty = PendingToken { key: TermKey([0; 2]), fingerprint: 0, doc: 0, candidate: NONE, len: 0 };
        TokenBatch {
            hot: Box::new(HotCache::new()),
            pending: Box::new([empty; BATCH]),
            positions: Box::new([0; BATCH]),
            offsets: Box::new([(0, 0); BATCH]),
            len: 0,
            long: vec![0; LONG_BYTES + MAX_TOKEN].into_boxed_slice(),
            long_len: 0,
            unsure: Vec::with_capacity(BATCH),
            seed: Seed::random(),
        }
    }

    /// Adds the tokens of `text[base..]` between `bounds` to a document. `K` selects the details that are
    /// stored for a token: see `positions.rs`.
    ///
    /// # Safety
    /// The machine has the instructions of `I`.
    #[inline(always)]
    pub(super) unsafe fn push_all<I: Isa, const K: u8>(
        &mut self,
        store: &mut TermStore,
        mut place: TextPlace,
        text: &[u8],
        base: usize,
        bounds: &[u16],
    ) {
        let tokens = bounds.as_chunks::<2>().0;
        let mut left = tokens;
        // SAFETY: passed on.
        unsafe {
            while !left.is_empty() {
                let taken = if self.hot.on {
                    self.fill::<I, true, K>(store, place, text, base, left)
                } else {
                    self.fill::<I, false, K>(store, place, text, base, left)
                };
                left = &left[taken..];
                if K != COUNTS {
                    place.position = position_after(place.position, taken);
                }
                if self.is_full() {
                    self.drain::<I, K>(store);
                }
            }
            if self.hot.goes_on(tokens.len()) {
                self.drain::<I, K>(store);
            }
        }
    }

    /// Takes tokens until the batch is full; returns the number of tokens taken. With `HOT`, terms in the hot
    /// cache are counted immediately.
    #[inline(always)]
    unsafe fn fill<I: Isa, const HOT: bool, const K: u8>(
        &mut self,
        store: &mut TermStore,
        place: TextPlace,
        text: &[u8],
        base: usize,
        tokens: &[[u16; 2]],
    ) -> usize {
        for (i, &[start, end]) in tokens.iter().enumerate() {
            let range = base + usize::from(start)..base + usize::from(end);
            let position = if K == COUNTS { 0 } else { position_after(place.position, i) };
            let start = if K == OFFSETS { offset(place.origin, range.start) } else { 0 };
            let at = Occurrence { position, start, extra: 0 };
            // SAFETY: passed on.
            unsafe { self.take::<I, HOT, K>(store, TokenPlace { doc: place.doc, at }, text, range) };
            if self.is_full() {
                return i + 1;
            }
        }
        tokens.len()
    }

    /// Adds one token of any length to a document.
    ///
    /// # Safety
    /// The machine has the instructions of `I`.
    #[inline(always)]
    pub(super) unsafe fn push_one<I: Isa, const K: u8>(
        &mut self,
        store: &mut TermStore,
        place: TokenPlace,
        token: &[u8],
    ) {
        // SAFETY: passed on.
        unsafe {
            if self.hot.on {
                self.take::<I, true, K>(store, place, token, 0..token.len());
            } else {
                self.take::<I, false, K>(store, place, token, 0..token.len());
            }
            if self.hot.goes_on(1) || self.is_full() {
                self.drain::<I, K>(store);
            }
        }
    }

    /// Takes the token `text[range]`; the batch must not be full.
    #[inline(always)]
    unsafe fn take<I: Isa, const HOT: bool, const K: u8>(
        &mut self,
        store: &mut TermStore,
        place: TokenPlace,
        text: &[u8],
        range: Range<usize>,
    ) {
        let token = &text[range.clone()];
        // SAFETY: the caller vouches for the instructions; the range was just checked.
        unsafe {
            if token.len() > INLINE {
                return self.push_long::<I, K>(store, text, range, place);
            }
            self.take_key::<I, HOT, K>(store, place, I::short_key(text, range.start, token.len()));
        }
    }

    /// Takes a short token; the batch must not be full.
    #[inline(always)]
    unsafe fn take_key<I: Isa, const HOT: bool, const K: u8>(
        &mut self,
        store: &mut TermStore,
        place: TokenPlace,
        key: TermKey,
    ) {
        // SAFETY: passed on.
        let fingerprint = unsafe { I::fingerprint(key, &self.seed) };
        match self.hot.find(key, fingerprint) {
            Some(entry) if HOT => store.count::<K>(entry, place),
            _ => self.push::<K>(store, key, fingerprint, place, 0),
        }
    }

    /// Adds rewritten tokens to a document.
    ///
    /// # Safety
    /// The machine has the instructions of `I`.
    #[inline(always)]
    pub(super) unsafe fn push_short<I: Isa, const K: u8>(
        &mut self,
        store: &mut TermStore,
        place: TextPlace,
        tokens: &[ShortToken],
    ) {
        let mut position = place.position;
        for token in tokens {
            position = position.saturating_add(token.gap);
            let start = if K == OFFSETS { offset(place.origin, token.start) } else { 0 };
            let (source_len, len) = (token.source_len as usize, usize::from(token.len));
            let extra = if K == OFFSETS { Occurrence::extra_of(source_len, len) } else { 0 };
            let place = TokenPlace { doc: place.doc, at: Occurrence { position, start, extra } };
            // SAFETY: passed on.
            unsafe {
                if len > INLINE {
                    self.push_long::<I, K>(store, &token.bytes, 0..len.min(token.bytes.len()), place);
                } else if self.hot.on {
                    self.take_key::<I, true, K>(store, place, TermKey::padded(token.bytes, token.len));
                } else {
                    self.take_key::<I, false, K>(store, place, TermKey::padded(token.bytes, token.len));
                }
                if self.is_full() {
                    self.drain::<I, K>(store);
                }
            }
            position = position.saturating_add(1);
        }
        if self.hot.goes_on(tokens.len()) {
            // SAFETY: passed on.
            unsafe { self.drain::<I, K>(store) };
        }
    }

    /// Like [`TokenBatch::take`], for a long token.
    #[inline(always)]
    unsafe fn push_long<I: Isa, const K: u8>(
        &mut self,
        store: &mut TermStore,
        text: &[u8],
        range: Range<usize>,
        place: TokenPlace,
    ) {
        let token = &text[range.start..range.end.min(range.start + MAX_TOKEN)];
        // SAFETY: passed on; the token is longer than 15 bytes.
        let (digest, fingerprint) = unsafe { I::digest(token, &self.seed) };
        let at = self.long_len;
        let room = &mut self.long[at..];
        // Most terms are short, and a call that copies a few bytes takes longer than copying some more
        // inline.
        match (room.first_chunk_mut::<COPIED>(), text[range.start..].first_chunk::<COPIED>()) {
            (Some(room), Some(text)) if token.len() <= COPIED => *room = *text,
            _ => room[..token.len()].copy_from_slice(token),
        }
        self.long_len += token.len();
        let len = u32::try_from(token.len()).unwrap_or(u32::MAX);
        self.push::<K>(store, TermKey::waiting(digest, at), fingerprint, place, len);
    }

    #[inline(always)]
    fn push<const K: u8>(
        &mut self,
        store: &TermStore,
        key: TermKey,
        fingerprint: u32,
        place: TokenPlace,
        len: u32,
    ) {
        let TokenPlace { doc, at } = place;
        store.table.prefetch(fingerprint);
        if K != COUNTS {
            self.positions[self.len] = at.position;
        }
        if K == OFFSETS {
            self.offsets[self.len] = (at.start, at.extra);
        }
        self.pending[self.len] = PendingToken { key, fingerprint, doc, candidate: NONE, len };
        self.len += 1;
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.len == BATCH || self.long_len > LONG_BYTES
    }

    /// Enters every waiting token into the table.
    ///
    /// # Safety
    /// The machine has the instructions of `I`.
    #[inline(always)]
    pub(super) unsafe fn drain<I: Isa, const K: u8>(&mut self, store: &mut TermStore) {
        for token in &mut self.pending[..self.len] {
            // SAFETY: passed on.
            token.candidate = unsafe { candidate::<I>(store, token.fingerprint) };
            prefetch(store.terms.entries.as_ptr().wrapping_add(token.candidate as usize));
            if K != COUNTS {
                store.places.prefetch(token.candidate);
            }
        }
        self.prefetch_tails(store);
        if K != COUNTS {
            let candidates = self.pending[..self.len].iter().map(|token| token.candidate);
            candidates.for_each(|candidate| store.prefetch_deltas(candidate));
        }
        for i in 0..self.len {
            let token = self.pending[i];
            let place = place_of::<K>(&self.positions, &self.offsets, i, token.doc);
            if token.candidate != NONE {
                let entry = &store.terms.entries[token.candidate as usize];
                if entry.key == token.key {
                    if self.hot.on && entry.is_frequent() {
                        self.hot.put(token.key, token.fingerprint, token.candidate);
                    }
                    store.count::<K>(token.candidate, place);
                    continue;
                }
                if token.key.is_long() && entry.key.is_long() && entry.key.digest() == token.key.digest() {
                    store.terms.prefetch_long(entry.key);
                    #[expect(clippy::cast_possible_truncation, reason = "below BATCH")]
                    self.unsure.push(i as u32);
                    continue;
                }
            }
            if token.key.is_long() {
                #[expect(clippy::cast_possible_truncation, reason = "below BATCH")]
                self.unsure.push(i as u32);
                continue;
            }
            // The candidate may predate the latest insertions, or be another term: look again.
            // SAFETY: passed on.
            unsafe {
                let candidate = candidate::<I>(store, token.fingerprint);
                if candidate != NONE && store.terms.entries[candidate as usize].key == token.key {
                    store.count::<K>(candidate, place);
                } else if candidate != NONE
                    && let Some(entry) = store.find_short(token.key, token.fingerprint)
                {
                    store.count::<K>(entry, place);
                } else {
                    store.insert::<K>(token.key, token.fingerprint, place, |bucket| I::matches(bucket, 0));
                }
            }
        }
        // SAFETY: passed on.
        unsafe { self.drain_long::<I, K>(store) };
        self.hot.missed(self.len);
        self.len = 0;
        self.long_len = 0;
    }

    /// Prefetches the tails of postings. If documents are shorter than a batch, most tokens end a posting.
    #[inline(always)]
    fn prefetch_tails(&self, store: &TermStore) {
        let pending = &self.pending[..self.len];
        if pending.first().map(|token| token.doc) == pending.last().map(|token| token.doc) {
            return;
        }
        for token in pending {
            if let Some(entry) = store.terms.entries.get(token.candidate as usize)
                && entry.tail != 0
                && entry.doc != token.doc
            {
                store.chunks.prefetch_tail(entry.tail);
            }
        }
    }

    /// The last stage of long terms: compares their bytes.
    #[inline(always)]
    unsafe fn drain_long<I: Isa, const K: u8>(&mut self, store: &mut TermStore) {
        for i in self.unsure.drain(..) {
            let token = self.pending[i as usize];
            let place = place_of::<K>(&self.positions, &self.offsets, i as usize, token.doc);
            let at = token.key.payload();
            let bytes = &self.long[at..at + token.len as usize];
            let digest = token.key.digest();
            if token.candidate != NONE && store.is_long_term(token.candidate, digest, bytes) {
                store.count::<K>(token.candidate, place);
                continue;
            }
            // SAFETY: passed on.
            unsafe {
                if candidate::<I>(store, token.fingerprint) != NONE
                    && let Some(entry) = store.find_long(digest, bytes, token.fingerprint)
                {
                    store.count::<K>(entry, place);
                } else {
                    let free = |bucket: &TermBucket| I::matches(bucket, 0);
                    store.insert_long::<K>(digest, bytes, token.fingerprint, place, free);
                }
            }
        }
    }

    /// Empties the hot cache, because its entries no longer exist.
    pub(super) fn clear(&mut self) {
        self.hot.clear();
    }

    /// The entry of a term.
    ///
    /// # Safety
    /// The machine has the instructions of `I`.
    #[inline(always)]
    pub(super) unsafe fn look_up<I: Isa>(&self, store: &TermStore, term: &[u8]) -> Option<u32> {
        // SAFETY: passed on; the range is the whole term.
        unsafe {
            if term.len() <= INLINE {
                let key = I::short_key(term, 0, term.len());
                store.find_short(key, I::fingerprint(key, &self.seed))
            } else {
                let (digest, fingerprint) = I::digest(term, &self.seed);
                store.find_long(digest, term, fingerprint)
            }
        }
    }
}

/// The position `tokens` after another; clamped to the largest.
#[inline(always)]
fn position_after(position: u32, tokens: usize) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "tokens of one window")]
    position.saturating_add(tokens as u32)
}

/// The offset in a document of byte `at` of a text that starts at `origin`; clamped to the largest.
#[inline(always)]
pub(super) fn offset(origin: u64, at: usize) -> u32 {
    u32::try_from(origin.wrapping_add(at as u64)).unwrap_or(u32::MAX)
}

/// The place of token `i` of a batch in document `doc`.
#[inline(always)]
fn place_of<const K: u8>(
    positions: &[u32; BATCH],
    offsets: &[(u32, u32); BATCH],
    i: usize,
    doc: u32,
) -> TokenPlace {
    let position = if K == COUNTS { 0 } else { positions[i] };
    let (start, extra) = if K == OFFSETS { offsets[i] } else { (0, 0) };
    TokenPlace { doc, at: Occurrence { position, start, extra } }
}

/// The first entry with this fingerprint, which is most likely the right one.
#[inline(always)]
unsafe fn candidate<I: Isa>(store: &TermStore, fingerprint: u32) -> u32 {
    let mut bucket = store.table.bucket(fingerprint);
    loop {
        // SAFETY: passed on.
        let matches = unsafe { I::matches(bucket, fingerprint) };
        if matches != 0 {
            return bucket.entries[matches.trailing_zeros() as usize];
        }
        match store.table.next(bucket) {
            Some(next) => bucket = next,
            None => return NONE,
        }
    }
}

const _: () = assert!(size_of::<TermEntry>() == 32);
