use super::counting::{check_stats, counted, directory, facet};
use super::sorting::any_key;
use super::*;
use crate::search::aggregate::{
    Aggregated, Aggregation, Bucket, BucketKey, CalendarUnit, Facet, FacetRange, FacetTerms,
};

/// True if a document is in a bucket.
fn is_in(facet: &Facet, bucket: &Bucket, known: &Known) -> bool {
    let values = known.of(facet.field());
    match (facet, &bucket.key) {
        (_, BucketKey::Range(FacetRange { from, to, .. })) => values.iter().any(|value| {
            from.as_ref().is_none_or(|from| order(from, value).is_le())
                && to.as_ref().is_none_or(|to| order(value, to).is_lt())
        }),
        (Facet::Path { .. }, BucketKey::Value(Value::Text(name))) => {
            values.iter().any(|value| directory(value).starts_with(name))
        }
        (Facet::Calendar { .. }, BucketKey::Value(Value::Date(start))) => {
            let day = 86_400_000_000_000;
            values
                .iter()
                .any(|value| matches!(value, Value::Date(date) if (*start..*start + day).contains(date)))
        }
        (Facet::Histogram { interval, .. }, BucketKey::Value(Value::Float(start))) => values.iter().any(
            |value| matches!(value, Value::Float(number) if (*start..start + interval).contains(number)),
        ),
        (_, BucketKey::Value(wanted)) => values.contains(wanted),
    }
}

#[test]
fn what_is_nested_is_about_the_documents_of_its_bucket() {
    let seed = 0x5eed_0c30;
    let mut random = Rng::with_seed(seed);
    for round in 0..30 {
        let fixture = Fixture::new(&mut random, if round % 10 == 9 { 6_000 } else { 300 });
        let (query, searcher) = (fixture.query(&mut random), fixture.snapshot.searcher());
        let known = fixture.known(&searcher, &query, Model::Classic);
        let field = |name: &str| fixture.field(name);
        let range = |from: u64, to: u64| FacetRange {
            label: String::new(),
            from: Some(Value::Unsigned(from)),
            to: Some(Value::Unsigned(to)),
        };
        let ranges = vec![range(0, 900), range(300, 2_000), range(5, 5)];
        for outer in [
            Facet::Terms(FacetTerms::new(field("owner"))),
            Facet::Terms(FacetTerms::new(field("delta"))),
            Facet::Ranges { field: field("size"), ranges },
            Facet::Histogram { field: field("price"), interval: 2.0, offset: 0.5 },
            Facet::Calendar { field: field("when"), unit: CalendarUnit::Day },
            Facet::Path { field: field("path"), below: b"a/".into(), limit: 9 },
        ] {
            let plain = facet(&searcher, &query, &outer);
            let sums = Aggregation::Stats { field: field("size"), percentiles: vec![50.0] };
            let inner = Facet::Terms(FacetTerms { limit: usize::MAX, ..FacetTerms::new(field("flag")) });
            let distinct = Aggregation::Distinct { field: field("owner"), exact: true };
            let nested =
                vec![sums.clone(), distinct.clone(), Aggregation::Facet(inner, vec![sums, distinct])];
            let asked = [Aggregation::Facet(outer.clone(), nested)];
            let Aggregated::Buckets(found) = searcher.aggregate(&query, &asked).unwrap().remove(0) else {
                panic!("no buckets")
            };
            let what = format!("seed {seed:x} round {round} {query:?} {outer:?}");
            assert_eq!(found.buckets.len(), plain.buckets.len(), "{what}");
            for (bucket, plain) in found.buckets.iter().zip(&plain.buckets) {
                assert_eq!((&bucket.key, bucket.count), (&plain.key, plain.count), "{what}");
                let inside = |known: &&Known| match &bucket.key {
                    // The directory itself: the files directly in it.
                    BucketKey::Value(Value::Text(name)) if name == b"a/" => {
                        known.of(field("path")).iter().any(|value| directory(value) == b"a/")
                    }
                    _ => is_in(&outer, bucket, known),
                };
                let part = || known.iter().filter(inside);
                check_nested(&fixture, &bucket.nested, part().map(copy).collect(), 0, &what);
            }
        }
    }
}

fn copy(known: &Known) -> Known {
    Known { leaf: known.leaf, doc: known.doc, score: known.score, values: known.values.clone() }
}

