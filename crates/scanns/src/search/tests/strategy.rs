use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::fixture::{Document, MapLeaf};
use crate::query::tree::{BoolQuery, PhraseQuery, Query};
use crate::schema::Field;
use crate::search::exec::strategy::{LeafFacts, Strategy, Want};
use crate::search::exec::view::View;
use crate::search::{Hit, Leaf, Model, Searcher};

/// 3,000 documents: `every` is in all of them, `half` in every second one, `rare` in six.
fn leaf(all_live: bool) -> MapLeaf {
    let document = |doc: u32| {
        let half = if doc.is_multiple_of(2) { " half" } else { "" };
        let mut document =
            Document::of(&format!("every{half}{}", if doc.is_multiple_of(500) { " rare" } else { "" }));
        document.dead = doc == 1 && !all_live;
        document
    };
    MapLeaf::new(&(0..3_000).map(document).collect::<Vec<_>>(), true)
}

fn chosen(query: &Query, want: Want, bounded: bool, all_live: bool) -> String {
    let leaf = leaf(all_live);
    chosen_by(&Searcher::new(vec![&leaf as &dyn Leaf]), query, want, bounded)
}

fn chosen_by(searcher: &Searcher, query: &Query, want: Want, bounded: bool) -> String {
    let prepared = searcher.prepare(query).unwrap();
    let shape = prepared.plan.shape();
    let view = View::new(&searcher.fields, &prepared.plan, 0).unwrap();
    let facts = LeafFacts::new(&view, prepared.found.in_leaf(0), bounded);
    match Strategy::choose(&prepared.plan.root, &shape, want, &facts) {
        Strategy::Empty => "empty".into(),
        Strategy::ListLength(length) => format!("length {length}"),
        Strategy::ShownFreq(term) => format!("documents of a view with term {term}"),
        Strategy::AnyOf { terms, pruning, .. } => format!("any of {}, {pruning:?}", terms.len()),
        Strategy::AllOf { required, pruning } => {
            format!("all of {}, {pruning:?}", required.required.len())
        }
        Strategy::InWindows(required) => format!("all of {} in windows, Nothing", required.required.len()),
        Strategy::SameScore { score, .. } => format!("same score {score}"),
        Strategy::Tree(_) => "tree".into(),
        Strategy::Bits(_) => "bits".into(),
    }
}

fn term(text: &str) -> Query {
    Query::term(Field::default(), text)
}

fn required(must: &[&str], should: &[&str]) -> Query {
    let terms = |words: &[&str]| words.iter().map(|word| term(word)).collect();
    Query::Bool(BoolQuery { must: terms(must), should: terms(should), ..BoolQuery::default() })
}

fn phrase() -> Query {
    let terms = vec![(0, b"every".to_vec()), (1, b"half".to_vec())];
    Query::Phrase(PhraseQuery { field: Field::default(), terms, slop: 0 })
}

#[test]
fn the_best_hits_are_pruned_where_lists_are_long_and_scores_bounded() {
    for (query, expected) in [
        (term("every"), "any of 1, Blocks"),
        (term("rare"), "any of 1, Nothing"),
        (required(&[], &["every", "half"]), "any of 2, Windows"),
        (required(&[], &["half", "rare"]), "any of 2, Nothing"),
        (required(&["every", "half"], &[]), "all of 2, Blocks"),
        (required(&["every"], &["half"]), "all of 1, Windows"),
        (required(&["rare"], &["every"]), "all of 1, Blocks"),
        (required(&["half", "rare"], &[]), "all of 2, Nothing"),
        (required(&["every", "nowhere"], &[]), "empty"),
        (phrase(), "all of 1, Blocks"),
        (Query::All, "same score 1"),
        (Query::All.boosted(3.0), "same score 3"),
        (Query::any_of(vec![term("rare"), required(&["every"], &["half"])]), "tree"),
    ] {
        assert_eq!(chosen(&query, Want::Best, true, true), expected, "{query:?}");
    }
    for query in [term("every"), required(&[], &["every", "half"]), required(&["every", "half"], &[])] {
        assert!(chosen(&query, Want::Best, false, true).ends_with("Nothing"), "{query:?}");
        assert!(chosen(&query, Want::All, true, true).ends_with("Nothing"), "{query:?}");
    }
    assert_eq!(chosen(&Query::All, Want::All, true, true), "tree");
}

