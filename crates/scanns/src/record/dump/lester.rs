//! The lists of Lester (`fslist`) and of its forerunner ne2scan, which read the inodes of a Lustre MDT:
//!
//! ```text
//! #IDENT#|version|…                                                                      (the header)
//! atime|ctime|mtime|uid|gid|mode|size|inode[|ost:object,ost:object,…][|0xseq:0xoid:0xver]|/path
//! #complete#1398271345                                                                   (the trailer)
//! ```
//!
//! The format `ne2scan` has the header and the trailer, `lustre` has only rows, and `extended` has rows
//! without the objects. The third form of a row has the FID (`show_fid`). The mode is octal; paths are not
//! escaped, so that a name with a line feed is two lines, of which the second cannot be read.
//!
//! The objects of a file with a composite layout are written `UNKNOWN LOV …`; its stripes are not known.
//!
//! Source: `action-fslist.c` of ORNL-TechInt/lester.

use std::ops::ControlFlow;

use memchr::memchr;

use super::number::{decimal, hexadecimal};
use super::rows::{self, Cells, DumpRow, Reason, Visited, all_rows, complete_rows, each_row};
use super::{DumpTally, ReadRows, Visit};
use crate::source::{Entry, EntryKind};

/// The start of the header.
const HEADER: &[u8] = b"#IDENT#|";
/// The start of the trailer.
const TRAILER: &[u8] = b"#complete#";

/// What a row may be that does not begin with a time.
const REST: &str = " (it may be the rest of a name with a line feed)";

/// Reads a list of Lester.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LesterList;

impl LesterList {
    /// The reader, if a dump begins with the header or with rows of Lester only.
    pub fn detect(start: &[u8]) -> Option<Self> {
        let is_row = |row: &[u8]| {
            let parts = LesterRow::of(row);
            parts.is_ok_and(|parts| parts.entry.kind.is_some() && parts.entry.path.starts_with(b"/"))
        };
        (start.starts_with(HEADER) || all_rows(start, b'\n', is_row)).then_some(LesterList)
    }

    /// What a user should know about the values in such a list.
    pub(super) const REMARKS: &[&str] = &[
        "The sizes in a list of Lester are the sizes that the metadata server keeps, which often are 0 or \
        out of date, because the data of a file are on object servers.",
    ];

    fn row(row: &DumpRow<'_>, tally: &mut DumpTally, visit: &mut Visit<'_>) -> Visited {
        if row.bytes.starts_with(HEADER) {
            tally.complete.get_or_insert(false);
            return Ok(ControlFlow::Continue(()));
        }
        if row.bytes.strip_prefix(TRAILER).is_some_and(|time| decimal(time).is_some()) {
            tally.complete = Some(true);
            return Ok(ControlFlow::Continue(()));
        }
        let parts = LesterRow::of(row.bytes)?;
        if parts.guessed {
            tally.guessed(row.offset, "the path does not begin with '/'", row.bytes);
        }
        Ok(visit(&parts.entry))
    }
}

impl ReadRows for LesterList {
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
        each_row(bytes, offset, b'\n', tally, &mut |row, tally| Self::row(row, tally, visit))
    }
}

/// A row, taken apart.
struct LesterRow<'a> {
    entry: Entry<'a>,
    /// Whether it is not certain where the path begins.
    guessed: bool,
}

impl<'a> LesterRow<'a> {
    fn of(row: &'a [u8]) -> Result<Self, Reason> {
        let mut cells = Cells::new(row, b'|');
        let atime = cells.next("atime")?.seconds().map_err(|reason| reason + REST)?;
        let ctime = cells.next("ctime")?.seconds()?;
        let mtime = cells.next("mtime")?.seconds()?;
        let uid = cells.next("uid")?.decimal32()?;
        let gid = cells.next("gid")?.decimal32()?;
        let mode = cells.next("mode")?.octal()?;
        let size = cells.next("size")?.decimal()?;
        let inode = cells.next("inode")?.decimal()?;
        let rest = cells.rest().ok_or("the row ends before the path")?;
        let (objects, path) = objects_and_path(rest);
        let entry = Entry {
            path: rows::path(path)?,
            kind: EntryKind::of_mode(mode),
            atime: Some(atime),
            ctime: Some(ctime),
            mtime: Some(mtime),
            uid: Some(uid),
            gid: Some(gid),
            mode: Some(mode),
            size: Some(size),
            inode: Some(inode),
            stripes: objects.and_then(stripes),
            ..Entry::default()
        };
        Ok(LesterRow { entry, guessed: !path.starts_with(b"/") })
    }
}

