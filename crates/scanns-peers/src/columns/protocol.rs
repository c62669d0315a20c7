//! The protocol between the driver and the adapters for columns.
//!
//! `ADAPTER build --fetches FILE --out DIR` builds an index, merges it, and prints [`Built`]. `ADAPTER ask
//! --index DIR` reads requests from standard input, one per line, and answers each with a line of JSON:
//!
//! ```text
//! open                               opens the index and answers [`Opened`]
//! close                              closes the index, so that its pages can be dropped, and answers []
//! check OPERATION TERM               runs the operation once and answers [`Digests`], or null if the engine
//!                                    does not support the operation, or not for this number of hits
//! time OPERATION WARM ROUNDS MS TERM,TERM,…
//!                                    runs the operation for WARM ms without measuring, then ROUNDS times for
//!                                    each term in turns, and answers the microseconds by term and round;
//!                                    stops early once MS ms have passed and three runs were measured; leaves
//!                                    out terms with too many hits
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
    /// Build an index with one thread and merge it into one segment
    Build {
        /// File of fetches
        #[arg(long)]
        fetches: PathBuf,
        /// Directory of the index; its contents are removed first
        #[arg(long)]
        out: PathBuf,
    },
    /// Answer requests from standard input
    Ask {
        /// Directory of the index
        #[arg(long)]
        index: PathBuf,
    },
}

/// An operation on the hits of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Operation {
    /// The most frequent values of six columns
    Facets,
    /// The number of groups by URL, and the groups with the longest documents, each with its longest one
    Groups,
    /// The same, computed by code outside of the engine
    GroupsByHand,
    /// The longest hits
    Sort,
    /// Nine fields of the longest hits, which were found before
    Fetch,
    /// Facets, groups, sort and fetch
    All,
    /// Four fields of all hits by descending id; values are read in the order of documents, terms in the
    /// order of their numbers
    Export,
    /// The same, but values are read in the order of the output
    ExportInOrder,
}

impl Operation {
    /// The operations that run for every number of hits.
    pub const BY_HITS: [Operation; 6] = [
        Operation::Facets,
        Operation::Groups,
        Operation::GroupsByHand,
        Operation::Sort,
        Operation::Fetch,
        Operation::All,
    ];

    /// The operations that run only for the term for exports.
    pub const EXPORTS: [Operation; 2] = [Operation::Export, Operation::ExportInOrder];

    /// The name that the table shows.
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

/// A request, which is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Open the index.
    Open,
    /// Close the index.
    Close,
    /// Run an operation once for a term.
    Check(Operation, String),
    /// Time an operation for some terms.
    Time(Operation, Timing, Vec<String>),
}

/// How an operation is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Milliseconds of warm-up before the first measurement.
    pub warm_ms: u64,
    /// Rounds over the terms.
    pub rounds: usize,
    /// Milliseconds after which no more runs are measured, once three were.
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
    /// Parses a line.
    ///
    /// # Errors
    /// If the line is not a request.
    pub fn parse(line: &str) -> Result<Self> {
        let operation = |text: &str| {
            Operation::from_str(text, false).map_err(|error| anyhow::anyhow!("operation {text:?}: {error}"))
        };
        let words: Vec<&str> = line.split(' ').collect();
        Ok(match words[..] {
            ["open"] => Request::Open,
            ["close"] => Request::Close,
            ["check", name, term] => Request::Check(operation(name)?, term.into()),
            ["time", name, warm_ms, rounds, most_ms, terms] => {
                let number =
                    |text: &str| text.parse::<u64>().with_context(|| format!("{text:?} is not a number"));
                let (warm_ms, most_ms) = (number(warm_ms)?, number(most_ms)?);
                let timing = Timing { warm_ms, rounds: usize::try_from(number(rounds)?)?, most_ms };
                Request::Time(operation(name)?, timing, terms.split(',').map(str::to_owned).collect())
            }
            _ => bail!("unknown request {line:?}"),
        })
    }
}

/// The report of a build and a merge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Built {
    /// Documents in the index.
    pub documents: u64,
    /// Seconds until the documents were committed.
    pub seconds: f64,
    /// Segments before the merge.
    pub segments: u64,
    /// Seconds from the start of the merge until the merged segment was committed.
    pub merge_seconds: f64,
    /// Peak memory of the process until the commit, in bytes.
    pub peak_bytes: u64,
    /// Peak memory of the process during the merge, in bytes.
    pub merge_peak_bytes: u64,
    /// Bytes of the merged index.
    pub index_bytes: u64,
    /// Bytes of each column with its dictionary, by name. Columns of unknown size are left out.
    pub columns: Vec<(String, u64)>,
}

/// The answer to [`Request::Open`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opened {
    /// Documents in the index.
    pub documents: u64,
    /// Segments of the index.
    pub segments: u64,
    /// Peak memory of the process since the previous report of it, in bytes.
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
