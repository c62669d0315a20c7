//! How often terms stand in certain places beside each other in a document.
//!
//! Exactly: at how many places all terms stand as asked for. With slop, as Lucene's `SloppyPhraseMatcher` counts: terms
//! are moved forward, always the one that is furthest behind, and each time the spread of all is at a minimum that the
//! slop allows, it counts 1 / (1 + spread). Of a term that the phrase has twice, each needs an occurrence of its own.

use super::budget::Clock;
use super::leaf::{ListSource, PositionSource};
use super::run::{Terms, View};
use super::similarity::{Scorer, Similarity};
use crate::codec::{BLOCK, Impact, ListCursor, NO_MORE, PostingPlace};
use crate::error::Result;

/// Documents that contain a phrase.
pub(super) struct PhraseCursor<'s, S> {
    matcher: PhraseMatcher<'s>,
    scorers: PhraseScorers<'s, S>,
    clock: Clock<'s>,
    doc: u32,
    /// What the phrase counts in the document at hand.
    freq: f32,
}

impl<'s, S: Similarity> PhraseCursor<'s, S> {
    /// At the first document with the phrase.
    pub(super) fn new(matcher: PhraseMatcher<'s>, scorers: PhraseScorers<'s, S>, clock: Clock<'s>) -> Self {
        let mut cursor = PhraseCursor { matcher, scorers, clock, doc: 0, freq: 0.0 };
        cursor.advance(0);
        cursor
    }

    pub(super) fn doc(&self) -> u32 {
        self.doc
    }

    /// Moves to the first document with the phrase that is not below `target`; never back.
    pub(super) fn advance(&mut self, target: u32) -> u32 {
        if self.doc >= target && self.freq > 0.0 || self.doc == NO_MORE {
            return self.doc;
        }
        let mut target = target;
        loop {
            self.doc = self.agree(target);
            if self.doc == NO_MORE {
                return NO_MORE;
            }
            self.freq = self.matcher.freq(self.doc);
            if self.matcher.corrupt || self.clock.is_up() && self.freq == 0.0 {
                self.doc = NO_MORE;
                return NO_MORE;
            }
            if self.freq > 0.0 {
                return self.doc;
            }
            target = self.doc + 1;
        }
    }

    /// The first document from `target` on that has all terms.
    fn agree(&mut self, target: u32) -> u32 {
        let mut doc = target;
        loop {
            let lists = self.matcher.terms.iter_mut();
            let reached = lists.map(|term| term.list.advance(doc)).max().unwrap_or(NO_MORE);
            if reached == doc || reached == NO_MORE {
                return reached;
            }
            doc = reached;
        }
    }

    /// The score of the document at hand.
    pub(super) fn score(&self) -> f32 {
        self.scorers.score(self.doc, self.freq)
    }

    /// True if a list turned out damaged.
    pub(super) fn corrupt(&self) -> bool {
        self.matcher.corrupt()
    }
}

impl<S> Terms<'_, S> {
    /// What counts a phrase of terms with their places; `lists` are theirs.
    ///
    /// # Errors
    /// [`Error::Options`](crate::Error::Options) if the leaf keeps no positions.
    pub(super) fn phrase_matcher<'s>(
        &self,
        view: &View<'s>,
        terms: &[(u32, usize)],
        slop: u32,
        lists: &[&'s ListSource<'s>],
    ) -> Result<PhraseMatcher<'s>> {
        let mut parts = Vec::with_capacity(terms.len());
        for (&(place, term), &source) in terms.iter().zip(lists) {
            let found = self.refs[term].unwrap_or_default();
            let positions = view.through(self.plan.field_of(term)).positions(&found)?;
            let list = self.cursor(view, term, source)?;
            parts.push((PhraseTerm { list, positions }, Occurrences::new(place, term)));
        }
        Ok(PhraseMatcher::new(parts, slop))
    }
}

