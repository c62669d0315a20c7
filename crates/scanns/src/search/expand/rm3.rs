//! Pseudo-relevance feedback: a query is extended by terms of the documents that answer it best, and run
//! again.
//!
//! This is RM3 by Abdul-Jaleel and others (UMass at TREC 2004) with the arithmetic of Anserini's
//! `Rm3Reranker`, so that results can be compared. Each of the best documents is represented by its most
//! frequent terms, which share the score of the document by their frequencies. The terms with the highest
//! sums over all documents are mixed into the query. This module needs no index; `Snapshot::expand` provides
//! the documents.

use std::collections::{BTreeMap, HashMap};

use crate::error::{Error, Result};
use crate::query::MAX_CLAUSES;
use crate::query::{BoolQuery, Query, Term};
use crate::schema::Field;
use crate::search::similarity::narrow;

/// Expands a query by terms of the documents that it finds. The defaults are Anserini's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rm3 {
    /// The number of best documents from which terms are taken.
    pub documents: usize,
    /// The maximum number of terms of each document, and of the expansion; at most 1,024.
    pub terms: usize,
    /// The weight of the original query, from 0 to 1. The terms of documents have the rest.
    pub original_weight: f32,
    /// The number of hits among which the best documents are chosen, by score and then by key.
    pub first_pass: usize,
    /// The share of all documents, from 0 to 1, above which a term is too common to be taken.
    pub common: f32,
}

/// One of the best documents.
pub(crate) struct Answer {
    pub(crate) score: f32,
    /// The terms that [`Rm3::most_frequent`] chose, with their frequencies.
    pub(crate) terms: Vec<(Vec<u8>, f32)>,
}

impl Default for Rm3 {
    fn default() -> Self {
        Rm3 { documents: 10, terms: 10, original_weight: 0.5, first_pass: 50, common: 0.1 }
    }
}

impl Rm3 {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a parameter outside its range.
    pub fn check(&self) -> Result<()> {
        let is_share = |value: f32| (0.0..=1.0).contains(&value);
        if self.documents == 0 {
            return Err(Error::invalid("number of documents for feedback", 0, "at least 1"));
        }
        if !(1..=MAX_CLAUSES).contains(&self.terms) {
            let expected = format!("1 to {MAX_CLAUSES}");
            return Err(Error::invalid("number of terms for feedback", self.terms, expected));
        }
        if !is_share(self.original_weight) {
            return Err(Error::invalid("weight of the query in feedback", self.original_weight, "0 to 1"));
        }
        if !is_share(self.common) {
            return Err(Error::invalid("share of common terms in feedback", self.common, "0 to 1"));
        }
        Ok(())
    }

    /// The terms that represent a document with this vector: the most frequent words that `is_rare` does not
    /// call too common; equally frequent ones in the order of their bytes.
    pub(crate) fn most_frequent(
        &self,
        mut vector: Vec<(Vec<u8>, usize)>,
        mut is_rare: impl FnMut(&[u8]) -> Result<bool>,
    ) -> Result<Vec<(Vec<u8>, f32)>> {
        vector.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let mut taken = Vec::new();
        for (term, freq) in vector {
            if taken.len() == self.terms {
                break;
            }
            if is_word(&term) && is_rare(&term)? {
                taken.push((term, freq as f32));
            }
        }
        Ok(taken)
    }

    /// The query with the terms that these documents have in `field`.
    pub(crate) fn expand(&self, query: &Query, field: Field, documents: &[Answer]) -> Query {
        let (feedback, total) = (self.relevance(documents), weight_of(query));
        if feedback.is_empty() || total <= 0.0 {
            return query.clone();
        }
        let (own, others) = (f64::from(self.original_weight), 1.0 - f64::from(self.original_weight));
        let clause = |term: Query, weight: f64| (weight > LEAST).then(|| term.boosted(narrow(weight)));
        let mut bag = Bag::default();
        if !bag.take(query, 1.0) {
            // Required and excluded clauses stay as they are, and the new terms only change the order.
            let terms = feedback.into_iter();
            let should = terms
                .filter_map(|(term, weight)| clause(Query::term(field, term), others * f64::from(weight)));
            let optional = is_optional(query);
            let query = query.clone().boosted(narrow((own / f64::from(total)).max(LEAST)));
            if optional {
                return Query::any_of(std::iter::once(query).chain(should).collect());
            }
            return Query::Bool(BoolQuery {
                must: vec![query],
                should: should.collect(),
                ..BoolQuery::default()
            });
        }
        let mut feedback: HashMap<Vec<u8>, f32> = feedback.into_iter().collect();
        let mut should = Vec::new();
        for (term, weight) in bag.terms {
            let share = f64::from(weight / total);
            let more = if term.field == field { feedback.remove(&term.text).unwrap_or(0.0) } else { 0.0 };
            should.extend(clause(Query::Term(term), own * share + others * f64::from(more)));
        }
        for (term, weight) in ranked(feedback) {
            should.extend(clause(Query::term(field, term), others * f64::from(weight)));
        }
        Query::any_of(should)
    }

