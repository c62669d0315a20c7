//! Reads the rows of a dump with the layout of its format string.

use std::ops::{ControlFlow, Range};

use memchr::memmem;

use super::format::{FindDialect, FindField};
use super::layout::{RowLayout, RowSlot};
use super::values::{put, unescape};
use crate::record::dump::{DumpTally, ReadRows, Visit};
use crate::source::{Entry, EntryKind};

/// The maximum number of lines that are joined to one row because a name may contain line feeds.
const JOINED: usize = 64;

/// The maximum number of bytes of a value that is not a name. It bounds the search in damaged dumps.
const VALUE: usize = 4096;

const NO_END: &str = "the dump ends inside this row";
const NO_PATH: &str = "the path is empty";

/// Rows of `find -printf`.
#[derive(Debug)]
pub struct FindRows {
    layout: RowLayout,
    /// True if bytes of paths that cannot be printed are written as `\ooo`.
    escaped: bool,
}

/// A row that was read: its entry, and whether its meaning was guessed.
struct FoundRow<'r> {
    entry: Entry<'r>,
    guess: Option<&'static str>,
}

/// The names of a row, before they become a path and a target.
#[derive(Clone, Copy, Default)]
struct Names<'r> {
    path: Option<&'r [u8]>,
    directory: Option<&'r [u8]>,
    name: Option<&'r [u8]>,
    /// The letter of the type.
    letter: Option<u8>,
}

impl FindRows {
    /// Rows that were printed with the format string `format`.
    ///
    /// # Errors
    /// What is wrong with the format, and what to write instead.
    pub fn new(format: &str, dialect: FindDialect) -> Result<Self, String> {
        Ok(FindRows { layout: RowLayout::new(format, dialect)?, escaped: false })
    }

    /// Rows in which bytes of paths that cannot be printed, and backslashes, are written as `\ooo`, as
    /// `rbh-find -escaped` does it.
    pub fn with_escapes(self) -> Self {
        FindRows { escaped: true, ..self }
    }

    /// True if `start` certainly begins with rows of this format: its first three rows, or all if there are
    /// fewer, can be read without a guess. Only formats with several values can say this.
    pub fn detect(&self, start: &[u8]) -> bool {
        let RowLayout { nuls, left, right, .. } = &self.layout;
        if nuls.is_none() || left.len() + right.len() < 3 {
            return false;
        }
        let mut at = 0;
        for row in 0..3 {
            match self.exact(start, at, &mut Vec::new()) {
                Ok((_, next)) => at = next,
                Err(_) => return row > 0 && (at == start.len() || !self.has_end(start, at)),
            }
        }
        true
    }

    fn has_end(&self, bytes: &[u8], at: usize) -> bool {
        memmem::find(bytes.get(at..).unwrap_or_default(), &self.layout.end).is_some()
    }

