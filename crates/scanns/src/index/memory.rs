//! An index that stays in memory: built by one thread, complete and searchable in place.

use std::ops::Range;

use crate::error::Result;
use crate::invert::{CHECK_EVERY, InvertOptions, Inverter};
use crate::record::Parts;
use crate::schema::{Analyzer, Records};
use crate::search::{Leaf, LeafStats, ListSource, Operator, Query, TermRef, parse};
use crate::tokenize::Tokenizer;

/// Documents, their terms and postings, without any file.
///
/// Threads that index together have one each and search them together, as segments are.
pub struct MemoryIndex {
    analyzer: Analyzer,
    tokenizer: Tokenizer,
    inverter: Inverter,
    keys: Vec<Box<[u8]>>,
}

impl MemoryIndex {
    /// An empty index; documents are refused once `options.budget` bytes are taken.
    pub fn new(analyzer: &Analyzer, options: &InvertOptions) -> Result<Self> {
        Ok(MemoryIndex {
            analyzer: analyzer.clone(),
            tokenizer: Tokenizer::new(analyzer),
            inverter: Inverter::new(options)?,
            keys: Vec::new(),
        })
    }

    /// Adds a document, whose bytes may be lower-cased in place; false if it does not fit into the budget any more.
    pub fn add(&mut self, key: &[u8], text: &mut [u8]) -> bool {
        let all = 0..text.len();
        self.add_range(key, text, all)
    }

    /// Adds `text[range]` as a document; see [`MemoryIndex::add`].
    pub fn add_range(&mut self, key: &[u8], text: &mut [u8], range: Range<usize>) -> bool {
        if self.inverter.is_full(usize::MAX) {
            return false;
        }
        let mut parts = Parts::new(Records::File, &self.analyzer, range, (false, true), CHECK_EVERY / 4);
        while let Some(part) = parts.step(text) {
            self.tokenizer.run(text, part.range, &mut self.inverter);
            if !part.closes && self.inverter.is_full(usize::MAX) {
                self.inverter.void_document();
                self.inverter.settle();
                self.keys.push(key.into());
                return false;
            }
        }
        self.inverter.end_document();
        self.keys.push(key.into());
        true
    }

    /// Makes what was added visible to searches; to be called after the last document.
    pub fn settle(&mut self) {
        self.inverter.settle();
    }

    /// The postings.
    pub fn inverter(&self) -> &Inverter {
        &self.inverter
    }

    /// How terms are found.
    pub fn analyzer(&self) -> &Analyzer {
        &self.analyzer
    }

    /// Parses a query whose words are analyzed as the documents were.
    pub fn parse(&self, text: &str, operator: Operator) -> Result<Query> {
        let mut tokenizer = Tokenizer::new(&self.analyzer);
        parse(text, operator, |word| tokenizer.terms(word))
    }

    /// Forgets all documents and keeps the memory.
    pub fn clear(&mut self) {
        self.inverter.clear();
        self.keys.clear();
    }
}

impl Leaf for MemoryIndex {
    fn max_doc(&self) -> u32 {
        self.inverter.max_doc()
    }

    fn norms(&self) -> Result<&[u8]> {
        Ok(self.inverter.norms())
    }

    fn stats(&self) -> LeafStats {
        LeafStats {
            documents: u64::from(self.inverter.max_doc()) - self.inverter.void_documents().len() as u64,
            documents_with_terms: self.inverter.documents_with_terms(),
            total_length: self.inverter.tokens(),
        }
    }

    /// The handle is the entry of the term.
    fn find(&self, term: &[u8]) -> Result<Option<TermRef>> {
        let found = self.inverter.find(term).map(|entry| {
            let (doc_freq, total_freq) = self.inverter.frequencies(entry);
            TermRef { doc_freq, total_freq, handle: [u64::from(entry), 0] }
        });
        Ok(found.filter(|term| term.doc_freq > 0))
    }

    fn postings<'a>(&'a self, term: &TermRef) -> Result<ListSource<'a>> {
        let entry = u32::try_from(term.handle[0]).unwrap_or(u32::MAX);
        let (docs, tfs) = self.inverter.postings(entry);
        Ok(ListSource::Decoded { docs, tfs })
    }

    fn is_live(&self, doc: u32) -> bool {
        self.inverter.void_documents().binary_search(&doc).is_err()
    }

    fn key(&self, doc: u32) -> Result<Vec<u8>> {
        Ok(self.keys.get(doc as usize).map(|key| key.to_vec()).unwrap_or_default())
    }
}
