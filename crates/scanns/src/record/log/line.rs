//! Lines of logs, and their words.

use crate::record::deviations::Deviations;
use crate::record::raw::BYTE_ORDER_MARK;
use memchr::memchr;

/// The deviation of a line that is not UTF-8.
pub(super) const REPLACED: &str = "invalid UTF-8 is replaced";

/// The most bytes of an entry with the lines that continue it; others are records of their own.
const MOST_ENTRY: usize = 1 << 20;

/// Finds the ends of the entries of a log: lines, or lines with the indented lines behind them.
#[derive(Clone, Debug, Default)]
pub struct LogEnds {
    /// Whether indented lines belong to the entry before them.
    with_indented: bool,
    /// The bytes of the record that were searched.
    searched: usize,
    /// The line feeds before them.
    feeds: u64,
    /// The lines of the last record.
    lines: u64,
}

impl LogEnds {
    /// Begins at the start of a file whose records are lines.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins at the start of a file in which a line that begins with a blank or a tab continues the entry
    /// before it, as the lines of a stack trace do.
    pub fn with_indented() -> Self {
        Self { with_indented: true, ..Self::default() }
    }

    /// The length of the record that `bytes` begins with, or None if it continues after them; then the same
    /// bytes must come again with more behind them. If `is_end`, nothing follows: Some for all non-empty
    /// bytes. No byte is searched twice for one record.
    pub fn next_end(&mut self, bytes: &[u8], is_end: bool) -> Option<usize> {
        let has_entry = self.with_indented && !matches!(bytes, [b' ' | b'\t' | b'\r' | b'\n', ..]);
        loop {
            let rest = bytes.get(self.searched..).unwrap_or_default();
            let Some(end) = memchr(b'\n', rest).map(|at| self.searched + at + 1) else {
                self.searched = bytes.len();
                return (is_end && !bytes.is_empty()).then(|| self.end(bytes.len()));
            };
            match bytes.get(end) {
                _ if !has_entry || end >= MOST_ENTRY => return Some(self.end(end)),
                Some(b' ' | b'\t') => (self.searched, self.feeds) = (end, self.feeds + 1),
                None if !is_end => {
                    // The line feed is found again.
                    self.searched = end - 1;
                    return None;
                }
                _ => return Some(self.end(end)),
            }
        }
    }

    /// Ends a record.
    fn end(&mut self, len: usize) -> usize {
        self.lines = self.feeds + 1;
        (self.searched, self.feeds) = (0, 0);
        len
    }

    /// The number of lines of the last record.
    pub fn lines(&self) -> u64 {
        self.lines.max(1)
    }

    /// Starts a record after one that was not given to `next_end` to its end.
    pub fn start_record(&mut self) {
        (self.searched, self.feeds, self.lines) = (0, 0, 1);
    }
}

/// A record without its line end and without a byte order mark; None if it is blank.
///
/// After a crash, a file may have NUL bytes where a line was to be written: they are left out.
pub(super) fn line_of<'r>(record: &'r [u8], deviations: &mut Deviations) -> Option<&'r [u8]> {
    let line = without_end(record);
    let mut line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    if line.first() == Some(&0) {
        let start = line.iter().position(|byte| *byte != 0).unwrap_or(line.len());
        line = line.get(start..).unwrap_or_default();
        deviations.add("NUL bytes in front of a line: left out");
    }
    (!line.trim_ascii_start().is_empty()).then_some(line)
}

