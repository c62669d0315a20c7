//! Finds the terms of the dictionary of a column that a pattern matches, or may match: a part is a chapter.

use std::sync::Arc;

use crate::codec::StringBatch;
use crate::column::DictionaryReader;
use crate::error::Result;
use crate::search::budget::Clock;
use crate::search::number_set::NumberSet;
use crate::search::plan::found::ValueMatches;
use crate::search::terms::patterns::PatternMatcher;

/// Matches many strings; its memory is reused.
pub(super) struct StringMatcher<'m> {
    matcher: &'m PatternMatcher<'m>,
    found: Vec<usize>,
}

impl<'m> StringMatcher<'m> {
    pub(super) fn new(matcher: &'m PatternMatcher<'m>) -> Self {
        StringMatcher { matcher, found: Vec::new() }
    }

    /// Calls `add` with the number of each string of a batch that matches, in order.
    pub(super) fn each_match(&mut self, batch: &StringBatch, mut add: impl FnMut(usize)) {
        match self.matcher.literal() {
            Some(literal) => {
                literal.find(batch, &mut self.found);
                self.found.iter().filter(|&&i| self.matcher.matches(batch.get(i))).for_each(|&i| add(i));
            }
            None => (0..batch.len()).filter(|&i| self.matcher.matches(batch.get(i))).for_each(add),
        }
    }
}

/// The numbers of the terms of a dictionary that match.
pub(super) fn matching_numbers(
    matches: &ValueMatches,
    terms: &DictionaryReader,
    matcher: &PatternMatcher,
    clock: Clock,
) -> Result<Arc<NumberSet>> {
    if !matcher.reads_all_terms() {
        return matches.terms.get_or_find(1, |_| sought_numbers(terms, matcher, clock), NumberSet::joined);
    }
    let find = |chapter| {
        let mut strings = StringMatcher::new(matcher);
        numbers_in_chapter(terms, chapter, clock, |batch, add| strings.each_match(batch, add))
    };
    matches.terms.get_or_find(terms.chapters(), find, NumberSet::joined)
}

/// The directories that contain the literal of a pattern, or end with the front of it up to a slash: a name
/// has no slash. `None` without literal.
pub(super) fn directories_with(
    matches: &ValueMatches,
    terms: &DictionaryReader,
    matcher: &PatternMatcher,
    clock: Clock,
) -> Result<Option<Arc<NumberSet>>> {
    let Some(literal) = matcher.literal() else { return Ok(None) };
    let slash = literal.bytes().iter().rposition(|&byte| byte == b'/');
    let front = slash.and_then(|slash| literal.bytes().get(..=slash));
    let find = |chapter| {
        let mut found = Vec::new();
        numbers_in_chapter(terms, chapter, clock, |batch, add| {
            literal.find(batch, &mut found);
            found.iter().for_each(|&i| add(i));
            if let Some(front) = front {
                (0..batch.len()).filter(|&i| batch.get(i).ends_with(front)).for_each(add);
            }
        })
    };
    matches.terms.get_or_find(terms.chapters(), find, NumberSet::joined).map(Some)
}

/// The numbers of the terms that match, found by skipping those that cannot match.
fn sought_numbers(terms: &DictionaryReader, matcher: &PatternMatcher, clock: Clock) -> Result<NumberSet> {
    let mut numbers = NumberSet::between(0, terms.len());
    let mut matching = matcher.matching(terms.into(), clock)?;
    while matching.next()? {
        let [number, _] = matching.found()?.handle;
        numbers.insert(number);
    }
    Ok(numbers)
}

/// The numbers of the terms of a chapter of a dictionary that `each_match` finds in its batches.
fn numbers_in_chapter(
    terms: &DictionaryReader,
    chapter: usize,
    clock: Clock,
    mut each_match: impl FnMut(&StringBatch, &mut dyn FnMut(usize)),
) -> Result<NumberSet> {
    let of_chapter = terms.numbers_of(chapter);
    let mut numbers = NumberSet::between(of_chapter.start, of_chapter.end);
    let mut batches = terms.batches(chapter);
    while !clock.is_up()
        && let Some((first, batch)) = batches.next()?
    {
        each_match(batch, &mut |i| numbers.insert(u64::from(first) + i as u64));
    }
    Ok(numbers)
}
