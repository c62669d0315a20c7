//! Writing segments while other threads go on, against all threads stopping until a segment is written, by threads and
//! memory of a segment.
//!
//! The whole rate has the start, when no segment is full yet, and the end, when all threads write what is left. The
//! steady state is what happens between the end of the first flush and that of the last one before the text ends.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use scanns::{FlushOptions, FlushPolicy, Phase, Progress};

use scanns_bench::results::{Better, Results, Series};
use scanns_bench::stats::{in_turns, mib};

use crate::text;
use crate::whole::{self, Agreed, Job};

/// What to build.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A file or tree
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

impl Args {
    /// Smaller and fast.
    pub fn quick(path: &Path, work: &Path) -> Self {
        let (threads, segment_memory) = (vec![2], vec![16, 64]);
        Args { path: path.into(), work: work.into(), threads, segment_memory, lines: false, repetitions: 3 }
    }
}

/// A look at the progress of a build.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Look {
    seconds: f64,
    bytes: u64,
    segments: u64,
    indexing: bool,
}

/// Time between two looks.
const EVERY: Duration = Duration::from_millis(4);

/// Parts into which the time of a build is cut for the plot.
const SLICES: u32 = 20;

/// Builds in MiB/s between the first flush and the last one while there was text; `None` with fewer than two of them.
fn steady(looks: &[Look]) -> Option<f64> {
    let flushed = |pair: &&[Look]| pair[1].indexing && pair[1].segments > pair[0].segments;
    let mut flushes = looks.windows(2).filter(flushed).map(|pair| pair[1]);
    let first = flushes.next()?;
    let last = flushes.next_back()?;
    let seconds = last.seconds - first.seconds;
    (seconds > 0.0).then(|| mib(last.bytes - first.bytes) / seconds)
}

/// MiB/s in each slice of the time in which text was indexed.
fn slices(looks: &[Look]) -> Vec<f64> {
    let end = looks.iter().rfind(|look| look.indexing).map_or(0.0, |look| look.seconds);
    let width = end / f64::from(SLICES);
    let at = |slice: u32| {
        let until = width * f64::from(slice);
        let before = looks.iter().rfind(|look| look.seconds <= until + 1e-9);
        before.map_or(0.0, |look| mib(look.bytes))
    };
    (0..SLICES).map(|slice| if width > 0.0 { (at(slice + 1) - at(slice)) / width } else { 0.0 }).collect()
}

/// What one build gave.
#[derive(Clone, Debug, Default)]
struct Run {
    whole: f64,
    steady: Option<f64>,
    /// Share of the threads' time in which they wrote segments.
    flushing: f64,
    slices: Vec<f64>,
}

/// Looks at `progress` until `done`.
fn watch(progress: &Progress, begin: Instant, done: &AtomicBool) -> Vec<Look> {
    let mut looks = Vec::new();
    loop {
        let last = done.load(Ordering::Acquire);
        looks.push(Look {
            seconds: begin.elapsed().as_secs_f64(),
            bytes: progress.bytes(),
            segments: progress.segments(),
            indexing: !last && matches!(progress.phase(), Phase::Walking | Phase::Indexing),
        });
        if last {
            return looks;
        }
        std::thread::sleep(EVERY);
    }
}

#[derive(Clone, Copy, Debug)]
struct Point {
    policy: FlushPolicy,
    threads: u32,
    segment_memory: u32,
}

impl Point {
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

/// Builds once.
fn measure(args: &Args, point: Point, agreed: &mut Agreed) -> Result<Run> {
    let threads = usize::try_from(point.threads)?;
    let job = Job {
        lines: args.lines,
        segment_memory: u64::from(point.segment_memory) << 20,
        flush: FlushOptions { policy: point.policy, ..FlushOptions::default() },
        ..Job::on(vec![args.path.clone()], threads)
    };
    let room = whole::room(&args.work)?;
    let (progress, done, begin) = (Progress::new(), AtomicBool::new(false), Instant::now());
    let (report, looks) = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(&progress, begin, &done));
        let report = whole::build(&job, room.path(), &progress);
        done.store(true, Ordering::Release);
        (report, watcher.join())
    });
    let report = report?;
    let looks = looks.map_err(|_| anyhow::anyhow!("the thread that watches a build ended unexpectedly"))?;
    agreed.check(&report)?;
    Ok(Run {
        whole: mib(report.bytes) / report.seconds,
        steady: steady(&looks),
        flushing: 100.0 * report.flush_seconds / (report.seconds * f64::from(point.threads)),
        slices: slices(&looks),
    })
}

