//! Tokens to postings in memory: a term table and chains of postings, one set per index thread, nothing shared.
//!
//! [`Inverter`] takes tokens as a [`TokenSink`] and can be searched in place or drained in term order into a
//! segment. Read `batch.rs` first: the hot loop, with the most frequent terms in `hot.rs` ahead of it. `table.rs` finds
//! terms, `entry.rs` says what a term costs, `chunks.rs` holds what is known of it beyond the latest document, which
//! `postings.rs` reads, `positions.rs` where it stands, if positions or offsets are asked for; for a flush `sort.rs` orders it all and
//! `drain.rs` goes through it, and `open.rs` carries a document over that has not ended. `ladder/` has four older designs
//! to measure ours by.

mod arch;
mod batch;
mod chunks;
mod drain;
mod entry;
mod hot;
pub(crate) mod ladder;
mod open;
mod positions;
mod postings;
mod sort;
mod store;
mod table;

use std::ops::Range;

use crate::codec::{Occurrence, length_to_norm};
use crate::error::Result;
use crate::schema::Postings;
use crate::sys::{PageSize, Simd};
use crate::tokenize::TokenSink;

use arch::portable::Portable;
#[cfg(target_arch = "x86_64")]
use arch::x86::{Avx2, Avx512};
use batch::{Batch, offset};
pub use positions::Deltas;
use positions::{COUNTS, OFFSETS, POSITIONS};
pub use postings::PostingsIter;
use store::{Spot, Store};

/// Memory that one inverter may take, and how.
#[derive(Clone, Copy, Debug)]
pub struct InvertOptions {
    /// Bytes after which [`Inverter::is_full`] says so, whatever its limit.
    pub budget: usize,
    /// Distinct terms to make room for at once.
    pub expected_terms: usize,
    /// Pages that back the memory.
    pub pages: PageSize,
    /// What is kept of a term in a document.
    pub postings: Postings,
}

impl Default for InvertOptions {
    fn default() -> Self {
        InvertOptions {
            budget: 1 << 30,
            expected_terms: 0,
            pages: PageSize::Auto,
            postings: Postings::default(),
        }
    }
}

/// Text that may be pushed between two looks at [`Inverter::is_full`].
pub const CHECK_EVERY: usize = 256 << 10;

/// Room beyond the budget for what [`CHECK_EVERY`] bytes can add: the address space is there, the budget says when
/// to stop.
const SLACK: usize = 64 << 20;

/// Documents after which an index is full: 2^31, less what [`CHECK_EVERY`] bytes of empty lines can add.
const MOST_DOCUMENTS: u32 = (1 << 31) - (1 << 18);

/// Takes one line of `$call` per instruction set, `I` being its type.
macro_rules! with_isa {
    ($simd:expr, $I:ident => $call:expr) => {
        match $simd {
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512 => {
                type $I = Avx512;
                #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,avx2,aes,bmi1,bmi2,popcnt")]
                unsafe fn on<R>(run: impl FnOnce() -> R) -> R {
                    run()
                }
                // SAFETY: `Simd::available` gave this value only after the features were detected.
                unsafe {
                    on(
                        #[inline(always)]
                        || $call,
                    )
                }
            }
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 => {
                type $I = Avx2;
                #[target_feature(enable = "avx2,aes,bmi1,bmi2,popcnt")]
                unsafe fn on<R>(run: impl FnOnce() -> R) -> R {
                    run()
                }
                // SAFETY: as above.
                unsafe {
                    on(
                        #[inline(always)]
                        || $call,
                    )
                }
            }
            _ => {
                type $I = Portable;
                // SAFETY: the portable code needs no instructions beyond the base.
                unsafe { $call }
            }
        }
    };
}

/// An inverted index of one thread, growing in memory.
pub struct Inverter {
    simd: Simd,
    store: Store,
    batch: Batch,
    budget: usize,
    kept: Postings,
    /// Documents ended, void ones included.
    docs: u32,
    /// Length of each document, as its norm byte.
    norms: Vec<u8>,
    /// Documents that are void, ascending.
    void: Vec<u32>,
    /// Where the text at hand begins in its document.
    origin: u64,
    /// Tokens of the document at hand.
    doc_tokens: u64,
    /// Positions of it that hold no token, less tokens that stand where the one before does; modulo 2⁶⁴.
    doc_shift: u64,
    /// Tokens of all documents that are not void.
    tokens: u64,
    /// Documents with at least one token, void ones not counted.
    with_terms: u64,
}

impl Inverter {
    /// An empty index on the best instruction set of this machine.
    pub fn new(options: &InvertOptions) -> Result<Self> {
        Self::with_simd(options, Simd::detect())
    }

