//! Groups of files with equal content, and the records in which they wait to be sorted.

use std::cmp::Ordering;

use super::super::entry_record::path_of;
use super::super::order::walk_order;
use super::candidates::FileCandidate;
use crate::codec::{ByteReader, put_varint};

/// The bytes before a group: the complement of the wasted bytes, big-endian.
const HEADER: usize = 8;

/// Files with equal content, in the order of their paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateGroup {
    /// The size of each file.
    pub size: u64,
    /// The files: at least two.
    pub files: Vec<DuplicateFile>,
}

/// A file, which may have several names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateFile {
    /// Its names in the index, in order: at least one, and several for hard links.
    pub paths: Vec<Vec<u8>>,
}

impl DuplicateGroup {
    /// The group of files with these candidates.
    pub(super) fn of(candidates: impl Iterator<Item = FileCandidate>) -> Self {
        let (mut size, mut files) = (0, Vec::new());
        for mut candidate in candidates {
            candidate.paths.sort_unstable_by(|one, other| walk_order(one, other));
            size = candidate.size;
            files.push(DuplicateFile { paths: candidate.paths });
        }
        files.sort_unstable_by(|one, other| walk_order(one.first(), other.first()));
        DuplicateGroup { size, files }
    }

    /// The bytes that would be free if one file were left.
    pub fn wasted(&self) -> u64 {
        self.size.saturating_mul(self.files.len().saturating_sub(1) as u64)
    }

    /// Appends the group as a record: the complement of the wasted bytes, the first path, the size, the
    /// number of files, and of each file the number of its paths and the paths with their lengths.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let put_text = |out: &mut Vec<u8>, text: &[u8]| {
            put_varint(out, text.len() as u64);
            out.extend_from_slice(text);
        };
        out.extend_from_slice(&(!self.wasted()).to_be_bytes());
        put_text(out, self.files.first().map_or(b"", DuplicateFile::first));
        put_varint(out, self.size);
        put_varint(out, self.files.len() as u64);
        for file in &self.files {
            put_varint(out, file.paths.len() as u64);
            file.paths.iter().for_each(|path| put_text(out, path));
        }
    }

    /// Reads a record; `None` if it is not one.
    pub(super) fn read(record: &[u8]) -> Option<Self> {
        let mut from = ByteReader::new(record.get(HEADER..)?);
        let text = |from: &mut ByteReader<'_>| {
            let length = usize::try_from(from.varint()?).ok()?;
            Some(from.take(length)?.to_vec())
        };
        text(&mut from)?;
        let size = from.varint()?;
        let mut files = Vec::new();
        for _ in 0..from.varint()? {
            let mut paths = Vec::new();
            for _ in 0..from.varint()? {
                paths.push(text(&mut from)?);
            }
            files.push(DuplicateFile { paths });
        }
        Some(DuplicateGroup { size, files })
    }
}

impl DuplicateFile {
    fn first(&self) -> &[u8] {
        self.paths.first().map_or(b"", |path| path)
    }
}

/// Compares records of groups: the most wasted bytes first, then by the first path.
pub(super) fn by_waste(one: &[u8], other: &[u8]) -> Ordering {
    let head = |record: &[u8]| record.first_chunk::<HEADER>().copied();
    let path = |record: &'_ [u8]| -> Vec<u8> { path_of(record.get(HEADER..).unwrap_or_default()).to_vec() };
    head(one).cmp(&head(other)).then_with(|| walk_order(&path(one), &path(other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_come_back_and_the_greatest_waste_is_first() {
        let candidate = |size, paths: &[&str]| FileCandidate {
            size,
            file: None,
            mtime: None,
            ctime: None,
            paths: paths.iter().map(|path| path.as_bytes().to_vec()).collect(),
        };
        let small = DuplicateGroup::of([candidate(5, &["b"]), candidate(5, &["c", "a"])].into_iter());
        let large = DuplicateGroup::of([candidate(300, &["y"]), candidate(300, &["z"])].into_iter());
        assert_eq!((small.wasted(), large.wasted()), (5, 300));
        assert_eq!(small.files[0].paths, [b"a", b"c"]);
        let record = |group: &DuplicateGroup| {
            let mut record = Vec::new();
            group.put(&mut record);
            record
        };
        assert_eq!(DuplicateGroup::read(&record(&small)), Some(small.clone()));
        assert!(by_waste(&record(&large), &record(&small)).is_lt());
        let bytes = record(&large);
        assert!((0..bytes.len()).all(|length| DuplicateGroup::read(&bytes[..length]).is_none()));
    }
}
