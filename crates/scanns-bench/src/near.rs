//! Snapshots of a writer: the time of each while documents are added at a steady rate, the time of each `add`
//! meanwhile, and documents a second at full speed with snapshots and without.
//!
//! A document has a text of words that are distributed as in a language, a keyword, a number and a date, each
//! a column. A share of the documents may replace earlier ones. Every snapshot is checked: it has at least
//! the documents that were added before it began, and a search in it works.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use scanns::schema::{Document, Field, FieldEntry, FieldKind, Schema, Value};
use scanns::search::Model;
use scanns::writer::{IndexWriter, WriterOptions};
use scanns::{Index, Query};
use scanns_bench::results::{Better, Results, Series};
use scanns_bench::stats::{median, quantile};

/// The rate, the documents and the index.
#[derive(Debug, clap::Args)]
pub struct NearArgs {
    /// The index to write; an index that is there is removed
    #[arg(long, default_value = "target/bench/near.scanns")]
    pub index: PathBuf,
    /// Documents a second
    #[arg(long, default_value_t = 10_000)]
    pub rate: u64,
    /// Seconds of each measurement at this rate
    #[arg(long, default_value_t = 10)]
    pub seconds: u64,
    /// Milliseconds between snapshots
    #[arg(long, value_delimiter = ',', default_value = "100,1000")]
    pub each: Vec<u64>,
    /// Milliseconds between commits, by a third thread; 0 for none
    #[arg(long, default_value_t = 0)]
    pub commit_each: u64,
    /// Words of a document
    #[arg(long, default_value_t = 20)]
    pub words: usize,
    /// The share of documents that replace earlier ones, in percent
    #[arg(long, default_value_t = 0)]
    pub updates: u64,
    /// Threads that add documents at full speed
    #[arg(long, default_value_t = 1)]
    pub threads: usize,
    /// Documents to add at full speed
    #[arg(long, default_value_t = 400_000)]
    pub documents: u64,
    /// Rounds at full speed
    #[arg(long, default_value_t = 5)]
    pub repetitions: usize,
}

/// The fields of documents, and texts for them.
struct NearCorpus {
    schema: Schema,
    text: Field,
    owner: Field,
    size: Field,
    sent: Field,
    texts: Vec<String>,
    updates: u64,
}

impl NearCorpus {
    fn new(args: &NearArgs) -> Result<Self> {
        let mut schema = Schema::new();
        let text = schema.add(FieldEntry::text("text").positions())?;
        let owner = schema.add(FieldEntry::new("owner", FieldKind::Keyword).column())?;
        let size = schema.add(FieldEntry::new("size", FieldKind::Unsigned).column())?;
        let sent = schema.add(FieldEntry::new("sent", FieldKind::Date).column())?;
        let mut random = fastrand::Rng::with_seed(7);
        let mut word = || {
            // The density of the ranks falls with the rank, from 1 to 60,000.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank")]
            let rank = 60_000_f64.powf(random.f64()) as u64;
            format!("w{}", rank.wrapping_mul(0x9e37_79b9) % 1_000_003)
        };
        let texts = (0..20_000).map(|_| (0..args.words).map(|_| word()).collect::<Vec<_>>().join(" "));
        let texts = texts.collect();
        Ok(NearCorpus { schema, text, owner, size, sent, texts, updates: args.updates })
    }

    /// Adds document `number`, or replaces an earlier one.
    fn add(&self, writer: &IndexWriter, number: u64) -> Result<()> {
        let replaces = number % 100 < self.updates;
        let key = if replaces { number.wrapping_mul(0x9e37_79b9) % number.max(1) } else { number };
        let at = usize::try_from(number)? % self.texts.len();
        let text = self.texts.get(at).map_or("", String::as_str);
        let sent = i64::try_from(number)? * 1_000_000;
        let document = Document::new(format!("document-{key}"))
            .text(self.text, text)
            .text(self.owner, format!("user{}", number % 500))
            .with(self.size, Value::Unsigned(number * 37 % 1_000_000))
            .with(self.sent, Value::Date(sent));
        if replaces {
            writer.update(&document)?
        } else {
            writer.add(&document)?
        };
        Ok(())
    }
}

