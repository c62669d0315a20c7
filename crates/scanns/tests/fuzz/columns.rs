//! Random requests on columns: ranges of values, orders, counts and groups, including requests without
//! meaning.

use std::ops::Bound;

use fastrand::Rng;
use scanns::aggregate::{
    Aggregated, Aggregation, CalendarUnit, Facet, FacetRange, FacetTerms, GroupBy, TermsOrder,
};
use scanns::query::{Closeness, ScoreCurve, ValueRange, ValueScore};
use scanns::schema::{Document, Field, FieldEntry, FieldKind, Schema, Value};
use scanns::search::{Missing, Model, Searcher, SortBy, SortKey};
use scanns::{Error, Query};

use super::world::{World, word};

/// Adds columns of every kind, in addition to the searched fields.
pub fn add_to(schema: &mut Schema) {
    for (name, kind) in [
        ("count", FieldKind::Unsigned),
        ("level", FieldKind::Signed),
        ("heat", FieldKind::Float),
        ("open", FieldKind::Boolean),
        ("when", FieldKind::Date),
        ("file", FieldKind::Path),
        ("raw", FieldKind::Bytes),
    ] {
        schema.add(FieldEntry::new(name, kind).column()).unwrap();
    }
    schema.add(FieldEntry::new("host", FieldKind::Keyword).column().not_searched()).unwrap();
}

/// Values of some of the columns of a document, several values for some.
pub fn fill(schema: &Schema, mut document: Document, random: &mut Rng) -> Document {
    for (field, entry) in schema.columns() {
        for _ in 0..[0, 1, 1, 1, 3][random.usize(0..5)] {
            document = document.with(field, value_of(&entry.kind, random));
        }
    }
    document
}

fn value_of(kind: &FieldKind, random: &mut Rng) -> Value {
    match kind {
        FieldKind::Unsigned => Value::Unsigned([0, 1, 7, 500, 1 << 30, u64::MAX][random.usize(0..6)]),
        FieldKind::Signed => Value::Signed([0, 1, -1, 80, i64::MIN, i64::MAX][random.usize(0..6)]),
        FieldKind::Float => {
            Value::Float([0.0, -0.0, 1.5, -1e300, f64::INFINITY, f64::NAN, 1e-300][random.usize(0..7)])
        }
        FieldKind::Boolean => Value::Boolean(random.bool()),
        FieldKind::Date => Value::Date(
            [0, -1, 1_700_000_000_000_000_000, 1_710_000_000_000_000_000, i64::MIN, i64::MAX]
                [random.usize(0..6)],
        ),
        FieldKind::Bytes => Value::Bytes((0..random.usize(0..9)).map(|_| random.u8(..)).collect()),
        FieldKind::Path => {
            Value::Text([["", "/", "/a/", "b/c/"][random.usize(0..4)], word(random)].concat().into())
        }
        FieldKind::Keyword | FieldKind::Text { .. } => Value::Text(word(random).into()),
    }
}

/// A value of any kind, rarely of the field's kind.
fn any_value(random: &mut Rng) -> Value {
    let kinds = [
        FieldKind::Unsigned,
        FieldKind::Signed,
        FieldKind::Float,
        FieldKind::Boolean,
        FieldKind::Date,
        FieldKind::Bytes,
        FieldKind::Path,
    ];
    value_of(&kinds[random.usize(0..kinds.len())], random)
}

/// A field of the index, mostly a column.
pub fn field(random: &mut Rng, world: &World) -> (Field, Option<FieldKind>) {
    let World::Disk(snapshot) = world else { return (Field::default(), None) };
    let columns: Vec<_> = snapshot.schema().columns().collect();
    match random.u8(0..12) {
        0 => (snapshot.schema().default_field().unwrap_or_default(), None),
        _ if columns.is_empty() => (Field::default(), None),
        _ => {
            let (field, entry) = columns[random.usize(0..columns.len())];
            (field, Some(entry.kind.clone()))
        }
    }
}