impl<'t, S: Similarity> Terms<'t, S> {
    /// What scores a phrase of at least one term.
    pub(super) fn phrase_scorers<'s>(
        &self,
        view: &View<'s>,
        terms: &[(u32, usize)],
        boost: f32,
    ) -> PhraseScorers<'s, S>
    where
        't: 's,
    {
        let field = terms.first().map_or(0, |&(_, first)| self.plan.field_of(first));
        let weights = terms.iter().map(|&(_, term)| self.weights[term]);
        let weights =
            if self.similarities[field].weights_add() { vec![weights.sum()] } else { weights.collect() };
        let scorer = |weight| self.scorer(view, field, self.similarities[field].boosted(weight, boost));
        PhraseScorers(weights.into_iter().map(scorer).collect())
    }
}

/// What each term of a phrase adds to the score, or all together.
pub(super) struct PhraseScorers<'s, S>(pub(super) Vec<Scorer<'s, S>>);

impl<S: Similarity> PhraseScorers<'_, S> {
    /// The score of a document where the phrase counts `freq`.
    pub(super) fn score(&self, doc: u32, freq: f32) -> f32 {
        self.0.iter().map(|scorer| scorer.score_freq(doc, freq)).sum()
    }

    /// Adds bounds of the scores that documents would have where the phrase counts `freqs`; not more than a block of them.
    pub(super) fn add_all(&self, (docs, freqs): (&[u32], &[u32]), sums: &mut [f64]) {
        let mut scores = [0.0; BLOCK];
        let scores = &mut scores[..docs.len()];
        for scorer in &self.0 {
            scorer.score_all((docs, freqs), scores);
            for (sum, &score) in sums.iter_mut().zip(&*scores) {
                *sum += f64::from(score) * self.slack();
            }
        }
    }

    /// What a sum in 64 bits lacks to a bound of one in 32.
    fn slack(&self) -> f64 {
        1.0 + 1e-7 * self.0.len().saturating_sub(1) as f64
    }

    /// The highest score where no document has the phrase more often than `impacts` say.
    pub(super) fn bound(&self, impacts: &[Impact]) -> f64 {
        self.slack() * self.0.iter().map(|scorer| f64::from(scorer.bound(impacts))).sum::<f64>()
    }
}

/// A term of a phrase: its documents, and where in them it stands.
pub(super) struct PhraseTerm<'s> {
    pub(super) list: ListCursor<'s>,
    pub(super) positions: PositionSource<'s>,
}

/// Counts a phrase in documents that have all of its terms.
pub(super) struct PhraseMatcher<'s> {
    terms: Vec<PhraseTerm<'s>>,
    occurrences: Vec<Occurrences>,
    slop: u32,
    /// Where the phrase may begin, as far as the terms looked at say.
    starts: Vec<u32>,
    corrupt: bool,
}