fn open(path: &Path, corpus: &NearCorpus) -> Result<IndexWriter> {
    if path.exists() {
        std::fs::remove_dir_all(path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    let index = Index::at(path);
    Ok(index.writer_with(Some(&corpus.schema), WriterOptions::default())?)
}

/// Takes a snapshot each `each` until `over`. Returns the time of each in ms.
fn take_snapshots(
    writer: &IndexWriter,
    each: Duration,
    over: &AtomicBool,
    added: Option<&AtomicU64>,
) -> Result<Vec<f64>> {
    let (mut times, begin) = (Vec::new(), Instant::now());
    let mut due = each;
    while !over.load(Ordering::Relaxed) {
        std::thread::sleep(due.saturating_sub(begin.elapsed()).min(Duration::from_millis(20)));
        if begin.elapsed() < due {
            continue;
        }
        due = due.max(begin.elapsed().saturating_sub(each)) + each;
        let before = added.map(|added| added.load(Ordering::Acquire));
        let start = Instant::now();
        let snapshot = writer.snapshot()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        let documents = snapshot.info().documents;
        ensure!(before.is_none_or(|before| documents >= before), "{documents} documents of {before:?}");
        let query = snapshot.parse("w1 owner:user7", scanns::query::Operator::Or)?;
        std::hint::black_box(snapshot.searcher().top_k(&query, Model::Classic, 10)?);
    }
    Ok(times)
}

/// Commits each `each` until `over`, if that is not zero.
fn take_commits(writer: &IndexWriter, each: Duration, over: &AtomicBool) -> Result<()> {
    let mut last = Instant::now();
    while !each.is_zero() && !over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(5));
        if last.elapsed() >= each {
            writer.commit()?;
            last = Instant::now();
        }
    }
    Ok(())
}

/// Adds documents at a steady rate. Returns the time of each in µs.
fn add_steadily(
    writer: &IndexWriter,
    corpus: &NearCorpus,
    args: &NearArgs,
    added: &AtomicU64,
) -> Result<Vec<f64>> {
    let begin = Instant::now();
    let mut times = Vec::new();
    for number in 0..args.rate * args.seconds {
        let due = Duration::from_secs_f64(u32::try_from(number)?.into()) / u32::try_from(args.rate.max(1))?;
        if let Some(early) = due.checked_sub(begin.elapsed()).filter(|early| early.as_micros() > 500) {
            std::thread::sleep(early);
        }
        let start = Instant::now();
        corpus.add(writer, number)?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
        if corpus.updates == 0 {
            added.store(number + 1, Ordering::Release);
        }
    }
    Ok(times)
}

/// Waits for a thread, and returns what it returned.
fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    thread.join().map_err(|_| anyhow::anyhow!("a thread failed"))?
}