    /// An empty index that uses exactly `simd`.
    pub fn with_simd(options: &InvertOptions, simd: Simd) -> Result<Self> {
        Ok(Inverter {
            simd,
            store: Store::new(
                options.expected_terms,
                options.budget + SLACK,
                options.pages,
                options.postings,
            )?,
            batch: Batch::new(),
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

    /// The document that tokens now go to.
    #[inline]
    pub fn current_document(&self) -> u32 {
        self.docs
    }

    /// What follows is text whose first byte is byte `origin` of its document, or of its field there, modulo 2⁶⁴: ranges
    /// of text need not begin at its first byte. This holds until the next call, and matters where offsets are kept.
    #[inline]
    pub fn text_begins(&mut self, origin: u64) {
        self.origin = origin;
    }

    /// Position of the next token; from 2^32 - 1 on, positions are that.
    #[inline(always)]
    fn next_position(&self) -> u32 {
        u32::try_from(self.doc_tokens.wrapping_add(self.doc_shift)).unwrap_or(u32::MAX)
    }

    /// Adds one token, which is not counted.
    #[inline]
    fn token_at(&mut self, spot: Spot, token: &[u8]) {
        let (batch, store) = (&mut self.batch, &mut self.store);
        with_isa!(self.simd, I => match store.places.kept {
            COUNTS => batch.push_one::<I, COUNTS>(store, spot, token),
            POSITIONS => batch.push_one::<I, POSITIONS>(store, spot, token),
            _ => batch.push_one::<I, OFFSETS>(store, spot, token),
        });
    }

    /// Ends the current document; the next token belongs to the next one.
    #[inline]
    pub fn end_document(&mut self) {
        self.norms.push(length_to_norm(self.doc_tokens));
        self.docs += 1;
        self.with_terms += u64::from(self.doc_tokens > 0);
        self.tokens += self.doc_tokens;
        (self.doc_tokens, self.doc_shift) = (0, 0);
    }

    /// Ends the current document and makes it void: it keeps its number and is in no posting, count or statistic.
    pub fn void_document(&mut self) {
        self.void.push(self.current_document());
        self.norms.push(0);
        self.docs += 1;
        (self.doc_tokens, self.doc_shift) = (0, 0);
    }

    /// What is kept of a term in a document.
    pub fn kept(&self) -> Postings {
        self.kept
    }

    /// Documents so far, void ones included.
    pub fn max_doc(&self) -> u32 {
        self.current_document()
    }

    /// The documents that are void, ascending.
    pub fn void_documents(&self) -> &[u32] {
        &self.void
    }

    /// One norm byte per document.
    pub fn norms(&self) -> &[u8] {
        &self.norms
    }

    /// The same, taken out for a flush; [`Inverter::drain_sorted`] follows.
    pub fn take_norms(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.norms)
    }

    /// Tokens of all documents, void ones not counted.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Documents with at least one term.
    pub fn documents_with_terms(&self) -> u64 {
        self.with_terms
    }

    /// Distinct terms so far, those of void documents included.
    pub fn terms(&mut self) -> usize {
        self.settle();
        self.store.terms.len
    }

    /// Bytes of memory taken.
    pub fn bytes(&self) -> usize {
        self.store.bytes() + self.norms.capacity() + self.void.capacity() * 4
    }

    /// Bytes of memory taken, with what is kept of earlier segments.
    pub fn resident(&self) -> usize {
        self.store.resident() + self.norms.capacity() + self.void.capacity() * 4
    }

    /// True when `limit` bytes, or all of the budget, are used up and the index should be flushed.
    ///
    /// Memory kept from what was flushed before is given back here, if it would not fit beside what is used now.
    #[inline]
    pub fn is_full(&mut self, limit: usize) -> bool {
        self.is_full_beside(limit, 0)
    }

    /// The same where something else takes `beside` bytes of the budget.
    #[inline]
    pub fn is_full_beside(&mut self, limit: usize, beside: usize) -> bool {
        let budget = self.budget.saturating_sub(beside);
        let limit = limit.min(budget);
        // A quarter more, where the budget has it: segments differ in what they need more of, and giving back is dear.
        self.store.keep_within(limit.saturating_add(limit / 4).min(budget));
        self.bytes() >= limit || self.docs >= MOST_DOCUMENTS
    }

    /// Gives all memory back that is kept of earlier segments and not used now.
    pub fn release_unused(&mut self) {
        self.store.keep_within(0);
    }

    /// Tokens of the document at hand.
    pub fn pending_tokens(&self) -> u64 {
        self.doc_tokens
    }

    /// Brings waiting tokens into the table.
    pub fn settle(&mut self) {
        let (batch, store) = (&mut self.batch, &mut self.store);
        with_isa!(self.simd, I => match store.places.kept {
            COUNTS => batch.drain::<I, COUNTS>(store),
            POSITIONS => batch.drain::<I, POSITIONS>(store),
            _ => batch.drain::<I, OFFSETS>(store),
        });
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.settle();
        self.batch.clear();
        self.store.clear();
        self.docs = 0;
        // Kept small: its capacity counts as memory in use.
        self.norms.clear();
        self.norms.shrink_to(1 << 20);
        self.void.clear();
        (self.doc_tokens, self.doc_shift, self.tokens, self.with_terms) = (0, 0, 0, 0);
    }

    /// The entry of `term`, if it was ever seen.
    ///
    /// Only ended documents and settled tokens are seen here and below: call [`Inverter::settle`] after the last.
    pub fn find(&self, term: &[u8]) -> Option<u32> {
        let (batch, store) = (&self.batch, &self.store);
        with_isa!(self.simd, I => batch.look_up::<I>(store, term))
    }

    fn with_postings<R>(&self, entry: u32, take: impl FnOnce(&mut PostingsIter<'_>) -> R) -> R {
        let entry = self.store.terms.entries[entry as usize];
        let mut parts = Vec::new();
        self.store.chunks.parts(entry.tail, &mut parts);
        let last = (entry.doc, entry.term_freq);
        take(&mut PostingsIter::new(&self.store.chunks, &parts, last, self.max_doc(), &self.void))
    }

    /// Documents with the term of an entry that [`Inverter::find`] gave.
    pub fn doc_freq(&self, entry: u32) -> u32 {
        self.with_postings(entry, |postings| u32::try_from(postings.count()).unwrap_or(u32::MAX))
    }

    /// The same, and how often the term occurs in all of them.
    pub fn frequencies(&self, entry: u32) -> (u32, u64) {
        let add = |(docs, total): (u32, u64), (_, freq)| (docs.saturating_add(1), total + u64::from(freq));
        self.with_postings(entry, |postings| postings.fold((0, 0), add))
    }

    /// Positions of the term of an entry in each of its documents, in their order; none if they are not kept.
    pub fn positions(&self, entry: u32) -> Vec<Vec<u32>> {
        let occurrences = self.occurrences(entry).into_iter();
        occurrences.map(|all| all.iter().map(|at| at.position).collect()).collect()
    }

    /// The same with all that is kept of each occurrence.
    pub fn occurrences(&self, entry: u32) -> Vec<Vec<Occurrence>> {
        let mut parts = Vec::new();
        let Some(mut deltas) = self.store.places.deltas(entry, &self.store.chunks, &mut parts) else {
            return Vec::new();
        };
        self.with_postings(entry, |postings| {
            let mut all = Vec::new();
            while let Some(((_, freq), live)) = postings.next_of_all() {
                let mut before = Occurrence::default();
                let occurrences = (0..freq).map(|_| {
                    before = deltas.next_occurrence().after(before);
                    before
                });
                let occurrences = occurrences.collect();
                if live {
                    all.push(occurrences);
                }
            }
            all
        })
    }

    /// All terms that were ever seen, with their entries, in no order.
    pub fn all_terms(&self) -> Vec<(Vec<u8>, u32)> {
        let entries = 0..u32::try_from(self.store.terms.len).unwrap_or(u32::MAX);
        entries.map(|entry| (self.store.terms.with_bytes(entry, <[u8]>::to_vec), entry)).collect()
    }

    /// Documents and frequencies of the term of an entry, in two lists.
    pub fn postings(&self, entry: u32) -> (Vec<u32>, Vec<u32>) {
        self.with_postings(entry, |postings| postings.unzip())
    }
}

impl TokenSink for Inverter {
    #[inline]
    fn tokens(&mut self, text: &[u8], base: usize, bounds: &[u16]) {
        let spot = (self.docs, self.next_position(), self.origin);
        self.doc_tokens += bounds.len() as u64 / 2;
        let (batch, store) = (&mut self.batch, &mut self.store);
        with_isa!(self.simd, I => match store.places.kept {
            COUNTS => batch.push_all::<I, COUNTS>(store, spot, text, base, bounds),
            POSITIONS => batch.push_all::<I, POSITIONS>(store, spot, text, base, bounds),
            _ => batch.push_all::<I, OFFSETS>(store, spot, text, base, bounds),
        });
    }

    fn token(&mut self, token: &[u8], source: Range<usize>) {
        let extra = Occurrence::extra_of(source.len(), token.len());
        let start = offset(self.origin, source.start);
        let at = Occurrence { position: self.next_position(), start, extra };
        self.doc_tokens += 1;
        self.token_at((self.docs, at), token);
    }

    fn shift(&mut self, positions: i32) {
        self.doc_shift = self.doc_shift.wrapping_add_signed(positions.into());
    }
}

#[cfg(test)]
mod tests;
