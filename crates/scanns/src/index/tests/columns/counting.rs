use super::*;
use crate::error::Error;
use crate::schema::{format_date, parse_date};
use crate::search::aggregate::{
    Aggregated, Aggregation, BucketKey, Buckets, CalendarUnit, Facet, FacetRange, FacetTerms, Stats, Sum,
    TermsOrder,
};

/// A value that can be ordered.
fn sortable(value: &Value) -> Vec<u8> {
    match value {
        Value::Text(text) | Value::Bytes(text) => text.clone(),
        Value::Unsigned(number) => number.to_be_bytes().to_vec(),
        Value::Signed(number) | Value::Date(number) => {
            (i128::from(*number) + (1 << 64)).to_be_bytes().to_vec()
        }
        Value::Float(number) => {
            let bits = number.to_bits();
            if number.is_sign_negative() { !bits } else { bits | 1 << 63 }.to_be_bytes().to_vec()
        }
        Value::Boolean(truth) => vec![u8::from(*truth)],
    }
}

/// Documents by something, counted once each: value, and how many.
pub(super) fn counted(known: &[Known], of: impl Fn(&Known) -> Vec<Value>) -> Vec<(Value, u64)> {
    let mut counts: BTreeMap<Vec<u8>, (Value, u64)> = BTreeMap::new();
    for known in known {
        let values: BTreeMap<Vec<u8>, Value> =
            of(known).into_iter().map(|value| (sortable(&value), value)).collect();
        for (key, value) in values {
            counts.entry(key).or_insert((value, 0)).1 += 1;
        }
    }
    counts.into_values().collect()
}

fn ask(searcher: &Searcher<'_>, query: &Query, asked: Aggregation) -> Aggregated {
    searcher.aggregate(query, &[asked]).unwrap().remove(0)
}

pub(super) fn facet(searcher: &Searcher<'_>, query: &Query, facet: &Facet) -> Buckets {
    match ask(searcher, query, Aggregation::Facet(facet.clone(), vec![])) {
        Aggregated::Buckets(buckets) => buckets,
        other => panic!("{other:?}"),
    }
}

fn shown(buckets: &Buckets) -> Vec<(Value, u64)> {
    let value = |key: &BucketKey| match key {
        BucketKey::Value(value) => value.clone(),
        BucketKey::Range(_) => panic!("no range was asked for"),
    };
    buckets.buckets.iter().map(|bucket| (value(&bucket.key), bucket.count)).collect()
}

/// The expected facet of values.
fn must_be(found: &Buckets, all: &[(Value, u64)], limit: usize, min_count: u64, by: TermsOrder, what: &str) {
    let mut kept: Vec<_> = all.iter().filter(|(_, count)| *count >= min_count.max(1)).cloned().collect();
    if by == TermsOrder::Count {
        // Stable: equal counts stay in the order of values.
        kept.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    }
    assert_eq!(found.total, kept.len() as u64, "{what}");
    kept.truncate(limit);
    assert_eq!(shown(found), kept, "{what}");
    let sum = |all: &[(Value, u64)]| all.iter().map(|(_, count)| count).sum::<u64>();
    assert_eq!(found.others, sum(all) - sum(&kept), "{what}");
}

/// The directory of a path.
pub(super) fn directory(value: &Value) -> Vec<u8> {
    let Value::Text(path) = value else { panic!("{value:?} is no path") };
    path[..path.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1)].to_vec()
}