/// Measures snapshots at a steady rate.
fn steady(args: &NearArgs, corpus: &NearCorpus, each: u64, results: &mut Results) -> Result<()> {
    let writer = open(&args.index, corpus)?;
    let (over, added) = (AtomicBool::new(false), AtomicU64::new(0));
    let (mut snapshots, mut adds) = std::thread::scope(|scope| {
        let taking =
            scope.spawn(|| take_snapshots(&writer, Duration::from_millis(each), &over, Some(&added)));
        let committing =
            scope.spawn(|| take_commits(&writer, Duration::from_millis(args.commit_each), &over));
        let adds = add_steadily(&writer, corpus, args, &added);
        over.store(true, Ordering::Relaxed);
        let snapshots = joined(taking);
        joined(committing)?;
        anyhow::Ok((snapshots?, adds?))
    })?;
    let segments = writer.snapshot()?.segments().len();
    let start = Instant::now();
    writer.commit()?;
    let commit = start.elapsed().as_secs_f64() * 1e3;
    writer.snapshot()?;
    let start = Instant::now();
    let documents = writer.snapshot()?.searcher().count(&Query::All)?;
    let unchanged = start.elapsed().as_secs_f64() * 1e3;
    snapshots.sort_by(f64::total_cmp);
    adds.sort_by(f64::total_cmp);
    println!(
        "{} documents a second, a snapshot each {each} ms: snapshot {:.2} ms, p99 {:.2} ms, most {:.2} ms of \
         {}; add {:.2} µs, p99 {:.2} µs, most {:.0} µs; then {segments} segments, commit {commit:.1} ms, \
         snapshot without changes {unchanged:.3} ms, {documents} documents",
        args.rate,
        median(&snapshots),
        quantile(&snapshots, 0.99),
        quantile(&snapshots, 1.0),
        snapshots.len(),
        median(&adds),
        quantile(&adds, 0.99),
        quantile(&adds, 1.0),
    );
    let subject = format!("{} documents a second", args.rate);
    let variant = format!("each {each} ms");
    for (name, share, samples) in [
        ("time of a snapshot", 0.5, &snapshots),
        ("99th percentile of a snapshot", 0.99, &snapshots),
        ("most of a snapshot", 1.0, &snapshots),
    ] {
        let metric = (name, "ms", Better::Lower);
        results.add(Series::of("near", &subject, &variant, metric, vec![quantile(samples, share)]), None);
    }
    for (name, share) in [("time of an add", 0.5), ("99th percentile of an add", 0.99)] {
        let metric = (name, "µs", Better::Lower);
        results.add(Series::of("near", &subject, &variant, metric, vec![quantile(&adds, share)]), None);
    }
    Ok(())
}

/// Adds documents as fast as it goes. Returns documents a second, until all are committed.
fn full_speed(args: &NearArgs, corpus: &NearCorpus, each: Option<u64>) -> Result<f64> {
    let writer = open(&args.index, corpus)?;
    let (over, next) = (AtomicBool::new(false), AtomicU64::new(0));
    let begin = Instant::now();
    std::thread::scope(|scope| {
        let (writer, over, next) = (&writer, &over, &next);
        let taking = each
            .map(|each| scope.spawn(move || take_snapshots(writer, Duration::from_millis(each), over, None)));
        let add = move || -> Result<()> {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= args.documents {
                    return Ok(());
                }
                corpus.add(writer, number)?;
            }
        };
        let threads: Vec<_> = (0..args.threads.max(1)).map(|_| scope.spawn(add)).collect();
        let added: Result<Vec<()>> = threads.into_iter().map(joined).collect();
        over.store(true, Ordering::Relaxed);
        taking.map_or(Ok(Vec::new()), joined)?;
        added
    })?;
    writer.commit()?;
    let count = u32::try_from(args.documents)?;
    Ok(f64::from(count) / begin.elapsed().as_secs_f64())
}

/// Measures all cases.
pub fn run(args: &NearArgs, results: &mut Results) -> Result<()> {
    let corpus = NearCorpus::new(args)?;
    for &each in &args.each {
        steady(args, &corpus, each, results)?;
    }
    let cases: Vec<Option<u64>> = std::iter::once(None).chain(args.each.iter().copied().map(Some)).collect();
    let mut rates = vec![Vec::new(); cases.len()];
    // The cases take turns.
    for _ in 0..args.repetitions {
        for (&case, rates) in cases.iter().zip(&mut rates) {
            rates.push(full_speed(args, &corpus, case)?);
        }
    }
    let base = rates.first().cloned().unwrap_or_default();
    for (case, rates) in cases.into_iter().zip(rates) {
        let variant = case.map_or("without snapshots".into(), |each| format!("each {each} ms"));
        println!("full speed, {variant}: {:.0} documents a second", median(&rates));
        let subject = format!("full speed, {} threads", args.threads);
        let metric = ("rate", "documents/s", Better::Higher);
        results.add(Series::of("near", &subject, &variant, metric, rates), Some(&base));
    }
    std::fs::remove_dir_all(&args.index).with_context(|| format!("cannot remove {}", args.index.display()))
}
