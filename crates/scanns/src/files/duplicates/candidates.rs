//! Files that may have equal content, as records that are sorted by size, and back.
//!
//! A record is its place in the order (the size from the largest, the device, the inode: big-endian, so that
//! bytes sort as numbers), then the entry as of `entry_record.rs`.

use std::cmp::Ordering;

use super::super::entry_record::{entry_of, put_entry};
use crate::source::Entry;

/// The bytes of the size, and of what identifies a file.
const SIZE: usize = 8;
const HEADER: usize = 24;

/// What the index knows of a file that is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileCandidate {
    pub(super) size: u64,
    /// The device and the inode, if the index has them.
    pub(super) file: Option<(u64, u64)>,
    pub(super) mtime: Option<i64>,
    pub(super) ctime: Option<i64>,
    /// Its names: several for hard links.
    pub(super) paths: Vec<Vec<u8>>,
}

/// Writes a file as a record.
pub(super) fn put_candidate(out: &mut Vec<u8>, entry: &Entry<'_>) {
    let inode = entry.inode.unwrap_or(0);
    for number in [!entry.size.unwrap_or(0), entry.device.unwrap_or(0), inode] {
        out.extend_from_slice(&number.to_be_bytes());
    }
    let Entry { path, size, mtime, ctime, inode, device, .. } = *entry;
    put_entry(out, &Entry { path, size, mtime, ctime, inode, device, ..Entry::default() });
}

/// Compares records: the largest first, then by device and inode, then by path.
pub(super) fn by_size(one: &[u8], other: &[u8]) -> Ordering {
    // Paths begin with their lengths, which is as good an order as any for the names of one file.
    one.cmp(other)
}

/// The size in a record.
pub(super) fn size_of_record(record: &[u8]) -> u64 {
    record.first_chunk::<SIZE>().map_or(0, |size| !u64::from_be_bytes(*size))
}

/// Reads a record as a file with one name; `None` if it is not one.
pub(super) fn candidate_of(record: &[u8]) -> Option<FileCandidate> {
    let entry = entry_of(record.get(HEADER..)?)?;
    Some(FileCandidate {
        size: entry.size?,
        file: entry.inode.map(|inode| (entry.device.unwrap_or(0), inode)),
        mtime: entry.mtime,
        ctime: entry.ctime,
        paths: vec![entry.path.to_vec()],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_files_come_first_and_names_of_one_file_together() {
        let files = [(9, 4, "b"), (9, 5, "a"), (256, 1, "c"), (9, 4, "a"), (0, 1, "z")];
        let mut records: Vec<Vec<u8>> = files
            .iter()
            .map(|&(size, inode, path)| {
                let mut record = Vec::new();
                let (size, inode, path) = (Some(size), Some(inode), path.as_bytes());
                put_candidate(&mut record, &Entry { path, size, inode, ..Entry::default() });
                record
            })
            .collect();
        records.sort_by(|one, other| by_size(one, other));
        let found: Vec<_> = records
            .iter()
            .map(|record| {
                let found = candidate_of(record).unwrap();
                assert_eq!(size_of_record(record), found.size);
                (found.size, found.file.unwrap().1, String::from_utf8(found.paths[0].clone()).unwrap())
            })
            .collect();
        let text = |(size, inode, path): (u64, u64, &str)| (size, inode, path.to_owned());
        assert_eq!(found, [(256, 1, "c"), (9, 4, "a"), (9, 4, "b"), (9, 5, "a"), (0, 1, "z")].map(text));
        assert_eq!(candidate_of(b"short"), None);
    }
}
