//! Compares the answers of scanns and Lucene to random queries of all kinds. Both must find the same
//! documents with the same scores, in the same order except for ties.
//!
//! For each query, the adapter for Lucene writes these big-endian numbers: the number of hits in 64 bits, the
//! sum of the hashed numbers of all matching documents in 64 bits, the number of the best hits in 32 bits,
//! and for each of them its document number and its score in 32 bits each. Documents are numbered in the
//! order in which Lucene added them. The documents of scanns get the same numbers by their keys.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use scanns::search::{Model, Searcher};
use scanns::{Hit, Query, Snapshot};

use crate::corpus::Corpus;
use crate::engine::Engine;
use crate::form::Form;
use crate::protocol::{Scoring, Unit, share};
use crate::random;
use crate::texts::paths;
use crate::verify::same_corpus;

/// The number of best hits to compare.
const MOST: usize = 1000;

/// The maximum relative difference of two scores.
const APART: f64 = 1e-6;

/// The maximum number of faults to show.
const SHOWN: usize = 10;

/// What to compare.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Number of queries for each model.
    pub queries: usize,
    /// Seed of the queries.
    pub seed: u64,
    /// How documents are scored.
    pub models: Vec<Scoring>,
}

/// The result of the queries of one model.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Number of queries of each kind.
    pub kinds: BTreeMap<&'static str, usize>,
    /// Number of queries that have hits.
    pub answered: usize,
    /// Number of hits whose scores were compared.
    pub hits: u64,
    /// The largest relative difference of two scores.
    pub largest: f64,
    /// Number of documents that only one engine found, among the best hits or among all.
    pub documents: u64,
    /// Descriptions of the first queries with different answers.
    pub faults: Vec<String>,
    /// Number of queries with different answers.
    pub wrong: usize,
}

/// The answer of one engine to one query.
#[derive(Clone, Debug, Default, PartialEq)]
struct Ranked {
    count: u64,
    /// The sum of the hashed numbers of all matching documents.
    digest: u64,
    best: Vec<(u32, f32)>,
}

/// Builds with both engines, searches with both, and compares the answers.
///
/// # Errors
/// If an engine fails. Different answers are not an error here.
pub fn run(
    corpus: &Corpus,
    scanns: &Engine,
    lucene: &Engine,
    trial: &Trial,
    work: &Path,
) -> Result<Vec<(Scoring, Outcome)>> {
    let mut builds = Vec::new();
    for engine in [scanns, lucene] {
        eprintln!("peers: {}: building with {}", corpus.name, engine.name);
        builds.extend(engine.build(corpus)?.into_iter().map(|built| (engine.name.as_str(), built)));
    }
    same_corpus(builds.iter().map(|(name, built)| (*name, built)), false)?;
    let snapshot = Snapshot::open(&scanns.index)?;
    let searcher = snapshot.searcher();
    let numbers = numbers(corpus, &snapshot)?;
    let (queries, out) = (work.join("random-queries"), work.join("random-hits"));
    let mut outcomes = Vec::new();
    for &model in &trial.models {
        let drawn =
            random::draw(&corpus.files, corpus.unit, corpus.analyzer, &searcher, trial.queries, trial.seed)?;
        let lines: String = drawn.iter().map(|(_, form)| format!("{form}\n")).collect();
        fs::write(&queries, lines).with_context(|| format!("cannot write {}", queries.display()))?;
        eprintln!("peers: {}: running {} queries, {model}", corpus.name, drawn.len());
        lucene.rank(&queries, model, MOST, &out)?;
        let file = File::open(&out).with_context(|| format!("cannot read {}", out.display()))?;
        let mut answers = BufReader::new(file);
        let mut outcome = Outcome::default();
        for (kind, form) in &drawn {
            let theirs =
                read(&mut answers).with_context(|| format!("{} did not answer all queries", lucene.name))?;
            let ours = answer(&searcher, &form.to_scanns(), model.of_scanns(), &numbers)
                .with_context(|| form.to_string())?;
            outcome.add(kind, form, &ours, &theirs);
        }
        ensure!(answers.read(&mut [0])? == 0, "{} wrote more answers than there are queries", lucene.name);
        outcomes.push((model, outcome));
    }
    Ok(outcomes)
}

