//! A file as bytes, whose order is that of directories and names.
//!
//! ```text
//! record = directory | 0 u8 | name | 0 u8 | varint(size) | modified i64
//! ```

use crate::codec::{ByteReader, put_varint};
use crate::source::stamp::Stamp;

/// A file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileRecord<'r> {
    pub(super) directory: &'r [u8],
    pub(super) name: &'r [u8],
    pub(super) stamp: Stamp,
}

/// Appends a file with an absolute path.
pub(super) fn put_file(out: &mut Vec<u8>, path: &[u8], stamp: Stamp) {
    let slash = memchr::memrchr(b'/', path).unwrap_or(0);
    let (directory, name) = path.split_at(slash);
    let directory = if directory.is_empty() { b"/" } else { directory };
    out.extend_from_slice(directory);
    out.push(0);
    out.extend_from_slice(name.strip_prefix(b"/").unwrap_or(name));
    out.push(0);
    put_varint(out, stamp.bytes);
    out.extend_from_slice(&stamp.modified.to_le_bytes());
}

/// The part of a record that says which file it is.
pub(super) fn key_of(record: &[u8]) -> &[u8] {
    let end = memchr::memchr_iter(0, record).nth(1).map_or(record.len(), |end| end + 1);
    record.get(..end).unwrap_or(record)
}

/// Reads a record; `None` if the bytes are none.
pub(super) fn file_of(record: &[u8]) -> Option<FileRecord<'_>> {
    let directory = record.get(..memchr::memchr(0, record)?)?;
    let rest = record.get(directory.len() + 1..)?;
    let name = rest.get(..memchr::memchr(0, rest)?)?;
    let mut reader = ByteReader::new(rest.get(name.len() + 1..)?);
    let stamp = Stamp { bytes: reader.varint()?, modified: reader.u64()?.cast_signed() };
    Some(FileRecord { directory, name, stamp })
}

impl FileRecord<'_> {
    /// Puts its path in place of what is there.
    pub(super) fn path_into(&self, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(self.directory);
        if !self.directory.ends_with(b"/") {
            out.push(b'/');
        }
        out.extend_from_slice(self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_read_back_and_their_bytes_have_the_order_of_directories_and_names() {
        let paths: [&[u8]; 8] = [b"/b", b"/z", b"/a/b", b"/a/c", b"/a/c\xff", b"/a b/c", b"/a-/c", b"/a/b/c"];
        let mut records: Vec<Vec<u8>> = paths
            .iter()
            .zip([0, 1, 127, 128, u64::MAX, 5, 6, 7])
            .map(|(path, bytes)| {
                let mut record = Vec::new();
                put_file(&mut record, path, Stamp { bytes, modified: -7 });
                let file = file_of(&record).unwrap();
                let mut read = Vec::new();
                file.path_into(&mut read);
                assert_eq!((read.as_slice(), file.stamp), (*path, Stamp { bytes, modified: -7 }));
                assert_eq!(key_of(&record).len(), path.len() + if path.len() == 2 { 2 } else { 1 });
                record
            })
            .collect();
        records.sort();
        let directories: Vec<_> = records.iter().map(|record| file_of(record).unwrap().directory).collect();
        assert!(directories.is_sorted());
        assert!((0..records[0].len()).all(|len| file_of(&records[0][..len]).is_none()));
    }
}