fn value(kind: Option<&FieldKind>, random: &mut Rng) -> Value {
    match kind {
        Some(kind) if random.u8(0..12) > 0 => value_of(kind, random),
        _ => any_value(random),
    }
}

/// A range of values.
pub fn range(random: &mut Rng, world: &World) -> Query {
    let (field, kind) = field(random, world);
    let mut bound = || match random.u8(0..4) {
        0 => Bound::Unbounded,
        1 => Bound::Excluded(value(kind.as_ref(), random)),
        _ => Bound::Included(value(kind.as_ref(), random)),
    };
    let (low, high) = (bound(), bound());
    Query::Values(ValueRange { field, low, high })
}

/// A score by the values of a field.
pub fn score(random: &mut Rng, world: &World) -> ValueScore {
    const NUMBERS: [f64; 9] = [0.0, 1.0, 0.5, 1e9, 1e-300, f64::MAX, -1.0, f64::NAN, f64::INFINITY];
    let (field, kind) = field(random, world);
    let curve = match random.u8(0..6) {
        0 => ScoreCurve::Value,
        1 => ScoreCurve::Log,
        2 => ScoreCurve::Root,
        3 => ScoreCurve::Saturation { half: NUMBERS[random.usize(0..9)] },
        _ => ScoreCurve::Near {
            origin: value(kind.as_ref(), random),
            scale: NUMBERS[random.usize(0..9)],
            closeness: [Closeness::Reciprocal, Closeness::Exponential, Closeness::Gauss, Closeness::Linear]
                [random.usize(0..4)],
        },
    };
    ValueScore { field, curve, missing: NUMBERS[random.usize(0..9)] }
}

/// A score by a column as it is written in texts.
pub fn score_text(random: &mut Rng) -> String {
    const CURVES: [&str; 8] = ["near", "near", "value", "log", "root", "saturate", "other", ""];
    let mut text = format!("^{}{}(", ["", "+", "="][random.usize(0..3)], CURVES[random.usize(0..8)]);
    let name = ["count", "level", "heat", "when", "open", "host"][random.usize(0..6)];
    for (place, _) in (0..random.usize(0..5)).enumerate() {
        let argument = match (place, random.u8(0..6)) {
            (0, 1..) => name.to_owned(),
            (2, 0..4) => ["30d", "5", "1GiB", "2mo", "0"][random.usize(0..5)].to_owned(),
            (3, 0..4) => ["gauss", "linear", "missing=0.5", "missing=x"][random.usize(0..4)].to_owned(),
            _ => self::text(random),
        };
        text.push_str(if place > 0 { "," } else { "" });
        text.push_str(&argument);
    }
    text + if random.u8(0..20) > 0 { ")" } else { "" }
}

/// A value as it is written in texts.
pub fn text(random: &mut Rng) -> String {
    const VALUES: [&str; 25] = [
        "5",
        "-1",
        "1.5GiB",
        "2kB",
        "1e9",
        "nan",
        "inf",
        "true",
        "no",
        "2024",
        "2024-02",
        "2024-02-30",
        "now",
        "now-30d",
        "/a",
        "/a/*",
        "*",
        "99999999999999999999",
        "1970-01-01T00:00:00Z",
        "0x1f",
        "*a*",
        "?b*",
        "a~1",
        "re\"[a-c]+\"",
        "0644",
    ];
    let sign = ["", "", ">", ">=", "<", "<=", "="][random.usize(0..7)];
    format!("{sign}{}", VALUES[random.usize(0..VALUES.len())])
}

fn keys(random: &mut Rng, world: &World) -> Vec<SortKey> {
    let key = |random: &mut Rng| SortKey {
        by: match random.u8(0..6) {
            0 => SortBy::Score,
            1 => SortBy::Document,
            _ => SortBy::Field(field(random, world).0),
        },
        descending: random.bool(),
        missing: if random.bool() { Missing::First } else { Missing::Last },
    };
    (0..random.usize(0..4)).map(|_| key(random)).collect()
}