/// For each segment of scanns, the numbers of its documents in Lucene, which follow from the order in which
/// Lucene added them.
fn numbers(corpus: &Corpus, snapshot: &Snapshot) -> Result<Vec<Vec<u32>>> {
    let mut places = HashMap::<Vec<u8>, u32>::new();
    let mut next = 0u32;
    let mut add = |key: Vec<u8>| {
        places.insert(key, next);
        next += 1;
    };
    for list in (0..corpus.segments.unwrap_or(0)).map(|number| share(&corpus.list, number)) {
        for path in paths(&list)? {
            if corpus.unit == Unit::File {
                add(path.into_bytes());
                continue;
            }
            let text = fs::read(&path).with_context(|| format!("cannot read {path}"))?;
            let lines = text.split_inclusive(|&byte| byte == b'\n').count();
            (1..=lines).for_each(|line| add(format!("{path}:{line}").into_bytes()));
        }
    }
    let number = |leaf: usize, doc: u32| {
        let key = snapshot.key(&Hit { score: 0.0, leaf, doc })?;
        let place = places.get(&key).copied();
        place.with_context(|| format!("Lucene has no document {:?}", String::from_utf8_lossy(&key)))
    };
    let segments = snapshot.segments().iter().enumerate();
    segments
        .map(|(leaf, segment)| (0..u32::try_from(segment.documents)?).map(|doc| number(leaf, doc)).collect())
        .collect()
}

/// The answer of scanns.
fn answer(searcher: &Searcher, query: &Query, model: Model, numbers: &[Vec<u32>]) -> Result<Ranked> {
    let number = |hit: &Hit| numbers[hit.leaf][hit.doc as usize];
    let mut all = Ranked::default();
    searcher.for_each(query, model, |hit| {
        all.count += 1;
        all.digest = all.digest.wrapping_add(mix(number(&hit)));
        ControlFlow::Continue(())
    })?;
    let counted = searcher.count(query)?;
    ensure!(counted == all.count, "scanns counts {counted} hits, but finds {}", all.count);
    let best = searcher.top_k(query, model, MOST)?;
    Ok(Ranked { best: best.iter().map(|hit| (number(hit), hit.score)).collect(), ..all })
}