impl<'s> PhraseMatcher<'s> {
    /// Each term has its place in the phrase and its number.
    pub(super) fn new(mut terms: Vec<(PhraseTerm<'s>, Occurrences)>, slop: u32) -> Self {
        let first = terms.iter().map(|(_, occurrences)| occurrences.offset).min().unwrap_or(0);
        for (number, (_, occurrences)) in terms.iter_mut().enumerate() {
            (occurrences.number, occurrences.offset) = (number, occurrences.offset - first);
        }
        if slop == 0 {
            // What is rare leaves the least to do. With slop the order is part of how it counts.
            terms.sort_by_key(|(term, _)| term.list.doc_freq());
        }
        let (terms, occurrences) = terms.into_iter().unzip();
        PhraseMatcher { terms, occurrences, slop, starts: Vec::new(), corrupt: false }
    }

    /// True if a place may count for more than each term alone.
    pub(super) fn is_sloppy(&self) -> bool {
        self.slop > 0
    }

    /// What the phrase counts in `doc`; 0 if something turned out damaged.
    pub(super) fn freq(&mut self, doc: u32) -> f32 {
        self.count(|_, term| match term.list.seek(doc) == doc {
            true => term.positions.of_current(&mut term.list),
            false => Some(&[]),
        })
    }

    /// The same in a document that has all terms, where for each of them, in the order in which they were given, it is known
    /// where its posting is and how often the term occurs.
    #[inline]
    pub(super) fn freq_at(&mut self, doc: u32, posting: impl Fn(usize) -> (PostingPlace, u32)) -> f32 {
        self.count(|number, term| {
            let (place, tf) = posting(number);
            term.positions.at(doc, place, tf)
        })
    }

    /// What the phrase counts where `positions` says for each term where it stands.
    #[inline]
    fn count<F>(&mut self, positions: F) -> f32
    where
        F: for<'p> Fn(usize, &'p mut PhraseTerm<'s>) -> Option<&'p [u32]>,
    {
        let freq = if self.slop == 0 { self.exact(positions) } else { self.sloppy(positions) };
        self.corrupt |= freq.is_none();
        freq.unwrap_or(0.0)
    }

    /// Terms that cannot change anything any more are not read.
    #[inline]
    fn exact<F>(&mut self, positions: F) -> Option<f32>
    where
        F: for<'p> Fn(usize, &'p mut PhraseTerm<'s>) -> Option<&'p [u32]>,
    {
        for (place, (term, occurrences)) in self.terms.iter_mut().zip(&self.occurrences).enumerate() {
            let positions = positions(occurrences.number, term)?;
            if place == 0 {
                all_starts(positions, occurrences.offset, &mut self.starts);
            } else {
                keep_starts(positions, occurrences.offset, &mut self.starts);
            }
            if self.starts.is_empty() {
                return Some(0.0);
            }
        }
        Some(self.starts.len() as f32)
    }

    fn sloppy<F>(&mut self, positions: F) -> Option<f32>
    where
        F: for<'p> Fn(usize, &'p mut PhraseTerm<'s>) -> Option<&'p [u32]>,
    {
        for (term, occurrences) in self.terms.iter_mut().zip(&mut self.occurrences) {
            let positions = positions(occurrences.number, term)?;
            occurrences.positions.clear();
            occurrences.positions.extend_from_slice(positions);
        }
        Some(sloppy(&mut self.occurrences, self.slop))
    }

    /// True if a list turned out damaged.
    pub(super) fn corrupt(&self) -> bool {
        self.corrupt || self.terms.iter().any(|term| term.list.corrupt())
    }
}

/// The occurrences of one term of a phrase in a document.
#[derive(Debug, Default)]
pub(super) struct Occurrences {
    /// The place of the term in the phrase.
    pub(super) offset: u32,
    /// Which of the terms it is, in the order in which they were given.
    number: usize,
    /// Terms of the phrase with the same number are the same.
    pub(super) group: usize,
    /// Ascending.
    pub(super) positions: Vec<u32>,
    /// Which of them is looked at.
    at: usize,
}

impl Occurrences {
    pub(super) fn new(offset: u32, group: usize) -> Self {
        Occurrences { offset, number: 0, group, positions: Vec::new(), at: 0 }
    }

    /// Where the phrase would begin.
    fn start(&self) -> i64 {
        self.positions.get(self.at).map_or(i64::MAX, |&at| i64::from(at)) - i64::from(self.offset)
    }

    /// Goes to the next occurrence; false if there is none.
    fn step(&mut self) -> bool {
        self.at += 1;
        self.at < self.positions.len()
    }
}

/// Every place where a phrase could begin that has a term of these positions at `offset`.
fn all_starts(positions: &[u32], offset: u32, starts: &mut Vec<u32>) {
    starts.clear();
    starts.extend(positions.iter().filter_map(|position| position.checked_sub(offset)));
}

/// Leaves of `starts`, which rise, those that such a term allows.
fn keep_starts(positions: &[u32], offset: u32, starts: &mut Vec<u32>) {
    if let ([start], [position]) = (&starts[..], positions) {
        // What is mostly so.
        if position.checked_sub(offset) != Some(*start) {
            starts.clear();
        }
        return;
    }
    let mut left = positions;
    starts.retain(|&start| {
        let wanted = start.saturating_add(offset);
        while left.first().is_some_and(|&position| position < wanted) {
            left = &left[1..];
        }
        left.first() == Some(&wanted)
    });
}

/// What the phrase counts if its terms may be moved by `slop` places.
pub(super) fn sloppy(terms: &mut [Occurrences], slop: u32) -> f32 {
    Sloppy::new(terms).map_or(0.0, |mut phrase| phrase.count(i64::from(slop)))
}

/// The terms on their way through a document.
struct Sloppy<'t> {
    terms: &'t mut [Occurrences],
    /// Numbers of the terms, the one that is furthest behind first.
    queue: Vec<usize>,
    /// Where the term is that is furthest ahead.
    end: i64,
}

