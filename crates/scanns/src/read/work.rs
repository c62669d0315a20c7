//! The work list: all inputs as units, which readers take in input order, and their results.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::content::{ContentOptions, HEAD, is_plain};
use crate::read::count::{ContentCount, ContentCounts};
use crate::read::cuts::PieceStart;
use crate::read::lines::{ChainLink, LineChain};
use crate::read::options::ReadOptions;
use crate::read::tables::TableReading;
use crate::schema::Records;
use crate::source::{Failure, Input};
use crate::sys::{ReadFile, lock};

/// The part of an input that one lane reads: a file, or the lines that start in a range of it.
#[derive(Debug)]
pub(super) struct ReadUnit {
    pub(super) input: u32,
    /// Lines that start before this offset belong to an earlier unit.
    pub(super) start: u64,
    /// Lines that start at or after this offset belong to a later unit; if `None`, the unit ends with the
    /// file.
    pub(super) end: Option<u64>,
    /// Set if the unit ends exactly here, between two records that need not end with lines; `end` is `None`
    /// then.
    pub(super) until: Option<u64>,
    /// Set if the unit begins exactly at `start`, between two such records: how to read on there.
    pub(super) from: Option<PieceStart>,
    /// Set if the file is divided into several units.
    pub(super) link: Option<ChainLink>,
}

/// The state that readers share: the list of units and the counters.
#[derive(Debug)]
pub(super) struct WorkList {
    pub(super) inputs: Arc<Vec<Input>>,
    pub(super) cancel: Arc<AtomicBool>,
    /// Set once no more units are handed out.
    closed: AtomicBool,
    contents: ContentOptions,
    tables: TableReading,
    /// Size of units if files may be divided.
    chunk: Option<u64>,
    parts: DoneParts,
    cursor: Mutex<WorkCursor>,
    bytes: AtomicU64,
    consumed: AtomicU64,
    binary: Mutex<ContentCounts>,
    decoded: Mutex<ContentCounts>,
    files_done: AtomicU64,
    failures: Mutex<BTreeMap<u32, String>>,
    member_failures: Mutex<Vec<Failure>>,
    remarks: Mutex<BTreeMap<u32, String>>,
}

/// Lines of a file that need not be read: the first starts at `start`, and the line after the last at `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineSpan {
    /// Offset of the first line in the file.
    pub start: u64,
    /// Offset of the line after the last, or the end of the file.
    pub end: u64,
    /// Number of lines.
    pub lines: u64,
}

/// The parts of files that are not to be read, by input.
#[derive(Clone, Debug, Default)]
pub struct DoneParts {
    /// The lines, or records, that are not to be read, in order.
    pub done: BTreeMap<u32, Vec<LineSpan>>,
    /// How to read on behind the first span of files whose records do not end with lines. Such a file has
    /// at most two spans: at its beginning and at its end.
    pub starts: BTreeMap<u32, PieceStart>,
}

#[derive(Debug, Default)]
struct WorkCursor {
    input: usize,
    /// Units left of the input before, in order.
    left: VecDeque<ReadUnit>,
}

/// A range of an input that becomes a unit.
struct UnitCut {
    start: u64,
    /// As [`ReadUnit::end`].
    end: Option<u64>,
    /// Number of lines, if they were read before.
    done: Option<u64>,
}

impl ReadUnit {
    /// A whole input.
    pub(super) fn whole(input: u32) -> Self {
        ReadUnit { input, start: 0, end: None, until: None, from: None, link: None }
    }
}

impl WorkList {
    pub(super) fn new(
        inputs: Arc<Vec<Input>>,
        parts: DoneParts,
        records: Records,
        options: &ReadOptions,
        cancel: Arc<AtomicBool>,
    ) -> Self {
        WorkList {
            inputs,
            parts,
            cancel,
            closed: AtomicBool::new(false),
            contents: options.contents,
            tables: options.tables.clone(),
            chunk: records.ends_with_lines().then_some(options.chunk_bytes.max(1)),
            cursor: Mutex::default(),
            bytes: AtomicU64::new(0),
            consumed: AtomicU64::new(0),
            binary: Mutex::default(),
            decoded: Mutex::default(),
            files_done: AtomicU64::new(0),
            failures: Mutex::default(),
            member_failures: Mutex::default(),
            remarks: Mutex::default(),
        }
    }

