//! The command of the benchmarks: what each measures is said in the file of its name.

mod all;
mod buffers;
mod columns;
mod corpus;
mod dictionary;
mod flush;
mod index;
mod ladder;
mod latency;
mod media;
mod memory;
mod reader;
mod scaling;
mod text;
mod tokenizer;
mod tune;
mod whole;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};
use scanns_bench::compare;
use scanns_bench::results::Results;

/// Measures scanns on this machine, beside the designs it came from.
#[derive(Debug, Parser)]
#[command(version)]
struct Command {
    #[command(subcommand)]
    bench: Option<Bench>,
    /// Directory for results.json, results.csv and report.html
    #[arg(long, global = true, default_value = "target/bench/results")]
    report: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// Write a corpus, the same for the same seed
    Corpus(corpus::Args),
    /// Readers side by side: the paper's and ours, into blocks that are thrown away
    Reader(reader::Args),
    /// Tokenizers side by side: the paper's and ours
    Tokenizer(tokenizer::Args),
    /// Indexes in memory side by side, one thread: the paper's and ours
    Ladder(ladder::Args),
    /// From files to an index by number of threads: the paper's in memory, ours in memory and committed
    Index(index::Args),
    /// Answers by class of query and number of searchers: all hits, and the ten best
    Latency(latency::Args),
    /// Look-ups among all terms of an index, and opening it
    Dictionary(dictionary::Args),
    /// Columns: a value by its document with jump tables and without, whole columns, exports
    Columns(columns::Args),
    /// Random writes to memory, by size, threads and pages
    Memory(memory::Args),
    /// Buffers of each role, by size
    Buffers(buffers::Args),
    /// Builds from every source medium to every target medium
    Media(media::Args),
    /// Concurrent flushes against stopping the world, by threads and memory of a segment
    Flush(flush::Args),
    /// Predict rates on other machines from results
    Scaling(scaling::Args),
    /// The tuner against an exhaustive grid on one sample
    Tune(tune::Args),
    /// Find what became slower between two files of results, or two builds of this program
    Compare(compare::Args),
    /// All of the above on corpora made for it; with --quick, as without any command, little of everything
    All(all::Args),
}

fn main() -> Result<()> {
    let command = Command::parse();
    let mut results = Results::begin(&[&command.report]);
    let results = &mut results;
    match command.bench.unwrap_or_else(|| Bench::All(all::Args::default())) {
        Bench::Corpus(args) => return corpus::run(&args),
        Bench::Compare(args) => {
            if !compare::run(&args)? {
                std::process::exit(1);
            }
            return Ok(());
        }
        Bench::Reader(args) => reader::run(&args, results)?,
        Bench::Tokenizer(args) => tokenizer::run(&args, results)?,
        Bench::Ladder(args) => ladder::run(&args, results)?,
        Bench::Tune(args) => tune::run(&args, results)?,
        Bench::Scaling(args) => scaling::run(&args, results)?,
        Bench::Index(args) => index::run(&args, results)?,
        Bench::Latency(args) => latency::run(&args, results)?,
        Bench::Columns(args) => columns::run(&args, results)?,
        Bench::Dictionary(args) => dictionary::run(&args, results)?,
        Bench::Memory(args) => memory::run(&args, results)?,
        Bench::Buffers(args) => buffers::run(&args, results)?,
        Bench::Media(args) => media::run(&args, results)?,
        Bench::Flush(args) => flush::run(&args, results)?,
        Bench::All(args) => all::run(&args, results)?,
    }
    results.save(&command.report)?;
    println!("report: {}", command.report.join("report.html").display());
    Ok(())
}
