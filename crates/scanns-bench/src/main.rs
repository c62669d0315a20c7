//! The command line of the benchmarks. The file with the name of a command says what it measures.

mod all;
mod buffers;
mod columns;
mod corpus;
mod dictionary;
mod entries;
mod flush;
mod growth;
mod index;
mod ladder;
mod latency;
mod media;
mod members;
mod memory;
mod near;
mod page;
mod reader;
mod scaling;
mod segments;
mod serve;
mod stored;
mod text;
mod tokenizer;
mod tune;
mod views;
mod whole;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};
use scanns_bench::results::Results;
use scanns_bench::{compare, history, report};

/// Measures scanns on this machine, beside the designs that it is based on.
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
    /// Write a corpus; the same seed gives the same corpus
    Corpus(corpus::CorpusArgs),
    /// Print the entries of an invented file system, as find would; see scanns help dumps
    Entries(entries::EntriesArgs),
    /// Compare readers, the paper's and ours, into blocks that are thrown away
    Reader(reader::ReaderArgs),
    /// Compare tokenizers, the paper's and ours
    Tokenizer(tokenizer::TokenizerArgs),
    /// Compare indexes in memory on one thread, the paper's and ours
    Ladder(ladder::LadderArgs),
    /// Compare indexing of files by number of threads: the paper's in memory, ours in memory and committed
    Index(index::IndexArgs),
    /// Measure queries by class and number of searchers: all hits, and the ten best
    Latency(latency::LatencyArgs),
    /// Measure queries of views, which show some of the documents, beside the whole snapshot
    Views(views::ViewArgs),
    /// Measure scanns serve: what HTTP costs above the library, and the server under load
    Serve(serve::ServeArgs),
    /// Measure what the time of an answer tells about documents that a user may not see
    Hidden(serve::HiddenArgs),
    /// Measure look-ups among all terms of an index, and opening it
    Dictionary(dictionary::DictionaryArgs),
    /// Measure columns: a value by its document with jump tables and without, whole columns, exports
    Columns(columns::ColumnArgs),
    /// Measure random writes to memory, by size, threads and pages
    Memory(memory::MemoryArgs),
    /// Measure the buffers of each role, by size
    Buffers(buffers::BufferArgs),
    /// Measure builds from every source medium to every target medium
    Media(media::MediaArgs),
    /// Compare concurrent flushes with stopping the world, by threads and memory of a segment
    Flush(flush::FlushArgs),
    /// Measure the released command on file systems of growing size: import, find, du, report, search
    Growth(growth::GrowthArgs),
    /// Measure snapshots of a writer at a steady rate of documents, and what they cost at full speed
    Near(near::NearArgs),
    /// Measure queries by the number of segments of an index
    Segments(segments::SegmentArgs),
    /// Measure what a page of ten hits costs after the search: stored values or text, snippets, keys
    Page(page::PageArgs),
    /// Compare the compressions of stored text in whole builds: time, size, and reading a document
    Stored(stored::StoredArgs),
    /// Compare builds from archives with builds from the same files, unpacked
    Members(members::MemberArgs),
    /// Predict rates on other machines from results
    Scaling(scaling::ScalingArgs),
    /// Compare the tuner with an exhaustive grid on one sample
    Tune(tune::TuneArgs),
    /// Find what became slower between two files of results, or two builds of this program
    Compare(compare::CompareArgs),
    /// Append the figures of results to the history, and draw the page of all figures over time
    History(history::HistoryArgs),
    /// Run the experiments on corpora made for them; with --quick, or without any command, a little of each
    All(all::AllArgs),
}

fn main() -> Result<()> {
    let command = Command::parse();
    let mut results = Results::begin(&[&command.report]);
    let results = &mut results;
    match command.bench.unwrap_or_else(|| Experiment::All(all::AllArgs::default())) {
        Experiment::Corpus(args) => return corpus::run(&args),
        Experiment::Entries(args) => return entries::run(&args),
        Experiment::Compare(args) => {
            if !compare::run(&args)? {
                std::process::exit(1);
            }
            return Ok(());
        }
        Experiment::History(args) => return history::run(&args),
        Experiment::Reader(args) => reader::run(&args, results)?,
        Experiment::Tokenizer(args) => tokenizer::run(&args, results)?,
        Experiment::Ladder(args) => ladder::run(&args, results)?,
        Experiment::Tune(args) => tune::run(&args, results)?,
        Experiment::Scaling(args) => scaling::run(&args, results)?,
        Experiment::Index(args) => index::run(&args, results)?,
        Experiment::Latency(args) => latency::run(&args, results)?,
        Experiment::Views(args) => views::run(&args, results)?,
        Experiment::Serve(args) => serve::run(&args, results)?,
        Experiment::Hidden(args) => serve::run_hidden(&args, results)?,
        Experiment::Columns(args) => columns::run(&args, results)?,
        Experiment::Dictionary(args) => dictionary::run(&args, results)?,
        Experiment::Memory(args) => memory::run(&args, results)?,
        Experiment::Buffers(args) => buffers::run(&args, results)?,
        Experiment::Media(args) => media::run(&args, results)?,
        Experiment::Flush(args) => flush::run(&args, results)?,
        Experiment::Growth(args) => growth::run(&args, results)?,
        Experiment::Near(args) => near::run(&args, results)?,
        Experiment::Segments(args) => segments::run(&args, results)?,
        Experiment::Page(args) => page::run(&args, results)?,
        Experiment::Stored(args) => stored::run(&args, results)?,
        Experiment::Members(args) => members::run(&args, results)?,
        Experiment::All(args) => all::run(&args, results)?,
    }
    report::save(results, &command.report)?;
    println!("report: {}", command.report.join("report.html").display());
    Ok(())
}
