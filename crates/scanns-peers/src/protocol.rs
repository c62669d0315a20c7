//! What the driver and an adapter say to each other: a command line goes in, lines of JSON come out.
//!
//! An adapter is a program with two verbs. `build` writes an index as often as it is told and prints a [`Built`] each
//! time; `search` asks all queries of a file and prints one [`Answers`]. Whatever else it has to say goes to standard
//! error. Adapters are processes of their own, so that peak memory is that of one engine and of one job.

use std::fmt;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::{Args, Parser, ValueEnum};
use serde::{Deserialize, Serialize};

/// The command line of an adapter.
#[derive(Debug, Parser)]
pub enum Task {
    /// Build an index from scratch
    Build(BuildTask),
    /// Ask an index
    Search(SearchTask),
}

/// What to build. Terms are the bytes between white space and `/`; documents and frequencies are kept, and lengths.
#[derive(Clone, Debug, Args)]
pub struct BuildTask {
    /// File of the paths to index, each ended by a NUL byte
    #[arg(long)]
    pub files: PathBuf,
    /// Directory of the index; what is in it is removed first
    #[arg(long)]
    pub out: PathBuf,
    /// What a document is
    #[arg(long)]
    pub records: Unit,
    /// Threads that index
    #[arg(long)]
    pub threads: usize,
    /// Whether threads share a writer; engines that know one way only pass over it
    #[arg(long)]
    pub writers: Writers,
    /// MiB that are gathered in memory before a segment is written, per writer or per thread as the engine counts
    #[arg(long)]
    pub buffer_mib: usize,
    /// How often to do it all
    #[arg(long)]
    pub repetitions: usize,
}

/// What to ask, and how often.
#[derive(Clone, Debug, Args)]
pub struct SearchTask {
    /// Directory of the index
    #[arg(long)]
    pub index: PathBuf,
    /// Lines of class, tab, terms with a space between them; a class that begins with "and" needs all terms
    #[arg(long)]
    pub queries: PathBuf,
    /// How documents are scored
    #[arg(long)]
    pub model: Scoring,
    /// Threads that ask at once
    #[arg(long)]
    pub searchers: usize,
    /// Milliseconds of asking before any time is taken
    #[arg(long)]
    pub warm_ms: u64,
    /// Rounds over the queries of a class; the time of a query is the median of its rounds
    #[arg(long)]
    pub rounds: usize,
    /// Milliseconds after which a class has no further round, once it had three
    #[arg(long)]
    pub class_ms: u64,
}

/// What one document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Unit {
    /// A file
    File,
    /// A line
    Line,
}

/// Whether threads share a writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Writers {
    /// Each thread has its own, and its own index
    Local,
    /// All threads feed one
    Shared,
}

/// How documents are scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Scoring {
    /// Okapi BM25, k1 1.2, b 0.75
    Bm25,
    /// Lucene's ClassicSimilarity, a TF-IDF
    Classic,
}

macro_rules! shown_as_typed {
    ($($name:ty),+) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(self.to_possible_value().as_ref().map_or("", |value| value.get_name()))
            }
        }
    )+};
}
shown_as_typed!(Unit, Writers, Scoring);

/// One build. Documents and tokens are read back from the committed index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Built {
    /// Documents in the index.
    pub documents: u64,
    /// Tokens of all documents in the index.
    pub tokens: u64,
    /// Bytes of text that were read.
    pub bytes: u64,
    /// Seconds from nothing until the commit was durable and could be searched.
    pub seconds: f64,
    /// Seconds until merges in the background, if there were any, had come to rest.
    pub rest_seconds: f64,
    /// Segments at rest.
    pub segments: u64,
    /// Bytes handed to the system to be written, until rest.
    pub bytes_written: u64,
    /// Most memory that the process ever had resident, in bytes.
    pub peak_bytes: u64,
}

/// What became of the queries of a file, in their order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answers {
    /// Documents in the index.
    pub documents: u64,
    /// Segments of the index.
    pub segments: u64,
    /// Hits of each query.
    pub hits: Vec<u64>,
    /// Sum of the scores of the ten best hits of each query.
    pub scores: Vec<f64>,
    /// Microseconds until the ten best hits were known, sorted, of each query.
    pub top_us: Vec<f64>,
    /// Microseconds until all hits were gathered with their scores, in no order, of each query.
    pub all_us: Vec<f64>,
    /// Most memory that the process ever had resident, in bytes.
    pub peak_bytes: u64,
}

fn is_time(number: f64) -> bool {
    number.is_finite() && number > 0.0
}

