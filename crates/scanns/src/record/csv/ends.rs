//! Where records of CSV end, in bytes that come in pieces.
//!
//! Only quotes and line feeds matter. A quote opens a value where one begins: behind a delimiter or the end of a
//! record, or behind the quote that closed the value, since both together are a quote in it. So it takes one bit
//! and what kind the byte before was to go on in the next piece, and no byte is looked at twice. `memchr` finds the
//! next quote or line feed; for files without quotes that is one search per record.

use super::{CsvDelimiter, USUAL};

/// What the last byte was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    /// The end of a record: one begins, and a value.
    Ended,
    /// A delimiter: a value begins.
    Delimiter,
    /// The quote that closed a value.
    Closed,
    /// Anything else.
    Other,
}

/// Steps from the end of a record of CSV to the next.
///
/// ```
/// let mut ends = scanns::CsvEnds::new(None);
/// assert_eq!(ends.find(b"a,\"b"), None); // the record goes on
/// assert_eq!(ends.find(b"\nc\"\nd,e\n"), Some(4)); // behind the line feed that is not in quotes
/// ```
#[derive(Clone, Debug)]
pub struct CsvEnds {
    delimiter: Option<u8>,
    quoted: bool,
    last: Last,
}

impl CsvEnds {
    /// From the start of a record; without a delimiter, as in front of the header, each of `, ; | tab` is one.
    pub fn new(delimiter: Option<CsvDelimiter>) -> Self {
        CsvEnds { delimiter: delimiter.map(CsvDelimiter::byte), quoted: false, last: Last::Ended }
    }

    /// True at the start of a record; at the end of a file, no record is left then.
    pub fn is_at_start(&self) -> bool {
        !self.quoted && self.last == Last::Ended
    }

    fn delimits(&self, byte: u8) -> bool {
        self.delimiter.map_or_else(|| USUAL.contains(&byte), |delimiter| delimiter == byte)
    }

    /// The place behind the line feed that ends the record at hand; `None` if it goes on behind `bytes`.
    ///
    /// `bytes` are those that follow the ones which were given before: after `None` the next piece, after an end what
    /// comes behind it.
    pub fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            if self.quoted {
                let quote = memchr::memchr(b'"', rest)?;
                (self.quoted, self.last) = (false, Last::Closed);
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
                self.last = Last::Ended;
                return Some(at);
            }
            (self.quoted, self.last) = (self.last != Last::Other, Last::Other);
        }
    }

    /// Goes past bytes without quotes and line feeds.
    fn pass(&mut self, bytes: &[u8]) {
        if let Some(&last) = bytes.last() {
            self.last = if self.delimits(last) { Last::Delimiter } else { Last::Other };
        }
    }
}
