//! What can be typed to search.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use scanns::query::Operator;

use super::columns::{ColumnArgs, SortArg, sort};
use super::similar::{FeedbackArgs, LikeArgs};
use super::values::{number, positive, timeout};

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
  scanns search docs.scanns --query-json '{\"match\": \"License, warranty\"}'
      from a program: nothing in it has to be escaped but for JSON
  scanns search mail.scanns --snippets 'license warranty'
      with the parts of the documents that say why
  scanns search docs.scanns --sort key --after start license
      in the order of paths, page by page: each says how to get the next
  scanns search fs.scanns '*' --sort size:desc,mtime --fields size,owner
      the largest files, of equal ones the oldest first, each with its size and owner
  scanns search fs.scanns '*' --count --facet ext --facet mtime:month
      how many files there are of each extension, and of each month
  scanns search fs.scanns root --facet 'size:ranges:..1MiB,1MiB..1GiB,1GiB..' --stats size:50,99
      the best hits, and of all that match how large they are
  scanns search fs.scanns '*' --count --facet 'owner > stats:size' --distinct owner
      what the files of each owner take
  scanns search fs.scanns '*' --group owner:3 --sort size:desc
      the three largest files of each owner
  scanns search docs.scanns --queries queries.txt --json
      all queries of a file on all cores, one JSON object each

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
    #[arg(required_unless_present_any = ["like", "like_file", "query_json", "queries"])]
    pub query: Vec<String>,
    /// What to find, as JSON instead, see docs/QUERIES.md; @FILE for a file that has it, - for standard
    /// input
    #[arg(long, value_name = "JSON|@FILE|-", conflicts_with = "query")]
    pub query_json: Option<OsString>,
    /// Print the query as JSON, as --query-json takes it, instead of searching
    #[arg(long, conflicts_with_all = ["top", "all", "count", "content", "json"])]
    #[arg(conflicts_with_all = ["explain", "snippets", "sort", "after", "queries"])]
    pub print_query: bool,
    /// How many documents to show at most
    #[arg(short = 'k', long = "limit", value_name = "N", default_value = "10", value_parser = positive)]
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
    /// Show the text of each document too, its first lines, or all of it with --json; the index must have
    /// been built with --store
    #[arg(long, conflicts_with = "count")]
    pub content: bool,
    /// Show how the score of each document came about, part by part
    #[arg(long, conflicts_with = "count")]
    pub explain: bool,
    /// End each query after this time, such as 50ms, and show what was found until then. It is said where
    /// that happens, with --json by "partial": true, and the exit code is 1
    #[arg(long, value_name = "TIME", value_parser = timeout)]
    pub timeout: Option<Duration>,
    /// Cores to use: a query that takes long enough is shared out to them, of --queries each is answered by
    /// one. Answers are the same [default: all]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub threads: Option<usize>,
    /// One JSON object a line
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub feedback: FeedbackArgs,
    #[command(flatten)]
    pub like: LikeArgs,
    #[command(flatten)]
    pub page: PageArgs,
    #[command(flatten)]
    pub columns: ColumnArgs,
    #[command(flatten)]
    pub snippet: SnippetArgs,
    #[command(flatten)]
    pub batch: BatchArgs,
}

/// Which of the hits, in which order.
#[derive(Debug, Args)]
#[command(next_help_heading = "Pages")]
pub struct PageArgs {
    /// The order of documents: score, the best first; key or -key, by their keys; or columns, as in
    /// size:desc,owner. Behind each may stand :asc, :desc, and :first for documents without a value to
    /// come first; score may be one of them
    #[arg(long, value_name = "ORDER", default_value = "score", value_parser = sort)]
    #[arg(allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["all", "count"])]
    pub sort: SortArg,
    /// Show those that follow a page: TOKEN is what was printed with its last document, or start for the
    /// first page. Query and options must be the same, and the index too
    #[arg(long, value_name = "TOKEN", conflicts_with_all = ["all", "count"])]
    pub after: Option<String>,
}

/// What is shown of the text of documents.
#[derive(Debug, Args)]
#[command(next_help_heading = "Snippets")]
pub struct SnippetArgs {
    /// Show the parts of each document that answer best, with what was found in bold, or with its places in
    /// bytes with --json; the index must have been built with --store. The first MiB of a document is
    /// looked at
    #[arg(long, conflicts_with = "count")]
    pub snippets: bool,
    /// Bytes of a snippet, 16 to 65536
    #[arg(long, value_name = "N", default_value = "160", requires = "snippets")]
    #[arg(value_parser = |text: &str| number(text, 16usize, 65_536))]
    pub snippet_length: usize,
    /// Snippets of a document, up to 64
    #[arg(long, value_name = "N", default_value = "2", requires = "snippets")]
    #[arg(value_parser = |text: &str| number(text, 1usize, 64))]
    pub snippet_count: usize,
}

/// Many queries at once.
#[derive(Debug, Args)]
#[command(next_help_heading = "Many queries")]
pub struct BatchArgs {
    /// Answer all queries of FILE, or of standard input if it is -: a query a line, or a name, a tab and a
    /// query. Lines of the answer begin with the name, or the number of the query
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["query", "query_json", "print_query", "all", "content"])]
    #[arg(conflicts_with_all = ["snippets", "sort", "after"])]
    #[arg(conflicts_with_all = ["rm3", "explain"])]
    pub queries: Option<PathBuf>,
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

impl From<OperatorArg> for Operator {
    fn from(operator: OperatorArg) -> Self {
        match operator {
            OperatorArg::Or => Operator::Or,
            OperatorArg::And => Operator::And,
        }
    }
}
