//! The new format of traces: names are read by their lengths, and rows are found from the start of a part.
//!
//! A name may look like the end of a row and the start of another, so the ends of rows are found from the
//! first row on, at about 1 GB/s (200 ns for a row of 200 bytes). Looking at eight bytes at a time instead of
//! calling `memchr2` for each column was faster by a sixth only.
//!
//! A damaged row ends at the first separator with a line feed behind the place where it cannot be read.

use std::ops::ControlFlow;

use memchr::{memchr, memchr_iter, memchr2, memmem};

use super::trace::{GufiRow, GufiTrace, NAMES};
use crate::record::dump::number::hexadecimal;
use crate::record::dump::rows::Reason;
use crate::record::dump::{DumpTally, Visit};

/// The longest column that has no length before it: a number of 64 bits has at most 20 digits.
const LONGEST: usize = 32;
/// The most bytes of extended attributes whose end is guessed.
const LONGEST_XATTRS: usize = 1 << 16;
/// The separator of the names and values of extended attributes.
const XATTR_SEPARATOR: u8 = 0x1f;

/// Why a row cannot be taken apart.
pub(super) struct Stop {
    /// Whether the bytes end inside the row, so that more of them may make it complete.
    short: bool,
    /// The byte that cannot be part of the row.
    place: usize,
    reason: Reason,
}

/// The number of bytes of the complete rows at the start of `bytes`.
pub(super) fn complete(bytes: &[u8], trace: GufiTrace) -> usize {
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let length = match cut(rest, trace.separator, false) {
            Ok(row) => Some(row.length),
            Err(stop) if stop.short => None,
            Err(stop) => after_damage(rest, trace, stop.place),
        };
        match length {
            Some(length) => at += length,
            None => break,
        }
    }
    at
}

/// Calls `visit` for the entries in `bytes`.
pub(super) fn read(
    bytes: &[u8],
    offset: u64,
    trace: GufiTrace,
    tally: &mut DumpTally,
    visit: &mut Visit<'_>,
) -> ControlFlow<()> {
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let place = offset + at as u64;
        let mut row = cut(rest, trace.separator, false);
        if row.as_ref().is_err_and(|stop| stop.short) {
            row = cut(rest, trace.separator, true);
        }
        at += match row {
            Ok(row) => {
                match row.visit(place, tally, visit) {
                    Ok(flow) => flow?,
                    Err(reason) => tally.bad(place, reason, rest.get(..row.length).unwrap_or(rest)),
                }
                row.length
            }
            Err(stop) => {
                let length = after_damage(rest, trace, stop.place);
                tally.truncated |= length.is_none();
                tally.bad(place, stop.reason, length.and_then(|length| rest.get(..length)).unwrap_or(rest));
                length.unwrap_or(rest.len())
            }
        };
    }
    ControlFlow::Continue(())
}

/// The length of a row that cannot be read behind `place`.
fn after_damage(rest: &[u8], trace: GufiTrace, place: usize) -> Option<usize> {
    let from = place.saturating_sub(1);
    memmem::find(rest.get(from..)?, &trace.end()).map(|end| from + end + 2)
}

/// Takes the row at the start of `bytes` apart. If `last` is true, the bytes are the end of the dump, and the
/// row may lack its line feed, and the separator before it.
pub(super) fn cut(bytes: &[u8], separator: u8, last: bool) -> Result<GufiRow<'_>, Stop> {
    let mut row = GufiRow::EMPTY;
    let mut cursor = Cursor { bytes, at: 0, separator, index: 0 };
    for (index, cell) in row.cells.iter_mut().enumerate() {
        cursor.index = index;
        *cell = match index {
            0 | 13 | 20 | 21 => cursor.text()?,
            14 => {
                let (xattrs, guessed) = cursor.xattrs(last)?;
                row.guessed = guessed.then_some("the extended attributes are shorter than their length says");
                xattrs
            }
            22 if last && memchr(separator, cursor.rest()).is_none() => {
                row.closed = false;
                cursor.all()?
            }
            _ => cursor.column()?,
        };
        if index == 1 && *cell == b"e" {
            row.external = true;
            break;
        }
    }
    match cursor.rest().first() {
        Some(b'\n') => cursor.at += 1,
        None if last => {}
        next => {
            let reason = "the row does not end after its last column".into();
            return Err(Stop { short: next.is_none(), place: cursor.at, reason });
        }
    }
    row.length = cursor.at;
    Ok(row)
}

