//! Finds where rows of CSV end, in bytes that come in pieces.
//!
//! Only quotes and line feeds matter. A quote opens a value at the value's start: after a delimiter or after
//! the end of a row. In a quoted value two quotes in a row are one, and a single one closes the value; then
//! only a delimiter or the end of the row may follow. `memchr` finds the next quote or line feed; in rows
//! without quotes that is one search per row.
//!
//! A quote that belongs to a value, as in a file name that begins with one, would open a value that ends
//! anywhere or never. So a row of several lines is checked, and ends with its first line if
//!
//! - something other than a delimiter or the end of the row follows a closing quote,
//! - its quotes are not closed within [`MOST_LINES_BYTES`] or before the end of the file,
//! - its number of values is not the number of names, and its first line or half of the other lines have this
//!   number if quotes are ordinary characters, or
//! - each of its lines has the right number of values, and together they have at least [`EVIDENCE`]
//!   delimiters after the first line, where rows have them and texts do not.
//!
//! The next line then is a row again. All of this depends on the rows of the file alone, and not on where
//! pieces end.
//!
//! The search for the end of a row that turns out to be one line is in vain. It is paid from a credit, so
//! that hostile files take time that is proportional to their length.

use super::delimiter::USUAL;
use super::dialect::CsvDialect;
use super::header::CsvHeader;
use super::row::{RowShape, count_plain, parse_row};
use crate::record::raw::BYTE_ORDER_MARK;

/// The maximum size of a row whose quoted values contain line feeds. Mails and most articles are smaller, and
/// an index thread can keep this many bytes while it searches for the closing quote.
pub(super) const MOST_LINES_BYTES: usize = 1 << 20;

/// The number of delimiters after the first line that shows that a row of several lines is several rows.
const EVIDENCE: usize = 6;

/// The maximum of bytes that may be searched in vain.
const MOST_CREDIT: usize = 16 * MOST_LINES_BYTES;

/// Bytes that may be searched in vain for every byte of a row.
const CREDIT_PER_BYTE: usize = 8;

/// What was read before the next byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowPlace {
    /// A value without quotes, or its start.
    Open,
    /// Part of a quoted value.
    Quoted,
    /// A quote in a quoted value: it closes the value unless another quote follows.
    Closed,
    /// A contradiction in the first line: the row ends at the next line feed.
    Broken,
}

/// Finds the ends of consecutive rows of CSV.
///
/// ```
/// # use scanns::sources::{CsvDialect, CsvRows};
/// let mut rows = CsvRows::new(&CsvDialect::default());
/// assert_eq!(rows.next_end(b"a,\"b", false), None); // the row continues
/// assert_eq!(rows.next_end(b"a,\"b\nc\"\nd,e\n", false), Some(8)); // after the line feed outside of quotes
/// assert_eq!(rows.next_end(b"d,e\n", true), Some(4));
/// ```
#[derive(Clone, Debug)]
pub struct CsvRows {
    /// `None` before the header is known.
    delimiter: Option<u8>,
    quotes: bool,
    /// The number of values of a complete row; `None` before the header is known.
    names: Option<usize>,
    /// How much of the current row was searched.
    at: usize,
    place: RowPlace,
    /// The end of the first line of the row, if it is in quotes.
    first_line: Option<usize>,
    /// Bytes that may be searched in vain.
    credit: usize,
    /// The number of lines of the last row.
    lines: u64,
    /// How many bytes, from its start on, decided where the last row ends.
    reach: usize,
}

impl CsvRows {
    /// Starts at the first row of a file. If the dialect has no delimiter, each of `, ; | tab` is one.
    pub fn new(dialect: &CsvDialect) -> Self {
        CsvRows {
            delimiter: dialect.delimiter.map(|delimiter| delimiter.byte()),
            quotes: dialect.first_row_has_quotes(),
            names: None,
            at: 0,
            place: RowPlace::Open,
            first_line: None,
            credit: MOST_CREDIT,
            lines: 0,
            reach: 0,
        }
    }

