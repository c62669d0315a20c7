//! Scores by columns and filters by columns, compared with the same computed hit by hit from the values that
//! were added.

use std::f64::consts::LN_2;
use std::ops::Bound;

use super::*;
use crate::index::{IndexWriter, WriterOptions};
use crate::query::{
    BoolQuery, Closeness, PhraseQuery, ScoreChange, ScoreCurve, ScoredQuery, ValueRange, ValueScore,
};
use crate::schema::{Document, FieldEntry, FieldKind, Schema, Value};
use crate::search::{Hit, SearchThreads};
use crate::segment::{DocBits, VisibleDocs};
use crate::store::RamDirectory;

/// Numbers of documents that fill several windows and blocks.
const DOCUMENTS: usize = 9_000;

const KINDS: [(&str, FieldKind); 5] = [
    ("unsigned", FieldKind::Unsigned),
    ("signed", FieldKind::Signed),
    ("float", FieldKind::Float),
    ("decimal", FieldKind::Float),
    ("date", FieldKind::Date),
];

/// An index, and the values of its documents by key and column.
struct Indexed {
    snapshot: Snapshot,
    text: Field,
    columns: Vec<Field>,
    values: BTreeMap<String, Vec<Vec<Value>>>,
}

/// Values of a document: one of `unsigned` and `decimal`, none to three of the others.
fn values(random: &mut Rng, column: usize) -> Vec<Value> {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e300];
    let count = if column == 0 || column == 3 { 1 } else { [0, 1, 1, 1, 3][random.usize(..5)] };
    let mut value = || match column {
        0 if random.u32(..500) == 0 => Value::Unsigned(random.u64(..)),
        0 => Value::Unsigned(random.u64(..300)),
        1 => Value::Signed(random.i64(-50..50)),
        2 if random.u32(..40) == 0 => Value::Float(odd[random.usize(..odd.len())]),
        2 => Value::Float(random.f64() * 40.0 - 10.0),
        3 if random.u32(..900) == 0 => Value::Float(random.f64()),
        3 => Value::Float(f64::from(random.u32(..100_000)) / 100.0),
        _ => Value::Date(1_700_000_000_000_000_000 + random.i64(..1 << 55)),
    };
    (0..count).map(|_| value()).collect()
}

/// Words of all frequencies.
fn word(random: &mut Rng) -> String {
    let most = 1 << random.u32(..9);
    format!("w{}", random.u32(..most))
}

