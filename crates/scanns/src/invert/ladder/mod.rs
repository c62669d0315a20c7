//! Four indexes in memory to measure ours by, after Orhean et al., "SCANNS: Towards Scalable and Concurrent Data
//! Indexing and Searching": each step of a ladder from the obvious design to their best.
//!
//! All map a term to its document frequency (for the IDF) and a linked list of TF nodes, a document and a frequency
//! each, the newest first, so that another occurrence in the same document is an increment without a walk. They
//! differ in two choices: `chained.rs` or `swiss.rs` finds the term, `heap.rs` or `arena.rs` is the memory for keys
//! and nodes. [`LadderIndex`] is what they have in common with ours.

mod arena;
mod chained;
mod heap;
mod swiss;

use std::ops::Range;

use super::{InvertOptions, Inverter};
use crate::error::Result;
use crate::tokenize::TokenSink;

use arena::Arena;
use chained::Chained;
use heap::Heap;
use swiss::Swiss;

/// An index of terms in memory, with frequencies.
///
/// Documents have the numbers 0, 1, 2 and so on, in the order in which they end.
pub trait LadderIndex: TokenSink + Send {
    /// Ends the current document; the next token belongs to the next one.
    fn end_document(&mut self);

    /// True once the memory is used up; to be asked at least every [`CHECK_EVERY`](super::CHECK_EVERY) bytes of text.
    fn is_full(&mut self) -> bool;

    /// To be called after the last document, before [`LadderIndex::visit`].
    ///
    /// # Errors
    /// Where the memory did not suffice for all tokens.
    fn finish(&mut self) -> Result<()>;

    /// Visits every term, in no particular order.
    fn visit(&self, visit: Visit<'_>);
}

/// What [`LadderIndex::visit`] calls.
pub type Visit<'a> = &'a mut dyn FnMut(TermList<'_>);

/// A term with its postings.
#[derive(Clone, Copy, Debug)]
pub struct TermList<'a> {
    /// The term.
    pub term: &'a [u8],
    /// The number of documents with the term, as the index has it.
    pub doc_freq: u32,
    /// Documents, ascending, and how often each has the term.
    pub postings: &'a [(u32, u32)],
}

impl TokenSink for &mut (dyn LadderIndex + '_) {
    fn tokens(&mut self, text: &[u8], base: usize, bounds: &[u16]) {
        (**self).tokens(text, base, bounds);
    }

    fn token(&mut self, token: &[u8], source: Range<usize>) {
        (**self).token(token, source);
    }
}

impl LadderIndex for Inverter {
    fn end_document(&mut self) {
        Inverter::end_document(self);
    }

    fn is_full(&mut self) -> bool {
        Inverter::is_full(self, usize::MAX)
    }

    fn finish(&mut self) -> Result<()> {
        self.settle();
        Ok(())
    }

    fn visit(&self, visit: Visit<'_>) {
        let mut list = Vec::new();
        for number in 0..self.store.terms.len {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            list.clear();
            self.with_postings(number, |postings| list.extend(postings));
            let doc_freq = u32::try_from(list.len()).unwrap_or(u32::MAX);
            self.store.terms.with_bytes(number, |term| visit(TermList { term, doc_freq, postings: &list }));
        }
    }
}

/// `rdtokidx-std`: chained hash table, an allocation for each key, node and TF node.
pub fn std(options: &InvertOptions) -> Box<dyn LadderIndex> {
    Box::new(Ladder { terms: Chained::new(Heap, options.expected_terms), doc: 0 })
}

/// `rdtokidx-swiss`: Swiss table, an allocation for each key and TF node.
pub fn swiss(options: &InvertOptions) -> Box<dyn LadderIndex> {
    Box::new(Ladder { terms: Swiss::new(Heap, options.expected_terms), doc: 0 })
}

/// `rdtokidx-std-pa`: the chained table with keys and nodes of both kinds in a paged sub-allocator.
pub fn std_pa(options: &InvertOptions) -> Result<Box<dyn LadderIndex>> {
    let arena = Arena::reserve(options.budget, options.pages)?;
    Ok(Box::new(Ladder { terms: Chained::new(arena, options.expected_terms), doc: 0 }))
}

/// `rdtokidx-swiss-pa`: the Swiss table with keys and nodes in a paged sub-allocator.
pub fn swiss_pa(options: &InvertOptions) -> Result<Box<dyn LadderIndex>> {
    let arena = Arena::reserve(options.budget, options.pages)?;
    Ok(Box::new(Ladder { terms: Swiss::new(arena, options.expected_terms), doc: 0 }))
}

/// Terms that are found by their bytes, and counted.
trait Terms {
    /// Counts an occurrence of `token` in `doc`.
    fn count(&mut self, token: &[u8], doc: u32);

    /// An error if something was not counted.
    fn check(&self) -> Result<()>;

    /// Visits every term.
    fn visit(&self, visit: Visit<'_>);
}

/// Where keys and lists of TF nodes live. What finds no room is left out, and [`Memory::check`] tells.
trait Memory {
    /// A key that is kept.
    type Key;
    /// The document frequency of a term, and its TF nodes.
    type List: Default;

    /// Keeps a copy of `key`.
    fn keep(&mut self, key: &[u8]) -> Option<Self::Key>;

    /// The bytes of a key.
    fn bytes<'a>(&'a self, key: &'a Self::Key) -> &'a [u8];

    /// Counts an occurrence in `doc`.
    fn count(&mut self, list: &mut Self::List, doc: u32);

    /// Puts the postings of a list into `postings`, the newest first; returns the document frequency.
    fn read(&self, list: &Self::List, postings: &mut Vec<(u32, u32)>) -> u32;

    /// An error if something found no room.
    fn check(&self) -> Result<()>;

    /// Calls `visit` with a term; `postings` is room to be used again.
    fn show(&self, key: &Self::Key, list: &Self::List, postings: &mut Vec<(u32, u32)>, visit: Visit<'_>) {
        postings.clear();
        let doc_freq = self.read(list, postings);
        postings.reverse();
        visit(TermList { term: self.bytes(key), doc_freq, postings });
    }
}

/// A step of the ladder.
struct Ladder<T> {
    terms: T,
    /// The document that tokens now go to.
    doc: u32,
}

impl<T: Terms> TokenSink for Ladder<T> {
    fn tokens(&mut self, text: &[u8], base: usize, bounds: &[u16]) {
        for &[start, end] in bounds.as_chunks::<2>().0 {
            self.terms.count(&text[base + usize::from(start)..base + usize::from(end)], self.doc);
        }
    }

    fn token(&mut self, token: &[u8], _: Range<usize>) {
        self.terms.count(token, self.doc);
    }
}

impl<T: Terms + Send> LadderIndex for Ladder<T> {
    fn end_document(&mut self) {
        self.doc += 1;
    }

    fn is_full(&mut self) -> bool {
        self.terms.check().is_err()
    }

    fn finish(&mut self) -> Result<()> {
        self.terms.check()
    }

    fn visit(&self, visit: Visit<'_>) {
        self.terms.visit(visit);
    }
}
