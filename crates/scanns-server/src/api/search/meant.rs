//! Other spellings of a query.

use scanns::query::{Operator, WeightedField};
use scanns::search::{Searcher, Suggestion};
use scanns::{Query, Snapshot};

use super::answer::DidYouMean;

/// The maximum number of words of a text that are looked at.
const WORDS: usize = 64;

/// The words that are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misspelt {
    /// Words that no document contains.
    Unknown,
    /// Also words of a few documents, if a similar one is far more frequent.
    Rare,
}

/// The maximum number of documents with a rare word, and how much more frequent the similar word must be.
const RARE: u64 = 10;
const MORE_FREQUENT: u64 = 100;

/// The minimum length of a rare word, in letters: shorter words are similar to too many others.
const RARE_LETTERS: usize = 5;

/// The query with each misspelt word replaced by a similar one; `None` without any.
///
/// # Errors
/// Terms cannot be read.
pub(crate) fn meant(
    snapshot: &Snapshot,
    searcher: &Searcher<'_>,
    fields: &[WeightedField],
    text: &str,
    query: &Query,
    misspelt: Misspelt,
) -> scanns::Result<Option<DidYouMean>> {
    let few = if misspelt == Misspelt::Rare { RARE } else { 0 };
    let suggestions = searcher.suggest(query, few, 1)?;
    let known: Vec<Known> = suggestions.into_iter().filter_map(Known::of).collect();
    if known.is_empty() {
        return Ok(None);
    }
    let (changed, counts) = (Vec::new(), Vec::new());
    let mut meant = DidYouMean { text: String::with_capacity(text.len()), changed, counts };
    let mut copied = 0;
    for (start, word) in words(text).take(WORDS) {
        let terms = terms_of(snapshot, fields, word);
        let Some(Known { other, counts, .. }) = known.iter().find(|known| terms.contains(&known.term)) else {
            continue;
        };
        meant.text.push_str(text.get(copied..start).unwrap_or_default());
        meant.text.push_str(other);
        copied = start + word.len();
        meant.changed.push((word.to_owned(), other.clone()));
        meant.counts.push(*counts);
    }
    meant.text.push_str(text.get(copied..).unwrap_or_default());
    Ok(Some(meant).filter(|meant| !meant.changed.is_empty()))
}

/// A misspelt word, and what it becomes.
struct Known {
    term: Vec<u8>,
    other: String,
    /// The numbers of documents with the word, and with the other one.
    counts: (u64, u64),
}

impl Known {
    /// None for a word without a similar one, and for a rare word that may be meant as it is.
    fn of(suggestion: Suggestion) -> Option<Self> {
        let near = suggestion.near.into_iter().next()?;
        let counts = (suggestion.doc_freq, near.doc_freq);
        let word = std::str::from_utf8(&suggestion.word).unwrap_or_default();
        let is_rare_word = word.chars().count() >= RARE_LETTERS
            && word.chars().all(char::is_alphabetic)
            && counts.1 >= counts.0.saturating_mul(MORE_FREQUENT);
        let is_misspelt = counts.0 == 0 || is_rare_word;
        let other = String::from_utf8(near.term).ok().filter(|_| is_misspelt)?;
        Some(Known { term: suggestion.word, other, counts })
    }
}

/// The words of a text, each with its place.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let parts = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    parts.map(|word| ((word.as_ptr() as usize).saturating_sub(text.as_ptr() as usize), word))
}

/// The terms that a word becomes.
fn terms_of(snapshot: &Snapshot, fields: &[WeightedField], word: &str) -> Vec<Vec<u8>> {
    let Ok(query) = snapshot.parse_in(fields, word, Operator::Or) else { return Vec::new() };
    let term = |clause: &Query| match clause {
        Query::Term(term) => Some(term.text.clone()),
        _ => None,
    };
    query.clauses().filter_map(term).collect()
}
