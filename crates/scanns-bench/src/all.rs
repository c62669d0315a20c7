//! Runs every experiment, one after the other, on corpora made for it.
//!
//! Between experiments, the machine itself is measured by work that has nothing to do with scanns, so that a
//! later comparison knows how steady it was. Everything is measured in passes that are minutes apart. A
//! disturbance of a shared machine then shows as spread.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use scanns_bench::reference::Reference;
use scanns_bench::results::Results;

use crate::{
    buffers, corpus, flush, index, ladder, latency, media, memory, reader, scaling, tokenizer, tune,
};

/// How much to measure, and where.
#[derive(Debug, clap::Args)]
pub struct AllArgs {
    /// Measure a little of everything: under ten minutes on two cores
    #[arg(long)]
    pub quick: bool,
    /// Directory for corpora and indexes
    #[arg(long, default_value = "target/bench")]
    pub work: PathBuf,
    /// Size of the metadata dump in MiB [default: 1024, or 64 with --quick]
    #[arg(long)]
    pub mib: Option<u64>,
    /// How often to measure everything, one pass after the other
    #[arg(long, default_value_t = 2)]
    pub passes: usize,
}

impl Default for AllArgs {
    fn default() -> Self {
        AllArgs { quick: true, work: "target/bench".into(), mib: None, passes: 2 }
    }
}

/// Parses the arguments of an experiment. Those that are not in `arguments` have the defaults of its command.
fn usual<A: clap::Args>(arguments: &[&OsStr]) -> Result<A> {
    let command = A::augment_args(clap::Command::new("all").no_binary_name(true));
    Ok(A::from_arg_matches(&command.try_get_matches_from(arguments)?)?)
}

/// Runs an experiment, and prints how long it took.
fn step(
    name: &str,
    begun: Instant,
    reference: &mut Reference,
    results: &mut Results,
    run: impl FnOnce(&mut Results) -> Result<()>,
) -> Result<()> {
    for _ in 0..3 {
        reference.sample();
    }
    let begin = Instant::now();
    run(results)?;
    println!(
        "[{name}: {:.0} s, {:.0} s in all]\n",
        begin.elapsed().as_secs_f64(),
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Runs everything.
pub fn run(args: &AllArgs, results: &mut Results) -> Result<()> {
    let begun = Instant::now();
    let mut reference = Reference::new();
    println!("{}\n", results.machine);
    let mib = args.mib.unwrap_or(if args.quick { 64 } else { 1024 });
    corpus::run(&corpus::CorpusArgs::on(&args.work.join("dump"), mib, Some(args.work.join("queries.tsv"))))?;
    for pass in 0..args.passes.max(1) {
        println!("pass {} of {}\n", pass + 1, args.passes.max(1));
        measure(args, begun, &mut reference, results)?;
        results.join();
    }
    scaling::predict(&[], results)?;
    reference.finish(results);
    Ok(())
}

/// Runs one pass.
fn measure(args: &AllArgs, begun: Instant, reference: &mut Reference, results: &mut Results) -> Result<()> {
    let (dump, queries) = (args.work.join("dump"), args.work.join("queries.tsv"));
    let mut next = |name: &str, run: &mut dyn FnMut(&mut Results) -> Result<()>| {
        step(name, begun, reference, results, |results| run(results))
    };
    let quick = args.quick;
    let reading = if quick { reader::ReaderArgs::quick(&dump) } else { reader::ReaderArgs::on(&dump) };
    next("reader", &mut |results| reader::run(&reading, results))?;
    next("tokenizer", &mut |results| tokenizer::run(&tokenizer::TokenizerArgs::on(&dump), results))?;
    for lines in [false, true] {
        next("ladder", &mut |results| ladder::run(&ladder::LadderArgs::on(&dump, lines), results))?;
        let out = args.work.join(if lines { "lines.scanns" } else { "files.scanns" });
        let build = if quick { index::IndexArgs::quick } else { index::IndexArgs::on };
        next("index", &mut |results| index::run(&build(&dump, &out, lines), results))?;
        let in_memory = (!lines).then_some(dump.as_path());
        let asking = latency::LatencyArgs::quick(&out, &queries, in_memory);
        next("latency", &mut |results| latency::run(&asking, results))?;
    }
    let (dump, work) = (dump.as_path(), args.work.as_path());
    let writes = if quick { memory::MemoryArgs::quick() } else { usual(&[])? };
    next("memory", &mut |results| memory::run(&writes, results))?;
    let in_work = [dump.as_os_str(), OsStr::new("--work"), work.as_os_str()];
    let sizes = if quick { buffers::BufferArgs::quick(dump, work) } else { usual(&in_work)? };
    next("buffers", &mut |results| buffers::run(&sizes, results))?;
    let pairs = media::MediaArgs::quick(dump, work);
    next("media", &mut |results| media::run(&pairs, results))?;
    let flushes = if quick { flush::FlushArgs::quick(dump, work) } else { usual(&in_work)? };
    next("flush", &mut |results| flush::run(&flushes, results))?;
    if !quick {
        let tuning = usual(&[dump.as_os_str(), OsStr::new("--scratch"), work.as_os_str()])?;
        next("tune", &mut |results| tune::run(&tuning, results))?;
    }
    Ok(())
}
