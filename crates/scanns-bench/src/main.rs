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
use scanns_bench::results::Results;
use scanns_bench::{compare, report};

/// Measures scanns on this machine, beside the designs it came from.
#[derive(Debug, Parser)]
#[command(version)]
struct Command {
    #[command(subcommand)]
    bench: Option<Experiment>,
    /// Directory for results.json, results.csv and report.html
    #[arg(long, global = true, default_value = "target/bench/results")]
    report: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Experiment {
    /// Write a corpus, the same for the same seed
    Corpus(corpus::CorpusArgs),
    /// Readers side by side: the paper's and ours, into blocks that are thrown away
    Reader(reader::ReaderArgs),
    /// Tokenizers side by side: the paper's and ours
    Tokenizer(tokenizer::TokenizerArgs),
    /// Indexes in memory side by side, one thread: the paper's and ours
    Ladder(ladder::LadderArgs),
    /// From files to an index by number of threads: the paper's in memory, ours in memory and committed
    Index(index::IndexArgs),
    /// Answers by class of query and number of searchers: all hits, and the ten best
    Latency(latency::LatencyArgs),
    /// Look-ups among all terms of an index, and opening it
    Dictionary(dictionary::DictionaryArgs),
    /// Columns: a value by its document with jump tables and without, whole columns, exports
    Columns(columns::ColumnArgs),
    /// Random writes to memory, by size, threads and pages
    Memory(memory::MemoryArgs),
    /// Buffers of each role, by size
    Buffers(buffers::BufferArgs),
    /// Builds from every source medium to every target medium
    Media(media::MediaArgs),
    /// Concurrent flushes against stopping the world, by threads and memory of a segment
    Flush(flush::FlushArgs),
    /// Predict rates on other machines from results
    Scaling(scaling::ScalingArgs),
    /// The tuner against an exhaustive grid on one sample
    Tune(tune::TuneArgs),
    /// Find what became slower between two files of results, or two builds of this program
    Compare(compare::CompareArgs),
    /// All of the above on corpora made for it; with --quick, as without any command, little of everything
    All(all::AllArgs),
}

fn main() -> Result<()> {
    let command = Command::parse();
    let mut results = Results::begin(&[&command.report]);
    let results = &mut results;
    match command.bench.unwrap_or_else(|| Experiment::All(all::AllArgs::default())) {
        Experiment::Corpus(args) => return corpus::run(&args),
        Experiment::Compare(args) => {
            if !compare::run(&args)? {
                std::process::exit(1);
            }
            return Ok(());
        }
        Experiment::Reader(args) => reader::run(&args, results)?,
        Experiment::Tokenizer(args) => tokenizer::run(&args, results)?,
        Experiment::Ladder(args) => ladder::run(&args, results)?,
        Experiment::Tune(args) => tune::run(&args, results)?,
        Experiment::Scaling(args) => scaling::run(&args, results)?,
        Experiment::Index(args) => index::run(&args, results)?,
        Experiment::Latency(args) => latency::run(&args, results)?,
        Experiment::Columns(args) => columns::run(&args, results)?,
        Experiment::Dictionary(args) => dictionary::run(&args, results)?,
        Experiment::Memory(args) => memory::run(&args, results)?,
        Experiment::Buffers(args) => buffers::run(&args, results)?,
        Experiment::Media(args) => media::run(&args, results)?,
        Experiment::Flush(args) => flush::run(&args, results)?,
        Experiment::All(args) => all::run(&args, results)?,
    }
    report::save(results, &command.report)?;
    println!("report: {}", command.report.join("report.html").display());
    Ok(())
}
