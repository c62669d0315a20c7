//! Sorts the entries that an expression selects by a value, and keeps the best of them.
//!
//! A record is what an entry is sorted by, its number among the selected ones, the number of its start point,
//! and the entry:
//!
//! ```text
//! record = known u8 (0 or 1) | varint(length) | key | number u64 | point u32 | entry
//! ```
//!
//! Keys are compared by their bytes: numbers are big-endian, and dates have their sign bit flipped. With a
//! limit, a heap holds that many records, the worst on top; records that outgrow the memory, and those
//! without a limit, are sorted in temporary files.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::io;

use super::entry_record::{entry_of, path_of, put_entry};
use super::find::{FoundEntry, UnknownColumn, lack};
use crate::codec::{ByteReader, put_varint};
use crate::error::{Error, Result};
use crate::source::Entry;
use crate::store::{RecordOrder, RecordSorter, SortSpace, SortedRecords};

/// A value by which found entries are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FindKey {
    Path,
    Name,
    Depth,
    Size,
    Blocks,
    Modified,
    Accessed,
    Changed,
    Born,
    Owner,
    Group,
    UserId,
    GroupId,
    Inode,
    Links,
}

/// The names of the values. Apart from the first three, they are names of columns.
const KEYS: [(&str, FindKey); 15] = [
    ("path", FindKey::Path),
    ("name", FindKey::Name),
    ("depth", FindKey::Depth),
    ("size", FindKey::Size),
    ("blocks", FindKey::Blocks),
    ("mtime", FindKey::Modified),
    ("atime", FindKey::Accessed),
    ("ctime", FindKey::Changed),
    ("btime", FindKey::Born),
    ("owner", FindKey::Owner),
    ("group", FindKey::Group),
    ("uid", FindKey::UserId),
    ("gid", FindKey::GroupId),
    ("inode", FindKey::Inode),
    ("links", FindKey::Links),
];

/// An order of found entries: by a value, and where it is equal, by the bytes of paths. Entries whose value
/// is not known come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindSort {
    key: FindKey,
    descending: bool,
}

impl FindSort {
    /// Reads an order: the name of a value, and `:desc` for the greatest first.
    ///
    /// # Errors
    /// [`Error::UnknownName`] for a name that is not known.
    pub fn parse(text: &str) -> Result<Self> {
        let (name, descending) = match text.split_once(':') {
            None => (text, false),
            Some((name, "asc")) => (name, false),
            Some((name, "desc")) => (name, true),
            Some((_, order)) => {
                return Err(Error::UnknownName {
                    what: "order",
                    name: order.into(),
                    known: "asc or desc".into(),
                });
            }
        };
        let key = KEYS.iter().find(|(known, _)| *known == name).map(|(_, key)| *key);
        let names = || KEYS.map(|(name, _)| name).join(", ");
        let unknown = || Error::UnknownName { what: "value", name: name.into(), known: names() };
        Ok(FindSort { key: key.ok_or_else(unknown)?, descending })
    }

