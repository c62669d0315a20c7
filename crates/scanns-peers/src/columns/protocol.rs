//! What the driver and the adapters say to each other about columns.
//!
//! `ADAPTER build --fetches FILE --out DIR` builds and merges, and prints [`Built`]. `ADAPTER ask --index
//! DIR` reads requests from its standard input, one a line, and answers each with a line of JSON:
//!
//! ```text
//! open                               opens the index: [`Opened`]
//! close                              closes it, so that its pages can be dropped: []
//! check OPERATION TERM               does it once: [`Digests`], or null if the engine cannot, or not with
//!                                    this number of hits
//! time OPERATION WARM ROUNDS MS TERM,TERM,…
//!                                    does it for WARM ms, then ROUNDS times for each of the terms in turns,
//!                                    and after three times no further one once MS ms have passed:
//!                                    microseconds, by term and round; terms with too many hits are left out
//! ```

use std::fmt;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Parser, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};

/// The command line of an adapter.
#[derive(Debug, Parser)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub task: Task,
}

/// What an adapter can do.
#[derive(Clone, Debug, Subcommand)]
pub enum Task {
    /// Builds an index with one thread, and merges it into one segment
    Build {
        /// The file of fetches
        #[arg(long)]
        fetches: PathBuf,
        /// A directory for the index, made anew
        #[arg(long)]
        out: PathBuf,
    },
    /// Answers requests
    Ask {
        /// The index
        #[arg(long)]
        index: PathBuf,
    },
}

/// What is done with the hits of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Operation {
    /// The first values of six columns
    Facets,
    /// How many groups there are by address, and the first ones with their heads, by length
    Groups,
    /// The same, by code of one's own on top of the engine
    GroupsByHand,
    /// The longest hits
    Sort,
    /// Nine fields of the longest hits, which are known
    Fetch,
    /// Facets, groups, sort and fetch
    All,
    /// Four fields of all hits by id, descending; values are read in the order of documents, terms in that of
    /// their numbers
    Export,
    /// The same; values are read in the order of the output
    ExportInOrder,
}

impl Operation {
    /// Those that are asked of every decade of hits.
    pub const BY_HITS: [Operation; 6] = [
        Operation::Facets,
        Operation::Groups,
        Operation::GroupsByHand,
        Operation::Sort,
        Operation::Fetch,
        Operation::All,
    ];

    /// Those that are asked of the term for it.
    pub const EXPORTS: [Operation; 2] = [Operation::Export, Operation::ExportInOrder];

    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Operation::Facets => "six facets",
            Operation::Groups => "groups by url_norm",
            Operation::GroupsByHand => "groups, Lucene's by hand",
            Operation::Sort => "top 20 by length",
            Operation::Fetch => "nine fields of 20 hits",
            Operation::All => "facets, groups (Lucene's by hand), sort, fields",
            Operation::Export => "export, in the order of documents",
            Operation::ExportInOrder => "export, in the order of the output",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.to_possible_value().as_ref().map_or("", |value| value.get_name()))
    }
}

/// A line of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// To open the index.
    Open,
    /// To close it.
    Close,
    /// To do something once.
    Check(Operation, String),
    /// To time something.
    Time(Operation, Timing, Vec<String>),
}

/// How something is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Milliseconds before any time is taken.
    pub warm_ms: u64,
    /// Rounds over the terms.
    pub rounds: usize,
    /// Milliseconds after which nothing is timed any more, once three times were taken.
    pub most_ms: u64,
}

impl fmt::Display for Request {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::Open => out.write_str("open"),
            Request::Close => out.write_str("close"),
            Request::Check(operation, term) => write!(out, "check {operation} {term}"),
            Request::Time(operation, Timing { warm_ms, rounds, most_ms }, terms) => {
                write!(out, "time {operation} {warm_ms} {rounds} {most_ms} {}", terms.join(","))
            }
        }
    }
}

impl Request {
    /// Reads a line.
    ///
    /// # Errors
    /// For a line that is not a request.
    pub fn parse(line: &str) -> Result<Self> {
        let operation = |text: &str| {
            Operation::from_str(text, false).map_err(|error| anyhow::anyhow!("operation {text}: {error}"))
        };
        let words: Vec<&str> = line.split(' ').collect();
        Ok(match words[..] {
            ["open"] => Request::Open,
            ["close"] => Request::Close,
            ["check", name, term] => Request::Check(operation(name)?, term.into()),
            ["time", name, warm_ms, rounds, most_ms, terms] => {
                let number = |text: &str| text.parse::<u64>().with_context(|| format!("number {text}"));
                let (warm_ms, most_ms) = (number(warm_ms)?, number(most_ms)?);
                let timing = Timing { warm_ms, rounds: usize::try_from(number(rounds)?)?, most_ms };
                Request::Time(operation(name)?, timing, terms.split(',').map(str::to_owned).collect())
            }
            _ => bail!("unknown request {line:?}"),
        })
    }
}

/// What building took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Built {
    /// Documents in the index.
    pub documents: u64,
    /// Seconds until they were committed.
    pub seconds: f64,
    /// Segments that were merged.
    pub segments: u64,
    /// Seconds of the merge into one, until that was committed.
    pub merge_seconds: f64,
    /// Most memory that the process had until the commit.
    pub peak_bytes: u64,
    /// Most memory that it had during the merge.
    pub merge_peak_bytes: u64,
    /// Bytes of the index.
    pub index_bytes: u64,
    /// Bytes of the columns by name, with their dictionaries; a name that the engine does not know is left
    /// out.
    pub columns: Vec<(String, u64)>,
}

/// What was opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opened {
    /// Documents in the index.
    pub documents: u64,
    /// Segments of the index.
    pub segments: u64,
    /// Most memory that the process had since it was last asked.
    pub peak_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_as_they_were_written() {
        let timing = Timing { warm_ms: 5, rounds: 7, most_ms: 900 };
        for request in [
            Request::Open,
            Request::Close,
            Request::Check(Operation::GroupsByHand, "h3_07".into()),
            Request::Time(Operation::ExportInOrder, timing, vec!["a".into(), "b".into()]),
        ] {
            assert_eq!(Request::parse(&request.to_string()).unwrap(), request);
        }
        for line in ["", "check", "check this a", "time sort 1 2 a", "time sort x 2 3 a"] {
            assert!(Request::parse(line).is_err(), "{line:?}");
        }
    }
}