    /// The best terms of all documents with their probabilities, whose sum is 1.
    fn relevance(&self, documents: &[Answer]) -> Vec<(Vec<u8>, f32)> {
        let mut sums: BTreeMap<&[u8], f32> = BTreeMap::new();
        for Answer { score, terms } in documents {
            let length: f32 = terms.iter().map(|(_, freq)| freq).sum();
            for (term, freq) in terms {
                *sums.entry(term).or_default() += freq / length * score;
            }
        }
        let mut best =
            ranked(sums.into_iter().filter(|&(_, sum)| sum > 0.0).map(|(term, sum)| (term.to_vec(), sum)));
        best.truncate(self.terms);
        let total: f32 = best.iter().map(|(_, sum)| sum).sum();
        best.iter_mut().for_each(|(_, sum)| *sum /= total);
        best
    }
}

/// Clauses with a weight up to this are left out, since boosts must be positive.
const LEAST: f64 = 1e-12;

/// Sorts terms by descending weight, and then by their bytes.
fn ranked(terms: impl IntoIterator<Item = (Vec<u8>, f32)>) -> Vec<(Vec<u8>, f32)> {
    let mut terms: Vec<_> = terms.into_iter().collect();
    terms.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    terms
}

/// Whether a term consists of at most 20 letters and digits, and of more than one byte. Other terms say
/// little about a document.
fn is_word(term: &[u8]) -> bool {
    let is_word = |text: &str| text.chars().count() <= 20 && text.chars().all(char::is_alphanumeric);
    term.len() > 1 && std::str::from_utf8(term).is_ok_and(is_word)
}

/// The terms of a query that consists of optional terms only, in order, with the sums of their boosts.
#[derive(Default)]
struct Bag {
    terms: Vec<(Term, f32)>,
}

impl Bag {
    /// Adds the terms of `query`, inside boosts whose product is `boost`; false if the query contains
    /// anything else.
    fn take(&mut self, query: &Query, boost: f32) -> bool {
        match query {
            Query::Term(term) => {
                match self.terms.iter_mut().find(|(known, _)| known == term) {
                    Some((_, sum)) => *sum += boost,
                    None => self.terms.push((term.clone(), boost)),
                }
                true
            }
            Query::Boost(query, factor) => self.take(query, boost * factor),
            Query::Bool(BoolQuery { must, filter, should, must_not, at_least: 0 | 1 })
                if must.is_empty() && filter.is_empty() && must_not.is_empty() =>
            {
                should.iter().all(|query| self.take(query, boost))
            }
            _ => false,
        }
    }
}

/// Whether a query consists of optional words in one or several fields.
fn is_optional(query: &Query) -> bool {
    match query {
        Query::Term(_) => true,
        Query::Boost(..) | Query::Scored(_) => is_optional(query.unboosted()),
        Query::Best(best) => best.clauses.iter().all(is_optional),
        Query::Bool(list) => {
            let BoolQuery { must, filter, should, must_not, at_least } = list;
            *at_least <= 1
                && must.is_empty()
                && filter.is_empty()
                && must_not.is_empty()
                && should.iter().all(is_optional)
        }
        _ => false,
    }
}

