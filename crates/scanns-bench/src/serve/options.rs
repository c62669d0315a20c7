//! The options of the benchmark, and its queries.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use scanns::query::Operator;
use scanns::search::Model;
use scanns::{Query, Snapshot};

use super::client::encoded;

/// The index, the queries and the program.
#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// An index
    pub index: PathBuf,
    /// A file with a class, a tab and words on each line
    pub queries: PathBuf,
    /// The released command
    #[arg(long, default_value = "target/release/scanns")]
    pub program: PathBuf,
    /// Rounds; in each, every query is asked of the library and of the server
    #[arg(long, default_value_t = 11)]
    pub repetitions: usize,
    /// Seconds of each measurement under load
    #[arg(long, default_value_t = 5)]
    pub seconds: u64,
    /// A query that takes long, whose client hangs up
    #[arg(long)]
    pub slow: Option<String>,
    /// The seed of the times at which requests come
    #[arg(long, default_value_t = 7)]
    pub seed: u64,
}

/// A query as the library and as the server take it.
pub(super) struct Asked {
    /// In the query language.
    pub text: String,
    /// The path of the request.
    pub target: String,
}

impl Asked {
    /// What the library does for the same answer: it parses the text, finds the ten best, and reads their
    /// keys.
    pub(super) fn of_library(&self, snapshot: &Snapshot) -> Result<usize> {
        let query: Query = snapshot.parse(&self.text, Operator::Or)?;
        let searcher = snapshot.searcher();
        let hits = searcher.top_k(&query, Model::Bm25 { k1: 1.2, b: 0.75 }, 10)?;
        hits.iter().map(|hit| Ok(std::hint::black_box(searcher.key(hit)?).len())).sum()
    }
}

/// The queries of a file, by class.
pub(super) fn queries(path: &Path, index: &str) -> Result<Vec<(String, Vec<Asked>)>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut classes: Vec<(String, Vec<Asked>)> = Vec::new();
    for line in text.lines() {
        let (class, words) =
            line.split_once('\t').with_context(|| format!("no class and tab in '{line}'"))?;
        let target = format!("/api/v1/{index}/search?q={}&count=false&snippets=false", encoded(words));
        let asked = Asked { text: words.into(), target };
        match classes.iter_mut().find(|(name, _)| name == class) {
            Some((_, kept)) => kept.push(asked),
            None => classes.push((class.into(), vec![asked])),
        }
    }
    ensure!(!classes.is_empty(), "{} contains no queries", path.display());
    Ok(classes)
}
