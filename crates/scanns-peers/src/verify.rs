//! Checks that all engines did the same work, because only then their times are comparable.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};

use crate::protocol::{Answers, Built, Merged};
use crate::queries::Asked;

/// The maximum relative difference between sums of scores of scanns and Lucene. Both compute with 32 bits, in
/// the same steps.
const SCORES_APART: f64 = 1e-5;

/// The largest share of tokens that may differ between engines that read UAX #29 otherwise.
const TOKENS_APART: f64 = 0.002;

/// The largest share of queries that may have other hits if tokens differ.
const HITS_APART: f64 = 0.02;

/// The maximum relative difference between sums of scores if tokens differ, because lengths differ then.
const ROUGHLY: f64 = 0.01;

/// Checks that all builds have the same documents, tokens and stored text, and read the same text. With
/// `unicode`, up to 0.2 % of the tokens may differ. Returns the engines with other tokens and how they differ
/// from the first, in words.
///
/// # Errors
/// If two builds differ, with the figures of both.
#[expect(clippy::cast_precision_loss, reason = "a share of tokens")]
pub fn same_corpus<'a>(
    builds: impl IntoIterator<Item = (&'a str, &'a Built)>,
    unicode: bool,
) -> Result<BTreeMap<&'a str, String>> {
    let mut builds = builds.into_iter();
    let mut other_tokens = BTreeMap::new();
    let Some((first, expected)) = builds.next() else { return Ok(other_tokens) };
    let of = |built: &Built| (built.documents, built.tokens, built.bytes, built.contents);
    for (other, built) in builds {
        let apart = built.tokens.abs_diff(expected.tokens);
        let share = apart as f64 / expected.tokens.max(1) as f64;
        let near = Built { tokens: expected.tokens, ..built.clone() };
        if unicode && apart > 0 && share <= TOKENS_APART && of(&near) == of(expected) {
            let which = if built.tokens > expected.tokens { "more" } else { "fewer" };
            let words = format!("{other} has {apart} tokens {which} than {first}, {:.4} %", 100.0 * share);
            other_tokens.insert(other, words);
            continue;
        }
        ensure!(
            of(built) == of(expected),
            "the indexes differ, so their times are not comparable (documents, tokens, bytes of text, \
             digest of stored text): \
             {first} has {:?}, {other} has {:?}",
            of(expected),
            of(built)
        );
    }
    Ok(other_tokens)
}

/// Checks that an engine that finds tokens of its own has the same documents, and read the same text.
///
/// # Errors
/// If it has not, with the figures of both.
pub fn same_text(first: &str, expected: &Built, guest: &str, built: &Built) -> Result<()> {
    let of = |built: &Built| (built.documents, built.bytes);
    ensure!(
        of(built) == of(expected),
        "the indexes differ, so their times are not comparable (documents, bytes of text): {first} has {:?}, \
         {guest} has {:?}",
        of(expected),
        of(built)
    );
    Ok(())
}

/// Checks that a merged index of the engine `name` has the same contents as the original.
///
/// # Errors
/// If the two differ, with the figures of both.
pub fn same_merged(name: &str, built: &Built, merged: &Merged) -> Result<()> {
    let expected = (built.documents, built.tokens, built.segments, built.contents);
    let found = (merged.documents, merged.tokens, merged.segments_before, merged.contents);
    ensure!(
        found == expected,
        "{name} lost or changed documents in a merge, so its time means nothing (documents, tokens, \
         segments before, digest of stored text): {expected:?} became {found:?}"
    );
    Ok(())
}

/// The answers of one engine, and its name.
pub struct Answered<'a> {
    /// The name of the engine.
    pub engine: &'a str,
    /// The answers.
    pub answers: &'a Answers,
}

/// How two engines must agree.
#[derive(Clone, Copy, Debug)]
pub struct Agreement {
    /// True if both compute the same scores.
    pub scored_alike: bool,
    /// True if both have the same tokens. Otherwise a few queries may have other hits, scores are compared
    /// roughly, and positions are not compared.
    pub same_tokens: bool,
}

/// Checks that an engine answered and timed every query.
///
/// # Errors
/// If it left one out. The message has its number.
pub fn whole(engine: &str, answers: &Answers) -> Result<()> {
    let unanswered = answers.hits.iter().position(Option::is_none);
    let untimed = answers.micros.iter().find_map(|times| times.iter().position(Option::is_none));
    let left_out = unanswered.or(untimed);
    ensure!(
        left_out.is_none(),
        "{engine} left out query {}: expected answers to all queries",
        left_out.unwrap_or_default()
    );
    Ok(())
}

/// How many queries an engine with tokens of its own answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answering {
    /// All queries.
    pub asked: usize,
    /// Those that it has.
    pub answered: usize,
    /// Those for which it found as many hits as the first engine.
    pub alike: usize,
}

