//! The compressions of stored text in whole builds: the time until everything is durable, the size of the
//! index, and the time to read a document whose block is not in memory. All take turns.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, ensure};
use scanns::index::Progress;
use scanns::schema::Compression;
use scanns::search::Model;
use scanns::{Hit, Query, Snapshot};
use scanns_bench::results::{Better, Results, Series};
use scanns_bench::stats::mib;

use crate::text;
use crate::whole::{Agreed, Job, build, room};

/// What to build.
#[derive(Debug, clap::Args)]
pub struct StoredArgs {
    /// The text to index: a file or a directory
    pub corpus: PathBuf,
    /// Each line is a document, not each file
    #[arg(long)]
    pub lines: bool,
    /// The compressions; the first is the baseline
    #[arg(long, value_delimiter = ',', default_value = "lz4,none,zstd:1,zstd:3,zstd:6")]
    pub compressions: Vec<String>,
    /// The analyzer
    #[arg(long, default_value = "standard")]
    pub analyzer: String,
    /// Index threads [default: the available cores]
    #[arg(long)]
    pub threads: Option<usize>,
    /// Rounds; in each, every compression builds once
    #[arg(long, default_value_t = 5)]
    pub repetitions: usize,
    /// Documents to read of each index, spread evenly
    #[arg(long, default_value_t = 1000)]
    pub documents: usize,
    /// Directory for the indexes, which are removed
    #[arg(long, default_value = "target/bench")]
    pub place: PathBuf,
}

/// The samples of one compression.
#[derive(Default)]
struct Measured {
    rates: Vec<f64>,
    sizes: Vec<f64>,
    micros: Vec<f64>,
}

/// Microseconds to read one of `count` documents, spread evenly, without memory of the blocks before.
fn read(snapshot: Snapshot, count: usize) -> Result<f64> {
    let snapshot = snapshot.with_stored_cache(0);
    let mut all: Vec<Hit> = Vec::new();
    snapshot.searcher().for_each(&Query::All, Model::Classic, |hit| {
        all.push(hit);
        std::ops::ControlFlow::Continue(())
    })?;
    let step = (all.len() / count.max(1)).max(1);
    let (begin, mut bytes, mut documents) = (Instant::now(), 0, 0u32);
    for hit in all.iter().step_by(step) {
        bytes += snapshot.document(hit)?.map_or(0, |text| text.len());
        documents += 1;
    }
    ensure!(bytes > 0, "no text is stored");
    Ok(begin.elapsed().as_secs_f64() * 1e6 / f64::from(documents.max(1)))
}

/// Measures all compressions.
pub fn run(args: &StoredArgs, results: &mut Results) -> Result<()> {
    let threads = args.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let job = Job {
        lines: args.lines,
        analyzer: args.analyzer.clone(),
        ..Job::on(vec![args.corpus.clone()], threads)
    };
    let compressions = args.compressions.iter().map(|name| Ok(Compression::parse(name)?));
    let compressions = compressions.collect::<Result<Vec<Compression>>>()?;
    let (mut agreed, mut measured) = (Agreed::default(), Vec::new());
    measured.resize_with(compressions.len(), Measured::default);
    // The first round warms the caches.
    for round in 0..=args.repetitions.max(1) {
        for (&compression, measured) in compressions.iter().zip(&mut measured) {
            let room = room(&args.place)?;
            let report =
                build(&Job { compression: Some(compression), ..job.clone() }, room.path(), &Progress::new())?;
            agreed.check(&report)?;
            if round == 0 {
                continue;
            }
            let snapshot = Snapshot::open(room.path())?;
            measured.rates.push(mib(report.bytes) / report.seconds);
            measured.sizes.push(mib(snapshot.info().index_bytes) / mib(report.bytes));
            measured.micros.push(read(snapshot, args.documents)?);
        }
    }
    let metrics = [
        ("committed", "MiB/s", Better::Higher),
        ("index per input", "byte", Better::Lower),
        ("reading a document", "µs", Better::Lower),
    ];
    let first = measured.first().map(|first| [&first.rates, &first.sizes, &first.micros].map(Clone::clone));
    for (name, measured) in args.compressions.iter().zip(measured) {
        let samples = [measured.rates, measured.sizes, measured.micros];
        for ((metric, samples), baseline) in metrics.into_iter().zip(samples).zip(first.iter().flatten()) {
            let series = Series::of("stored", &text::name(&args.corpus), name, metric, samples);
            results.add(series.with("threads", threads as f64), Some(&baseline[..]));
        }
    }
    Ok(())
}
