//! Compares two ways to write segments, by number of threads and memory of a segment: other threads continue,
//! or all threads stop until the segment is written.
//!
//! Threads add the documents of a text in memory through an [`IndexWriter`]; `gate.rs` stops the threads. The
//! rate of the whole build includes the start, when no segment is full yet, and the end, when the commit
//! writes the remaining documents. The steady state is the time between the end of the first flush and the
//! end of the last flush before all text is added.

mod gate;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use scanns::Snapshot;
use scanns::schema::{Analyzer, Document, FieldEntry, FieldKind, Postings, Schema};
use scanns::store::FsDirectory;
use scanns::writer::{IndexWriter, WriterOptions};

use gate::{FlushPolicy, Gate, GatedDirectory};
use scanns_bench::results::{Better, Results, Series};
use scanns_bench::stats::{in_turns, mib};

use crate::{text, whole};

/// What to build.
#[derive(Debug, clap::Args)]
pub struct FlushArgs {
    /// A file or tree; all of it is read into memory first
    pub path: PathBuf,
    /// Directory for indexes, which are removed afterwards
    #[arg(long, default_value = "target/bench")]
    pub work: PathBuf,
    /// Index threads
    #[arg(long, value_delimiter = ',', default_value = "1,2,4")]
    pub threads: Vec<usize>,
    /// Memory of a thread's first segments in MiB
    #[arg(long, value_delimiter = ',', default_value = "16,32,64,128")]
    pub segment_memory: Vec<u32>,
    /// One document per line
    #[arg(long)]
    pub lines: bool,
    /// Rounds
    #[arg(long, default_value_t = 5)]
    pub repetitions: usize,
}

impl FlushArgs {
    /// Fewer settings and rounds, for a fast run.
    pub fn quick(path: &Path, work: &Path) -> Self {
        let (threads, segment_memory) = (vec![2], vec![16, 64]);
        FlushArgs {
            path: path.into(),
            work: work.into(),
            threads,
            segment_memory,
            lines: false,
            repetitions: 3,
        }
    }
}

/// The progress of a run at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Moment {
    seconds: f64,
    bytes: u64,
    segments: u64,
    adding: bool,
}

/// Time between two moments.
const EVERY: Duration = Duration::from_millis(4);

/// The number of slices of a run's time in the plot.
const SLICES: u32 = 20;

/// The rate in MiB/s between the first flush and the last one before all text was added; `None` with fewer
/// than two flushes.
fn steady(moments: &[Moment]) -> Option<f64> {
    let flushed = |pair: &&[Moment]| pair[1].adding && pair[1].segments > pair[0].segments;
    let mut flushes = moments.windows(2).filter(flushed).map(|pair| pair[1]);
    let first = flushes.next()?;
    let last = flushes.next_back()?;
    let seconds = last.seconds - first.seconds;
    (seconds > 0.0).then(|| mib(last.bytes - first.bytes) / seconds)
}

/// MiB/s in each slice of the time in which text was added.
fn slices(moments: &[Moment]) -> Vec<f64> {
    let end = moments.iter().rfind(|moment| moment.adding).map_or(0.0, |moment| moment.seconds);
    let width = end / f64::from(SLICES);
    let at = |slice: u32| {
        let until = width * f64::from(slice);
        let before = moments.iter().rfind(|moment| moment.seconds <= until + 1e-9);
        before.map_or(0.0, |moment| mib(moment.bytes))
    };
    (0..SLICES).map(|slice| if width > 0.0 { (at(slice + 1) - at(slice)) / width } else { 0.0 }).collect()
}

/// The figures of one run.
#[derive(Clone, Debug, Default)]
struct FlushRun {
    whole: f64,
    steady: Option<f64>,
    /// Share of the threads' time in which they wrote segments.
    flushing: f64,
    slices: Vec<f64>,
}

/// The documents to add.
struct DocumentSet {
    texts: Vec<Vec<u8>>,
    /// The number of the text of each document, and where the document is in it.
    documents: Vec<(usize, Range<usize>)>,
    bytes: u64,
}

impl DocumentSet {
    fn load(args: &FlushArgs) -> Result<Self> {
        let texts = text::load(&args.path, None)?;
        let documents = |(number, text): (usize, &Vec<u8>)| {
            let ranges = text::documents(text, args.lines).into_iter();
            ranges.map(move |range| (number, range)).collect::<Vec<_>>()
        };
        let documents = texts.iter().enumerate().flat_map(documents).collect();
        Ok(DocumentSet { bytes: text::bytes(&texts), texts, documents })
    }

    fn text(&self, number: usize) -> Option<&[u8]> {
        let (text, range) = self.documents.get(number)?;
        self.texts.get(*text)?.get(range.clone())
    }
}

