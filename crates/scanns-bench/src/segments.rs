//! What queries cost by the number of segments of an index.
//!
//! The same invented documents are committed in 1, 10, 30 and 100 parts, without merges. Words are as
//! frequent as in texts, by Zipf's law. All indexes are asked in turns, and must give the same answers.

use std::hint::black_box;
use std::ops::Bound;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, ensure};
use fastrand::Rng;
use scanns::query::{BoolQuery, Pattern, ValueRange};
use scanns::schema::{Document, Field, FieldEntry, FieldKind, Schema, Value};
use scanns::search::Model;
use scanns::writer::WriterOptions;
use scanns::{Index, Query, Snapshot};
use scanns_bench::results::{Better, Results, Series};
use scanns_bench::stats::in_turns;

/// The documents and the numbers of segments.
#[derive(Debug, clap::Args)]
pub struct SegmentArgs {
    /// Documents
    #[arg(long, default_value_t = 200_000)]
    pub documents: usize,
    /// Numbers of segments; the first is the baseline
    #[arg(long, value_delimiter = ',', default_value = "1,10,30,100")]
    pub segments: Vec<usize>,
    /// Rounds; in each, every index is asked all queries of a class
    #[arg(long, default_value_t = 11)]
    pub repetitions: usize,
    /// The seed of the documents and queries
    #[arg(long, default_value_t = 7)]
    pub seed: u64,
}

/// Different words.
const WORDS: f64 = 100_000.0;

/// Queries of a class.
const QUERIES: usize = 50;

const MODEL: Model = Model::Bm25 { k1: 1.2, b: 0.75 };

/// A question that is asked with each query of a class.
#[derive(Clone, Copy)]
enum Ask {
    Top,
    Count,
    Prepare,
}

/// A word by its rank: the ranks that are asked for begin with `from`.
fn word(random: &mut Rng, from: f64, to: f64) -> String {
    // Ranks spread evenly over powers have the frequencies of Zipf's law.
    let rank = from * (to / from).powf(random.f64());
    format!("w{:06}", rank.floor())
}

fn write(args: &SegmentArgs, segments: usize, path: &Path) -> Result<Fields> {
    let mut schema = Schema::new();
    let text = schema.add(FieldEntry::text("text"))?;
    let size = schema.add(FieldEntry::new("size", FieldKind::Unsigned).column())?;
    let options = WriterOptions { lanes: 1, merge: None, ..WriterOptions::default() };
    let writer = Index::create(path, &schema)?.writer_with(None, options)?;
    let mut random = Rng::with_seed(args.seed);
    for number in 0..args.documents {
        let length = 20 + random.usize(..60);
        let words: Vec<String> = (0..length).map(|_| word(&mut random, 1.0, WORDS)).collect();
        let document = Document::new(number.to_string()).text(text, words.join(" "));
        writer.add(&document.with(size, Value::Unsigned(random.u64(..10_000))))?;
        if (number + 1) * segments / args.documents > number * segments / args.documents {
            writer.commit()?;
        }
    }
    writer.commit()?;
    Ok(Fields { text, size })
}

#[derive(Clone, Copy)]
struct Fields {
    text: Field,
    size: Field,
}

