//! Counts by number: of terms by their numbers in a dictionary, of values, of intervals.
//!
//! Where there are many documents an array is fastest, where there are few its zeros would cost more than they. So counts begin
//! in a hash table, and move to an array as soon as so many were counted that its zeros do not matter.

use std::collections::HashMap;

use super::read::Run;
use crate::error::{Error, Result};

/// Most different numbers that are counted in a hash table.
const MOST: usize = 1 << 24;

/// An array of so many numbers is worth it in any case.
const SMALL: u64 = 256;

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
    all: Vec<u64>,
}

impl Counts {
    /// Of numbers from `least` to `most`.
    pub(super) fn new(least: u64, most: u64) -> Self {
        let room = most.saturating_sub(least).saturating_add(1);
        let mut counts = Counts { least, room, seen: 0, few: HashMap::new(), all: Vec::new() };
        if room <= SMALL {
            counts.spread();
        }
        counts
    }

    /// Moves to an array.
    fn spread(&mut self) {
        self.all = vec![0; usize::try_from(self.room).unwrap_or(0)];
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
        if self.all.is_empty() && self.room <= LARGE && self.seen >= self.room / 16 {
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
        } else if let Some(slot) = self.slot(number) {
            *slot += count;
        }
    }

    #[inline]
    fn slot(&mut self, number: u64) -> Option<&mut u64> {
        self.all.get_mut(usize::try_from(number.wrapping_sub(self.least)).ok()?)
    }

    /// Counts the values of a run themselves, each once for a document.
    ///
    /// An array takes about a nanosecond for a value that is in the cache.
    #[inline]
    pub(super) fn add_run(&mut self, run: Run<'_>) {
        match run {
            Run::Same(value, documents) => self.add(value, documents),
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

    /// All numbers that were counted, ascending, with how often.
    pub(super) fn sorted(self) -> Vec<(u64, u64)> {
        let mut few: Vec<(u64, u64)> = self.few.into_iter().collect();
        few.sort_unstable();
        let counted = self.all.into_iter().zip(0u64..).filter(|(count, _)| *count > 0);
        few.extend(counted.map(|(count, place)| (self.least + place, count)));
        few
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
