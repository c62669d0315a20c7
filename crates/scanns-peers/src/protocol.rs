//! What the driver and an adapter say to each other: a command line goes in, lines of JSON come out.
//!
//! An adapter is a program with three verbs. `build` writes an index as often as it is told and prints a
//! [`Built`] each time; `merge` makes one segment of all that an index has, and prints a [`Merged`] each
//! time; `search` asks all queries of a file and prints one [`Answers`]. Whatever else it has to say goes to
//! standard error. Adapters are processes of their own, so that peak memory is that of one engine and of one
//! job.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::{Args, Parser, ValueEnum};
use scanns::search::Model;
use serde::{Deserialize, Serialize};

/// The command line of an adapter.
#[derive(Debug, Parser)]
pub enum Task {
    /// Build an index from scratch
    Build(BuildTask),
    /// Merge all segments of an index into one
    Merge(MergeTask),
    /// Ask an index
    Search(SearchTask),
}

/// What an index keeps beside documents, frequencies and lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub struct Kept {
    /// Keep where each term stands in each document
    #[arg(long)]
    pub positions: bool,
    /// Keep the text of each document, to be read back: compressed as the engine does by default
    #[arg(long)]
    pub stored: bool,
    /// Keep the terms of each document, by document, with frequencies and positions
    #[arg(long)]
    pub vectors: bool,
}

/// What to build. Terms are the bytes between white space and `/`; documents and frequencies are kept, and
/// lengths.
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
    /// MiB that are gathered in memory before a segment is written, per writer or per thread as the engine
    /// counts
    #[arg(long)]
    pub buffer_mib: usize,
    /// How often to do it all
    #[arg(long)]
    pub repetitions: usize,
    /// Segments to build, without any merge and by one thread: the files of the lists FILES.0, FILES.1, ...
    /// become one each; 0 for as many as come of the fastest build
    #[arg(long)]
    pub segments: usize,
    /// What else is kept
    #[command(flatten)]
    pub kept: Kept,
}

/// What to merge.
#[derive(Clone, Debug, Args)]
pub struct MergeTask {
    /// Directory of the index, which stays as it is
    #[arg(long)]
    pub index: PathBuf,
    /// Directory of the merged index; what is in it is removed first
    #[arg(long)]
    pub out: PathBuf,
    /// How often to do it all
    #[arg(long)]
    pub repetitions: usize,
    /// What else the index keeps
    #[command(flatten)]
    pub kept: Kept,
}

/// What to ask, and how often.
#[derive(Clone, Debug, Args)]
pub struct SearchTask {
    /// Directory of the index
    #[arg(long)]
    pub index: PathBuf,
    /// Lines of class, tab, query as [`crate::form`] writes it
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
    /// Read positions as well, before any time is taken
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
    /// A language model with Dirichlet smoothing, mu 2000
    LmDirichlet,
}

impl Scoring {
    /// The model of scanns.
    pub fn of_scanns(self) -> Model {
        match self {
            Scoring::Bm25 => Model::Bm25 { k1: 1.2, b: 0.75 },
            Scoring::Classic => Model::Classic,
            Scoring::LmDirichlet => Model::LmDirichlet { mu: 2000.0 },
        }
    }
}

/// What is to be found of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The ten best hits.
    Top10,
    /// The hundred best hits.
    Top100,
    /// How many hits there are.
    Count,
    /// All hits with their scores, in any order.
    All,
}

impl Goal {
    /// All, in the order of [`Answers::micros`].
    pub const EACH: [Goal; 4] = [Goal::Top10, Goal::Top100, Goal::Count, Goal::All];

    /// For people.
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
    /// In words.
    pub fn words(self) -> String {
        let all = [(self.positions, ", positions"), (self.stored, ", content"), (self.vectors, ", vectors")];
        let more = all.into_iter().filter(|(kept, _)| *kept).map(|(_, word)| word);
        std::iter::once("frequencies").chain(more).collect()
    }
}

impl BuildTask {
    /// The lists that become a segment each, where that is wanted.
    pub fn shares(&self) -> Vec<PathBuf> {
        (0..self.segments).map(|number| share(&self.files, number)).collect()
    }
}

/// The list of the files that become segment `number`, beside the list of all.
pub fn share(list: &Path, number: usize) -> PathBuf {
    let mut name = list.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

/// What all stored documents are together, in whatever order they are read back: [`crate::contents::Digest`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contents {
    /// Bytes of them that are ASCII.
    pub bytes: u64,
    /// Sum of the CRC-32 of the ASCII bytes of each.
    pub crcs: u64,
}

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
    /// What was stored, read back; none if nothing was.
    pub contents: Option<Contents>,
}

/// One merge. Documents, tokens and contents are read back from the committed index.
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
    /// Seconds from opening the index until the one segment was durable and could be searched.
    pub seconds: f64,
    /// Bytes handed to the system to be written.
    pub bytes_written: u64,
    /// Most memory that the process ever had resident, in bytes.
    pub peak_bytes: u64,
    /// What is stored; none if nothing is.
    pub contents: Option<Contents>,
}

/// What became of the queries of a file, in their order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answers {
    /// Documents in the index.
    pub documents: u64,
    /// Segments of the index.
    pub segments: u64,
    /// Hits of each query: as many as were counted, and as many as were gathered.
    pub hits: Vec<u64>,
    /// Sum of the scores of the hundred best hits of each query.
    pub scores: Vec<f64>,
    /// Microseconds that each query took, by [`Goal::EACH`].
    pub micros: [Vec<f64>; 4],
    /// Where positions were asked for, the sum of one more than each position of its terms in all documents,
    /// of each query, or 0 once there were [`crate::adapter::CHECKED`] documents in its class; else
    /// nothing.
    pub positions: Vec<u64>,
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
            "{adapter} reports a build that wrote {} bytes and {} segments in {} bytes of memory: expected \
             more than 0",
            built.bytes_written,
            built.segments,
            built.peak_bytes
        );
        Ok(built)
    }
}

impl Merged {
    /// Reads what `adapter` printed.
    ///
    /// # Errors
    /// Where the line is not what an adapter prints, or its figures cannot be.
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
    /// Reads what `adapter` printed after `queries` queries.
    ///
    /// # Errors
    /// Where the line is not what an adapter prints, or has not one figure for each query.
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
            answers.micros.iter().flatten().all(|&time| is_time(time)),
            "{adapter} reports a time that is no time"
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
        format!("{adapter} printed what is no report: {shown:?}: if its sources changed, so must protocol.rs")
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
        assert_eq!((answers.hits.as_slice(), answers.micros[0].as_slice()), (&[2, 0][..], &[3.5, 1.0][..]));
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
        for (line, told) in [
            (BUILT, "no report"),
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
            (&ANSWERS.replace(",[2,2]", ""), 2, "no report"),
            (&ANSWERS.replace("3.5", "-3.5"), 2, "no time"),
            (&ANSWERS.replace("3.5", "null"), 2, "no report"),
            (&ANSWERS.replace("\"positions\":[]", "\"positions\":[7]"), 2, "all or none"),
        ] {
            let error = format!("{:#}", Answers::parse("tantivy", line, queries).unwrap_err());
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn what_is_kept_is_flags_for_adapters_and_words_for_people() {
        let words = "x build --files a --out o --records file --threads 1 --writers local --buffer-mib 1 \
                     --repetitions 1 --segments 2 --positions --vectors";
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
