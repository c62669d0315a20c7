//! A job: one corpus and one unit of documents, built and searched by all engines in turns, and verified.

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
use crate::verify::{Answered, same_answers, same_corpus, same_merged};

/// How much is measured.
#[derive(Clone, Debug)]
pub struct Effort {
    /// Rounds of builds, and of searches.
    pub rounds: usize,
    /// Numbers of threads that ask at once.
    pub searchers: Vec<usize>,
    /// How documents are scored.
    pub models: Vec<Scoring>,
    /// Queries of each class.
    pub queries: usize,
    /// Seed of the queries.
    pub seed: u64,
    /// Milliseconds of asking before any time is taken.
    pub warm_ms: u64,
    /// Milliseconds after which a class has no further round.
    pub class_ms: u64,
}

/// What was measured of one engine.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Its name.
    pub name: String,
    /// The builds of each round: the first of a process and, if there are more, the last of it.
    pub builds: Vec<Vec<Built>>,
    /// Bytes of the index of each round.
    pub index_bytes: Vec<u64>,
    /// The merges of each round, where segments are merged: the first of a process and, if there are more,
    /// the last.
    pub merges: Vec<Vec<Merged>>,
    /// Answers of each round, by model and by number of searchers.
    pub answers: BTreeMap<(Scoring, usize), Vec<Answers>>,
}

/// Rounds over searches of one class within a process; each query's time is the median of them.
const INNER_ROUNDS: usize = 15;

/// Tells what goes on.
fn tell(text: &str) {
    eprintln!("peers: {text}");
}

/// Numbers of engines in the order of a round: forwards and backwards in turns, so that a machine that
/// becomes slower or faster does so for all.
fn order(round: usize, engines: usize) -> Vec<usize> {
    if round.is_multiple_of(2) { (0..engines).collect() } else { (0..engines).rev().collect() }
}

/// Builds and searches with all engines, of which the first is scanns.
///
/// # Errors
/// Where an engine fails, or results are not equal.
pub fn run(
    corpus: &Corpus,
    engines: &[Engine],
    effort: &Effort,
    work: &Path,
) -> Result<(Vec<Measured>, Vec<Asked>)> {
    let mut measured: Vec<Measured> =
        engines.iter().map(|engine| Measured { name: engine.name.clone(), ..Measured::default() }).collect();
    warm_cache(corpus)?;
    // What is merged is built once: that is not how an engine builds fastest.
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
        let of_round = measured
            .iter()
            .flat_map(|measured| measured.builds[round].iter().map(|built| (measured.name.as_str(), built)));
        same_corpus(of_round)?;
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

/// Reads all files once, so that the first engine finds them as the others do.
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
    let mut sampler = Sampler::new(&corpus.files, corpus.unit, searchers.0, searchers.1, effort.seed);
    let queries = sampler.draw(effort.queries, corpus.kept.positions)?;
    tell(&format!("{}: documents and tokens are equal; {} queries drawn", corpus.name, queries.len()));
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
            // Once is enough: the index stays the same.
            searching.positions = false;
        }
        let what = format!("answers of all engines are equal, round {}/{}", round + 1, effort.rounds);
        tell(&format!("{}: {what}", corpus.name));
    }
    Ok(())
}

/// Compares the latest answers of every engine with those of the first.
fn verify(
    engines: &[Engine],
    queries: &[Asked],
    measured: &[Measured],
    what: (Scoring, usize),
) -> Result<()> {
    let latest =
        |measured: &'_ Measured| measured.answers.get(&what).and_then(|rounds| rounds.last()).cloned();
    let Some(expected) = measured.first().and_then(latest) else { return Ok(()) };
    for (engine, measured) in engines.iter().zip(measured).skip(1) {
        if let Some(answers) = latest(measured) {
            let first = Answered { engine: &engines[0].name, answers: &expected };
            let other = Answered { engine: &engine.name, answers: &answers };
            same_answers(queries, &first, &other, engine.scored_alike)?;
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
