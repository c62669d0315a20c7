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

    /// The length of the record whose beginning was given last, if the record says it.
    fn known_len(&self) -> Option<u64>;

    /// Starts a record after one that was not given to its end.
    fn start_record(&mut self);
}

/// Calls `visit` with every record of a stream, until it breaks. Of a record of more than [`MAX_DOCUMENT`]
/// bytes it gets the first ones and one more; the rest is skipped if its end is near or if the record says how
/// long it is, or else counts as another record.
///
/// # Errors
/// The stream cannot be read, after the records before the error were visited, or `visit` fails.
pub(super) fn visit_records(
    ends: &mut dyn FindRecords,
    stream: &mut dyn Read,
    visit: &mut dyn FnMut(&[u8]) -> io::Result<ControlFlow<()>>,
) -> io::Result<()> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut skip = 0;
    loop {
        if skip > 0 {
            io::copy(&mut (&mut *stream).take(skip), &mut io::sink())?;
            skip = 0;
        }
        // A record that grows is searched again and again, so each time by as many bytes as it has.
        let step = bytes.len().clamp(STEP, MAX_DOCUMENT + 1);
        let (is_end, error) = read_more(stream, &mut bytes, step);
        let mut start = 0;
        while let Some(rest) = bytes.get(start..).filter(|rest| !rest.is_empty()) {
            let end = ends.next_end(rest, is_end).map(|end| end.clamp(1, rest.len()));
            if end.is_none() && rest.len() <= MAX_DOCUMENT {
                break;
            }
            let taken = end.unwrap_or(rest.len()).min(MAX_DOCUMENT + 1);
            if visit(rest.get(..taken).unwrap_or(rest))?.is_break() {
                return Ok(());
            }
            start += end.unwrap_or(taken);
            if end.is_none() {
                skip = ends.known_len().unwrap_or(0).saturating_sub(taken as u64);
                let behind = usize::try_from(skip).unwrap_or(usize::MAX).min(bytes.len() - start);
                start += behind;
                skip -= behind as u64;
                ends.start_record();
            }
        }
        if let Some(error) = error {
            return Err(error);
        }
        if is_end {
            return Ok(());
        }
        bytes.drain(..start);
    }
}

/// Appends `step` more bytes of a stream, or all up to its end, or all that can be read. True at its end.
fn read_more(stream: &mut dyn Read, bytes: &mut Vec<u8>, step: usize) -> (bool, Option<io::Error>) {
    let have = bytes.len();
    // What was read before an error stays.
    let read = (&mut *stream).take(step as u64).read_to_end(bytes);
    (read.is_ok() && bytes.len() - have < step, read.err())
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    /// Records that end with a semicolon; one that begins with a digit says its length in bytes, in all.
    #[derive(Default)]
    struct Semicolons {
        known: Option<u64>,
        started: usize,
    }

    impl FindRecords for Semicolons {
        fn next_end(&mut self, bytes: &[u8], is_end: bool) -> Option<usize> {
            let len = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            self.known = std::str::from_utf8(&bytes[..len]).unwrap().parse().ok();
            let end = match self.known {
                Some(len) => usize::try_from(len).ok().filter(|&len| len <= bytes.len()),
                None => memchr::memchr(b';', bytes).map(|at| at + 1),
            };
            end.or(is_end.then_some(bytes.len()))
        }

        fn known_len(&self) -> Option<u64> {
            self.known
        }

        fn start_record(&mut self) {
            self.started += 1;
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

    fn visited(stream: &mut dyn Read) -> (Vec<Vec<u8>>, io::Result<()>) {
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
        let long = MAX_DOCUMENT + 5 * STEP;
        let mut known = format!("{long} ").into_bytes();
        known.resize(long, b'x');
        known.extend_from_slice(b"y;z;");
        let (records, _) = visited(&mut known.as_slice());
        let lens: Vec<usize> = records.iter().map(Vec::len).collect();
        assert_eq!(lens, [MAX_DOCUMENT + 1, 2, 2]);
        assert_eq!(records[1], b"y;");
        for (long, expected) in [
            (MAX_DOCUMENT + STEP, vec![MAX_DOCUMENT + 1, 2]),
            (2 * MAX_DOCUMENT + 2 * STEP, vec![MAX_DOCUMENT + 1, MAX_DOCUMENT + 1, 2]),
        ] {
            let mut unknown = vec![b'x'; long];
            unknown.extend_from_slice(b";z;");
            let (records, _) = visited(&mut unknown.as_slice());
            assert_eq!(records.iter().map(Vec::len).collect::<Vec<_>>(), expected);
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
