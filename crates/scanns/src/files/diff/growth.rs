//! Sums of differences by directory, owner, group and extension.
//!
//! An entry that is in both trees counts only where it changed: its size, or what it is counted under. Sizes
//! are those of entries that are not directories; a file with several names counts for each.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::compare::{Difference, DifferenceKind};
use super::pairs::split;
use crate::source::{Entry, EntryKind};

/// The most sums of each sort. Differences that would need another one are summed up as [`OTHERS`].
const MOST: usize = 100_000;

/// What sums beyond the limit are counted under.
const OTHERS: &[u8] = b"(others)";

/// What is counted under if a tree does not know it, or a name has no extension.
const NONE: &[u8] = b"(none)";

/// What differences are summed up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GrowthBy {
    /// All differences.
    Total,
    /// A directory, with everything below it.
    Directory,
    /// The owner.
    Owner,
    /// The group.
    Group,
    /// The extension of the name of a file.
    Extension,
}

impl GrowthBy {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            GrowthBy::Total => "total",
            GrowthBy::Directory => "directory",
            GrowthBy::Owner => "owner",
            GrowthBy::Group => "group",
            GrowthBy::Extension => "ext",
        }
    }
}

/// A sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GrowthLine {
    /// Entries that came.
    pub entries_added: u64,
    /// Entries that went.
    pub entries_removed: u64,
    /// Bytes that came.
    pub bytes_added: u64,
    /// Bytes that went.
    pub bytes_removed: u64,
    /// Entries of one tree where the other one could not be read or was not looked at.
    pub entries_unseen: u64,
    /// Their bytes.
    pub bytes_unseen: u64,
}

impl GrowthLine {
    /// The net growth of the number of entries.
    pub fn entries(&self) -> i128 {
        i128::from(self.entries_added) - i128::from(self.entries_removed)
    }

    /// The net growth in bytes.
    pub fn bytes(&self) -> i128 {
        i128::from(self.bytes_added) - i128::from(self.bytes_removed)
    }

    fn is_empty(&self) -> bool {
        *self == GrowthLine::default()
    }

    fn add(&mut self, bytes: u64) {
        self.entries_added += 1;
        self.bytes_added = self.bytes_added.saturating_add(bytes);
    }

    fn remove(&mut self, bytes: u64) {
        self.entries_removed += 1;
        self.bytes_removed = self.bytes_removed.saturating_add(bytes);
    }

    fn unsee(&mut self, bytes: u64) {
        self.entries_unseen += 1;
        self.bytes_unseen = self.bytes_unseen.saturating_add(bytes);
    }

    fn resize(&mut self, old: u64, new: u64) {
        self.bytes_added = self.bytes_added.saturating_add(new.saturating_sub(old));
        self.bytes_removed = self.bytes_removed.saturating_add(old.saturating_sub(new));
    }
}

/// What an entry is counted under.
type GrowthKey<'e> = (GrowthBy, Cow<'e, [u8]>);

/// The growth of a tree.
#[derive(Clone, Debug)]
pub struct Growth {
    /// The greatest number of names in a directory's path below the top of the trees.
    depth: usize,
    lines: BTreeMap<(GrowthBy, Vec<u8>), GrowthLine>,
    /// By sort, the number of sums.
    counts: [usize; 5],
}

impl Growth {
    /// No growth yet; directories have sums if they are at most `depth` levels below the top of the trees.
    pub fn new(depth: usize) -> Self {
        Growth { depth, lines: BTreeMap::new(), counts: [0; 5] }
    }

    /// Adds a difference.
    pub fn add(&mut self, difference: &Difference<'_>) {
        if difference.kind == DifferenceKind::Unseen {
            for entry in [difference.old, difference.new].into_iter().flatten() {
                self.keys(&entry, difference.top).iter().for_each(|key| self.line(key).unsee(bytes(&entry)));
            }
            return;
        }
        let old = difference.old.map(|entry| (self.keys(&entry, difference.top), bytes(&entry)));
        let new = difference.new.map(|entry| (self.keys(&entry, difference.top), bytes(&entry)));
        let none = (Vec::new(), 0);
        let (old_keys, old_bytes) = old.as_ref().unwrap_or(&none);
        let (new_keys, new_bytes) = new.as_ref().unwrap_or(&none);
        for key in old_keys {
            match new_keys.contains(key) {
                true => self.line(key).resize(*old_bytes, *new_bytes),
                false => self.line(key).remove(*old_bytes),
            }
        }
        for key in new_keys.iter().filter(|key| !old_keys.contains(key)) {
            self.line(key).add(*new_bytes);
        }
    }

