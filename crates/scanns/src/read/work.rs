//! The work list: all inputs as units, taken by the readers in input order, and what became of them.

use std::collections::{BTreeMap, VecDeque};
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
    /// Set when no unit is given out any more.
    closed: AtomicBool,
    /// Size of units where files may be cut.
    chunk: Option<u64>,
    /// By input: what is not to be read, in order.
    done: BTreeMap<u32, Vec<Span>>,
    cursor: Mutex<Cursor>,
    bytes: AtomicU64,
    files_done: AtomicU64,
    failures: Mutex<BTreeMap<u32, String>>,
}

/// Lines of a file that need not be read: they begin at or after `start`, and the next one begins at `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first of them in the file.
    pub start: u64,
    /// Offset of the line after them, or the end of the file.
    pub end: u64,
    /// How many they are.
    pub lines: u64,
}

#[derive(Debug, Default)]
struct Cursor {
    input: usize,
    /// Units of the input before, in order.
    left: VecDeque<Unit>,
}

impl Work {
    pub(super) fn new(
        inputs: Arc<Vec<Input>>,
        done: BTreeMap<u32, Vec<Span>>,
        records: Records,
        chunk: u64,
        cancel: Arc<AtomicBool>,
    ) -> Self {
        Work {
            inputs,
            done,
            cancel,
            closed: AtomicBool::new(false),
            chunk: records.ends_with_lines().then_some(chunk.max(1)),
            cursor: Mutex::default(),
            bytes: AtomicU64::new(0),
            files_done: AtomicU64::new(0),
            failures: Mutex::default(),
        }
    }

    /// The next unit, in order of inputs and offsets.
    pub(super) fn next(&self) -> Option<Unit> {
        let mut cursor = self.cursor.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if self.closed.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(unit) = cursor.left.pop_front() {
                return Some(unit);
            }
            let bytes = self.inputs.get(cursor.input)?.bytes;
            cursor.left = self.units(u32::try_from(cursor.input).ok()?, bytes);
            cursor.input += 1;
        }
    }

    /// Gives out no more units.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// The units of an input. What is done of it is a unit that has ended.
    fn units(&self, input: u32, bytes: u64) -> VecDeque<Unit> {
        let done = self.done.get(&input).map_or(&[][..], Vec::as_slice);
        // Start, end and, if they are done, number of lines.
        let mut cuts: Vec<(u64, Option<u64>, Option<u64>)> = Vec::new();
        let mut at = 0;
        for span in done {
            self.cut(at, span.start, &mut cuts);
            cuts.push((span.start, Some(span.end), Some(span.lines)));
            at = span.end;
        }
        if at < bytes || done.is_empty() {
            self.cut(at, bytes, &mut cuts);
            match cuts.last_mut().filter(|last| last.2.is_none()) {
                Some(last) => last.1 = None,
                None => cuts.push((at, None, None)),
            }
        }
        let chain = Arc::new(LineChain::of(cuts.len()));
        let mut units = VecDeque::with_capacity(cuts.len());
        let whole = cuts.len() == 1;
        for (number, (start, end, lines)) in cuts.into_iter().enumerate() {
            let part = (!whole || lines.is_some()).then(|| Part::new(Arc::clone(&chain), number));
            match (lines, part) {
                (Some(lines), Some(mut part)) => {
                    part.lines = lines;
                    part.publish();
                }
                (_, part) => units.push_back(Unit { input, start, end, part }),
            }
        }
        if units.is_empty() {
            self.files_done.fetch_add(1, Ordering::Relaxed);
        }
        units
    }

    /// Cuts the bytes from `at` to `end` into chunks.
    fn cut(&self, mut at: u64, end: u64, cuts: &mut Vec<(u64, Option<u64>, Option<u64>)>) {
        while at < end {
            let next = self.chunk.map_or(end, |chunk| at.saturating_add(chunk).min(end));
            cuts.push((at, Some(next), None));
            at = next;
        }
    }

    /// Ends `unit`, and its file where all of its units have ended.
    pub(super) fn finish(&self, unit: &mut Unit) {
        if unit.part.as_mut().is_none_or(Part::publish) {
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
        let input =
            |&bytes: &u64| Input { path: format!("{bytes}").into(), bytes, modified: 0, status: None };
        let inputs = Arc::new(sizes.iter().map(input).collect());
        Work::new(inputs, BTreeMap::new(), records, 100, Arc::default())
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
    fn what_is_done_is_not_read_again_and_its_lines_are_counted() {
        let mut work = work(&[450, 60], Records::Lines);
        let span = |start, end, lines| Span { start, end, lines };
        work.done = [(0, vec![span(30, 130, 7), span(260, 270, 2)]), (1, vec![span(0, 60, 5)])].into();
        let mut units: Vec<_> = std::iter::from_fn(|| work.next()).collect();
        let places: Vec<_> = units.iter().map(|unit| (unit.input, unit.start, unit.end)).collect();
        let expected =
            [(0, 30), (130, 230), (230, 260), (270, 370)].map(|(start, end)| (0, start, Some(end)));
        assert_eq!(places, [&expected[..], &[(0, 370, None)]].concat());
        assert_eq!(work.files_done(), 1, "nothing is left of the second");
        for unit in &mut units {
            unit.part.as_mut().unwrap().lines = 10;
            work.finish(unit);
        }
        let lines: Vec<_> = units.iter().map(|u| u.part.as_ref().unwrap().first_line().resolve()).collect();
        assert_eq!(lines, [1, 18, 28, 40, 50]);
        assert_eq!(work.files_done(), 2);
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
