//! The four indexes in memory of Orhean et al., "SCANNS: Towards Scalable and Concurrent Data Indexing and
//! Searching", as the steps of a ladder from the obvious design to their best.
//!
//! All of them map a term to its document frequency (for the IDF) and to a linked list of TF nodes. A TF node
//! is a document and a frequency. The newest one comes first, so that another occurrence in the same document
//! is an increment without a walk. The indexes differ in two choices: `chained.rs` or `swiss.rs` finds the
//! term, and `heap.rs` or `arena.rs` stores keys and nodes. [`LadderIndex`] is the interface that they share
//! with the inverter of scanns.

mod arena;
mod chained;
mod heap;
mod swiss;
mod terms;

pub use terms::{LadderIndex, TermList, Visit};

use std::ops::Range;

use anyhow::Result;
use scanns::analysis::TokenSink;
use scanns::index::InvertOptions;

use arena::Arena;
use chained::Chained;
use heap::Heap;
use swiss::Swiss;
use terms::TermTable;

/// `rdtokidx-std`: a chained hash table with an allocation for each key, node and TF node.
pub fn std(options: &InvertOptions) -> Box<dyn LadderIndex> {
    Box::new(Ladder { terms: Chained::new(Heap, options.expected_terms), doc: 0 })
}

/// `rdtokidx-swiss`: a Swiss table with an allocation for each key and TF node.
pub fn swiss(options: &InvertOptions) -> Box<dyn LadderIndex> {
    Box::new(Ladder { terms: Swiss::new(Heap, options.expected_terms), doc: 0 })
}

/// `rdtokidx-std-pa`: the chained table with keys and both kinds of nodes in a paged sub-allocator.
pub fn std_pa(options: &InvertOptions) -> Result<Box<dyn LadderIndex>> {
    let arena = Arena::reserve(options.budget, options.pages)?;
    Ok(Box::new(Ladder { terms: Chained::new(arena, options.expected_terms), doc: 0 }))
}

/// `rdtokidx-swiss-pa`: the Swiss table with keys and nodes in a paged sub-allocator.
pub fn swiss_pa(options: &InvertOptions) -> Result<Box<dyn LadderIndex>> {
    let arena = Arena::reserve(options.budget, options.pages)?;
    Ok(Box::new(Ladder { terms: Swiss::new(arena, options.expected_terms), doc: 0 }))
}

/// A step of the ladder.
struct Ladder<T> {
    terms: T,
    /// The document of the next token.
    doc: u32,
}

impl<T: TermTable> TokenSink for Ladder<T> {
    fn tokens(&mut self, text: &[u8], base: usize, bounds: &[u16]) {
        for &[start, end] in bounds.as_chunks::<2>().0 {
            self.terms.count(&text[base + usize::from(start)..base + usize::from(end)], self.doc);
        }
    }

    fn token(&mut self, token: &[u8], _: Range<usize>) {
        self.terms.count(token, self.doc);
    }
}

impl<T: TermTable + Send> LadderIndex for Ladder<T> {
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
