//! Arguments of `scanns search`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use scanns::query::Operator;

use super::access::AsUserArgs;
use super::columns::{ColumnArgs, SortArg, sort};
use super::display::DisplayArgs;
use super::similar::{FeedbackArgs, LikeArgs};
use super::values::{number, positive, timeout};

pub const SEARCH_EXAMPLES: &str = "\
Examples:
  scanns search docs.scanns 'license warranty'
      shows the ten best documents
  scanns search docs.scanns -k 3 --default-operator and 'license warranty'
      shows the three best documents that contain both words
  scanns search fs.scanns --count root
      counts the matching documents
  scanns search fs.scanns --all --json root
      shows all matching documents, one JSON object per line
  scanns search mail.scanns --content 'license warranty'
      also shows the text of the documents, if the index stores it
  scanns search docs.scanns '\"free software\" -draft licen*'
      finds a phrase or a prefix, and excludes a word
  scanns search 2025.scanns 2026.scanns 'license warranty'
      searches several indexes as if they were one
  scanns search docs.scanns --explain -k 1 'license warranty'
      explains the score of the best document
  scanns search docs.scanns --rm3 'license warranty'
      expands the query with words of the ten best documents; the index needs --vectors
  scanns search docs.scanns --like /usr/share/doc/bash/README
      finds documents like this one; the index needs --vectors or --store
  scanns search docs.scanns --query-json '{\"match\": \"License, warranty\"}'
      takes the query of a program, which needs no escaping but JSON's
  scanns search mail.scanns --snippets 'license warranty'
      also shows the matching parts of the documents
  scanns search docs.scanns --sort key --after start license
      sorts by path, page by page; each page prints how to get the next one
  scanns search fs.scanns '*' --sort size:desc,mtime --fields size,owner
      shows the largest files, the oldest of equal size first, each with its size and owner
  scanns search fs.scanns '*' --count --facet ext --facet mtime:month
      counts the files of each extension and of each month
  scanns search fs.scanns root --facet 'size:ranges:..1MiB,1MiB..1GiB,1GiB..' --stats size:50,99
      shows the best hits, and the sizes of all matching files
  scanns search fs.scanns '*' --count --facet 'owner > stats:size' --distinct owner
      sums up the sizes of the files of each owner
  scanns search fs.scanns '*' --group owner:3 --sort size:desc
      shows the three largest files of each owner
  scanns search docs.scanns --collapse 'license warranty'
      shows texts that are nearly equal once; the index needs --near-duplicates
  scanns search docs.scanns --queries queries.txt --json
      runs all queries of a file on all cores, with one JSON object per query

Queries, described in docs/QUERIES.md:
  a b   a AND b   a OR b   a NOT b   +a -b   words, required, excluded
  (a b c)@2                                  at least two of them
  \"a b\"   \"a b\"~2                            a phrase; a phrase with words moved by two positions
  ab*   a?b*   re\"a[0-9]+\"                   terms that match a pattern
  [a TO b]   in(a b)                         ranges and sets of terms
  word~   word~1                             terms within two edits, or one
  name:a   name:\"a b\"   name:*   *           in a field; any value of the field; every document
  size:>1MiB mtime:<now-1y                   conditions on columns: all must hold, beside words too
  a^2   a^near(mtime,now,30d)   a^log(size)  double weight; a score that a column changes
  parent->key:(a)   parent->key,max:(a)      documents by values of others that match; ranked by them
  \\*                                         the literal character

Write -- before a query that starts with a hyphen.";

/// Arguments of `scanns search`.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// The index; more indexes may follow, and are searched as one
    #[arg(value_name = "NAME.scanns")]
    pub index: PathBuf,
    /// The query; several arguments form one query
    #[arg(required_unless_present_any = ["like", "like_file", "query_json", "queries"])]
    pub query: Vec<String>,
    #[command(flatten)]
    pub as_user: AsUserArgs,
    /// The query as JSON, see docs/QUERIES.md; @FILE reads it from a file, - from standard input
    #[arg(long, value_name = "JSON|@FILE|-")]
    pub query_json: Option<OsString>,
    /// Print the query as JSON for --query-json, instead of searching
    #[arg(long, conflicts_with_all = ["top", "all", "count", "content", "json"])]
    #[arg(conflicts_with_all = ["explain", "snippets", "sort", "after", "queries"])]
    pub print_query: bool,
    /// Maximum number of documents to show
    #[arg(short = 'k', long = "limit", value_name = "N", default_value = "10", value_parser = positive)]
    pub top: usize,
    /// Show all matching documents as they are found, in index order
    #[arg(long, conflicts_with = "top")]
    pub all: bool,
    /// Only count the matching documents
    #[arg(long, conflicts_with_all = ["top", "all"])]
    pub count: bool,
    /// The fields that words search, with weights: title or title^3,body. A word counts by the field where it
    /// scores best [default: all fields of text]
    #[arg(long, value_name = "NAME,NAME")]
    pub field: Option<String>,
    /// How to combine words without an operator between them
    #[arg(long, value_enum, value_name = "OP", default_value = "or")]
    pub default_operator: OperatorArg,
    /// Also show the first lines of each document, or its whole text with --json; the index must have been
    /// built with --store
    #[arg(long, conflicts_with = "count")]
    pub content: bool,
    /// Show how the score of each document was computed
    #[arg(long, conflicts_with = "count")]
    pub explain: bool,
    /// Stop each query after this time, such as 50ms, and show what was found until then. This is reported,
    /// with --json as "partial": true, and the exit code is 1
    #[arg(long, value_name = "TIME", value_parser = timeout)]
    pub timeout: Option<Duration>,
    /// Number of cores to use: they divide a long query among them, and run the queries of --queries in
    /// parallel. Answers stay the same [default: all]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub threads: Option<usize>,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
    /// Print only keys, unchanged, each with a NUL byte at its end, as xargs -0 reads them
    #[arg(short = '0', long)]
    #[arg(conflicts_with_all = ["json", "count", "print_query", "content", "explain", "snippets", "queries"])]
    #[arg(conflicts_with_all = ["fields", "facet", "stats", "distinct"])]
    pub null: bool,
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
    #[command(flatten)]
    pub display: DisplayArgs,
}

