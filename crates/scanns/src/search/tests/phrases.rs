use super::fixture::Document;
use super::oracle::Oracle;
use super::ranking::{check, leaves_of, searcher};
use crate::query::{BoolQuery, PhraseQuery, Query};
use crate::schema::Field;
use crate::search::Model;

#[test]
fn phrases_of_frequent_words_are_found_wherever_they_stand() {
    let mut random = fastrand::Rng::with_seed(0x5eed_0916);
    let text = |random: &mut fastrand::Rng| {
        let words = (0..random.usize(1..40)).map(|_| ["a", "a", "b", "b", "c", "d"][random.usize(..6)]);
        words.collect::<Vec<_>>().join(" ")
    };
    // A window of them has more occurrences than are read at once.
    let mut documents: Vec<Document> = (0..5_000).map(|_| Document::of(&text(&mut random))).collect();
    for doc in [3, 2_000, 4_999] {
        documents[doc].dead = true;
    }
    let rest = (0..300).map(|_| Document::of(&text(&mut random))).collect();
    let documents = [documents, rest];
    let (leaves, oracle) = (leaves_of(&documents, |_| true), Oracle::new(&documents));
    let searcher = searcher(&leaves);
    let words = |phrase: &str| (0..).zip(phrase.split(' ').map(|word| word.as_bytes().to_vec())).collect();
    for phrase in ["a b", "a a", "b a b", "d a b c", "a a a a"] {
        let phrase = Query::Phrase(PhraseQuery { field: Field::default(), terms: words(phrase), slop: 0 });
        let excluding = Query::Bool(BoolQuery {
            must: vec![phrase.clone(), Query::term(Field::default(), b"c")],
            must_not: vec![Query::term(Field::default(), b"d")],
            ..BoolQuery::default()
        });
        for query in [phrase, excluding] {
            for (model, k) in [(Model::default(), 10), (Model::LmDirichlet { mu: 50.0 }, 700)] {
                check(&searcher, &oracle, &query, model, k);
            }
        }
    }
}
