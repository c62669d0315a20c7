//! Counts by number: of terms by their numbers in a dictionary, of values, of intervals.
//!
//! Where there are many documents an array is fastest, where there are few its zeros would cost more than they. So counts begin
//! in a hash table, and move to an array as soon as so many were counted that its zeros do not matter.
//!
//! Where it matters only which numbers came, a number takes a bit of the array: of ten million terms that is 1.2 MiB, which
//! stays in the cache, instead of 76 MiB.
//!
//! A processor that adds to a count waits for the one before if that was the same. Most columns with few values have one that
//! most documents have; so few numbers have several counts each, which take turns.

use hashbrown::HashMap;

use super::read::Run;
use crate::codec::count_ones;
use crate::error::{Error, Result};

/// Most different numbers that are counted in a hash table.
const MOST: usize = 1 << 24;

/// An array of so many numbers is worth it in any case.
const SMALL: u64 = 256;

/// An array is worth it once so many of its numbers would come for each document, if a number takes a bit.
const MARKS: u64 = 1_024;

/// The same if it takes eight bytes.
const COUNTS: u64 = 16;

/// Counts of a number of an array with few numbers.
const TURNS: usize = 4;

/// Most numbers of an array.
const LARGE: u64 = 1 << 28;

/// See the module.
#[derive(Debug)]
pub(super) struct Counts {
    /// The least number that may come, and how many may from there on.
    least: u64,
    room: u64,
    seen: u64,
    few: HashMap<u64, u64>,
    /// By number, or a bit for each; few numbers have [`TURNS`] such arrays, one behind the other.
    all: Vec<u64>,
    /// True if only that matters which numbers came.
    marks: bool,
}

impl Counts {
    /// Of numbers from `least` to `most`. With `marks`, numbers that came have some count.
    pub(super) fn new(least: u64, most: u64, marks: bool) -> Self {
        let room = most.saturating_sub(least).saturating_add(1);
        let mut counts = Counts { least, room, seen: 0, few: HashMap::new(), all: Vec::new(), marks };
        if room <= SMALL {
            counts.spread();
        }
        counts
    }

    /// Moves to an array.
    fn spread(&mut self) {
        let words = match (self.marks, self.room) {
            (true, room) => room.div_ceil(64),
            (false, room @ ..=SMALL) => room * TURNS as u64,
            (false, room) => room,
        };
        self.all = vec![0; usize::try_from(words).unwrap_or(0)];
        for (number, count) in std::mem::take(&mut self.few) {
            self.add(number, count);
        }
    }

    /// Makes ready for so many more. To be called once per window.
    ///
    /// # Errors
    /// [`Error::Options`] if there are too many different numbers.
    pub(super) fn expect(&mut self, documents: u64) -> Result<()> {
        self.seen += documents;
        let worth = self.room / if self.marks { MARKS } else { COUNTS };
        if self.all.is_empty() && self.room <= LARGE && self.seen >= worth {
            self.spread();
        } else if self.all.is_empty() {
            let more = documents.min(self.room);
            self.few.reserve(usize::try_from(more).unwrap_or(0));
        }
        if self.few.len() > MOST {
            let why = "there are more than 16,777,216 different values to count: ask for ranges, or a wider interval";
            return Err(Error::Options(why.into()));
        }
        Ok(())
    }

    #[inline]
    pub(super) fn add(&mut self, number: u64, count: u64) {
        if self.all.is_empty() {
            *self.few.entry(number).or_default() += count;
        } else if self.marks {
            self.mark(number);
        } else if let Some(slot) = self.slot(number) {
            *slot += count;
        }
    }

    #[inline]
    fn slot(&mut self, number: u64) -> Option<&mut u64> {
        self.all.get_mut(usize::try_from(number.wrapping_sub(self.least)).ok()?)
    }

    #[inline]
    fn mark(&mut self, number: u64) {
        let place = number.wrapping_sub(self.least);
        if let Some(word) = usize::try_from(place / 64).ok().and_then(|at| self.all.get_mut(at)) {
            *word |= 1 << (place % 64);
        }
    }

    /// Counts the values of a run themselves, each once for a document.
    ///
    /// An array takes about a nanosecond for a value that is in the cache.
    #[inline]
    pub(super) fn add_run(&mut self, run: Run<'_>) {
        match run {
            Run::Same(value, documents) => self.add(value, documents),
            Run::Singles(values) if self.marks && !self.all.is_empty() => {
                values.iter().for_each(|&value| self.mark(value));
            }
            Run::Singles(values) if self.room <= SMALL => self.take_turns(values),
            Run::Singles(values) if !self.all.is_empty() => {
                for &value in values {
                    if let Some(slot) = self.slot(value) {
                        *slot += 1;
                    }
                }
            }
            Run::Singles(values) => values.iter().for_each(|&value| self.add(value, 1)),
            Run::Document(values) => each_once(values, |value| self.add(value, 1)),
        }
    }

