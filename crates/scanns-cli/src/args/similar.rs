//! What can be typed to have queries made of documents: of the best answers, or of a document that others
//! should be like.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::values::{number, positive};

/// Whether and how a query takes words of its best answers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Feedback")]
pub struct FeedbackArgs {
    /// Add words of the best answers to the query, and ask again; the index must have been built with
    /// --vectors
    #[arg(long, requires = "index")]
    pub rm3: bool,
    /// How many of the best answers words are taken of
    #[arg(long, value_name = "N", requires = "rm3", default_value = "10", value_parser = positive)]
    pub rm3_documents: usize,
    /// How many words are taken
    #[arg(long, value_name = "N", requires = "rm3", default_value = "10", value_parser = positive)]
    pub rm3_terms: usize,
    /// What the query itself weighs, 0 to 1; the words that are added weigh the rest
    #[arg(long, value_name = "W", requires = "rm3", default_value = "0.5",
          value_parser = |text: &str| number(text, 0.0f32, 1.0))]
    pub rm3_weight: f32,
}

/// Whether documents are sought that are like another one, or like a text.
#[derive(Debug, Args)]
#[command(next_help_heading = "More like this")]
pub struct LikeArgs {
    /// Find documents like this one, by its most telling words, instead of a query; KEY is as search shows
    /// it. The index must have been built with --vectors or --store
    #[arg(long, value_name = "KEY", group = "example")]
    #[arg(conflicts_with_all = ["query", "query_json", "queries", "after", "count"])]
    pub like: Option<OsString>,
    /// Find documents like the text in a file, which need not be in the index; - for standard input
    #[arg(long, value_name = "FILE", group = "example")]
    #[arg(conflicts_with_all = ["query", "query_json", "queries", "after", "like"])]
    pub like_file: Option<PathBuf>,
    /// How many of its words are taken
    #[arg(long, value_name = "N", requires = "example", default_value = "25", value_parser = positive)]
    pub like_terms: usize,
    /// How often a word must occur in it; 2 leaves out what may have got there by chance
    #[arg(long, value_name = "N", requires = "example", default_value = "1", value_parser = positive)]
    pub like_min_freq: usize,
    /// How many documents must have a word; more leaves out what is spelt wrongly
    #[arg(long, value_name = "N", requires = "example", default_value = "2", value_parser = positive)]
    pub like_min_docs: usize,
    /// How many documents may have a word; fewer leaves out what says little [default: all]
    #[arg(long, value_name = "N", requires = "example", value_parser = positive)]
    pub like_max_docs: Option<usize>,
}

impl LikeArgs {
    /// True if documents are sought that are like another one or like a text.
    pub fn is_given(&self) -> bool {
        self.like.is_some() || self.like_file.is_some()
    }
}