/// The classes of queries, each with its name and what is asked.
fn classes(seed: u64, fields: Fields) -> Vec<(&'static str, Ask, Vec<Query>)> {
    let mut random = Rng::with_seed(seed ^ 0x5e95);
    let Fields { text, size } = fields;
    let mut of = |make: &mut dyn FnMut(&mut Rng) -> Query| {
        (0..QUERIES).map(|_| make(&mut random)).collect::<Vec<Query>>()
    };
    let frequent = |random: &mut Rng| Query::term(text, word(random, 2.0, 500.0));
    let rare = |random: &mut Rng| Query::term(text, word(random, 5_000.0, WORDS));
    let prefix =
        |random: &mut Rng| Query::pattern(text, Pattern::Prefix(word(random, 100.0, 9e4)[..5].into()));
    let fuzzy = |random: &mut Rng| {
        let term = format!("x{}", &word(random, 100.0, WORDS)[1..]);
        Query::pattern(text, Pattern::Fuzzy { term, edits: 1, prefix: 0 })
    };
    let range = |random: &mut Rng| {
        let low = random.u64(..9_000);
        let (low, high) = (Value::Unsigned(low), Value::Unsigned(low + 1_000));
        let range = ValueRange { field: size, low: Bound::Included(low), high: Bound::Included(high) };
        let (must, filter) = (vec![frequent(random)], vec![Query::Values(range)]);
        Query::Bool(BoolQuery { must, filter, ..BoolQuery::default() })
    };
    vec![
        ("frequent word", Ask::Top, of(&mut |random| frequent(random))),
        ("rare word", Ask::Top, of(&mut |random| rare(random))),
        (
            "two optional words",
            Ask::Top,
            of(&mut |random| Query::any_of(vec![frequent(random), frequent(random)])),
        ),
        (
            "two required words",
            Ask::Top,
            of(&mut |random| Query::all_of(vec![frequent(random), frequent(random)])),
        ),
        ("word within a range", Ask::Top, of(&mut |random| range(random))),
        ("misspelt word", Ask::Top, of(&mut |random| fuzzy(random))),
        ("word", Ask::Count, of(&mut |random| frequent(random))),
        ("prefix", Ask::Count, of(&mut |random| prefix(random))),
        ("misspelt word", Ask::Count, of(&mut |random| fuzzy(random))),
        ("word", Ask::Prepare, of(&mut |random| frequent(random))),
        (
            "six words",
            Ask::Prepare,
            of(&mut |random| Query::any_of((0..6).map(|_| frequent(random)).collect())),
        ),
    ]
}

/// Asks all queries once; returns numbers that must not depend on segments, and microseconds per query.
fn ask(snapshot: &Snapshot, what: Ask, queries: &[Query]) -> Result<(Vec<f64>, f64)> {
    let mut found = Vec::new();
    let begin = Instant::now();
    for query in queries {
        match what {
            Ask::Top => {
                let hits = snapshot.searcher().top_k(query, MODEL, 10)?;
                found.extend(hits.iter().map(|hit| f64::from(hit.score)));
            }
            Ask::Count => found.push(f64::from(u32::try_from(snapshot.searcher().count(query)?)?)),
            Ask::Prepare => drop(black_box(snapshot.searcher().prepare(query)?)),
        }
    }
    let micros = begin.elapsed().as_secs_f64() * 1e6;
    Ok((found, micros / f64::from(u32::try_from(queries.len())?)))
}

/// Measures all classes, and opening.
pub fn run(args: &SegmentArgs, results: &mut Results) -> Result<()> {
    let place = tempfile::tempdir()?;
    let path = |segments: usize| place.path().join(format!("{segments}.scanns"));
    let mut fields = None;
    let mut snapshots = Vec::new();
    for &segments in &args.segments {
        fields = Some(write(args, segments, &path(segments))?);
        snapshots.push(Snapshot::open(&path(segments))?);
        let written = snapshots.last().map_or(0, |snapshot| snapshot.segments().len());
        ensure!(written == segments, "{written} segments instead of {segments}");
    }
    let Some(fields) = fields else { return Ok(()) };
    let subject = format!("{} documents", args.documents);
    let mut report = |class: &str, metric: &str, samples: Vec<Vec<f64>>| {
        let baseline = samples.first().cloned();
        for (&segments, samples) in args.segments.iter().zip(samples) {
            let metric = (metric, "µs", Better::Lower);
            let segments = f64::from(u32::try_from(segments).unwrap_or(u32::MAX));
            let series = Series::of("segments", &subject, class, metric, samples).with("segments", segments);
            results.add(series, baseline.as_deref());
        }
    };
    for (class, what, queries) in classes(args.seed, fields) {
        let Some(first) = snapshots.first() else { break };
        let expected = ask(first, what, &queries)?.0;
        let samples = in_turns(args.repetitions.max(1), &snapshots, |snapshot| {
            let (found, micros) = ask(snapshot, what, &queries)?;
            ensure!(found == expected, "{class}: the answers depend on segments");
            Ok(micros)
        })?;
        let metric = match what {
            Ask::Top => "ten best",
            Ask::Count => "count",
            Ask::Prepare => "planning",
        };
        report(class, metric, samples);
    }
    let samples = in_turns(args.repetitions.max(1), &args.segments, |&segments| -> Result<f64> {
        let begin = Instant::now();
        black_box(Snapshot::open(&path(segments))?);
        Ok(begin.elapsed().as_secs_f64() * 1e6)
    })?;
    report("open", "opening", samples);
    Ok(())
}
