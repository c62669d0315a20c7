//! Entries as bytes, many together, in memory and in temporary files.
//!
//! An entry is its path (a varint with its length, then its bytes), a varint whose bits tell which values
//! follow, and the values in the order of [`put_entry`]: texts like the path, times as 8 bytes, numbers as
//! varints, attributes as texts. The bytes are read by the process that wrote them.

use std::cmp::Ordering;

use super::order::walk_order;
use crate::codec::{ByteReader, put_varint};
use crate::source::{Entry, EntryKind};
use crate::store::{PackedRecords, RecordCursor};

/// The kinds in the order of their numbers.
const KINDS: [EntryKind; 7] = [
    EntryKind::File,
    EntryKind::Directory,
    EntryKind::Link,
    EntryKind::Fifo,
    EntryKind::Socket,
    EntryKind::Device,
    EntryKind::Member,
];

/// Appends an entry.
pub(super) fn put_entry(out: &mut Vec<u8>, entry: &Entry<'_>) {
    put_text(out, entry.path);
    let kind = entry.kind.and_then(|kind| KINDS.iter().position(|known| *known == kind));
    let texts = [entry.target, entry.owner, entry.group, entry.pool];
    let times = [entry.mtime, entry.atime, entry.ctime, entry.btime];
    let numbers = numbers(entry);
    let attributes = [entry.xattrs, entry.acl];
    let known = texts.iter().map(Option::is_some).chain(times.iter().map(Option::is_some));
    let known = std::iter::once(kind.is_some()).chain(known).chain(numbers.iter().map(Option::is_some));
    let known = known.chain(attributes.iter().map(Option::is_some));
    put_varint(out, known.rev().fold(0, |bits, known| bits << 1 | u64::from(known)));
    if let Some(kind) = kind {
        put_varint(out, kind as u64);
    }
    texts.into_iter().flatten().for_each(|text| put_text(out, text));
    times.into_iter().flatten().for_each(|time| out.extend_from_slice(&time.to_le_bytes()));
    numbers.into_iter().flatten().for_each(|number| put_varint(out, number));
    attributes.into_iter().flatten().for_each(|text| put_text(out, text));
}

fn numbers(entry: &Entry<'_>) -> [Option<u64>; 11] {
    let short = |number: Option<u32>| number.map(u64::from);
    [
        entry.size,
        entry.blocks,
        short(entry.uid),
        short(entry.gid),
        short(entry.mode),
        entry.inode,
        entry.links,
        entry.device,
        entry.rdev,
        entry.stripes,
        entry.project,
    ]
}

fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    put_varint(out, text.len() as u64);
    out.extend_from_slice(text);
}

fn text<'a>(from: &mut ByteReader<'a>) -> Option<&'a [u8]> {
    let length = usize::try_from(from.varint()?).ok()?;
    from.take(length)
}

/// The path of an entry; empty if the bytes are not an entry.
pub(super) fn path_of(record: &[u8]) -> &[u8] {
    text(&mut ByteReader::new(record)).unwrap_or_default()
}

/// True for an entry that is known to be a directory.
pub(super) fn is_directory(record: &[u8]) -> bool {
    let mut from = ByteReader::new(record);
    let has_kind = text(&mut from).and_then(|_| from.varint()).is_some_and(|known| known & 1 == 1);
    let kind = from.varint().filter(|_| has_kind).and_then(|kind| usize::try_from(kind).ok());
    kind.and_then(|kind| KINDS.get(kind)) == Some(&EntryKind::Directory)
}

/// Reads an entry, which other bytes may follow; `None` if the bytes are not an entry.
pub(super) fn entry_of(record: &[u8]) -> Option<Entry<'_>> {
    let mut from = ByteReader::new(record);
    let path = text(&mut from)?;
    let mut known = from.varint()?;
    let mut is_next = || {
        let is_known = known & 1 == 1;
        known >>= 1;
        is_known
    };
    let mut entry = Entry { path, ..Entry::default() };
    if is_next() {
        entry.kind = Some(*KINDS.get(usize::try_from(from.varint()?).ok()?)?);
    }
    for slot in [&mut entry.target, &mut entry.owner, &mut entry.group, &mut entry.pool] {
        *slot = if is_next() { Some(text(&mut from)?) } else { None };
    }
    for slot in [&mut entry.mtime, &mut entry.atime, &mut entry.ctime, &mut entry.btime] {
        *slot = if is_next() { Some(i64::from_le_bytes(from.take(8)?.try_into().ok()?)) } else { None };
    }
    let mut values = [None; 11];
    for slot in &mut values {
        *slot = if is_next() { Some(from.varint()?) } else { None };
    }
    for slot in [&mut entry.xattrs, &mut entry.acl] {
        *slot = if is_next() { Some(text(&mut from)?) } else { None };
    }
    let [size, blocks, uid, gid, mode, inode, links, device, rdev, stripes, project] = values;
    let short = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok());
    let (uid, gid, mode) = (short(uid), short(gid), short(mode));
    Some(Entry { size, blocks, uid, gid, mode, inode, links, device, rdev, stripes, project, ..entry })
}

impl PackedRecords {
    /// Adds an entry.
    pub(super) fn push_entry(&mut self, entry: &Entry<'_>) {
        self.push_with(|bytes| put_entry(bytes, entry));
    }

    /// An entry; without any values if there are not as many.
    pub(super) fn entry(&self, at: usize) -> Entry<'_> {
        entry_of(self.record(at)).unwrap_or_default()
    }

    /// The path of an entry.
    pub(super) fn path(&self, at: usize) -> &[u8] {
        path_of(self.record(at))
    }
}

impl RecordCursor<'_> {
    /// The current record, if it is an entry; `None` at the end.
    pub(super) fn entry(&self) -> Option<Entry<'_>> {
        entry_of(self.record()?)
    }
}

/// Compares entries by their paths, in the order of a walk with sorted names.
pub(super) fn by_path(one: &[u8], other: &[u8]) -> Ordering {
    walk_order(path_of(one), path_of(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_with_the_values_that_are_known() {
        let full = Entry {
            path: b"/a/b\xff",
            kind: Some(EntryKind::Link),
            target: Some(b"c d"),
            owner: Some(b""),
            group: Some(b"users"),
            mtime: Some(-1),
            atime: Some(i64::MAX),
            ctime: Some(i64::MIN),
            btime: Some(0),
            size: Some(u64::MAX),
            blocks: Some(8),
            uid: Some(0),
            gid: Some(u32::MAX),
            mode: Some(0o644),
            inode: Some(1 << 40),
            links: Some(2),
            device: Some(0),
            rdev: Some(0x103),
            stripes: Some(4),
            pool: Some(b"fast"),
            project: Some(u32::MAX.into()),
            xattrs: Some(b"user.a=1\nuser.b"),
            acl: Some(b"user::rw-"),
            has_acl: false,
            access: None,
        };
        let partly = Entry {
            path: b"x",
            ctime: Some(7),
            device: Some(9),
            xattrs: Some(b""),
            acl: Some(b"g"),
            ..Entry::default()
        };
        let mut records = PackedRecords::default();
        let entries = [full, partly, Entry::default(), full];
        entries.iter().for_each(|entry| records.push_entry(entry));
        for (at, entry) in entries.iter().enumerate() {
            assert_eq!(records.entry(at), *entry);
            assert_eq!(records.path(at), entry.path);
        }
        assert_eq!((records.len(), records.record(4).len()), (4, 0));
        for length in 0..records.record(0).len() {
            assert_eq!(entry_of(&records.record(0)[..length]), None, "{length}");
        }
    }
}