/// A place in a row.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    separator: u8,
    /// The column that comes next, from 0.
    index: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    #[cold]
    fn stop(&self, short: bool, what: &str) -> Stop {
        let name = NAMES.get(self.index).copied().unwrap_or_default();
        Stop { short, place: self.at, reason: format!("column {} ({name}) {what}", self.index + 1) }
    }

    /// The next column, which has no length.
    fn column(&mut self) -> Result<&'a [u8], Stop> {
        let rest = self.rest();
        let start = rest.get(..=LONGEST).unwrap_or(rest);
        match memchr2(self.separator, b'\n', start) {
            Some(end) if start.get(end) == Some(&self.separator) => {
                self.at += end + 1;
                Ok(start.split_at(end).0)
            }
            found => {
                let short = found.is_none() && start.len() <= LONGEST;
                Err(self.stop(short, "does not end with the separator"))
            }
        }
    }

    /// All that is left of the dump, as the last column.
    fn all(&mut self) -> Result<&'a [u8], Stop> {
        let rest = self.rest();
        if rest.is_empty() || rest.len() > LONGEST || !rest.iter().all(u8::is_ascii_digit) {
            return Err(self.stop(false, "is not a number"));
        }
        self.at = self.bytes.len();
        Ok(rest)
    }

    /// The number in the next four bytes.
    fn length(&mut self) -> Result<usize, Stop> {
        let digits = self.rest().get(..4);
        let length = digits.and_then(hexadecimal).and_then(|length| usize::try_from(length).ok());
        let Some(length) = length else {
            return Err(self.stop(digits.is_none(), "has no length of four hexadecimal digits before it"));
        };
        self.at += 4;
        Ok(length)
    }

    /// The next column, which has its length before it.
    fn text(&mut self) -> Result<&'a [u8], Stop> {
        let length = self.length()?;
        self.take(length).ok_or_else(|| {
            let short = self.rest().len() <= length;
            self.stop(short, "does not end where its length says")
        })
    }

    /// The next `length` bytes, if the separator follows them.
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let rest = self.rest();
        let text = rest.get(..length)?;
        rest.get(length).filter(|byte| **byte == self.separator)?;
        self.at += length + 1;
        Some(text)
    }

    /// The column of extended attributes, and whether its end was guessed: GUFI writes a value only up to its
    /// first NUL byte to a pipe, but counts all its bytes.
    fn xattrs(&mut self, last: bool) -> Result<(&'a [u8], bool), Stop> {
        let start = self.at;
        let damage = match self.text() {
            Ok(text) if text.len() == 4 || text.last() == Some(&XATTR_SEPARATOR) => return Ok((text, false)),
            Err(stop) if stop.short && !last => return Err(stop),
            _ => start + 4,
        };
        self.at = damage;
        let damage = self.stop(false, "does not end where its length says");
        let Ok(pairs) = self.length() else { return Err(damage) };
        let rest = self.rest();
        let window = rest.get(..LONGEST_XATTRS).unwrap_or(rest);
        let mut ends = memchr_iter(XATTR_SEPARATOR, window);
        let length = if pairs == 0 { Some(0) } else { ends.nth(2 * pairs - 1).map(|end| end + 1) };
        let short = length.is_none_or(|length| length == rest.len()) && rest.len() < LONGEST_XATTRS;
        let guessed = length.and_then(|length| self.take(length));
        guessed.map(|text| (text, true)).ok_or(Stop { short: short && !last, ..damage })
    }
}
