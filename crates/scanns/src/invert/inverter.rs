//! The inverted index of one thread: tokens in, postings in memory.

use std::ops::Range;

use super::batch::{TextPlace, TokenBatch, offset};
use super::dispatch::with_isa;
use super::options::InvertOptions;
use super::positions::{COUNTS, OFFSETS, POSITIONS};
use super::store::{TermStore, TokenPlace};
use crate::codec::{Occurrence, length_to_norm};
use crate::error::Result;
use crate::schema::Postings;
use crate::sys::{Simd, address_space_limit};
use crate::tokenize::{ShortToken, TokenSink};

/// Address space beyond the budget, for the data that [`CHECK_EVERY`](super::options::CHECK_EVERY) bytes of
/// text can add before the budget is checked.
const SLACK: usize = 64 << 20;

/// As [`SLACK`], where the address space is limited: still more than these bytes can add, which is 10 MiB.
const LEAST_SLACK: usize = 16 << 20;

fn slack() -> usize {
    if address_space_limit().is_some() { LEAST_SLACK } else { SLACK }
}

/// The address space that inverters with these `postings` reserve for a budget, if the address space is
/// limited: each has four arrays that may grow to the whole budget, one for half of it, and one more for
/// positions.
pub(crate) fn reserved_bytes(budget: usize, postings: impl Iterator<Item = Postings>) -> usize {
    let halves = |postings| match postings {
        Postings::Documents | Postings::Frequencies => 9,
        Postings::Positions | Postings::Offsets => 11,
    };
    let halves: usize = postings.map(halves).sum();
    budget.saturating_add(LEAST_SLACK).saturating_mul(halves) / 2
}

/// The number of documents at which an index is full: 2^31, minus the number that
/// [`CHECK_EVERY`](super::options::CHECK_EVERY) bytes of empty lines can add.
const MOST_DOCUMENTS: u32 = (1 << 31) - (1 << 18);

/// An inverted index of one thread that grows in memory.
pub struct Inverter {
    pub(super) simd: Simd,
    pub(super) store: TermStore,
    pub(super) batch: TokenBatch,
    budget: usize,
    kept: Postings,
    /// The number of ended documents, including void ones.
    docs: u32,
    /// The length of each document, as its norm byte.
    norms: Vec<u8>,
    /// Void documents, ascending.
    pub(super) void: Vec<u32>,
    /// Offset of the current text in its document.
    origin: u64,
    /// The number of tokens of the current document.
    pub(super) doc_tokens: u64,
    /// Its positions without a token, minus its tokens at the position of the previous token; modulo 2⁶⁴.
    pub(super) doc_shift: u64,
    /// The number of tokens of all documents except void ones.
    tokens: u64,
    /// The number of documents with at least one token, except void ones.
    with_terms: u64,
}

impl Inverter {
    /// Creates an empty index that uses the best instruction set of this machine.
    pub fn new(options: &InvertOptions) -> Result<Self> {
        Self::with_simd(options, Simd::detect())
    }

    /// Creates an empty index that uses exactly `simd`.
    pub fn with_simd(options: &InvertOptions, simd: Simd) -> Result<Self> {
        Ok(Inverter {
            simd,
            store: TermStore::new(
                options.expected_terms,
                options.budget + slack(),
                options.pages,
                options.postings,
            )?,
            batch: TokenBatch::new(),
            budget: options.budget,
            kept: options.postings,
            docs: 0,
            norms: Vec::new(),
            void: Vec::new(),
            origin: 0,
            doc_tokens: 0,
            doc_shift: 0,
            tokens: 0,
            with_terms: 0,
        })
    }

    /// The number of the current document, to which tokens are added.
    #[inline]
    pub fn current_document(&self) -> u32 {
        self.docs
    }

    /// Sets the offset of the following text: its first byte is byte `origin` of its document, or of its
    /// field there, modulo 2⁶⁴. Ranges of the text need not start at its first byte. The offset is used until
    /// the next call, and only matters if offsets are stored.
    #[inline]
    pub fn text_begins(&mut self, origin: u64) {
        self.origin = origin;
    }

    /// Position of the next token, clamped to 2^32 - 1.
    #[inline(always)]
    fn next_position(&self) -> u32 {
        u32::try_from(self.doc_tokens.wrapping_add(self.doc_shift)).unwrap_or(u32::MAX)
    }

    /// Adds one token without updating the count of tokens.
    #[inline]
    pub(super) fn token_at(&mut self, place: TokenPlace, token: &[u8]) {
        let (batch, store) = (&mut self.batch, &mut self.store);
        with_isa!(self.simd, I => match store.places.kept {
            COUNTS => batch.push_one::<I, COUNTS>(store, place, token),
            POSITIONS => batch.push_one::<I, POSITIONS>(store, place, token),
            _ => batch.push_one::<I, OFFSETS>(store, place, token),
        });
    }

    /// Ends the current document; the following tokens belong to the next one.
    #[inline]
    pub fn end_document(&mut self) {
        self.norms.push(length_to_norm(self.doc_tokens));
        self.docs += 1;
        self.with_terms += u64::from(self.doc_tokens > 0);
        self.tokens += self.doc_tokens;
        (self.doc_tokens, self.doc_shift) = (0, 0);
    }

    /// Ends the current document and makes it void: it keeps its number, but is not in any posting, count or
    /// statistic.
    pub fn void_document(&mut self) {
        self.void.push(self.current_document());
        self.norms.push(0);
        self.docs += 1;
        (self.doc_tokens, self.doc_shift) = (0, 0);
    }