    /// The name of the value.
    fn name(self) -> &'static str {
        KEYS.iter().find(|(_, key)| *key == self.key).map_or("", |(name, _)| name)
    }

    /// The columns that must be read for the value.
    pub(super) fn columns(self) -> &'static [&'static str] {
        match self.key {
            FindKey::Path | FindKey::Name | FindKey::Depth => &[],
            FindKey::Size => &["size"],
            FindKey::Blocks => &["blocks"],
            FindKey::Modified => &["mtime"],
            FindKey::Accessed => &["atime"],
            FindKey::Changed => &["ctime"],
            FindKey::Born => &["btime"],
            FindKey::Owner => &["owner", "uid"],
            FindKey::Group => &["group", "gid"],
            FindKey::UserId => &["uid"],
            FindKey::GroupId => &["gid"],
            FindKey::Inode => &["inode"],
            FindKey::Links => &["links"],
        }
    }

    /// Appends the key of an entry; false if its value is not known.
    fn put_key(self, found: &FoundEntry<'_>, out: &mut Vec<u8>) -> bool {
        let entry = found.entry;
        let named = |name: Option<&[u8]>, id: Option<u32>| {
            name.map(<[u8]>::to_vec).or_else(|| id.map(|id| id.to_string().into_bytes()))
        };
        let number = |number: Option<u64>| number.map(|number| number.to_be_bytes().to_vec());
        let date = |date: Option<i64>| number(date.map(|date| date.cast_unsigned() ^ 1 << 63));
        let key = match self.key {
            FindKey::Path => Some(entry.path.to_vec()),
            FindKey::Name => Some(name_of(entry.path).to_vec()),
            FindKey::Depth => number(Some(found.depth as u64)),
            FindKey::Size => number(entry.size),
            FindKey::Blocks => number(entry.blocks),
            FindKey::Modified => date(entry.mtime),
            FindKey::Accessed => date(entry.atime),
            FindKey::Changed => date(entry.ctime),
            FindKey::Born => date(entry.btime),
            FindKey::Owner => named(entry.owner, entry.uid),
            FindKey::Group => named(entry.group, entry.gid),
            FindKey::UserId => number(entry.uid.map(u64::from)),
            FindKey::GroupId => number(entry.gid.map(u64::from)),
            FindKey::Inode => number(entry.inode),
            FindKey::Links => number(entry.links),
        };
        out.extend_from_slice(key.as_deref().unwrap_or_default());
        key.is_some()
    }
}

/// The last name of a path.
fn name_of(path: &[u8]) -> &[u8] {
    memchr::memrchr(b'/', path).and_then(|slash| path.get(slash + 1..)).unwrap_or(path)
}

/// The parts of a record.
#[derive(Clone, Copy)]
struct FoundRecord<'r> {
    is_known: bool,
    key: &'r [u8],
    number: u64,
    point: u32,
    entry: &'r [u8],
}

impl<'r> FoundRecord<'r> {
    fn of(record: &'r [u8]) -> Option<Self> {
        let mut reader = ByteReader::new(record);
        let is_known = reader.take(1)? == [1];
        let length = usize::try_from(reader.varint()?).ok()?;
        let key = reader.take(length)?;
        Some(FoundRecord {
            is_known,
            key,
            number: reader.u64()?,
            point: reader.u32()?,
            entry: reader.remaining(),
        })
    }
}

fn rising(one: &[u8], other: &[u8]) -> Ordering {
    compare(one, other, |one, other| one.cmp(other))
}

fn falling(one: &[u8], other: &[u8]) -> Ordering {
    compare(one, other, |one, other| other.cmp(one))
}

fn compare(one: &[u8], other: &[u8], keys: impl Fn(&[u8], &[u8]) -> Ordering) -> Ordering {
    let (Some(one), Some(other)) = (FoundRecord::of(one), FoundRecord::of(other)) else {
        return Ordering::Equal;
    };
    let by_key = other.is_known.cmp(&one.is_known).then_with(|| keys(one.key, other.key));
    let by_path = by_key.then_with(|| path_of(one.entry).cmp(path_of(other.entry)));
    by_path.then(one.number.cmp(&other.number))
}

/// A record in a heap.
struct HeldRecord {
    order: RecordOrder,
    bytes: Vec<u8>,
}

impl Ord for HeldRecord {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.order)(&self.bytes, &other.bytes)
    }
}

