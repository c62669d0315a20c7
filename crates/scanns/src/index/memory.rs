//! An index that stays in memory: built by one thread, and searchable without being written.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::index::snapshot::words::OneAnalyzer;
use crate::invert::{CHECK_EVERY, InvertOptions, Inverter};
use crate::query::{Operator, Query, parse};
use crate::record::{DocumentParts, DocumentRange};
use crate::schema::{Analyzer, Records};
use crate::search::{Leaf, LeafStats, ListSource, PositionSource, TermRef, TermStream};
use crate::tokenize::Tokenizer;

/// An inverted index in memory, without files.
///
/// Threads that index in parallel have one index each. A search covers all of them, as it does the segments
/// of an index on disk.
pub struct MemoryIndex {
    analyzer: Analyzer,
    tokenizer: Tokenizer,
    inverter: Inverter,
    keys: Vec<Box<[u8]>>,
}

impl MemoryIndex {
    /// Creates an empty index. It refuses documents once `options.budget` bytes are in use.
    pub fn new(analyzer: &Analyzer, options: &InvertOptions) -> Result<Self> {
        Ok(MemoryIndex {
            analyzer: analyzer.clone(),
            tokenizer: Tokenizer::new(analyzer),
            inverter: Inverter::new(options)?,
            keys: Vec::new(),
        })
    }

    /// Adds a document. Its bytes may be changed to lower case in place. Returns false if the document does
    /// not fit into the budget.
    pub fn add(&mut self, key: &[u8], text: &mut [u8]) -> bool {
        let all = 0..text.len();
        self.add_range(key, text, all)
    }

    /// Adds `text[range]` as a document; see [`MemoryIndex::add`].
    pub fn add_range(&mut self, key: &[u8], text: &mut [u8], range: Range<usize>) -> bool {
        if self.inverter.is_full(usize::MAX) {
            return false;
        }
        let mut parts =
            DocumentParts::new(Records::File, &self.analyzer, DocumentRange::whole(range), CHECK_EVERY / 4);
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

    /// Makes the added documents visible to searches. Call it after the last document.
    pub fn settle(&mut self) {
        self.inverter.settle();
    }

    /// Returns the inverter, which holds the postings.
    pub fn inverter(&self) -> &Inverter {
        &self.inverter
    }

    /// Returns the analyzer of the documents.
    pub fn analyzer(&self) -> &Analyzer {
        &self.analyzer
    }

    /// Parses a query and analyzes its words as the documents were analyzed.
    pub fn parse(&self, text: &str, operator: Operator) -> Result<Query> {
        parse(text, operator, &mut OneAnalyzer(&self.analyzer))
    }

    /// The handle of a term is its entry.
    fn term_ref(&self, entry: u32, doc_freq: u32) -> TermRef {
        let (_, total_freq) = self.inverter.frequencies(entry);
        TermRef { doc_freq, total_freq, handle: [u64::from(entry), 0], positions: [0; 2] }
    }

    /// Removes all documents and keeps the memory.
    pub fn clear(&mut self) {
        self.inverter.clear();
        self.keys.clear();
    }
}

/// The sorted terms of an index in memory.
struct MemoryTerms<'a> {
    index: &'a MemoryIndex,
    terms: Vec<(Vec<u8>, u32)>,
    /// The index of the current term; `None` before the first.
    at: Option<usize>,
    found: TermRef,
}

impl MemoryTerms<'_> {
    /// Moves to the first term at or after `place` that has a document.
    fn go_to(&mut self, mut place: usize) -> bool {
        while let Some(&(_, entry)) = self.terms.get(place) {
            let doc_freq = self.index.inverter.doc_freq(entry);
            if doc_freq > 0 {
                self.found = self.index.term_ref(entry, doc_freq);
                break;
            }
            place += 1;
        }
        self.at = Some(place);
        place < self.terms.len()
    }
}

impl TermStream for MemoryTerms<'_> {
    fn step(&mut self) -> Result<bool> {
        Ok(self.go_to(self.at.map_or(0, |at| at + 1)))
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        let found = self.terms.partition_point(|(term, _)| term.as_slice() < target);
        Ok(self.go_to(found.max(self.at.unwrap_or(0))))
    }

    fn term(&self) -> &[u8] {
        self.at.and_then(|at| self.terms.get(at)).map_or(&[], |(term, _)| term)
    }

    fn found(&mut self) -> Result<TermRef> {
        Ok(self.found)
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

    fn find(&self, term: &[u8]) -> Result<Option<TermRef>> {
        let found = self.inverter.find(term).map(|entry| (entry, self.inverter.doc_freq(entry)));
        let found = found.filter(|&(_, doc_freq)| doc_freq > 0);
        Ok(found.map(|(entry, doc_freq)| self.term_ref(entry, doc_freq)))
    }

    fn postings<'a>(&'a self, term: &TermRef) -> Result<ListSource<'a>> {
        let entry = u32::try_from(term.handle[0]).unwrap_or(u32::MAX);
        let (docs, tfs) = self.inverter.postings(entry);
        Ok(ListSource::Decoded { docs, tfs })
    }

    fn terms<'a>(&'a self) -> Result<Box<dyn TermStream + 'a>> {
        let mut terms = self.inverter.all_terms();
        terms.sort_unstable();
        Ok(Box::new(MemoryTerms { index: self, terms, at: None, found: TermRef::default() }))
    }

    fn positions<'a>(&'a self, term: &TermRef) -> Result<PositionSource<'a>> {
        if !self.inverter.kept().has_positions() {
            return Err(Error::NotIndexed { what: "positions" });
        }
        let entry = u32::try_from(term.handle[0]).unwrap_or(u32::MAX);
        Ok(PositionSource::Decoded(self.inverter.postings(entry).0, self.inverter.positions(entry)))
    }

    fn is_live(&self, doc: u32) -> bool {
        self.inverter.void_documents().binary_search(&doc).is_err()
    }

    fn key(&self, doc: u32) -> Result<Vec<u8>> {
        Ok(self.keys.get(doc as usize).map(|key| key.to_vec()).unwrap_or_default())
    }
}
