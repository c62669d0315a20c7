//! What the adapters for the application are asked.
//!
//! `ADAPTER write --calls FILE --out DIR` makes the calls of the file with two threads, prints [`Written`],
//! and merges a copy into one segment in `DIR-merged`. `ADAPTER ask --index DIR --questions FILE --rounds N`
//! asks all questions, once each round, and prints [`Asked`]. A question is a line: the kind, a tab, and a
//! query in the language of [`crate::form`]; for [`Kind::Range`] the query is a word, and the range is fixed.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::form::Form;

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
    /// Write an index with two threads, and merge a copy of it into one segment
    Write {
        /// File of calls
        #[arg(long)]
        calls: PathBuf,
        /// Directory of the index; its contents are removed first
        #[arg(long)]
        out: PathBuf,
    },
    /// Ask all questions
    Ask {
        /// Directory of the index
        #[arg(long)]
        index: PathBuf,
        /// File of questions
        #[arg(long)]
        questions: PathBuf,
        /// Number of rounds
        #[arg(long)]
        rounds: usize,
    },
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The stored fields of the ten best hits, which were found before.
    Stored,
    /// One fragment of 80 bytes of the body of each of the ten best hits, which were found before.
    Snippets,
    /// The keys of the ten best hits, which were found before.
    Keys,
    /// The ten best hits by the product of the score and [`super::by_age`].
    ByAge,
    /// The number, the least, the greatest and the sum of prices.
    Statistics,
    /// The number of documents by intervals of thirty days.
    Histogram,
    /// The number of documents by tag, the ten most frequent tags.
    Facet,
    /// The ten best hits of a word, whose price is from 100 to 200.
    Range,
    /// The ten best hits.
    Top,
    /// The ten hits with the greatest stock.
    Sort,
    /// The ten hits with the greatest stock, and among equal stocks the lowest price.
    SortTwice,
    /// The number of hits.
    Count,
    /// Opens the index.
    Open,
}

/// The prices of [`Kind::Range`].
pub const PRICES: [f64; 2] = [100.0, 200.0];

/// Seconds of an interval of [`Kind::Histogram`].
pub const INTERVAL: i64 = 30 * 86_400;

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.to_possible_value().as_ref().map_or("", |value| value.get_name()))
    }
}

/// A question.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// What is asked.
    pub kind: Kind,
    /// Of what hits.
    pub form: Form,
}

impl FromStr for Question {
    type Err = anyhow::Error;

    fn from_str(line: &str) -> Result<Self> {
        let (kind, form) = line.split_once('\t').with_context(|| format!("{line:?} is not a question"))?;
        let kind = Kind::from_str(kind, false).map_err(anyhow::Error::msg)?;
        Ok(Question { kind, form: form.parse()? })
    }
}

/// The report of writing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// Documents that are left.
    pub documents: u64,
    /// Seconds of all calls.
    pub seconds: f64,
    /// Seconds of each commit.
    pub commits: Vec<f64>,
    /// Segments after the last commit.
    pub segments: u64,
    /// Bytes of the index after the last commit.
    pub index_bytes: u64,
    /// Peak resident memory of the process, in bytes.
    pub peak_bytes: u64,
}

/// The answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// Segments of the index.
    pub segments: u64,
    /// For each question, numbers that all engines must agree on; none if the engine does not answer it.
    pub answers: Vec<Option<Vec<f64>>>,
    /// For each question, microseconds in each round. The first round is the first time that it was asked.
    pub micros: Vec<Vec<f64>>,
    /// Peak resident memory of the process, in bytes.
    pub peak_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_lines() {
        let question: Question = "sort-twice\tterm a".parse().unwrap();
        assert_eq!((question.kind, question.form), (Kind::SortTwice, Form::Term("a".into())));
        assert_eq!(question.kind.to_string(), "sort-twice");
        for line in ["", "sort", "shuffle\tterm a", "sort\twords"] {
            assert!(line.parse::<Question>().is_err(), "{line}");
        }
    }
}
