//! The CSV of pwalk (filesystem-reporting-tools), 17 columns without a header:
//!
//! ```text
//! inode,parent,depth,"path","extension",uid,gid,size,
//! device,blocks,links,"mode",atime,mtime,ctime,files,bytes
//! ```
//!
//! A quote in a path is doubled, the mode is octal, blocks have 512 bytes. pwalk leaves out all bytes below
//! 32 of a name, so that such a file stands under a name that it does not have; nothing in the row tells so.
//!
//! Source: `fileProcess.c` of fizwit/filesystem-reporting-tools.

use std::ops::ControlFlow;

use super::rows::{self, Cells, Reason, all_rows, complete_rows, each_row};
use super::{DumpTally, ReadRows, Visit};
use crate::source::{Entry, EntryKind};

/// Reads the CSV of pwalk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PwalkCsv;

impl PwalkCsv {
    /// The reader, if all rows at the `start` of a dump have the columns of pwalk.
    pub fn detect(start: &[u8]) -> Option<Self> {
        all_rows(start, b'\n', |row| entry(row, &mut Vec::new()).is_ok()).then_some(PwalkCsv)
    }
}

impl ReadRows for PwalkCsv {
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
        let mut path = Vec::new();
        each_row(bytes, offset, b'\n', tally, &mut |row, _| Ok(visit(&entry(row.bytes, &mut path)?)))
    }
}

