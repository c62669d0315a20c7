//! The protocol between the driver and an adapter: an adapter gets a command line and prints lines of JSON.
//!
//! An adapter is a program with three verbs. `build` writes an index and prints a [`Built`], as often as the
//! command line asks. `merge` merges all segments of an index into one and prints a [`Merged`], also several
//! times if asked. `search` runs all queries of a file and prints one [`Answers`]. All other output goes to
//! standard error. Each adapter runs as its own process, so its peak memory is the memory of one engine and
//! one job.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::{Args, Parser, ValueEnum};
use scanns::search::Model;
use serde::{Deserialize, Serialize};

use crate::analyzer::AnalyzerName;

/// The command line of an adapter.
#[derive(Debug, Parser)]
pub enum Task {
    /// Build an index from scratch
    Build(BuildTask),
    /// Merge all segments of an index into one
    Merge(MergeTask),
    /// Search an index
    Search(SearchTask),
}

/// What an index keeps besides documents, term frequencies and document lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub struct Kept {
    /// Keep the positions of the terms in each document
    #[arg(long)]
    pub positions: bool,
    /// Store the text of each document, with the default compression of the engine
    #[arg(long)]
    pub stored: bool,
    /// Store the terms of each document, with frequencies and positions
    #[arg(long)]
    pub vectors: bool,
}

/// What to build. The index keeps documents, term frequencies and document lengths.
#[derive(Clone, Debug, Args)]
pub struct BuildTask {
    /// File with the paths to index, each terminated by a NUL byte
    #[arg(long)]
    pub files: PathBuf,
    /// Directory of the index; its contents are removed first
    #[arg(long)]
    pub out: PathBuf,
    /// What a document is
    #[arg(long)]
    pub records: Unit,
    /// What finds terms in text
    #[arg(long)]
    pub analyzer: AnalyzerName,
    /// Number of indexing threads
    #[arg(long)]
    pub threads: usize,
    /// Whether threads share a writer; engines that support only one way ignore it
    #[arg(long)]
    pub writers: Writers,
    /// MiB to buffer in memory before a segment is written, per writer or per thread, depending on the engine
    #[arg(long)]
    pub buffer_mib: usize,
    /// Number of times to build
    #[arg(long)]
    pub repetitions: usize,
    /// Number of segments to build with one thread and without merges, one from each of the lists FILES.0,
    /// FILES.1, ...; with 0 the engine builds as fast as it can and chooses the number
    #[arg(long)]
    pub segments: usize,
    /// What else the index keeps
    #[command(flatten)]
    pub kept: Kept,
}

/// What to merge.
#[derive(Clone, Debug, Args)]
pub struct MergeTask {
    /// Directory of the index, which is not changed
    #[arg(long)]
    pub index: PathBuf,
    /// Directory of the merged index; its contents are removed first
    #[arg(long)]
    pub out: PathBuf,
    /// Number of times to merge
    #[arg(long)]
    pub repetitions: usize,
    /// What else the index keeps
    #[command(flatten)]
    pub kept: Kept,
}

/// What to search for, and how often.
#[derive(Clone, Debug, Args)]
pub struct SearchTask {
    /// Directory of the index
    #[arg(long)]
    pub index: PathBuf,
    /// File of queries: lines of class, tab, query as [`crate::form`] writes it
    #[arg(long)]
    pub queries: PathBuf,
    /// How documents are scored
    #[arg(long)]
    pub model: Scoring,
    /// Number of threads that search at the same time
    #[arg(long)]
    pub searchers: usize,
    /// Milliseconds of warm-up before the first measurement
    #[arg(long)]
    pub warm_ms: u64,
    /// Rounds over the queries of a class; the time of a query is the median of its rounds
    #[arg(long)]
    pub rounds: usize,
    /// Milliseconds after which a class that has had three rounds gets no more
    #[arg(long)]
    pub class_ms: u64,
    /// Also read positions, before the first measurement
    #[arg(long)]
    pub positions: bool,
}

/// What one document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Unit {
    /// A file
    File,
    /// A line
    Line,
    /// A line of JSON: a text, of which terms are found, and a path and a number, which become columns
    Json,
}

