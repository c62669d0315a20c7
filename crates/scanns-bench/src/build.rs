//! A whole build, until the commit is durable and the index can be searched.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use scanns::{Analyzer, IndexOptions, Progress, ReadOptions, Records, Snapshot, SourceOptions};

use scanns_bench::results::{Results, Series};
use scanns_bench::stats::{in_turns, mib};

use crate::text;

/// What to build.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A file or tree
    pub path: PathBuf,
    /// Where the index goes; it is replaced
    #[arg(long, default_value = "target/bench/index.scanns")]
    pub out: PathBuf,
    /// One document per line
    #[arg(long)]
    pub lines: bool,
    /// Analyzer
    #[arg(long, default_value = "paths")]
    pub analyzer: String,
    /// Index threads, tried one after the other in each round
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    pub threads: Vec<usize>,
    /// Most memory in MiB
    #[arg(long, default_value_t = 8192)]
    pub memory: u64,
    /// Memory of one segment in MiB
    #[arg(long, default_value_t = scanns::SEGMENT_MEMORY >> 20)]
    pub segment_memory: u64,
    /// Rounds
    #[arg(long, default_value_t = 5)]
    pub repetitions: usize,
}

impl Args {
    /// The defaults for an input and an output.
    pub fn on(path: &Path, out: &Path, lines: bool) -> Self {
        Args {
            path: path.into(),
            out: out.into(),
            lines,
            analyzer: "paths".into(),
            threads: vec![1, 2],
            memory: 8192,
            segment_memory: scanns::SEGMENT_MEMORY >> 20,
            repetitions: 3,
        }
    }
}

/// Builds once; returns MiB/s until the commit and what there is to tell.
fn build(args: &Args, threads: usize) -> Result<(f64, String)> {
    if args.out.exists() {
        std::fs::remove_dir_all(&args.out)?;
    }
    let options = IndexOptions {
        source: SourceOptions { paths: vec![args.path.clone()], threads, ..SourceOptions::default() },
        read: ReadOptions { lanes: threads, ..ReadOptions::default() },
        records: if args.lines { Records::Lines } else { Records::File },
        analyzer: Some(Analyzer::parse(&args.analyzer)?),
        memory: args.memory << 20,
        segment_memory: args.segment_memory << 20,
        flush: scanns::FlushOptions::default(),
    };
    let report = scanns::build(&args.out, &options, &Progress::new(), &Arc::new(AtomicBool::new(false)))?;
    anyhow::ensure!(report.failed.is_empty(), "{} inputs failed", report.failed.len());
    let documents = Snapshot::open(&args.out)?.info().documents;
    anyhow::ensure!(documents == report.documents, "{documents} documents are in the index");
    let told = format!(
        "{documents} documents, {} tokens, index {:.1} MiB, {:.1} MiB written, peak memory {:.0} MiB",
        report.tokens,
        mib(report.index_bytes),
        mib(report.bytes_written),
        mib(report.peak_rss)
    );
    Ok((mib(report.bytes) / report.seconds, told))
}

/// Measures rates by number of threads; the numbers take turns, so that a slow minute slows all of them.
pub fn run(args: &Args, results: &mut Results) -> Result<()> {
    let mut told = String::new();
    let rates = in_turns(args.repetitions.max(1), &args.threads, |&threads| {
        let (rate, what) = build(args, threads)?;
        told = what;
        anyhow::Ok(rate)
    })?;
    let subject =
        format!("{}, one document per {}", text::name(&args.path), if args.lines { "line" } else { "file" });
    println!("index: {subject}: {told}");
    for (rates, threads) in rates.into_iter().zip(&args.threads) {
        let threads = u32::try_from(*threads)?;
        results.add(
            Series::rate("index", &subject, "committed", rates).with("threads", f64::from(threads)),
            None,
        );
    }
    Ok(())
}
