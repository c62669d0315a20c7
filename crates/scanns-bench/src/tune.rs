//! Compares the tuner with an exhaustive grid: what each of them chooses for the same sample, and how long it
//! takes.
//!
//! Each round measures every point of the grid. The median of a point's rounds counts, because the best of
//! many noisy figures is mostly the luckiest. At the end, both choices and the defaults take turns.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use scanns::index::IndexOptions;
use scanns::schema::{Analyzer, Records};
use scanns::sources::{PageSize, ReadOptions, SourceOptions};
use scanns::tuning::{Profile, Trials, find_parameters};
use scanns::writer::SEGMENT_MEMORY;

use scanns_bench::results::{Better, Results, Series};
use scanns_bench::stats::{in_turns, median, mib};

use crate::text;

/// What to tune on.
#[derive(Debug, clap::Args)]
pub struct TuneArgs {
    /// A file or tree
    pub path: PathBuf,
    /// One document per line
    #[arg(long)]
    pub lines: bool,
    /// Analyzer
    #[arg(long, default_value = "paths")]
    pub analyzer: String,
    /// Size of the sample in MiB
    #[arg(long, default_value_t = 64)]
    pub mib: u64,
    /// How often to measure every point of the grid
    #[arg(long, default_value_t = 3)]
    pub rounds: usize,
    /// Rounds of the comparison at the end
    #[arg(long, default_value_t = 9)]
    pub pairs: usize,
    /// Time limit for the tuner in seconds
    #[arg(long, default_value_t = 60)]
    pub budget: u64,
    /// Directory for trial indexes
    #[arg(long, default_value = "target/bench")]
    pub scratch: PathBuf,
}

/// Every profile that the tuner can choose.
fn grid() -> Vec<Profile> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut lanes: Vec<usize> =
        std::iter::successors(Some(1), |lanes| Some(lanes * 2)).take_while(|&lanes| lanes < cores).collect();
    lanes.push(cores);
    let mut points = Vec::new();
    for &index_threads in &lanes {
        for read_threads in lanes.iter().copied().filter(|&read| index_threads.is_multiple_of(read)) {
            for block in (18..24).map(|power| 1 << power) {
                for queue_depth in [1, 2, 4, 8, 16] {
                    for pages in [PageSize::Auto, PageSize::Base, PageSize::Huge] {
                        points.push(Profile {
                            read_threads,
                            index_threads,
                            block_bytes: block,
                            blocks: queue_depth.max(4),
                            queue_depth,
                            pages,
                        });
                    }
                }
            }
        }
    }
    points
}

/// Builds the sample with a profile. Returns MiB/s.
fn rate(trials: &Trials, profile: &Profile) -> Result<f64> {
    let trial = trials.run(profile)?;
    Ok(mib(trial.bytes) / trial.seconds)
}

/// A sample of the input, ready to be built repeatedly.
fn trials(args: &TuneArgs) -> Result<Trials> {
    std::fs::create_dir_all(&args.scratch)?;
    let cancel = Arc::new(AtomicBool::new(false));
    let source = SourceOptions { paths: vec![args.path.clone()], ..SourceOptions::default() };
    let inputs = scanns::sources::collect(&source, &cancel)?.inputs;
    let options = IndexOptions {
        source,
        read: ReadOptions::default(),
        records: if args.lines { Records::Lines } else { Records::File },
        fields: scanns::sources::FieldOptions { metadata: Some(false), ..Default::default() },
        analyzer: Some(Analyzer::parse(&args.analyzer)?),
        postings: None,
        stored: scanns::writer::StoredOptions::default(),
        memory: 8 << 30,
        segment_memory: Some(SEGMENT_MEMORY),
        buffers: scanns::writer::FlushBuffers::default(),
        merge: None,
        contents: None,
        extractors: None,
        again: false,
        dump: None,
        scan: Default::default(),
        changes: None,
        keep_removed: false,
        commit_every: None,
        commit_bytes: None,
        time_limit: None,
        snapshot: None,
    };
    Ok(Trials::prepare(&inputs, args.mib << 20, &options, &args.scratch, &cancel)?)
}

/// The best point of the whole grid, and the seconds that the search took.
fn best_of_grid(trials: &Trials, rounds: usize) -> Result<(Profile, f64)> {
    let points = grid();
    let begun = Instant::now();
    let rates = in_turns(rounds, &points, |point| rate(trials, point))?;
    let seconds = begun.elapsed().as_secs_f64();
    let medians = rates.iter().map(|rates| median(rates));
    let best = points.iter().zip(medians).max_by(|a, b| a.1.total_cmp(&b.1)).context("an empty grid")?;
    println!("  grid: {} builds, {seconds:.1} s: {:?}", points.len() * rounds, best.0);
    Ok((*best.0, seconds))
}

/// Measures what the tuner and the grid choose, how long each takes, and how the choices compare.
pub fn run(args: &TuneArgs, results: &mut Results) -> Result<()> {
    let trials = trials(args)?;
    let subject = format!(
        "{}, one document per {}, sample of {:.0} MiB in {} files, {}",
        text::name(&args.path),
        if args.lines { "line" } else { "file" },
        mib(trials.bytes()),
        trials.files(),
        if trials.cached() { "in the page cache" } else { "past the page cache" }
    );
    println!("tune: {subject}");
    let found = find_parameters(&trials, Duration::from_secs(args.budget), &mut |_| {})?;
    let builds: usize = found.tried.iter().map(|tried| tried.times).sum();
    println!("  tuner: {builds} builds, {:.1} s: {:?}", found.seconds, found.best);
    let (best, seconds) = best_of_grid(&trials, args.rounds.max(1))?;

    let contenders = [("defaults", found.start), ("grid's best", best), ("tuner's choice", found.best)];
    let rates = in_turns(args.pairs.max(1), &contenders, |(_, profile)| rate(&trials, profile))?;
    let grid_rates = rates.get(1).cloned();
    for ((name, _), rates) in contenders.iter().zip(rates) {
        results.add(Series::rate("tune", &subject, name, rates), grid_rates.as_deref());
    }
    let time = ("time to choose", "s", Better::Lower);
    results.add(Series::of("tune", &subject, "grid's best", time, vec![seconds]), None);
    results.add(Series::of("tune", &subject, "tuner's choice", time, vec![found.seconds]), Some(&[seconds]));
    Ok(())
}
