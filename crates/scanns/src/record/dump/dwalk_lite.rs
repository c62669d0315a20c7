//! The lists that `dwalk --lite` of mpiFileUtils writes: `path|F`, a row a line, with the letter of the type,
//! F for a file, D for a directory, L for a link, U for what is not known.
//!
//! Paths are not escaped. A row ends at a line feed that `|` and the letter of a type stand before, so that
//! names may contain `|` and line feeds. A path with a line feed is counted as guessed, since it may also be
//! a damaged row and the row after it.
//!
//! Source: `src/common/mfu_flist_io.c` of hpc/mpifileutils.

use std::ops::{ControlFlow, Range};

use memchr::{memchr, memchr_iter, memrchr_iter};

use super::rows::{self, Visited, all_rows};
use super::{DumpTally, ReadRows, Visit};
use crate::source::{Entry, EntryKind};

/// Reads a list of `dwalk --lite`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DwalkLite;

impl DwalkLite {
    /// The reader, if all of the rows at the `start` of a dump, two at least, are absolute paths with the
    /// letter of a type.
    pub fn detect(start: &[u8]) -> Option<Self> {
        let is_row = |row: &[u8]| row.starts_with(b"/") && kind(row).is_some();
        let two = memchr_iter(b'\n', start).nth(1).is_some();
        (two && all_rows(start, b'\n', is_row)).then_some(DwalkLite)
    }
}

impl ReadRows for DwalkLite {
    fn complete(&self, bytes: &[u8]) -> usize {
        let is_end = |end: &usize| bytes.get(..*end).and_then(kind).is_some();
        memrchr_iter(b'\n', bytes).find(is_end).map_or(0, |end| end + 1)
    }

    fn read(
        &self,
        bytes: &[u8],
        offset: u64,
        tally: &mut DumpTally,
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()> {
        let mut row = |bounds: Range<usize>, closed: bool, tally: &mut DumpTally| {
            let (offset, row) = (offset + bounds.start as u64, bytes.get(bounds).unwrap_or_default());
            read_row(row, offset, closed, tally, visit).unwrap_or_else(|reason| {
                tally.bad(offset, reason, row);
                ControlFlow::Continue(())
            })
        };
        let mut start = 0;
        for end in memchr_iter(b'\n', bytes) {
            if bytes.get(start..end).and_then(kind).is_some() {
                row(start..end, true, tally)?;
                start = end + 1;
            }
        }
        if start == bytes.len() {
            return ControlFlow::Continue(());
        }
        tally.truncated |= bytes.get(start..).and_then(kind).is_none();
        row(start..bytes.len(), false, tally)
    }
}

/// What the letter at the end of a row tells.
fn kind(row: &[u8]) -> Option<Option<EntryKind>> {
    match row {
        [.., b'|', b'F'] => Some(Some(EntryKind::File)),
        [.., b'|', b'D'] => Some(Some(EntryKind::Directory)),
        [.., b'|', b'L'] => Some(Some(EntryKind::Link)),
        [.., b'|', b'U'] => Some(None),
        _ => None,
    }
}

/// Calls `visit` with the entry in a row; `closed` says whether a line feed follows it.
fn read_row(row: &[u8], offset: u64, closed: bool, tally: &mut DumpTally, visit: &mut Visit<'_>) -> Visited {
    let kind = kind(row).ok_or("the row does not end with '|' and F, D, L or U")?;
    let path = rows::path(row.get(..row.len() - 2).unwrap_or_default())?;
    if memchr(b'\n', path).is_some() {
        tally.guessed(offset, "the path contains a line feed", row);
    } else if !closed {
        tally.guessed(offset, "the last row of the dump has no end: it may be cut", row);
    }
    Ok(visit(&Entry { path, kind, ..Entry::default() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::dump::testing::*;

    fn row(entry: &OwnedEntry) -> Vec<u8> {
        let letter: &[u8] = match entry.kind {
            Some(EntryKind::File) => b"|F\n",
            Some(EntryKind::Directory) => b"|D\n",
            Some(EntryKind::Link) => b"|L\n",
            _ => b"|U\n",
        };
        [&entry.path, letter].concat()
    }

    fn random_entry(random: &mut fastrand::Rng) -> OwnedEntry {
        let kinds = [Some(EntryKind::File), Some(EntryKind::Directory), Some(EntryKind::Link), None];
        let mut path = hostile_path(random, b"");
        while memchr_iter(b'\n', &path).any(|end| kind(&path[..end]).is_some()) {
            path = hostile_path(random, b"");
        }
        OwnedEntry { path, kind: *random.choice(&kinds).unwrap(), ..OwnedEntry::default() }
    }

    #[test]
    fn the_letter_is_cut_at_the_last_bar() {
        let (entries, tally) = read_whole(&DwalkLite, b"/a|F|D\n/b|L\n/\xff|U\n/c\nd|F\n");
        let paths: Vec<_> = entries.iter().map(|entry| (entry.path.as_slice(), entry.kind)).collect();
        let expected = [
            (&b"/a|F"[..], Some(EntryKind::Directory)),
            (b"/b", Some(EntryKind::Link)),
            (b"/\xff", None),
            (b"/c\nd", Some(EntryKind::File)),
        ];
        assert_eq!(paths, expected);
        assert_eq!((tally.bad, tally.guessed, tally.truncated), (0, 1, false));
    }

    #[test]
    fn a_last_row_without_its_end_is_guessed_or_cut() {
        let (entries, tally) = read_whole(&DwalkLite, b"/a|F\n/b|D");
        assert_eq!((entries.len(), tally.guessed, tally.truncated), (2, 1, false));
        let (entries, tally) = read_whole(&DwalkLite, b"/a|F\n/b|\n");
        assert_eq!((entries.len(), tally.bad, tally.truncated), (1, 1, true));
        let (entries, tally) = read_whole(&DwalkLite, b"|F\n");
        assert_eq!((entries.len(), tally.first_bad.unwrap().reason.as_str()), (0, "the path is empty"));
    }

    #[test]
    fn random_dumps_are_read_back_in_any_division() {
        let mut random = seeded();
        for _ in 0..200 {
            let expected: Vec<_> = (0..12).map(|_| random_entry(&mut random)).collect();
            let dump: Vec<u8> = expected.iter().flat_map(row).collect();
            let (entries, tally) = read_whole(&DwalkLite, &dump);
            let guessed = expected.iter().filter(|entry| entry.path.contains(&b'\n')).count() as u64;
            assert_eq!((entries, tally.bad, tally.guessed), (expected, 0, guessed));
            check_divisions(&DwalkLite, &dump, &mut random);
            check_stop(&DwalkLite, &dump, 3);
        }
    }

    #[test]
    fn damaged_dumps_never_panic_and_every_row_is_accounted_for() {
        let mut make = |random: &mut fastrand::Rng| (0..8).flat_map(|_| row(&random_entry(random))).collect();
        let account = |dump: &[u8], entries: u64, tally: &DumpTally| {
            let ends = memchr_iter(b'\n', dump).filter(|end| kind(&dump[..*end]).is_some());
            let last = ends.clone().next_back().map_or(0, |end| end + 1);
            assert_eq!(entries + tally.bad, ends.count() as u64 + u64::from(last < dump.len()));
        };
        check_damage(&DwalkLite, &mut seeded(), &mut make, &account);
    }
}
