//! The list of a LIST rule, a file a line:
//!
//! ```text
//! inode generation snapshot [SHOW] -- /path
//! ```
//!
//! Names may contain every byte but NUL. If the rule says `ESCAPE '%'`, bytes of the path and of SHOW are
//! written `%XX`; without it, a name with a line feed is two lines, of which the second cannot be read.

use std::ops::ControlFlow;

use memchr::{memchr, memmem};

use super::ShowColumns;
use crate::record::dump::number::hexadecimal_digit;
use crate::record::dump::rows::{self, Cells, DumpRow, Reason, Visited, all_rows, complete_rows, each_row};
use crate::record::dump::{DumpTally, ReadRows, Visit};
use crate::source::Entry;

/// Reads the list of a LIST rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyList {
    /// Whether the rule says `ESCAPE`, so that `%XX` stands for a byte.
    pub escaped: bool,
    /// What the values of the SHOW clause are; they are ignored if it is `None`.
    pub show: Option<ShowColumns>,
}

/// What a row may be that does not begin with a number.
const REST: &str = " (if it is the rest of a name with a line feed, the rule needs ESCAPE '%')";

/// The parts of a row.
#[derive(Clone, Copy)]
struct ListRow<'a> {
    inode: u64,
    show: &'a [u8],
    path: &'a [u8],
}

/// Memory for texts without their escapes, used again for each row.
#[derive(Default)]
struct Unescaped {
    path: Vec<u8>,
    show: Vec<u8>,
}

impl PolicyList {
    /// A list if all rows at the `start` of a dump are rows of a list with absolute paths; it is escaped if
    /// the slashes are. Slashes may be left as they are in an escaped list, which cannot be detected.
    pub fn detect(start: &[u8]) -> Option<Self> {
        let slash = |path: &[u8]| (path.starts_with(b"/"), path.starts_with(b"%2F"));
        let list = |escaped: bool| {
            let is_row =
                |row: &[u8]| ListRow::of(row).is_ok_and(|row| slash(row.path) == (!escaped, escaped));
            all_rows(start, b'\n', is_row).then_some(PolicyList { escaped, show: None })
        };
        list(false).or_else(|| list(true))
    }

    fn row(
        &self,
        row: &DumpRow<'_>,
        texts: &mut Unescaped,
        tally: &mut DumpTally,
        visit: &mut Visit<'_>,
    ) -> Visited {
        let mut parts = ListRow::of(row.bytes)?;
        let mut guess = None;
        if self.escaped {
            let whole =
                unescape(&mut parts.path, &mut texts.path) & unescape(&mut parts.show, &mut texts.show);
            guess = (!whole).then_some("a % without two hexadecimal digits stands for itself");
        } else if !parts.path.starts_with(b"/")
            && let Some(later) = parts.later_path(row.bytes)
        {
            parts = later;
            guess = Some("the values of SHOW contain ' -- '");
        }
        let path = rows::path(parts.path)?;
        let mut entry = Entry { path, inode: Some(parts.inode), ..Entry::default() };
        if let Some(show) = &self.show
            && !show.read(parts.show, &mut entry)?
        {
            guess = Some("SHOW does not have as many values as columns are named");
        }
        if let Some(guess) = guess {
            tally.guessed(row.offset, guess, row.bytes);
        }
        Ok(visit(&entry))
    }
}

impl<'a> ListRow<'a> {
    /// Takes a row apart.
    fn of(row: &'a [u8]) -> Result<Self, Reason> {
        let mut cells = Cells::new(row, b' ');
        let inode = cells.next("inode")?;
        let inode = inode.decimal().map_err(|reason| reason + REST)?;
        cells.next("generation")?.decimal()?;
        let snapshot = cells.next("snapshot")?;
        snapshot.decimal()?;
        let before = row.len() - cells.rest().map_or(0, |rest| rest.len() + 1);
        let rest = row.get(before..).unwrap_or_default();
        let Some(end) = memmem::find(rest, b" -- ") else {
            return Err("there is no ' -- ' before the path".into());
        };
        let (show, path) = rest.split_at_checked(end).unwrap_or_default();
        Ok(ListRow { inode, show, path: path.get(4..).unwrap_or_default() })
    }

    /// The parts of the row `row` if the values of SHOW contain the mark before the path.
    fn later_path(self, row: &'a [u8]) -> Option<Self> {
        let end = memmem::find(self.path, b" -- /")?;
        let values = row.get(row.len() - self.path.len() - 4 - self.show.len()..)?;
        let show = values.get(..self.show.len() + 4 + end)?;
        Some(ListRow { show, path: self.path.get(end + 4..)?, ..self })
    }
}

/// Replaces `%XX` in `text` with the byte, in `memory`; false if a `%` has no two digits and was left.
fn unescape<'a>(text: &mut &'a [u8], memory: &'a mut Vec<u8>) -> bool {
    if memchr(b'%', text).is_none() {
        return true;
    }
    let mut whole = true;
    let mut rest = *text;
    memory.clear();
    while let Some(escape) = memchr(b'%', rest) {
        let (plain, after) = rest.split_at(escape);
        memory.extend_from_slice(plain);
        let byte = match after {
            [_, high, low, ..] => hexadecimal_digit(*high).zip(hexadecimal_digit(*low)),
            _ => None,
        };
        let (byte, length) = match byte {
            Some((high, low)) => (high << 4 | low, 3),
            None => {
                whole = false;
                (b'%', 1)
            }
        };
        memory.push(byte);
        rest = after.get(length..).unwrap_or_default();
    }
    memory.extend_from_slice(rest);
    *text = memory;
    whole
}

impl ReadRows for PolicyList {
    fn complete(&self, bytes: &[u8]) -> usize {
        complete_rows(bytes, b'\n')
    }

    fn read(
        &self,
        bytes: &[u8],
        offset: u64,
        tally: &mut DumpTally,
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()> {
        let mut texts = Unescaped::default();
        each_row(bytes, offset, b'\n', tally, &mut |row, tally| self.row(row, &mut texts, tally, visit))
    }
}
