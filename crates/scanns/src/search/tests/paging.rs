use std::ops::ControlFlow;

use super::fixture::{Document, MapLeaf, random_documents};
use super::ranking::{MODELS, is_plain, random_query, searcher};
use crate::error::Error;
use crate::query::Query;
use crate::schema::Field;
use crate::search::{Hit, KeyOrder, KeyPage, KeyedHit, Leaf, Model, Searcher};

fn leaves(documents: &[Vec<Document>]) -> Vec<MapLeaf> {
    documents.iter().enumerate().map(|(at, part)| MapLeaf::new(part, at % 2 == 0)).collect()
}

fn all_hits(searcher: &Searcher, query: &Query, model: Model) -> Vec<Hit> {
    let mut hits = Vec::new();
    let visit = |hit| {
        hits.push(hit);
        ControlFlow::Continue(())
    };
    searcher.for_each(query, model, visit).unwrap();
    hits
}

#[test]
fn pages_are_slices_of_the_whole_ranking() {
    let seed = 0x5eed_0d01;
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..30 {
        // Large enough for pruning, and small ones with many equal scores.
        let size = [20, 400, 6_000][round % 3];
        let documents: Vec<Vec<Document>> =
            (0..random.usize(1..4)).map(|_| random_documents(&mut random, size, round % 2 == 0)).collect();
        let (first, second) = (leaves(&documents), leaves(&documents));
        fn views(all: &[MapLeaf]) -> Vec<&dyn Leaf> {
            all.iter().map(|leaf| leaf as &dyn Leaf).collect()
        }
        let fields = vec![(Field::default(), views(&first)), (Field::new(1).unwrap(), views(&second))];
        let searcher = Searcher::over(fields, Field::default());
        for _ in 0..4 {
            let query = random_query(&mut random, 2);
            for model in MODELS {
                if matches!(model, Model::PNorm { .. }) && !is_plain(&query) {
                    continue;
                }
                check_pages(&searcher, &query, model, &mut random, &format!("seed {seed:x} round {round}"));
            }
        }
    }
}

#[test]
fn an_iterator_gives_the_hits_that_visitors_get_and_ends_after_an_error() {
    let seed = 0x5eed_0d03;
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..20 {
        let documents: Vec<Vec<Document>> = (0..random.usize(1..4))
            .map(|_| {
                let size = [20, 4_096, 9_000][random.usize(..3)];
                random_documents(&mut random, size, round % 2 == 0)
            })
            .collect();
        let mut leaves = leaves(&documents);
        for damaged in [false, true] {
            if damaged {
                leaves.iter_mut().for_each(|leaf| leaf.damage(&mut random));
            }
            let searcher = searcher(&leaves);
            for model in MODELS {
                let query = random_query(&mut random, 2);
                if matches!(model, Model::PNorm { .. }) && !is_plain(&query) {
                    continue;
                }
                let Ok(prepared) = searcher.prepare(&query) else { continue };
                let mut expected = Vec::new();
                let visited = prepared.for_each(model, |hit| {
                    expected.push(hit);
                    ControlFlow::Continue(())
                });
                let mut hits = prepared.hits(model).unwrap();
                let (mut found, mut failed) = (Vec::new(), false);
                for hit in hits.by_ref() {
                    assert!(!failed, "an error is the last item");
                    match hit {
                        Ok(hit) => found.push(hit),
                        Err(_) => failed = true,
                    }
                }
                let what = format!("seed {seed:x} round {round} {query:?} by {model:?}");
                if damaged {
                    assert_eq!(failed, visited.is_err(), "{what}");
                    assert!(hits.next().is_none(), "{what}");
                } else {
                    visited.unwrap();
                    assert_eq!(found, expected, "{what}");
                    let (asked, page) = (prepared.hits(model).unwrap(), random.usize(..50));
                    let first: Vec<Hit> = asked.map(|hit| hit.unwrap()).take(page).collect();
                    assert_eq!(first, expected[..page.min(expected.len())], "{what}");
                }
            }
        }
    }
}

fn leaves_of(searcher: &Searcher) -> usize {
    searcher.fields.leaves()
}

