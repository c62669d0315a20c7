//! Measures how fast each reader reads a file or tree into blocks, by block size and number of read threads,
//! after figure 7 of Orhean et al., "SCANNS: Towards Scalable and Concurrent Data Indexing and Searching".
//!
//! Each read thread serves one lane, which only counts the bytes that it gets and gives the blocks back. The
//! count must equal the size of the files, or nothing is reported. Runs that read from the device find
//! nothing in the page cache, and runs that read from the page cache find everything there. For that, files
//! are dropped from the page cache or read into it before each run, outside the measured time.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::Result;
use clap::ValueEnum;
use rustix::fs::Advice;
use scanns::schema::Delimiters;
use scanns::sources::{Direct, Input, ReadOptions, SourceOptions};
use scanns_bench::variants::ReaderVariant;
use scanns_bench::variants::read::Lane;

use scanns_bench::results::{Better, Results, Series};
use scanns_bench::stats::{in_turns, mib};

use crate::text;

/// What to read, and how.
#[derive(Debug, clap::Args)]
pub struct ReaderArgs {
    /// A file or tree
    pub path: PathBuf,
    /// Readers to run, by name; all if none is given
    #[arg(long, value_delimiter = ',', value_parser = ReaderVariant::parse)]
    pub variants: Vec<ReaderVariant>,
    /// Block sizes in KiB; sizes below the minimum of a reader are left out for it
    #[arg(long, value_delimiter = ',', default_value = "64,256,1024,4096")]
    pub block: Vec<u32>,
    /// Read threads
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    pub threads: Vec<u32>,
    /// Where the bytes come from
    #[arg(long, value_enum, value_delimiter = ',', default_value = "direct,buffered,cached")]
    pub how: Vec<How>,
    /// Concurrent reads for each thread of our reader
    #[arg(long, default_value_t = 4)]
    pub depth: usize,
    /// Let our reader read one block after the other, as the others do, instead of through io_uring
    #[arg(long)]
    pub no_uring: bool,
    /// Rounds; in each, all variants run in turn
    #[arg(long, default_value_t = 5)]
    pub repetitions: usize,
}

/// Where bytes come from, and by which path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum How {
    /// From the device past the page cache; through it for xs-rd-std, which cannot read past it
    Direct,
    /// From the device through the page cache
    Buffered,
    /// From the page cache
    Cached,
}

impl How {
    fn words(self) -> &'static str {
        match self {
            How::Direct => "from the device past the page cache",
            How::Buffered => "from the device through the page cache",
            How::Cached => "from the page cache",
        }
    }
}

impl ReaderArgs {
    /// The defaults for a path.
    pub fn on(path: &Path) -> Self {
        ReaderArgs {
            path: path.into(),
            variants: Vec::new(),
            block: vec![64, 256, 1024, 4096],
            threads: vec![1, 2],
            how: vec![How::Direct, How::Buffered, How::Cached],
            depth: 4,
            no_uring: false,
            repetitions: 5,
        }
    }

    /// The two middle block sizes, in a few rounds.
    pub fn quick(path: &Path) -> Self {
        ReaderArgs {
            block: vec![256, 1024],
            how: vec![How::Direct, How::Cached],
            repetitions: 3,
            ..Self::on(path)
        }
    }

    /// All steps to measure.
    fn steps(&self) -> Vec<ReaderStep> {
        let wanted = |variant: &ReaderVariant| self.variants.is_empty() || self.variants.contains(variant);
        let mut steps = Vec::new();
        for &how in &self.how {
            for variant in ReaderVariant::ALL.into_iter().filter(wanted) {
                for &threads in &self.threads {
                    for &kib in &self.block {
                        steps.push(ReaderStep { at: steps.len(), how, variant, threads, kib });
                    }
                }
            }
        }
        steps
    }
}

/// A setting to measure.
#[derive(Clone, Copy, Debug)]
struct ReaderStep {
    /// Its index among all steps.
    at: usize,
    how: How,
    variant: ReaderVariant,
    threads: u32,
    kib: u32,
}

/// The files, and whether the page cache has all of them.
struct ReaderBench<'a> {
    args: &'a ReaderArgs,
    inputs: Arc<Vec<Input>>,
    bytes: u64,
    cached: bool,
}

