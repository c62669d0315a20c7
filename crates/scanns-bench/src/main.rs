//! The command of the benchmarks: what each measures is said in the file of its name.

mod buffers;
mod build;
mod corpus;
mod flush;
mod ladder;
mod media;
mod memory;
mod reader;
mod search;
mod text;
mod tokenizer;
mod whole;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};
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
    /// Read a file or tree into blocks and throw them away
    Reader(reader::Args),
    /// Tokenizers side by side: the paper's and ours
    Tokenizer(tokenizer::Args),
    /// Indexes in memory side by side, one thread: the paper's and ours
    Ladder(ladder::Args),
    /// Build an index until it is committed, by number of threads
    Index(build::Args),
    /// Run a file of queries (class, tab, terms) against an index: top 10 and all hits
    Latency(search::Args),
    /// Random writes to memory, by size, threads and pages
    Memory(memory::Args),
    /// Buffers of each role, by size
    Buffers(buffers::Args),
    /// Builds from every source medium to every target medium
    Media(media::Args),
    /// Concurrent flushes against stopping the world, by threads and memory of a segment
    Flush(flush::Args),
    /// All of the above on a generated dump (the default)
    All {
        /// Where the dump and the indexes go
        #[arg(long, default_value = "target/bench")]
        work: PathBuf,
        /// MiB of the dump
        #[arg(long, default_value_t = 256)]
        mib: u64,
    },
}

fn main() -> Result<()> {
    let command = Command::parse();
    let all = Bench::All { work: "target/bench".into(), mib: 256 };
    let mut results = Results::begin(&[&command.report]);
    let results = &mut results;
    match command.bench.unwrap_or(all) {
        Bench::Corpus(args) => return corpus::run(&args),
        Bench::Reader(args) => reader::run(&args, results)?,
        Bench::Tokenizer(args) => tokenizer::run(&args, results)?,
        Bench::Ladder(args) => ladder::run(&args, results)?,
        Bench::Index(args) => build::run(&args, results)?,
        Bench::Latency(args) => search::run(&args, results)?,
        Bench::Memory(args) => memory::run(&args, results)?,
        Bench::Buffers(args) => buffers::run(&args, results)?,
        Bench::Media(args) => media::run(&args, results)?,
        Bench::Flush(args) => flush::run(&args, results)?,
        Bench::All { work, mib } => {
            println!("{}", results.machine);
            let dump = work.join("dump");
            let queries = work.join("queries.tsv");
            corpus::run(&corpus::Args::on(&dump, mib, Some(queries.clone())))?;
            memory::run(&memory::Args::quick(), results)?;
            reader::run(&reader::Args::on(&dump), results)?;
            tokenizer::run(&tokenizer::Args::on(&dump), results)?;
            for lines in [false, true] {
                ladder::run(&ladder::Args::on(&dump, lines), results)?;
                let out = work.join(if lines { "lines.scanns" } else { "files.scanns" });
                build::run(&build::Args::on(&dump, &out, lines), results)?;
                search::run(&search::Args { index: out, queries: queries.clone() }, results)?;
            }
            buffers::run(&buffers::Args::quick(&dump, &work), results)?;
            flush::run(&flush::Args::quick(&dump, &work), results)?;
            media::run(&media::Args::quick(&dump, &work), results)?;
        }
    }
    results.save(&command.report)?;
    println!("report: {}", command.report.join("report.html").display());
    Ok(())
}