    /// Reads the row at `at` of bytes in which NUL ends every name; returns it and the start of the next.
    fn exact<'r>(
        &self,
        bytes: &'r [u8],
        at: usize,
        path: &'r mut Vec<u8>,
    ) -> Result<(Entry<'r>, usize), &'static str> {
        let RowLayout { head, left, names, right, .. } = &self.layout;
        let mut place = skip(bytes, at, head)?;
        let (mut entry, mut parts) = (Entry::default(), Names::default());
        for slot in left.iter().chain(names).chain(right) {
            let value = value_at(bytes, &mut place, slot)?;
            put(slot.field, value, &mut entry)?;
            parts.put(slot.field, value);
        }
        entry.mode = parts.mode(entry.mode);
        entry.path = parts.path(path).ok_or(NO_PATH)?;
        Ok((entry, place))
    }

    /// Reads a row without its end, in which a name may contain the text that follows it.
    fn row<'r>(&self, row: &'r [u8], path: &'r mut Vec<u8>) -> Result<FoundRow<'r>, &'static str> {
        let RowLayout { head, left, right, .. } = &self.layout;
        let (mut entry, mut parts) = (Entry::default(), Names::default());
        let mut start = skip(row, 0, head)?;
        for slot in left {
            let value = value_at(row, &mut start, slot)?;
            put(slot.field, value, &mut entry)?;
            parts.put(slot.field, value);
        }
        let mut end = row.len();
        for (at, slot) in right.iter().enumerate().rev() {
            let value = self.value_before(row, start, &mut end, at)?;
            put(slot.field, value, &mut entry)?;
            parts.put(slot.field, value);
        }
        let middle = row.get(start..end).ok_or("a value is missing")?;
        let guess = self.names(middle, &mut entry, &mut parts)?;
        entry.mode = parts.mode(entry.mode);
        entry.path = parts.path(path).ok_or(NO_PATH)?;
        Ok(FoundRow { entry, guess })
    }

    /// The value number `at` after the last name, which ends at byte `end`; moves `end` before the text that
    /// precedes the value.
    fn value_before<'r>(
        &self,
        row: &'r [u8],
        start: usize,
        end: &mut usize,
        at: usize,
    ) -> Result<&'r [u8], &'static str> {
        let before = match at.checked_sub(1) {
            Some(before) => self.layout.right.get(before),
            None => self.layout.names.last(),
        };
        let text = before.map(|slot| slot.after.as_slice()).unwrap_or_default();
        let part = row.get(start..*end).unwrap_or_default();
        let found = memmem::rfind(part, text).ok_or("a value is missing")?;
        *end = start + found;
        part.get(found + text.len()..).ok_or("a value is missing")
    }

    /// Divides the bytes between the other values into names.
    fn names<'r>(
        &self,
        middle: &'r [u8],
        entry: &mut Entry<'r>,
        parts: &mut Names<'r>,
    ) -> Result<Option<&'static str>, &'static str> {
        let names = &self.layout.names;
        let mut guess = None;
        let mut rest = middle;
        for (at, slot) in names.iter().enumerate() {
            let value = if at + 1 == names.len() {
                rest
            } else {
                let text = slot.after.as_slice();
                let later = names.get(at + 1).map(|slot| slot.field);
                let no_target = entry.kind.is_some_and(|kind| kind != EntryKind::Link);
                // Only links have a target, so its text stands at the end of all others.
                let found = if no_target && later == Some(FindField::Target) {
                    rest.len().checked_sub(text.len()).filter(|&end| rest.get(end..) == Some(text))
                } else if no_target && slot.field == FindField::Target {
                    rest.starts_with(text).then_some(0)
                } else {
                    if memmem::find_iter(rest, text).nth(names.len() - at - 1).is_some() {
                        guess = Some("a name contains the text between two names");
                    }
                    memmem::find(rest, text)
                };
                let (value, after) =
                    rest.split_at_checked(found.ok_or("a name is missing")?).unwrap_or((rest, &[]));
                rest = after.get(text.len()..).unwrap_or_default();
                value
            };
            put(slot.field, value, entry)?;
            parts.put(slot.field, value);
        }
        Ok(guess)
    }

    /// True if the line has the values before the names.
    fn begins_row(&self, line: &[u8]) -> bool {
        let mut entry = Entry::default();
        let Ok(mut at) = skip(line, 0, &self.layout.head) else { return false };
        self.layout.left.iter().all(|slot| {
            value_at(line, &mut at, slot).is_ok_and(|value| put(slot.field, value, &mut entry).is_ok())
        })
    }

    /// True if the line has the values after the names.
    fn ends_row(&self, line: &[u8]) -> bool {
        let (mut entry, mut end) = (Entry::default(), line.len());
        self.layout.right.iter().enumerate().rev().all(|(at, slot)| {
            let value = self.value_before(line, 0, &mut end, at);
            value.is_ok_and(|value| put(slot.field, value, &mut entry).is_ok())
        })
    }

    /// The end of the line at `at`, and the start of the next; `None` for a line without an end.
    fn line(&self, bytes: &[u8], at: usize) -> Option<(usize, usize)> {
        let end = at + memmem::find(bytes.get(at..)?, &self.layout.end)?;
        Some((end, end + self.layout.end.len()))
    }

    /// The bytes of the row that begins at `at`, and the start of the next. More lines than one belong to it
    /// if a name has line feeds.
    fn row_of_lines(&self, bytes: &[u8], at: usize) -> Option<(Range<usize>, usize)> {
        let (mut end, mut next) = self.line(bytes, at)?;
        let line = |from: usize, to: usize| bytes.get(from..to).unwrap_or_default();
        let RowLayout { left, right, .. } = &self.layout;
        let first = end;
        let whole = (at..first, next);
        if left.is_empty() && right.is_empty() || !self.begins_row(line(at, end)) {
            return Some(whole);
        }
        for _ in 1..JOINED {
            let Some((later_end, later)) = self.line(bytes, next) else { break };
            let later_line = line(next, later_end);
            if right.is_empty() {
                // The names stand last: they go on until another row begins.
                if self.begins_row(later_line) {
                    break;
                }
            } else if self.ends_row(line(at, end)) {
                break;
            } else if !left.is_empty() && self.row(later_line, &mut Vec::new()).is_ok() {
                // The row after it is whole, so this one is damaged.
                return Some(whole);
            }
            (end, next) = (later_end, later);
        }
        if !right.is_empty() && !self.ends_row(line(at, end)) {
            return Some(whole);
        }
        Some((at..end, next))
    }

    /// Reads rows in which NUL ends every name.
    fn read_exact(
        &self,
        bytes: &[u8],
        offset: u64,
        tally: &mut DumpTally,
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()> {
        let (mut at, mut path) = (0, Vec::new());
        while at < bytes.len() {
            at = match self.exact(bytes, at, &mut path) {
                Ok((entry, next)) => {
                    visit(&entry)?;
                    next
                }
                Err(reason) => match self.next_row(bytes, at) {
                    Some(next) => {
                        tally.bad(offset + at as u64, reason, bytes.get(at..next).unwrap_or_default());
                        next
                    }
                    None => {
                        cut(bytes, at, offset, tally);
                        bytes.len()
                    }
                },
            };
        }
        ControlFlow::Continue(())
    }

    /// The start of the row after the damaged one at `at`.
    fn next_row(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let mut from = at;
        loop {
            let (_, next) = self.line(bytes, from)?;
            if next >= bytes.len() || self.exact(bytes, next, &mut Vec::new()).is_ok() {
                return Some(next);
            }
            from = next;
        }
    }

    /// The number of bytes of complete rows where NUL ends every name and a row has `nuls` NUL bytes.
    ///
    /// Rows are found by counting NUL bytes; a row is only read where their number shows that it is damaged.
    fn complete_exact(&self, bytes: &[u8], nuls: usize) -> usize {
        let after_nul = self.layout.end.iter().rev().take_while(|&&byte| byte != 0).count();
        let (mut at, mut path) = (0, Vec::new());
        while at < bytes.len() {
            let rest = bytes.get(at..).unwrap_or_default();
            let end =
                memchr::memchr_iter(0, rest).nth(nuls.saturating_sub(1)).map(|nul| at + nul + 1 + after_nul);
            let Some(end) = end.filter(|&end| end <= bytes.len()) else { break };
            let is_row = bytes.get(at..end).is_some_and(|row| row.ends_with(&self.layout.end));
            at = if is_row {
                end
            } else if let Ok((_, next)) = self.exact(bytes, at, &mut path) {
                next
            } else {
                match self.next_row(bytes, at) {
                    Some(next) if next < bytes.len() => next,
                    // The end of a damaged row is only certain before another row.
                    _ => break,
                }
            };
        }
        at
    }
}

