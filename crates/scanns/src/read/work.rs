//! The work list: all inputs as units, taken by the readers in input order, and what became of them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::read::lines::{LineChain, Part};
use crate::schema::Records;
use crate::source::{Failure, Input};

/// What one lane reads in one go: a file, or the lines that begin in a range of it.
#[derive(Debug)]
pub(super) struct Unit {
    pub(super) input: u32,
    /// Lines that begin before this offset belong to an earlier unit.
    pub(super) start: u64,
    /// Lines that begin at or after this offset belong to a later unit; `None`: the unit ends with the file.
    pub(super) end: Option<u64>,
    /// Set where the file is cut into several units.
    pub(super) part: Option<Part>,
}

/// What readers share: the list of units and the counters.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) inputs: Arc<Vec<Input>>,
    pub(super) cancel: Arc<AtomicBool>,
    /// Size of units where files may be cut.
    chunk: Option<u64>,
    cursor: Mutex<Cursor>,
    bytes: AtomicU64,
    files_done: AtomicU64,
    failures: Mutex<BTreeMap<u32, String>>,
}

#[derive(Debug, Default)]
struct Cursor {
    input: usize,
    start: u64,
    unit: usize,
    chain: Arc<LineChain>,
}

impl Work {
    pub(super) fn new(
        inputs: Arc<Vec<Input>>,
        records: Records,
        chunk: u64,
        cancel: Arc<AtomicBool>,
    ) -> Self {
        Work {
            inputs,
            cancel,
            chunk: (records == Records::Lines).then_some(chunk.max(1)),
            cursor: Mutex::default(),
            bytes: AtomicU64::new(0),
            files_done: AtomicU64::new(0),
            failures: Mutex::default(),
        }
    }

    /// The next unit, in order of inputs and offsets.
    pub(super) fn next(&self) -> Option<Unit> {
        let mut guard = self.cursor.lock().unwrap_or_else(PoisonError::into_inner);
        let cursor = &mut *guard;
        let bytes = self.inputs.get(cursor.input)?.bytes;
        let input = u32::try_from(cursor.input).ok()?;
        let end = self.chunk.map(|chunk| cursor.start.saturating_add(chunk)).filter(|&end| end < bytes);
        let cut = cursor.start > 0 || end.is_some();
        let part = cut.then(|| Part::new(Arc::clone(&cursor.chain), cursor.unit));
        let unit = Unit { input, start: cursor.start, end, part };
        *cursor = match end {
            Some(start) => {
                Cursor { input: cursor.input, start, unit: cursor.unit + 1, chain: Arc::clone(&cursor.chain) }
            }
            None => Cursor { input: cursor.input + 1, ..Cursor::default() },
        };
        Some(unit)
    }

    /// How many units `input` is cut into.
    fn units_of(&self, input: u32) -> usize {
        let bytes = self.inputs.get(input as usize).map_or(0, |input| input.bytes);
        self.chunk.map_or(1, |chunk| usize::try_from(bytes.div_ceil(chunk).max(1)).unwrap_or(usize::MAX))
    }

    /// Ends `unit`, and its file where all of its units have ended.
    pub(super) fn finish(&self, unit: &mut Unit) {
        let ended = unit.part.as_mut().map_or(1, Part::publish);
        if unit.part.is_none() || ended == self.units_of(unit.input) {
            self.files_done.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Lists `input` as failed; the first reason stays.
    pub(super) fn fail(&self, input: u32, error: &std::io::Error) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.entry(input).or_insert_with(|| error.to_string());
    }

    pub(super) fn count_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Bytes handed on so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Files that have been read to their end, failed ones included.
    pub(super) fn files_done(&self) -> u64 {
        self.files_done.load(Ordering::Relaxed)
    }

    /// Every failed input once, in input order.
    pub(super) fn failures(&self) -> Vec<Failure> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let failure = |(&input, reason): (&u32, &String)| {
            let path = self.inputs.get(input as usize)?.path.clone();
            Some(Failure { path, reason: reason.clone() })
        };
        failures.iter().filter_map(failure).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(sizes: &[u64], records: Records) -> Work {
        let input = |&bytes: &u64| Input { path: format!("{bytes}").into(), bytes };
        Work::new(Arc::new(sizes.iter().map(input).collect()), records, 100, Arc::default())
    }

    #[test]
    fn lines_cut_large_files_into_adjacent_units_and_files_stay_whole() {
        let units = |work: Work| {
            std::iter::from_fn(|| work.next().map(|u| (u.input, u.start, u.end, u.part.is_some())))
                .collect::<Vec<_>>()
        };
        let whole = |input| (input, 0, None, false);
        assert_eq!(units(work(&[250, 0, 100], Records::File)), [whole(0), whole(1), whole(2)]);
        assert_eq!(
            units(work(&[250, 0, 100, 101], Records::Lines)),
            [
                (0, 0, Some(100), true),
                (0, 100, Some(200), true),
                (0, 200, None, true),
                whole(1),
                whole(2),
                (3, 0, Some(100), true),
                (3, 100, None, true),
            ]
        );
    }

    #[test]
    fn a_file_is_done_when_its_last_unit_is_and_fails_once() {
        let work = work(&[250, 5], Records::Lines);
        let mut units: Vec<_> = std::iter::from_fn(|| work.next()).collect();
        for (i, done) in [(2, 0), (0, 0), (3, 1), (1, 2)] {
            work.finish(&mut units[i]);
            assert_eq!(work.files_done(), done, "after unit {i}");
        }
        work.fail(0, &std::io::Error::other("first"));
        work.fail(0, &std::io::Error::other("second"));
        assert_eq!(work.failures(), [Failure { path: "250".into(), reason: "first".into() }]);
    }
}
