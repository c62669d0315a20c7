//! Finds where records of CSV end, in bytes that come in pieces.
//!
//! Only quotes and line feeds matter. A quote opens a value at the value's start: after a delimiter, after
//! the end of a record, or after the quote that closed the value, because two quotes in a row are one quote
//! in the value. So one bit and the kind of the last byte suffice to continue in the next piece, and no byte
//! is looked at twice. `memchr` finds the next quote or line feed; in files without quotes that is one search
//! per record.

use super::delimiter::{CsvDelimiter, USUAL};

/// The last byte of the previous piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastByte {
    /// The end of a record: a record starts, and a value.
    Ended,
    /// A delimiter: a value starts.
    Delimiter,
    /// The quote that closed a value.
    Closed,
    /// Any other byte.
    Other,
}

/// Finds the ends of consecutive CSV records.
///
/// ```
/// let mut ends = scanns::sources::CsvEnds::new(None);
/// assert_eq!(ends.find(b"a,\"b"), None); // the record continues
/// assert_eq!(ends.find(b"\nc\"\nd,e\n"), Some(4)); // after the line feed outside of quotes
/// ```
#[derive(Clone, Debug)]
pub struct CsvEnds {
    delimiter: Option<u8>,
    quoted: bool,
    last: LastByte,
}

impl CsvEnds {
    /// Starts at the start of a record. Without a delimiter, as before the header is known, each of `, ; |
    /// tab` is one.
    pub fn new(delimiter: Option<CsvDelimiter>) -> Self {
        CsvEnds { delimiter: delimiter.map(CsvDelimiter::byte), quoted: false, last: LastByte::Ended }
    }

    /// True at the start of a record. If this is true at the end of a file, no record is left.
    pub fn is_at_start(&self) -> bool {
        !self.quoted && self.last == LastByte::Ended
    }

    fn delimits(&self, byte: u8) -> bool {
        self.delimiter.map_or_else(|| USUAL.contains(&byte), |delimiter| delimiter == byte)
    }

    /// Returns the position after the line feed that ends the current record, or `None` if the record
    /// continues after `bytes`.
    ///
    /// `bytes` must follow the bytes of the previous call: after `None` the next piece, after `Some(end)` the
    /// bytes from `end` on.
    pub fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            if self.quoted {
                let quote = memchr::memchr(b'"', rest)?;
                (self.quoted, self.last) = (false, LastByte::Closed);
                at += quote + 1;
                continue;
            }
            let Some(len) = memchr::memchr2(b'"', b'\n', rest) else {
                self.pass(rest);
                return None;
            };
            self.pass(rest.get(..len).unwrap_or_default());
            at += len + 1;
            if rest.get(len) == Some(&b'\n') {
                self.last = LastByte::Ended;
                return Some(at);
            }
            (self.quoted, self.last) = (self.last != LastByte::Other, LastByte::Other);
        }
    }

    /// Passes bytes without quotes and line feeds.
    fn pass(&mut self, bytes: &[u8]) {
        if let Some(&last) = bytes.last() {
            self.last = if self.delimits(last) { LastByte::Delimiter } else { LastByte::Other };
        }
    }
}
