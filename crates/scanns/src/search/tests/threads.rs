use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::fixture::{Document, MapLeaf, random_documents};
use super::oracle::Oracle;
use super::ranking::{
    MODELS, check, collect, in_another_field, is_plain, is_soft, leaves_of, random_query, searcher,
    searcher_over,
};
use crate::query::{BoolQuery, Query};
use crate::schema::Field;
use crate::search::{Budget, Hit, KeyOrder, KeyPage, Model, SearchThreads, Searcher};

/// Three threads and the smallest possible ranges.
fn always() -> SearchThreads {
    SearchThreads::always(3, 1)
}

fn same(one: &Searcher, several: &Searcher, query: &Query, model: Model, random: &mut fastrand::Rng) {
    let what = format!("{query:?} by {model:?}");
    let all = collect(one, query, model);
    assert_eq!(collect(several, query, model), all, "all hits of {what}");
    assert_eq!(several.count(query).unwrap(), one.count(query).unwrap(), "count of {what}");
    for k in [1, 10, 300, all.len() + 1] {
        let expected = one.top_k(query, model, k).unwrap();
        assert_eq!(several.top_k(query, model, k).unwrap(), expected, "best {k} of {what}");
        let Some(&last) = expected.last() else { continue };
        for after in [last, Hit { score: last.score, leaf: 0, doc: random.u32(..5_000) }] {
            let expected = one.top_k_after(query, model, k, after).unwrap();
            assert_eq!(several.top_k_after(query, model, k, after).unwrap(), expected, "{k} after of {what}");
        }
    }
    let order = if random.bool() { KeyOrder::Ascending } else { KeyOrder::Descending };
    let page = KeyPage { order, limit: 20, after: None };
    let by_key = |searcher: &Searcher| searcher.top_by_key(query, model, page, |_| ()).unwrap();
    assert_eq!(by_key(several), by_key(one), "first keys of {what}");
}

#[test]
fn several_threads_answer_as_one_does() {
    for seed in 1..=6 {
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let sizes = [&[20_000, 0, 9_000, 300][..], &[13_000], &[4_096, 4_097, 8_192, 1]][seed as usize % 3];
        let documents: Vec<Vec<Document>> =
            sizes.iter().map(|&count| random_documents(&mut random, count, seed % 2 == 0)).collect();
        let others = in_another_field(&mut random, &documents);
        let [leaves, beside] = [&documents, &others].map(|of| leaves_of(of, |number| number % 2 == 0));
        let threads = always();
        let one = searcher_over(&[&leaves, &beside]);
        let several = searcher_over(&[&leaves, &beside]).with_threads(&threads);
        for round in 0..54 {
            let (query, model) = (random_query(&mut random, round as u64 % 3), MODELS[round % 9]);
            if !is_soft(model) || is_plain(&query) {
                same(&one, &several, &query, model, &mut random);
            }
        }
    }
}

#[test]
fn several_threads_agree_with_the_oracle() {
    let seed = 77;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let documents = [random_documents(&mut random, 5_000, true), random_documents(&mut random, 1_000, false)];
    let leaves = leaves_of(&documents, |_| true);
    let threads = always();
    let (searcher, oracle) =
        (searcher(&leaves).with_threads(&threads), Oracle::over(&[&documents, &documents]));
    for round in 0..27 {
        let k = [1, 10, 500][round % 3];
        check(&searcher, &oracle, &random_query(&mut random, 1), MODELS[round % 9], k);
    }
}

#[test]
fn the_first_documents_win_ties_whichever_thread_finds_them() {
    let documents = vec![vec![Document::of("same words"); 9_000]; 3];
    let leaves = leaves_of(&documents, |_| true);
    let threads = SearchThreads::always(4, 1);
    let searcher = searcher(&leaves).with_threads(&threads);
    let word = |word: &str| Query::term(Field::default(), word);
    let both = vec![word("same"), word("words")];
    let queries = [
        word("same"),
        Query::All,
        Query::Bool(BoolQuery { must: both.clone(), ..BoolQuery::default() }),
        Query::Bool(BoolQuery { should: both, ..BoolQuery::default() }),
    ];
    for round in 0..40 {
        let (query, k) = (&queries[round % 4], [1, 10, 4_000, 20_000, 30_000][round % 5]);
        let found = searcher.top_k(query, Model::default(), k).unwrap();
        let places = found.iter().map(|hit| (hit.leaf, hit.doc));
        assert!(places.eq((0..3).flat_map(|leaf| (0..9_000).map(move |doc| (leaf, doc))).take(k)));
    }
}

