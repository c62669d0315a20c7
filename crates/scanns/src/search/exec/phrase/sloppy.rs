//! Counts phrases whose terms may be moved, as Lucene's `SloppyPhraseMatcher` does.
//!
//! Terms move forward, always the one furthest behind. Each time their spread reaches a minimum that the slop
//! allows, it counts 1 / (1 + spread). If the phrase contains a term twice, each of the two needs a separate
//! occurrence.

/// The occurrences of one term of a phrase in a document.
#[derive(Debug, Default)]
pub(crate) struct Occurrences {
    /// The position of the term in the phrase.
    pub(crate) offset: u32,
    /// The number of the term, in the order of the phrase.
    pub(crate) number: usize,
    /// Equal terms of the phrase have the same group.
    pub(crate) group: usize,
    /// Ascending.
    pub(crate) positions: Vec<u32>,
    /// The index of the current position.
    at: usize,
}

impl Occurrences {
    pub(crate) fn new(offset: u32, group: usize) -> Self {
        Occurrences { offset, number: 0, group, positions: Vec::new(), at: 0 }
    }

    /// Where the phrase would begin.
    fn start(&self) -> i64 {
        self.positions.get(self.at).map_or(i64::MAX, |&at| i64::from(at)) - i64::from(self.offset)
    }

    /// Moves to the next occurrence; false at the end.
    fn step(&mut self) -> bool {
        self.at += 1;
        self.at < self.positions.len()
    }
}

/// The frequency of the phrase if its terms may be moved by `slop` positions.
pub(crate) fn sloppy(terms: &mut [Occurrences], slop: u32) -> f32 {
    Sloppy::new(terms).map_or(0.0, |mut phrase| phrase.count(i64::from(slop)))
}

/// The terms on their way through a document.
struct Sloppy<'t> {
    terms: &'t mut [Occurrences],
    /// Numbers of the terms, the one furthest behind first.
    queue: Vec<usize>,
    /// The start of the term furthest ahead.
    end: i64,
}

impl<'t> Sloppy<'t> {
    /// All terms at their first occurrences; `None` if equal terms have too few occurrences.
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

    /// Moves to the next minimum of the spread that `slop` allows; false if the document has no further one.
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

    /// Moves apart terms of a group that are at the same occurrence; the one behind moves. Returns false at
    /// the end.
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
    use crate::search::exec::phrase::{all_starts, keep_starts};

    /// The occurrences in a text of the terms of a phrase, which follow each other.
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
            // Swapping two neighbours takes two moves.
            ("a b", "b a", 1, 0.0),
            ("a b", "b a", 2, 1.0 / 3.0),
            ("a b", "a b x a b", 1, 2.0),
            ("a b c", "a x b c", 1, 0.5),
            ("a b c", "a x b x c", 1, 0.0),
            ("a b c", "a x b x c", 2, 1.0 / 3.0),
            // Each of two equal terms needs a separate occurrence.
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