fn indexed(random: &mut Rng) -> Indexed {
    let directory = Arc::new(RamDirectory::new());
    let mut schema = Schema::new();
    let kind = FieldKind::Text { analyzer: Analyzer::Standard, postings: Postings::Positions };
    let text = schema.add(FieldEntry::new("text", kind)).unwrap();
    let columns: Vec<Field> = KINDS
        .iter()
        .map(|(name, kind)| schema.add(FieldEntry::new(name, kind.clone()).column()).unwrap())
        .collect();
    let options = WriterOptions { lanes: 1, merge: None, ..WriterOptions::default() };
    let writer = IndexWriter::open_in(directory.clone(), Some(&schema), options).unwrap();
    let mut all = BTreeMap::new();
    for number in 0..DOCUMENTS {
        let key = format!("{number:05}");
        let words: Vec<String> = (0..random.usize(1..9)).map(|_| word(random)).collect();
        let mut document = Document::new(key.as_str()).text(text, words.join(" ").as_str());
        let of_document: Vec<Vec<Value>> = (0..KINDS.len()).map(|column| values(random, column)).collect();
        for (&field, values) in columns.iter().zip(&of_document) {
            for value in values {
                document = document.with(field, value.clone());
            }
        }
        writer.add(&document).unwrap();
        all.insert(key, of_document);
        if number == DOCUMENTS / 2 || number == DOCUMENTS * 3 / 4 {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    for number in (0..DOCUMENTS).step_by(7) {
        writer.delete(format!("{number:05}")).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    let snapshot = Snapshot::open_in(&*directory).unwrap().unwrap();
    assert_eq!(snapshot.segments().len(), 3);
    Indexed { snapshot, text, columns, values: all }
}

fn number_of(value: &Value) -> f64 {
    match value {
        Value::Unsigned(number) => *number as f64,
        Value::Signed(number) | Value::Date(number) => *number as f64,
        Value::Float(number) => *number,
        _ => unreachable!(),
    }
}

impl Indexed {
    fn word(&self, random: &mut Rng) -> Query {
        Query::term(self.text, word(random))
    }

    fn column(&self, random: &mut Rng) -> (usize, Field) {
        let column = random.usize(..KINDS.len());
        (column, self.columns[column])
    }

    fn some_value(&self, random: &mut Rng, column: usize) -> Value {
        loop {
            if let Some(value) = values(random, column).pop() {
                return value;
            }
        }
    }

    fn range(&self, random: &mut Rng) -> (Query, usize, Value, Value) {
        let (column, field) = self.column(random);
        let (low, high) = (self.some_value(random, column), self.some_value(random, column));
        let bounds = (Bound::Included(low.clone()), Bound::Included(high.clone()));
        (Query::Values(ValueRange { field, low: bounds.0, high: bounds.1 }), column, low, high)
    }

    fn query(&self, random: &mut Rng) -> Query {
        let words = |random: &mut Rng, most: usize| -> Vec<Query> {
            (0..random.usize(1..=most)).map(|_| self.word(random)).collect()
        };
        match random.u32(..8) {
            0..3 => self.word(random),
            3 => Query::any_of(words(random, 4)),
            4 => Query::all_of(words(random, 3)),
            5 => {
                let terms = vec![(0, b"w0".to_vec()), (1, format!("w{}", random.u32(..2)).into_bytes())];
                Query::Phrase(PhraseQuery { field: self.text, terms, slop: 0 })
            }
            6 => Query::All,
            _ => Query::Bool(BoolQuery {
                must: words(random, 2),
                filter: vec![self.range(random).0],
                should: words(random, 2),
                must_not: if random.bool() { vec![self.range(random).0] } else { vec![self.word(random)] },
                at_least: 0,
            }),
        }
    }

    fn score(&self, random: &mut Rng) -> (ValueScore, usize) {
        let (column, field) = self.column(random);
        let curve = match random.u32(..7) {
            0 => ScoreCurve::Value,
            1 => ScoreCurve::Log,
            2 => ScoreCurve::Root,
            3 => ScoreCurve::Saturation { half: 1.0 + random.f64() * 50.0 },
            _ => {
                let closeness = Closeness::ALL[random.usize(..4)].0;
                let scale = if column == 4 { 1e16 } else { 1.0 + random.f64() * 40.0 };
                ScoreCurve::Near { origin: self.some_value(random, column), scale, closeness }
            }
        };
        (ValueScore { field, curve, missing: [0.0, 0.0, 0.5, 2.0][random.usize(..4)] }, column)
    }

    /// The number of a document, by the definitions.
    fn number(&self, hit: &Hit, by: &ValueScore, column: usize) -> f64 {
        let key = String::from_utf8(self.snapshot.key(hit).unwrap()).unwrap();
        let of_value = |value: &Value| {
            let number = number_of(value);
            let above_0 = if number > 0.0 { number } else { 0.0 };
            let found = match &by.curve {
                ScoreCurve::Value => above_0,
                ScoreCurve::Log => above_0.ln_1p(),
                ScoreCurve::Root => above_0.sqrt(),
                ScoreCurve::Saturation { .. } if above_0 == f64::INFINITY => 1.0,
                ScoreCurve::Saturation { half } => above_0 / (above_0 + half),
                ScoreCurve::Near { origin, scale, closeness } => {
                    let apart = (number - number_of(origin)).abs() / scale;
                    match closeness {
                        Closeness::Reciprocal => 1.0 / (1.0 + apart),
                        Closeness::Exponential => (-apart * LN_2).exp(),
                        Closeness::Gauss => (-apart * apart * LN_2).exp(),
                        Closeness::Linear => 1.0 - apart / 2.0,
                    }
                }
            };
            if found > 0.0 { found.min(f64::MAX) } else { 0.0 }
        };
        let values = &self.values[&key][column];
        values.iter().map(of_value).max_by(f64::total_cmp).unwrap_or(by.missing)
    }

    /// All hits of a query with changed scores, in order.
    fn changed(
        &self,
        query: &Query,
        model: Model,
        by: &ValueScore,
        column: usize,
        of: ScoreChange,
    ) -> Vec<Hit> {
        let mut hits = self.all(query, model);
        for hit in &mut hits {
            let (score, number) = (f64::from(hit.score), self.number(hit, by, column));
            let changed = match of {
                ScoreChange::Multiply => score * number,
                ScoreChange::Add => score + number,
                ScoreChange::Replace => number,
            };
            hit.score = rounded(changed.min(f64::from(f32::MAX)));
        }
        hits
    }

    fn all(&self, query: &Query, model: Model) -> Vec<Hit> {
        let mut hits = Vec::new();
        let visit = |hit: Hit| {
            hits.push(hit);
            ControlFlow::Continue(())
        };
        self.snapshot.searcher().for_each(query, model, visit).unwrap();
        hits
    }
}

#[expect(clippy::cast_possible_truncation, reason = "scores are rounded")]
fn rounded(score: f64) -> f32 {
    score as f32
}

fn best(mut hits: Vec<Hit>, k: usize) -> Vec<Hit> {
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then((a.leaf, a.doc).cmp(&(b.leaf, b.doc))));
    hits.truncate(k);
    hits
}

#[test]
fn scores_by_columns_are_those_of_each_hit() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    let indexed = indexed(&mut random);
    let threads = SearchThreads::always(3, 4_096);
    for round in 0..400 {
        let query = indexed.query(&mut random);
        let (by, column) = indexed.score(&mut random);
        let change = ScoreChange::ALL[random.usize(..3)].0;
        let model = [Model::default(), Model::Classic, Model::Dph][random.usize(..3)];
        let label = format!("seed {seed} round {round}: {query:?} {by:?} {change:?} {model:?}");
        let expected = indexed.changed(&query, model, &by, column, change);
        let scored = Query::Scored(ScoredQuery { query: Box::new(query.clone()), by: by.clone(), change });
        let searcher = indexed.snapshot.searcher();
        let shared = indexed.snapshot.searcher().with_threads(&threads);
        assert_eq!(indexed.all(&scored, model), expected, "{label}");
        assert_eq!(searcher.count(&scored).unwrap(), expected.len() as u64, "{label}");
        let k = [1, 10, 40][random.usize(..3)];
        let first = best(expected.clone(), 2 * k);
        let found = searcher.top_k(&scored, model, k).unwrap();
        assert_eq!(found, first[..k.min(first.len())], "{label}");
        assert_eq!(shared.top_k(&scored, model, k).unwrap(), found, "{label}");
        if first.len() > k {
            let prepared = searcher.prepare(&scored).unwrap();
            assert_eq!(prepared.top_k_after(model, k, first[k - 1]).unwrap(), first[k..], "{label}");
        }
        for hit in first.iter().take(3) {
            let explained = searcher.prepare(&scored).unwrap().explain(model, hit).unwrap().unwrap();
            assert_eq!(explained.value, hit.score, "{label}: {explained}");
        }
        // Inside a list, and with a boost around it.
        let word = indexed.word(&mut random);
        let boosted = scored.clone().boosted(2.0);
        let inside = Query::all_of(vec![boosted.clone(), word.clone()]);
        let of_word: BTreeMap<(usize, u32), f32> =
            indexed.all(&word, model).iter().map(|hit| ((hit.leaf, hit.doc), hit.score)).collect();
        let of_boosted = indexed.all(&boosted, model).into_iter();
        let sums = of_boosted.filter_map(|hit| {
            let other = of_word.get(&(hit.leaf, hit.doc))?;
            Some(Hit { score: rounded(f64::from(hit.score) + f64::from(*other)), ..hit })
        });
        let sums: Vec<Hit> = sums.collect();
        assert_eq!(indexed.all(&inside, model), sums, "{label}");
        assert_eq!(searcher.top_k(&inside, model, k).unwrap(), best(sums, k), "{label}");
    }
}

#[test]
fn conditions_beside_words_leave_the_scores_of_the_words() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    let mut indexed = indexed(&mut random);
    // Room for some filters of all segments.
    indexed.snapshot = indexed.snapshot.with_filter_cache(32 << 10);
    let (mut filters, mut kept) = (Vec::new(), Vec::new());
    let threads = SearchThreads::always(3, 4_096);
    for round in 0..600 {
        let words = indexed.query(&mut random);
        // The same filters come again with other words, and again later.
        if filters.len() < 4 || random.u32(..10) == 0 {
            filters.push(indexed.range(&mut random));
        }
        let latest = filters.len() - 1;
        let (range, column, low, high) = filters[latest - random.usize(..4).min(latest)].clone();
        let excludes = random.u32(..4) == 0;
        let model = [Model::default(), Model::LmDirichlet { mu: 100.0 }, Model::Dph][random.usize(..3)];
        let label = format!("seed {seed} round {round}: {words:?} {range:?} {excludes} {model:?}");
        let kind = crate::column::ColumnKind::of(&KINDS[column].1);
        let order = |value: &Value| kind.order_of(value.as_ref()).unwrap();
        let bounds = order(&low)..=order(&high);
        let is_in = |hit: &Hit| {
            let key = String::from_utf8(indexed.snapshot.key(hit).unwrap()).unwrap();
            indexed.values[&key][column].iter().any(|value| bounds.contains(&order(value)))
        };
        let mut expected = indexed.all(&words, model);
        expected.retain(|hit| is_in(hit) != excludes);
        let mut list = BoolQuery { must: vec![words], ..BoolQuery::default() };
        if excludes { &mut list.must_not } else { &mut list.filter }.push(range);
        let query = Query::Bool(list);
        let searcher = indexed.snapshot.searcher();
        assert_eq!(indexed.all(&query, model), expected, "{label}");
        assert_eq!(searcher.count(&query).unwrap(), expected.len() as u64, "{label}");
        let k = [1, 10, 40][random.usize(..3)];
        let best = best(expected, k);
        assert_eq!(searcher.top_k(&query, model, k).unwrap(), best, "{label}");
        let shared = indexed.snapshot.searcher().with_threads(&threads);
        assert_eq!(shared.top_k(&query, model, k).unwrap(), best, "{label}");
        kept.push(indexed.snapshot.info().filter_cache_bytes);
        if round == 300 {
            // Another snapshot of the same commit knows nothing yet, and finds the same.
            indexed.snapshot = indexed.snapshot.with_filter_cache(8 << 10);
            kept.push(indexed.snapshot.info().filter_cache_bytes);
        }
    }
    assert!(kept.iter().any(|&bytes| bytes > 16 << 10) && kept.iter().all(|&bytes| bytes <= 32 << 10));
    assert!(kept[301] == 0 && kept[302..].iter().all(|&bytes| bytes <= 8 << 10), "{kept:?}");
}

