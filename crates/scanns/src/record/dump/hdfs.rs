//! The text of Hadoop's Offline Image Viewer (`hdfs oiv -p Delimited`): a header, then a row per entry of
//! HDFS, with a tab or the byte of `-delimiter` between the columns:
//!
//! ```text
//! Path Replication ModificationTime AccessTime PreferredBlockSize BlocksCount FileSize NSQUOTA DSQUOTA
//! Permission UserName GroupName [StoragePolicyId] [ErasureCodingPolicy]
//! ```
//!
//! Texts with `,`, `"` or line ends stand in quotes, which are doubled inside; there, `%x0A` and `%x0D%x0A`
//! are line ends (a name with both kinds keeps its line feeds, so that its row is cut in two bad rows). A
//! separator in a name stands as it is, so that columns are counted from the end of a row. Bytes that are not
//! UTF-8 are lost in such a list. Times are minutes in the time zone of the machine that wrote it. A link has
//! the letter of a file, but neither a replication nor a block size; directories have no time of access.
//! Early versions write neither the header nor the letter of the type.
//!
//! Source: `PBImageDelimitedTextWriter.java` and `PBImageTextWriter.java` of apache/hadoop.

use std::ops::ControlFlow;

use memchr::{memchr, memchr2, memrchr};

use super::number::{calendar, permissions};
use super::rows::{self, Cell, DumpRow, Reason, Visited, complete_rows, each_row};
use super::{DumpTally, ReadRows, Visit};
use crate::source::{Entry, EntryKind, nanoseconds};

/// The names of the columns that every list has.
const NAMES: [&str; 12] = [
    "Path",
    "Replication",
    "ModificationTime",
    "AccessTime",
    "PreferredBlockSize",
    "BlocksCount",
    "FileSize",
    "NSQUOTA",
    "DSQUOTA",
    "Permission",
    "UserName",
    "GroupName",
];
/// The names of columns that may follow.
const MORE: [&str; 2] = ["StoragePolicyId", "ErasureCodingPolicy"];

/// Reads the text of the Offline Image Viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HdfsList {
    /// The byte between columns.
    pub separator: u8,
    /// The number of columns after the name of the group.
    pub more_columns: usize,
    /// The minutes that the time zone of the list is ahead of UTC.
    pub zone_minutes: i32,
}

impl HdfsList {
    /// A list with tabs, without more columns, in UTC.
    pub const fn new() -> Self {
        HdfsList { separator: b'\t', more_columns: 0, zone_minutes: 0 }
    }

    /// A list with the separator and the columns that its header names, in UTC.
    pub fn detect(start: &[u8]) -> Option<Self> {
        let header = start.get(..memchr(b'\n', start)?)?;
        let separator = *header.get(4)?;
        let mut names = header.split(|byte| *byte == separator);
        if !NAMES.iter().all(|name| names.next() == Some(name.as_bytes())) {
            return None;
        }
        let mut more_columns = 0;
        for name in names {
            MORE.iter().find(|more| more.as_bytes() == name)?;
            more_columns += 1;
        }
        Some(HdfsList { separator, more_columns, zone_minutes: 0 })
    }

    /// The columns of a row, which are counted from its end.
    fn cells<'a>(&self, row: &'a [u8]) -> Result<[Cell<'a>; 12], Reason> {
        let mut cells = NAMES.map(|name| Cell { text: &[][..], number: 0, name });
        let mut rest = row;
        let mut take = || {
            let end = memrchr(self.separator, rest)?;
            let text = rest.get(end + 1..)?;
            rest = rest.get(..end)?;
            Some(text)
        };
        let few = || format!("the row has fewer than {} columns", NAMES.len() + self.more_columns);
        for _ in 0..self.more_columns {
            take().ok_or_else(few)?;
        }
        for (index, cell) in cells.iter_mut().enumerate().skip(1).rev() {
            cell.text = take().ok_or_else(few)?;
            cell.number = index + 1;
        }
        if let Some(path) = cells.first_mut() {
            path.text = rest;
            path.number = 1;
        }
        Ok(cells)
    }

    /// A time of the list in nanoseconds; `None` if the column is empty.
    fn time(&self, cell: Cell<'_>) -> Result<Option<i64>, Reason> {
        if cell.text.is_empty() {
            return Ok(None);
        }
        match calendar(cell.text) {
            Some((seconds, fraction, length)) if length == cell.text.len() => {
                Ok(Some(nanoseconds(seconds - i64::from(self.zone_minutes) * 60, fraction)))
            }
            _ => Err(cell.is_not("a time such as 2026-11-23 10:11")),
        }
    }

    fn row(
        &self,
        row: &DumpRow<'_>,
        texts: &mut [Vec<u8>; 3],
        tally: &mut DumpTally,
        visit: &mut Visit<'_>,
    ) -> Visited {
        let cells = self.cells(row.bytes)?;
        if cells.iter().take(9).zip(NAMES).all(|(cell, name)| cell.text == name.as_bytes()) {
            return Ok(ControlFlow::Continue(()));
        }
        let [path, replication, mtime, atime, block_size, blocks, size, ns, ds, permission, owner, group] =
            cells;
        let is_bare = replication.decimal()? == 0 && block_size.decimal()? == 0;
        blocks.decimal()?;
        for quota in [ns, ds] {
            quota.signed()?;
        }
        let (kind, mode) = kind_and_mode(permission, is_bare)?;
        let [path_text, owner_text, group_text] = texts;
        let plain_path = unescape(path.text, path_text);
        let entry = Entry {
            path: rows::path(plain_path)?,
            kind,
            owner: Some(unescape(owner.text, owner_text)),
            group: Some(unescape(group.text, group_text)),
            mtime: self.time(mtime)?,
            atime: self.time(atime)?.filter(|_| kind != Some(EntryKind::Directory)),
            size: Some(size.decimal()?),
            mode: Some(mode),
            ..Entry::default()
        };
        if memchr(self.separator, path.text).is_some() && !is_quoted(path.text) {
            tally.guessed(row.offset, "the path contains the separator", row.bytes);
        }
        Ok(visit(&entry))
    }
}

