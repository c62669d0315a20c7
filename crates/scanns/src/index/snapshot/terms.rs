//! Queries over the fields of a snapshot, and the keys, terms and positions of its documents.

use std::collections::BTreeMap;
use std::ops::Range;

use super::distinct_terms::count_distinct;
use super::open::Snapshot;
use super::words::QueryWords;
use crate::error::Result;
use crate::query::{Operator, Query, WeightedField, parse, parse_json};
use crate::search::Hit;

impl Snapshot {
    /// Parses a query, and analyzes its words as the documents were analyzed. Words without a field name
    /// search all [default fields](crate::schema::Schema::default_fields), and the field where a word scores
    /// best decides.
    ///
    /// # Errors
    /// [`Error::Query`](crate::Error::Query) if the text is not a query or names an unknown field.
    pub fn parse(&self, text: &str, operator: Operator) -> Result<Query> {
        parse(text, operator, &mut QueryWords::new(self.schema(), &[]))
    }

    /// Like [`Snapshot::parse`], but words without a field name search `fields`, if there are any.
    pub fn parse_in(&self, fields: &[WeightedField], text: &str, operator: Operator) -> Result<Query> {
        parse(text, operator, &mut QueryWords::new(self.schema(), fields))
    }

    /// Parses a query in JSON, see [`parse_json`]. Text without a field name searches `fields`.
    pub fn parse_json_in(&self, fields: &[WeightedField], text: &str, operator: Operator) -> Result<Query> {
        parse_json(text, operator, &mut QueryWords::new(self.schema(), fields))
    }

    /// Returns the query as JSON, with the names of the fields of this index. [`Snapshot::parse_json_in`]
    /// returns the same query for this JSON if it gets the same `fields`: if there is only one, the JSON does
    /// not name it.
    ///
    /// # Errors
    /// [`Error::InvalidField`](crate::Error::InvalidField) if the query contains a field that the index does
    /// not have.
    pub fn query_json_in(&self, fields: &[WeightedField], query: &Query) -> Result<String> {
        let only = match fields {
            [WeightedField { field, weight: 1.0 }] => Some(*field),
            _ => None,
        };
        query.to_json(only, &|field| self.schema().entry(field).map(|entry| entry.name.clone()))
    }

    /// Returns the key of the document of a hit: its value in the field that is the key, if there is one, or
    /// its path, followed by `:` and the line number if documents are lines.
    pub fn key(&self, hit: &Hit) -> Result<Vec<u8>> {
        self.searcher().key(hit)
    }

    /// Returns the positions of a term in the document of a hit: the numbers, from 0, of the tokens that are
    /// this term.
    ///
    /// # Errors
    /// [`Error::NotIndexed`](crate::Error::NotIndexed) if the index has no positions,
    /// [`Error::Corrupt`](crate::Error::Corrupt) if they cannot be read.
    pub fn positions(&self, hit: &Hit, term: &[u8]) -> Result<Vec<u32>> {
        self.readable_leaf(hit).map_or(Ok(Vec::new()), |segment| segment.positions(term, hit.doc))
    }

    /// Returns the start and end of each occurrence of `term` in the text of the document of a hit, in the
    /// order of [`Snapshot::positions`]; see [`Postings::Offsets`](crate::schema::Postings::Offsets) for the
    /// units. For files, lines, and documents with one value of the field, the text is the one that
    /// [`Snapshot::document`] returns.
    ///
    /// # Errors
    /// [`Error::NotIndexed`](crate::Error::NotIndexed) if the index has no offsets,
    /// [`Error::Corrupt`](crate::Error::Corrupt) if they cannot be read.
    pub fn offsets(&self, hit: &Hit, term: &[u8]) -> Result<Vec<Range<u32>>> {
        self.readable_leaf(hit).map_or(Ok(Vec::new()), |segment| segment.offsets(term, hit.doc))
    }

    /// Returns the number of distinct terms over all segments. Reads all terms to count them.
    pub fn unique_terms(&self) -> Result<u64> {
        if self.is_view() {
            let searcher = self.searcher();
            let mut terms = searcher.terms(b"")?;
            let mut count = 0;
            while terms.advance()?.is_some() {
                count += 1;
            }
            return Ok(count);
        }
        count_distinct(self.leaves())
    }

    /// Returns the first `limit` terms that begin with `prefix`, with the number of documents that contain
    /// each.
    pub fn terms(&self, prefix: &[u8], limit: usize) -> Result<Vec<(Vec<u8>, u64)>> {
        if self.is_view() {
            let searcher = self.searcher();
            let terms = searcher.terms(prefix)?.take(limit);
            return terms.map(|term| term.map(|term| (term.term, term.doc_freq))).collect();
        }
        let mut merged = BTreeMap::<Vec<u8>, u64>::new();
        for segment in self.leaves() {
            let mut terms = segment.terms_from(prefix)?;
            let mut taken = 0;
            while taken < limit && terms.step()? && terms.term().starts_with(prefix) {
                let term = terms.term().to_vec();
                *merged.entry(term).or_default() += u64::from(terms.info().doc_freq());
                taken += 1;
            }
        }
        // A term among the first of the union is among the first of each segment that has it.
        Ok(merged.into_iter().take(limit).collect())
    }
}
