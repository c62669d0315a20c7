//! Suggestions: terms of the index that are spelt like words of a query that no document contains.

use std::cmp::Reverse;

use crate::error::Result;
use crate::query::Query;
use crate::schema::Field;
use crate::search::leaf::Leaf;
use crate::search::searcher::Searcher;
use crate::search::terms::patterns::{MAX_FUZZY_CHARS, NearTerm, near_terms};
use crate::search::terms::term_count::TermCount;

/// Maximum number of words of a query for which suggestions are looked up.
const MAX_WORDS: usize = 16;

/// The minimum lengths in characters from which one edit and two edits are tried. An edit of a shorter word
/// makes another word.
const ONE_EDIT: usize = 3;
const TWO_EDITS: usize = 6;

/// A word of a query, and similar terms that may be meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The field of the word.
    pub field: Field,
    /// The word as it is in the query: a term.
    pub word: Vec<u8>,
    /// The number of documents that contain it.
    pub doc_freq: u64,
    /// Similar terms that are in more documents, sorted by descending frequency: the terms within one edit
    /// or, if there are none, within two. May be empty if no document contains the word.
    pub near: Vec<TermCount>,
}

impl Searcher<'_> {
    /// Suggests terms for each word of a query that at most `few` documents contain: up to `most` terms that
    /// are the most likely meant. A word without suggestions is omitted, unless
    /// no document contains it.
    ///
    /// Words are the terms of term and phrase clauses that documents may match by, the first 16 of them.
    /// Terms are in the form of the index: stems if the analyzer stems.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if terms cannot be read.
    pub fn suggest(&self, query: &Query, few: u64, most: usize) -> Result<Vec<Suggestion>> {
        let mut words = Vec::new();
        collect_words(query, &mut words);
        let mut suggestions = Vec::new();
        for alternatives in words {
            let mut of_word = Vec::new();
            for QueryWord { field, word } in alternatives {
                let Some(place) = self.fields.place_of(field) else { continue };
                of_word.push((place, self.frequency_of(field, place, word)?));
            }
            // A word that is looked up in several fields may be in any of them.
            if of_word.iter().all(|(_, found)| found.doc_freq <= few) {
                // Similar terms cost far more than the frequency.
                let of_word = of_word.into_iter().map(|(place, found)| self.with_similar(place, found, most));
                let of_word = of_word.collect::<Result<Vec<_>>>()?;
                let is_known = of_word.iter().any(|found| found.doc_freq > 0);
                let best = of_word
                    .into_iter()
                    .rev()
                    .max_by_key(|found| found.near.first().map(|near| near.doc_freq));
                suggestions.extend(best.filter(|found| !is_known || !found.near.is_empty()));
            }
        }
        Ok(suggestions)
    }

    /// A word in the field at `place`, without suggestions.
    fn frequency_of(&self, field: Field, place: usize, word: &[u8]) -> Result<Suggestion> {
        let mut doc_freq = 0;
        for leaf in 0..self.fields.leaves() {
            let leaf = self.fields.leaf(place, leaf);
            if let Some(found) = leaf.find(word)? {
                doc_freq += leaf.figures(&found)?.doc_freq;
            }
        }
        Ok(Suggestion { field, word: word.to_vec(), doc_freq, near: Vec::new() })
    }

    /// A word with its suggestions.
    fn with_similar(&self, place: usize, found: Suggestion, most: usize) -> Result<Suggestion> {
        let leaves: Vec<_> = (0..self.fields.leaves()).map(|leaf| self.fields.leaf(place, leaf)).collect();
        let near = similar(&leaves, &found.word, found.doc_freq, most)?;
        Ok(Suggestion { near, ..found })
    }
}

/// Returns up to `most` terms that are similar to `word` and are in more than `doc_freq` documents.
fn similar(leaves: &[&dyn Leaf], word: &[u8], doc_freq: u64, most: usize) -> Result<Vec<TermCount>> {
    let Ok(text) = std::str::from_utf8(word) else { return Ok(Vec::new()) };
    let length = text.chars().count();
    let edits = u8::from(length >= ONE_EDIT) + u8::from(length >= TWO_EDITS);
    if edits == 0 || length > MAX_FUZZY_CHARS {
        return Ok(Vec::new());
    }
    let mut near: Vec<NearTerm> = near_terms(leaves, text, edits)?;
    near.retain(|near| near.count.doc_freq > doc_freq);
    let nearest = near.iter().map(|near| near.edits).filter(|edits| *edits > 0).min();
    near.retain(|near| Some(near.edits) == nearest);
    near.sort_by_key(|near| Reverse(near.count.doc_freq));
    Ok(near.into_iter().take(most).map(|near| near.count).collect())
}

/// A word of a query and its field.
#[derive(Clone, Copy, PartialEq, Eq)]
struct QueryWord<'q> {
    field: Field,
    word: &'q [u8],
}