#[test]
fn filters_that_repeat_are_kept_for_one_snapshot_only() {
    let mut random = Rng::with_seed(0xf117);
    let indexed = indexed(&mut random);
    let filter = Query::Values(ValueRange {
        field: indexed.columns[0],
        low: Bound::Included(Value::Unsigned(100)),
        high: Bound::Unbounded,
    });
    let query = Query::Bool(BoolQuery {
        must: vec![Query::term(indexed.text, "w0")],
        filter: vec![filter],
        ..BoolQuery::default()
    });
    let ask = |snapshot: &Snapshot| snapshot.searcher().top_k(&query, Model::default(), 10).unwrap();
    let bytes = |snapshot: &Snapshot| snapshot.info().filter_cache_bytes;
    let first = ask(&indexed.snapshot);
    assert_eq!(bytes(&indexed.snapshot), 0, "it may be the only time");
    assert_eq!(ask(&indexed.snapshot), first);
    let kept = bytes(&indexed.snapshot);
    assert!(kept > DOCUMENTS as u64 / 8 && kept < DOCUMENTS as u64, "{kept}");
    assert_eq!((ask(&indexed.snapshot), bytes(&indexed.snapshot)), (first, kept));
    assert_eq!(bytes(&indexed.snapshot.clone()), kept, "clones share it");
    // A view hides documents that match.
    let even = |&count: &u32| {
        let mut docs = DocBits::none(count);
        (0..count).step_by(2).for_each(|doc| docs.insert(doc));
        VisibleDocs::whole(docs)
    };
    let shown: Vec<VisibleDocs> = indexed.snapshot.document_numbers().iter().map(even).collect();
    let view = indexed.snapshot.seen_by(&shown).unwrap();
    assert_eq!(bytes(&view), 0);
    for _ in 0..3 {
        assert!(ask(&view).iter().all(|hit| hit.doc % 2 == 0));
    }
    assert!(bytes(&view) > 0 && bytes(&indexed.snapshot) == kept);
    // Scores by columns look at some of the documents that match only.
    let near =
        ScoreCurve::Near { origin: Value::Unsigned(120), scale: 3.0, closeness: Closeness::Reciprocal };
    let by = ValueScore { field: indexed.columns[0], curve: near, missing: 0.0 };
    let scored = |query: Query| {
        let (query, change) = (Box::new(query), ScoreChange::Multiply);
        Query::Scored(ScoredQuery { query, by: by.clone(), change })
    };
    let fresh = indexed.snapshot.clone().with_filter_cache(1 << 20);
    for asked in [scored(query.clone()), query.clone(), scored(query.clone()), query.clone()] {
        for _ in 0..3 {
            let found = fresh.searcher().top_k(&asked, Model::default(), 10).unwrap();
            let without = indexed.snapshot.clone().with_filter_cache(0);
            assert_eq!(found, without.searcher().top_k(&asked, Model::default(), 10).unwrap());
        }
    }
    let none = indexed.snapshot.clone().with_filter_cache(0);
    (0..3).for_each(|_| drop(ask(&none)));
    assert_eq!(bytes(&none), 0);
}

