//! A plain recursion, and rows of values to compare.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::source::entry::Entry;
use crate::source::entry_kind::EntryKind;

/// All values of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    pub(super) path: Vec<u8>,
    pub(super) kind: Option<&'static str>,
    pub(super) target: Option<Vec<u8>>,
    /// Modification, access and change, in nanoseconds.
    pub(super) times: [i64; 3],
    pub(super) born: Option<i64>,
    pub(super) size: u64,
    pub(super) blocks: u64,
    pub(super) owner: [u32; 2],
    pub(super) mode: u32,
    pub(super) inode: u64,
    pub(super) links: u64,
    pub(super) device: u64,
}

impl Row {
    pub(super) fn of_entry(entry: &Entry<'_>) -> Row {
        assert!(entry.owner.is_none() && entry.group.is_none() && entry.project.is_none());
        Row {
            path: entry.path.to_vec(),
            kind: entry.kind.map(EntryKind::name),
            target: entry.target.map(<[u8]>::to_vec),
            times: [entry.mtime.unwrap(), entry.atime.unwrap(), entry.ctime.unwrap()],
            born: entry.btime,
            size: entry.size.unwrap(),
            blocks: entry.blocks.unwrap(),
            owner: [entry.uid.unwrap(), entry.gid.unwrap()],
            mode: entry.mode.unwrap(),
            inode: entry.inode.unwrap(),
            links: entry.links.unwrap(),
            device: entry.device.unwrap(),
        }
    }

    fn of_file(path: &Path) -> Row {
        let meta = fs::symlink_metadata(path).unwrap();
        let time = |seconds: i64, part: i64| seconds * 1_000_000_000 + part;
        let born = meta.created().ok().map(|born| {
            let since = born.duration_since(std::time::UNIX_EPOCH).unwrap();
            i64::try_from(since.as_nanos()).unwrap()
        });
        Row {
            path: path.as_os_str().as_bytes().to_vec(),
            kind: Some(EntryKind::of(meta.file_type()).name()),
            target: fs::read_link(path).ok().map(|target| target.as_os_str().as_bytes().to_vec()),
            times: [
                time(meta.mtime(), meta.mtime_nsec()),
                time(meta.atime(), meta.atime_nsec()),
                time(meta.ctime(), meta.ctime_nsec()),
            ],
            born,
            size: meta.len(),
            blocks: meta.blocks(),
            owner: [meta.uid(), meta.gid()],
            mode: meta.mode(),
            inode: meta.ino(),
            links: meta.nlink(),
            device: meta.dev(),
        }
    }
}

/// Everything at and below a path that `takes` accepts, by path. What it refuses is not entered.
pub(super) fn walk(path: &Path, takes: &dyn Fn(&Path) -> bool) -> Vec<Row> {
    let mut rows = Vec::new();
    add(path, takes, &mut rows); // changes times of access, once
    rows.clear();
    add(path, takes, &mut rows);
    rows.sort();
    rows
}

fn add(path: &Path, takes: &dyn Fn(&Path) -> bool, rows: &mut Vec<Row>) {
    if !takes(path) {
        return;
    }
    rows.push(Row::of_file(path));
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).unwrap() {
            add(&entry.unwrap().path(), takes, rows);
        }
    }
}
