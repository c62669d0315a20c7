//! A job: all engines build and search one corpus with one unit of documents, in turns, and their results are
//! verified.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use scanns::Snapshot;
use scanns_bench::stats::mib;

use crate::corpus::Corpus;
use crate::engine::{Engine, Searching};
use crate::protocol::{Answers, Built, Merged, Scoring};
use crate::queries::{Asked, Sampler, to_tsv};
use crate::verify::{
    Agreement, Answered, Answering, alike, same_answers, same_corpus, same_merged, same_text,
};

/// How much is measured.
#[derive(Clone, Debug)]
pub struct Effort {
    /// Rounds of builds and of searches.
    pub rounds: usize,
    /// Numbers of threads that search at the same time.
    pub searchers: Vec<usize>,
    /// How documents are scored.
    pub models: Vec<Scoring>,
    /// Number of queries of each class.
    pub queries: usize,
    /// Seed of the queries.
    pub seed: u64,
    /// Milliseconds of warm-up before the first measurement.
    pub warm_ms: u64,
    /// Milliseconds after which a class gets no more rounds.
    pub class_ms: u64,
}

/// The measurements of one engine.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The name of the engine.
    pub name: String,
    /// For each round, the builds of its process, in order.
    pub builds: Vec<Vec<Built>>,
    /// The size of the index in each round, in bytes.
    pub index_bytes: Vec<u64>,
    /// For each round, the merges of its process, in order. Empty if nothing is merged.
    pub merges: Vec<Vec<Merged>>,
    /// The answers of each round, by model and number of searchers.
    pub answers: BTreeMap<(Scoring, usize), Vec<Answers>>,
    /// How its tokens differ from those of the first engine, in words; none if they are the same.
    pub other_tokens: Option<String>,
    /// The largest number of queries of a round that had other hits, because tokens differ.
    pub other_hits: usize,
    /// What it answered, if it finds tokens of its own.
    pub guest: Option<Answering>,
}

impl Measured {
    /// A remark about other tokens and hits; none if all are the same.
    pub fn remark(&self) -> Option<String> {
        if let Some(Answering { asked, answered, alike }) = self.guest {
            return Some(format!(
                "{} finds words by rules of its own and has {answered} of {asked} queries; {alike} of them \
                 have as many hits",
                self.name
            ));
        }
        let tokens = self.other_tokens.as_ref()?;
        Some(format!(
            "{tokens}, as implementations of the rules for words differ; {} queries have other hits",
            self.other_hits
        ))
    }
}

/// Rounds over the queries of one class within a process. The time of a query is the median of its rounds.
const INNER_ROUNDS: usize = 15;

/// Prints a line of progress.
fn tell(text: &str) {
    eprintln!("peers: {text}");
}

/// The order of the engines in a round. It alternates between forwards and backwards, so that a machine that
/// becomes slower or faster affects all engines alike.
fn order(round: usize, engines: usize) -> Vec<usize> {
    if round.is_multiple_of(2) { (0..engines).collect() } else { (0..engines).rev().collect() }
}

/// Builds and searches with all engines. The first one must be scanns.
///
/// # Errors
/// If an engine fails, or results differ.
pub fn run(
    corpus: &Corpus,
    engines: &[Engine],
    effort: &Effort,
    work: &Path,
) -> Result<(Vec<Measured>, Vec<Asked>)> {
    let mut measured: Vec<Measured> =
        engines.iter().map(|engine| Measured { name: engine.name.clone(), ..Measured::default() }).collect();
    warm_cache(corpus)?;
    // An index to merge is built only once, because its build is not measured.
    let rounds = if corpus.segments.is_some() { 1 } else { effort.rounds };
    build(corpus, engines, rounds, &mut measured)?;
    if corpus.segments.is_some() {
        merge(corpus, engines, effort.rounds, &mut measured)?;
    }
    let queries = draw(corpus, &engines[0], effort)?;
    search(corpus, engines, effort, &queries, work, &mut measured)?;
    Ok((measured, queries))
}

fn build(corpus: &Corpus, engines: &[Engine], rounds: usize, measured: &mut [Measured]) -> Result<()> {
    for round in 0..rounds {
        for at in order(round, engines.len()) {
            let (engine, measured) = (&engines[at], &mut measured[at]);
            let builds = engine.build(corpus)?;
            measured.index_bytes.push(engine.index_bytes()?);
            let rates: Vec<_> =
                builds.iter().map(|built| format!("{:.1}", mib(built.bytes) / built.seconds)).collect();
            let what = format!("{} built, {} MiB/s", engine.name, rates.join(", then "));
            tell(&format!("{}, round {}/{rounds}: {what}", corpus.name, round + 1));
            measured.builds.push(builds);
        }
        let of_round = |guest: bool| {
            let engines = engines.iter().zip(&*measured).filter(move |(engine, _)| engine.guest == guest);
            engines.flat_map(move |(_, one)| one.builds[round].iter().map(|built| (one.name.as_str(), built)))
        };
        for ((guest, built), (first, expected)) in of_round(true).zip(of_round(false).take(1).cycle()) {
            same_text(first, expected, guest, built)?;
        }
        let other_tokens = same_corpus(of_round(false), corpus.analyzer.follows_unicode())?;
        let other_tokens: BTreeMap<String, String> =
            other_tokens.into_iter().map(|(name, words)| (name.into(), words)).collect();
        for measured in measured.iter_mut() {
            if let Some(words) = other_tokens.get(&measured.name) {
                tell(&format!("{}: {words}", corpus.name));
                measured.other_tokens = Some(words.clone());
            }
        }
    }
    Ok(())
}

