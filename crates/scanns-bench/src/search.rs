//! Answers: latency by class of query, one thread, warm.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use scanns::{Model, Operator, Query, Searcher, Snapshot};
use scanns_bench::results::Results;

/// What to ask.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// An index
    pub index: PathBuf,
    /// Lines of class, tab, terms; classes that begin with "and" require all terms
    pub queries: PathBuf,
}

/// The model that is timed.
const BM25: Model = Model::Bm25 { k1: 1.2, b: 0.75 };

/// Rounds over all queries of a class; each query's time is the median of its rounds.
const ROUNDS: usize = 11;

fn top_10(searcher: &Searcher<'_>, query: &Query) -> Result<u64> {
    Ok(searcher.top_k(query, BM25, 10)?.len() as u64)
}

fn all(searcher: &Searcher<'_>, query: &Query) -> Result<u64> {
    let mut hits = Vec::with_capacity(1024);
    searcher.for_each(query, BM25, |hit| {
        hits.push((hit.doc, hit.score));
        ControlFlow::Continue(())
    })?;
    Ok(hits.len() as u64)
}

/// Microseconds of each query: the median of the rounds.
fn time(queries: &[Query], run: impl Fn(&Query) -> Result<u64>) -> Result<Vec<f64>> {
    let mut times = vec![Vec::with_capacity(ROUNDS); queries.len()];
    for _ in 0..ROUNDS {
        for (query, times) in queries.iter().zip(&mut times) {
            let begin = Instant::now();
            std::hint::black_box(run(query)?);
            times.push(begin.elapsed().as_secs_f64() * 1e6);
        }
    }
    let mut medians: Vec<f64> = times
        .into_iter()
        .map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        })
        .collect();
    medians.sort_by(f64::total_cmp);
    Ok(medians)
}

fn told(times: &[f64]) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a few hundred queries")]
    let average = times.iter().sum::<f64>() / times.len().max(1) as f64;
    let at = |percent: usize| {
        times.get((times.len() * percent / 100).min(times.len() - 1)).copied().unwrap_or(0.0)
    };
    format!("{average:.1} / {:.1} / {:.1}", at(50), at(99))
}

/// Prints average, median and 99th percentile in microseconds, by class.
pub fn run(args: &Args, _: &mut Results) -> Result<()> {
    let snapshot = Snapshot::open(&args.index)?;
    let searcher = snapshot.searcher();
    let text = std::fs::read_to_string(&args.queries)?;
    let mut classes = BTreeMap::<&str, Vec<Query>>::new();
    for line in text.lines() {
        let (class, terms) = line.split_once('\t').context("a query is a class, a tab and terms")?;
        // Terms may hold characters that the query language reserves.
        let escaped: String = terms.chars().flat_map(|c| escape(c).chain([c])).collect();
        let operator = if class.starts_with("and") { Operator::And } else { Operator::Or };
        classes.entry(class).or_default().push(snapshot.parse(&escaped, operator)?);
    }
    println!("search {}: BM25, average / p50 / p99 in µs", args.index.display());
    for (class, queries) in classes {
        let hits = queries.iter().map(|query| searcher.count(query)).sum::<scanns::Result<u64>>()?;
        let best = time(&queries, |query| top_10(&searcher, query))?;
        let every = time(&queries, |query| all(&searcher, query))?;
        let average = hits / queries.len().max(1) as u64;
        println!("  {class:<8} {average:>8} hits   top 10 {:<28} all {}", told(&best), told(&every));
    }
    Ok(())
}

fn escape(c: char) -> impl Iterator<Item = char> {
    (!c.is_alphanumeric() && c != ' ').then_some('\\').into_iter()
}