/// Which hits to show, in which order.
#[derive(Debug, Args)]
#[command(next_help_heading = "Pages")]
pub struct PageArgs {
    /// The order of documents: score, the best first; key or -key; or columns, as in size:desc,owner, each
    /// with an optional :asc or :desc, and :first to put documents without a value first. score can be one
    /// of the columns
    #[arg(long, value_name = "ORDER", default_value = "score", value_parser = sort)]
    #[arg(allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["all", "count"])]
    pub sort: SortArg,
    /// Show the page after TOKEN, which was printed with the last document of a page, or the first page if
    /// TOKEN is start. The query, the options and the index must be the same
    #[arg(long, value_name = "TOKEN", conflicts_with_all = ["all", "count"])]
    pub after: Option<String>,
}

/// What to show of the text of documents.
#[derive(Debug, Args)]
#[command(next_help_heading = "Snippets")]
pub struct SnippetArgs {
    /// Show the parts of each document that match best, with matches in bold, or with their positions in
    /// bytes with --json; the index must have been built with --store. Snippets come from the first MiB of
    /// a document
    #[arg(long, conflicts_with = "count")]
    pub snippets: bool,
    /// Length of a snippet in bytes, 16 to 65536
    #[arg(long, value_name = "N", default_value = "160", requires = "snippets")]
    #[arg(value_parser = |text: &str| number(text, 16usize, 65_536))]
    pub snippet_length: usize,
    /// Maximum number of snippets per document, 1 to 64
    #[arg(long, value_name = "N", default_value = "2", requires = "snippets")]
    #[arg(value_parser = |text: &str| number(text, 1usize, 64))]
    pub snippet_count: usize,
}

/// Many queries at once.
#[derive(Debug, Args)]
#[command(next_help_heading = "Many queries")]
pub struct BatchArgs {
    /// Run all queries of FILE, or of standard input if FILE is -: one per line, with an optional name and a
    /// tab before it. Output lines begin with the name or the number of the query
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["query_json", "print_query", "all", "content"])]
    #[arg(conflicts_with_all = ["snippets", "sort", "after"])]
    #[arg(conflicts_with_all = ["rm3", "explain"])]
    pub queries: Option<PathBuf>,
}

/// How documents are scored.
#[derive(Debug, Args)]
#[command(next_help_heading = "Scoring")]
pub struct ModelArgs {
    /// The ranking model
    #[arg(long, value_enum, default_value = "bm25")]
    pub model: ModelArg,
    /// bm25: how fast the weight of a repeated term saturates [default: 1.2]
    #[arg(long, value_parser = |text: &str| number(text, 0.0f32, 1e6))]
    pub k1: Option<f32>,
    /// bm25: how much the length of a document counts, 0 to 1 [default: 0.75]
    #[arg(long, value_parser = |text: &str| number(text, 0.0f32, 1.0))]
    pub b: Option<f32>,
    /// lm-dirichlet: weight of the collection in each document, in tokens [default: 2000]
    #[arg(long, value_parser = |text: &str| number(text, f32::MIN_POSITIVE, 1e9))]
    pub mu: Option<f32>,
    /// lm-jelinek-mercer: weight of the collection in each document, up to 1 [default: 0.1]
    #[arg(long, value_parser = |text: &str| number(text, f32::MIN_POSITIVE, 1.0))]
    pub lambda: Option<f32>,
    /// pl2: how much the length of a document counts; higher values make it count less [default: 1]
    #[arg(long, value_parser = |text: &str| number(text, f32::MIN_POSITIVE, 1e6))]
    pub c: Option<f32>,
    /// p-norm: 1 ranks like a vector model, inf like strict logic [default: 2]
    #[arg(long, value_parser = |text: &str| number(text, 1.0f64, f64::INFINITY))]
    pub p: Option<f64>,
}

/// Scoring models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModelArg {
    /// Okapi BM25
    Bm25,
    /// Term frequency times inverse document frequency, the model of the papers
    TfIdf,
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

/// How to combine terms without an operator between them.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum OperatorArg {
    /// At least one term must occur
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
