//! The interfaces of the ladder: an index in memory, its table of terms, and the storage behind it.

use std::ops::Range;

use anyhow::Result;
use scanns::analysis::TokenSink;
use scanns::internals::Inverter;

/// An index of terms in memory, with frequencies.
///
/// Documents have the numbers 0, 1, 2 and so on, in the order in which they end.
pub trait LadderIndex: TokenSink + Send {
    /// Ends the current document; the next token belongs to the next one.
    fn end_document(&mut self);

    /// True once the memory is used up. Must be called at least every
    /// [`CHECK_EVERY`](scanns::internals::CHECK_EVERY) bytes of text.
    fn is_full(&mut self) -> bool;

    /// Must be called after the last document, before [`LadderIndex::visit`].
    ///
    /// # Errors
    /// If there was not enough memory for all tokens.
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
    /// The number of documents that contain the term, as stored in the index.
    pub doc_freq: u32,
    /// Documents in ascending order, each with the frequency of the term.
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
        for (term, entry) in self.all_terms() {
            let (docs, freqs) = self.postings(entry);
            let postings: Vec<_> = docs.into_iter().zip(freqs).collect();
            let doc_freq = u32::try_from(postings.len()).unwrap_or(u32::MAX);
            visit(TermList { term: &term, doc_freq, postings: &postings });
        }
    }
}

/// A table that finds terms by their bytes and counts them.
pub(super) trait TermTable {
    /// Counts an occurrence of `token` in `doc`.
    fn count(&mut self, token: &[u8], doc: u32);

    /// Returns an error if an occurrence was not counted.
    fn check(&self) -> Result<()>;

    /// Visits every term.
    fn visit(&self, visit: Visit<'_>);
}

/// Storage of keys and lists of TF nodes. If it is full, it leaves out items, and [`Storage::check`] reports
/// that.
pub(super) trait Storage {
    /// A stored key.
    type Key;
    /// The document frequency of a term, and its TF nodes.
    type List: Default;

    /// Stores a copy of `key`.
    fn keep(&mut self, key: &[u8]) -> Option<Self::Key>;

    /// The bytes of a key.
    fn bytes<'a>(&'a self, key: &'a Self::Key) -> &'a [u8];

    /// Counts an occurrence in `doc`.
    fn count(&mut self, list: &mut Self::List, doc: u32);

    /// Writes the postings of a list to `postings`, the newest first. Returns the document frequency.
    fn read(&self, list: &Self::List, postings: &mut Vec<(u32, u32)>) -> u32;

    /// Returns an error if something was left out.
    fn check(&self) -> Result<()>;

    /// Calls `visit` with a term. `postings` is memory to reuse.
    fn show(&self, key: &Self::Key, list: &Self::List, postings: &mut Vec<(u32, u32)>, visit: Visit<'_>) {
        postings.clear();
        let doc_freq = self.read(list, postings);
        postings.reverse();
        visit(TermList { term: self.bytes(key), doc_freq, postings });
    }
}