fn merge(corpus: &Corpus, engines: &[Engine], rounds: usize, measured: &mut [Measured]) -> Result<()> {
    for round in 0..rounds {
        for at in order(round, engines.len()) {
            let (engine, measured) = (&engines[at], &mut measured[at]);
            let merges = engine.merge(corpus)?;
            let Some(built) = measured.builds.first().and_then(|builds| builds.last()) else { continue };
            for merged in &merges {
                same_merged(&engine.name, built, merged)?;
            }
            let seconds: Vec<_> = merges.iter().map(|merged| format!("{:.2}", merged.seconds)).collect();
            let what = format!("{} merged in {} s", engine.name, seconds.join(", then "));
            tell(&format!("{}, round {}/{rounds}: {what}", corpus.name, round + 1));
            measured.merges.push(merges);
        }
    }
    Ok(())
}

/// Reads all files once, so that they are in the page cache for the first engine too.
fn warm_cache(corpus: &Corpus) -> Result<()> {
    tell(&format!("{}: reading {} files into the page cache", corpus.name, corpus.files.len()));
    for file in &corpus.files {
        let read = |path: &Path| std::io::copy(&mut fs::File::open(path)?, &mut std::io::sink());
        read(&file.path).with_context(|| format!("cannot read {}", file.path.display()))?;
    }
    Ok(())
}

fn draw(corpus: &Corpus, scanns: &Engine, effort: &Effort) -> Result<Vec<Asked>> {
    let snapshot = Snapshot::open(&scanns.index)?;
    let searchers = (&snapshot.searcher(), &snapshot.searcher().exhaustive());
    let mut sampler =
        Sampler::new(&corpus.files, corpus.origin, corpus.analyzer, [searchers.0, searchers.1], effort.seed)?;
    let queries = sampler.draw(effort.queries, corpus.kept.positions)?;
    tell(&format!("{}: documents and tokens agree; {} queries drawn", corpus.name, queries.len()));
    Ok(queries)
}

fn search(
    corpus: &Corpus,
    engines: &[Engine],
    effort: &Effort,
    queries: &[Asked],
    work: &Path,
    measured: &mut [Measured],
) -> Result<()> {
    let mut searching = Searching {
        queries: work.join("queries.tsv"),
        count: queries.len(),
        warm_ms: effort.warm_ms,
        rounds: INNER_ROUNDS,
        class_ms: effort.class_ms,
        merged: corpus.segments.is_some(),
        positions: corpus.kept.positions,
    };
    fs::write(&searching.queries, to_tsv(queries))?;
    for round in 0..effort.rounds {
        for (&searchers, model) in effort
            .searchers
            .iter()
            .flat_map(|searchers| effort.models.iter().map(move |&model| (searchers, model)))
        {
            for at in order(round, engines.len()) {
                let (engine, measured) = (&engines[at], &mut measured[at]);
                if engine.models.contains(&model) {
                    let answers = engine.search(&searching, model, searchers)?;
                    measured.answers.entry((model, searchers)).or_default().push(answers);
                }
            }
            verify(engines, queries, measured, (model, searchers))?;
            // Once is enough, because the index does not change.
            searching.positions = false;
        }
        let what = format!("answers compared, round {}/{}", round + 1, effort.rounds);
        tell(&format!("{}: {what}", corpus.name));
    }
    Ok(())
}

/// Compares the latest answers of every engine with those of the first.
fn verify(
    engines: &[Engine],
    queries: &[Asked],
    measured: &mut [Measured],
    what: (Scoring, usize),
) -> Result<()> {
    let latest =
        |measured: &'_ Measured| measured.answers.get(&what).and_then(|rounds| rounds.last()).cloned();
    let Some(expected) = measured.first().and_then(latest) else { return Ok(()) };
    for (engine, measured) in engines.iter().zip(measured.iter_mut()).skip(1) {
        if let Some(answers) = latest(measured) {
            if engine.guest {
                measured.guest = Some(alike(&expected, &answers));
                continue;
            }
            let first = Answered { engine: &engines[0].name, answers: &expected };
            let other = Answered { engine: &engine.name, answers: &answers };
            let same_tokens = measured.other_tokens.is_none();
            let agreement = Agreement { scored_alike: engine.scored_alike, same_tokens };
            let other_hits = same_answers(queries, &first, &other, agreement)?;
            measured.other_hits = measured.other_hits.max(other_hits);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_go_forwards_and_backwards() {
        assert_eq!(order(0, 3), [0, 1, 2]);
        assert_eq!(order(1, 3), [2, 1, 0]);
        assert_eq!(order(2, 1), [0]);
    }
}
