//! More like this: the terms that say most of a document become a query for others like it.
//!
//! As Lucene's `MoreLikeThis` chooses them, by frequency times inverse document frequency. Here is what needs no index;
//! `Snapshot::like` brings the document.

use super::parse::MAX_CLAUSES;
use super::query::{BoolQuery, Query};
use super::similarity::narrow;
use crate::error::{Error, Result};

/// Which terms of a document are taken to find others like it.
///
/// The defaults leave out only what can find nothing: a term of a single document finds that one alone. Lucene asks for
/// two occurrences and five documents, which suits long documents and leaves little of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoreLikeThis {
    /// How often a term must occur in the document.
    pub min_term_freq: u32,
    /// How many documents must have it.
    pub min_doc_freq: u64,
    /// How many documents may have it; `None` for all.
    pub max_doc_freq: Option<u64>,
    /// How many terms are taken, those first that say most; at most 1,024.
    pub max_terms: usize,
    /// Whether each weighs by how much it says, the first one 1; else all weigh the same.
    pub boosted: bool,
}

impl Default for MoreLikeThis {
    fn default() -> Self {
        MoreLikeThis { min_term_freq: 1, min_doc_freq: 2, max_doc_freq: None, max_terms: 25, boosted: false }
    }
}

impl MoreLikeThis {
    /// An error if a figure is outside its range.
    pub fn check(&self) -> Result<()> {
        match (1..=MAX_CLAUSES).contains(&self.max_terms) {
            true => Ok(()),
            false => {
                let message = format!("1 to {MAX_CLAUSES} terms can be taken, not {}", self.max_terms);
                Err(Error::Options(message))
            }
        }
    }

    /// Optional terms of a document that has these as often, in an index of so many documents, counted as `doc_freq` does;
    /// nothing if none will do.
    pub(crate) fn query(
        &self,
        terms: Vec<(Vec<u8>, usize)>,
        documents: u64,
        mut doc_freq: impl FnMut(&[u8]) -> Result<u64>,
    ) -> Result<Query> {
        let mut scored = Vec::new();
        for (term, freq) in terms.into_iter().filter(|(_, freq)| *freq >= self.min_term_freq as usize) {
            let found = doc_freq(&term)?;
            if found >= self.min_doc_freq.max(1) && self.max_doc_freq.is_none_or(|most| found <= most) {
                let idf = ((documents as f64 + 1.0) / (found as f64 + 1.0)).ln() + 1.0;
                scored.push((freq as f32 * narrow(idf), term));
            }
        }
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        scored.truncate(self.max_terms);
        let best = scored.first().map_or(1.0, |first| first.0);
        let clause = |(score, term)| match self.boosted {
            true => Query::Boost(Box::new(Query::Term(term)), score / best),
            false => Query::Term(term),
        };
        Ok(Query::Bool(BoolQuery {
            should: scored.into_iter().map(clause).collect(),
            ..BoolQuery::default()
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The query of a document, in an index of 100 documents.
    fn query(options: &MoreLikeThis, terms: &[(&str, usize, u64)]) -> Vec<Query> {
        let vector = terms.iter().map(|(term, freq, _)| (term.as_bytes().to_vec(), *freq)).collect();
        let doc_freq = |term: &[u8]| {
            Ok(terms.iter().find(|known| known.0.as_bytes() == term).map_or(0, |known| known.2))
        };
        match options.query(vector, 100, doc_freq).unwrap() {
            Query::Bool(list) => list.should,
            other => panic!("{other:?}"),
        }
    }

    const TERMS: [(&str, usize, u64); 5] =
        [("the", 3, 100), ("only", 9, 1), ("rare", 2, 3), ("some", 2, 40), ("once", 1, 3)];

    #[test]
    fn terms_that_say_most_come_first() {
        let word = |term: &str| Query::Term(term.into());
        // 2 · (ln(101 / 4) + 1) = 8.46, half of that, 2 · (ln(101 / 41) + 1) = 3.80, 3 · (ln 1 + 1) = 3.
        let names = ["rare", "once", "some", "the"];
        assert_eq!(query(&MoreLikeThis::default(), &TERMS), names.map(word));
        let two = MoreLikeThis { max_terms: 2, boosted: true, ..MoreLikeThis::default() };
        let boosted = |term: &str, boost| Query::Boost(Box::new(word(term)), boost);
        assert_eq!(query(&two, &TERMS), [boosted("rare", 1.0), boosted("once", 0.5)]);
    }

    #[test]
    fn terms_outside_the_bounds_are_left_out() {
        let bounds = MoreLikeThis {
            min_term_freq: 2,
            min_doc_freq: 4,
            max_doc_freq: Some(50),
            ..MoreLikeThis::default()
        };
        assert_eq!(query(&bounds, &TERMS), [Query::Term(b"some".to_vec())]);
        let none = MoreLikeThis { min_term_freq: 10, ..bounds };
        assert_eq!(query(&none, &TERMS), []);
        assert!(MoreLikeThis { max_terms: 0, ..bounds }.check().is_err());
        assert!(MoreLikeThis { max_terms: 1025, ..bounds }.check().is_err());
        bounds.check().unwrap();
    }
}
