use std::time::Duration;

use super::fixture::{Document, MapLeaf, random_documents};
use super::ranking::{MODELS, collect, is_plain, is_soft, leaves_of, random_query, searcher};
use crate::query::Query;
use crate::schema::Field;
use crate::search::{Budget, Hit, Model};

fn leaves(seed: u64) -> (fastrand::Rng, Vec<MapLeaf>) {
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let documents: Vec<Vec<Document>> =
        [6_000, 900].map(|count| random_documents(&mut random, count, seed.is_multiple_of(2))).into();
    let leaves = leaves_of(&documents, |_| true);
    (random, leaves)
}

#[test]
fn with_enough_time_answers_are_complete_and_say_so() {
    let (mut random, leaves) = leaves(1);
    for round in 0..60 {
        let (query, model) = (random_query(&mut random, 2), MODELS[round % 9]);
        if is_soft(model) && !is_plain(&query) {
            continue;
        }
        let budget = Budget::of(Duration::from_secs(3_600));
        let (plain, timed) = (searcher(&leaves), searcher(&leaves).within(&budget));
        assert_eq!(timed.top_k(&query, model, 10).unwrap(), plain.top_k(&query, model, 10).unwrap());
        assert_eq!(timed.count(&query).unwrap(), plain.count(&query).unwrap());
        assert_eq!(collect(&timed, &query, model), collect(&plain, &query, model));
        assert!(!budget.ran_out());
    }
}

#[test]
fn hits_found_before_time_is_up_are_part_of_the_complete_answer() {
    let (mut random, leaves) = leaves(2);
    let mut cut = 0;
    for round in 0..200 {
        let (query, model) = (random_query(&mut random, 2), MODELS[round % 9]);
        if is_soft(model) && !is_plain(&query) {
            continue;
        }
        let whole = collect(&searcher(&leaves), &query, model);
        let budget = Budget::of(Duration::from_micros([0, 20, 200][round % 3]));
        let part = searcher(&leaves).within(&budget).top_k(&query, model, 10).unwrap();
        assert!(part.iter().all(|hit| whole.contains(hit)), "{query:?} by {model:?}");
        let best = searcher(&leaves).top_k(&query, model, 10).unwrap();
        assert!(budget.ran_out() || part == best, "cut and not said: {query:?} by {model:?}");
        let counting = Budget::of(Duration::ZERO);
        let count = searcher(&leaves).within(&counting).count(&query).unwrap();
        assert!(count <= whole.len() as u64);
        assert!(counting.ran_out() || count == searcher(&leaves).count(&query).unwrap());
        cut += u32::from(budget.ran_out());
    }
    assert!(cut > 20, "hardly a query was cut: {cut}");
}

#[test]
fn a_query_over_everything_ends_when_its_time_is_up() {
    let documents = vec![vec![Document::of("a b"); 50_000]];
    let leaves = leaves_of(&documents, |_| true);
    let budget = Budget::of(Duration::ZERO);
    let searcher = searcher(&leaves).within(&budget);
    let found: Vec<Hit> = collect(&searcher, &Query::term(Field::default(), b"a"), Model::default());
    assert!(found.len() < 50_000 && budget.ran_out());
}