/// Measures both policies at every number of threads and memory of a segment.
pub fn run(args: &Args, results: &mut Results) -> Result<()> {
    let mut points = Vec::new();
    for &threads in &args.threads {
        for &segment_memory in &args.segment_memory {
            for policy in [FlushPolicy::StopTheWorld, FlushPolicy::Concurrent] {
                points.push(Point { policy, threads: u32::try_from(threads)?, segment_memory });
            }
        }
    }
    let subject =
        format!("{}, one document per {}", text::name(&args.path), if args.lines { "line" } else { "file" });
    println!("flush: {subject}, {} points, {} rounds", points.len(), args.repetitions.max(1));
    let (mut agreed, mut runs) = (Agreed::default(), vec![Vec::new(); points.len()]);
    let numbered: Vec<(usize, Point)> = points.iter().copied().enumerate().collect();
    in_turns(args.repetitions.max(1), &numbered, |&(at, point)| {
        let run = measure(args, point, &mut agreed)?;
        let rate = run.whole;
        runs.get_mut(at).context("a list for every point")?.push(run);
        anyhow::Ok(rate)
    })?;
    report(&subject, &points, &runs, results);
    Ok(())
}

/// Name, unit, which way is better, and where it stands.
type Metric = (&'static str, &'static str, Better, fn(&Run) -> Option<f64>);

/// Puts what was measured into the results.
fn report(subject: &str, points: &[Point], runs: &[Vec<Run>], results: &mut Results) {
    let of =
        |runs: &[Run], figure: fn(&Run) -> Option<f64>| runs.iter().filter_map(figure).collect::<Vec<f64>>();
    let metrics: [Metric; 3] = [
        ("rate of the whole build", "MiB/s", Better::Higher, |run| Some(run.whole)),
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
            "flush: where a thread writes fewer than two segments before the text ends there is no steady state to \
             report: take a larger corpus or less memory of a segment",
        );
    }
    over_time(subject, points, runs, results);
}

/// The course of the rate where threads are most and segments are smallest.
fn over_time(subject: &str, points: &[Point], runs: &[Vec<Run>], results: &mut Results) {
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
            // Not printed: forty lines of a plot.
            results.series.push(series.with("% of the time", f64::from((slice + 1) * (100 / SLICES))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(seconds: f64, mib: u64, segments: u64, indexing: bool) -> Look {
        Look { seconds, bytes: mib << 20, segments, indexing }
    }

    #[test]
    fn the_steady_state_lies_between_the_first_and_the_last_flush_of_the_text() {
        let looks = [
            look(0.0, 0, 0, true),
            look(1.0, 10, 0, true),
            look(2.0, 15, 1, true),
            look(3.0, 40, 1, true),
            look(4.0, 55, 2, true),
            look(5.0, 75, 3, true),
            look(6.0, 90, 3, true),
            look(7.0, 95, 5, false),
        ];
        assert_eq!(steady(&looks), Some(20.0));
        assert_eq!(steady(&looks[..4]), None);
        assert_eq!(steady(&[]), None);
        let slices = slices(&looks);
        assert_eq!(slices.len(), SLICES as usize);
        let sum: f64 = slices.iter().map(|rate| rate * 6.0 / f64::from(SLICES)).sum();
        assert!((sum - 90.0).abs() < 1e-6, "slices make up the whole: {sum}");
    }

    #[test]
    fn both_policies_have_whole_rates_and_a_course_and_agree_on_the_index() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("in");
        crate::corpus::run(&crate::corpus::Args::on(&path, 40, None)).unwrap();
        let mut args = Args::quick(&path, place.path());
        (args.segment_memory, args.repetitions) = (vec![16], 1);
        let mut results = Results::begin(&[]);
        run(&args, &mut results).unwrap();
        let of = |metric: &str| results.series.iter().filter(|series| series.metric == metric).count();
        assert_eq!((of("rate of the whole build"), of("time of threads spent flushing")), (2, 2));
        assert_eq!(of("rate over time"), 2 * SLICES as usize);
        let finite = |series: &Series| series.samples.iter().all(|value| value.is_finite() && *value >= 0.0);
        assert!(results.series.iter().all(finite));
    }
}
