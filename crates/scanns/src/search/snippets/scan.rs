//! Finds what is wanted in the tokens of a text.

use std::ops::Range;

use super::wanted::{MOST_OF_A_WORD, Wanted, WantedPhrase};
use crate::tokenize::TokenSink;

/// Places of the terms of a phrase that are looked at.
const MOST_PLACES: usize = 1 << 20;

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Its number among what is wanted.
    pub(super) number: usize,
    /// Where it stands, in bytes.
    pub(super) range: Range<usize>,
}

/// A sink that keeps tokens that are wanted.
pub(super) struct Scan<'w, 'q> {
    wanted: &'w mut Wanted<'q>,
    /// Where the text was cut: a token that ends there need not be whole.
    cut: Option<usize>,
    position: u32,
    /// Where the values began whose tokens come.
    value: usize,
    found: Vec<(Found, u32)>,
    /// Whether each counts.
    counts: Vec<bool>,
}

impl<'w, 'q> Scan<'w, 'q> {
    pub(super) fn new(wanted: &'w mut Wanted<'q>, cut: Option<usize>) -> Self {
        Scan { wanted, cut, position: 0, value: 0, found: Vec::new(), counts: Vec::new() }
    }

    #[inline]
    fn take(&mut self, token: &[u8], range: Range<usize>) {
        let (position, found, counts) = (self.position, &mut self.found, &mut self.counts);
        self.position = position.saturating_add(1);
        if self.cut == Some(range.end) {
            return;
        }
        let mut numbers = [None; MOST_OF_A_WORD];
        let mut count = 0;
        self.wanted.of(token, |number| {
            if let Some(place) = numbers.get_mut(count) {
                *place = Some(number);
                count += 1;
            }
        });
        for number in numbers.into_iter().flatten() {
            found.push((Found { number, range: range.clone() }, position));
            counts.push(self.wanted.is_alone(number));
        }
    }

    /// Ends a value: phrases are found in it.
    pub(super) fn end_value(&mut self) {
        for phrase in &self.wanted.phrases {
            mark_phrase(phrase, &self.found[self.value..], &mut self.counts[self.value..]);
        }
        self.value = self.found.len();
        self.position = 0;
    }

    /// What counts, in the order of its beginnings.
    pub(super) fn finish(self) -> Vec<Found> {
        let mut found: Vec<Found> = self
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

impl TokenSink for Scan<'_, '_> {
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

/// Counts the tokens with which a phrase is complete: of each of its terms one, moved apart by as much as it allows.
/// Where words may be moved, further ones of its terms that stand among them count too.
fn mark_phrase(phrase: &WantedPhrase, found: &[(Found, u32)], counts: &mut [bool]) {
    // Where the phrase would begin by each token, which term of it that is, and the token.
    let mut starts: Vec<(i64, usize, usize)> = Vec::new();
    for (token, (one, position)) in found.iter().enumerate() {
        for (term, (place, number)) in phrase.terms.iter().enumerate() {
            if *number == one.number && starts.len() < MOST_PLACES {
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
