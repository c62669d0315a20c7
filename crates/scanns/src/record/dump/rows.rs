//! What the readers of rows share: rows that end with a byte, columns between separators, and paths.

use std::ops::ControlFlow;

use memchr::{memchr, memrchr};

use super::number;
use super::tally::DumpTally;

/// The longest part of a value that a message shows.
const SHOWN: usize = 40;

/// The number of bytes at the start of a dump that tell its format.
const DETECTED: usize = 64 << 10;

/// The reason why a row cannot be read.
pub(super) type Reason = String;

/// What came of a row: whether to go on, or why it cannot be read.
pub(super) type Visited = Result<ControlFlow<()>, Reason>;

/// Reads a row and calls the visitor.
pub(super) type ReadRow<'r> = dyn FnMut(&DumpRow<'_>, &mut DumpTally) -> Visited + 'r;

/// A row of a dump, without the byte that ends it.
pub(super) struct DumpRow<'a> {
    /// Its bytes.
    pub(super) bytes: &'a [u8],
    /// Its place in the dump.
    pub(super) offset: u64,
}

/// The number of bytes up to the last `end` in `bytes`, with it.
pub(super) fn complete_rows(bytes: &[u8], end: u8) -> usize {
    memrchr(end, bytes).map_or(0, |last| last + 1)
}

/// Calls `read` for every row in `bytes` and counts the rows that it cannot read. A last row without `end` is
/// counted as guessed if it can be read, and as bad and cut if it cannot.
pub(super) fn each_row(
    bytes: &[u8],
    offset: u64,
    end: u8,
    tally: &mut DumpTally,
    read: &mut ReadRow<'_>,
) -> ControlFlow<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let row = DumpRow {
            bytes: memchr(end, rest).and_then(|length| rest.get(..length)).unwrap_or(rest),
            offset: offset + (bytes.len() - rest.len()) as u64,
        };
        let after = rest.get(row.bytes.len() + 1..);
        match read(&row, tally) {
            Ok(flow) => {
                if after.is_none() {
                    tally.guessed(
                        row.offset,
                        "the last row of the dump has no end: it may be cut",
                        row.bytes,
                    );
                }
                flow?;
            }
            Err(reason) => {
                tally.bad(row.offset, reason, row.bytes);
                tally.truncated |= after.is_none();
            }
        }
        rest = after.unwrap_or_default();
    }
    ControlFlow::Continue(())
}

/// Whether the first 64 KiB of a dump contain complete rows, and `is_row` holds for all of them.
pub(super) fn all_rows(start: &[u8], end: u8, is_row: impl Fn(&[u8]) -> bool) -> bool {
    let start = start.get(..DETECTED).unwrap_or(start);
    let rows = start.get(..complete_rows(start, end).saturating_sub(1)).unwrap_or_default();
    !rows.is_empty() && rows.split(|byte| *byte == end).all(is_row)
}

/// Takes the columns of a row one after the other.
pub(super) struct Cells<'a> {
    rest: Option<&'a [u8]>,
    separator: u8,
    number: usize,
}

impl<'a> Cells<'a> {
    pub(super) fn new(row: &'a [u8], separator: u8) -> Self {
        Cells { rest: Some(row), separator, number: 0 }
    }

    /// The next column, which the message about a bad row calls `name`.
    pub(super) fn next(&mut self, name: &'static str) -> Result<Cell<'a>, Reason> {
        self.number += 1;
        let Some(rest) = self.rest else {
            return Err(format!("the row ends before column {} ({name})", self.number));
        };
        let text = match memchr(self.separator, rest) {
            Some(end) => {
                let (text, after) = rest.split_at(end);
                self.rest = after.get(1..);
                text
            }
            None => {
                self.rest = None;
                rest
            }
        };
        Ok(Cell { text, number: self.number, name })
    }

    /// What stands between the quotes of the next column, in which quotes are doubled.
    pub(super) fn quoted(&mut self, name: &'static str) -> Result<&'a [u8], Reason> {
        let Some(rest) = self.rest else { return self.next(name).map(|cell| cell.text) };
        self.number += 1;
        let mut end = 1;
        while let Some(quote) = memchr(b'"', rest.get(end..).unwrap_or_default()) {
            end += quote + 1;
            match rest.get(end) {
                Some(b'"') => end += 1,
                next if next.is_none_or(|next| *next == self.separator) && rest.first() == Some(&b'"') => {
                    self.rest = rest.get(end + 1..);
                    return Ok(rest.get(1..end - 1).unwrap_or_default());
                }
                _ => break,
            }
        }
        Err(format!("column {} ({name}) is not in quotes", self.number))
    }

    /// Passes over columns whose content does not matter.
    pub(super) fn skip(&mut self, names: &[&'static str]) -> Result<(), Reason> {
        names.iter().try_for_each(|name| self.next(name).map(|_| ()))
    }

    /// What follows the columns that were taken.
    pub(super) fn rest(self) -> Option<&'a [u8]> {
        self.rest
    }
}

/// A column of a row.
#[derive(Clone, Copy)]
pub(super) struct Cell<'a> {
    /// Its bytes.
    pub(super) text: &'a [u8],
    /// Its place in the row, from 1.
    pub(super) number: usize,
    /// What it holds.
    pub(super) name: &'static str,
}

impl Cell<'_> {
    /// It without the quotes around it.
    pub(super) fn unquoted(self) -> Result<Self, Reason> {
        match self.text {
            [b'"', text @ .., b'"'] => Ok(Cell { text, ..self }),
            _ => Err(format!("column {} ({}) is not in quotes", self.number, self.name)),
        }
    }