impl ReadRows for FindRows {
    fn complete(&self, bytes: &[u8]) -> usize {
        let RowLayout { end, left, right, nuls, .. } = &self.layout;
        if let Some(nuls) = *nuls {
            return self.complete_exact(bytes, nuls);
        }
        let mut next = match memmem::rfind(bytes, end) {
            Some(last) => last + end.len(),
            None => return 0,
        };
        if left.is_empty() && right.is_empty() {
            return next;
        }
        // Names with line feeds must not be divided.
        loop {
            let Some(last) = next.checked_sub(end.len()).and_then(|end| bytes.get(..end)) else { return 0 };
            let start = memmem::rfind(last, end).map_or(0, |before| before + end.len());
            let line = last.get(start..).unwrap_or_default();
            if right.is_empty() && self.begins_row(line) {
                return start;
            }
            if !right.is_empty() && self.ends_row(line) {
                return next;
            }
            if start == 0 {
                return 0;
            }
            next = start;
        }
    }

    fn read(
        &self,
        bytes: &[u8],
        offset: u64,
        tally: &mut DumpTally,
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()> {
        if self.layout.nuls.is_some() {
            return self.read_exact(bytes, offset, tally, visit);
        }
        let (mut at, mut path, mut plain) = (0, Vec::new(), Vec::new());
        while at < bytes.len() {
            let Some((row, next)) = self.row_of_lines(bytes, at) else {
                cut(bytes, at, offset, tally);
                break;
            };
            let text = bytes.get(row.clone()).unwrap_or_default();
            let place = offset + row.start as u64;
            match self.row(text, &mut path) {
                Ok(found) => {
                    let joined = memmem::find(text, &self.layout.end).is_some();
                    let guess = found.guess.or(joined.then_some("a name seems to contain line feeds"));
                    if let Some(guess) = guess {
                        tally.guessed(place, guess, text);
                    }
                    if !self.escaped {
                        visit(&found.entry)?;
                    } else if unescape(found.entry.path, &mut plain) {
                        visit(&Entry { path: &plain, ..found.entry })?;
                    } else {
                        tally.bad(
                            place,
                            "a backslash in the path is not followed by three octal digits",
                            text,
                        );
                    }
                }
                Err(reason) => tally.bad(place, reason, text),
            }
            at = next;
        }
        ControlFlow::Continue(())
    }
}

/// Counts a row that the end of the dump cuts. Its path may be cut, too, so it is not an entry.
fn cut(bytes: &[u8], at: usize, offset: u64, tally: &mut DumpTally) {
    tally.truncated = true;
    tally.bad(offset + at as u64, NO_END, bytes.get(at..).unwrap_or_default());
}

/// The place after `text`, which must stand at `at`.
fn skip(bytes: &[u8], at: usize, text: &[u8]) -> Result<usize, &'static str> {
    let rest = bytes.get(at..).unwrap_or_default();
    if rest.starts_with(text) {
        Ok(at + text.len())
    } else {
        Err("the text before the first value is missing")
    }
}

