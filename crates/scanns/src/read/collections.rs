//! The records of a collection that is a file among others: web archives, mailboxes and the like.
//!
//! Someone who knows the records says where they end, and what their text is. The implementation is to the
//! right of this module, see `record/collection/members.rs`.

use std::fmt::Debug;
use std::io::{self, Read};
use std::ops::ControlFlow;

use crate::content::{CollectionKind, MAX_DOCUMENT};

/// The number of bytes that are read at once.
const STEP: usize = 1 << 20;

/// What knows the records of collections.
pub trait KnowCollections: Debug + Send + Sync {
    /// Finds the ends of the records of one file.
    fn ends(&self, kind: CollectionKind) -> Box<dyn FindRecords>;

    /// Appends the text of a record, as a build finds it; nothing if the record is not a document.
    fn append_text(&self, kind: CollectionKind, record: &[u8], into: &mut Vec<u8>);
}

/// Finds the ends of the records of one file.
pub trait FindRecords {
    /// Returns the length of the record that `bytes` begins with, or `None` if it continues after them. If it
    /// does, the same bytes must come again, with more behind them. If `is_end`, nothing follows, and every
    /// byte belongs to a record.
    fn next_end(&mut self, bytes: &[u8], is_end: bool) -> Option<usize>;

    /// Starts a record after one that was not given to its end.
    fn start_record(&mut self);

    /// Waits for the end of the record that `start` begins, after which `next_end` needed more bytes; `None`
    /// if the record does not say where it ends.
    fn long_end(&self, start: &[u8]) -> Option<Box<dyn FindLongEnd>>;

    /// Takes the end that the current record claims for wrong.
    fn distrust(&mut self);
}

/// Finds the end of a record of which only the beginning is kept.
pub trait FindLongEnd {
    /// Takes the next bytes. If `is_end`, nothing follows.
    fn take(&mut self, bytes: &[u8], is_end: bool) -> Option<LongEnd>;

    /// The bytes behind the record that were taken.
    fn behind(&self) -> &[u8];
}

/// Where a long record ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongEnd {
    /// Where it says.
    AsClaimed,
    /// Before that: this number of records lies between its beginning and the claimed end.
    Earlier(u64),
}

/// What is called with a record.
pub(super) type VisitRecord<'v> = &'v mut dyn FnMut(&[u8]) -> io::Result<ControlFlow<()>>;

/// Calls `visit` with every record of a stream, until it breaks. Of a record of more than [`MAX_DOCUMENT`]
/// bytes it gets the first ones and one more; the rest is skipped if its end is near or if the record says
/// where it is, or else counts as another record. Returns the number of records that are lost because one
/// before them says that it is longer than it is.
///
/// # Errors
/// The stream cannot be read, after the records before the error were visited, or `visit` fails.
pub(super) fn visit_records(
    ends: &mut dyn FindRecords,
    stream: &mut dyn Read,
    visit: VisitRecord<'_>,
) -> io::Result<u64> {
    let mut buffer = RecordBuffer { stream, bytes: Vec::new(), start: 0, is_end: false, error: None };
    let mut lost = 0;
    loop {
        let rest = buffer.rest();
        let end = if rest.is_empty() { None } else { ends.next_end(rest, buffer.is_end) };
        let visited = match end.map(|end| end.clamp(1, rest.len())) {
            Some(end) => {
                let visited = visit(rest.get(..end.min(MAX_DOCUMENT + 1)).unwrap_or(rest))?;
                buffer.start += end;
                visited
            }
            None if rest.len() > MAX_DOCUMENT => buffer.visit_long(ends, visit, &mut lost)?,
            None if buffer.is_over() => return buffer.error.map_or(Ok(lost), Err),
            None => {
                buffer.refill();
                continue;
            }
        };
        if visited.is_break() {
            return Ok(lost);
        }
    }
}

/// The bytes of a stream that are not visited yet.
struct RecordBuffer<'s> {
    stream: &'s mut dyn Read,
    bytes: Vec<u8>,
    /// Where the next record begins.
    start: usize,
    /// True if nothing follows.
    is_end: bool,
    /// Why nothing more can be read.
    error: Option<io::Error>,
}

