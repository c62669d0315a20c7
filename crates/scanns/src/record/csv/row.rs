//! The values of a row.

use crate::record::error::RecordError;
use crate::record::raw::{RawScalar, ScalarKind};

/// How rows are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowShape {
    /// The byte between values.
    pub(super) delimiter: u8,
    /// True if a quote at the start of a value quotes it, false if quotes are ordinary characters.
    pub(super) quotes: bool,
    /// The maximum number of values.
    pub(super) names: usize,
}

/// A row without its line end.
pub(super) fn without_line_end(record: &[u8]) -> &[u8] {
    let record = record.strip_suffix(b"\n").unwrap_or(record);
    record.strip_suffix(b"\r").unwrap_or(record)
}

/// The number of values of a line if quotes are ordinary characters; 0 for a blank line.
pub(super) fn count_plain(line: &[u8], delimiter: u8) -> usize {
    let line = without_line_end(line);
    if line.is_empty() { 0 } else { memchr::memchr_iter(delimiter, line).count() + 1 }
}

/// Calls `visit` with every value of a row. Returns false if the row is blank.
pub(super) fn parse_row(
    record: &[u8],
    shape: RowShape,
    visit: &mut impl FnMut(RawScalar),
) -> Result<bool, RecordError> {
    if u32::try_from(record.len()).is_err() {
        return Err(RecordError::TooLong { len: record.len() });
    }
    let RowShape { delimiter, quotes, names } = shape;
    let record = without_line_end(record);
    if record.is_empty() {
        return Ok(false);
    }
    let (mut at, mut number) = (0, 0usize);
    loop {
        if number == names {
            return Err(RecordError::TooMany { at, names });
        }
        let rest = record.get(at..).unwrap_or_default();
        let (kind, start, end, next) = if quotes && rest.first() == Some(&b'"') {
            let (kind, end) = quoted(record, at + 1)?;
            (kind, at + 1, end, end + 1)
        } else {
            let end = memchr::memchr(delimiter, rest).map_or(record.len(), |len| at + len);
            (if end == at { ScalarKind::Null } else { ScalarKind::Text }, at, end, end)
        };
        // The record is shorter than 4 GiB.
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        visit(RawScalar { name: place(number), kind, start: place(start), end: place(end) });
        match record.get(next) {
            None => return Ok(true),
            Some(byte) if *byte == delimiter => (at, number) = (next + 1, number + 1),
            Some(_) => return Err(RecordError::expected(next, "a delimiter or the end of the row")),
        }
    }
}

/// The kind of a quoted value that starts at `at`, and the position of its closing quote.
fn quoted(record: &[u8], mut at: usize) -> Result<(ScalarKind, usize), RecordError> {
    let mut kind = ScalarKind::Text;
    loop {
        let rest = record.get(at..).unwrap_or_default();
        let Some(len) = memchr::memchr(b'"', rest) else {
            return Err(RecordError::expected(record.len(), "the closing quote of a value"));
        };
        if rest.get(len + 1) != Some(&b'"') {
            return Ok((kind, at + len));
        }
        kind = ScalarKind::Doubled;
        at += len + 2;
    }
}
