//! How fast the readers bring a file or tree into blocks.
//!
//! The lanes only take blocks and give them back. `direct` reads through io_uring past the page cache, `sync` the
//! same by plain reads, `buffered` through the page cache.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::Result;
use clap::ValueEnum;
use scanns::{Analyzer, Direct, ReadOptions, Records, SourceOptions};

use scanns_bench::results::{Results, Series};
use scanns_bench::stats::{Summary, mib};

use crate::text;

/// What to read, and how.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A file or tree
    pub path: PathBuf,
    /// KiB read at once
    #[arg(long, default_value_t = 1024)]
    pub block: usize,
    /// Reads under way
    #[arg(long, default_value_t = 4)]
    pub depth: usize,
    /// How
    #[arg(long, value_enum, default_value = "direct")]
    pub how: How,
    /// Read threads
    #[arg(long, default_value_t = 1)]
    pub threads: usize,
    /// Rounds
    #[arg(long, default_value_t = 5)]
    pub repetitions: usize,
}

/// Ways of reading.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum How {
    /// Past the page cache, through io_uring
    Direct,
    /// Past the page cache, by plain reads
    Sync,
    /// Through the page cache
    Buffered,
    /// Whatever suits each file
    Auto,
}

impl Args {
    /// The defaults for a path.
    pub fn on(path: &Path) -> Self {
        Args { path: path.into(), block: 1024, depth: 4, how: How::Direct, threads: 1, repetitions: 5 }
    }
}

/// Measures the rate.
pub fn run(args: &Args, results: &mut Results) -> Result<()> {
    let cancel = Arc::new(AtomicBool::new(false));
    let source = SourceOptions { paths: vec![args.path.clone()], ..SourceOptions::default() };
    let inputs = Arc::new(scanns::collect(&source, &cancel)?.inputs);
    let (direct, uring) = match args.how {
        How::Direct => (Direct::Always, true),
        How::Sync => (Direct::Always, false),
        How::Buffered => (Direct::Never, false),
        How::Auto => (Direct::Auto, true),
    };
    let options = ReadOptions {
        read_threads: args.threads,
        lanes: args.threads,
        block_bytes: args.block << 10,
        blocks_per_lane: args.depth + 2,
        queue_depth: args.depth,
        direct,
        uring,
        ..ReadOptions::default()
    };
    let analyzer = Analyzer::parse("paths")?;
    let mut rates = Vec::new();
    let mut processor = Vec::new();
    for _ in 0..args.repetitions.max(1) {
        let (begin, before) = (Instant::now(), cpu_seconds());
        let (driver, lanes) =
            scanns::start(inputs.clone(), Records::File, &analyzer, &options, cancel.clone())?;
        let lanes: Vec<_> = lanes.into_iter().map(|lane| std::thread::spawn(|| lane.count())).collect();
        let blocks: usize = lanes.into_iter().filter_map(|lane| lane.join().ok()).sum();
        let report = driver.finish()?;
        anyhow::ensure!(blocks > 0 && report.failures.is_empty(), "{} inputs failed", report.failures.len());
        rates.push(mib(report.bytes) / begin.elapsed().as_secs_f64());
        processor.push(cpu_seconds() - before);
    }
    let how = format!("{:?}", args.how).to_lowercase();
    let subject = format!("{}, {} files", text::name(&args.path), inputs.len());
    println!("reader: {subject}; processor {:.2} s", Summary::of(&processor).median);
    let kib = u32::try_from(args.block)?;
    let series = Series::rate("reader", &subject, &how, rates).with("KiB of a block", f64::from(kib));
    results.add(series, None);
    Ok(())
}

/// Processor time of this process so far, in steps of 10 ms; 0 where `/proc` does not tell.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
