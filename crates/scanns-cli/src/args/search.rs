//! What can be typed to search.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::similar::{FeedbackArgs, LikeArgs};
use super::values::{number, positive};

pub const SEARCH_EXAMPLES: &str = "\
Examples:
  scanns search docs.scanns 'license warranty'
      the ten documents that answer best
  scanns search docs.scanns -k 3 --default-operator and 'license warranty'
      only documents that have both words
  scanns search fs.scanns --count root
      how many documents there are
  scanns search fs.scanns --all --json root
      every one of them, one JSON object a line
  scanns search mail.scanns --content 'license warranty'
      with the text of the documents, if the index has it
  scanns search docs.scanns '\"free software\" -draft licen*'
      a phrase, without a word, a prefix
  scanns search docs.scanns --explain -k 1 'license warranty'
      why the best document has the score that it has
  scanns search docs.scanns --rm3 --model bm25 'license warranty'
      asks again with words of the ten best documents; the index needs --vectors
  scanns search docs.scanns --like /usr/share/doc/bash/README
      documents like that one; the index needs --vectors or --store

Queries, in full in docs/QUERIES.md:
  a b   a AND b   a OR b   a NOT b   +a -b   words, required, excluded
  (a b c)@2                                  at least two of them
  \"a b\"   \"a b\"~2                            beside each other; moved by two places
  ab*   a?b*   re\"a[0-9]+\"                   terms that look so
  [a TO b]   in(a b)                         ranges and sets of terms
  word~   word~1                             spelt like it, by two edits or one
  name:a   name:\"a b\"   name:*   *           in a field; anything there; every document
  a^2   \\*                                   counts twice; a backslash takes a meaning away

A query that starts with a hyphen goes after --.";

/// Arguments of `scanns search`.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// The index
    #[arg(value_name = "NAME.scanns")]
    pub index: PathBuf,
    /// What to find; several arguments are one query
    #[arg(required_unless_present_any = ["like", "like_file"])]
    pub query: Vec<String>,
    /// How many documents to show at most
    #[arg(short = 'k', value_name = "N", default_value = "10", value_parser = positive)]
    pub top: usize,
    /// Show all documents that match, as they are found, in the order of the index
    #[arg(long, conflicts_with = "top")]
    pub all: bool,
    /// Only count the documents that match
    #[arg(long, conflicts_with_all = ["top", "all"])]
    pub count: bool,
    /// The field to search, where documents have several [default: text, or the first]
    #[arg(long, value_name = "NAME")]
    pub field: Option<String>,
    /// Whether a document must match any term or all, where the query does not say
    #[arg(long, value_enum, value_name = "OP", default_value = "or")]
    pub default_operator: OperatorArg,
    /// Show the text of each document too, its first lines, or all of it with --json; the index must have been built
    /// with --store
    #[arg(long, conflicts_with = "count")]
    pub content: bool,
    /// Show how the score of each document came about, part by part
    #[arg(long, conflicts_with = "count")]
    pub explain: bool,
    /// One JSON object a line
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub feedback: FeedbackArgs,
    #[command(flatten)]
    pub like: LikeArgs,
}

/// How documents are scored.
#[derive(Debug, Args)]
#[command(next_help_heading = "Scoring")]
pub struct ModelArgs {
    /// The model
    #[arg(long, value_enum, default_value = "tf-idf")]
    pub model: ModelArg,
    /// bm25: how fast repetition of a term saturates [default: 1.2]
    #[arg(long, value_parser = |text: &str| number(text, 0.0f32, 1e6))]
    pub k1: Option<f32>,
    /// bm25: how much a document's length counts, 0 to 1 [default: 0.75]
    #[arg(long, value_parser = |text: &str| number(text, 0.0f32, 1.0))]
    pub b: Option<f32>,
    /// lm-dirichlet: how many tokens of the collection are mixed into a document [default: 2000]
    #[arg(long, value_parser = |text: &str| number(text, f32::MIN_POSITIVE, 1e9))]
    pub mu: Option<f32>,
    /// lm-jelinek-mercer: the share of the collection in a document, up to 1 [default: 0.1]
    #[arg(long, value_parser = |text: &str| number(text, f32::MIN_POSITIVE, 1.0))]
    pub lambda: Option<f32>,
    /// pl2: how much a document's length counts, the less the higher [default: 1]
    #[arg(long, value_parser = |text: &str| number(text, f32::MIN_POSITIVE, 1e6))]
    pub c: Option<f32>,
    /// p-norm: 1 ranks like a vector model, inf like strict logic [default: 2]
    #[arg(long, value_parser = |text: &str| number(text, 1.0f64, f64::INFINITY))]
    pub p: Option<f64>,
}

/// Scoring models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModelArg {
    /// Term frequency times inverse document frequency
    TfIdf,
    /// Okapi BM25
    Bm25,
    /// A language model with Dirichlet smoothing
    LmDirichlet,
    /// A language model with Jelinek-Mercer smoothing
    LmJelinekMercer,
    /// Divergence from randomness, with a parameter
    Pl2,
    /// Divergence from randomness, without parameters
    Dph,
    /// Extended Boolean retrieval
    #[value(name = "p-norm")]
    PNorm,
}

/// What stands between terms without an operator.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum OperatorArg {
    /// Any term will do
    Or,
    /// Every term must occur
    And,
}