impl Built {
    /// Reads what `adapter` printed.
    ///
    /// # Errors
    /// Where the line is not what an adapter prints, or its figures cannot be.
    pub fn parse(adapter: &str, line: &str) -> Result<Self> {
        let built: Built = read(adapter, line)?;
        ensure!(
            is_time(built.seconds) && is_time(built.rest_seconds) && built.rest_seconds >= built.seconds,
            "{adapter} reports {} s to the commit and {} s to rest: expected times, the second no less",
            built.seconds,
            built.rest_seconds
        );
        ensure!(
            built.bytes_written > 0 && built.peak_bytes > 0 && built.segments > 0,
            "{adapter} reports a build that wrote {} bytes and {} segments in {} bytes of memory: expected more than 0",
            built.bytes_written,
            built.segments,
            built.peak_bytes
        );
        Ok(built)
    }
}

impl Answers {
    /// Reads what `adapter` printed after `queries` queries.
    ///
    /// # Errors
    /// Where the line is not what an adapter prints, or has not one figure for each query.
    pub fn parse(adapter: &str, line: &str, queries: usize) -> Result<Self> {
        let answers: Answers = read(adapter, line)?;
        let lengths = [answers.hits.len(), answers.scores.len(), answers.top_us.len(), answers.all_us.len()];
        ensure!(
            lengths == [queries; 4],
            "{adapter} answered {lengths:?} of {queries} queries (hits, scores, top, all): expected all of them"
        );
        ensure!(
            answers.top_us.iter().chain(&answers.all_us).all(|&time| is_time(time)),
            "{adapter} reports a time that is no time"
        );
        Ok(answers)
    }
}

fn read<'a, T: Deserialize<'a>>(adapter: &str, line: &'a str) -> Result<T> {
    let shown: String = line.chars().take(200).collect();
    serde_json::from_str(line).with_context(|| {
        format!("{adapter} printed what is no report: {shown:?}: if its sources changed, so must protocol.rs")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUILT: &str = r#"{"documents":3,"tokens":9,"bytes":70,"seconds":0.5,"rest_seconds":0.75,"segments":1,
        "bytes_written":40,"peak_bytes":4096}"#;
    const ANSWERS: &str = r#"{"documents":3,"segments":1,"hits":[2,0],"scores":[1.5,0],"top_us":[3.5,1],
        "all_us":[4,1.25],"peak_bytes":4096}"#;

    #[test]
    fn a_line_of_an_adapter_is_read_as_it_was_written() {
        let built = Built::parse("x", BUILT).unwrap();
        assert_eq!((built.documents, built.tokens, built.seconds), (3, 9, 0.5));
        assert_eq!(Built::parse("x", &serde_json::to_string(&built).unwrap()).unwrap(), built);
        let answers = Answers::parse("x", ANSWERS, 2).unwrap();
        assert_eq!((answers.hits.as_slice(), answers.top_us.as_slice()), (&[2, 0][..], &[3.5, 1.0][..]));
        assert_eq!(Answers::parse("x", &serde_json::to_string(&answers).unwrap(), 2).unwrap(), answers);
    }

    #[test]
    fn other_lines_are_refused_and_the_adapter_is_named() {
        for (line, told) in [
            ("", "no report"),
            ("WARNING: something", "WARNING"),
            ("{}", "no report"),
            ("[1]", "no report"),
            (&BUILT.replace("\"tokens\":9", "\"tokens\":-9"), "no report"),
            (&BUILT.replace("\"tokens\"", "\"words\""), "no report"),
            (&BUILT.replace("0.5", "0"), "expected times"),
            (&BUILT.replace("0.75", "0.25"), "expected times"),
            (&BUILT.replace("\"segments\":1", "\"segments\":0"), "more than 0"),
        ] {
            let error = format!("{:#}", Built::parse("Lucene", line).unwrap_err());
            assert!(error.contains(told) && error.contains("Lucene"), "{error}");
        }
    }

    #[test]
    fn answers_to_other_than_all_queries_are_refused() {
        for (line, queries, told) in [
            (ANSWERS, 3, "expected all"),
            (&ANSWERS.replace("[4,1.25]", "[4]"), 2, "expected all"),
            (&ANSWERS.replace("3.5", "-3.5"), 2, "no time"),
            (&ANSWERS.replace("3.5", "null"), 2, "no report"),
        ] {
            let error = format!("{:#}", Answers::parse("tantivy", line, queries).unwrap_err());
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn names_are_shown_as_they_are_typed() {
        assert_eq!(
            [Unit::Line.to_string(), Writers::Local.to_string(), Scoring::Bm25.to_string()],
            ["line", "local", "bm25"]
        );
    }
}