impl RecordBuffer<'_> {
    fn rest(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    fn is_over(&self) -> bool {
        self.is_end || self.error.is_some()
    }

    /// Reads more bytes. A record that grows is searched again and again, so each time by as many as it has.
    fn refill(&mut self) {
        self.bytes.drain(..self.start);
        self.start = 0;
        let have = self.bytes.len();
        let step = have.clamp(STEP, MAX_DOCUMENT + 1);
        // What was read before an error stays.
        let read = (&mut *self.stream).take(step as u64).read_to_end(&mut self.bytes);
        self.is_end = read.is_ok() && self.bytes.len() - have < step;
        self.error = read.err();
    }

    /// Visits a record that is longer than it may be, and adds to the number of lost ones.
    fn visit_long(
        &mut self,
        ends: &mut dyn FindRecords,
        visit: VisitRecord<'_>,
        lost: &mut u64,
    ) -> io::Result<ControlFlow<()>> {
        let record = self.rest().get(..=MAX_DOCUMENT).unwrap_or_default().to_vec();
        self.start += record.len();
        let looked = ends.long_end(&record).and_then(|mut long| self.skip_long(&mut *long));
        if let Some(LongEnd::Earlier(others)) = looked {
            *lost += others;
            return visit_kept(ends, &record, visit);
        }
        ends.start_record();
        visit(&record)
    }

    /// Skips the rest of a record; `None` if its end cannot be read.
    fn skip_long(&mut self, long: &mut dyn FindLongEnd) -> Option<LongEnd> {
        loop {
            let end = long.take(self.rest(), self.is_end);
            self.start = self.bytes.len();
            if end.is_some() {
                self.bytes.clear();
                self.bytes.extend_from_slice(long.behind());
                self.start = 0;
                return end;
            }
            if self.is_over() {
                return None;
            }
            self.refill();
        }
    }
}