#[test]
fn hits_of_other_searchers_are_refused() {
    let leaves = leaves(&[vec![Document::of("a b"), Document::of("a")]]);
    let searcher = Searcher::new(leaves.iter().map(|leaf| leaf as &dyn Leaf).collect());
    let query = Query::term(Field::default(), b"a");
    let (other_leaf, other_doc) = (Hit { score: 1.0, leaf: 1, doc: 0 }, Hit { score: 1.0, leaf: 0, doc: 2 });
    for hit in [other_leaf, other_doc] {
        let error = searcher.key(&hit).unwrap_err();
        assert!(matches!(error, Error::UnknownHit { .. }), "{error}");
        let error = searcher
            .top_by_key(
                &query,
                Model::Classic,
                KeyPage { order: KeyOrder::Ascending, limit: 5, after: Some(&hit) },
                |_| (),
            )
            .unwrap_err();
        assert!(matches!(error, Error::UnknownHit { .. }), "{error}");
    }
    let error = searcher.top_k_after(&query, Model::Classic, 5, other_leaf).unwrap_err();
    assert!(matches!(error, Error::UnknownHit { .. }), "{error}");
    let none = Searcher::new(Vec::new());
    assert!(none.key(&other_doc).is_err() && none.top_k_after(&query, Model::Classic, 5, other_doc).is_err());
}

fn check_pages(searcher: &Searcher, query: &Query, model: Model, random: &mut fastrand::Rng, what: &str) {
    let what = format!("{what}: {query:?} by {model:?}");
    let mut ranking = all_hits(searcher, query, model);
    ranking.sort_by(|a, b| b.score.total_cmp(&a.score).then((a.leaf, a.doc).cmp(&(b.leaf, b.doc))));
    let page = random.usize(1..30);
    let mut places = vec![0, ranking.len() / 2, ranking.len().saturating_sub(1)];
    places.extend((0..3).map(|_| random.usize(..=ranking.len())));
    for place in places {
        let Some(after) = ranking.get(place) else { continue };
        let rest = &ranking[place + 1..];
        let found = searcher.top_k_after(query, model, page, *after).unwrap();
        assert_eq!(found, rest[..page.min(rest.len())], "{page} after {place} of {}: {what}", ranking.len());
    }
    // Also after a place between hits, as if its document had been deleted.
    let (leaf, doc) = (random.usize(..leaves_of(searcher)), random.u32(..400));
    let between = Hit { score: random.f32() * 4.0, leaf, doc };
    let place = ranking.partition_point(|hit| {
        hit.score > between.score
            || hit.score == between.score && (hit.leaf, hit.doc) <= (between.leaf, between.doc)
    });
    let rest = &ranking[place..];
    let found = searcher.top_k_after(query, model, page, between).unwrap();
    assert_eq!(found, rest[..page.min(rest.len())], "{page} after {between:?}: {what}");
    assert_eq!(searcher.top_k_after(query, model, 0, between).unwrap(), []);
}

#[test]
fn pages_by_key_are_slices_of_all_hits_in_that_order() {
    let seed = 0x5eed_0d02;
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..100 {
        // The keys of the fixture are document numbers, so several leaves have equal keys.
        let documents: Vec<Vec<Document>> =
            (0..random.usize(1..4)).map(|_| random_documents(&mut random, 120, true)).collect();
        let leaves = leaves(&documents);
        let searcher = Searcher::new(leaves.iter().map(|leaf| leaf as &dyn Leaf).collect());
        let query = Query::term(Field::default(), format!("t{}", random.u8(..8)));
        let mut expected: Vec<KeyedHit> = all_hits(&searcher, &query, Model::Classic)
            .into_iter()
            .map(|hit| KeyedHit { key: searcher.key(&hit).unwrap(), hit })
            .collect();
        for order in [KeyOrder::Ascending, KeyOrder::Descending] {
            expected.sort_by(|a, b| {
                let keys = if order == KeyOrder::Ascending { a.key.cmp(&b.key) } else { b.key.cmp(&a.key) };
                keys.then((a.hit.leaf, a.hit.doc).cmp(&(b.hit.leaf, b.hit.doc)))
            });
            let page = random.usize(1..20);
            let (mut found, mut after) = (Vec::new(), None);
            loop {
                let page_after = KeyPage { order, limit: page, after: after.as_ref() };
                let next = searcher.top_by_key(&query, Model::Classic, page_after, |_| ()).unwrap();
                after = next.last().map(|last| last.hit);
                let is_last = next.len() < page;
                found.extend(next);
                if is_last {
                    break;
                }
            }
            assert_eq!(found, expected, "seed {seed:x} round {round} {order:?}");
        }
        let empty = KeyPage { order: KeyOrder::Ascending, limit: 0, after: None };
        assert_eq!(searcher.top_by_key(&query, Model::Classic, empty, |_| ()).unwrap(), []);
    }
}
