//! The records that `mmapplypolicy -I prepare` writes and `-r` reads:
//!
//! ```text
//! iAggregate:WEIGHT:INODE:GENERATION:SIZE:iRule:resourceID:attr_flags:length!PATH:length!POOL[;length!SHOW]
//! ```
//!
//! The first eight numbers are hexadecimal, the lengths decimal. A minus sign before a length says that the
//! text has escapes, `\n` for a line feed and `\\` for `\`, which the length counts. A record ends with a
//! line feed, or with a NUL byte.

use std::ops::ControlFlow;

use memchr::memchr;

use super::ShowColumns;
use crate::record::dump::number::{decimal, hexadecimal};
use crate::record::dump::rows::{
    self, Cells, DumpRow, Reason, Visited, all_rows, complete_rows, each_row, shown,
};
use crate::record::dump::{DumpTally, ReadRows, Visit};
use crate::source::Entry;

/// Reads the records of `mmapplypolicy -I prepare`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyRecords {
    /// The byte after each record, a line feed or NUL.
    pub end: u8,
    /// What the values of the SHOW clause are; they are ignored if it is `None`.
    pub show: Option<ShowColumns>,
}

/// The parts of a record.
struct PolicyRecord<'a> {
    inode: u64,
    path: SizedText<'a>,
    pool: SizedText<'a>,
    show: SizedText<'a>,
}

/// A text with its length.
#[derive(Clone, Copy, Default)]
struct SizedText<'a> {
    text: &'a [u8],
    escaped: bool,
}

impl PolicyRecords {
    /// Records that end with a line feed, whose SIZE and SHOW are ignored.
    pub const fn new() -> Self {
        PolicyRecords { end: b'\n', show: None }
    }

    /// Records with the end that they have, if all rows at the `start` of a dump are records.
    pub fn detect(start: &[u8]) -> Option<Self> {
        let end = if memchr(0, start).is_some() { 0 } else { b'\n' };
        all_rows(start, end, |row| PolicyRecord::of(row).is_ok())
            .then_some(PolicyRecords { end, ..Self::new() })
    }

    fn row(
        &self,
        row: &DumpRow<'_>,
        texts: &mut [Vec<u8>; 3],
        tally: &mut DumpTally,
        visit: &mut Visit<'_>,
    ) -> Visited {
        let record = PolicyRecord::of(row.bytes)?;
        let [path, pool, show] = texts;
        let path = rows::path(record.path.unescape(path)?)?;
        let pool = Some(record.pool.unescape(pool)?).filter(|pool| !pool.is_empty());
        let mut entry = Entry { path, pool, inode: Some(record.inode), ..Entry::default() };
        if let Some(columns) = &self.show
            && !columns.read(record.show.unescape(show)?, &mut entry)?
        {
            tally.guessed(row.offset, "SHOW does not have as many values as columns are named", row.bytes);
        }
        Ok(visit(&entry))
    }
}

impl Default for PolicyRecords {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> PolicyRecord<'a> {
    /// Takes a record apart.
    fn of(row: &'a [u8]) -> Result<Self, Reason> {
        let mut cells = Cells::new(row, b':');
        let mut next = |name: &'static str| {
            let cell = cells.next(name)?;
            let number = hexadecimal(cell.text).ok_or_else(|| cell.is_not("a hexadecimal number"))?;
            Ok::<_, Reason>((cell, number))
        };
        next("iAggregate")?;
        next("WEIGHT")?;
        let (_, inode) = next("INODE")?;
        next("GENERATION")?;
        // What it counts depends on the rule.
        next("SIZE")?;
        next("iRule")?;
        next("resourceID")?;
        next("attr_flags")?;
        let rest = cells.rest().ok_or("the row ends before the length of the path")?;
        let (path, rest) = SizedText::split(rest, "path")?;
        let rest = rest.strip_prefix(b":").ok_or("the path does not end where its length says")?;
        let (pool, rest) = SizedText::split(rest, "pool")?;
        let (show, rest) = match rest {
            [b';', rest @ ..] => SizedText::split(rest, "SHOW")?,
            _ => (SizedText::default(), rest),
        };
        if !rest.is_empty() {
            return Err(format!("the row does not end where its lengths say: '{}' is left", shown(rest)));
        }
        Ok(PolicyRecord { inode, path, pool, show })
    }
}

impl<'a> SizedText<'a> {
    /// The text at the start of `bytes`, with its length before it, and what follows it.
    fn split(bytes: &'a [u8], name: &str) -> Result<(Self, &'a [u8]), Reason> {
        let end =
            memchr(b'!', bytes).ok_or_else(|| format!("there is no '!' after the length of the {name}"))?;
        let (digits, text) = bytes.split_at(end);
        let (escaped, digits) = match digits {
            [b'-', digits @ ..] => (true, digits),
            _ => (false, digits),
        };
        let length = decimal(digits).and_then(|length| usize::try_from(length).ok());
        let text = text.get(1..).unwrap_or_default();
        match length.map(|length| text.split_at_checked(length)) {
            Some(Some((text, rest))) => Ok((SizedText { text, escaped }, rest)),
            Some(None) => Err(format!("the row ends before the end of the {name}")),
            None => Err(format!("the length of the {name} is not a number: '{}'", shown(digits))),
        }
    }

    /// The text without its escapes, which uses `memory` if there are any.
    fn unescape(self, memory: &'a mut Vec<u8>) -> Result<&'a [u8], Reason> {
        if !self.escaped {
            return Ok(self.text);
        }
        memory.clear();
        let mut rest = self.text;
        while let Some(escape) = memchr(b'\\', rest) {
            let (plain, after) = rest.split_at(escape);
            memory.extend_from_slice(plain);
            memory.push(match after.get(1) {
                Some(b'n') => b'\n',
                Some(b'\\') => b'\\',
                _ => return Err(format!("unknown escape '{}'", shown(after.get(..2).unwrap_or(after)))),
            });
            rest = after.get(2..).unwrap_or_default();
        }
        memory.extend_from_slice(rest);
        Ok(memory)
    }
}

impl ReadRows for PolicyRecords {
    fn complete(&self, bytes: &[u8]) -> usize {
        complete_rows(bytes, self.end)
    }

    fn read(
        &self,
        bytes: &[u8],
        offset: u64,
        tally: &mut DumpTally,
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()> {
        let mut texts = [Vec::new(), Vec::new(), Vec::new()];
        each_row(bytes, offset, self.end, tally, &mut |row, tally| self.row(row, &mut texts, tally, visit))
    }
}