#[test]
fn scores_of_a_program_are_given_the_numbers_of_each_document() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    let indexed = indexed(&mut random);
    let threads = SearchThreads::always(3, 4_096);
    for round in 0..200 {
        let query = indexed.query(&mut random);
        let columns: Vec<usize> = (0..random.usize(..4)).map(|_| random.usize(..KINDS.len())).collect();
        let fields: Vec<Field> = columns.iter().map(|&column| indexed.columns[column]).collect();
        let label = format!("seed {seed} round {round}: {query:?} {columns:?}");
        let score = |score: f32, numbers: &[Option<f64>]| {
            let sum: f64 =
                numbers.iter().zip(1..).map(|(number, n)| number.unwrap_or(-7.5) * f64::from(n)).sum();
            score + rounded(sum / 3.0)
        };
        let mut expected = indexed.all(&query, Model::Classic);
        for hit in &mut expected {
            let key = String::from_utf8(indexed.snapshot.key(hit).unwrap()).unwrap();
            let least = |column: &usize| {
                let numbers = indexed.values[&key][*column].iter().map(number_of);
                numbers.min_by(f64::total_cmp)
            };
            let numbers: Vec<Option<f64>> = columns.iter().map(least).collect();
            let own = score(hit.score, &numbers);
            hit.score = if own.is_nan() { f32::NEG_INFINITY } else { own };
        }
        let k = [1, 10, 40][random.usize(..3)];
        let expected = best(expected, k);
        for searcher in [indexed.snapshot.searcher(), indexed.snapshot.searcher().with_threads(&threads)] {
            let found = searcher.prepare(&query).unwrap().top_k_by(Model::Classic, k, &fields, score);
            assert_eq!(found.unwrap(), expected, "{label}");
        }
    }
}