/// Visits the records in bytes that claim to be the beginning of one, and the beginning of the last one.
fn visit_kept(
    ends: &mut dyn FindRecords,
    bytes: &[u8],
    visit: VisitRecord<'_>,
) -> io::Result<ControlFlow<()>> {
    ends.distrust();
    let mut rest = bytes;
    while let Some(end) = ends.next_end(rest, false).filter(|&end| end > 0)
        && let Some((record, behind)) = rest.split_at_checked(end)
    {
        if visit(record)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        rest = behind;
    }
    ends.start_record();
    if rest.is_empty() { Ok(ControlFlow::Continue(())) } else { visit(rest) }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    /// Records that end with a semicolon; one that begins with a digit says its length in bytes, in all.
    #[derive(Default)]
    struct Semicolons {
        is_distrusted: bool,
    }

    fn claimed(bytes: &[u8]) -> Option<usize> {
        let len = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
        std::str::from_utf8(&bytes[..len]).unwrap().parse().ok()
    }

    impl FindRecords for Semicolons {
        fn next_end(&mut self, bytes: &[u8], is_end: bool) -> Option<usize> {
            let end = match claimed(bytes).filter(|_| !self.is_distrusted) {
                Some(len) => Some(len).filter(|&len| len <= bytes.len()),
                None => memchr::memchr(b';', bytes).map(|at| at + 1),
            };
            end.or(is_end.then_some(bytes.len()))
        }

        fn start_record(&mut self) {
            self.is_distrusted = false;
        }

        fn long_end(&self, start: &[u8]) -> Option<Box<dyn FindLongEnd>> {
            let left = claimed(start)? - start.len();
            Some(Box::new(SemicolonEnd { left, last: b'x', lost: 0, behind: Vec::new() }))
        }

        fn distrust(&mut self) {
            self.is_distrusted = true;
        }
    }

    /// The end is right if the byte before it is a semicolon. The records before it are counted.
    struct SemicolonEnd {
        left: usize,
        last: u8,
        lost: u64,
        behind: Vec<u8>,
    }

    impl FindLongEnd for SemicolonEnd {
        fn take(&mut self, bytes: &[u8], is_end: bool) -> Option<LongEnd> {
            let (inside, behind) = bytes.split_at(self.left.min(bytes.len()));
            self.left -= inside.len();
            self.last = inside.last().copied().unwrap_or(self.last);
            self.lost += inside.iter().filter(|&&byte| byte == b';').count() as u64;
            self.behind.extend_from_slice(behind);
            let is_right = self.left == 0 && self.last == b';';
            let end = if is_right { LongEnd::AsClaimed } else { LongEnd::Earlier(self.lost) };
            (self.left == 0 || is_end).then_some(end)
        }

        fn behind(&self) -> &[u8] {
            &self.behind
        }
    }

    /// A stream that returns few bytes at a time, and an error at its end.
    struct Failing<'a>(&'a [u8], Rng);

    impl Read for Failing<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Err(io::Error::other("damaged"));
            }
            let most = self.1.usize(1..200_000).min(buffer.len());
            self.0.read(&mut buffer[..most])
        }
    }

    fn visited(stream: &mut dyn Read) -> (Vec<Vec<u8>>, io::Result<u64>) {
        let mut records = Vec::new();
        let read = visit_records(&mut Semicolons::default(), stream, &mut |record| {
            records.push(record.to_vec());
            Ok(ControlFlow::Continue(()))
        });
        (records, read)
    }

    #[test]
    fn every_record_is_visited_whatever_its_length_and_also_before_an_error() {
        let seed = fastrand::u64(..);
        let mut random = Rng::with_seed(seed);
        for _ in 0..20 {
            let mut text = Vec::new();
            for _ in 0..random.usize(..30) {
                let len = [1, 10, 1_000, STEP, 3 * STEP][random.usize(..5)];
                text.extend(std::iter::repeat_n(b'x', random.usize(..len)));
                text.push(b';');
            }
            let whole: Vec<Vec<u8>> =
                text.split_inclusive(|&byte| byte == b';').map(<[u8]>::to_vec).collect();
            let (records, read) = visited(&mut Failing(&text, random.fork()));
            assert!(records == whole && read.is_err(), "seed {seed}");
            text.extend_from_slice(b"open");
            let (records, read) = visited(&mut text.as_slice());
            assert!(records[..whole.len()] == whole && read.is_ok(), "seed {seed}");
            assert_eq!(records.last().map(Vec::as_slice), Some(b"open".as_slice()), "seed {seed}");
        }
    }

    #[test]
    fn the_rest_of_a_record_that_is_too_long_is_skipped_or_another_record() {
        let long = 3 * MAX_DOCUMENT;
        let record = |end: &[u8]| {
            let mut record = format!("{long} ").into_bytes();
            record.resize(long - end.len(), b'x');
            [record.as_slice(), end, b"y;z;"].concat()
        };
        let lens = |records: &[Vec<u8>]| records.iter().map(Vec::len).collect::<Vec<_>>();
        let (records, lost) = visited(&mut record(b";").as_slice());
        assert_eq!((lens(&records), lost.unwrap()), (vec![MAX_DOCUMENT + 1, 2, 2], 0));
        let (records, lost) = visited(&mut record(b";a;b;c").as_slice());
        assert_eq!((lens(&records), lost.unwrap()), (vec![MAX_DOCUMENT + 1, 2, 2], 3));
        let mut early = record(b"c");
        early[10..12].copy_from_slice(b";;");
        let (records, lost) = visited(&mut early.as_slice());
        assert_eq!((lens(&records), lost.unwrap()), (vec![11, 1, MAX_DOCUMENT - 11, 2, 2], 0));
        for (long, expected) in [
            (MAX_DOCUMENT + STEP, vec![MAX_DOCUMENT + 1, 2]),
            (2 * MAX_DOCUMENT + 2 * STEP, vec![MAX_DOCUMENT + 1, MAX_DOCUMENT + 1, 2]),
        ] {
            let mut unknown = vec![b'x'; long];
            unknown.extend_from_slice(b";z;");
            let (records, _) = visited(&mut unknown.as_slice());
            assert_eq!(lens(&records), expected);
        }
    }

    #[test]
    fn a_visit_may_end_the_walk() {
        let mut count = 0;
        let mut stream: &[u8] = b"a;b;c;";
        let visit = &mut |_: &[u8]| {
            count += 1;
            Ok(if count == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        visit_records(&mut Semicolons::default(), &mut stream, visit).unwrap();
        assert_eq!(count, 2);
    }
}