    /// Continues with the rows below a header.
    pub fn below(&self, header: &CsvHeader) -> Self {
        CsvRows {
            delimiter: Some(header.delimiter().byte()),
            quotes: header.has_quotes(),
            names: Some(header.names().len()),
            ..self.clone()
        }
    }

    /// Returns the length of the row that `bytes` begins with, or `None` if it continues after them. If
    /// `is_end` says that the file ends with `bytes`, the row ends there at the latest.
    ///
    /// After `None` the same bytes must come again, with more behind them; after `Some(end)` the bytes from
    /// `end` on.
    #[inline]
    pub fn next_end(&mut self, bytes: &[u8], is_end: bool) -> Option<usize> {
        let end = match self.search(bytes) {
            Some(end) => end,
            None if is_end && !bytes.is_empty() => self.last_end(bytes.len()),
            None => return None,
        };
        let end = if self.first_line.is_some() { self.end_of_several(bytes, end) } else { end };
        // Behind a quote, two more bytes may count.
        self.reach = if end == self.at { end } else { self.at + 2 };
        self.credit = MOST_CREDIT.min(self.credit + CREDIT_PER_BYTE * end);
        self.start_row();
        Some(end)
    }

    /// Forgets the bytes of the current row: the next bytes start a row.
    pub fn start_row(&mut self) {
        (self.at, self.place, self.first_line) = (0, RowPlace::Open, None);
    }

    /// The number of lines of the last row.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// How many bytes, from its start on, decided where the last row ends: its length, or more.
    pub(super) fn reach(&self) -> usize {
        self.reach
    }

    /// Bytes that may be searched in vain before the next row.
    pub(super) fn credit(&self) -> usize {
        self.credit
    }

    /// Starts at a row before which this number of bytes could be searched in vain.
    pub(crate) fn with_credit(self, credit: usize) -> Self {
        CsvRows { credit, ..self }
    }

    /// Continues the search; returns the end of the row.
    #[inline]
    fn search(&mut self, bytes: &[u8]) -> Option<usize> {
        self.lines = 1;
        loop {
            let rest = bytes.get(self.at..).unwrap_or_default();
            match self.place {
                RowPlace::Open if self.quotes => {
                    let Some(len) = memchr::memchr2(b'"', b'\n', rest) else {
                        self.at = bytes.len();
                        return None;
                    };
                    let found = self.at + len;
                    self.at = found + 1;
                    if bytes.get(found) == Some(&b'\n') {
                        return Some(self.at);
                    }
                    if self.starts_value(bytes, found) {
                        self.place = RowPlace::Quoted;
                    }
                }
                RowPlace::Open | RowPlace::Broken => {
                    let end = memchr::memchr(b'\n', rest).map(|feed| self.at + feed + 1);
                    self.at = end.unwrap_or(bytes.len());
                    return end;
                }
                RowPlace::Quoted => {
                    if let Some(first) = self.quoted(bytes)? {
                        return Some(first);
                    }
                }
                RowPlace::Closed => {
                    if let Some(end) = self.closed(rest)? {
                        return Some(end);
                    }
                }
            }
        }
    }

    /// Searches for the end of a quoted value. Returns `None` if more bytes are needed, the end of the first
    /// line if the search is given up.
    fn quoted(&mut self, bytes: &[u8]) -> Option<Option<usize>> {
        let rest = bytes.get(self.at..).unwrap_or_default();
        let Some(first) = self.first_line else {
            let Some(len) = memchr::memchr2(b'"', b'\n', rest) else {
                self.at = bytes.len();
                return None;
            };
            self.at += len + 1;
            if rest.get(len) == Some(&b'\n') {
                self.first_line = Some(self.at);
            } else {
                self.place = RowPlace::Closed;
            }
            return Some(None);
        };
        let bound = MOST_LINES_BYTES.min(self.credit);
        let window = bytes.get(self.at..bytes.len().min(bound)).unwrap_or_default();
        if let Some(len) = memchr::memchr(b'"', window) {
            (self.at, self.place) = (self.at + len + 1, RowPlace::Closed);
            return Some(None);
        }
        self.at = self.at.max(bytes.len().min(bound));
        (bytes.len() >= bound).then_some(Some(first))
    }