    /// Returns the next unit, in order of inputs and offsets.
    pub(super) fn next(&self) -> Option<ReadUnit> {
        let mut cursor = lock(&self.cursor);
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

    /// Hands out no more units.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// True once no more units are handed out.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// The units of an input. Spans that were read before become units that have ended already.
    fn units(&self, input: u32, bytes: u64) -> VecDeque<ReadUnit> {
        let spans = self.parts.done.get(&input).map_or(&[][..], Vec::as_slice);
        let is_divided = |chunk| bytes > chunk && self.is_plain(input);
        if spans.is_empty() && !self.chunk.is_some_and(is_divided) {
            return [ReadUnit::whole(input)].into();
        }
        let mut cuts: Vec<UnitCut> = Vec::new();
        let mut at = 0;
        for span in spans {
            self.cut(at, span.start, &mut cuts);
            cuts.push(UnitCut { start: span.start, end: Some(span.end), done: Some(span.lines) });
            at = span.end;
        }
        if at < bytes || spans.is_empty() {
            self.cut(at, bytes, &mut cuts);
            match cuts.last_mut().filter(|last| last.done.is_none()) {
                Some(last) => last.end = None,
                None => cuts.push(UnitCut { start: at, end: None, done: None }),
            }
        }
        let chain = Arc::new(LineChain::of(cuts.len()));
        let mut units = VecDeque::with_capacity(cuts.len());
        let whole = cuts.len() == 1;
        for (number, UnitCut { start, end, done }) in cuts.into_iter().enumerate() {
            let link = (!whole || done.is_some()).then(|| ChainLink::new(Arc::clone(&chain), number));
            match (done, link) {
                (Some(lines), Some(mut link)) => {
                    link.lines = lines;
                    link.publish();
                }
                (_, link) => units.push_back(self.unit(input, start, end, link)),
            }
        }
        if units.is_empty() {
            self.files_done.fetch_add(1, Ordering::Relaxed);
        }
        units
    }

    /// A part of an input. Records that do not end with lines begin and end where the part does.
    fn unit(&self, input: u32, start: u64, end: Option<u64>, link: Option<ChainLink>) -> ReadUnit {
        match self.chunk {
            Some(_) => ReadUnit { input, start, end, until: None, from: None, link },
            None => {
                let from = self.parts.starts.get(&input).filter(|_| start > 0).cloned();
                ReadUnit { input, start, end: None, until: end, from, link }
            }
        }
    }

    /// True for a file whose bytes are its text. Other files are decoded from their start.
    fn is_plain(&self, input: u32) -> bool {
        let Some(input) = self.inputs.get(input as usize) else { return true };
        let Ok(file) = ReadFile::open(&input.path) else { return true };
        let mut head = vec![0; HEAD];
        let Ok(got) = file.read_at(&mut head, 0) else { return true };
        let head = head.get(..got).unwrap_or_default();
        self.tables.format_of(head).is_none() && is_plain(head, input.bytes, self.contents)
    }

    /// Divides the bytes from `at` to `end` into chunks.
    fn cut(&self, mut at: u64, end: u64, cuts: &mut Vec<UnitCut>) {
        while at < end {
            let next = self.chunk.map_or(end, |chunk| at.saturating_add(chunk).min(end));
            cuts.push(UnitCut { start: at, end: Some(next), done: None });
            at = next;
        }
    }

    /// Ends `unit`, and its file if all of the file's units have ended.
    pub(super) fn finish(&self, unit: &mut ReadUnit) {
        if unit.link.as_mut().is_none_or(ChainLink::publish) {
            self.files_done.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Records that `input` failed; only the first reason is kept.
    pub(super) fn fail(&self, input: u32, error: &std::io::Error) {
        let mut failures = lock(&self.failures);
        failures.entry(input).or_insert_with(|| error.to_string());
    }

    /// Records what was left out of `input`, which did not fail.
    pub(super) fn remark(&self, input: u32, remark: String) {
        lock(&self.remarks).insert(input, remark);
    }

    pub(super) fn count_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Counts bytes of files as done: read, or left out on purpose.
    pub(super) fn count_consumed(&self, bytes: u64) {
        self.consumed.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts a file whose content is left out because it is binary.
    pub(super) fn count_binary(&self, input: u32, kind: &str) {
        self.count_kind(&self.binary, input, kind);
    }

    /// Counts a file whose text is decoded.
    pub(super) fn count_decoded(&self, input: u32, encoding: &str) {
        self.count_kind(&self.decoded, input, encoding);
    }

    /// Counts a member of an archive whose content is left out.
    pub(super) fn count_member_binary(&self, path: &[u8], bytes: u64, kind: &str) {
        lock(&self.binary).add(kind, bytes, Path::new(OsStr::from_bytes(path)));
    }

    /// Counts a member of an archive whose text is decoded.
    pub(super) fn count_member_decoded(&self, path: &[u8], bytes: u64, encoding: &str) {
        lock(&self.decoded).add(encoding, bytes, Path::new(OsStr::from_bytes(path)));
    }

    /// Records that a member of an archive failed.
    pub(super) fn fail_member(&self, path: &[u8], error: &std::io::Error) {
        let path = OsString::from_vec(path.to_vec()).into();
        lock(&self.member_failures).push(Failure { path, reason: error.to_string() });
    }

    fn count_kind(&self, counts: &Mutex<ContentCounts>, input: u32, kind: &str) {
        if let Some(input) = self.inputs.get(input as usize) {
            lock(counts).add(kind, input.bytes, &input.path);
        }
    }

    /// Binary files and decoded files, by kind.
    pub(super) fn kinds(&self) -> [Vec<ContentCount>; 2] {
        [lock(&self.binary).list(), lock(&self.decoded).list()]
    }

    pub(super) fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Bytes passed to lanes so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Bytes of files that are done.
    pub(super) fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    /// Files that were read to their end, failed ones included.
    pub(super) fn files_done(&self) -> u64 {
        self.files_done.load(Ordering::Relaxed)
    }

    /// Every failed input once, in input order, then failed members of archives.
    pub(super) fn failures(&self) -> Vec<Failure> {
        let mut failures = self.by_input(&self.failures);
        failures.extend(lock(&self.member_failures).iter().cloned());
        failures
    }

    /// Remarks about inputs, in input order.
    pub(super) fn remarks(&self) -> Vec<Failure> {
        self.by_input(&self.remarks)
    }

    fn by_input(&self, reasons: &Mutex<BTreeMap<u32, String>>) -> Vec<Failure> {
        let failure = |(&input, reason): (&u32, &String)| {
            let path = self.inputs.get(input as usize)?.path.clone();
            Some(Failure { path, reason: reason.clone() })
        };
        lock(reasons).iter().filter_map(failure).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(sizes: &[u64], records: Records) -> WorkList {
        let input = |&bytes: &u64| Input { path: format!("{bytes}").into(), bytes, ..Input::default() };
        let inputs = Arc::new(sizes.iter().map(input).collect());
        let options = ReadOptions { chunk_bytes: 100, ..ReadOptions::default() };
        WorkList::new(inputs, DoneParts::default(), records, &options, Arc::default())
    }

    #[test]
    fn files_of_lines_are_divided_into_adjacent_units_and_other_files_stay_whole() {
        let units = |work: WorkList| {
            std::iter::from_fn(|| work.next().map(|u| (u.input, u.start, u.end, u.link.is_some())))
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
    fn lines_that_were_read_before_are_counted_but_not_read_again() {
        let mut work = work(&[450, 60], Records::Lines);
        let span = |start, end, lines| LineSpan { start, end, lines };
        work.parts.done = [(0, vec![span(30, 130, 7), span(260, 270, 2)]), (1, vec![span(0, 60, 5)])].into();
        let mut units: Vec<_> = std::iter::from_fn(|| work.next()).collect();
        let places: Vec<_> = units.iter().map(|unit| (unit.input, unit.start, unit.end)).collect();
        let expected =
            [(0, 30), (130, 230), (230, 260), (270, 370)].map(|(start, end)| (0, start, Some(end)));
        assert_eq!(places, [&expected[..], &[(0, 370, None)]].concat());
        assert_eq!(work.files_done(), 1, "nothing is left of the second file");
        for unit in &mut units {
            unit.link.as_mut().unwrap().lines = 10;
            work.finish(unit);
        }
        let lines: Vec<_> = units.iter().map(|u| u.link.as_ref().unwrap().first_line().resolve()).collect();
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