/// The sum of the boosts of all clauses that add to the score; a phrase counts once for each of its words.
fn weight_of(query: &Query) -> f32 {
    match query {
        Query::Phrase(phrase) => phrase.terms.len() as f32,
        Query::Boost(query, boost) => boost * weight_of(query),
        Query::Scored(scored) => weight_of(&scored.query),
        Query::Bool(list) => list.scored().map(weight_of).sum(),
        Query::Best(best) => best.clauses.iter().map(weight_of).fold(0.0, f32::max),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(terms: &[(&str, usize)]) -> Vec<(Vec<u8>, usize)> {
        terms.iter().map(|(term, freq)| (term.as_bytes().to_vec(), *freq)).collect()
    }

    fn word(term: &str) -> Query {
        Query::term(Field::default(), term)
    }

    fn boosted(term: &str, boost: f32) -> Query {
        word(term).boosted(boost)
    }

    fn any(should: Vec<Query>) -> Query {
        Query::any_of(should)
    }

    const TWO: Rm3 = Rm3 { documents: 2, terms: 2, original_weight: 0.25, first_pass: 2, common: 0.5 };

    fn two_documents() -> [Answer; 2] {
        let all = |_: &[u8]| Ok(true);
        let first = TWO.most_frequent(terms(&[("b", 9), ("sun", 3), ("moon", 1)]), all).unwrap();
        let second = TWO.most_frequent(terms(&[("star", 2), ("sun", 2), ("x.y", 9)]), all).unwrap();
        [Answer { score: 2.0, terms: first }, Answer { score: 1.0, terms: second }]
    }

    #[test]
    fn a_document_is_represented_by_its_most_frequent_words_that_are_not_common() {
        let vector = terms(&[
            ("a", 9),
            ("the", 9),
            ("o'clock", 8),
            ("abcdefghijklmnopqrstu", 7),
            ("zeta", 2),
            ("beta", 2),
            ("grün", 3),
            ("one", 1),
        ]);
        let rm3 = Rm3 { terms: 3, ..Rm3::default() };
        let taken = rm3.most_frequent(vector, |term| Ok(term != b"the")).unwrap();
        let names: Vec<_> = taken.iter().map(|(term, _)| String::from_utf8_lossy(term)).collect();
        assert_eq!(names, ["grün", "beta", "zeta"]);
    }

    #[test]
    fn words_of_the_query_are_mixed_with_words_of_documents() {
        // sun: 2 · 3/4 + 1 · 1/2 = 2, moon: 2 · 1/4 = 1/2, star: 1/2; moon comes before star.
        let query = any(vec![boosted("sea", 3.0), word("sun")]);
        let expected = any(vec![
            boosted("sea", 0.25 * 0.75),
            boosted("sun", 0.25 * 0.25 + 0.75 * 0.8),
            boosted("moon", 0.75 * 0.2),
        ]);
        assert_eq!(TWO.expand(&query, Field::default(), &two_documents()), expected);
    }

    #[test]
    fn required_clauses_stay_required() {
        let query = Query::Bool(BoolQuery { must: vec![word("sea"), word("sun")], ..BoolQuery::default() });
        let expected = Query::Bool(BoolQuery {
            must: vec![Query::Boost(Box::new(query.clone()), 0.125)],
            should: vec![boosted("sun", 0.75 * 0.8), boosted("moon", 0.75 * 0.2)],
            ..BoolQuery::default()
        });
        assert_eq!(TWO.expand(&query, Field::default(), &two_documents()), expected);
    }

    #[test]
    fn a_query_without_answers_does_not_change() {
        for query in [word("sea"), Query::nothing()] {
            assert_eq!(TWO.expand(&query, Field::default(), &[]), query);
            assert_eq!(
                TWO.expand(
                    &query,
                    Field::default(),
                    &[Answer { score: 0.0, terms: vec![(b"sun".to_vec(), 1.0)] }]
                ),
                query
            );
        }
        assert_eq!(TWO.expand(&Query::nothing(), Field::default(), &two_documents()), Query::nothing());
    }

    #[test]
    fn parameters_outside_their_ranges_are_refused() {
        Rm3::default().check().unwrap();
        for wrong in [
            Rm3 { documents: 0, ..TWO },
            Rm3 { terms: 0, ..TWO },
            Rm3 { terms: 1025, ..TWO },
            Rm3 { original_weight: 1.5, ..TWO },
            Rm3 { original_weight: f32::NAN, ..TWO },
            Rm3 { common: -0.1, ..TWO },
        ] {
            assert!(wrong.check().is_err(), "{wrong:?}");
        }
    }
}
