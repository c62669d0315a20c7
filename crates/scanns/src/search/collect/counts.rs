//! Counts by number: of terms by their numbers in a dictionary, of values, of intervals.
//!
//! Where there are many documents an array is fastest, where there are few its zeros would cost more than they. So counts begin
//! in a hash table, and move to an array as soon as so many were counted that its zeros do not matter.
//!
//! Where it matters only which numbers came, a number takes a bit of the array: of ten million terms that is 1.2 MiB, which
//! stays in the cache, instead of 76 MiB.

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
    /// By number, or a bit for each.
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
        let words = if self.marks { self.room.div_ceil(64) } else { self.room };
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

    /// How many different numbers were counted.
    pub(super) fn distinct(&self) -> u64 {
        let counted = if self.marks {
            count_ones(&self.all)
        } else {
            self.all.iter().map(|&count| u64::from(count > 0)).sum()
        };
        counted + self.few.len() as u64
    }

    /// All numbers that were counted, ascending, with how often.
    pub(super) fn sorted(self) -> Vec<(u64, u64)> {
        let mut all = self.pairs();
        all.sort_unstable();
        all
    }

    /// The same in any order, which is that of numbers for an array.
    pub(super) fn pairs(self) -> Vec<(u64, u64)> {
        let mut found: Vec<(u64, u64)> = self.few.into_iter().collect();
        if self.marks {
            for (word, first) in self.all.into_iter().zip((self.least..).step_by(64)) {
                let marked = (0..64).filter(|bit| word >> bit & 1 == 1);
                found.extend(marked.map(|bit| (first + bit, 1)));
            }
            return found;
        }
        let counted = self.all.into_iter().zip(0u64..).filter(|(count, _)| *count > 0);
        found.extend(counted.map(|(count, place)| (self.least + place, count)));
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
    use super::*;

    #[test]
    fn marks_are_the_numbers_that_were_counted_few_or_many() {
        let seed = 0x5eed_3a7c;
        let mut random = fastrand::Rng::with_seed(seed);
        for (room, documents) in [(100, 50), (100_000, 300), (100_000, 50_000), (1 << 40, 1000)] {
            let least = random.u64(..1000);
            let mut counts = Counts::new(least, least + room - 1, false);
            let mut marks = Counts::new(least, least + room - 1, true);
            for _ in 0..documents / 10 {
                let values: Vec<u64> = (0..10).map(|_| least + random.u64(..room)).collect();
                for one in [&mut counts, &mut marks] {
                    one.expect(10).unwrap();
                    one.add_run(Run::Singles(&values));
                }
            }
            assert_eq!(counts.distinct(), marks.distinct(), "seed {seed:#x}, of {room}");
            let numbers =
                |counts: Counts| counts.sorted().into_iter().map(|(number, _)| number).collect::<Vec<_>>();
            assert_eq!(numbers(counts), numbers(marks), "seed {seed:#x}, of {room}");
        }
    }
}
