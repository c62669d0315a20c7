//! Finds the wanted terms and phrases in the tokens of a text.

use std::ops::Range;

use super::wanted::{MAX_OF_A_WORD, WantedPhrase, WantedTerms};
use crate::tokenize::TokenSink;

/// Maximum number of places of the terms of a phrase.
const MAX_PLACES: usize = 1 << 20;

/// A match in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SnippetMatch {
    /// The number of the wanted term or pattern.
    pub(super) number: usize,
    /// Its range of bytes in the text.
    pub(super) range: Range<usize>,
}

/// A sink that keeps the tokens that are wanted.
pub(super) struct SnippetScan<'w, 'q> {
    wanted: &'w mut WantedTerms<'q>,
    /// Where the text was cut. A token that ends there may be incomplete.
    cut: Option<usize>,
    position: u32,
    /// The index in `found` at which the current value began.
    value: usize,
    found: Vec<(SnippetMatch, u32)>,
    /// For each of `found`, whether it counts.
    counts: Vec<bool>,
}

impl<'w, 'q> SnippetScan<'w, 'q> {
    pub(super) fn new(wanted: &'w mut WantedTerms<'q>, cut: Option<usize>) -> Self {
        SnippetScan { wanted, cut, position: 0, value: 0, found: Vec::new(), counts: Vec::new() }
    }

    #[inline]
    fn take(&mut self, token: &[u8], range: Range<usize>) {
        let (position, found, counts) = (self.position, &mut self.found, &mut self.counts);
        self.position = position.saturating_add(1);
        if self.cut == Some(range.end) {
            return;
        }
        let mut numbers = [None; MAX_OF_A_WORD];
        let mut count = 0;
        self.wanted.of(token, |number| {
            if let Some(place) = numbers.get_mut(count) {
                *place = Some(number);
                count += 1;
            }
        });
        for number in numbers.into_iter().flatten() {
            found.push((SnippetMatch { number, range: range.clone() }, position));
            counts.push(self.wanted.is_alone(number));
        }
    }

    /// Ends a value, and finds the phrases in it.
    pub(super) fn end_value(&mut self) {
        for phrase in &self.wanted.phrases {
            mark_phrase(phrase, &self.found[self.value..], &mut self.counts[self.value..]);
        }
        self.value = self.found.len();
        self.position = 0;
    }

    /// The matches that count, in the order of their beginnings.
    pub(super) fn finish(self) -> Vec<SnippetMatch> {
        let mut found: Vec<SnippetMatch> = self
            .found
            .into_iter()
            .zip(self.counts)
            .filter(|(_, counts)| *counts)
            .map(|((one, _), _)| one)
            .collect();
        found.sort_by_key(|one| one.range.start);
        found
    }
}

impl TokenSink for SnippetScan<'_, '_> {
    fn tokens(&mut self, text: &[u8], base: usize, bounds: &[u16]) {
        for pair in bounds.chunks_exact(2) {
            let range = base + usize::from(pair[0])..base + usize::from(pair[1]);
            self.take(&text[range.clone()], range);
        }
    }

    fn token(&mut self, token: &[u8], source: Range<usize>) {
        self.take(token, source);
    }

    fn shift(&mut self, positions: i32) {
        self.position = self.position.saturating_add_signed(positions);
    }
}

/// Marks the tokens of the places where a phrase is complete: one token for each of its terms, at most `slop`
/// apart from their places in the phrase. In a sloppy phrase, repeated terms between them are marked too.
fn mark_phrase(phrase: &WantedPhrase, found: &[(SnippetMatch, u32)], counts: &mut [bool]) {
    // For each token of the phrase: where the phrase would begin, the index of its term, and the token.
    let mut starts: Vec<(i64, usize, usize)> = Vec::new();
    for (token, (one, position)) in found.iter().enumerate() {
        for (term, (place, number)) in phrase.terms.iter().enumerate() {
            if *number == one.number && starts.len() < MAX_PLACES {
                starts.push((i64::from(*position) - i64::from(*place), term, token));
            }
        }
    }
    starts.sort_unstable();
    let mut there = vec![0usize; phrase.terms.len()];
    let (mut missing, mut first, mut marked) = (phrase.terms.len(), 0, 0);
    for (last, (start, term, _)) in starts.iter().enumerate() {
        missing -= usize::from(there[*term] == 0);
        there[*term] += 1;
        while start - starts[first].0 > i64::from(phrase.slop) {
            there[starts[first].1] -= 1;
            missing += usize::from(there[starts[first].1] == 0);
            first += 1;
        }
        if missing == 0 {
            for (_, _, token) in &starts[first.max(marked)..=last] {
                counts[*token] = true;
            }
            marked = last + 1;
        }
    }
}