/// The column of objects and the path after the number of the inode: paths begin with a slash, and what
/// stands between is the objects or the FID.
fn objects_and_path(rest: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let (mut objects, mut path) = (None, rest);
    while !path.starts_with(b"/")
        && let Some(end) = memchr(b'|', path)
    {
        let (column, after) = path.split_at(end);
        let is_fid = column.is_empty() || column.starts_with(b"0x");
        if objects.is_some() && !is_fid {
            break;
        }
        objects = objects.or(Some(column));
        path = after.get(1..).unwrap_or_default();
    }
    (objects, path)
}

/// The number of objects in `ost:object,ost:object,…`, if that is what the text is.
fn stripes(objects: &[u8]) -> Option<u64> {
    let mut count = 0;
    for object in objects.split(|byte| *byte == b',') {
        let (ost, object) = object.split_at_checked(memchr(b':', object)?)?;
        decimal(ost)?;
        hexadecimal(object.get(1..)?)?;
        count += 1;
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::dump::testing::*;
    use crate::source::EntryKind;

    const HEAD: &[u8] = b"#IDENT#|0.8|1.42.7|1398271300|Wed Apr 23|mds1|/dev/md0|0|0|0|0|scratch|a note\n";
    const TAIL: &[u8] = b"#complete#1398271345\n";

    fn row(entry: &OwnedEntry, fid: bool) -> Vec<u8> {
        let time = |time: usize| entry.times[time].unwrap() / 1_000_000_000;
        let objects =
            |count| (0..count).map(|ost| format!("{ost}:{:x}", ost * 99 + 11)).collect::<Vec<_>>().join(",");
        let before = format!(
            "{}|{}|{}|{}|{}|{:o}|{}|{}|{}|{}",
            time(ATIME),
            time(CTIME),
            time(MTIME),
            entry.ids[UID].unwrap(),
            entry.ids[GID].unwrap(),
            entry.ids[MODE].unwrap(),
            entry.size.unwrap(),
            entry.inode.unwrap(),
            entry.stripes.map_or("UNKNOWN LOV bd60bd0".into(), objects),
            if fid { "0x200000401:0x1a:0x0|" } else { "" },
        );
        [before.as_bytes(), b"|", &entry.path, b"\n"].concat().into_iter().collect::<Vec<u8>>()
    }

    fn random_entry(random: &mut fastrand::Rng) -> OwnedEntry {
        let mode = *random.choice(&[0o100_644, 0o40_755, 0o120_777]).unwrap();
        let mut time = || Some(i64::from(random.u32(..)) * 1_000_000_000);
        OwnedEntry {
            times: [time(), time(), time(), None],
            path: hostile_path(random, b"\n"),
            kind: EntryKind::of_mode(mode),
            size: Some(any_number(random)),
            ids: [Some(random.u32(..)), Some(random.u32(..)), Some(mode)],
            inode: Some(any_number(random)),
            stripes: Some(random.u64(1..5)).filter(|_| random.u8(0..4) > 0),
            ..OwnedEntry::default()
        }
    }

    fn random_dump(random: &mut fastrand::Rng) -> (Vec<OwnedEntry>, Vec<u8>) {
        let entries: Vec<_> = (0..10).map(|_| random_entry(random)).collect();
        let fid = random.bool();
        let rows = entries.iter().flat_map(|entry| row(entry, fid)).collect::<Vec<u8>>();
        let dump = if random.bool() { [HEAD, &rows, TAIL].concat() } else { rows };
        (entries, dump)
    }

    #[test]
    fn every_column_of_all_forms_of_a_row_is_read() {
        let expected = |path: &[u8], stripes: Option<u64>| OwnedEntry {
            path: path.to_vec(),
            kind: Some(EntryKind::File),
            times: [Some(3_000_000_000), Some(1_000_000_000), Some(2_000_000_000), None],
            size: Some(77),
            ids: [Some(4), Some(5), Some(0o100_600)],
            inode: Some(88),
            stripes,
            ..OwnedEntry::default()
        };
        let start = "1|2|3|4|5|100600|77|88|";
        for (rest, path, stripes) in [
            ("3:1a,7:FF|/a|b", &b"/a|b"[..], Some(2)),
            ("3:1a|0x200000401:0x1:0x0|/a/", b"/a", Some(1)),
            ("3:1a||/a|/b", b"/a|/b", Some(1)),
            ("|/a", b"/a", None),
            ("||/", b"/", None),
            ("UNKNOWN LOV bd60bd0|/a", b"/a", None),
            ("UNKNOWN LOV bd60bd0|0x1:0x2:0x3|/a", b"/a", None),
            ("/a|/b", b"/a|/b", None),
            ("0x1:0x2:0x3|/a", b"/a", None),
        ] {
            let (entries, tally) = read_whole(&LesterList, format!("{start}{rest}\n").as_bytes());
            assert_eq!(entries, [expected(path, stripes)], "{rest}");
            assert_eq!(tally, DumpTally::default());
        }
        let (entries, tally) = read_whole(&LesterList, format!("{start}1:2|a|b\n").as_bytes());
        assert_eq!((entries[0].path.as_slice(), tally.guessed), (&b"a|b"[..], 1));
    }

    #[test]
    fn a_list_with_a_header_is_complete_if_it_has_the_trailer() {
        let row = b"1|2|3|4|5|100600|77|88|1:2|/a\n";
        let complete = |parts: &[&[u8]]| read_whole(&LesterList, &parts.concat()).1;
        assert_eq!(complete(&[HEAD, row, TAIL]).complete, Some(true));
        assert_eq!(complete(&[HEAD, row]).complete, Some(false));
        assert_eq!(complete(&[row]).complete, None);
        let cut = complete(&[HEAD, row, b"#compl"]);
        assert_eq!((cut.complete, cut.bad, cut.truncated), (Some(false), 1, true));
    }

    #[test]
    fn rows_that_cannot_be_read_tell_why() {
        let reason = |row: &str| {
            let (entries, tally) = read_whole(&LesterList, row.as_bytes());
            assert_eq!((entries.len(), tally.bad), (0, 1));
            tally.first_bad.unwrap().reason
        };
        assert_eq!(reason("1|2|3|4|5|100600|x|88|1:2|/a\n"), "column 7 (size) is not a number: 'x'");
        assert_eq!(
            reason("1|2|3|4|5|100680|1|88|1:2|/a\n"),
            "column 6 (mode) is not an octal number: '100680'"
        );
        assert_eq!(reason("1|2|3|4|5|100600|1|88\n"), "the row ends before the path");
        assert_eq!(reason("1|2|3|4|5|100600|1|88|1:2|\n"), "the path is empty");
        let rest =
            "column 1 (atime) is not a time in seconds: 'x' (it may be the rest of a name with a line feed)";
        assert_eq!(reason("x\n"), rest);
    }

    #[test]
    fn random_lists_are_read_back_in_any_division() {
        let mut random = seeded();
        for _ in 0..200 {
            let (expected, dump) = random_dump(&mut random);
            let (entries, tally) = read_whole(&LesterList, &dump);
            assert_eq!(entries, expected);
            let complete = dump.starts_with(HEAD).then_some(true);
            assert_eq!(tally, DumpTally { complete, ..DumpTally::default() });
            check_divisions(&LesterList, &dump, &mut random);
            check_stop(&LesterList, &dump, 4);
        }
    }

    #[test]
    fn damaged_lists_never_panic_and_every_row_is_accounted_for() {
        let account = |dump: &[u8], entries: u64, tally: &DumpTally| {
            let is_mark = |row: &&[u8]| row.starts_with(b"#");
            let marks = dump.split(|byte| *byte == b'\n').filter(is_mark).count() as u64;
            let rows = count_rows(dump, b'\n');
            assert!(entries + tally.bad <= rows && entries + tally.bad + marks >= rows);
        };
        check_damage(&LesterList, &mut seeded(), &mut |random| random_dump(random).1, &account);
    }
}
