//! More like this: the most telling terms of a document become a query for similar documents.
//!
//! Terms are chosen by frequency times inverse document frequency, as in Lucene's `MoreLikeThis`. This module
//! needs no index; `Snapshot::like` provides the document.

use crate::error::{Error, Result};
use crate::query::{MAX_CLAUSES, Query};
use crate::schema::Field;
use crate::search::similarity::narrow;

/// Selects the terms of a document that are used to find similar documents.
///
/// The defaults leave out only terms that cannot help: a term of a single document finds only that document.
/// Lucene's defaults are two occurrences and five documents. They suit long documents, but leave few terms of
/// a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoreLikeThis {
    /// The minimum number of occurrences of a term in the document.
    pub min_term_freq: u32,
    /// The minimum number of documents that contain a term.
    pub min_doc_freq: u64,
    /// The maximum number of documents that contain a term; `None` for any number.
    pub max_doc_freq: Option<u64>,
    /// The maximum number of terms, the most telling first; at most 1,024.
    pub max_terms: usize,
    /// Whether terms are weighted by how telling they are; the first term has weight 1. Otherwise all terms
    /// have the same weight.
    pub boosted: bool,
}

impl Default for MoreLikeThis {
    fn default() -> Self {
        MoreLikeThis { min_term_freq: 1, min_doc_freq: 2, max_doc_freq: None, max_terms: 25, boosted: false }
    }
}

impl MoreLikeThis {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if `max_terms` is 0 or greater than 1,024.
    pub fn check(&self) -> Result<()> {
        if (1..=MAX_CLAUSES).contains(&self.max_terms) {
            return Ok(());
        }
        Err(Error::invalid("number of terms to search with", self.max_terms, format!("1 to {MAX_CLAUSES}")))
    }

    /// A query for any of the chosen terms of a document; `terms` are its terms with their frequencies.
    /// `documents` is the number of documents in the index, counted as `doc_freq` counts them. Without a
    /// suitable term the query matches nothing.
    pub(crate) fn query(
        &self,
        field: Field,
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
        let clause = |(score, term): (f32, Vec<u8>)| {
            let clause = Query::term(field, term);
            if self.boosted { clause.boosted(score / best) } else { clause }
        };
        Ok(Query::any_of(scored.into_iter().map(clause).collect()))
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
        match options.query(Field::default(), vector, 100, doc_freq).unwrap() {
            Query::Bool(list) => list.should,
            other => panic!("{other:?}"),
        }
    }

    const TERMS: [(&str, usize, u64); 5] =
        [("the", 3, 100), ("only", 9, 1), ("rare", 2, 3), ("some", 2, 40), ("once", 1, 3)];

    #[test]
    fn the_most_telling_terms_come_first() {
        let word = |term: &str| Query::term(Field::default(), term);
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
        assert_eq!(query(&bounds, &TERMS), [Query::term(Field::default(), b"some")]);
        let none = MoreLikeThis { min_term_freq: 10, ..bounds };
        assert_eq!(query(&none, &TERMS), []);
        assert!(MoreLikeThis { max_terms: 0, ..bounds }.check().is_err());
        assert!(MoreLikeThis { max_terms: 1025, ..bounds }.check().is_err());
        bounds.check().unwrap();
    }
}
