//! What both formats share: the options of a trace, and the columns of a row.

use std::ops::ControlFlow;

use crate::record::dump::rows::{Cell, Reason, Visited, path};
use crate::record::dump::{DumpTally, Visit};
use crate::source::{Entry, EntryKind};

/// The names of the columns.
pub(super) const NAMES: [&str; 23] = [
    "name",
    "type",
    "inode",
    "mode",
    "links",
    "uid",
    "gid",
    "size",
    "block size",
    "blocks",
    "atime",
    "mtime",
    "ctime",
    "linkname",
    "xattrs",
    "crtime",
    "ossint1",
    "ossint2",
    "ossint3",
    "ossint4",
    "osstext1",
    "osstext2",
    "parent inode",
];

/// Reads a trace of GUFI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GufiTrace {
    /// The byte after each column.
    pub separator: u8,
    /// Whether names have no lengths before them (`--old-trace-format`).
    pub old: bool,
}

impl GufiTrace {
    /// The separator of a trace unless another was chosen with `--delim`.
    pub const SEPARATOR: u8 = 0x1e;

    /// A trace of the new format with the usual separator.
    pub const fn new() -> Self {
        GufiTrace { separator: Self::SEPARATOR, old: false }
    }

    /// The bytes at the end of a row.
    pub(super) fn end(self) -> [u8; 2] {
        [self.separator, b'\n']
    }
}

impl Default for GufiTrace {
    fn default() -> Self {
        Self::new()
    }
}

/// The columns of a row.
pub(super) struct GufiRow<'a> {
    /// All columns without the lengths before them; of an external database, only the first two are set.
    pub(super) cells: [&'a [u8]; 23],
    /// The length of the row with its end.
    pub(super) length: usize,
    /// Whether it is the path of an external database.
    pub(super) external: bool,
    /// How the bounds of columns were guessed, if they do not stand where they should.
    pub(super) guessed: Option<&'static str>,
    /// Whether the row has the separator after its last column.
    pub(super) closed: bool,
}

impl<'a> GufiRow<'a> {
    pub(super) const EMPTY: GufiRow<'static> =
        GufiRow { cells: [&[]; 23], length: 0, external: false, guessed: None, closed: true };

    /// The column at `index`, counted from 0.
    pub(super) fn cell(&self, index: usize) -> Cell<'a> {
        let text = self.cells.get(index).copied().unwrap_or_default();
        Cell { text, number: index + 1, name: NAMES.get(index).copied().unwrap_or_default() }
    }

    /// The entry that the row describes.
    pub(super) fn entry(&self) -> Result<Entry<'a>, Reason> {
        let mode = self.cell(3).decimal32()?;
        let (kind, target) = match self.cell(1).text {
            b"d" => (EntryKind::Directory, None),
            b"l" => (EntryKind::Link, Some(self.cell(13).text)),
            b"f" => (other_kind(mode), None),
            _ => return Err(self.cell(1).is_not("d, f, l or e")),
        };
        let birth = self.cell(15).seconds()?;
        Ok(Entry {
            path: path(self.cell(0).text)?,
            kind: Some(kind),
            target,
            inode: Some(self.cell(2).decimal()?),
            mode: Some(mode),
            links: Some(self.cell(4).decimal()?),
            uid: Some(self.cell(5).decimal32()?),
            gid: Some(self.cell(6).decimal32()?),
            size: Some(self.cell(7).decimal()?),
            blocks: Some(self.cell(9).decimal()?),
            atime: Some(self.cell(10).seconds()?),
            mtime: Some(self.cell(11).seconds()?),
            ctime: Some(self.cell(12).seconds()?),
            btime: (birth != 0).then_some(birth),
            ..Entry::default()
        })
    }

    /// Calls `visit` with the entry, unless the row is the path of an external database.
    pub(super) fn visit(&self, offset: u64, tally: &mut DumpTally, visit: &mut Visit<'_>) -> Visited {
        if self.external {
            return Ok(ControlFlow::Continue(()));
        }
        let entry = self.entry()?;
        if let Some(guess) = self.guessed {
            tally.guessed(offset, guess, self.cell(0).text);
        }
        tally.truncated |= !self.closed;
        Ok(visit(&entry))
    }
}

/// The kind of what is neither a directory nor a link.
pub(super) fn other_kind(mode: u32) -> EntryKind {
    match EntryKind::of_mode(mode) {
        Some(EntryKind::Directory | EntryKind::Link) | None => EntryKind::File,
        Some(kind) => kind,
    }
}
