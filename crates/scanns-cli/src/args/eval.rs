//! What can be typed to measure how good answers are.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::values::positive;
use super::{FeedbackArgs, ModelArgs};

pub const EVAL_EXAMPLES: &str = "\
Examples:
  scanns eval news.scanns --topics topics.401-450 --qrels qrels.401-450 --model bm25
      how good the answers to the titles of the topics are
  scanns eval news.scanns --topics topics.tsv --qrels qrels.txt --model lm-dirichlet --mu 1000 -q
      topics are lines of a number, a tab and a text; measures of each topic too
  scanns eval news.scanns --topics topics.401-450 --run-out bm25.run --model bm25
      only writes the answers, as trec_eval reads them
  scanns eval news.scanns --topics topics.401-450 --qrels qrels.401-450 --model bm25 --rm3
      the same, each topic asked again with words of its ten best answers; the index needs --vectors
  scanns eval --run other.run --qrels qrels.401-450
      how good the answers of another engine are

The text of a topic is taken as a bag of words: each is a term that may occur, and counts as often as it
stands there. Documents with equal scores are in the order of their names, and get scores that differ in
the last digits, so that every tool keeps that order. Measures are those of trec_eval -c, by their names
there: the mean is over all topics that have judgements, a document that nobody judged is not relevant,
and of documents with equal scores, which only runs of others have, the one with the greater name comes
first.";

/// Arguments of `scanns eval`.
#[derive(Debug, Args)]
pub struct EvalArgs {
    /// The index
    #[arg(value_name = "NAME.scanns", required_unless_present = "run", requires = "topics")]
    pub index: Option<PathBuf>,
    /// Topics: a TREC file of top elements, or lines of an identifier, a tab and a text
    #[arg(long, value_name = "FILE", requires = "index")]
    pub topics: Option<PathBuf>,
    /// Which documents are relevant, as TREC writes it: topic, a number, document, relevance
    #[arg(long, value_name = "FILE", required_unless_present = "run_out")]
    pub qrels: Option<PathBuf>,
    /// Measure answers that are in a TREC run file instead: topic, Q0, document, rank, score, name
    #[arg(long, value_name = "FILE", conflicts_with_all = ["index", "topics", "run_out"], requires = "qrels")]
    pub run: Option<PathBuf>,
    /// Write the answers as a TREC run file, which is replaced
    #[arg(long, value_name = "FILE")]
    pub run_out: Option<PathBuf>,
    /// Parts of a TREC topic that are its text
    #[arg(long, value_enum, value_name = "PART", default_value = "title", value_delimiter = ',')]
    pub parts: Vec<PartArg>,
    /// The field to search [default: text, or the first]
    #[arg(long, value_name = "NAME")]
    pub field: Option<String>,
    /// How many documents to take for a topic
    #[arg(long, value_name = "N", default_value = "1000", value_parser = positive)]
    pub hits: usize,
    /// What names a document in judgements and runs
    #[arg(long, value_enum, value_name = "WHAT", default_value = "key")]
    pub docno: DocnoArg,
    /// Show the measures of each topic too
    #[arg(short = 'q', long)]
    pub each: bool,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub feedback: FeedbackArgs,
}

/// Parts of a TREC topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PartArg {
    /// A few words
    Title,
    /// A sentence
    Desc,
    /// What is relevant and what is not
    Narr,
}

/// What names a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DocnoArg {
    /// Its key, as scanns search shows it
    Key,
    /// The name of its file, without directories and without what follows the last dot
    Stem,
}
