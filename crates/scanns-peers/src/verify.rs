//! Checks that all engines did the same work, because only then their times are comparable.

use anyhow::{Result, ensure};

use crate::protocol::{Answers, Built, Merged};
use crate::queries::Asked;

/// The maximum relative difference between sums of scores of scanns and Lucene. Both compute with 32 bits, in
/// the same steps.
const SCORES_APART: f64 = 1e-5;

/// Checks that all builds have the same documents, tokens and stored text, and read the same text.
///
/// # Errors
/// If two builds differ, with the figures of both.
pub fn same_corpus<'a>(builds: impl IntoIterator<Item = (&'a str, &'a Built)>) -> Result<()> {
    let mut builds = builds.into_iter();
    let Some((first, expected)) = builds.next() else { return Ok(()) };
    let of = |built: &Built| (built.documents, built.tokens, built.bytes, built.contents);
    for (other, built) in builds {
        ensure!(
            of(built) == of(expected),
            "the indexes differ, so their times are not comparable (documents, tokens, bytes of text, \
             digest of stored text): \
             {first} has {:?}, {other} has {:?}",
            of(expected),
            of(built)
        );
    }
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

/// Checks that the hits of two engines are equal, and also their scores if `scored_alike` is true.
///
/// # Errors
/// If the answers differ, with the first such query.
pub fn same_answers(queries: &[Asked], first: &Answered, other: &Answered, scored_alike: bool) -> Result<()> {
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
        ensure!(
            hits(answers) == hits(expected),
            "answers differ, so times are not comparable: for {} {}, {first} has {:?} hits, {other} has {:?}",
            query.class,
            query.form,
            hits(expected),
            hits(answers)
        );
        let positions = |answers: &Answers| answers.positions.get(number).copied();
        ensure!(
            positions(answers) == positions(expected),
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
            !scored_alike || (expected - found).abs() <= SCORES_APART * expected.abs(),
            "scores differ: for {} {}, the hundred best add up to {expected} in {first}, {found} in {other}",
            query.class,
            query.form
        );
    }
    Ok(())
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
            hits: vec![2, 1],
            scores: vec![1.5, 0.25],
            micros: [const { Vec::new() }; 4],
            positions: vec![7, 0],
            peak_bytes: 4096,
        }
    }

    #[test]
    fn equal_builds_pass_whatever_they_took() {
        let slower = Built { seconds: 5.0, rest_seconds: 7.0, segments: 4, peak_bytes: 1 << 30, ..built() };
        same_corpus([("scanns", &built()), ("Lucene", &slower)]).unwrap();
        same_corpus([]).unwrap();
    }

    #[test]
    fn unequal_builds_are_refused_with_both_names() {
        for other in [
            Built { documents: 4, ..built() },
            Built { tokens: 10, ..built() },
            Built { bytes: 71, ..built() },
            Built { contents: Some(Contents { bytes: 70, crcs: 1 }), ..built() },
        ] {
            let error =
                same_corpus([("scanns", &built()), ("Lucene", &built()), ("tantivy", &other)]).unwrap_err();
            let text = error.to_string();
            assert!(text.contains("scanns has (3, 9, 70, None), tantivy has"), "{text}");
        }
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
            same_answers(&queries, &expected, &other, alike).map_err(|e| e.to_string())
        };
        check(&answers(), true).unwrap();
        let error = check(&Answers { hits: vec![2, 3], ..answers() }, false).unwrap_err();
        assert!(error.contains("or2") && error.contains("Some(1)") && error.contains("Some(3)"), "{error}");
        assert!(check(&Answers { hits: vec![2], ..answers() }, false).is_err(), "an answer is missing");
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
