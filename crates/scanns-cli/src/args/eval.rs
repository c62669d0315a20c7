//! Arguments of `scanns eval`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::values::positive;
use super::{FeedbackArgs, ModelArgs};

pub const EVAL_EXAMPLES: &str = "\
Examples:
  scanns eval news.scanns --topics topics.401-450 --qrels qrels.401-450
      evaluates the ranking for the titles of the topics
  scanns eval news.scanns --topics topics.tsv --qrels qrels.txt --model lm-dirichlet --mu 1000 -q
      reads topics as lines of an identifier, a tab and a text; also prints the measures of each topic
  scanns eval news.scanns --topics topics.401-450 --run-out bm25.run
      only writes the ranking, in the format of trec_eval
  scanns eval news.scanns --topics topics.401-450 --qrels qrels.401-450 --rm3
      expands each topic with words of its ten best documents; the index needs --vectors
  scanns eval --run other.run --qrels qrels.401-450
      evaluates the ranking of another engine

The text of a topic is a bag of words: every term is optional, and its weight is the number of its
occurrences. Documents with equal scores are sorted by name, and their scores are made to differ in the
last digits, so that every tool keeps this order. The measures are those of trec_eval -c and have the same
names: means are over all topics with judgements, and a document without a judgement is not relevant. In
the runs of other engines, documents with equal scores are sorted by descending name.";

/// Arguments of `scanns eval`.
#[derive(Debug, Args)]
pub struct EvalArgs {
    /// The index
    #[arg(value_name = "NAME.scanns", required_unless_present = "run", requires = "topics")]
    pub index: Option<PathBuf>,
    /// Topics: a TREC file of top elements, or lines of an identifier, a tab and a text
    #[arg(long, value_name = "FILE", requires = "index")]
    pub topics: Option<PathBuf>,
    /// Relevance judgements in the format of TREC: topic, a number, document, relevance
    #[arg(long, value_name = "FILE", required_unless_present = "run_out")]
    pub qrels: Option<PathBuf>,
    /// Evaluate a TREC run file instead of an index: topic, Q0, document, rank, score, name
    #[arg(long, value_name = "FILE", conflicts_with_all = ["index", "topics", "run_out"], requires = "qrels")]
    pub run: Option<PathBuf>,
    /// Write the ranking as a TREC run file; an existing file is replaced, and - is standard output
    #[arg(long, value_name = "FILE")]
    pub run_out: Option<PathBuf>,
    /// Parts of a TREC topic to use as its text
    #[arg(long, value_enum, value_name = "PART", default_value = "title", value_delimiter = ',')]
    pub parts: Vec<PartArg>,
    /// The field to search [default: text, or the first field]
    #[arg(long, value_name = "NAME")]
    pub field: Option<String>,
    /// Maximum number of documents per topic
    #[arg(long, value_name = "N", default_value = "1000", value_parser = positive)]
    pub hits: usize,
    /// How judgements and runs name documents
    #[arg(long, value_enum, value_name = "WHAT", default_value = "key")]
    pub docno: DocnoArg,
    /// Also print the measures of each topic
    #[arg(short = 'q', long)]
    pub each: bool,
    /// Print one JSON object
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
    /// A description of what is relevant and what is not
    Narr,
}

/// How judgements and runs name a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DocnoArg {
    /// By its key, as scanns search prints it
    Key,
    /// By the name of its file, without directories and extension
    Stem,
}