    /// The details that postings contain.
    pub fn kept(&self) -> Postings {
        self.kept
    }

    /// The number of documents so far, including void ones.
    pub fn max_doc(&self) -> u32 {
        self.current_document()
    }

    /// The void documents, ascending.
    pub fn void_documents(&self) -> &[u32] {
        &self.void
    }

    /// The norms, one byte per document.
    pub fn norms(&self) -> &[u8] {
        &self.norms
    }

    /// Takes the norms for a flush; call [`Inverter::drain_sorted`] next.
    pub fn take_norms(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.norms)
    }

    /// The number of tokens of all documents except void ones.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// The number of documents with at least one term.
    pub fn documents_with_terms(&self) -> u64 {
        self.with_terms
    }

    /// The number of distinct terms so far, including the terms of void documents.
    pub fn terms(&mut self) -> usize {
        self.settle();
        self.store.terms.len
    }

    /// The number of bytes of memory in use.
    pub fn bytes(&self) -> usize {
        self.store.bytes() + self.norms.capacity() + self.void.capacity() * 4
    }

    /// The number of bytes of memory held, including memory kept from earlier segments.
    pub fn resident(&self) -> usize {
        self.store.resident() + self.norms.capacity() + self.void.capacity() * 4
    }

    /// Returns true if `limit` bytes, or all of the budget, are in use and the index should be flushed.
    ///
    /// Also returns memory from earlier segments to the system if it does not fit into the budget together
    /// with the memory in use.
    #[inline]
    pub fn is_full(&mut self, limit: usize) -> bool {
        self.is_full_beside(limit, 0)
    }

    /// Like [`Inverter::is_full`], if other data takes `beside` bytes of the budget.
    #[inline]
    pub fn is_full_beside(&mut self, limit: usize, beside: usize) -> bool {
        let budget = self.budget.saturating_sub(beside);
        let limit = limit.min(budget);
        // Keep a quarter more if the budget allows it: segments differ in their needs, and returning memory
        // is slow.
        self.store.keep_within(limit.saturating_add(limit / 4).min(budget));
        self.bytes() >= limit || self.docs >= MOST_DOCUMENTS
    }

    /// Returns all unused memory from earlier segments to the system.
    pub fn release_unused(&mut self) {
        self.store.keep_within(0);
    }

    /// The number of tokens of the current document.
    pub fn pending_tokens(&self) -> u64 {
        self.doc_tokens
    }

    /// Enters waiting tokens into the table.
    pub fn settle(&mut self) {
        let (batch, store) = (&mut self.batch, &mut self.store);
        with_isa!(self.simd, I => match store.places.kept {
            COUNTS => batch.drain::<I, COUNTS>(store),
            POSITIONS => batch.drain::<I, POSITIONS>(store),
            _ => batch.drain::<I, OFFSETS>(store),
        });
    }

    /// Removes everything, but keeps the memory.
    pub fn clear(&mut self) {
        self.settle();
        self.batch.clear();
        self.store.clear();
        self.docs = 0;
        // Kept small, because its capacity counts as memory in use.
        self.norms.clear();
        self.norms.shrink_to(1 << 20);
        self.void.clear();
        (self.doc_tokens, self.doc_shift, self.tokens, self.with_terms) = (0, 0, 0, 0);
    }
}

impl TokenSink for Inverter {
    #[inline]
    fn tokens(&mut self, text: &[u8], base: usize, bounds: &[u16]) {
        let place = TextPlace { doc: self.docs, position: self.next_position(), origin: self.origin };
        self.doc_tokens += bounds.len() as u64 / 2;
        let (batch, store) = (&mut self.batch, &mut self.store);
        with_isa!(self.simd, I => match store.places.kept {
            COUNTS => batch.push_all::<I, COUNTS>(store, place, text, base, bounds),
            POSITIONS => batch.push_all::<I, POSITIONS>(store, place, text, base, bounds),
            _ => batch.push_all::<I, OFFSETS>(store, place, text, base, bounds),
        });
    }

    fn token(&mut self, token: &[u8], source: Range<usize>) {
        let extra = Occurrence::extra_of(source.len(), token.len());
        let start = offset(self.origin, source.start);
        let at = Occurrence { position: self.next_position(), start, extra };
        self.doc_tokens += 1;
        self.token_at(TokenPlace { doc: self.docs, at }, token);
    }

    #[inline]
    fn short_tokens(&mut self, tokens: &[ShortToken]) {
        let place = TextPlace { doc: self.docs, position: self.next_position(), origin: self.origin };
        self.doc_tokens += tokens.len() as u64;
        let gaps: u64 = tokens.iter().map(|token| u64::from(token.gap)).sum();
        self.doc_shift = self.doc_shift.wrapping_add(gaps);
        let (batch, store) = (&mut self.batch, &mut self.store);
        with_isa!(self.simd, I => match store.places.kept {
            COUNTS => batch.push_short::<I, COUNTS>(store, place, tokens),
            POSITIONS => batch.push_short::<I, POSITIONS>(store, place, tokens),
            _ => batch.push_short::<I, OFFSETS>(store, place, tokens),
        });
    }

    fn shift(&mut self, positions: i32) {
        self.doc_shift = self.doc_shift.wrapping_add_signed(positions.into());
    }
}
