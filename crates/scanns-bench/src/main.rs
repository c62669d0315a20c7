//! The command of the benchmarks: what each measures is said in the file of its name.

mod corpus;
mod index;
mod ladder;
mod latency;
mod reader;
mod scaling;
mod text;
mod tokenizer;
mod tune;

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
    /// Predict rates on other machines from results
    Scaling(scaling::Args),
    /// The tuner against an exhaustive grid on one sample
    Tune(tune::Args),
    /// Find what became slower between two files of results, or two builds of this program
    Compare(compare::Args),
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
        Bench::All { work, mib } => {
            println!("{}", results.machine);
            let dump = work.join("dump");
            let queries = work.join("queries.tsv");
            corpus::run(&corpus::Args { out: dump.clone(), mib, seed: 7, queries: Some(queries.clone()) })?;
            reader::run(&reader::Args::quick(&dump), results)?;
            tokenizer::run(&tokenizer::Args::on(&dump), results)?;
            for lines in [false, true] {
                ladder::run(&ladder::Args::on(&dump, lines), results)?;
                let out = work.join(if lines { "lines.scanns" } else { "files.scanns" });
                index::run(&index::Args::quick(&dump, &out, lines), results)?;
                latency::run(&latency::Args::quick(&out, &queries, None), results)?;
            }
        }
    }
    results.save(&command.report)?;
    println!("report: {}", command.report.join("report.html").display());
    Ok(())
}