#[test]
fn clauses_that_only_add_to_scores_are_checked_by_a_count_but_not_looked_up() {
    let (live, deleted) = (leaf(true), leaf(false));
    let optional = Query::any_of(vec![phrase(), term("every"), Query::All.boosted(2.0)]);
    let list = |filter: Vec<Query>, at_least| {
        let (must, should) = (vec![term("half")], vec![term("rare"), optional.clone()]);
        Query::Bool(BoolQuery { must, should, filter, at_least, ..BoolQuery::default() })
    };
    for (query, expected) in [
        (list(Vec::new(), 0), 1_500),
        (list(vec![term("rare")], 0), 6),
        (list(Vec::new(), 1), 1_500),
        (required(&[], &["rare", "half"]), 1_500),
    ] {
        for leaf in [&live, &deleted] {
            let searcher = Searcher::new(vec![leaf as &dyn Leaf]);
            assert_eq!(searcher.count(&query).unwrap(), expected, "{query:?}");
            assert_eq!(searcher.prepare(&query).unwrap().count().unwrap(), expected, "{query:?}");
        }
    }
    let searcher = Searcher::new(vec![&live as &dyn Leaf]);
    let query = list(Vec::new(), 0);
    let prepared = searcher.prepare_count(&query).unwrap();
    assert_eq!(prepared.plan.terms.len(), 1);
    let unknown = Query::Bool(BoolQuery {
        must: vec![term("half")],
        should: vec![Query::term(Field::new(7).unwrap(), "half")],
        ..BoolQuery::default()
    });
    let expected = searcher.prepare(&unknown).err().unwrap().to_string();
    assert_eq!(searcher.count(&unknown).unwrap_err().to_string(), expected);
}

#[test]
fn counts_take_the_length_of_a_list_where_no_document_is_deleted_and_bits_elsewhere() {
    for (query, live, deleted) in [
        (term("half"), "length 1500", "bits"),
        (required(&["half"], &["every", "rare"]), "length 1500", "bits"),
        (required(&["every", "half"], &[]), "bits", "bits"),
        (required(&[], &["every", "half"]), "bits", "bits"),
        (phrase(), "all of 1, Nothing", "all of 1, Nothing"),
        (Query::All, "bits", "bits"),
    ] {
        assert_eq!(chosen(&query, Want::Count, true, true), live, "{query:?}");
        assert_eq!(chosen(&query, Want::Count, true, false), deleted, "{query:?}");
    }
}

#[test]
fn lists_of_similar_lengths_give_the_matches_and_scores_of_their_terms_over_many_windows() {
    let seed = fastrand::u64(..);
    println!("seed {seed:x}");
    let mut random = fastrand::Rng::with_seed(seed);
    let documents: Vec<Document> = (0..14_000)
        .map(|doc| {
            let mut text = String::from("every");
            for (word, one_in) in [("a", 3), ("b", 2), ("c", 4), ("d", 9)] {
                // No document of the second window has all of them.
                if random.u32(..one_in) == 0 && !(word == "a" && (4_096..8_192).contains(&doc)) {
                    (0..random.usize(1..4)).for_each(|_| text.push_str(&format!(" {word}")));
                }
            }
            let mut document = Document::of(&text);
            document.dead = random.u32(..10) == 0;
            document
        })
        .collect();
    let leaf = MapLeaf::new(&documents, true);
    let searcher = Searcher::new(vec![&leaf as &dyn Leaf]);
    let hits = |query: &Query| {
        let mut hits = BTreeMap::new();
        let visit = |hit: Hit| {
            hits.insert(hit.doc, hit.score);
            ControlFlow::Continue(())
        };
        searcher.for_each(query, Model::default(), visit).unwrap();
        hits
    };
    let of_word = |word: &str| hits(&term(word));
    let [a, b, c, d] = ["a", "b", "c", "d"].map(of_word);
    let list = |should: &[&str], must_not: &[&str]| {
        let terms = |words: &[&str]| words.iter().map(|word| term(word)).collect();
        let (must, should, must_not) = (terms(&["a", "b"]), terms(should), terms(must_not));
        Query::Bool(BoolQuery { must, should, must_not, ..BoolQuery::default() })
    };
    for (query, adds, excludes) in
        [(list(&[], &[]), false, false), (list(&["c"], &[]), true, false), (list(&["c"], &["d"]), true, true)]
    {
        assert!(chosen_by(&searcher, &query, Want::All, true).ends_with("in windows, Nothing"), "{query:?}");
        let expected: BTreeMap<u32, f32> = a
            .iter()
            .filter(|(doc, _)| b.contains_key(doc) && !(excludes && d.contains_key(doc)))
            .map(|(doc, score)| {
                let more = c.get(doc).filter(|_| adds).copied().unwrap_or(0.0);
                (*doc, score + b[doc] + more)
            })
            .collect();
        assert!(expected.len() > 1_000);
        assert_eq!(hits(&query), expected, "{query:?}");
    }
}

#[test]
fn a_term_is_counted_by_the_live_documents_of_its_list() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    // The longest list is counted with a plan.
    for count in [1, 127, 128, 3_000, 70_000] {
        for packed in [true, false] {
            let mut documents = vec![Document::of("every"); count];
            let among = random.usize(1..9);
            documents.iter_mut().for_each(|document| document.dead = random.usize(..among) == 0);
            let expected = documents.iter().filter(|document| !document.dead).count() as u64;
            let (whole, deleted) = (leaf(true), MapLeaf::new(&documents, packed));
            let searcher = Searcher::new(vec![&whole as &dyn Leaf, &deleted, &whole]);
            let in_whole = Searcher::new(vec![&whole as &dyn Leaf]).count(&term("every")).unwrap();
            let found = searcher.count(&term("every")).unwrap();
            assert_eq!(found, expected + 2 * in_whole, "seed {seed}: {count}, {packed}");
            assert_eq!(searcher.prepare(&term("every")).unwrap().count().unwrap(), found, "seed {seed}");
        }
    }
}