#[test]
fn several_threads_find_part_of_the_whole_answer_before_time_is_up() {
    let seed = 3;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let documents = [16_000, 5_000].map(|count| random_documents(&mut random, count, false));
    let leaves = leaves_of(&documents, |_| true);
    let threads = always();
    for round in 0..60 {
        let (query, model) = (random_query(&mut random, 2), MODELS[round % 9]);
        if is_soft(model) && !is_plain(&query) {
            continue;
        }
        let whole = collect(&searcher(&leaves), &query, model);
        let time = Duration::from_micros([0, 50, 500, 3_600_000_000][round % 4]);
        let of = |budget| searcher(&leaves).with_threads(&threads).within(budget);
        let budget = Budget::of(time);
        let part = of(&budget).top_k(&query, model, 10).unwrap();
        assert!(part.iter().all(|hit| whole.contains(hit)), "{query:?} by {model:?}");
        let best = searcher(&leaves).top_k(&query, model, 10).unwrap();
        assert!(budget.ran_out() || part == best, "cut and not said: {query:?} by {model:?}");
        let budget = Budget::of(time);
        let part = collect(&of(&budget), &query, model);
        assert!(part.is_sorted_by_key(|hit| (hit.leaf, hit.doc)));
        assert!(part.iter().all(|hit| whole.contains(hit)) && (budget.ran_out() || part == whole));
        let budget = Budget::of(time);
        let count = of(&budget).count(&query).unwrap();
        let expected = searcher(&leaves).count(&query).unwrap();
        assert!(count <= expected && (budget.ran_out() || count == expected));
    }
}

#[test]
fn damaged_lists_are_an_error_or_an_answer_for_several_threads_too() {
    for seed in 1..=20 {
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let mut leaves: Vec<MapLeaf> = leaves_of(&[random_documents(&mut random, 13_000, false)], |_| true);
        leaves[0].damage(&mut random);
        let threads = always();
        let searcher = searcher(&leaves).with_threads(&threads);
        for _ in 0..10 {
            let query = random_query(&mut random, 1);
            let _ = searcher.top_k(&query, Model::default(), 10);
            let _ = searcher.count(&query);
            let _ = searcher.for_each(&query, Model::default(), |_| ControlFlow::Continue(()));
        }
    }
}

#[test]
fn a_visitor_who_breaks_or_fails_ends_the_visit_and_what_follows_works() {
    let leaves = leaves_of(&[vec![Document::of("a b"); 60_000]], |_| true);
    let threads = always();
    let searcher = searcher(&leaves).with_threads(&threads);
    let query = Query::term(Field::default(), b"a");
    for wanted in [1, 4_096, 4_097, 30_000, 59_999] {
        let mut seen = Vec::new();
        let visit = |hit: Hit| {
            seen.push(hit.doc);
            if seen.len() == wanted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        searcher.for_each(&query, Model::default(), visit).unwrap();
        assert!(seen.len() == wanted && seen.iter().copied().eq(0..wanted as u32));
    }
    let visit = |hit: Hit| {
        assert!(hit.doc < 9_000, "as it should");
        ControlFlow::Continue(())
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| searcher.for_each(&query, Model::default(), visit)));
    assert!(outcome.is_err());
    assert_eq!(searcher.count(&query).unwrap(), 60_000);
}

#[test]
fn searchers_may_share_their_threads() {
    let leaves = leaves_of(&[vec![Document::of("a b"); 30_000]], |_| true);
    let threads = SearchThreads::always(2, 1);
    let query = Query::Bool(BoolQuery {
        should: vec![Query::term(Field::default(), b"a"), Query::term(Field::default(), b"b")],
        ..BoolQuery::default()
    });
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let searcher = searcher(&leaves).with_threads(&threads);
                for _ in 0..20 {
                    assert_eq!(searcher.top_k(&query, Model::default(), 5_000).unwrap()[4_999].doc, 4_999);
                    assert_eq!(collect(&searcher, &query, Model::default()).len(), 30_000);
                }
            });
        }
    });
}