/// Records the progress until `done` is set.
fn watch(added: &AtomicU64, total: u64, gate: &Gate, begin: Instant, done: &AtomicBool) -> Vec<Moment> {
    let mut moments = Vec::new();
    loop {
        let last = done.load(Ordering::Acquire);
        let bytes = added.load(Ordering::Relaxed);
        moments.push(Moment {
            seconds: begin.elapsed().as_secs_f64(),
            bytes,
            segments: gate.segments(),
            adding: !last && bytes < total,
        });
        if last {
            return moments;
        }
        std::thread::sleep(EVERY);
    }
}

#[derive(Clone, Copy, Debug)]
struct FlushSetting {
    policy: FlushPolicy,
    threads: u32,
    segment_memory: u32,
}

impl FlushSetting {
    fn name(self) -> &'static str {
        match self.policy {
            FlushPolicy::StopTheWorld => "stop the world",
            FlushPolicy::Concurrent => "concurrent",
        }
    }

    fn series(self, subject: &str, metric: (&str, &str, Better), samples: Vec<f64>) -> Series {
        let series = Series::of("flush", subject, self.name(), metric, samples);
        series
            .with("threads", f64::from(self.threads))
            .with("MiB of a segment", f64::from(self.segment_memory))
    }
}

/// Adds every document once, with the threads of the setting, and commits.
fn measure(args: &FlushArgs, corpus: &DocumentSet, setting: FlushSetting) -> Result<FlushRun> {
    let room = whole::room(&args.work)?;
    let gate = Gate::new(setting.policy);
    let mut schema = Schema::new();
    let words = FieldKind::Text { analyzer: Analyzer::parse("paths")?, postings: Postings::Frequencies };
    let field = schema.add(FieldEntry::new("text", words))?;
    let options = WriterOptions {
        memory: 8 << 30,
        lanes: usize::try_from(setting.threads)?,
        segment_memory: u64::from(setting.segment_memory) << 20,
        merge: None,
        ..WriterOptions::default()
    };
    let directory = GatedDirectory::new(FsDirectory::new(room.path()), Arc::clone(&gate));
    let writer = IndexWriter::open_in(Arc::new(directory), Some(&schema), options)?;
    let (next, added, done) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let add = || -> Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(text) = corpus.text(number) else { return Ok(()) };
            let document = Document::new(number.to_string()).text(field, text);
            gate.working(|| writer.add(&document))?;
            added.fetch_add(text.len() as u64, Ordering::Relaxed);
        }
    };
    let begin = Instant::now();
    let (outcome, moments) = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(&added, corpus.bytes, &gate, begin, &done));
        let threads: Vec<_> = (0..setting.threads).map(|_| scope.spawn(add)).collect();
        let panicked = |_| Err(anyhow!("a thread that adds documents panicked"));
        let outcome = threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(panicked));
        let outcome = outcome.and_then(|()| Ok(writer.commit()?));
        let seconds = begin.elapsed().as_secs_f64();
        done.store(true, Ordering::Release);
        (outcome.map(|_| seconds), watcher.join())
    });
    let seconds = outcome?;
    let moments = moments.map_err(|_| anyhow!("the thread that watches the run panicked"))?;
    let found = Snapshot::open(room.path())?.info().documents;
    let expected = corpus.documents.len() as u64;
    ensure!(found == expected, "the index has {found} documents, but {expected} were added");
    Ok(FlushRun {
        whole: mib(corpus.bytes) / seconds,
        steady: steady(&moments),
        flushing: 100.0 * gate.seconds() / (seconds * f64::from(setting.threads)),
        slices: slices(&moments),
    })
}

/// Measures both policies at every number of threads and memory of a segment.
pub fn run(args: &FlushArgs, results: &mut Results) -> Result<()> {
    let mut points = Vec::new();
    for &threads in &args.threads {
        for &segment_memory in &args.segment_memory {
            for policy in [FlushPolicy::StopTheWorld, FlushPolicy::Concurrent] {
                points.push(FlushSetting { policy, threads: u32::try_from(threads)?, segment_memory });
            }
        }
    }
    let subject =
        format!("{}, one document per {}", text::name(&args.path), if args.lines { "line" } else { "file" });
    println!("flush: {subject}, {} points, {} rounds", points.len(), args.repetitions.max(1));
    let corpus = DocumentSet::load(args)?;
    let mut runs = vec![Vec::new(); points.len()];
    let numbered: Vec<(usize, FlushSetting)> = points.iter().copied().enumerate().collect();
    in_turns(args.repetitions.max(1), &numbered, |&(at, point)| {
        let run = measure(args, &corpus, point)?;
        let rate = run.whole;
        runs.get_mut(at).context("a list for every point")?.push(run);
        anyhow::Ok(rate)
    })?;
    report(&subject, &points, &runs, results);
    Ok(())
}