    /// The sums in order: the total, then directories, owners, groups and extensions by their names.
    pub fn lines(&self) -> impl Iterator<Item = (GrowthBy, &[u8], &GrowthLine)> {
        let changed = self.lines.iter().filter(|((by, _), line)| *by == GrowthBy::Total || !line.is_empty());
        changed.map(|((by, key), line)| (*by, key.as_slice(), line))
    }

    /// What an entry is counted under.
    fn keys<'e>(&self, entry: &Entry<'e>, top: &[u8]) -> Vec<GrowthKey<'e>> {
        let mut keys = vec![(GrowthBy::Total, Cow::Borrowed(&b""[..]))];
        keys.extend(directories(entry.path, top, self.depth).map(|path| (GrowthBy::Directory, path.into())));
        keys.push((GrowthBy::Owner, owner(entry.owner, entry.uid)));
        keys.push((GrowthBy::Group, owner(entry.group, entry.gid)));
        if entry.kind.is_none_or(|kind| kind == EntryKind::File) {
            keys.push((GrowthBy::Extension, extension(entry.path).unwrap_or(NONE).into()));
        }
        keys
    }

    fn line(&mut self, key: &GrowthKey<'_>) -> &mut GrowthLine {
        let by = key.0;
        let mut key = (by, key.1.to_vec());
        if !self.lines.contains_key(&key)
            && let Some(count) = self.counts.get_mut(by as usize)
        {
            if *count < MOST {
                *count += 1;
            } else {
                key.1 = OTHERS.to_vec();
            }
        }
        self.lines.entry(key).or_default()
    }
}

/// The name of an owner, or else its number.
fn owner(name: Option<&[u8]>, id: Option<u32>) -> Cow<'_, [u8]> {
    match (name, id) {
        (Some(name), _) => name.into(),
        (None, Some(id)) => id.to_string().into_bytes().into(),
        (None, None) => NONE.into(),
    }
}

/// The directories that an entry is in, at most `depth` levels below the top.
fn directories<'p>(path: &'p [u8], top: &[u8], depth: usize) -> impl Iterator<Item = &'p [u8]> {
    let start = top.len();
    let slashes = path.iter().enumerate().filter(move |(at, byte)| **byte == b'/' && *at > start);
    slashes.take(depth).map(|(at, _)| path.get(..at).unwrap_or(path))
}

fn extension(path: &[u8]) -> Option<&[u8]> {
    let name = split(path).map_or(path, |(_, name)| name);
    let dot = memchr::memrchr(b'.', name).filter(|&dot| dot > 0)?;
    name.get(dot + 1..).filter(|extension| !extension.is_empty())
}

fn bytes(entry: &Entry<'_>) -> u64 {
    if entry.kind == Some(EntryKind::Directory) { 0 } else { entry.size.unwrap_or(0) }
}

#[cfg(test)]
mod tests {
    use super::super::fields::EntryFieldSet;
    use super::*;

    fn entry<'a>(path: &'a str, size: u64, owner: &'a str) -> Entry<'a> {
        let (path, owner) = (path.as_bytes(), Some(owner.as_bytes()));
        Entry { path, owner, size: Some(size), kind: Some(EntryKind::File), ..Entry::default() }
    }

    #[test]
    fn an_entry_counts_where_it_came_and_where_it_went() {
        let mut growth = Growth::new(2);
        let mut add = |old: Option<Entry<'_>>, new: Option<Entry<'_>>| {
            let (kind, fields) = (DifferenceKind::Changed, EntryFieldSet::default());
            growth.add(&Difference { kind, old, new, fields, top: b"" });
        };
        add(None, Some(entry("/a/b/c.txt", 10, "ann")));
        add(Some(entry("/a/x", 7, "ann")), None);
        add(Some(entry("/a/b/d.h5", 5, "ann")), Some(entry("/a/e/d.h5", 9, "ben")));
        let shown: Vec<String> = growth
            .lines()
            .map(|(by, key, line)| {
                let GrowthLine { entries_added, entries_removed, bytes_added, bytes_removed, .. } = line;
                let key = String::from_utf8_lossy(key);
                let by = by.name();
                format!("{by} {key} +{entries_added} -{entries_removed} +{bytes_added} -{bytes_removed}")
            })
            .collect();
        assert_eq!(
            shown,
            [
                "total  +1 -1 +14 -7",
                "directory /a +1 -1 +14 -7",
                "directory /a/b +1 -1 +10 -5",
                "directory /a/e +1 -0 +9 -0",
                "owner ann +1 -2 +10 -12",
                "owner ben +1 -0 +9 -0",
                "group (none) +1 -1 +14 -7",
                "ext (none) +0 -1 +0 -7",
                "ext h5 +0 -0 +4 -0",
                "ext txt +1 -0 +10 -0",
            ]
        );
    }
}