/// Whether threads share a writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Writers {
    /// Each thread has its own writer and its own index
    Local,
    /// All threads feed one writer
    Shared,
}

/// How documents are scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Scoring {
    /// Okapi BM25, k1 1.2, b 0.75
    Bm25,
    /// Lucene's ClassicSimilarity, a TF-IDF
    Classic,
    /// A language model with Dirichlet smoothing, mu 2000
    LmDirichlet,
}

impl Scoring {
    /// Returns the corresponding model of scanns.
    pub fn of_scanns(self) -> Model {
        match self {
            Scoring::Bm25 => Model::Bm25 { k1: 1.2, b: 0.75 },
            Scoring::Classic => Model::Classic,
            Scoring::LmDirichlet => Model::LmDirichlet { mu: 2000.0 },
        }
    }
}

/// What a search for a query returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The ten best hits.
    Top10,
    /// The hundred best hits.
    Top100,
    /// The number of hits.
    Count,
    /// All hits with their scores, in any order.
    All,
}

impl Goal {
    /// All goals, in the order of [`Answers::micros`].
    pub const EACH: [Goal; 4] = [Goal::Top10, Goal::Top100, Goal::Count, Goal::All];

    /// The name that the table shows.
    pub fn name(self) -> &'static str {
        match self {
            Goal::Top10 => "top 10",
            Goal::Top100 => "top 100",
            Goal::Count => "count",
            Goal::All => "all hits",
        }
    }
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

impl Kept {
    /// Describes what is kept, for the table.
    pub fn words(self) -> String {
        let all = [(self.positions, ", positions"), (self.stored, ", content"), (self.vectors, ", vectors")];
        let more = all.into_iter().filter(|(kept, _)| *kept).map(|(_, word)| word);
        std::iter::once("frequencies").chain(more).collect()
    }
}

impl BuildTask {
    /// The lists of files, one for each segment; empty if the number of segments is not fixed.
    pub fn shares(&self) -> Vec<PathBuf> {
        (0..self.segments).map(|number| share(&self.files, number)).collect()
    }
}

/// The path of the list of files for segment `number`, in the same directory as the list of all files.
pub fn share(list: &Path, number: usize) -> PathBuf {
    let mut name = list.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

/// A digest of all stored documents that does not depend on their order. See [`crate::contents::Digest`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contents {
    /// The number of ASCII bytes in all documents.
    pub bytes: u64,
    /// The sum of the CRC-32 of the ASCII bytes of each document.
    pub crcs: u64,
}

/// The report of one build. Documents and tokens are read back from the committed index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Built {
    /// Documents in the index.
    pub documents: u64,
    /// Tokens of all documents in the index.
    pub tokens: u64,
    /// Bytes of text that were read.
    pub bytes: u64,
    /// Seconds from the start until the commit was durable and could be searched.
    pub seconds: f64,
    /// Seconds from the start until all background merges had finished.
    pub rest_seconds: f64,
    /// Segments after all merges.
    pub segments: u64,
    /// Bytes that the process passed to the system for writing, merges included.
    pub bytes_written: u64,
    /// Peak resident memory of the process, in bytes.
    pub peak_bytes: u64,
    /// Digest of the stored text, read back; none if no text is stored.
    pub contents: Option<Contents>,
}

/// The report of one merge. Documents, tokens and contents are read back from the committed index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Merged {
    /// Documents in the index.
    pub documents: u64,
    /// Tokens of all documents in the index.
    pub tokens: u64,
    /// Segments before.
    pub segments_before: u64,
    /// Segments after.
    pub segments: u64,
    /// Bytes of the index before.
    pub bytes_before: u64,
    /// Bytes of the index after.
    pub bytes_after: u64,
    /// Seconds from opening the index until the merged segment was durable and could be searched.
    pub seconds: f64,
    /// Bytes that the process passed to the system for writing.
    pub bytes_written: u64,
    /// Peak resident memory of the process, in bytes.
    pub peak_bytes: u64,
    /// Digest of the stored text; none if no text is stored.
    pub contents: Option<Contents>,
}