    /// Counts values of which there are few different ones.
    fn take_turns(&mut self, values: &[u64]) {
        let (least, room) = (self.least, usize::try_from(self.room).unwrap_or(0));
        let (groups, rest) = values.as_chunks::<TURNS>();
        let mut add = |turn: usize, value: u64| {
            let place = usize::try_from(value.wrapping_sub(least)).unwrap_or(usize::MAX);
            if let Some(slot) =
                self.all.get_mut(turn * room..).and_then(|counts| counts.get_mut(..room)?.get_mut(place))
            {
                *slot += 1;
            }
        };
        groups.iter().for_each(|group| (0..).zip(group).for_each(|(turn, &value)| add(turn, value)));
        rest.iter().for_each(|&value| add(0, value));
    }

    /// Counts what the values of a run belong to, each once for a document.
    #[inline]
    pub(super) fn add_run_by(&mut self, run: Run<'_>, of: impl Fn(u64) -> Option<u64>) {
        match run {
            Run::Same(value, documents) => {
                if let Some(number) = of(value) {
                    self.add(number, documents);
                }
            }
            Run::Singles(values) => {
                values.iter().filter_map(|&value| of(value)).for_each(|number| self.add(number, 1))
            }
            Run::Document(values) => {
                let numbers: Vec<u64> = values.iter().filter_map(|&value| of(value)).collect();
                each_once(&numbers, |number| self.add(number, 1));
            }
        }
    }

    /// How many different numbers were marked.
    pub(super) fn distinct(&self) -> u64 {
        debug_assert!(self.marks);
        count_ones(&self.all) + self.few.len() as u64
    }

    /// All numbers that were counted, ascending, with how often.
    pub(super) fn sorted(self) -> Vec<(u64, u64)> {
        let mut all = self.pairs();
        all.sort_unstable();
        all
    }

    /// The same in any order, which is that of numbers for an array.
    pub(super) fn pairs(mut self) -> Vec<(u64, u64)> {
        let mut found: Vec<(u64, u64)> = self.few.into_iter().collect();
        if self.marks {
            for (word, first) in self.all.into_iter().zip((self.least..).step_by(64)) {
                let marked = (0..64).filter(|bit| word >> bit & 1 == 1);
                found.extend(marked.map(|bit| (first + bit, 1)));
            }
            return found;
        }
        if self.room <= SMALL {
            let room = usize::try_from(self.room).unwrap_or(0);
            let (first, others) = self.all.split_at_mut(room);
            for others in others.chunks(room) {
                first.iter_mut().zip(others).for_each(|(count, other)| *count += other);
            }
            self.all.truncate(room);
        }
        // Where few documents were counted most words are zero.
        for (counts, first) in self.all.chunks(8).zip((0u64..).step_by(8)) {
            if counts.iter().fold(0, |all, count| all | count) != 0 {
                let counted = counts.iter().zip(first..).filter(|(count, _)| **count > 0);
                found.extend(counted.map(|(&count, place)| (self.least + place, count)));
            }
        }
        found
    }
}

/// Calls `visit` with each different number.
#[inline]
pub(super) fn each_once(numbers: &[u64], mut visit: impl FnMut(u64)) {
    if numbers.is_sorted() {
        numbers.chunk_by(|a, b| a == b).filter_map(|equal| equal.first()).for_each(|&number| visit(number));
        return;
    }
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.into_iter().for_each(visit);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn numbers_are_counted_as_often_as_they_come_and_marks_are_those() {
        let seed = 0x5eed_3a7c;
        let mut random = fastrand::Rng::with_seed(seed);
        for (room, documents) in [
            (1, 90),
            (3, 1000),
            (100, 50),
            (256, 900),
            (257, 900),
            (100_000, 300),
            (100_000, 50_000),
            (1 << 40, 1000),
        ] {
            let least = random.u64(..1000);
            let mut counts = Counts::new(least, least + room - 1, false);
            let mut marks = Counts::new(least, least + room - 1, true);
            let mut expected = BTreeMap::<u64, u64>::new();
            let mut counted = 0;
            while counted < documents {
                let values: Vec<u64> = (0..random.u64(1..15))
                    .map(|_| least + random.u64(..room).min(random.u64(..room)))
                    .collect();
                counted += values.len();
                values.iter().for_each(|&value| *expected.entry(value).or_default() += 1);
                for one in [&mut counts, &mut marks] {
                    one.expect(values.len() as u64).unwrap();
                    match &values[..] {
                        [value] => one.add_run(Run::Same(*value, 1)),
                        values => one.add_run(Run::Singles(values)),
                    }
                }
            }
            let what = format!("seed {seed:#x}, {documents} of {room}");
            assert_eq!(marks.distinct(), expected.len() as u64, "{what}");
            assert!(
                marks.sorted().into_iter().map(|(number, _)| number).eq(expected.keys().copied()),
                "{what}"
            );
            assert!(counts.sorted().into_iter().eq(expected), "{what}");
        }
    }
}