/// The entry in a row; `memory` holds a path that has quotes.
fn entry<'a>(row: &'a [u8], memory: &'a mut Vec<u8>) -> Result<Entry<'a>, Reason> {
    let mut cells = Cells::new(row, b',');
    let inode = cells.next("inode")?.decimal()?;
    cells.skip(&["parent inode", "depth"])?;
    let path = cells.quoted("path")?;
    cells.quoted("extension")?;
    let uid = cells.next("uid")?.decimal32()?;
    let gid = cells.next("gid")?.decimal32()?;
    let size = cells.next("size")?.decimal()?;
    let device = cells.next("device")?.decimal()?;
    let blocks = cells.next("blocks")?.decimal()?;
    let links = cells.next("links")?.decimal()?;
    let mode = cells.next("mode")?.unquoted()?.octal()?;
    let atime = cells.next("atime")?.seconds()?;
    let mtime = cells.next("mtime")?.seconds()?;
    let ctime = cells.next("ctime")?.seconds()?;
    cells.skip(&["file count", "directory sum"])?;
    if cells.rest().is_some() {
        return Err("the row has more than 17 columns".into());
    }
    Ok(Entry {
        path: rows::path(rows::without_doubled_quotes(path, memory))?,
        kind: EntryKind::of_mode(mode),
        inode: Some(inode),
        uid: Some(uid),
        gid: Some(gid),
        size: Some(size),
        device: Some(device),
        blocks: Some(blocks),
        links: Some(links),
        mode: Some(mode),
        atime: Some(atime),
        mtime: Some(mtime),
        ctime: Some(ctime),
        ..Entry::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::dump::testing::*;
    use crate::source::EntryKind;

    fn row(entry: &OwnedEntry) -> Vec<u8> {
        let number = |number: Option<u64>| number.unwrap().to_string();
        let time = |time: usize| (entry.times[time].unwrap() / 1_000_000_000).to_string();
        let path: Vec<u8> = entry
            .path
            .iter()
            .flat_map(|byte| if *byte == b'"' { vec![b'"'; 2] } else { vec![*byte] })
            .collect();
        let before = format!("{},8,-1,\"", number(entry.inode));
        let after = format!(
            "\",\"a\"\"b,\",{},{},{},{},{},{},\"{:07o}\",{},{},{},-1,0\n",
            entry.ids[UID].unwrap(),
            entry.ids[GID].unwrap(),
            number(entry.size),
            number(entry.device),
            number(entry.blocks),
            number(entry.links),
            entry.ids[MODE].unwrap(),
            time(ATIME),
            time(MTIME),
            time(CTIME),
        );
        [before.as_bytes(), &path, after.as_bytes()].concat()
    }

    fn random_entry(random: &mut fastrand::Rng) -> OwnedEntry {
        let mode = *random.choice(&[0o100_644, 0o40_755, 0o120_777, 0o10_600, 0o140_600, 0o20_600]).unwrap();
        let mut time = || Some(any_second(random) * 1_000_000_000);
        OwnedEntry {
            times: [time(), time(), time(), None],
            path: hostile_path(random, b"\n"),
            kind: EntryKind::of_mode(mode),
            size: Some(any_number(random)),
            blocks: Some(any_number(random)),
            ids: [Some(random.u32(..)), Some(random.u32(..)), Some(mode)],
            inode: Some(any_number(random)),
            links: Some(any_number(random)),
            device: Some(any_number(random)),
            ..OwnedEntry::default()
        }
    }

    #[test]
    fn every_column_is_read() {
        let dump = b"12,0,-1,\"/\",\"\",1,2,4096,66,8,3,\"0040755\",10,-11,12,5,99\n\
            13,12,0,\"/a,\"\"b\"\".c\",\"c\",4294967294,2,7,66,9,1,\"0100644\",13,14,15,-1,0\n";
        let (entries, tally) = read_whole(&PwalkCsv, dump);
        assert_eq!(tally, DumpTally::default());
        let root = OwnedEntry {
            path: b"/".to_vec(),
            kind: Some(EntryKind::Directory),
            times: [Some(-11_000_000_000), Some(10_000_000_000), Some(12_000_000_000), None],
            size: Some(4096),
            blocks: Some(8),
            ids: [Some(1), Some(2), Some(0o40_755)],
            inode: Some(12),
            links: Some(3),
            device: Some(66),
            ..OwnedEntry::default()
        };
        assert_eq!(entries[0], root);
        assert_eq!(
            (entries[1].path.as_slice(), entries[1].ids[UID]),
            (&b"/a,\"b\".c"[..], Some(4_294_967_294))
        );
        assert_eq!(entries[1].kind, Some(EntryKind::File));
    }

    #[test]
    fn rows_that_cannot_be_read_tell_why() {
        let reason = |row: &str| {
            let (entries, tally) = read_whole(&PwalkCsv, row.as_bytes());
            assert_eq!((entries.len(), tally.bad), (0, 1));
            tally.first_bad.unwrap().reason
        };
        let rest = ",1,1,1,\"0100644\",1,1,1,-1,0";
        let full = |path: &str, size: &str| format!("1,2,3,{path},\"e\",1,2,{size}{rest}\n");
        assert_eq!(reason(&full("\"/a\"", "x")), "column 8 (size) is not a number: 'x'");
        assert_eq!(reason(&full("/a", "1")), "column 4 (path) is not in quotes");
        assert_eq!(reason(&full("\"\"", "1")), "the path is empty");
        assert_eq!(reason(&full("\"/a\"b\"", "1")), "column 4 (path) is not in quotes");
        assert_eq!(reason("1,2,3,\"/a\"\n"), "the row ends before column 5 (extension)");
        assert_eq!(
            reason(&(full("\"/a\"", "1").trim().to_string() + ",7\n")),
            "the row has more than 17 columns"
        );
    }

    #[test]
    fn random_dumps_are_read_back_in_any_division() {
        let mut random = seeded();
        for _ in 0..200 {
            let expected: Vec<_> = (0..12).map(|_| random_entry(&mut random)).collect();
            let dump: Vec<u8> = expected.iter().flat_map(row).collect();
            let (entries, tally) = read_whole(&PwalkCsv, &dump);
            assert_eq!((entries, tally), (expected, DumpTally::default()));
            check_divisions(&PwalkCsv, &dump, &mut random);
            check_stop(&PwalkCsv, &dump, 12);
        }
    }

    #[test]
    fn damaged_dumps_never_panic_and_every_row_is_accounted_for() {
        let mut make = |random: &mut fastrand::Rng| (0..8).flat_map(|_| row(&random_entry(random))).collect();
        let account = |dump: &[u8], entries: u64, tally: &DumpTally| {
            assert_eq!(entries + tally.bad, count_rows(dump, b'\n'));
        };
        check_damage(&PwalkCsv, &mut seeded(), &mut make, &account);
    }
}