/// A record without its line feed and the carriage return in front of that.
fn without_end(record: &[u8]) -> &[u8] {
    let line = record.strip_suffix(b"\n").unwrap_or(record);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Reports a line that is not UTF-8.
pub(super) fn note_encoding(line: &[u8], deviations: &mut Deviations) {
    if simdutf8::basic::from_utf8(line).is_err() {
        deviations.add(REPLACED);
    }
}

/// The text up to the first blank, and the text behind the blank.
#[inline]
pub(super) fn split_word(text: &[u8]) -> (&[u8], &[u8]) {
    match memchr(b' ', text) {
        Some(at) => (text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default()),
        None => (text, b""),
    }
}

/// A value of which `-` says that it is missing.
#[inline]
pub(super) fn unless_dash(value: &[u8]) -> &[u8] {
    if value == b"-" { b"" } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::test_ends::{records_of_any_pieces, seed};

    #[test]
    fn a_record_ends_behind_its_line_feed_however_the_bytes_come() {
        let mut random = fastrand::Rng::with_seed(seed());
        for _ in 0..500 {
            let bytes: Vec<u8> =
                (0..random.usize(..300)).map(|_| b"ab \r\n\n\0"[random.usize(..7)]).collect();
            let found = records_of_any_pieces(&bytes, &mut random, LogEnds::next_end);
            assert_eq!(found, bytes.split_inclusive(|byte| *byte == b'\n').collect::<Vec<_>>());
        }
    }

    /// Ends of entries with indented lines.
    struct IndentedEnds(LogEnds);

    impl Default for IndentedEnds {
        fn default() -> Self {
            IndentedEnds(LogEnds::with_indented())
        }
    }

    #[test]
    fn indented_lines_belong_to_the_entry_before_them_however_the_bytes_come() {
        let mut random = fastrand::Rng::with_seed(seed());
        let lines =
            ["May  1 10:00:00 h a: x\n", "\tat b\n", "  c\r\n", "\n", "\r\n", " \n", "Caused by: d\n", "e"];
        for _ in 0..500 {
            let text: String = (0..random.usize(..20)).map(|_| lines[random.usize(..lines.len())]).collect();
            let mut expected: Vec<String> = Vec::new();
            for line in text.split_inclusive('\n') {
                match expected.last_mut().filter(|entry| !entry.starts_with([' ', '\t', '\r', '\n'])) {
                    Some(entry) if line.starts_with([' ', '\t']) => entry.push_str(line),
                    _ => expected.push(line.to_owned()),
                }
            }
            let next_end = |ends: &mut IndentedEnds, bytes: &[u8], is_end| ends.0.next_end(bytes, is_end);
            let found = records_of_any_pieces(text.as_bytes(), &mut random, next_end);
            assert_eq!(found, expected.iter().map(String::as_bytes).collect::<Vec<_>>());
            // Every line has a number.
            let (mut ends, mut at, mut numbers) = (LogEnds::with_indented(), 0, 0);
            while let Some(len) = ends.next_end(&text.as_bytes()[at..], true) {
                (at, numbers) = (at + len, numbers + ends.lines());
            }
            assert_eq!(numbers, text.split_inclusive('\n').count() as u64);
        }
    }

    #[test]
    fn an_entry_without_end_ends_after_a_mebibyte_of_lines() {
        let text = "entry\n".to_owned() + &" x\n".repeat(1 << 20);
        let mut ends = LogEnds::with_indented();
        let len = ends.next_end(text.as_bytes(), false).unwrap();
        assert!((MOST_ENTRY..MOST_ENTRY + 3).contains(&len), "{len}");
        assert_eq!(ends.lines(), text[..len].lines().count() as u64);
        assert_eq!(ends.next_end(&text.as_bytes()[len..], false), Some(3));
    }

    #[test]
    fn lines_are_without_what_is_around_them() {
        for (record, line, is_odd) in [
            ("a b\n", Some("a b"), false),
            ("a b \r\n", Some("a b "), false),
            ("\u{feff}a", Some("a"), false),
            ("\0\0\0a\n", Some("a"), true),
            ("\0\0\n", None, true),
            (" \t\r\n", None, false),
            ("\r\r\n", None, false),
            ("", None, false),
        ] {
            let mut deviations = Deviations::default();
            assert_eq!(line_of(record.as_bytes(), &mut deviations), line.map(str::as_bytes), "{record:?}");
            assert_eq!(!deviations.kinds().is_empty(), is_odd, "{record:?}");
        }
    }

    #[test]
    fn words_end_at_blanks() {
        assert_eq!(split_word(b"a b c"), (&b"a"[..], &b"b c"[..]));
        assert_eq!(split_word(b" a"), (&b""[..], &b"a"[..]));
        assert_eq!(split_word(b"a"), (&b"a"[..], &b""[..]));
        assert_eq!((unless_dash(b"-"), unless_dash(b"--")), (&b""[..], &b"--"[..]));
    }
}