impl Default for HdfsList {
    fn default() -> Self {
        Self::new()
    }
}

impl ReadRows for HdfsList {
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
        let mut texts = [Vec::new(), Vec::new(), Vec::new()];
        each_row(bytes, offset, b'\n', tally, &mut |row, tally| self.row(row, &mut texts, tally, visit))
    }
}

/// The kind and the mode; `is_bare` says that there is neither a replication nor a block size, which only
/// files have.
fn kind_and_mode(permission: Cell<'_>, is_bare: bool) -> Result<(Option<EntryKind>, u32), Reason> {
    let bad = || permission.is_not("permissions such as drwxr-xr-x");
    let (kind, mode) = permissions(permission.text).ok_or_else(bad)?;
    Ok(match kind {
        Some(EntryKind::File) if is_bare => (Some(EntryKind::Link), mode & 0o7777 | 0o120_000),
        None if !is_bare => (Some(EntryKind::File), mode),
        _ => (kind, mode),
    })
}

/// Whether a text stands in quotes.
fn is_quoted(text: &[u8]) -> bool {
    matches!(text, [b'"', .., b'"'])
}

/// The text without its quotes and escapes, in `memory` if it has some.
fn unescape<'a>(text: &'a [u8], memory: &'a mut Vec<u8>) -> &'a [u8] {
    let [b'"', inner @ .., b'"'] = text else { return text };
    let mut rest = inner;
    memory.clear();
    while let Some(mark) = memchr2(b'"', b'%', rest) {
        let (before, after) = rest.split_at(mark);
        let (bytes, length): (&[u8], usize) = match after {
            [b'%', b'x', b'0', b'D', b'%', b'x', b'0', b'A', ..] => (b"\r\n", 8),
            [b'%', b'x', b'0', b'A', ..] => (b"\n", 4),
            [b'%', ..] => (b"%", 1),
            [b'"', b'"', ..] => (b"\"", 2),
            _ => (b"\"", 1),
        };
        memory.extend_from_slice(before);
        memory.extend_from_slice(bytes);
        rest = after.get(length..).unwrap_or_default();
    }
    memory.extend_from_slice(rest);
    memory
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::dump::testing::*;

    const TABS: HdfsList = HdfsList::new();
    const COMMAS: HdfsList = HdfsList { separator: b',', more_columns: 2, zone_minutes: -90 };

    /// Quotes and escapes a text as Hadoop does.
    fn escape(text: &[u8]) -> Vec<u8> {
        if !text.iter().any(|byte| b",\"\r\n".contains(byte)) {
            return text.to_vec();
        }
        let doubled = text.iter().flat_map(|byte| if *byte == b'"' { vec![b'"'; 2] } else { vec![*byte] });
        let mut quoted = [&b"\""[..], &doubled.collect::<Vec<_>>(), b"\""].concat();
        for (end, escape) in [(&b"\r\n"[..], &b"%x0D%x0A"[..]), (b"\n", b"%x0A")] {
            while let Some(place) = memchr::memmem::find(&quoted, end) {
                quoted.splice(place..place + end.len(), escape.iter().copied());
            }
        }
        quoted
    }

    fn row(list: HdfsList, entry: &OwnedEntry) -> Vec<u8> {
        let minutes = |time: Option<i64>| {
            let minutes = time.unwrap_or(86_400_000_000_000) / 60_000_000_000 + i64::from(list.zone_minutes);
            // All times of these tests are in January 1970.
            let (day, minute) = (minutes.div_euclid(1440), minutes.rem_euclid(1440));
            format!("1970-01-{:02} {:02}:{:02}", day + 1, minute / 60, minute % 60).into_bytes()
        };
        let is_file = entry.kind == Some(EntryKind::File);
        let number = |number: u64| number.to_string().into_bytes();
        let letter = if entry.kind == Some(EntryKind::Directory) { b'd' } else { b'-' };
        let letters = (0..9).rev().map(|bit| match entry.ids[MODE].unwrap() >> bit & 1 {
            1 => b"xwr"[bit % 3],
            _ => b'-',
        });
        let mut columns = vec![
            escape(&entry.path),
            number(if is_file { 3 } else { 0 }),
            minutes(entry.times[MTIME]),
            minutes(entry.times[ATIME]),
            number(if is_file { 134_217_728 } else { 0 }),
            number(1),
            number(entry.size.unwrap()),
            b"-1".to_vec(),
            b"-1".to_vec(),
            [letter].into_iter().chain(letters).chain([b'+']).collect(),
            escape(entry.owner.as_deref().unwrap()),
            escape(entry.group.as_deref().unwrap()),
        ];
        columns.extend((0..list.more_columns).map(|_| b"7".to_vec()));
        [columns.join(&[list.separator][..]), b"\n".to_vec()].concat()
    }

    fn header(list: HdfsList) -> Vec<u8> {
        let names: Vec<&[u8]> =
            NAMES.iter().chain(MORE.iter().take(list.more_columns)).map(|name| name.as_bytes()).collect();
        [names.join(&[list.separator][..]), b"\n".to_vec()].concat()
    }

    fn random_entry(random: &mut fastrand::Rng) -> OwnedEntry {
        let (kind, bits) = *random
            .choice(&[
                (EntryKind::File, 0o100_000),
                (EntryKind::Directory, 0o40_000),
                (EntryKind::Link, 0o120_000),
            ])
            .unwrap();
        let mut time = || Some(random.i64(1440..1440 * 25) * 60_000_000_000);
        let times = [time(), time().filter(|_| kind != EntryKind::Directory), None, None];
        // A tab or a comma in a name is not certain, except in quotes; some texts look like escapes.
        let name = |random: &mut fastrand::Rng| {
            let mut text = hostile_text(random, 20, b"\t%");
            while text.starts_with(b"\"") {
                text.remove(0);
            }
            text
        };
        OwnedEntry {
            path: [&b"/"[..], &name(random), b"x"].concat(),
            kind: Some(kind),
            owner: Some(name(random).into_iter().filter(|byte| *byte != b',').collect()),
            group: Some(name(random).into_iter().filter(|byte| *byte != b',').collect()),
            times,
            size: Some(any_number(random)),
            ids: [None, None, Some(bits | random.u32(0..0o1000))],
            ..OwnedEntry::default()
        }
    }

    fn random_dump(list: HdfsList, random: &mut fastrand::Rng) -> (Vec<OwnedEntry>, Vec<u8>) {
        let entries: Vec<_> = (0..10).map(|_| random_entry(random)).collect();
        let rows: Vec<u8> = entries.iter().flat_map(|entry| row(list, entry)).collect();
        (entries, [header(list), rows].concat())
    }

    #[test]
    fn every_column_is_read() {
        let dump = b"Path\tReplication\tModificationTime\tAccessTime\tPreferredBlockSize\tBlocksCount\t\
            FileSize\tNSQUOTA\tDSQUOTA\tPermission\tUserName\tGroupName\n\
            /\t0\t2026-11-23 10:11\t1970-01-01 00:00\t0\t0\t0\t9223372036854775807\t-1\t\
            drwxr-xr-x\thdfs\tsuper\n\
            \"/a,\"\"b\"\"%x0D%x0Ac%\"\t3\t2026-11-23 10:11\t1969-12-31 23:59\t134217728\t\
            2\t777\t0\t0\t-rw-r-----+\tu\tg\n";
        let list = HdfsList { zone_minutes: 60, ..HdfsList::detect(dump).unwrap() };
        let (entries, tally) = read_whole(&list, dump);
        assert_eq!(tally, DumpTally::default());
        let time = (1_795_428_660 - 3600) * 1_000_000_000;
        let root = OwnedEntry {
            path: b"/".to_vec(),
            kind: Some(EntryKind::Directory),
            owner: Some(b"hdfs".to_vec()),
            group: Some(b"super".to_vec()),
            times: [Some(time), None, None, None],
            size: Some(0),
            ids: [None, None, Some(0o40_755)],
            ..OwnedEntry::default()
        };
        let file = OwnedEntry {
            path: b"/a,\"b\"\r\nc%".to_vec(),
            kind: Some(EntryKind::File),
            owner: Some(b"u".to_vec()),
            group: Some(b"g".to_vec()),
            times: [Some(time), Some(-3_660_000_000_000), None, None],
            size: Some(777),
            ids: [None, None, Some(0o100_640)],
            ..OwnedEntry::default()
        };
        assert_eq!(entries, [root, file]);
    }

    #[test]
    fn lists_without_the_letter_of_the_type_are_read() {
        let dump = b"/f\t3\t2026-11-23 10:11\t\t1\t2\t777\t0\t0\trw-r--r-T\tu\tg\n\
            /d\t0\t2026-11-23 10:11\t\t0\t0\t0\t0\t0\trwxr-xr-x\tu\tg\n";
        let (entries, tally) = read_whole(&TABS, dump);
        assert_eq!(tally, DumpTally::default());
        let kinds: Vec<_> =
            entries.iter().map(|entry| (entry.kind, entry.ids[MODE], entry.times[ATIME])).collect();
        assert_eq!(kinds, [(Some(EntryKind::File), Some(0o1644), None), (None, Some(0o755), None)]);
    }

    #[test]
    fn a_separator_in_a_name_is_guessed_unless_it_is_in_quotes() {
        let row = |path: &str| format!("{path},0,2026-11-23 10:11,,0,0,0,0,0,-rwxrwxrwx,u,g,7,EC\n");
        let (entries, tally) = read_whole(&COMMAS, row("/a,b").as_bytes());
        assert_eq!((entries[0].path.as_slice(), tally.guessed, tally.bad), (&b"/a,b"[..], 1, 0));
        assert_eq!(entries[0].kind, Some(EntryKind::Link));
        let (entries, tally) = read_whole(&COMMAS, row("\"/a,b\"").as_bytes());
        assert_eq!((entries[0].path.as_slice(), tally.guessed, tally.bad), (&b"/a,b"[..], 0, 0));
    }

    #[test]
    fn rows_that_cannot_be_read_tell_why() {
        let reason = |row: &str| {
            let (entries, tally) = read_whole(&TABS, row.replace(' ', "\t").replace('_', " ").as_bytes());
            assert_eq!((entries.len(), tally.bad), (0, 1));
            tally.first_bad.unwrap().reason
        };
        let size = reason("/a 3 2026-11-23_10:11 2026-11-23_10:11 1 1 x 0 0 -rwxrwxrwx u g\n");
        assert_eq!(size, "column 7 (FileSize) is not a number: 'x'");
        let time = reason("/a 3 2026-11-23 2026-11-23_10:11 1 1 1 0 0 -rwxrwxrwx u g\n");
        assert_eq!(time, "column 3 (ModificationTime) is not a time such as 2026-11-23 10:11: '2026-11-23'");
        let mode = reason("/a 3 2026-11-23_10:11 2026-11-23_10:11 1 1 1 0 0 -rwx u g\n");
        assert_eq!(mode, "column 10 (Permission) is not permissions such as drwxr-xr-x: '-rwx'");
        assert_eq!(reason("/a 3 g\n"), "the row has fewer than 12 columns");
    }

    #[test]
    fn random_lists_are_read_back_in_any_division() {
        let mut random = seeded();
        for list in [TABS, COMMAS] {
            for _ in 0..150 {
                let (expected, dump) = random_dump(list, &mut random);
                let (entries, tally) = read_whole(&list, &dump);
                assert_eq!(entries, expected, "{}", dump.escape_ascii());
                assert_eq!(tally, DumpTally::default());
                check_divisions(&list, &dump, &mut random);
                check_stop(&list, &dump, 4);
                let detected =
                    HdfsList { zone_minutes: list.zone_minutes, ..HdfsList::detect(&dump).unwrap() };
                assert_eq!(detected, list);
            }
        }
    }

    #[test]
    fn damaged_lists_never_panic_and_every_row_is_accounted_for() {
        let account = |dump: &[u8], entries: u64, tally: &DumpTally| {
            let is_header = |row: &&[u8]| row.starts_with(b"Path\tReplication\t");
            let headers = dump.split(|byte| *byte == b'\n').filter(is_header).count() as u64;
            let rows = count_rows(dump, b'\n');
            assert!(entries + tally.bad <= rows && entries + tally.bad + headers >= rows);
        };
        check_damage(&TABS, &mut seeded(), &mut |random| random_dump(TABS, random).1, &account);
    }
}
