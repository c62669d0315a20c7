//! The hot loop: tokens wait in a small batch while their cache lines come in.
//!
//! A look-up that waits for memory costs 170 to 350 ns, one whose line was asked for in time 10 to 25. So each
//! token passes three stages, a batch apart: its key and fingerprint are made and its bucket is asked for; the
//! bucket names a candidate entry, which is asked for; the entry's key is compared and its posting updated. Long
//! terms take a fourth: their bytes are asked for and compared last. Tokens of one term stay in order, since a
//! term is either always short or always long.

use std::ops::Range;

use super::arch::{Isa, Seed};
use super::entry::{Entry, INLINE, Key};
use super::hot::Hot;
use super::positions::{COUNTS, OFFSETS};
use super::store::{Spot, Store};
use super::table::NONE;
use crate::codec::Occurrence;
use crate::sys::prefetch;
use crate::tokenize::MAX_TOKEN;

/// Tokens per batch: their buckets and entries take 16 KiB, half of a first-level cache.
const BATCH: usize = 256;

/// Bytes of long terms at which a batch is taken before it is full.
const LONG_BYTES: usize = 32 << 10;

/// Bytes of a long term that are copied without asking how many there are.
const COPIED: usize = 64;

/// A token on its way into the table.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// For a long term the payload is its place in [`Batch::long`].
    key: Key,
    fingerprint: u32,
    doc: u32,
    /// The entry under its fingerprint in the first bucket, or [`NONE`].
    candidate: u32,
    /// Length of a long term.
    len: u32,
}

/// Tokens waiting for their cache lines.
pub(super) struct Batch {
    hot: Box<Hot>,
    pending: Box<[Pending; BATCH]>,
    /// Where each stands in its document, if that is asked for.
    positions: Box<[u32; BATCH]>,
    /// Where each begins in the text, and its [`Occurrence::extra`], the same.
    offsets: Box<[(u32, u32); BATCH]>,
    len: usize,
    /// The bytes of the long terms in the batch, with room for another one.
    long: Box<[u8]>,
    long_len: usize,
    /// Long tokens whose candidate has the right digest.
    unsure: Vec<u32>,
    seed: Seed,
}