fn check_nested(fixture: &Fixture, nested: &[Aggregated], known: Vec<Known>, level: usize, what: &str) {
    let [Aggregated::Stats(stats), Aggregated::Distinct(distinct), rest @ ..] = nested else {
        panic!("{what}: {nested:?}")
    };
    check_stats(stats, &known, fixture.field("size"), what);
    let owners = counted(&known, |known| known.of(fixture.field("owner")).to_vec());
    assert_eq!(distinct.values, owners.len() as u64, "{what}");
    let flag = fixture.field("flag");
    if level == 0 {
        let [Aggregated::Buckets(flags)] = rest else { panic!("{what}: {rest:?}") };
        assert_eq!(flags.documents, known.len() as u64, "{what}");
        for bucket in &flags.buckets {
            let BucketKey::Value(value) = &bucket.key else { panic!("{what}") };
            let part: Vec<_> =
                known.iter().filter(|known| known.of(flag).contains(value)).map(copy).collect();
            assert_eq!(bucket.count, part.len() as u64, "{what}");
            check_nested(fixture, &bucket.nested, part, 1, what);
        }
    }
}

#[test]
fn what_is_asked_side_by_side_is_answered_the_same_by_several_threads() {
    let seed = 0x5eed_0c31;
    let mut random = Rng::with_seed(seed);
    let threads = crate::search::SearchThreads::always(3, 64);
    for round in 0..20 {
        let fixture = Fixture::new(&mut random, 2_000);
        let (query, searcher) = (fixture.query(&mut random), fixture.snapshot.searcher());
        let field = |name: &str| fixture.field(name);
        let terms = |name: &str| Aggregation::Facet(Facet::Terms(FacetTerms::new(field(name))), vec![]);
        let stats = Aggregation::Stats { field: field("price"), percentiles: vec![10.0] };
        let of_owners = Facet::Terms(FacetTerms::new(field("owner")));
        let mut asked = vec![
            terms("owner"),
            stats.clone(),
            Aggregation::Distinct { field: field("owner"), exact: false },
            Aggregation::Facet(of_owners, vec![stats, terms("flag")]),
            terms("delta"),
        ];
        random.shuffle(&mut asked);
        let what = format!("seed {seed:x} round {round} {query:?}");
        let alone = searcher.aggregate(&query, &asked).unwrap();
        assert_eq!(searcher.with_threads(&threads).aggregate(&query, &asked).unwrap(), alone, "{what}");
        // The first aggregation that cannot be answered is reported.
        let wrong =
            Aggregation::Facet(Facet::Calendar { field: field("size"), unit: CalendarUnit::Day }, vec![]);
        asked.insert(random.usize(..=asked.len()), wrong);
        let message = |searcher: &Searcher<'_>| {
            searcher.aggregate(&query, &asked).map(drop).map_err(|error| error.to_string())
        };
        let alone = fixture.snapshot.searcher();
        assert_eq!(message(&fixture.snapshot.searcher().with_threads(&threads)), message(&alone), "{what}");
    }
}

#[test]
fn hits_and_aggregations_together_are_those_of_separate_questions() {
    let seed = 0x5eed_0c32;
    let mut random = Rng::with_seed(seed);
    let threads = crate::search::SearchThreads::always(3, 64);
    for round in 0..40 {
        let fixture = Fixture::new(&mut random, if round % 10 == 9 { 6_000 } else { 300 });
        let query = fixture.query(&mut random);
        let mut searcher = fixture.snapshot.searcher();
        if random.bool() {
            searcher = searcher.with_threads(&threads);
        }
        let field = |name: &str| fixture.field(name);
        let mut asked = vec![
            Aggregation::Facet(Facet::Terms(FacetTerms::new(field("owner"))), vec![]),
            Aggregation::Distinct { field: field("delta"), exact: random.bool() },
        ];
        if random.bool() {
            let stats = Aggregation::Stats { field: field("price"), percentiles: vec![50.0] };
            let of_flags = Facet::Terms(FacetTerms::new(field("flag")));
            asked.push(Aggregation::Facet(of_flags, vec![stats.clone()]));
            asked.extend(random.bool().then_some(stats));
        }
        let model = [Model::default(), Model::Dph][random.usize(..2)];
        let k = random.usize(..30);
        let what = format!("seed {seed:x} round {round} {query:?} by {model:?}");
        let prepared = searcher.prepare(&query).unwrap();
        let expected = searcher.aggregate(&query, &asked).unwrap();
        let after = searcher.top_k(&query, model, 5).unwrap().last().copied().filter(|_| random.bool());
        let hits = match after {
            Some(after) => searcher.top_k_after(&query, model, k, after).unwrap(),
            None => searcher.top_k(&query, model, k).unwrap(),
        };
        let found = prepared.top_k_and_aggregate(model, k, after, &asked).unwrap();
        assert_eq!((found.hits, &found.aggregated), (hits, &expected), "{what}");
        let keys = [any_key(&fixture, &mut random)];
        let hits = searcher.top_k_sorted(&query, model, &keys, k, None).unwrap();
        let found = prepared.top_k_sorted_and_aggregate(model, &keys, k, None, &asked).unwrap();
        assert_eq!((found.hits, found.aggregated), (hits, expected), "{what} {keys:?}");
    }
}
