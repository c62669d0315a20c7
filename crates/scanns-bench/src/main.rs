//! Benchmarks: each prints what it measured, how often, and the median with its spread.
//!
//! `corpus.rs` makes text to measure on, `reader.rs` measures reading, `invert.rs` the index in memory, `build.rs`
//! a whole build until it is committed, `search.rs` answers, `tune.rs` the tuner against a grid.
//! `record.rs` is how results are written. Records of runs that were worth keeping are in `records/`, by date.

mod build;
mod corpus;
mod invert;
mod reader;
mod record;
mod search;
mod tune;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Measures scanns on this machine.
#[derive(Debug, Parser)]
struct Command {
    #[command(subcommand)]
    bench: Option<Bench>,
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// Write a metadata dump of the given size, the same for the same seed
    Corpus(corpus::Args),
    /// Read a file or tree into blocks and throw them away
    Read(reader::Args),
    /// Index in memory, one thread: from fresh memory, then with the memory reused
    Invert(invert::Args),
    /// Build an index until it is committed, several times
    Index(build::Args),
    /// Run a file of queries (class, tab, terms) against an index: top 10 and all hits
    Search(search::Args),
    /// The tuner against an exhaustive grid on one sample
    Tune(tune::Args),
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
    let all = Bench::All { work: "target/bench".into(), mib: 256 };
    match Command::parse().bench.unwrap_or(all) {
        Bench::Corpus(args) => corpus::run(&args),
        Bench::Read(args) => reader::run(&args),
        Bench::Invert(args) => invert::run(&args),
        Bench::Index(args) => build::run(&args),
        Bench::Search(args) => search::run(&args),
        Bench::Tune(args) => tune::run(&args),
        Bench::All { work, mib } => {
            record::machine();
            let dump = work.join("dump");
            let queries = work.join("queries.tsv");
            corpus::run(&corpus::Args { out: dump.clone(), mib, seed: 7, queries: Some(queries.clone()) })?;
            reader::run(&reader::Args::on(&dump))?;
            for lines in [false, true] {
                invert::run(&invert::Args { path: dump.clone(), lines, repetitions: 3 })?;
                let out = work.join(if lines { "lines.scanns" } else { "files.scanns" });
                build::run(&build::Args::on(&dump, &out, lines))?;
                search::run(&search::Args { index: out, queries: queries.clone() })?;
            }
            Ok(())
        }
    }
}