/// Name, unit, which direction is better, and the figure of a run.
type FlushMetric = (&'static str, &'static str, Better, fn(&FlushRun) -> Option<f64>);

/// Adds the measurements to the results.
fn report(subject: &str, points: &[FlushSetting], runs: &[Vec<FlushRun>], results: &mut Results) {
    let of = |runs: &[FlushRun], figure: fn(&FlushRun) -> Option<f64>| {
        runs.iter().filter_map(figure).collect::<Vec<f64>>()
    };
    let metrics: [FlushMetric; 3] = [
        ("rate of the whole", "MiB/s", Better::Higher, |run| Some(run.whole)),
        ("rate in the steady state", "MiB/s", Better::Higher, |run| run.steady),
        ("time of threads spent flushing", "%", Better::Neither, |run| Some(run.flushing)),
    ];
    let mut short = false;
    for (metric, unit, better, figure) in metrics {
        for (pair, runs) in points.chunks(2).zip(runs.chunks(2)) {
            let samples: Vec<Vec<f64>> = runs.iter().map(|runs| of(runs, figure)).collect();
            if samples.iter().any(Vec::is_empty) {
                short = true;
                continue;
            }
            for (point, values) in pair.iter().zip(&samples) {
                results.add(
                    point.series(subject, (metric, unit, better), values.clone()),
                    samples.first().filter(|_| better != Better::Neither).map(Vec::as_slice),
                );
            }
        }
    }
    if short {
        results.note(
            "flush: there is no steady state if fewer than two segments are written before the text ends: \
             use a larger corpus or less memory for a segment",
        );
    }
    over_time(subject, points, runs, results);
}

/// The rate over time with the most threads and the smallest segments.
fn over_time(subject: &str, points: &[FlushSetting], runs: &[Vec<FlushRun>], results: &mut Results) {
    let threads = points.iter().map(|point| point.threads).max();
    let memory = points.iter().map(|point| point.segment_memory).min();
    for (point, runs) in points.iter().zip(runs) {
        if (Some(point.threads), Some(point.segment_memory)) != (threads, memory) {
            continue;
        }
        for slice in 0..SLICES {
            let at = runs.iter().filter_map(|run| run.slices.get(usize::try_from(slice).ok()?).copied());
            let metric = ("rate over time", "MiB/s", Better::Neither);
            let series = point.series(subject, metric, at.collect());
            // Not printed: these are forty points of a plot.
            results.series.push(series.with("% of the time", f64::from((slice + 1) * (100 / SLICES))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(seconds: f64, mib: u64, segments: u64, adding: bool) -> Moment {
        Moment { seconds, bytes: mib << 20, segments, adding }
    }

    #[test]
    fn the_steady_state_is_between_the_first_and_the_last_flush_of_the_text() {
        let moments = [
            moment(0.0, 0, 0, true),
            moment(1.0, 10, 0, true),
            moment(2.0, 15, 1, true),
            moment(3.0, 40, 1, true),
            moment(4.0, 55, 2, true),
            moment(5.0, 75, 3, true),
            moment(6.0, 90, 3, true),
            moment(7.0, 95, 5, false),
        ];
        assert_eq!(steady(&moments), Some(20.0));
        assert_eq!(steady(&moments[..4]), None);
        assert_eq!(steady(&[]), None);
        let slices = slices(&moments);
        assert_eq!(slices.len(), SLICES as usize);
        let sum: f64 = slices.iter().map(|rate| rate * 6.0 / f64::from(SLICES)).sum();
        assert!((sum - 90.0).abs() < 1e-6, "slices make up the whole: {sum}");
    }

    #[test]
    fn both_policies_index_every_document_and_report_rates() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("in");
        crate::corpus::run(&crate::corpus::CorpusArgs::on(&path, 40, None)).unwrap();
        let mut args = FlushArgs::quick(&path, place.path());
        (args.segment_memory, args.repetitions) = (vec![16], 1);
        let mut results = Results::begin(&[]);
        run(&args, &mut results).unwrap();
        let of = |metric: &str| results.series.iter().filter(|series| series.metric == metric).count();
        assert_eq!((of("rate of the whole"), of("time of threads spent flushing")), (2, 2));
        assert_eq!(of("rate over time"), 2 * SLICES as usize);
        let finite = |series: &Series| series.samples.iter().all(|value| value.is_finite() && *value >= 0.0);
        assert!(results.series.iter().all(finite));
    }
}
