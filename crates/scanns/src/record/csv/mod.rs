//! CSV (RFC 4180): where a record ends (`ends.rs`), the names in the header, the values of a row.
//!
//! ```text
//! file   = [ BOM ] header { row }
//! row    = value { delimiter value } ( LF | CR LF | end of file )
//! value  = plain | '"' { any byte but '"', or two of them } '"'
//! plain  = any bytes but delimiter and LF, of which the first is not '"'
//! ```
//!
//! Quoted values may hold delimiters and line feeds. A quote inside a plain value is a character as any other; behind
//! the quote that ends a value only a delimiter or the end of the row may follow. Nothing between two delimiters is no
//! value, `""` is an empty text. A row that is empty is none; one with fewer values than the header has names lacks
//! the last; one with more is malformed. Bytes need not be UTF-8: a text keeps what it is given.

mod ends;
#[cfg(test)]
mod tests;

pub use ends::CsvEnds;

use super::error::RecordError;
use super::raw::{Kind, Raw, Scalar};
use crate::error::{Error, Result};

/// The delimiters that are looked for in a header, in the order in which they are preferred.
const USUAL: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The byte between the values of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsvDelimiter(u8);

impl CsvDelimiter {
    /// Parses one character of ASCII, or `tab`.
    ///
    /// # Errors
    /// [`Error::Options`] for everything else, and for what has another meaning: quotes, line feed, carriage return.
    pub fn parse(text: &str) -> Result<Self> {
        match text.as_bytes() {
            b"tab" | b"\\t" => Ok(CsvDelimiter(b'\t')),
            &[byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(CsvDelimiter(byte)),
            _ => Err(Error::Options(format!(
                "delimiter {text:?} cannot be: use one character of ASCII but a quote or a line end, or tab"
            ))),
        }
    }

    /// The byte.
    pub fn byte(self) -> u8 {
        self.0
    }

    /// The one that stands most often in a header outside of quotes; a comma if none of the usual ones does.
    fn guess(header: &[u8]) -> Self {
        let mut counts = [0u64; USUAL.len()];
        let (mut quoted, mut last) = (false, b',');
        for &byte in header {
            if byte == b'"' && (quoted || last == b'"' || USUAL.contains(&last)) {
                quoted = !quoted;
            } else if !quoted
                && let Some(count) =
                    USUAL.iter().position(|usual| *usual == byte).and_then(|at| counts.get_mut(at))
            {
                *count += 1;
            }
            last = byte;
        }
        let most = counts.iter().copied().max().unwrap_or(0);
        let first = USUAL.iter().zip(counts).find(|(_, count)| *count == most);
        CsvDelimiter(first.map_or(b',', |(usual, _)| *usual))
    }
}

/// The first record of a file of CSV: the names of the columns, and what delimits them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvHeader {
    delimiter: CsvDelimiter,
    names: Vec<String>,
}

impl CsvHeader {
    /// Reads a header, with its line end or without. The delimiter is that of `, ; | tab` which stands in it most often,
    /// unless it is given.
    ///
    /// # Errors
    /// A header that is malformed or without names.
    pub fn parse(record: &[u8], delimiter: Option<CsvDelimiter>) -> std::result::Result<Self, RecordError> {
        let record = record.strip_prefix(super::BYTE_ORDER_MARK).unwrap_or(record);
        let delimiter = delimiter.unwrap_or_else(|| CsvDelimiter::guess(record));
        let mut cells = Vec::new();
        if !row(record, delimiter, usize::MAX, &mut |cell| cells.push(cell))? {
            return Err(RecordError::expected(0, "a header, the names of the columns,"));
        }
        let mut text = Vec::new();
        let mut name = |cell: &Raw| match cell.scalar(record, &mut text) {
            Some(Scalar::Text(name)) => String::from_utf8_lossy(name).into_owned(),
            _ => String::new(),
        };
        Ok(CsvHeader { delimiter, names: cells.iter().map(&mut name).collect() })
    }

    /// The names of the columns, as they are in the file.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What delimits values.
    pub fn delimiter(&self) -> CsvDelimiter {
        self.delimiter
    }

    /// Tells `visit` every value of a row, by the number of its column. False if the row is blank.
    pub(super) fn parse_row(
        &self,
        record: &[u8],
        visit: &mut impl FnMut(Raw),
    ) -> std::result::Result<bool, RecordError> {
        row(record, self.delimiter, self.names.len(), visit)
    }
}

/// Tells `visit` every value of a row that has at most `names`. False if it is blank.
fn row(
    record: &[u8],
    CsvDelimiter(delimiter): CsvDelimiter,
    names: usize,
    visit: &mut impl FnMut(Raw),
) -> std::result::Result<bool, RecordError> {
    if u32::try_from(record.len()).is_err() {
        return Err(RecordError::TooLong { len: record.len() });
    }
    let record = record.strip_suffix(b"\n").unwrap_or(record);
    let record = record.strip_suffix(b"\r").unwrap_or(record);
    if record.is_empty() {
        return Ok(false);
    }
    let (mut at, mut number) = (0, 0usize);
    loop {
        if number == names {
            return Err(RecordError::TooMany { at, names });
        }
        let rest = record.get(at..).unwrap_or_default();
        let (kind, start, end, next) = if rest.first() == Some(&b'"') {
            let (kind, end) = quoted(record, at + 1)?;
            (kind, at + 1, end, end + 1)
        } else {
            let end = memchr::memchr(delimiter, rest).map_or(record.len(), |len| at + len);
            (if end == at { Kind::Null } else { Kind::Text }, at, end, end)
        };
        // The record is shorter than 4 GiB.
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        visit(Raw { name: place(number), kind, start: place(start), end: place(end) });
        match record.get(next) {
            None => return Ok(true),
            Some(byte) if *byte == delimiter => (at, number) = (next + 1, number + 1),
            Some(_) => return Err(RecordError::expected(next, "a delimiter or the end of the row")),
        }
    }
}

/// Where the quote stands that ends a value which begins at `at`.
fn quoted(record: &[u8], mut at: usize) -> std::result::Result<(Kind, usize), RecordError> {
    let mut kind = Kind::Text;
    loop {
        let rest = record.get(at..).unwrap_or_default();
        let Some(len) = memchr::memchr(b'"', rest) else {
            return Err(RecordError::expected(record.len(), "the quote that ends a value"));
        };
        if rest.get(len + 1) != Some(&b'"') {
            return Ok((kind, at + len));
        }
        kind = Kind::Doubled;
        at += len + 2;
    }
}

/// Puts a value into `out`, with one quote for every two that follow each other.
pub(super) fn undouble(raw: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let mut rest = raw;
    while let Some(quote) = memchr::memchr(b'"', rest) {
        out.extend_from_slice(rest.get(..=quote).unwrap_or_default());
        rest = rest.get(quote + 1..).unwrap_or_default();
        rest = rest.strip_prefix(b"\"").unwrap_or(rest);
    }
    out.extend_from_slice(rest);
}
