//! Other spellings of a query.

use scanns::query::{Operator, WeightedField};
use scanns::search::Searcher;
use scanns::{Query, Snapshot};

use super::answer::DidYouMean;

/// The maximum number of words of a text that are looked at.
const WORDS: usize = 64;

/// The query with each word that no document contains replaced by a similar one; `None` without any.
///
/// # Errors
/// Terms cannot be read.
pub(crate) fn meant(
    snapshot: &Snapshot,
    searcher: &Searcher<'_>,
    fields: &[WeightedField],
    text: &str,
    query: &Query,
) -> scanns::Result<Option<DidYouMean>> {
    let suggestions = searcher.suggest(query, 0, 1)?;
    let known: Vec<(Vec<u8>, String)> = suggestions
        .into_iter()
        .filter_map(|one| Some((one.word, String::from_utf8(one.near.into_iter().next()?.term).ok()?)))
        .collect();
    if known.is_empty() {
        return Ok(None);
    }
    let mut meant = DidYouMean { text: String::with_capacity(text.len()), changed: Vec::new() };
    let mut copied = 0;
    for (start, word) in words(text).take(WORDS) {
        let terms = terms_of(snapshot, fields, word);
        let Some((_, other)) = known.iter().find(|(term, _)| terms.contains(term)) else { continue };
        meant.text.push_str(text.get(copied..start).unwrap_or_default());
        meant.text.push_str(other);
        copied = start + word.len();
        meant.changed.push((word.to_owned(), other.clone()));
    }
    meant.text.push_str(text.get(copied..).unwrap_or_default());
    Ok(Some(meant).filter(|meant| !meant.changed.is_empty()))
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
