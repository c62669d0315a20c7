//! Plain lists of paths, as `find` writes them: one path a line, or each path followed by a NUL byte
//! (`find -print0`), which is the only form that holds every name.
//!
//! In a list of lines, a name with a line feed is two lines, and nothing tells so.

use std::ops::ControlFlow;

use super::rows::{self, complete_rows, each_row};
use super::{DumpTally, ReadRows, Visit};
use crate::source::Entry;

/// Reads a list of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathList {
    /// The byte after each path.
    pub end: u8,
}

impl PathList {
    /// A list with one path a line.
    pub const LINES: PathList = PathList { end: b'\n' };
    /// A list with a NUL byte after each path.
    pub const NUL: PathList = PathList { end: 0 };
}

impl ReadRows for PathList {
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
        each_row(bytes, offset, self.end, tally, &mut |row, _| {
            if row.bytes.contains(&0) {
                return Err("the path contains a NUL byte: it may be a list with NUL bytes, or a dump".into());
            }
            Ok(visit(&Entry { path: rows::path(row.bytes)?, ..Entry::default() }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::dump::testing::*;

    #[test]
    fn each_line_and_each_text_before_a_nul_is_a_path() {
        let paths = |list: PathList, dump: &[u8]| {
            let (entries, tally) = read_whole(&list, dump);
            (entries.into_iter().map(|entry| entry.path).collect::<Vec<_>>(), tally)
        };
        let (lines, tally) = paths(PathList::LINES, b"/\n./a/\n\n/b \xff\n/c");
        assert_eq!(lines, [&b"/"[..], b"./a", b"/b \xff", b"/c"]);
        assert_eq!((tally.bad, tally.guessed, tally.truncated, tally.complete), (1, 1, false, None));
        assert_eq!(tally.first_bad.unwrap().offset, 7);
        assert_eq!(tally.first_guessed.unwrap().offset, 13);
        let (lines, tally) = paths(PathList::NUL, b"/a\n/b\0./c\0");
        assert_eq!((lines, tally), (vec![b"/a\n/b".to_vec(), b"./c".to_vec()], DumpTally::default()));
    }

    #[test]
    fn random_lists_are_read_back_in_any_division() {
        let mut random = seeded();
        for list in [PathList::LINES, PathList::NUL] {
            for _ in 0..200 {
                let paths: Vec<_> = (0..20).map(|_| hostile_path(&mut random, &[list.end])).collect();
                let dump: Vec<u8> = paths.iter().flat_map(|path| [&path[..], &[list.end]].concat()).collect();
                let (entries, tally) = read_whole(&list, &dump);
                assert!(entries.iter().map(|entry| &entry.path).eq(&paths));
                assert_eq!(tally, DumpTally::default());
                check_divisions(&list, &dump, &mut random);
                check_stop(&list, &dump, 7);
            }
        }
    }

    #[test]
    fn damaged_lists_never_panic_and_every_row_is_accounted_for() {
        let mut make = |random: &mut fastrand::Rng| {
            (0..10).flat_map(|_| [&hostile_path(random, b"\n")[..], b"\n"].concat()).collect()
        };
        let account = |dump: &[u8], entries: u64, tally: &DumpTally| {
            assert_eq!(entries + tally.bad, count_rows(dump, b'\n'));
        };
        check_damage(&PathList::LINES, &mut seeded(), &mut make, &account);
    }
}