impl PartialOrd for HeldRecord {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for HeldRecord {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for HeldRecord {}

/// Selected entries that are being sorted.
pub(super) struct FoundEntries {
    sort: FindSort,
    order: RecordOrder,
    /// The number of entries that are wanted.
    limit: usize,
    space: SortSpace,
    /// The best entries so far, if that many fit into memory.
    best: BinaryHeap<HeldRecord>,
    /// The memory of `best`.
    bytes: usize,
    /// All entries, if they are too many for a heap.
    all: Option<RecordSorter>,
    /// The number of entries that were selected.
    count: u64,
    /// Entries whose value is not known.
    unknown: Vec<UnknownColumn>,
    /// Why sorting failed.
    failure: Option<Error>,
    record: Vec<u8>,
}

impl FoundEntries {
    pub(super) fn new(sort: FindSort, limit: Option<u64>, space: &SortSpace) -> Self {
        let order = if sort.descending { falling } else { rising };
        let sorter = || RecordSorter::new(order, space.memory, &space.directory);
        FoundEntries {
            sort,
            order,
            limit: limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX)),
            space: space.clone(),
            best: BinaryHeap::new(),
            bytes: 0,
            all: limit.is_none().then(sorter),
            count: 0,
            unknown: Vec::new(),
            failure: None,
            record: Vec::new(),
        }
    }

    /// Takes a selected entry.
    ///
    /// # Errors
    /// A temporary file cannot be written; [`FoundEntries::finish`] returns the reason.
    pub(super) fn push(&mut self, found: &FoundEntry<'_>) -> io::Result<()> {
        let mut key = Vec::new();
        let is_known = self.sort.put_key(found, &mut key);
        if !is_known {
            lack(&mut self.unknown, &format!("--sort {}", self.sort.name()), found.entry.path);
        }
        self.record.clear();
        self.record.push(u8::from(is_known));
        put_varint(&mut self.record, key.len() as u64);
        self.record.extend_from_slice(&key);
        self.record.extend_from_slice(&self.count.to_le_bytes());
        self.record.extend_from_slice(&found.point.to_le_bytes());
        put_entry(&mut self.record, found.entry);
        self.count += 1;
        let kept = match &mut self.all {
            Some(all) => all.push(&self.record),
            None => self.hold(),
        };
        kept.map_err(|error| {
            self.failure = Some(error);
            io::Error::other("entries cannot be sorted")
        })
    }

    /// Keeps the record if it is one of the best.
    fn hold(&mut self) -> Result<()> {
        if self.best.len() < self.limit {
            self.bytes += self.record.len() + size_of::<HeldRecord>();
            self.best.push(HeldRecord { order: self.order, bytes: self.record.clone() });
        } else if let Some(mut worst) = self.best.peek_mut()
            && (self.order)(&self.record, &worst.bytes).is_lt()
        {
            self.bytes = (self.bytes + self.record.len()).saturating_sub(worst.bytes.len());
            worst.bytes.clear();
            worst.bytes.extend_from_slice(&self.record);
        }
        if self.bytes > self.space.memory {
            let mut all = RecordSorter::new(self.order, self.space.memory, &self.space.directory);
            for held in std::mem::take(&mut self.best) {
                all.push(&held.bytes)?;
            }
            self.all = Some(all);
        }
        Ok(())
    }

    /// The reason why an entry could not be taken.
    pub(super) fn failure(&mut self) -> Option<Error> {
        self.failure.take()
    }

    /// The entries, sorted, and what is not known of them. No entries are left.
    pub(super) fn finish(&mut self) -> Result<(SortedRecords, Vec<UnknownColumn>)> {
        let mut all = match self.all.take() {
            Some(all) => all,
            None => RecordSorter::new(self.order, usize::MAX, &self.space.directory),
        };
        for held in std::mem::take(&mut self.best) {
            all.push(&held.bytes)?;
        }
        Ok((all.finish()?, std::mem::take(&mut self.unknown)))
    }
}

/// The entry of a record, and the number of its start point.
pub(super) fn found_of(record: &[u8]) -> Option<(Entry<'_>, usize)> {
    let FoundRecord { point, entry, .. } = FoundRecord::of(record)?;
    Some((entry_of(entry)?, usize::try_from(point).ok()?))
}

#[cfg(test)]
mod tests;