/// Compares the numbers of hits of an engine that finds tokens of its own with those of the first engine.
pub fn alike(expected: &Answers, answers: &Answers) -> Answering {
    let both = || answers.hits.iter().zip(&expected.hits).filter(|(hits, _)| hits.is_some());
    Answering {
        asked: expected.hits.len(),
        answered: both().count(),
        alike: both().filter(|(hits, expected)| hits == expected).count(),
    }
}

/// Checks that the hits of two engines are equal, and also their scores if they must be. Returns the number
/// of queries with other hits, which is 0 if the tokens are the same.
///
/// # Errors
/// If the answers differ, with the first such query.
#[expect(clippy::cast_precision_loss, reason = "a share of queries")]
pub fn same_answers(
    queries: &[Asked],
    first: &Answered,
    other: &Answered,
    agreement: Agreement,
) -> Result<usize> {
    let mut other_hits = 0;
    let scores_apart = if agreement.same_tokens { SCORES_APART } else { ROUGHLY };
    let (expected, answers) = (first.answers, other.answers);
    let (first, other) = (first.engine, other.engine);
    ensure!(
        answers.documents == expected.documents,
        "{first} searches {} documents, {other} {}",
        expected.documents,
        answers.documents
    );
    for (number, query) in queries.iter().enumerate() {
        let hits = |answers: &Answers| answers.hits.get(number).copied();
        let same = hits(answers) == hits(expected);
        let few = !agreement.same_tokens && other_hits as f64 <= HITS_APART * queries.len() as f64;
        other_hits += usize::from(!same);
        ensure!(
            same || few,
            "answers differ, so times are not comparable: for {} {}, {first} has {:?} hits, {other} has {:?}",
            query.class,
            query.form,
            hits(expected).flatten(),
            hits(answers).flatten()
        );
        let positions = |answers: &Answers| answers.positions.get(number).copied();
        ensure!(
            positions(answers) == positions(expected) || !agreement.same_tokens,
            "positions differ, so times are not comparable: for {} {}, their sum is {:?} in {first}, {:?} in \
             {other}",
            query.class,
            query.form,
            positions(expected),
            positions(answers)
        );
        let score = |answers: &Answers| answers.scores.get(number).copied().unwrap_or(f64::NAN);
        let (expected, found) = (score(expected), score(answers));
        ensure!(
            !(agreement.scored_alike && same) || (expected - found).abs() <= scores_apart * expected.abs(),
            "scores differ: for {} {}, the hundred best add up to {expected} in {first}, {found} in {other}",
            query.class,
            query.form
        );
    }
    Ok(other_hits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::{Form, Sign};
    use crate::protocol::Contents;

    fn built() -> Built {
        Built {
            documents: 3,
            tokens: 9,
            bytes: 70,
            seconds: 0.5,
            rest_seconds: 0.5,
            segments: 1,
            bytes_written: 40,
            peak_bytes: 4096,
            contents: None,
        }
    }

    fn answers() -> Answers {
        Answers {
            documents: 3,
            segments: 1,
            hits: vec![Some(2), Some(1)],
            scores: vec![1.5, 0.25],
            micros: [const { Vec::new() }; 4],
            positions: vec![7, 0],
            peak_bytes: 4096,
        }
    }

    #[test]
    fn equal_builds_pass_whatever_they_took() {
        let slower = Built { seconds: 5.0, rest_seconds: 7.0, segments: 4, peak_bytes: 1 << 30, ..built() };
        let ours = built();
        let same = same_corpus([("scanns", &ours), ("Lucene", &slower)], false).unwrap();
        assert!(same.is_empty() && same_corpus([], false).unwrap().is_empty());
    }

    #[test]
    fn unequal_builds_are_refused_with_both_names() {
        for other in [
            Built { documents: 4, ..built() },
            Built { tokens: 10, ..built() },
            Built { bytes: 71, ..built() },
            Built { contents: Some(Contents { bytes: 70, crcs: 1 }), ..built() },
        ] {
            let error = same_corpus([("scanns", &built()), ("Lucene", &built()), ("tantivy", &other)], true)
                .unwrap_err();
            let text = error.to_string();
            assert!(text.contains("scanns has (3, 9, 70, None), tantivy has"), "{text}");
        }
    }

    #[test]
    fn a_few_other_tokens_are_told_where_versions_of_unicode_differ_and_only_there() {
        let many = |tokens| Built { tokens, ..built() };
        let check = |tokens, unicode| {
            let (ours, theirs) = (many(10_000), many(tokens));
            let found = same_corpus([("scanns", &ours), ("tantivy", &theirs)], unicode);
            found.map(|other| other.get("tantivy").cloned().unwrap_or_default())
        };
        assert_eq!(check(9_993, true).unwrap(), "tantivy has 7 tokens fewer than scanns, 0.0700 %");
        assert!(check(10_010, true).unwrap().contains("10 tokens more"));
        assert!(check(10_021, true).is_err() && check(9_993, false).is_err());
        let lost = Built { documents: 2, ..many(9_993) };
        assert!(same_corpus([("scanns", &many(10_000)), ("tantivy", &lost)], true).is_err());
    }

    #[test]
    fn queries_that_were_left_out_are_seen() {
        whole("x", &answers()).unwrap();
        let unanswered = Answers { hits: vec![Some(2), None], ..answers() };
        assert!(whole("x", &unanswered).unwrap_err().to_string().contains("x left out query 1"));
        let untimed = Answers { micros: [vec![None], Vec::new(), Vec::new(), Vec::new()], ..answers() };
        assert!(whole("x", &untimed).unwrap_err().to_string().contains("query 0"));
    }

    #[test]
    fn guests_have_the_same_documents_but_tokens_and_answers_of_their_own() {
        let other = Built { tokens: 12, ..built() };
        same_text("scanns", &built(), "SeekStorm", &other).unwrap();
        let fewer = Built { documents: 2, ..other };
        let error = same_text("scanns", &built(), "SeekStorm", &fewer).unwrap_err().to_string();
        assert!(error.contains("scanns has (3, 70), SeekStorm has (2, 70)"), "{error}");
        let of = |hits: [Option<u64>; 3]| Answers { hits: hits.into(), ..answers() };
        let found = alike(&of([Some(2), Some(1), Some(0)]), &of([Some(2), None, Some(4)]));
        assert_eq!(found, Answering { asked: 3, answered: 2, alike: 1 });
    }

    #[test]
    fn with_other_tokens_a_few_queries_may_have_other_hits() {
        let queries: Vec<Asked> =
            (0..100).map(|_| Asked { class: "low", form: Form::Term("one".into()) }).collect();
        let with = |other: usize| Answers {
            hits: (0..100).map(|at| Some(u64::from(at >= other))).collect(),
            scores: vec![1.0 + 0.001 * f64::from(u8::try_from(other).unwrap()); 100],
            positions: vec![7; 100],
            ..answers()
        };
        let check = |other, same_tokens| {
            let first = Answered { engine: "scanns", answers: &with(0) };
            let answers = with(other);
            let other = Answered { engine: "Lucene", answers: &answers };
            same_answers(&queries, &first, &other, Agreement { scored_alike: true, same_tokens })
        };
        assert_eq!(check(2, false).unwrap(), 2);
        assert!(check(9, false).is_err() && check(2, true).is_err());
    }

    #[test]
    fn a_merge_that_loses_something_is_refused() {
        let contents = Some(Contents { bytes: 70, crcs: 1 });
        let built = Built { segments: 8, contents, ..built() };
        let merged = Merged {
            documents: 3,
            tokens: 9,
            segments_before: 8,
            segments: 1,
            bytes_before: 50,
            bytes_after: 40,
            seconds: 0.5,
            bytes_written: 40,
            peak_bytes: 4096,
            contents,
        };
        same_merged("tantivy", &built, &merged).unwrap();
        for other in [
            Merged { documents: 2, ..merged.clone() },
            Merged { tokens: 8, ..merged.clone() },
            Merged { segments_before: 7, ..merged.clone() },
            Merged { contents: Some(Contents { bytes: 70, crcs: 2 }), ..merged.clone() },
        ] {
            let error = same_merged("tantivy", &built, &other).unwrap_err().to_string();
            assert!(error.contains("tantivy lost or changed"), "{error}");
        }
    }

    #[test]
    fn unequal_hits_are_refused_with_the_query_and_scores_only_where_they_must_agree() {
        let queries = [
            Asked { class: "low", form: Form::Term("one".into()) },
            Asked { class: "or2", form: Form::list(Sign::Should, &["one".into(), "two".into()]) },
        ];
        let check = |other: &Answers, alike| {
            let expected = Answered { engine: "scanns", answers: &answers() };
            let other = Answered { engine: "Lucene", answers: other };
            let agreement = Agreement { scored_alike: alike, same_tokens: true };
            same_answers(&queries, &expected, &other, agreement).map_err(|e| e.to_string())
        };
        check(&answers(), true).unwrap();
        let error = check(&Answers { hits: vec![Some(2), Some(3)], ..answers() }, false).unwrap_err();
        assert!(error.contains("or2") && error.contains("Some(1)") && error.contains("Some(3)"), "{error}");
        assert!(check(&Answers { hits: vec![Some(2)], ..answers() }, false).is_err(), "an answer is missing");
        assert!(check(&Answers { documents: 2, ..answers() }, false).is_err());
        let error = check(&Answers { positions: vec![8, 0], ..answers() }, false).unwrap_err();
        assert!(error.contains("low") && error.contains("Some(7) in scanns, Some(8) in Lucene"), "{error}");
        assert!(check(&Answers { positions: Vec::new(), ..answers() }, false).is_err(), "not read");
        let close = Answers { scores: vec![1.500_001, 0.25], ..answers() };
        check(&close, true).unwrap();
        let off = Answers { scores: vec![1.6, 0.25], ..answers() };
        check(&off, false).unwrap();
        assert!(check(&off, true).unwrap_err().contains("scores differ"));
        assert!(check(&Answers { scores: vec![f64::NAN, 0.25], ..answers() }, true).is_err());
    }
}
