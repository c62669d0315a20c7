//! Counts by number: numbers of terms in a dictionary, of values, or of intervals.
//!
//! With many documents an array is fastest; with few, zeroing it would cost more than counting. So counts
//! begin in a hash table and move to an array as soon as its zeros no longer matter.
//!
//! If only the set of numbers matters, a number takes one bit of the array. Ten million terms then take 1.2
//! MiB, which stays in the cache, instead of 76 MiB.
//!
//! Adding to a count waits for the previous addition if that was to the same count, and most columns with few
//! values have one value that most documents share. So with few numbers each has several counts, which take
//! turns.

use hashbrown::HashMap;

use super::match_reader::ValueRun;
use crate::codec::count_ones;
use crate::error::{Error, Result};
use crate::sys::try_filled;

/// Maximum number of distinct numbers in a hash table.
const MOST: usize = 1 << 24;

/// An array of this many numbers always pays.
const SMALL: u64 = 256;

/// An array of bits pays up to this many numbers per document.
const MARKS: u64 = 1_024;

/// The same limit for an array of counts, eight bytes per number.
const COUNTS: u64 = 16;

/// Counts per number in an array of few numbers.
const TURNS: usize = 4;

/// Maximum number of numbers in an array.
const LARGE: u64 = 1 << 28;

/// Counts by number.
#[derive(Debug)]
pub(crate) struct NumberCounts {
    /// The least number, and how many numbers there are from it on.
    least: u64,
    room: u64,
    seen: u64,
    few: HashMap<u64, u64>,
    /// By number, or a bit for each. Few numbers have [`TURNS`] such arrays, one after the other.
    all: Vec<u64>,
    /// True if only the set of numbers matters.
    marks: bool,
}

impl NumberCounts {
    /// Creates counts of numbers from `least` to `most`. With `marks`, only the set of numbers is kept, and
    /// counts are meaningless.
    pub(crate) fn new(least: u64, most: u64, marks: bool) -> Self {
        let room = most.saturating_sub(least).saturating_add(1);
        let mut counts = NumberCounts { least, room, seen: 0, few: HashMap::new(), all: Vec::new(), marks };
        if room <= SMALL {
            counts.all = vec![0; counts.words()];
        }
        counts
    }

    /// The length of the arrays.
    fn words(&self) -> usize {
        let words = match (self.marks, self.room) {
            (true, room) => room.div_ceil(64),
            (false, room @ ..=SMALL) => room * TURNS as u64,
            (false, room) => room,
        };
        usize::try_from(words).unwrap_or(0)
    }

    /// Moves to an array.
    fn spread(&mut self) -> Result<()> {
        self.all = try_filled(0, self.words(), "count values")?;
        for (number, count) in std::mem::take(&mut self.few) {
            self.add(number, count);
        }
        Ok(())
    }

    /// Prepares for the numbers of this many more documents. To be called once per batch.
    ///
    /// # Errors
    /// [`Error::TooMany`] if there are too many different numbers, [`Error::OutOfMemory`] without memory for
    /// them.
    pub(crate) fn expect(&mut self, documents: u64) -> Result<()> {
        self.seen += documents;
        let worth = self.room / if self.marks { MARKS } else { COUNTS };
        if self.all.is_empty() && self.room <= LARGE && self.seen >= worth {
            self.spread()?;
        } else if self.all.is_empty() {
            let more = documents.min(self.room);
            self.few.reserve(usize::try_from(more).unwrap_or(0));
        }
        if self.few.len() > MOST {
            return Err(Error::TooMany {
                what: "distinct values to count",
                limit: MOST as u64,
                remedy: "use ranges, or a wider interval",
            });
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn add(&mut self, number: u64, count: u64) {
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

    /// Counts the values of a run, each once per document.
    ///
    /// An array takes about a nanosecond for a value that is in the cache.
    #[inline]
    pub(crate) fn add_run(&mut self, run: ValueRun<'_>) {
        match run {
            ValueRun::Same(value, documents) => self.add(value, documents),
            ValueRun::Singles(values) if self.marks && !self.all.is_empty() => {
                values.iter().for_each(|&value| self.mark(value));
            }
            ValueRun::Singles(values) if self.room <= SMALL => self.take_turns(values),
            ValueRun::Singles(values) if !self.all.is_empty() => {
                for &value in values {
                    if let Some(slot) = self.slot(value) {
                        *slot += 1;
                    }
                }
            }
            ValueRun::Singles(values) => values.iter().for_each(|&value| self.add(value, 1)),
            ValueRun::Document(values) => each_once(values, |value| self.add(value, 1)),
        }
    }

    /// Counts values if there are few different ones.
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

    /// Counts the numbers to which `of` maps the values of a run, each once per document.
    #[inline]
    pub(crate) fn add_run_by(&mut self, run: ValueRun<'_>, of: impl Fn(u64) -> Option<u64>) {
        match run {
            ValueRun::Same(value, documents) => {
                if let Some(number) = of(value) {
                    self.add(number, documents);
                }
            }
            ValueRun::Singles(values) => {
                values.iter().filter_map(|&value| of(value)).for_each(|number| self.add(number, 1))
            }
            ValueRun::Document(values) => {
                let numbers: Vec<u64> = values.iter().filter_map(|&value| of(value)).collect();
                each_once(&numbers, |number| self.add(number, 1));
            }
        }
    }

    /// Returns the number of distinct numbers that were counted, with `marks`.
    pub(crate) fn distinct(&self) -> u64 {
        debug_assert!(self.marks);
        count_ones(&self.all) + self.few.len() as u64
    }

    /// All counted numbers, ascending, with their counts.
    pub(crate) fn sorted(self) -> Vec<(u64, u64)> {
        let mut all = self.pairs();
        all.sort_unstable();
        all
    }

    /// Returns all counted numbers with their counts, in any order.
    pub(crate) fn pairs(mut self) -> Vec<(u64, u64)> {
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
        // If few documents were counted, most words are zero.
        for (counts, first) in self.all.chunks(8).zip((0u64..).step_by(8)) {
            if counts.iter().fold(0, |all, count| all | count) != 0 {
                let counted = counts.iter().zip(first..).filter(|(count, _)| **count > 0);
                found.extend(counted.map(|(&count, place)| (self.least + place, count)));
            }
        }
        found
    }
}

/// Calls `visit` with each distinct number.
#[inline]
pub(crate) fn each_once(numbers: &[u64], mut visit: impl FnMut(u64)) {
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
            let mut counts = NumberCounts::new(least, least + room - 1, false);
            let mut marks = NumberCounts::new(least, least + room - 1, true);
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
                        [value] => one.add_run(ValueRun::Same(*value, 1)),
                        values => one.add_run(ValueRun::Singles(values)),
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