fn check_terms(fixture: &Fixture, known: &[Known], query: &Query, random: &mut Rng, what: &str) {
    let searcher = fixture.snapshot.searcher();
    for name in ["owner", "path"].into_iter().chain(NUMBERS) {
        let field = fixture.field(name);
        let prefix = if name == "owner" { ["", "", "v/", "w2"][random.usize(..4)] } else { "" };
        let all = counted(known, |known| match name {
            "path" => known.of(field).iter().map(|value| Value::Text(directory(value))).collect(),
            _ => known.of(field).to_vec(),
        });
        let all: Vec<_> = all
            .into_iter()
            .filter(|(value, _)| !matches!(value, Value::Text(text) if !text.starts_with(prefix.as_bytes())))
            .collect();
        let limit = [0, 1, 3, 10, usize::MAX][random.usize(..5)];
        let min_count = random.u64(..4);
        let by = [TermsOrder::Count, TermsOrder::Term][random.usize(..2)];
        let terms =
            FacetTerms { limit, min_count, order: by, prefix: prefix.into(), ..FacetTerms::new(field) };
        let found = facet(&searcher, query, &Facet::Terms(terms.clone()));
        let what = format!("{what} {name} {terms:?}");
        must_be(&found, &all, limit, min_count, by, &what);
        let missing = known.iter().filter(|known| known.of(field).is_empty()).count();
        assert_eq!((found.documents, found.missing), (known.len() as u64, missing as u64), "{what}");
        let values = counted(known, |known| match name {
            "path" => known.of(field).iter().map(|value| Value::Text(directory(value))).collect(),
            _ => known.of(field).to_vec(),
        });
        for exact in [true, false] {
            let Aggregated::Distinct(found) = ask(&searcher, query, Aggregation::Distinct { field, exact })
            else {
                panic!("no number of values")
            };
            let near = if exact { 0 } else { 2 + values.len() as u64 / 20 };
            assert!(found.values.abs_diff(values.len() as u64) <= near, "{what} {found:?}");
            assert_eq!((found.exact, found.missing), (exact, missing as u64), "{what}");
        }
    }
}

fn check_ranges(fixture: &Fixture, known: &[Known], query: &Query, random: &mut Rng, what: &str) {
    let searcher = fixture.snapshot.searcher();
    for name in ["owner"].into_iter().chain(NUMBERS) {
        let field = fixture.field(name);
        let kind = &fixture.schema.entry(field).unwrap().kind;
        let ranges: Vec<FacetRange> = (0..random.usize(1..5))
            .map(|at| {
                let mut bound = || (random.u32(..4) > 0).then(|| any_value(random, kind, 30));
                FacetRange { label: at.to_string(), from: bound(), to: bound() }
            })
            .collect();
        let found = facet(&searcher, query, &Facet::Ranges { field, ranges: ranges.clone() });
        assert_eq!(found.buckets.len(), ranges.len());
        for (bucket, range) in found.buckets.iter().zip(&ranges) {
            let holds = |value: &Value| {
                range.from.as_ref().is_none_or(|from| order(from, value).is_le())
                    && range.to.as_ref().is_none_or(|to| order(value, to).is_lt())
            };
            let expected = known.iter().filter(|known| known.of(field).iter().any(holds)).count();
            assert_eq!(bucket.key, BucketKey::Range(range.clone()));
            assert_eq!(bucket.count, expected as u64, "{what} {name} {range:?}");
        }
    }
}

fn check_intervals(fixture: &Fixture, known: &[Known], query: &Query, random: &mut Rng, what: &str) {
    let searcher = fixture.snapshot.searcher();
    for name in ["size", "delta", "price", "when"] {
        let field = fixture.field(name);
        let (length, offset) = (random.u64(1..2_000), random.i64(-50..50));
        let facet_of = Facet::Histogram { field, interval: length as f64, offset: offset as f64 };
        let start = |value: i128, least: i128| {
            let (length, offset) = (i128::from(length), i128::from(offset));
            ((value - offset).div_euclid(length) * length + offset).max(least)
        };
        let signed = |number: i64| i64::try_from(start(number.into(), i64::MIN.into())).unwrap();
        let all = counted(known, |known| {
            let start = |value: &Value| match value {
                Value::Unsigned(number) => {
                    Value::Unsigned(u64::try_from(start((*number).into(), 0)).unwrap())
                }
                Value::Signed(number) => Value::Signed(signed(*number)),
                Value::Date(number) => Value::Date(signed(*number)),
                Value::Float(number) => {
                    let (length, offset) = (length as f64, offset as f64);
                    Value::Float(((number - offset) / length).floor() * length + offset)
                }
                other => panic!("{other:?}"),
            };
            known.of(field).iter().map(start).collect()
        });
        let found = facet(&searcher, query, &facet_of);
        must_be(&found, &all, usize::MAX, 1, TermsOrder::Term, &format!("{what} {name} {facet_of:?}"));
    }
    let field = fixture.field("when");
    for (unit, digits, rest) in [
        (CalendarUnit::Year, 4, "-01-01"),
        (CalendarUnit::Month, 7, "-01"),
        (CalendarUnit::Day, 10, ""),
        (CalendarUnit::Hour, 13, ":00:00"),
    ] {
        let all = counted(known, |known| {
            let start = |value: &Value| {
                let Value::Date(moment) = value else { panic!("{value:?}") };
                let text = format!("{}{rest}", &format_date(*moment)[..digits]);
                Value::Date(parse_date(text.as_bytes()).unwrap())
            };
            known.of(field).iter().map(start).collect()
        });
        let found = facet(&searcher, query, &Facet::Calendar { field, unit });
        must_be(&found, &all, usize::MAX, 1, TermsOrder::Term, &format!("{what} {unit:?}"));
    }
}