/// Adds the words of a query that documents may match by, each once, with its alternatives in other fields.
fn collect_words<'q>(query: &'q Query, words: &mut Vec<Vec<QueryWord<'q>>>) {
    let mut add = |field: Field, word: &'q [u8]| {
        let word = vec![QueryWord { field, word }];
        if words.len() < MAX_WORDS && !words.contains(&word) {
            words.push(word);
        }
    };
    match query {
        Query::Term(term) => add(term.field, &term.text),
        Query::Phrase(phrase) => phrase.terms.iter().for_each(|(_, term)| add(phrase.field, term)),
        Query::Bool(list) => list.scored().for_each(|clause| collect_words(clause, words)),
        Query::Best(best) => {
            let mut of_clauses = Vec::new();
            for clause in &best.clauses {
                let mut of_clause = Vec::new();
                collect_words(clause, &mut of_clause);
                of_clauses.push(of_clause);
            }
            // The clauses are the same words in several fields.
            for place in 0..of_clauses.iter().map(Vec::len).max().unwrap_or(0) {
                let same = of_clauses.iter().filter_map(|of_clause| of_clause.get(place)).flatten();
                let same: Vec<QueryWord> = same.copied().collect();
                if words.len() < MAX_WORDS && !words.contains(&same) {
                    words.push(same);
                }
            }
        }
        Query::Boost(..) | Query::Scored(_) => collect_words(query.unboosted(), words),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::query::{BoolQuery, PhraseQuery};
    use crate::search::Leaf;
    use crate::search::tests::{Document, MapLeaf, distance};

    fn leaf(texts: &[&str]) -> MapLeaf {
        let documents: Vec<Document> = texts.iter().map(|text| Document::of(text)).collect();
        MapLeaf::new(&documents, true)
    }

    fn term(word: &str) -> Query {
        Query::term(Field::default(), word)
    }

    #[test]
    fn the_nearest_then_most_frequent_terms_are_suggested() {
        let leaves = [
            leaf(&["license source", "license lisence2 sources"]),
            leaf(&["licence", "license licences house", "horse"]),
        ];
        let searcher = Searcher::new(leaves.iter().map(|leaf| leaf as &dyn Leaf).collect());
        let near = |query: &Query, few| -> Vec<(String, Vec<String>)> {
            let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
            let found = searcher.suggest(query, few, 2).unwrap();
            let one =
                |one: Suggestion| (text(one.word), one.near.into_iter().map(|one| text(one.term)).collect());
            found.into_iter().filter(|one| !one.near.is_empty()).map(one).collect()
        };
        let one =
            |word: &str, found: &[&str]| (word.to_owned(), found.iter().map(|&one| one.to_owned()).collect());
        assert_eq!(near(&term("lisense"), 0), [one("lisense", &["license"])], "one edit before two");
        assert_eq!(
            near(&term("lizenze"), 0),
            [one("lizenze", &["license", "licence"])],
            "the more frequent first"
        );
        assert_eq!(near(&term("hause"), 0), [one("hause", &["house"])]);
        assert_eq!(near(&term("hoarse"), 0), [one("hoarse", &["horse"])], "one edit, so house is not");
        assert_eq!(near(&term("license"), 0), [], "an existing word needs no suggestion");
        assert_eq!(
            near(&term("licence"), 1),
            [one("licence", &["license"])],
            "or is rare, and more have another"
        );
        assert_eq!(near(&term("ho"), 0), [], "too short");
        assert_eq!(near(&Query::term(Field::default(), [0xff; 7]), 0), [], "no text");
        assert_eq!(near(&term(&"a".repeat(300)), 0), [], "too long");
        let phrase = Query::Phrase(PhraseQuery {
            field: Field::default(),
            terms: vec![(0, b"hause".into()), (1, b"sorce".into())],
            slop: 0,
        });
        let list = BoolQuery { must: vec![phrase], must_not: vec![term("licensee")], ..BoolQuery::default() };
        assert_eq!(near(&Query::Bool(list), 0), [one("hause", &["house"]), one("sorce", &["source"])]);
        assert_eq!(near(&Query::nothing(), 0), []);
        let unknown = searcher.suggest(&term("ho"), 0, 2).unwrap();
        assert_eq!((unknown.len(), unknown[0].near.len(), unknown[0].doc_freq), (1, 0, 0));
    }

    #[test]
    fn suggestions_agree_with_an_edit_distance_table() {
        let seed = 0x5eed_0c02;
        let mut random = fastrand::Rng::with_seed(seed);
        let word = |random: &mut fastrand::Rng| -> String {
            (0..random.usize(1..9)).map(|_| ["a", "b", "ä"][random.usize(..3)]).collect()
        };
        for round in 0..100 {
            let words: Vec<String> = (0..200).map(|_| word(&mut random)).collect();
            let leaf = leaf(&words.iter().map(String::as_str).collect::<Vec<_>>());
            let searcher = Searcher::new(vec![&leaf]);
            let wanted = word(&mut random);
            let allowed = match wanted.chars().count() {
                0..3 => 0,
                3..6 => 1,
                _ => 2,
            };
            let own = words.iter().filter(|word| **word == wanted).count();
            let mut counts: BTreeMap<(usize, &str), usize> = BTreeMap::new();
            for word in &words {
                *counts.entry((distance(word, &wanted), word)).or_default() += 1;
            }
            let mut near: Vec<_> = counts
                .into_iter()
                .filter(|((edits, _), count)| (1..=allowed).contains(edits) && *count > own)
                .collect();
            let nearest = near.iter().map(|((edits, _), _)| *edits).min();
            near.retain(|((edits, _), _)| Some(*edits) == nearest);
            near.sort_by_key(|(_, count)| Reverse(*count));
            let expected: Vec<&[u8]> = near.iter().take(5).map(|((_, word), _)| word.as_bytes()).collect();
            let found = searcher.suggest(&term(&wanted), 1_000, 5).unwrap();
            let found: Vec<&[u8]> = found.iter().flat_map(|one| &one.near).map(|one| &one.term[..]).collect();
            assert_eq!(found, expected, "seed {seed:x} round {round} {wanted}");
        }
    }
}