fn facet(random: &mut Rng, world: &World) -> Facet {
    let (field, kind) = field(random, world);
    let number = |random: &mut Rng| {
        [1.0, 0.5, 1e9, 8.64e13, 0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300][random.usize(0..9)]
    };
    match random.u8(0..8) {
        0 => {
            let mut end = || random.bool().then(|| value(kind.as_ref(), random));
            let range = FacetRange { label: "r".into(), from: end(), to: end() };
            Facet::Ranges { field, ranges: vec![range; 2] }
        }
        1 => Facet::Histogram { field, interval: number(random), offset: number(random) },
        2 => {
            use CalendarUnit::{Day, Hour, Month, Week, Year};
            Facet::Calendar { field, unit: [Year, Month, Week, Day, Hour][random.usize(0..5)] }
        }
        3 => {
            let below = ["", "/", "/a/", "x"][random.usize(0..4)].into();
            Facet::Path { field, below, limit: random.usize(0..5) }
        }
        _ => Facet::Terms(FacetTerms {
            limit: [0, 1, 10, usize::MAX][random.usize(0..4)],
            min_count: random.u64(0..4),
            order: if random.bool() { TermsOrder::Count } else { TermsOrder::Term },
            prefix: if random.u8(0..4) == 0 { b"r".to_vec() } else { Vec::new() },
            ..FacetTerms::new(field)
        }),
    }
}

fn aggregation(random: &mut Rng, world: &World, depth: usize) -> Aggregation {
    match random.u8(0..6) {
        0 => {
            let percentiles = vec![[50.0, 0.0, 100.0, -1.0, f64::NAN][random.usize(0..5)]];
            Aggregation::Stats { field: field(random, world).0, percentiles }
        }
        1 => Aggregation::Distinct { field: field(random, world).0, exact: random.bool() },
        _ => {
            let below = if depth < 3 { random.usize(0..3) } else { 0 };
            let nested = (0..below).map(|_| aggregation(random, world, depth + 1)).collect();
            Aggregation::Facet(facet(random, world), nested)
        }
    }
}

/// Makes one request about the documents of a query; the answer must be about these documents.
pub fn ask(
    searcher: &Searcher,
    query: &Query,
    model: Model,
    world: &World,
    random: &mut Rng,
) -> Result<(), Error> {
    match random.u8(0..3) {
        0 => {
            let (keys, most) = (keys(random, world), random.usize(0..20));
            let page = searcher.top_k_sorted(query, model, &keys, most, None)?;
            assert!(page.len() <= most, "{query:?} by {keys:?}");
            let Some(last) = page.last() else { return Ok(()) };
            let next = searcher.top_k_sorted(query, model, &keys, most, Some(last))?;
            let both = searcher.top_k_sorted(query, model, &keys, 2 * most, None)?;
            let hits = |page: &[scanns::search::SortedHit]| {
                page.iter().map(|hit| (hit.hit.leaf, hit.hit.doc)).collect::<Vec<_>>()
            };
            assert_eq!(hits(&both), [hits(&page), hits(&next)].concat(), "{query:?} by {keys:?}");
        }
        1 => {
            let by = GroupBy {
                keys: keys(random, world),
                groups: random.usize(0..6),
                field: field(random, world).0,
                hits: random.usize(0..3),
                missing: random.bool(),
            };
            let found = searcher.top_groups(query, model, &by)?;
            // In the extended Boolean model more documents match if scores are requested.
            if !matches!(model, Model::PNorm { .. }) {
                assert!(found.groups.len() as u64 <= found.total, "{query:?} {by:?}");
            }
        }
        _ => {
            let asked: Vec<Aggregation> =
                (0..random.usize(1..4)).map(|_| aggregation(random, world, 0)).collect();
            let found = searcher.aggregate(query, &asked)?;
            let count = searcher.count(query)?;
            for (asked, found) in asked.iter().zip(&found) {
                if let Aggregated::Buckets(buckets) = found {
                    assert_eq!(buckets.documents, count, "{query:?} {asked:?}");
                    assert!(
                        buckets.buckets.iter().all(|bucket| bucket.count <= count),
                        "{query:?} {asked:?}"
                    );
                }
            }
        }
    }
    Ok(())
}
