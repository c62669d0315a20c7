//! Pseudo-relevance feedback: a query takes terms of the documents that answer it best, and is asked again.
//!
//! RM3 of Abdul-Jaleel and others (UMass at TREC 2004), in the arithmetic of Anserini's `Rm3Reranker`, so that figures
//! can be compared. Each of the best documents stands for its most frequent terms, which share its score by their
//! frequencies; the terms with most of it over all documents are mixed into the query. Here is what needs no index;
//! `Snapshot::expand` brings the documents.

use std::collections::{BTreeMap, HashMap};

use super::parse::MAX_CLAUSES;
use super::query::{BoolQuery, Query};
use super::similarity::narrow;
use crate::error::{Error, Result};
use crate::schema::Field;

/// How a query is expanded by its own answers; the defaults are those of Anserini.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rm3 {
    /// The best documents that are looked at.
    pub documents: usize,
    /// The terms that are taken of each of them, and of all of them together; at most 1,024.
    pub terms: usize,
    /// What the query itself weighs, 0 to 1; the terms of documents weigh the rest.
    pub original_weight: f32,
    /// The hits of which the best documents are the first, those with equal scores by their keys.
    pub first_pass: usize,
    /// The share of all documents, 0 to 1, above which a term is too common to be taken.
    pub common: f32,
}

/// A document that answers the query well.
pub(crate) struct Answer {
    pub(crate) score: f32,
    /// What [`Rm3::most_frequent`] left of its terms, with their frequencies.
    pub(crate) terms: Vec<(Vec<u8>, f32)>,
}

impl Default for Rm3 {
    fn default() -> Self {
        Rm3 { documents: 10, terms: 10, original_weight: 0.5, first_pass: 50, common: 0.1 }
    }
}

impl Rm3 {
    /// An error if a figure is outside its range.
    pub fn check(&self) -> Result<()> {
        let share = |value: f32| (0.0..=1.0).contains(&value);
        let why = match *self {
            Rm3 { documents: 0, .. } => "needs at least one document".to_owned(),
            Rm3 { terms, .. } if terms == 0 || terms > MAX_CLAUSES => {
                format!("takes 1 to {MAX_CLAUSES} terms, not {terms}")
            }
            Rm3 { original_weight: weight, .. } if !share(weight) => {
                format!("needs a weight of the query from 0 to 1, not {weight}")
            }
            Rm3 { common, .. } if !share(common) => {
                format!("needs a share of common terms from 0 to 1, not {common}")
            }
            _ => return Ok(()),
        };
        Err(Error::Options(format!("feedback {why}")))
    }

    /// The terms that a document with these frequencies stands for: the most frequent ones that are words, equal ones
    /// in the order of their bytes, as far as `is_rare` says that too few documents have them to be common.
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

    /// The query with the terms of these documents, best first; `field` is the one that is searched.
    pub(crate) fn expand(&self, query: &Query, field: Field, documents: &[Answer]) -> Query {
        let (feedback, total) = (self.relevance(documents), weight_of(query));
        if feedback.is_empty() || total <= 0.0 {
            return query.clone();
        }
        let (own, others) = (f64::from(self.original_weight), 1.0 - f64::from(self.original_weight));
        let clause =
            |term: Query, weight: f64| (weight > LEAST).then(|| Query::Boost(Box::new(term), narrow(weight)));
        let mut bag = Bag::default();
        if !bag.take(query, field, (None, 1.0)) {
            // What is required and excluded stays so, and the terms only count for the order.
            let terms = feedback.into_iter();
            let should =
                terms.filter_map(|(term, weight)| clause(Query::Term(term), others * f64::from(weight)));
            let query = Query::Boost(Box::new(query.clone()), narrow((own / f64::from(total)).max(LEAST)));
            return Query::Bool(BoolQuery {
                must: vec![query],
                should: should.collect(),
                ..BoolQuery::default()
            });
        }
        let mut feedback: HashMap<Vec<u8>, f32> = feedback.into_iter().collect();
        let mut should = Vec::new();
        for (place, term, weight) in bag.terms {
            let share = f64::from(weight / total);
            let more = if place.is_none() { feedback.remove(&term).unwrap_or(0.0) } else { 0.0 };
            let term = Query::Term(term);
            let term = place.map_or(term.clone(), |field| Query::In(field, Box::new(term)));
            should.extend(clause(term, own * share + others * f64::from(more)));
        }
        for (term, weight) in ranked(feedback) {
            should.extend(clause(Query::Term(term), others * f64::from(weight)));
        }
        Query::Bool(BoolQuery { should, ..BoolQuery::default() })
    }