fn check_directories(fixture: &Fixture, known: &[Known], query: &Query, what: &str) {
    let (searcher, field) = (fixture.snapshot.searcher(), fixture.field("path"));
    for below in ["", "/", "a/", "a/b/", "a/d1/", "none/"] {
        let all = counted(known, |known| {
            let directories = known.of(field).iter().map(directory);
            let children = directories.filter_map(|directory| {
                let rest = directory.strip_prefix(below.as_bytes())?;
                let end = rest.iter().position(|&byte| byte == b'/').map_or(0, |at| at + 1);
                Some(Value::Text([below.as_bytes(), &rest[..end]].concat()))
            });
            children.collect()
        });
        let found = facet(&searcher, query, &Facet::Path { field, below: below.into(), limit: 3 });
        must_be(&found, &all, 3, 1, TermsOrder::Count, &format!("{what} below {below}"));
    }
}

/// A number and its parts of a sum, whole and of doubles.
fn number(value: &Value) -> (i128, f64) {
    match value {
        Value::Unsigned(number) => ((*number).into(), *number as f64),
        Value::Signed(number) | Value::Date(number) => ((*number).into(), *number as f64),
        Value::Boolean(truth) => ((*truth).into(), f64::from(u8::from(*truth))),
        Value::Float(number) => (0, *number),
        other => panic!("{other:?}"),
    }
}

pub(super) fn check_stats(found: &Stats, known: &[Known], field: Field, what: &str) {
    let mut all: Vec<Value> = known.iter().flat_map(|known| known.of(field)).cloned().collect();
    all.sort_by(order);
    let present = known.iter().filter(|known| !known.of(field).is_empty()).count();
    assert_eq!((found.documents, found.missing), (present as u64, (known.len() - present) as u64), "{what}");
    assert_eq!(found.values, all.len() as u64, "{what}");
    assert_eq!((found.min.as_ref(), found.max.as_ref()), (all.first(), all.last()), "{what}");
    if all.is_empty() {
        assert_eq!((found.sum, found.mean, found.deviation), (None, None, None), "{what}");
        return;
    }
    let count = all.len() as f64;
    let sum: f64 = all.iter().map(|value| number(value).1).sum();
    match found.sum.unwrap() {
        Sum::Whole(whole) => assert_eq!(whole, all.iter().map(|value| number(value).0).sum(), "{what}"),
        Sum::Float(float) => assert!((float - sum).abs() < 1e-9 * sum.abs().max(1.0), "{what}"),
    }
    let size = all.iter().map(|value| number(value).1.abs()).fold(1.0, f64::max);
    let mean = sum / count;
    assert!((found.mean.unwrap() - mean).abs() <= 1e-9 * size, "{what}: {found:?} {mean}");
    let squares: f64 = all.iter().map(|value| (number(value).1 - mean).powi(2)).sum();
    assert!((found.deviation.unwrap() - (squares / count).sqrt()).abs() <= 1e-6 * size, "{what}");
    for (percent, value) in &found.percentiles {
        let below = |value: &Value| all.iter().filter(|other| order(other, value).is_le()).count() as f64;
        assert!(below(value) >= percent / 100.0 * count, "{what} {percent}: {value:?}");
        let less = all.iter().rfind(|other| order(other, value).is_lt());
        assert!(less.is_none_or(|less| below(less) < percent / 100.0 * count), "{what} {percent}: {value:?}");
    }
}