/// The answers to the queries of a file, in the order of the queries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answers {
    /// Documents in the index.
    pub documents: u64,
    /// Segments of the index.
    pub segments: u64,
    /// The number of hits of each query. Counting and collecting found the same number. None if the engine
    /// has no such query.
    pub hits: Vec<Option<u64>>,
    /// Sum of the scores of the hundred best hits of each query, or 0 if the engine has no such query.
    pub scores: Vec<f64>,
    /// Microseconds that each query took, for each goal of [`Goal::EACH`]. None if the engine has no such
    /// query, or cannot reach the goal.
    pub micros: [Vec<Option<f64>>; 4],
    /// For each query, the sum of `position + 1` over all positions of its terms in all documents, or 0 after
    /// [`crate::adapter::CHECKED`] documents of its class. Empty if positions were not requested.
    pub positions: Vec<u64>,
    /// Peak resident memory of the process, in bytes.
    pub peak_bytes: u64,
}

fn is_time(number: f64) -> bool {
    number.is_finite() && number > 0.0
}

impl Built {
    /// Parses a line that `adapter` printed.
    ///
    /// # Errors
    /// If the line is not a report, or its figures are impossible.
    pub fn parse(adapter: &str, line: &str) -> Result<Self> {
        let built: Built = read(adapter, line)?;
        ensure!(
            is_time(built.seconds) && is_time(built.rest_seconds) && built.rest_seconds >= built.seconds,
            "{adapter} reports {} s to the commit and {} s to the end of merges: expected positive times, \
             the second not less than the first",
            built.seconds,
            built.rest_seconds
        );
        ensure!(
            built.bytes_written > 0 && built.peak_bytes > 0 && built.segments > 0,
            "{adapter} reports a build that wrote {} bytes and {} segments with {} bytes of memory: expected \
             more than 0",
            built.bytes_written,
            built.segments,
            built.peak_bytes
        );
        Ok(built)
    }
}

impl Merged {
    /// Parses a line that `adapter` printed.
    ///
    /// # Errors
    /// If the line is not a report, or its figures are impossible.
    pub fn parse(adapter: &str, line: &str) -> Result<Self> {
        let merged: Merged = read(adapter, line)?;
        ensure!(
            is_time(merged.seconds) && merged.bytes_before > 0 && merged.bytes_after > 0,
            "{adapter} reports a merge of {} bytes to {} in {} s: expected more than 0",
            merged.bytes_before,
            merged.bytes_after,
            merged.seconds
        );
        Ok(merged)
    }
}

impl Answers {
    /// Parses a line that `adapter` printed after `queries` queries.
    ///
    /// # Errors
    /// If the line is not a report, or does not have one figure for each query.
    pub fn parse(adapter: &str, line: &str, queries: usize) -> Result<Self> {
        let answers: Answers = read(adapter, line)?;
        let mut lengths = vec![answers.hits.len(), answers.scores.len()];
        lengths.extend(answers.micros.iter().map(Vec::len));
        ensure!(
            lengths.iter().all(|&length| length == queries),
            "{adapter} answered {lengths:?} of {queries} queries (hits, scores, times by goal): expected \
             all of them"
        );
        ensure!(
            answers.micros.iter().flatten().flatten().all(|&time| is_time(time)),
            "{adapter} reports an invalid time"
        );
        ensure!(
            answers.positions.is_empty() || answers.positions.len() == queries,
            "{adapter} read positions of {} of {queries} queries: expected all or none",
            answers.positions.len()
        );
        Ok(answers)
    }
}