impl<'t> Sloppy<'t> {
    /// All terms at their first occurrences; `None` if some cannot have one of its own.
    fn new(terms: &'t mut [Occurrences]) -> Option<Self> {
        if terms.iter().any(|term| term.positions.is_empty()) {
            return None;
        }
        terms.iter_mut().for_each(|term| term.at = 0);
        for number in 0..terms.len() {
            let group = terms[number].group;
            let before = terms[..number].iter().filter(|term| term.group == group).count();
            for _ in 0..before {
                if !terms[number].step() {
                    return None;
                }
            }
        }
        let end = terms.iter().map(Occurrences::start).max()?;
        let mut phrase = Sloppy { queue: Vec::new(), terms, end };
        (0..phrase.terms.len()).for_each(|number| phrase.enqueue(number));
        Some(phrase)
    }

    fn order(&self, number: usize) -> (i64, u32, usize) {
        (self.terms[number].start(), self.terms[number].offset, number)
    }

    fn enqueue(&mut self, number: usize) {
        let place = self.queue.partition_point(|&other| self.order(other) < self.order(number));
        self.queue.insert(place, number);
    }

    fn count(&mut self, slop: i64) -> f32 {
        let mut sum = 0.0;
        let (mut spread, mut goes_on) = self.next_minimum(slop);
        loop {
            if spread <= slop {
                sum += 1.0 / (1.0 + spread as f32);
            }
            if !goes_on {
                return sum;
            }
            (spread, goes_on) = self.next_minimum(slop);
        }
    }

    /// Moves on to where the spread is at a minimum that `slop` allows; false if the document has no more after it.
    fn next_minimum(&mut self, slop: i64) -> (i64, bool) {
        let mut last = self.queue.remove(0);
        let mut spread = self.end - self.terms[last].start();
        let mut next = self.next_start();
        while self.advance(last) {
            if !self.separate(last) {
                break;
            }
            let start = self.terms[last].start();
            if start > next {
                self.enqueue(last);
                if spread <= slop {
                    return (spread, true);
                }
                last = self.queue.remove(0);
                next = self.next_start();
                spread = self.end - self.terms[last].start();
            } else {
                spread = spread.min(self.end - start);
            }
        }
        (spread, false)
    }

    fn next_start(&self) -> i64 {
        self.queue.first().map_or(i64::MAX, |&next| self.terms[next].start())
    }

    fn advance(&mut self, number: usize) -> bool {
        let moved = self.terms[number].step();
        if moved {
            self.end = self.end.max(self.terms[number].start());
        }
        moved
    }

    /// Has no two terms of a group stand at the same occurrence: the one that is behind goes on. False at the end.
    fn separate(&mut self, first: usize) -> bool {
        let (mut number, mut others_moved) = (first, false);
        while let Some(other) = self.same_place(number) {
            let key = |number: usize| (self.terms[number].start(), self.terms[number].offset);
            number = if key(number) < key(other) { number } else { other };
            if !self.advance(number) {
                return false;
            }
            others_moved |= number != first;
        }
        if others_moved {
            let queued = std::mem::take(&mut self.queue);
            queued.into_iter().for_each(|number| self.enqueue(number));
        }
        true
    }

    /// Another term of the group at the same occurrence.
    fn same_place(&self, number: usize) -> Option<usize> {
        let one = &self.terms[number];
        let same = |other: &Occurrences| other.group == one.group && other.at == one.at;
        (0..self.terms.len()).find(|&other| other != number && same(&self.terms[other]))
    }
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "test data is small")]
mod tests {
    use super::*;