#[test]
fn every_facet_counts_what_looking_at_every_document_counts() {
    let seed = 0x5eed_0c20;
    let mut random = Rng::with_seed(seed);
    for round in 0..36 {
        let fixture = Fixture::new(&mut random, if round % 6 == 5 { 9_000 } else { 300 });
        for _ in 0..if round % 6 == 5 { 2 } else { 8 } {
            let query = fixture.query(&mut random);
            let known = fixture.known(&fixture.snapshot.searcher(), &query, Model::Classic);
            let what = format!("seed {seed:x} round {round} {query:?}");
            check_terms(&fixture, &known, &query, &mut random, &what);
            check_ranges(&fixture, &known, &query, &mut random, &what);
            check_intervals(&fixture, &known, &query, &mut random, &what);
            check_directories(&fixture, &known, &query, &what);
            for name in NUMBERS {
                let field = fixture.field(name);
                let percentiles = vec![0.0, 1.0, 50.0, random.f64() * 100.0, 100.0];
                let asked = Aggregation::Stats { field, percentiles };
                let Aggregated::Stats(found) = ask(&fixture.snapshot.searcher(), &query, asked) else {
                    panic!("no figures")
                };
                check_stats(&found, &known, field, &format!("{what} {name}"));
            }
        }
    }
}

#[test]
fn what_a_column_cannot_answer_is_refused() {
    let fixture = (1..).map(|seed| Fixture::new(&mut Rng::with_seed(seed), 300)).find(|fixture| {
        let has = |name| fixture.given.iter().any(|given| !given[&fixture.field(name)].is_empty());
        ["blob", "owner", "path", "size"].into_iter().all(has)
    });
    let fixture = fixture.unwrap();
    let searcher = fixture.snapshot.searcher();
    let query = fixture.snapshot.parse("*", Operator::Or).unwrap();
    let field = |name: &str| fixture.field(name);
    let stats =
        |name: &str, percent: f64| Aggregation::Stats { field: field(name), percentiles: vec![percent] };
    let facet = |facet: Facet| Aggregation::Facet(facet, vec![]);
    let range = |value: Value| FacetRange { label: String::new(), from: Some(value), to: None };
    let ranges = |name: &str, value: Value| Facet::Ranges { field: field(name), ranges: vec![range(value)] };
    let mut deep = facet(Facet::Terms(FacetTerms::new(field("size"))));
    for _ in 0..9 {
        deep = Aggregation::Facet(
            Facet::Terms(FacetTerms { limit: 1, ..FacetTerms::new(field("size")) }),
            vec![deep],
        );
    }
    let prefix = FacetTerms { prefix: b"1".into(), ..FacetTerms::new(field("size")) };
    for asked in [
        stats("owner", 5.0),
        stats("size", 100.1),
        stats("size", f64::NAN),
        facet(Facet::Terms(FacetTerms::new(field("blob")))),
        facet(Facet::Terms(prefix)),
        facet(ranges("size", Value::Signed(1))),
        facet(ranges("owner", Value::Unsigned(1))),
        facet(Facet::Histogram { field: field("owner"), interval: 1.0, offset: 0.0 }),
        facet(Facet::Histogram { field: field("size"), interval: 0.5, offset: 0.0 }),
        facet(Facet::Calendar { field: field("size"), unit: CalendarUnit::Day }),
        facet(Facet::Path { field: field("owner"), below: vec![], limit: 9 }),
        Aggregation::Distinct { field: field("blob"), exact: false },
        deep,
    ] {
        let refused = searcher.aggregate(&query, std::slice::from_ref(&asked));
        assert!(
            matches!(
                refused,
                Err(Error::Unsupported { .. }
                    | Error::InvalidValue { .. }
                    | Error::InvalidField { .. }
                    | Error::TooMany { .. }
                    | Error::UnknownHit { .. })
            ),
            "{asked:?}: {refused:?}"
        );
    }
}