/// The value at `at`, which goes on to the text after it; moves `at` behind this text.
#[inline]
fn value_at<'r>(bytes: &'r [u8], at: &mut usize, slot: &RowSlot) -> Result<&'r [u8], &'static str> {
    const MISSING: &str = "a value is missing";
    let rest = bytes.get(*at..).ok_or(MISSING)?;
    let rest = if slot.field.is_name() { rest } else { rest.get(..VALUE).unwrap_or(rest) };
    let len = match *slot.after.as_slice() {
        [] => None,
        [byte] => memchr::memchr(byte, rest),
        [first, ..] => {
            let mut places = memchr::memchr_iter(first, rest);
            if slot.field.is_name() {
                // NUL ends a name, whatever follows it.
                places.next().filter(|&len| rest.get(len..).is_some_and(|rest| rest.starts_with(&slot.after)))
            } else {
                places.find(|&len| rest.get(len..).is_some_and(|rest| rest.starts_with(&slot.after)))
            }
        }
    };
    let len = len.ok_or(MISSING)?;
    *at += len + slot.after.len();
    rest.get(..len).ok_or(MISSING)
}

impl<'r> Names<'r> {
    #[inline]
    fn put(&mut self, field: FindField, value: &'r [u8]) {
        match field {
            FindField::Path => self.path = Some(value),
            FindField::Directory => self.directory = Some(value),
            FindField::Name => self.name = Some(value),
            FindField::Kind => self.letter = value.first().copied(),
            _ => {}
        }
    }

    /// The mode, in which the letter of the type tells block devices from others.
    #[inline]
    fn mode(self, mode: Option<u32>) -> Option<u32> {
        match (mode, self.letter) {
            (Some(mode), Some(b'b')) if mode < 0o10_000 => Some(mode | 0o060_000),
            (Some(mode), Some(b'c')) if mode < 0o10_000 => Some(mode | 0o020_000),
            (mode, _) => mode,
        }
    }

    /// The path, without a slash at its end; `space` is used for a path of two parts.
    #[inline]
    fn path(self, space: &'r mut Vec<u8>) -> Option<&'r [u8]> {
        if let Some(path) = self.path {
            return match path {
                [] => None,
                [rest @ .., b'/'] if !rest.is_empty() => Some(rest),
                path => Some(path),
            };
        }
        let (directory, name) = (self.directory?, self.name?);
        let name = name.strip_suffix(b"/").filter(|rest| !rest.is_empty()).unwrap_or(name);
        // A starting point has no directory, or the current one.
        if name.starts_with(b"/") || name == b"." && directory == b"." {
            return Some(name);
        }
        space.clear();
        space.extend_from_slice(directory);
        space.push(b'/');
        space.extend_from_slice(name);
        if name.is_empty() { None } else { Some(space) }
    }
}