#[test]
fn what_cannot_score_is_refused() {
    let mut random = Rng::with_seed(0x5c03);
    let indexed = indexed(&mut random);
    let asked = |curve: ScoreCurve, missing: f64| {
        let by = ValueScore { field: indexed.columns[0], curve, missing };
        let (query, change) = (Box::new(Query::All), ScoreChange::Add);
        indexed.snapshot.searcher().top_k(
            &Query::Scored(ScoredQuery { query, by, change }),
            Model::Classic,
            3,
        )
    };
    let near = |origin: Value, scale: f64| ScoreCurve::Near { origin, scale, closeness: Closeness::Gauss };
    assert!(asked(near(Value::Unsigned(4), 1.0), 0.0).is_ok());
    for (curve, missing, part) in [
        (ScoreCurve::Value, -1.0, "score without a value"),
        (ScoreCurve::Value, f64::NAN, "score without a value"),
        (ScoreCurve::Saturation { half: 0.0 }, 0.0, "greater than 0"),
        (near(Value::Unsigned(4), f64::INFINITY), 0.0, "scale"),
        (near(Value::Signed(4), 1.0), 0.0, "another kind"),
    ] {
        let error = asked(curve.clone(), missing).unwrap_err().to_string();
        assert!(error.contains(part), "{curve:?} {missing}: {error}");
    }
}
