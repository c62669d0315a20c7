//! Options for queries made from documents: from the best answers, or from an example.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::values::{number, positive};

/// Whether and how to expand a query with words of its best answers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Feedback")]
pub struct FeedbackArgs {
    /// Expand the query with words of its best answers, and search again; the index must have been built
    /// with --vectors or --store
    #[arg(long, requires = "index")]
    pub rm3: bool,
    /// Number of best answers to take words from
    #[arg(long, value_name = "N", requires = "rm3", default_value = "10", value_parser = positive)]
    pub rm3_documents: usize,
    /// Number of words to add
    #[arg(long, value_name = "N", requires = "rm3", default_value = "10", value_parser = positive)]
    pub rm3_terms: usize,
    /// Weight of the original query, 0 to 1; the added words get the rest
    #[arg(long, value_name = "W", requires = "rm3", default_value = "0.5",
          value_parser = |text: &str| number(text, 0.0f32, 1.0))]
    pub rm3_weight: f32,
}

/// Whether and how to find documents like an example.
#[derive(Debug, Args)]
#[command(next_help_heading = "More like this")]
pub struct LikeArgs {
    /// Find documents like this one, by its most significant words, instead of running a query; KEY is as
    /// search prints it. The index must have been built with --vectors or --store
    #[arg(long, value_name = "KEY", group = "example")]
    #[arg(conflicts_with_all = ["query_json", "queries", "after", "count"])]
    pub like: Option<OsString>,
    /// Find documents like the text of a file, which need not be in the index; - for standard input
    #[arg(long, value_name = "FILE", group = "example")]
    #[arg(conflicts_with_all = ["query_json", "queries", "after", "like"])]
    pub like_file: Option<PathBuf>,
    /// Maximum number of words to take from the example
    #[arg(long, value_name = "N", requires = "example", default_value = "25", value_parser = positive)]
    pub like_terms: usize,
    /// Minimum occurrences of a word in the example; 2 ignores words that may be there by chance
    #[arg(long, value_name = "N", requires = "example", default_value = "1", value_parser = positive)]
    pub like_min_freq: usize,
    /// Minimum number of documents that contain a word; higher values ignore misspelt words
    #[arg(long, value_name = "N", requires = "example", default_value = "2", value_parser = positive)]
    pub like_min_docs: usize,
    /// Maximum number of documents that contain a word; lower values ignore common words [default: all]
    #[arg(long, value_name = "N", requires = "example", value_parser = positive)]
    pub like_max_docs: Option<usize>,
}

impl LikeArgs {
    /// True if an example is given.
    pub fn is_given(&self) -> bool {
        self.like.is_some() || self.like_file.is_some()
    }
}
