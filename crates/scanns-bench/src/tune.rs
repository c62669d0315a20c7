//! The tuner against an exhaustive grid: what both choose for the same sample, and how long each takes.
//!
//! Every point of the grid is measured in each round, and the middle of its rounds counts, since the best of many
//! noisy figures is mostly the luckiest. At the end the choices of both, and the defaults, take turns.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use scanns::{
    Analyzer, IndexOptions, PageSize, Profile, ReadOptions, Records, SEGMENT_MEMORY, SourceOptions, Trials,
    find_parameters,
};

use crate::record::{Median, mib};

/// What to tune on.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A file or tree
    pub path: PathBuf,
    /// One document per line
    #[arg(long)]
    pub lines: bool,
    /// Analyzer
    #[arg(long, default_value = "paths")]
    pub analyzer: String,
    /// MiB of the sample
    #[arg(long, default_value_t = 64)]
    pub mib: u64,
    /// Times that every point of the grid is measured
    #[arg(long, default_value_t = 3)]
    pub rounds: usize,
    /// Pairs in the comparison at the end
    #[arg(long, default_value_t = 9)]
    pub pairs: usize,
    /// Most seconds for the tuner
    #[arg(long, default_value_t = 60)]
    pub budget: u64,
    /// Where trial indexes go
    #[arg(long, default_value = "target/bench")]
    pub scratch: PathBuf,
}

/// Every choice that the tuner has.
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

/// Bytes per second as MiB per second.
fn rate(trials: &Trials, profile: &Profile) -> Result<f64> {
    let trial = trials.run(profile)?;
    Ok(mib(trial.bytes) / trial.seconds)
}

/// Prints what the tuner and the grid choose, in which time, and how the choices compare.
pub fn run(args: &Args) -> Result<()> {
    std::fs::create_dir_all(&args.scratch)?;
    let cancel = Arc::new(AtomicBool::new(false));
    let source = SourceOptions { paths: vec![args.path.clone()], ..SourceOptions::default() };
    let inputs = scanns::collect(&source, &cancel)?.inputs;
    let options = IndexOptions {
        source,
        read: ReadOptions::default(),
        records: if args.lines { Records::Lines } else { Records::File },
        analyzer: Some(Analyzer::parse(&args.analyzer)?),
        memory: 8 << 30,
        segment_memory: SEGMENT_MEMORY,
    };
    let trials = Trials::prepare(&inputs, args.mib << 20, &options, &args.scratch, &cancel)?;
    let state = if trials.cached() { "in the page cache" } else { "past the page cache" };
    println!("tune: sample of {:.1} MiB in {} files, {state}", mib(trials.bytes()), trials.files());

    let found = find_parameters(&trials, Duration::from_secs(args.budget), &mut |_| {})?;
    let builds: usize = found.tried.iter().map(|tried| tried.times).sum();
    println!("  tuner: {builds} builds, {:.1} s: {:?}", found.seconds, found.best);

    let points = grid();
    let mut rates = vec![Vec::new(); points.len()];
    let begun = Instant::now();
    for _ in 0..args.rounds.max(1) {
        for (rates, point) in rates.iter_mut().zip(&points) {
            rates.push(rate(&trials, point)?);
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    let medians = rates.iter().map(|rates| Median::of(rates).median);
    let best = points.iter().zip(medians).max_by(|a, b| a.1.total_cmp(&b.1)).context("an empty grid")?;
    println!("  grid: {} builds, {seconds:.1} s: {:?}", points.len() * args.rounds.max(1), best.0);

    let contenders = [found.best, *best.0, found.start];
    let mut rates = [const { Vec::new() }; 3];
    for pair in 0..args.pairs.max(1) {
        for turn in 0..contenders.len() {
            // Each comes first, second and last equally often.
            let at = (pair + turn) % contenders.len();
            rates[at].push(rate(&trials, &contenders[at])?);
        }
    }
    for (name, rates) in ["tuner's choice", "grid's best", "defaults"].iter().zip(&rates) {
        println!("  {name}: {} MiB/s", Median::of(rates));
    }
    let to_grid: Vec<f64> = rates[0].iter().zip(&rates[1]).map(|(own, grid)| own / grid * 100.0).collect();
    println!(
        "  tuner's choice over grid's best {} % (aim 95), in {:.1} % of its time (aim 10)",
        Median::of(&to_grid),
        found.seconds / seconds * 100.0
    );
    Ok(())
}