impl ReaderBench<'_> {
    /// Runs one step. Returns the MiB/s, and the seconds of processor time.
    fn run(&mut self, step: ReaderStep) -> Result<(f64, f64)> {
        if step.how != How::Cached {
            for input in self.inputs.iter() {
                rustix::fs::fadvise(File::open(&input.path)?, 0, None, Advice::DontNeed)?;
            }
        } else if !self.cached {
            self.read(&ReaderStep { variant: ReaderVariant::Ours, kib: 1024, ..step })?;
        }
        self.cached = step.how == How::Cached;
        let (begin, before) = (Instant::now(), cpu_seconds());
        self.read(&step)?;
        Ok((mib(self.bytes) / begin.elapsed().as_secs_f64(), cpu_seconds() - before))
    }

    /// Reads all files once.
    fn read(&self, step: &ReaderStep) -> Result<()> {
        let threads = step.threads as usize;
        let options = ReadOptions {
            read_threads: threads,
            lanes: threads,
            block_bytes: (step.kib as usize) << 10,
            blocks_per_lane: self.args.depth + 2,
            queue_depth: self.args.depth,
            direct: if step.how == How::Direct { Direct::Always } else { Direct::Never },
            uring: !self.args.no_uring,
            ..ReadOptions::default()
        };
        let cancel = Arc::new(AtomicBool::new(false));
        let (driver, lanes) =
            step.variant.start(Arc::clone(&self.inputs), &Delimiters::paths(), &options, cancel)?;
        let lanes: Vec<_> = lanes.into_iter().map(|lane| std::thread::spawn(|| count_bytes(lane))).collect();
        let counted: usize = lanes.into_iter().filter_map(|lane| lane.join().ok()).sum();
        let report = driver.finish()?;
        anyhow::ensure!(report.failures.is_empty(), "{} inputs failed", report.failures.len());
        anyhow::ensure!(
            counted as u64 == self.bytes,
            "{} read {counted} bytes, but the files have {}",
            step.variant.name(),
            self.bytes
        );
        Ok(())
    }
}

/// Empties a lane. Returns the number of bytes.
fn count_bytes(lane: Lane) -> usize {
    lane.map(|mut block| block.split().0.iter().map(|piece| piece.end - piece.start).sum::<usize>()).sum()
}

/// Measures every reader.
pub fn run(args: &ReaderArgs, results: &mut Results) -> Result<()> {
    let source = SourceOptions { paths: vec![args.path.clone()], ..SourceOptions::default() };
    let found = scanns::sources::collect(&source, &AtomicBool::new(false))?;
    anyhow::ensure!(found.bytes > 0, "there is nothing to read at {}", args.path.display());
    for input in &found.inputs {
        File::open(&input.path)?.sync_all()?; // dirty pages cannot be dropped
    }
    let subject =
        format!("{}, {:.0} MiB, {} files", text::name(&args.path), mib(found.bytes), found.inputs.len());
    let mut bench = ReaderBench { args, bytes: found.bytes, inputs: Arc::new(found.inputs), cached: false };
    let steps = args.steps();
    let rounds = args.repetitions.max(1);
    println!("reader: {subject}; {} variants and settings, {rounds} times each", steps.len());
    let mut processor = vec![Vec::new(); steps.len()];
    let mut done = 0;
    let rates = in_turns(rounds, &steps, |step| {
        let (rate, seconds) = bench.run(*step)?;
        if let Some(processor) = processor.get_mut(step.at) {
            processor.push(seconds * 1024.0 / mib(bench.bytes));
        }
        done += 1;
        if done % steps.len() == 0 {
            println!("  round {} of {rounds}", done / steps.len());
        }
        anyhow::Ok(rate)
    })?;
    for ((step, samples), seconds) in steps.iter().zip(&rates).zip(processor) {
        let ours = steps.iter().position(|other| {
            let alike = (other.how, other.threads, other.kib) == (step.how, step.threads, step.kib);
            other.variant == ReaderVariant::Ours && alike
        });
        let ours = ours.and_then(|at| rates.get(at)).map(Vec::as_slice);
        let name = step.variant.name();
        let subject = format!("{subject}, {}", step.how.words());
        let rate = Series::rate("reader", &subject, name, samples.clone());
        let cost = ("processor time", "s/GiB", Better::Neither);
        let cost = Series::of("reader", &subject, name, cost, seconds);
        for (series, baseline) in [(rate, ours), (cost, None)] {
            let series =
                series.with("KiB of a block", f64::from(step.kib)).with("threads", f64::from(step.threads));
            results.add(series, baseline);
        }
    }
    Ok(())
}

/// Processor time of this process so far in seconds, in steps of 10 ms; 0 if `/proc` does not provide it.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