fn read<'a, T: Deserialize<'a>>(adapter: &str, line: &'a str) -> Result<T> {
    let shown: String = line.chars().take(200).collect();
    serde_json::from_str(line).with_context(|| {
        format!("{adapter} printed an invalid report: {shown:?}; is it built for another protocol.rs?")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUILT: &str = r#"{"documents":3,"tokens":9,"bytes":70,"seconds":0.5,"rest_seconds":0.75,
        "segments":1,"bytes_written":40,"peak_bytes":4096,"contents":null}"#;
    const MERGED: &str = r#"{"documents":3,"tokens":9,"segments_before":8,"segments":1,"bytes_before":50,
        "bytes_after":40,"seconds":0.5,"bytes_written":40,"peak_bytes":4096,
        "contents":{"bytes":70,"crcs":5000000000}}"#;
    const ANSWERS: &str = r#"{"documents":3,"segments":1,"hits":[2,0],"scores":[1.5,0],
        "micros":[[3.5,1],[4,1.25],[1,1],[2,2]],"positions":[],"peak_bytes":4096}"#;

    #[test]
    fn a_line_of_an_adapter_is_read_as_it_was_written() {
        let built = Built::parse("x", BUILT).unwrap();
        assert_eq!((built.documents, built.tokens, built.seconds), (3, 9, 0.5));
        assert_eq!(Built::parse("x", &serde_json::to_string(&built).unwrap()).unwrap(), built);
        let merged = Merged::parse("x", MERGED).unwrap();
        assert_eq!((merged.segments_before, merged.contents.unwrap().crcs), (8, 5_000_000_000));
        assert_eq!(Merged::parse("x", &serde_json::to_string(&merged).unwrap()).unwrap(), merged);
        let answers = Answers::parse("x", ANSWERS, 2).unwrap();
        assert_eq!(
            (answers.hits.as_slice(), answers.micros[0].as_slice()),
            (&[Some(2), Some(0)][..], &[Some(3.5), Some(1.0)][..])
        );
        assert_eq!(Answers::parse("x", &serde_json::to_string(&answers).unwrap(), 2).unwrap(), answers);
    }

    #[test]
    fn other_lines_are_refused_and_the_adapter_is_named() {
        for (line, told) in [
            ("", "invalid report"),
            ("WARNING: something", "WARNING"),
            ("{}", "invalid report"),
            ("[1]", "invalid report"),
            (&BUILT.replace("\"tokens\":9", "\"tokens\":-9"), "invalid report"),
            (&BUILT.replace("\"tokens\"", "\"words\""), "invalid report"),
            (&BUILT.replace("0.5", "0"), "expected positive times"),
            (&BUILT.replace("0.75", "0.25"), "expected positive times"),
            (&BUILT.replace("\"segments\":1", "\"segments\":0"), "more than 0"),
        ] {
            let error = format!("{:#}", Built::parse("Lucene", line).unwrap_err());
            assert!(error.contains(told) && error.contains("Lucene"), "{error}");
        }
        for (line, told) in [
            (BUILT, "invalid report"),
            (&MERGED.replace("0.5", "-0.5"), "expected more than 0"),
            (&MERGED.replace("\"bytes_before\":50", "\"bytes_before\":0"), "expected more than 0"),
        ] {
            let error = format!("{:#}", Merged::parse("tantivy", line).unwrap_err());
            assert!(error.contains(told) && error.contains("tantivy"), "{error}");
        }
    }

    #[test]
    fn answers_to_other_than_all_queries_are_refused() {
        for (line, queries, told) in [
            (ANSWERS, 3, "expected all"),
            (&ANSWERS.replace("[4,1.25]", "[4]"), 2, "expected all"),
            (&ANSWERS.replace(",[2,2]", ""), 2, "invalid report"),
            (&ANSWERS.replace("3.5", "-3.5"), 2, "invalid time"),
            (&ANSWERS.replace("3.5", "[]"), 2, "invalid report"),
            (&ANSWERS.replace("\"positions\":[]", "\"positions\":[7]"), 2, "all or none"),
        ] {
            let error = format!("{:#}", Answers::parse("tantivy", line, queries).unwrap_err());
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn what_is_kept_is_flags_for_adapters_and_words_for_people() {
        let words = "x build --files a --out o --records file --analyzer standard --threads 1 \
                     --writers local --buffer-mib 1 --repetitions 1 --segments 2 --positions --vectors";
        let Task::Build(task) = Task::parse_from(words.split_whitespace()) else { panic!("another verb") };
        assert_eq!(task.kept, Kept { positions: true, stored: false, vectors: true });
        assert_eq!(task.kept.words(), "frequencies, positions, vectors");
        assert_eq!(task.shares(), [Path::new("a.0"), Path::new("a.1")]);
    }

    #[test]
    fn names_are_shown_as_they_are_typed() {
        assert_eq!(
            [Unit::Line.to_string(), Writers::Local.to_string(), Scoring::Bm25.to_string()],
            ["line", "local", "bm25"]
        );
    }
}