    /// Looks at what follows a quote in a quoted value. Returns `None` if more bytes are needed, the end of
    /// the row if it is there, and the end of the first line if the row is no row.
    fn closed(&mut self, rest: &[u8]) -> Option<Option<usize>> {
        match (rest.first()?, rest.get(1)) {
            (b'"', _) => (self.at, self.place) = (self.at + 1, RowPlace::Quoted),
            (b'\n', _) => {
                self.at += 1;
                return Some(Some(self.at));
            }
            (b'\r', None) => return None,
            (b'\r', Some(b'\n')) => {
                self.at += 2;
                return Some(Some(self.at));
            }
            (byte, _) if self.delimits(*byte) => (self.at, self.place) = (self.at + 1, RowPlace::Open),
            _ if self.first_line.is_some() => return Some(self.first_line),
            _ => self.place = RowPlace::Broken,
        }
        Some(None)
    }

    /// The end of a row that has no end before the end of the file.
    #[cold]
    fn last_end(&mut self, len: usize) -> usize {
        self.at = len;
        match (self.place, self.first_line) {
            (RowPlace::Quoted, Some(first)) => first,
            _ => len,
        }
    }

    /// The end of a row that may have several lines: `end`, or the end of its first line.
    #[cold]
    fn end_of_several(&mut self, bytes: &[u8], end: usize) -> usize {
        let row = bytes.get(..end).unwrap_or_default();
        let end = match self.first_line {
            Some(first) if first < end && !self.belongs_together(row, first) => first,
            _ => end,
        };
        self.credit = self.credit.saturating_sub(self.at.saturating_sub(end));
        let inside = row.get(..end.saturating_sub(1)).unwrap_or_default();
        self.lines = memchr::memchr_iter(b'\n', inside).count() as u64 + 1;
        end
    }

    /// True if a row of several lines is one row rather than one for each line.
    fn belongs_together(&self, row: &[u8], first_line: usize) -> bool {
        let (Some(names), Some(delimiter)) = (self.names, self.delimiter) else { return true };
        let mut values = 0;
        let shape = RowShape { delimiter, quotes: true, names: usize::MAX };
        let _ = parse_row(row, shape, &mut |_| values += 1);
        let fits = |line: &[u8]| count_plain(line, delimiter) == names;
        let (first, others) = row.split_at_checked(first_line).unwrap_or((row, b""));
        let (mut lines, mut fitting) = (0, 0);
        for line in others.split_inclusive(|&byte| byte == b'\n') {
            lines += 1;
            fitting += usize::from(fits(line));
        }
        if values == names {
            let all_fit = names > 1 && fitting == lines && fits(first);
            !all_fit || lines.saturating_mul(names - 1) < EVIDENCE
        } else {
            !fits(first) && 2 * fitting < lines
        }
    }

    /// True if a value starts at a position outside of quotes.
    fn starts_value(&self, bytes: &[u8], at: usize) -> bool {
        match at.checked_sub(1).and_then(|before| bytes.get(before)) {
            None => true,
            Some(byte) if self.delimits(*byte) => true,
            // A mark may stand before the first value of a file.
            Some(_) => {
                self.names.is_none() && at == BYTE_ORDER_MARK.len() && bytes.starts_with(BYTE_ORDER_MARK)
            }
        }
    }

    #[inline]
    fn delimits(&self, byte: u8) -> bool {
        self.delimiter.map_or_else(|| USUAL.contains(&byte), |delimiter| delimiter == byte)
    }
}
