//! Did you mean: terms of the index that are spelt like words of a query that it does not have.

use std::cmp::Reverse;

use super::Searcher;
use super::frequent::TermCount;
use super::patterns::{MOST_CHARS, near_terms};
use super::query::Query;
use crate::error::Result;
use crate::schema::Field;

/// Words of a query that suggestions are sought for.
const MOST_WORDS: usize = 16;

/// Characters from which on a word may be one edit away, and from which on two: in shorter ones that is another word.
const ONE_EDIT: usize = 3;
const TWO_EDITS: usize = 6;

/// A word of a query, and what may have been meant by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The field that it is sought in.
    pub field: Field,
    /// The word as it is in the query: a term.
    pub word: Vec<u8>,
    /// Documents that have it.
    pub doc_freq: u64,
    /// Terms like it that are in more documents: by one edit if there are any, or else by two; the most frequent first.
    pub near: Vec<TermCount>,
}

impl Searcher<'_> {
    /// For each word of a query that at most `few` documents have, the `most` terms that are most likely meant, if
    /// there are any. Words are those of terms and phrases that documents may match by, the first sixteen of them.
    ///
    /// Terms are as the index has them: where it has stems, these are.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if terms cannot be read.
    pub fn suggest(&self, query: &Query, few: u64, most: usize) -> Result<Vec<Suggestion>> {
        let mut words = Vec::new();
        collect(query, self.fields.default_place(), &|field| self.fields.place_of(field), &mut words);
        let mut all = Vec::new();
        for (place, word) in words {
            let leaves: Vec<_> =
                (0..self.fields.leaves()).map(|leaf| self.fields.leaf(place, leaf)).collect();
            let mut doc_freq = 0;
            for leaf in &leaves {
                doc_freq += leaf.find(word)?.map_or(0, |found| u64::from(found.doc_freq));
            }
            let Ok(text) = std::str::from_utf8(word) else { continue };
            let length = text.chars().count();
            let edits = u8::from(length >= ONE_EDIT) + u8::from(length >= TWO_EDITS);
            if doc_freq > few || edits == 0 || length > MOST_CHARS {
                continue;
            }
            let mut near: Vec<(u8, TermCount)> = near_terms(&leaves, text, edits)?
                .into_iter()
                .filter(|(_, one)| one.doc_freq > doc_freq)
                .collect();
            let nearest = near.iter().map(|(edits, _)| *edits).filter(|edits| *edits > 0).min();
            near.retain(|(edits, _)| Some(*edits) == nearest);
            near.sort_by_key(|(_, one)| Reverse(one.doc_freq));
            near.truncate(most);
            if !near.is_empty() {
                let near = near.into_iter().map(|(_, one)| one).collect();
                all.push(Suggestion { field: self.fields.field(place), word: word.to_vec(), doc_freq, near });
            }
        }
        Ok(all)
    }
}

/// The words of a query that documents may match by, each once, with the places of their fields.
fn collect<'q>(
    query: &'q Query,
    place: usize,
    place_of: &dyn Fn(Field) -> Option<usize>,
    words: &mut Vec<(usize, &'q [u8])>,
) {
    let mut add = |word: &'q [u8]| {
        if words.len() < MOST_WORDS && !words.contains(&(place, word)) {
            words.push((place, word));
        }
    };
    match query {
        Query::Term(term) => add(term),
        Query::Phrase(phrase) => phrase.terms.iter().for_each(|(_, term)| add(term)),
        Query::Bool(list) => {
            list.must.iter().chain(&list.should).for_each(|part| collect(part, place, place_of, words));
        }
        Query::In(field, inner) => {
            if let Some(place) = place_of(*field) {
                collect(inner, place, place_of, words);
            }
        }
        Query::Boost(inner, _) => collect(inner, place, place_of, words),
        Query::Pattern(_) | Query::All | Query::Exists | Query::Values(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::search::Leaf;
    use crate::search::query::{BoolQuery, PhraseQuery};
    use crate::search::tests::{Document, MapLeaf, distance};

    fn leaf(texts: &[&str]) -> MapLeaf {
        let documents: Vec<Document> = texts.iter().map(|text| Document::of(text)).collect();
        MapLeaf::new(&documents, true)
    }

    fn term(word: &str) -> Query {
        Query::Term(word.into())
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
            found.into_iter().map(one).collect()
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
        assert_eq!(near(&term("license"), 0), [], "what is there needs none");
        assert_eq!(
            near(&term("licence"), 1),
            [one("licence", &["license"])],
            "or is rare, and more have another"
        );
        assert_eq!(near(&term("ho"), 0), [], "too short");
        assert_eq!(near(&Query::Term(vec![0xff; 7]), 0), [], "no text");
        assert_eq!(near(&term(&"a".repeat(300)), 0), [], "too long");
        let phrase =
            Query::Phrase(PhraseQuery { terms: vec![(0, b"hause".into()), (1, b"sorce".into())], slop: 0 });
        let list = BoolQuery { must: vec![phrase], must_not: vec![term("licensee")], ..BoolQuery::default() };
        assert_eq!(near(&Query::Bool(list), 0), [one("hause", &["house"]), one("sorce", &["source"])]);
        assert_eq!(near(&Query::nothing(), 0), []);
    }

    #[test]
    fn suggestions_are_those_of_counting_edits_by_a_table() {
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