    /// Occurrences of the terms of a phrase, which stand in it one after the other, in a text.
    fn occurrences(phrase: &str, text: &str) -> Vec<Occurrences> {
        let terms: Vec<&str> = phrase.split(' ').collect();
        let one = |(place, term): (usize, &&str)| {
            let group = terms.iter().position(|other| other == term).unwrap();
            let at = text.split(' ').enumerate().filter(|(_, word)| word == term).map(|(at, _)| at as u32);
            Occurrences { positions: at.collect(), ..Occurrences::new(place as u32, group) }
        };
        terms.iter().enumerate().map(one).collect()
    }

    fn exact(terms: &[Occurrences]) -> usize {
        let mut starts = Vec::new();
        all_starts(&terms[0].positions, terms[0].offset, &mut starts);
        terms[1..].iter().for_each(|term| keep_starts(&term.positions, term.offset, &mut starts));
        starts.len()
    }

    fn counted(phrase: &str, text: &str, slop: u32) -> f32 {
        sloppy(&mut occurrences(phrase, text), slop)
    }

    #[test]
    fn a_sloppy_phrase_counts_less_the_farther_its_terms_are_apart() {
        for (phrase, text, slop, expected) in [
            ("a b", "a b", 1, 1.0),
            ("a b", "a x b", 1, 0.5),
            ("a b", "a x x b", 1, 0.0),
            ("a b", "a x x b", 2, 1.0 / 3.0),
            // To swap two neighbours takes two moves.
            ("a b", "b a", 1, 0.0),
            ("a b", "b a", 2, 1.0 / 3.0),
            ("a b", "a b x a b", 1, 2.0),
            ("a b c", "a x b c", 1, 0.5),
            ("a b c", "a x b x c", 1, 0.0),
            ("a b c", "a x b x c", 2, 1.0 / 3.0),
            // Each of two equal terms needs an occurrence of its own.
            ("a a", "a", 5, 0.0),
            ("a a", "a a", 1, 1.0),
            ("a a", "a x a", 1, 0.5),
            ("a b a", "a b", 9, 0.0),
            ("a b a", "a b a", 1, 1.0),
        ] {
            let found = counted(phrase, text, slop);
            assert!((found - expected).abs() < 1e-6, "{phrase} in {text} with {slop}: {found}");
        }
    }

    #[test]
    fn without_repeated_terms_a_sloppy_phrase_is_where_some_spread_is_small_enough() {
        let seed = 0x5eed_0931;
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..3_000 {
            let words = ["a", "b", "c", "x", "y"];
            let text: Vec<&str> = (0..random.usize(1..12)).map(|_| words[random.usize(..5)]).collect();
            let (text, slop) = (text.join(" "), random.u32(1..6));
            let phrase = ["a b", "a b c", "c a"][random.usize(..3)];
            let all = occurrences(phrase, &text);
            let mut starts: Vec<Vec<i64>> = vec![Vec::new()];
            for term in &all {
                let here = term.positions.iter().map(|&at| i64::from(at) - i64::from(term.offset));
                let here: Vec<i64> = here.collect();
                let with = |start: &Vec<i64>| {
                    here.iter().map(|&at| [&start[..], &[at]].concat()).collect::<Vec<_>>()
                };
                starts = starts.iter().flat_map(with).collect();
            }
            let spread = |start: &Vec<i64>| start.iter().max().unwrap() - start.iter().min().unwrap();
            let expected = starts.iter().any(|start| spread(start) <= i64::from(slop));
            let found = counted(phrase, &text, slop);
            assert_eq!(
                found > 0.0,
                expected,
                "seed {seed:x} round {round}: {phrase} in {text} with {slop}: {found}"
            );
            let exactly = exact(&occurrences(phrase, &text));
            let plain = starts.iter().filter(|start| spread(start) == 0).count();
            assert_eq!(exactly, plain, "seed {seed:x} round {round}: {phrase} in {text}");
        }
    }
}