/// Hashes a document number with the finalizer of SplitMix64.
fn mix(number: u32) -> u64 {
    let mut mixed = u64::from(number).wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Reads the next answer of Lucene.
fn read(input: &mut impl Read) -> Result<Ranked> {
    let mut word = || -> Result<u32> {
        let mut bytes = [0; 4];
        input.read_exact(&mut bytes)?;
        Ok(u32::from_be_bytes(bytes))
    };
    let mut long = || Ok::<u64, anyhow::Error>(u64::from(word()?) << 32 | u64::from(word()?));
    let (count, digest) = (long()?, long()?);
    let best = word()?;
    ensure!(best as usize <= MOST, "Lucene wrote {best} best hits, but at most {MOST} were requested");
    let best = (0..best).map(|_| Ok((word()?, f32::from_bits(word()?)))).collect::<Result<_>>()?;
    Ok(Ranked { count, digest, best })
}

/// The difference of two scores relative to the larger one; infinite if only one of them is a finite number.
fn apart(one: f32, other: f32) -> f64 {
    let (one, other) = (f64::from(one), f64::from(other));
    if one == other || one.is_nan() && other.is_nan() {
        return 0.0;
    }
    let share = (one - other).abs() / one.abs().max(other.abs());
    if share.is_finite() { share } else { f64::INFINITY }
}

impl Outcome {
    /// Compares and records the answers of both engines to one query.
    fn add(&mut self, kind: &'static str, form: &Form, ours: &Ranked, theirs: &Ranked) {
        *self.kinds.entry(kind).or_default() += 1;
        self.answered += usize::from(theirs.count > 0);
        let mut told = String::new();
        if (ours.count, ours.digest) != (theirs.count, theirs.digest) {
            self.documents += ours.count.abs_diff(theirs.count).max(1);
            let _ = write!(told, "; {} documents match, {} in Lucene", ours.count, theirs.count);
        }
        let scores = |ranked: &Ranked| ranked.best.iter().copied().collect::<HashMap<u32, f32>>();
        let (our_scores, their_scores) = (scores(ours), scores(theirs));
        let missing = |ranked: &Ranked, others: &Ranked, known: &HashMap<u32, f32>| -> Vec<(u32, f32)> {
            // Any of the documents that tie with the last hit may be among the best.
            let last = others.best.last().filter(|_| others.best.len() == MOST).map(|&(_, score)| score);
            let tied = |score: f32| last.is_some_and(|last| apart(score, last) <= APART);
            let lacks = |hit: &&(u32, f32)| !known.contains_key(&hit.0) && !tied(hit.1);
            ranked.best.iter().filter(lacks).copied().collect()
        };
        for (name, lacking) in
            [("Lucene", missing(ours, theirs, &their_scores)), ("scanns", missing(theirs, ours, &our_scores))]
        {
            self.documents += lacking.len() as u64;
            if let Some((doc, score)) = lacking.first() {
                let _ = write!(
                    told,
                    "; {name} lacks {} best hits, the first is {doc} with {score}",
                    lacking.len()
                );
            }
        }
        let mut worst = (0.0, String::new());
        for (doc, score, other) in
            ours.best.iter().filter_map(|&(doc, score)| Some((doc, score, *their_scores.get(&doc)?)))
        {
            self.hits += 1;
            if apart(score, other) > worst.0 {
                worst = (apart(score, other), format!("; document {doc} scores {score}, {other} in Lucene"));
            }
        }
        for (rank, (one, other)) in ours.best.iter().zip(&theirs.best).enumerate() {
            if apart(one.1, other.1) > worst.0 {
                worst = (apart(one.1, other.1), format!("; rank {rank} has {one:?}, {other:?} in Lucene"));
            }
        }
        self.largest = self.largest.max(worst.0);
        if worst.0 > APART {
            told.push_str(&worst.1);
        }
        if !told.is_empty() {
            self.wrong += 1;
            if self.faults.len() < SHOWN {
                self.faults.push(format!("{form}{told}"));
            }
        }
    }

    /// Summarizes the outcome in one line.
    pub fn words(&self) -> String {
        let queries: usize = self.kinds.values().sum();
        format!(
            "{queries} queries, {} with hits, {} scores compared, largest difference {:.1e}, {} documents \
             differ, {} queries answered differently",
            self.answered, self.hits, self.largest, self.documents, self.wrong
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(best: &[(u32, f32)]) -> Ranked {
        let digest = best.iter().fold(0u64, |sum, hit| sum.wrapping_add(mix(hit.0)));
        Ranked { count: best.len() as u64, digest, best: best.to_vec() }
    }

    fn compared(ours: &Ranked, theirs: &Ranked) -> Outcome {
        let mut outcome = Outcome::default();
        outcome.add("all", &Form::All, ours, theirs);
        outcome
    }

    #[test]
    fn ties_may_stand_in_any_order_and_anything_else_is_a_fault() {
        let ours = ranked(&[(1, 2.0), (5, 1.0), (7, 1.0)]);
        let same = compared(&ours, &ranked(&[(1, 2.0), (7, 1.0), (5, 1.0)]));
        assert_eq!((same.wrong, same.hits, same.largest), (0, 3, 0.0));
        let close = compared(&ours, &ranked(&[(1, 2.000_001), (5, 1.0), (7, 1.0)]));
        assert!(close.wrong == 0 && close.largest > 1e-7, "{close:?}");
        let off = compared(&ours, &ranked(&[(1, 2.0001), (5, 1.0), (7, 1.0)]));
        assert!(off.wrong == 1 && off.faults[0].contains("document 1 scores 2, 2.0001 in Lucene"), "{off:?}");
        let swapped = compared(&ours, &ranked(&[(5, 2.0), (1, 1.0), (7, 1.0)]));
        assert!(swapped.wrong == 1 && swapped.documents == 0, "{swapped:?}");
        let fewer = compared(&ours, &ranked(&[(1, 2.0), (5, 1.0)]));
        assert!(fewer.documents == 2 && fewer.faults[0].contains("Lucene lacks 1"), "{fewer:?}");
        let other = compared(&ours, &ranked(&[(1, 2.0), (5, 1.0), (8, 1.0)]));
        assert!(other.documents == 3 && other.faults[0].contains("scanns lacks 1"), "{other:?}");
    }

    #[test]
    fn what_is_no_number_differs_from_every_number() {
        for (ours, theirs) in
            [(f32::NAN, 1.0), (1.0, f32::NAN), (f32::NAN, f32::INFINITY), (f32::INFINITY, 1.0)]
        {
            let outcome = compared(&ranked(&[(1, ours)]), &ranked(&[(1, theirs)]));
            assert!(outcome.wrong == 1 && outcome.largest == f64::INFINITY, "{ours} {theirs}: {outcome:?}");
        }
        for same in [f32::NAN, f32::INFINITY, 0.0] {
            assert_eq!(compared(&ranked(&[(1, same)]), &ranked(&[(1, same)])).wrong, 0);
        }
    }

    #[test]
    fn documents_that_tie_with_the_last_may_be_others_but_not_among_all_that_match() {
        let best = |first: u32| {
            let hits: Vec<(u32, f32)> = (first..).take(MOST).map(|doc| (doc, 1.0)).collect();
            Ranked { count: 5000, digest: 7, best: hits }
        };
        assert_eq!(compared(&best(0), &best(1)).wrong, 0);
        assert_eq!(compared(&best(0), &Ranked { digest: 8, ..best(0) }).documents, 1);
    }

    #[test]
    fn answers_are_read_as_they_are_written_and_cut_ones_refused() {
        let mut bytes = Vec::new();
        bytes.extend(3u64.to_be_bytes());
        bytes.extend(9u64.to_be_bytes());
        bytes.extend(1u32.to_be_bytes());
        bytes.extend(7u32.to_be_bytes());
        bytes.extend(1.5f32.to_be_bytes());
        let expected = Ranked { count: 3, digest: 9, best: vec![(7, 1.5)] };
        assert_eq!(read(&mut bytes.as_slice()).unwrap(), expected);
        for end in 0..bytes.len() {
            assert!(read(&mut &bytes[..end]).is_err());
        }
    }
}
