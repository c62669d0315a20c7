//! The statistics of the terms of queries, which several searchers in other processes or machines add up
//! before they score.
//!
//! Each searcher finds the figures of the terms of a query in its own documents. Their sum is what a single
//! searcher over all documents would have found, so scores with it are the same. All figures are integers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::leaf::{LeafStats, TermFigures};
use crate::error::{Error, Result};
use crate::schema::Field;

/// Maximum number of terms of a fuzzy clause, as in Lucene.
pub(crate) const MAX_TERMS: usize = 50;

/// A word of a query that may be misspelt.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct FuzzyKey {
    pub(crate) field: Field,
    pub(crate) term: String,
    pub(crate) edits: u8,
    pub(crate) prefix: usize,
}

/// A term and its weight by how near it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WeightedTerm {
    #[serde(with = "serde_bytes")]
    pub(crate) term: Vec<u8>,
    /// The weight: 1 for the term itself, and less for each edit, the more so the shorter the term is. A term
    /// that has no more characters than edits has a weight of 0 or less, which counts as 0.
    pub(crate) boost: f32,
}

/// The statistics of the terms of some queries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TermStatistics {
    /// The sizes of each field that the queries search.
    fields: BTreeMap<Field, LeafStats>,
    /// The figures of each term, before fuzzy words share theirs.
    terms: BTreeMap<Field, BTreeMap<TermBytes, TermFigures>>,
    /// The nearest terms of fuzzy words, nearest first.
    near: Vec<(FuzzyKey, Vec<WeightedTerm>)>,
}

/// The bytes of a term.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct TermBytes(#[serde(with = "serde_bytes")] Vec<u8>);

impl TermStatistics {
    /// Sets the sizes of a field.
    pub(super) fn put_field(&mut self, field: Field, stats: LeafStats) {
        self.fields.insert(field, stats);
    }

    /// Sets the figures of a term.
    pub(super) fn put_term(&mut self, field: Field, term: &[u8], figures: TermFigures) {
        self.terms.entry(field).or_default().insert(TermBytes(term.to_vec()), figures);
    }

    /// Sets the nearest terms of a fuzzy word.
    pub(super) fn put_near(&mut self, word: &FuzzyKey, near: &[WeightedTerm]) {
        if self.near_of(word).is_none() {
            self.near.push((word.clone(), near.to_vec()));
        }
    }

    /// Adds the statistics of other documents for the same queries.
    pub(crate) fn join(&mut self, other: TermStatistics) {
        for (field, stats) in other.fields {
            let sum = self.fields.entry(field).or_default();
            sum.documents = sum.documents.saturating_add(stats.documents);
            sum.documents_with_terms = sum.documents_with_terms.saturating_add(stats.documents_with_terms);
            sum.total_length = sum.total_length.saturating_add(stats.total_length);
        }
        for (field, terms) in other.terms {
            let own = self.terms.entry(field).or_default();
            for (term, figures) in terms {
                let sum = own.entry(term).or_default();
                sum.doc_freq = sum.doc_freq.saturating_add(figures.doc_freq);
                sum.total_freq = sum.total_freq.saturating_add(figures.total_freq);
            }
        }
        for (word, more) in other.near {
            match self.near.iter_mut().find(|(known, _)| *known == word) {
                Some((_, near)) => join_near(near, more),
                None => self.near.push((word, more)),
            }
        }
    }

    /// The sizes of a field, if the queries search it.
    pub(super) fn field(&self, field: Field) -> Option<LeafStats> {
        self.fields.get(&field).copied()
    }

    /// The figures of a term in a field.
    pub(super) fn figures(&self, field: Field, term: &[u8]) -> Result<TermFigures> {
        let known = self.terms.get(&field).and_then(|terms| terms.get(&TermBytes(term.to_vec())));
        // A term that no document has is known, too, with figures of 0.
        known.copied().ok_or_else(|| foreign("a term"))
    }

    /// The nearest terms of a fuzzy word.
    pub(super) fn nearest(&self, word: &FuzzyKey) -> Result<Vec<WeightedTerm>> {
        self.near_of(word).cloned().ok_or_else(|| foreign("a fuzzy word"))
    }

    fn near_of(&self, word: &FuzzyKey) -> Option<&Vec<WeightedTerm>> {
        self.near.iter().find(|(known, _)| known == word).map(|(_, near)| near)
    }
}

fn foreign(what: &str) -> Error {
    let found = format!("without {what} of the query");
    Error::invalid("statistics of terms", found, "the statistics that were collected for the same query")
}

/// Adds terms to the nearest terms of a word. A term is among the nearest of all only if it is among the
/// nearest of each searcher that has it.
fn join_near(near: &mut Vec<WeightedTerm>, more: Vec<WeightedTerm>) {
    for term in more {
        if !near.iter().any(|known| known.term == term.term) {
            near.push(term);
        }
    }
    near.sort_by(|a, b| b.boost.total_cmp(&a.boost).then_with(|| a.term.cmp(&b.term)));
    near.truncate(MAX_TERMS);
}