impl Batch {
    pub(super) fn new() -> Batch {
        let empty = Pending { key: Key([0; 2]), fingerprint: 0, doc: 0, candidate: NONE, len: 0 };
        Batch {
            hot: Box::new(Hot::new()),
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

    /// Adds the tokens of `text[base..]` between `bounds` to document `doc`, the first of them at `position`; byte 0 of
    /// `text` is byte `origin` of the document. `K` says what of this is kept: see `positions.rs`.
    ///
    /// # Safety
    /// The machine has the instructions of `I`.
    #[inline(always)]
    pub(super) unsafe fn push_all<I: Isa, const K: u8>(
        &mut self,
        store: &mut Store,
        (doc, mut position, origin): (u32, u32, u64),
        text: &[u8],
        base: usize,
        bounds: &[u16],
    ) {
        let tokens = bounds.as_chunks::<2>().0;
        let mut left = tokens;
        // SAFETY: passed on.
        unsafe {
            while !left.is_empty() {
                let taken = match self.hot.on {
                    true => self.fill::<I, true, K>(store, (doc, position, origin), text, base, left),
                    false => self.fill::<I, false, K>(store, (doc, position, origin), text, base, left),
                };
                left = &left[taken..];
                if K != COUNTS {
                    position = position_after(position, taken);
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

    /// Takes tokens until the batch is full; returns how many. With `HOT`, frequent terms are counted at once.
    #[inline(always)]
    unsafe fn fill<I: Isa, const HOT: bool, const K: u8>(
        &mut self,
        store: &mut Store,
        (doc, first, origin): (u32, u32, u64),
        text: &[u8],
        base: usize,
        tokens: &[[u16; 2]],
    ) -> usize {
        for (i, &[start, end]) in tokens.iter().enumerate() {
            let range = base + usize::from(start)..base + usize::from(end);
            let position = if K == COUNTS { 0 } else { position_after(first, i) };
            let start = if K == OFFSETS { offset(origin, range.start) } else { 0 };
            // SAFETY: passed on.
            unsafe {
                self.take::<I, HOT, K>(store, (doc, Occurrence { position, start, extra: 0 }), text, range)
            };
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
        store: &mut Store,
        spot: Spot,
        token: &[u8],
    ) {
        // SAFETY: passed on.
        unsafe {
            match self.hot.on {
                true => self.take::<I, true, K>(store, spot, token, 0..token.len()),
                false => self.take::<I, false, K>(store, spot, token, 0..token.len()),
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
        store: &mut Store,
        spot: Spot,
        text: &[u8],
        range: Range<usize>,
    ) {
        let token = &text[range.clone()];
        // SAFETY: the caller vouches for the instructions; the range was just checked.
        unsafe {
            if token.len() > INLINE {
                return self.push_long::<I, K>(store, text, range, spot);
            }
            let key = I::short_key(text, range.start, token.len());
            let fingerprint = I::fingerprint(key, &self.seed);
            match self.hot.find(key, fingerprint) {
                Some(entry) if HOT => store.count::<K>(entry, spot),
                _ => self.push::<K>(store, key, fingerprint, spot, 0),
            }
        }
    }

    /// The same for a long token.
    #[inline(always)]
    unsafe fn push_long<I: Isa, const K: u8>(
        &mut self,
        store: &mut Store,
        text: &[u8],
        range: Range<usize>,
        spot: Spot,
    ) {
        let token = &text[range.start..range.end.min(range.start + MAX_TOKEN)];
        // SAFETY: passed on; the token is longer than 15 bytes.
        let (digest, fingerprint) = unsafe { I::digest(token, &self.seed) };
        let at = self.long_len;
        let room = &mut self.long[at..];
        // Most are short, and a call to copy so few bytes takes longer than to copy some more.
        match (room.first_chunk_mut::<COPIED>(), text[range.start..].first_chunk::<COPIED>()) {
            (Some(room), Some(text)) if token.len() <= COPIED => *room = *text,
            _ => room[..token.len()].copy_from_slice(token),
        }
        self.long_len += token.len();
        let len = u32::try_from(token.len()).unwrap_or(u32::MAX);
        self.push::<K>(store, Key::waiting(digest, at), fingerprint, spot, len);
    }

    #[inline(always)]
    fn push<const K: u8>(&mut self, store: &Store, key: Key, fingerprint: u32, (doc, at): Spot, len: u32) {
        store.table.prefetch(fingerprint);
        if K != COUNTS {
            self.positions[self.len] = at.position;
        }
        if K == OFFSETS {
            self.offsets[self.len] = (at.start, at.extra);
        }
        self.pending[self.len] = Pending { key, fingerprint, doc, candidate: NONE, len };
        self.len += 1;
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.len == BATCH || self.long_len > LONG_BYTES
    }

    /// Takes every waiting token into the table.
    ///
    /// # Safety
    /// The machine has the instructions of `I`.
    #[inline(always)]
    pub(super) unsafe fn drain<I: Isa, const K: u8>(&mut self, store: &mut Store) {
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
            let spot = spot::<K>(&self.positions, &self.offsets, i, token.doc);
            if token.candidate != NONE {
                let entry = &store.terms.entries[token.candidate as usize];
                if entry.key == token.key {
                    if self.hot.on && entry.is_frequent() {
                        self.hot.put(token.key, token.fingerprint, token.candidate);
                    }
                    store.count::<K>(token.candidate, spot);
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
            // The candidate may be of a time before the latest insertions, or another term: look again.
            // SAFETY: passed on.
            unsafe {
                let candidate = candidate::<I>(store, token.fingerprint);
                if candidate != NONE && store.terms.entries[candidate as usize].key == token.key {
                    store.count::<K>(candidate, spot);
                } else if candidate != NONE
                    && let Some(entry) = store.find_short(token.key, token.fingerprint)
                {
                    store.count::<K>(entry, spot);
                } else {
                    store.insert::<K>(token.key, token.fingerprint, spot, |bucket| I::matches(bucket, 0));
                }
            }
        }
        // SAFETY: passed on.
        unsafe { self.drain_long::<I, K>(store) };
        self.hot.missed(self.len);
        self.len = 0;
        self.long_len = 0;
    }

    /// Where documents are shorter than a batch, most tokens end a posting: asks for the places those go to.
    #[inline(always)]
    fn prefetch_tails(&self, store: &Store) {
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

    /// The last stage of long terms: bytes are compared.
    #[inline(always)]
    unsafe fn drain_long<I: Isa, const K: u8>(&mut self, store: &mut Store) {
        for i in self.unsure.drain(..) {
            let token = self.pending[i as usize];
            let spot = spot::<K>(&self.positions, &self.offsets, i as usize, token.doc);
            let at = token.key.payload();
            let bytes = &self.long[at..at + token.len as usize];
            let digest = token.key.digest();
            if token.candidate != NONE && store.is_long_term(token.candidate, digest, bytes) {
                store.count::<K>(token.candidate, spot);
                continue;
            }
            // SAFETY: passed on.
            unsafe {
                if candidate::<I>(store, token.fingerprint) != NONE
                    && let Some(entry) = store.find_long(digest, bytes, token.fingerprint)
                {
                    store.count::<K>(entry, spot);
                } else {
                    store.insert_long::<K>((digest, bytes), token.fingerprint, spot, |bucket| {
                        I::matches(bucket, 0)
                    });
                }
            }
        }
    }

    /// Forgets which terms are frequent, as their entries are gone.
    pub(super) fn clear(&mut self) {
        self.hot.clear();
    }

    /// Key and fingerprint of a term, for looking it up.
    ///
    /// # Safety
    /// The machine has the instructions of `I`.
    #[inline(always)]
    pub(super) unsafe fn look_up<I: Isa>(&self, store: &Store, term: &[u8]) -> Option<u32> {
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

/// The position `tokens` after another; past what fits, the last one.
#[inline(always)]
fn position_after(position: u32, tokens: usize) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "tokens of one window")]
    position.saturating_add(tokens as u32)
}

/// The place in a document of a byte of a text that begins at `origin` of it; past what fits, the last one.
#[inline(always)]
pub(super) fn offset(origin: u64, at: usize) -> u32 {
    u32::try_from(origin.wrapping_add(at as u64)).unwrap_or(u32::MAX)
}

/// Document and place of token `i` of a batch.
#[inline(always)]
fn spot<const K: u8>(positions: &[u32; BATCH], offsets: &[(u32, u32); BATCH], i: usize, doc: u32) -> Spot {
    let position = if K == COUNTS { 0 } else { positions[i] };
    let (start, extra) = if K == OFFSETS { offsets[i] } else { (0, 0) };
    (doc, Occurrence { position, start, extra })
}

/// The first entry under `fingerprint`, most likely the right one.
#[inline(always)]
unsafe fn candidate<I: Isa>(store: &Store, fingerprint: u32) -> u32 {
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

const _: () = assert!(size_of::<Entry>() == 32);
