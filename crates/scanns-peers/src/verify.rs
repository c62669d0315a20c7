//! Whether engines did the same work: nothing else makes their times comparable.

use anyhow::{Result, ensure};

use crate::protocol::{Answers, Built};
use crate::queries::Asked;

/// How far apart sums of scores of scanns and Lucene may be, as a share: both compute in 32 bits, in the same steps.
const SCORES_APART: f64 = 1e-5;

/// Refuses builds that hold different documents or tokens, or read different text.
///
/// # Errors
/// With what each of the engines reports.
pub fn same_corpus<'a>(builds: impl IntoIterator<Item = (&'a str, &'a Built)>) -> Result<()> {
    let mut builds = builds.into_iter();
    let Some((first, expected)) = builds.next() else { return Ok(()) };
    let of = |built: &Built| (built.documents, built.tokens, built.bytes);
    for (other, built) in builds {
        ensure!(
            of(built) == of(expected),
            "the indexes differ, so their times mean nothing (documents, tokens, bytes of text): \
             {first} has {:?}, {other} has {:?}",
            of(expected),
            of(built)
        );
    }
    Ok(())
}

/// Refuses answers with different hits. `scored_alike` says whether both engines are to give equal scores, too.
///
/// # Errors
/// With the first query that was answered differently.
pub fn same_answers(
    queries: &[Asked],
    (first, expected): (&str, &Answers),
    (other, answers): (&str, &Answers),
    scored_alike: bool,
) -> Result<()> {
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
            "answers differ, so their times mean nothing: for {} {:?}, {first} has {:?} hits, {other} {:?}",
            query.class,
            query.terms,
            hits(expected),
            hits(answers)
        );
        let score = |answers: &Answers| answers.scores.get(number).copied().unwrap_or(f64::NAN);
        let (expected, found) = (score(expected), score(answers));
        ensure!(
            !scored_alike || (expected - found).abs() <= SCORES_APART * expected.abs(),
            "scores differ: the ten best for {} {:?} have {expected} in {first}, {found} in {other}",
            query.class,
            query.terms
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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
        }
    }

    fn answers() -> Answers {
        Answers {
            documents: 3,
            segments: 1,
            hits: vec![2, 1],
            scores: vec![1.5, 0.25],
            top_us: vec![1.0; 2],
            all_us: vec![1.0; 2],
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
        ] {
            let error =
                same_corpus([("scanns", &built()), ("Lucene", &built()), ("tantivy", &other)]).unwrap_err();
            let text = error.to_string();
            assert!(text.contains("scanns has (3, 9, 70), tantivy has"), "{text}");
        }
    }

    #[test]
    fn unequal_hits_are_refused_with_the_query_and_scores_only_where_they_must_agree() {
        let queries = [
            Asked { class: "low", terms: vec!["one".into()] },
            Asked { class: "or2", terms: vec!["one".into(), "two".into()] },
        ];
        let check = |other: &Answers, alike| {
            same_answers(&queries, ("scanns", &answers()), ("Lucene", other), alike)
                .map_err(|e| e.to_string())
        };
        check(&answers(), true).unwrap();
        let error = check(&Answers { hits: vec![2, 3], ..answers() }, false).unwrap_err();
        assert!(error.contains("or2") && error.contains("Some(1)") && error.contains("Some(3)"), "{error}");
        assert!(check(&Answers { hits: vec![2], ..answers() }, false).is_err(), "an answer is missing");
        assert!(check(&Answers { documents: 2, ..answers() }, false).is_err());
        let close = Answers { scores: vec![1.500_001, 0.25], ..answers() };
        check(&close, true).unwrap();
        let off = Answers { scores: vec![1.6, 0.25], ..answers() };
        check(&off, false).unwrap();
        assert!(check(&off, true).unwrap_err().contains("scores differ"));
        assert!(check(&Answers { scores: vec![f64::NAN, 0.25], ..answers() }, true).is_err());
    }
}