    /// Its content as a number of 64 bits.
    pub(super) fn decimal(&self) -> Result<u64, Reason> {
        number::decimal(self.text).ok_or_else(|| self.is_not("a number"))
    }

    /// Its content as a number of 32 bits, as user and group ids are.
    pub(super) fn decimal32(&self) -> Result<u32, Reason> {
        number::decimal32(self.text).ok_or_else(|| self.is_not("a number of 32 bits"))
    }

    /// Its content as a number that may have a sign.
    pub(super) fn signed(&self) -> Result<i64, Reason> {
        number::signed(self.text).ok_or_else(|| self.is_not("a number"))
    }

    /// Its content as permissions in octal digits.
    pub(super) fn octal(&self) -> Result<u32, Reason> {
        number::octal(self.text).ok_or_else(|| self.is_not("an octal number"))
    }

    /// Its content as a time in seconds, in nanoseconds.
    pub(super) fn seconds(&self) -> Result<i64, Reason> {
        number::seconds(self.text).ok_or_else(|| self.is_not("a time in seconds"))
    }

    /// The message that it is not what it should be.
    #[cold]
    pub(super) fn is_not(&self, what: &str) -> Reason {
        format!("column {} ({}) is not {what}: '{}'", self.number, self.name, shown(self.text))
    }
}

/// Removes the second of two quotes, in `memory`, if `text` contains quotes.
pub(super) fn without_doubled_quotes<'a>(text: &'a [u8], memory: &'a mut Vec<u8>) -> &'a [u8] {
    if memchr(b'"', text).is_none() {
        return text;
    }
    memory.clear();
    let mut rest = text;
    while let Some(quote) = memchr(b'"', rest) {
        let (plain, after) = rest.split_at(quote + 1);
        memory.extend_from_slice(plain);
        rest = after.strip_prefix(b"\"").unwrap_or(after);
    }
    memory.extend_from_slice(rest);
    memory
}

/// The start of a text for a message.
pub(super) fn shown(text: &[u8]) -> String {
    let start = text.get(..SHOWN).unwrap_or(text).escape_ascii().to_string();
    if text.len() > SHOWN { start + "…" } else { start }
}

/// The path without a slash at its end, unless it is `/`.
pub(super) fn path(bytes: &[u8]) -> Result<&[u8], Reason> {
    match bytes {
        [] => Err("the path is empty".into()),
        [b'/'] => Ok(bytes),
        [start @ .., b'/'] => Ok(start),
        _ => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_loses_one_slash_at_its_end_and_an_empty_path_is_bad() {
        assert_eq!(path(b"/a/"), Ok(&b"/a"[..]));
        assert_eq!(path(b"/"), Ok(&b"/"[..]));
        assert_eq!(path(b"//"), Ok(&b"/"[..]));
        assert_eq!(path(b"a\n"), Ok(&b"a\n"[..]));
        assert_eq!(path(b""), Err("the path is empty".into()));
    }

    #[test]
    fn messages_name_the_column_and_show_the_start_of_its_content() {
        let mut cells = Cells::new(b"7,x\xff", b',');
        assert_eq!(cells.next("inode").unwrap().decimal(), Ok(7));
        let size = cells.next("size").unwrap();
        assert_eq!(size.decimal(), Err("column 2 (size) is not a number: 'x\\xff'".into()));
        assert_eq!(cells.next("mode").err(), Some("the row ends before column 3 (mode)".into()));
        assert_eq!(shown(&[b'a'; 41]), "a".repeat(40) + "…");
    }
}