    /// The best terms of all documents and how likely each is, 1 together.
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

/// Weights up to this are as good as none; boosts have to be positive.
const LEAST: f64 = 1e-12;

/// By falling weight, equal ones in the order of their bytes.
fn ranked(terms: impl IntoIterator<Item = (Vec<u8>, f32)>) -> Vec<(Vec<u8>, f32)> {
    let mut terms: Vec<_> = terms.into_iter().collect();
    terms.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    terms
}

/// Letters and digits alone, at most 20 of them and more than one byte: what else an analyzer lets pass says little of
/// what a document is about.
fn is_word(term: &[u8]) -> bool {
    let is_word = |text: &str| text.chars().count() <= 20 && text.chars().all(char::is_alphanumeric);
    term.len() > 1 && std::str::from_utf8(term).is_ok_and(is_word)
}

/// The terms of a query that is nothing but optional terms, in order, with their fields, if those are others than the
/// one that is searched, and their boosts.
#[derive(Default)]
struct Bag {
    terms: Vec<(Option<Field>, Vec<u8>, f32)>,
}

impl Bag {
    /// Takes the terms of `query`, which is in a field and boosted; false if there is more to it.
    fn take(&mut self, query: &Query, searched: Field, (field, boost): (Option<Field>, f32)) -> bool {
        match query {
            Query::Term(term) => {
                match self.terms.iter_mut().find(|(known, other, _)| *known == field && other == term) {
                    Some((_, _, sum)) => *sum += boost,
                    None => self.terms.push((field, term.clone(), boost)),
                }
                true
            }
            Query::Boost(query, factor) => self.take(query, searched, (field, boost * factor)),
            Query::In(named, query) => {
                let field = Some(*named).filter(|&named| named != searched);
                self.take(query, searched, (field, boost))
            }
            Query::Bool(BoolQuery { must, should, must_not, at_least: 0 | 1 })
                if must.is_empty() && must_not.is_empty() =>
            {
                should.iter().all(|query| self.take(query, searched, (field, boost)))
            }
            _ => false,
        }
    }
}

/// The boosts of all that a query scores by.
fn weight_of(query: &Query) -> f32 {
    match query {
        Query::Phrase(phrase) => phrase.terms.len() as f32,
        Query::Term(_) | Query::Pattern(_) | Query::All | Query::Exists | Query::Values(_) => 1.0,
        Query::In(_, query) => weight_of(query),
        Query::Boost(query, boost) => boost * weight_of(query),
        Query::Bool(list) => list.must.iter().chain(&list.should).map(weight_of).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(terms: &[(&str, usize)]) -> Vec<(Vec<u8>, usize)> {
        terms.iter().map(|(term, freq)| (term.as_bytes().to_vec(), *freq)).collect()
    }

    fn word(term: &str) -> Query {
        Query::Term(term.into())
    }

    fn boosted(term: &str, boost: f32) -> Query {
        Query::Boost(Box::new(word(term)), boost)
    }

    fn any(should: Vec<Query>) -> Query {
        Query::Bool(BoolQuery { should, ..BoolQuery::default() })
    }

    const TWO: Rm3 = Rm3 { documents: 2, terms: 2, original_weight: 0.25, first_pass: 2, common: 0.5 };

    fn two_documents() -> [Answer; 2] {
        let all = |_: &[u8]| Ok(true);
        let first = TWO.most_frequent(terms(&[("b", 9), ("sun", 3), ("moon", 1)]), all).unwrap();
        let second = TWO.most_frequent(terms(&[("star", 2), ("sun", 2), ("x.y", 9)]), all).unwrap();
        [Answer { score: 2.0, terms: first }, Answer { score: 1.0, terms: second }]
    }

    #[test]
    fn a_document_stands_for_its_most_frequent_words_that_are_not_common() {
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
    fn words_of_a_query_are_mixed_with_those_of_documents() {
        // sun: 2 · 3/4 + 1 · 1/2 = 2, moon: 2 · 1/4 = 1/2, star: 1/2; moon comes before star.
        let query = any(vec![boosted("sea", 3.0), word("sun")]);
        let expected = any(vec![
            boosted("sea", 0.25 * 0.75),
            boosted("sun", 0.25 * 0.25 + 0.75 * 0.8),
            boosted("moon", 0.75 * 0.2),
        ]);
        assert_eq!(TWO.expand(&query, Field::default(), &two_documents()), expected);
        let in_field = Query::In(Field::default(), Box::new(query));
        assert_eq!(TWO.expand(&in_field, Field::default(), &two_documents()), expected);
    }

    #[test]
    fn what_a_query_requires_stays_required() {
        let query = Query::Bool(BoolQuery { must: vec![word("sea"), word("sun")], ..BoolQuery::default() });
        let expected = Query::Bool(BoolQuery {
            must: vec![Query::Boost(Box::new(query.clone()), 0.125)],
            should: vec![boosted("sun", 0.75 * 0.8), boosted("moon", 0.75 * 0.2)],
            ..BoolQuery::default()
        });
        assert_eq!(TWO.expand(&query, Field::default(), &two_documents()), expected);
    }

    #[test]
    fn a_query_without_answers_stays_what_it_is() {
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
    fn figures_outside_their_ranges_are_refused() {
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
