use super::*;
use crate::error::Error;
use crate::search::{Missing, SortBy, SortKey, SortedHit};

pub(super) fn any_key(fixture: &Fixture, random: &mut Rng) -> SortKey {
    let names = ["size", "delta", "price", "flag", "when", "owner", "owner"];
    let by = match random.usize(..10) {
        0 => SortBy::Score,
        1 => SortBy::Document,
        _ => SortBy::Field(fixture.field(names[random.usize(..names.len())])),
    };
    SortKey {
        by,
        descending: random.bool(),
        missing: if random.bool() { Missing::First } else { Missing::Last },
    }
}

/// The value by which a document is sorted.
fn value_of(key: &SortKey, known: &Known) -> Option<Value> {
    match key.by {
        SortBy::Document => None,
        SortBy::Score => Some(Value::Float(known.score.into())),
        SortBy::Field(field) if key.descending => known.of(field).last().cloned(),
        SortBy::Field(field) => known.of(field).first().cloned(),
    }
}

pub(super) fn compare(keys: &[SortKey], left: &Known, right: &Known) -> Ordering {
    let place = |known: &Known| (known.leaf, known.doc);
    for key in keys {
        let missing = if key.missing == Missing::First { Ordering::Less } else { Ordering::Greater };
        let found = match (value_of(key, left), value_of(key, right)) {
            _ if key.by == SortBy::Document => place(left).cmp(&place(right)),
            (None, None) => Ordering::Equal,
            (None, Some(_)) => return missing,
            (Some(_), None) => return missing.reverse(),
            (Some(left), Some(right)) => order(&left, &right),
        };
        if found.is_ne() {
            return if key.descending { found.reverse() } else { found };
        }
    }
    place(left).cmp(&place(right))
}

fn check(fixture: &Fixture, random: &mut Rng, what: &str) {
    let searcher = fixture.snapshot.searcher();
    let (query, model) = (fixture.query(random), Model::Bm25 { k1: 1.2, b: 0.75 });
    let keys: Vec<SortKey> = (0..random.usize(1..4)).map(|_| any_key(fixture, random)).collect();
    let mut known = fixture.known(&searcher, &query, model);
    known.sort_by(|left, right| compare(&keys, left, right));
    let is_scored = keys.iter().any(|key| key.by == SortBy::Score);
    let expected: Vec<SortedHit> = known
        .iter()
        .map(|known| SortedHit {
            hit: Hit { score: if is_scored { known.score } else { 0.0 }, leaf: known.leaf, doc: known.doc },
            keys: keys.iter().map(|key| value_of(key, known)).collect(),
        })
        .collect();
    let what = format!("{what} {query:?} {keys:?}");
    let find =
        |k: usize, after: Option<&SortedHit>| searcher.top_k_sorted(&query, model, &keys, k, after).unwrap();
    for k in [0, 1, 10, random.usize(..expected.len() + 1), expected.len() + 5] {
        assert!(find(k, None) == expected[..k.min(expected.len())], "{what}: the first {k}");
    }
    // Pages are slices, regardless of where they begin.
    let page = random.usize(1..=1 + expected.len() / 4);
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let next = find(page, after.as_ref());
        after = next.last().cloned();
        let is_last = next.len() < page;
        found.extend(next);
        if is_last {
            break;
        }
    }
    assert!(found == expected, "{what}: pages of {page}");
}

#[test]
fn pages_in_any_order_are_slices_of_all_hits_in_that_order() {
    let seed = 0x5eed_0c10;
    let mut random = Rng::with_seed(seed);
    for round in 0..40 {
        let fixture = Fixture::new(&mut random, if round % 8 == 7 { 9_000 } else { 300 });
        for _ in 0..if round % 8 == 7 { 4 } else { 20 } {
            check(&fixture, &mut random, &format!("seed {seed:x} round {round}"));
        }
    }
}

#[test]
fn orders_that_are_none_are_refused() {
    let fixture = Fixture::new(&mut Rng::with_seed(1), 300);
    let searcher = fixture.snapshot.searcher();
    let query = fixture.snapshot.parse("*", Operator::Or).unwrap();
    let sort = |keys: &[SortKey], after: Option<&SortedHit>| {
        searcher.top_k_sorted(&query, Model::Classic, keys, 3, after).map(|_| ())
    };
    let size = SortKey::ascending(SortBy::Field(fixture.field("size")));
    let hit = Hit { score: 0.0, leaf: 0, doc: 0 };
    let wrong = SortedHit { hit, keys: vec![] };
    let nowhere = SortedHit { hit: Hit { leaf: 99, ..hit }, keys: vec![None] };
    for refused in [sort(&[], None), sort(&[size], Some(&wrong)), sort(&[size], Some(&nowhere))] {
        assert!(
            matches!(
                refused,
                Err(Error::InvalidValue { .. } | Error::UnknownHit { .. } | Error::Conflict { .. })
            ),
            "{refused:?}"
        );
    }
    for name in ["path", "blob"] {
        let by = SortKey::descending(SortBy::Field(fixture.field(name)));
        let has_values = fixture.given.iter().any(|given| !given[&fixture.field(name)].is_empty());
        assert_eq!(sort(&[by], None).is_err(), has_values, "{name}");
    }
}
