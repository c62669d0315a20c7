//! Finds which of the removed entries are the same files as added ones: by the number of the inode and
//! values that a move leaves alone.

use std::collections::{HashMap, HashSet};

use super::super::order::walk_order;
use super::fields::FieldRules;
use crate::source::{Entry, EntryKind};
use crate::store::PackedRecords;

/// What identifies a file in a tree: the inode, the device and the number of the kind.
type FileIdentity = (u64, u64, Option<u8>);

/// Removed and added entries, and which of them belong together.
#[derive(Debug, Default)]
pub(super) struct EntryPairs {
    pub(super) removed: PackedRecords,
    pub(super) added: PackedRecords,
    /// By removed entry, the added entry that it became.
    pub(super) new_of: Vec<Option<usize>>,
    /// By added entry, the removed entry that it was.
    pub(super) old_of: Vec<Option<usize>>,
}

impl EntryPairs {
    /// Pairs entries, which are in the order of a walk. `with_devices` tells whether both trees know devices.
    pub(super) fn find(
        removed: PackedRecords,
        added: PackedRecords,
        rules: FieldRules,
        with_devices: bool,
    ) -> Self {
        let (new_of, old_of) = (vec![None; removed.len()], vec![None; added.len()]);
        let mut pairs = EntryPairs { removed, added, new_of, old_of };
        let olds = by_identity(&pairs.removed, with_devices);
        let news = by_identity(&pairs.added, with_devices);
        for_each_common(&olds, &news, |olds, news| pairs.pair_group(olds, news, rules));
        pairs.pair_directories(&olds, &news);
        pairs.pair_below_directories();
        pairs
    }

    fn pair(&mut self, old: usize, new: usize) {
        if let (Some(new_of), Some(old_of)) = (self.new_of.get_mut(old), self.old_of.get_mut(new)) {
            (*new_of, *old_of) = (Some(new), Some(old));
        }
    }

    fn is_free(&self, old: usize, new: usize) -> bool {
        self.new_of.get(old) == Some(&None) && self.old_of.get(new) == Some(&None)
    }

    /// Pairs the names of one file: first equal names in other directories, then others in order.
    fn pair_group(&mut self, olds: &[Identified], news: &[Identified], rules: FieldRules) {
        let mut by_name: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
        for new in news.iter().rev() {
            by_name.entry(name(self.added.path(new.at)).to_vec()).or_default().push(new.at);
        }
        for old in olds {
            let Some(same) = by_name.get_mut(name(self.removed.path(old.at))) else { continue };
            if let Some(new) = same.pop_if(|new| self.is_same_file(old.at, *new, rules)) {
                self.pair(old.at, new);
            }
        }
        let old_rest = olds.iter().map(|old| old.at).filter(|&at| self.new_of.get(at) == Some(&None));
        let new_rest = news.iter().map(|new| new.at).filter(|&at| self.old_of.get(at) == Some(&None));
        let rest: Vec<(usize, usize)> = old_rest.zip(new_rest).collect();
        for (old, new) in rest {
            if self.is_same_file(old, new, rules) {
                self.pair(old, new);
            }
        }
    }

    /// True if two entries with one inode are one file: numbers of inodes are used again for new files.
    fn is_same_file(&self, old: usize, new: usize, rules: FieldRules) -> bool {
        let (old, new) = (self.removed.entry(old), self.added.entry(new));
        if let (Some(old), Some(new)) = (old.btime, new.btime) {
            return rules.is_same_time(old, new);
        }
        let has_time = old.mtime.zip(new.mtime).is_some_and(|(old, new)| rules.is_same_time(old, new));
        let is_directory = old.kind == Some(EntryKind::Directory);
        has_time && (is_directory || old.size == new.size || old.size.is_none() || new.size.is_none())
    }

    /// Pairs directories of one inode whose times differ, if something in them has moved from one to the
    /// other under its name.
    fn pair_directories(&mut self, olds: &[Identified], news: &[Identified]) {
        let mut evidence: HashSet<(Vec<u8>, Vec<u8>)> = HashSet::new();
        for (old, new) in self.new_of.iter().enumerate().filter_map(|(old, new)| Some((old, (*new)?))) {
            evidence.extend(self.directories(old, new));
        }
        let mut candidates = Vec::new();
        for_each_common(olds, news, |olds, news| {
            if let ([old], [new]) = (olds, news)
                && self.is_free(old.at, new.at)
                && is_directory(&self.removed.entry(old.at))
            {
                candidates.push((old.at, new.at));
            }
        });
        // What is in a directory comes before it.
        candidates.sort_unstable_by_key(|&(old, _)| std::cmp::Reverse(old));
        for (old, new) in candidates {
            let birth = self.removed.entry(old).btime.zip(self.added.entry(new).btime);
            let paths = (self.removed.path(old).to_vec(), self.added.path(new).to_vec());
            if birth.is_none() && evidence.contains(&paths) {
                self.pair(old, new);
                evidence.extend(self.directories(old, new));
            }
        }
    }

    /// The directories of two entries with one name.
    fn directories(&self, old: usize, new: usize) -> Option<(Vec<u8>, Vec<u8>)> {
        let (old_directory, old_name) = split(self.removed.path(old))?;
        let (new_directory, new_name) = split(self.added.path(new))?;
        (old_name == new_name).then(|| (old_directory.to_vec(), new_directory.to_vec()))
    }

    /// Pairs what has the same path below a directory that has moved, whatever its inode is.
    fn pair_below_directories(&mut self) {
        let mut moved: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
        for old in 0..self.removed.len() {
            let path = self.removed.path(old).to_vec();
            let mut new = self.new_of.get(old).copied().flatten();
            if new.is_none() {
                let target = split(&path)
                    .and_then(|(directory, name)| Some(joined(moved.get(directory)?, name)))
                    .and_then(|target| self.added_at(&target));
                new = target.filter(|&new| self.is_free(old, new));
                if let Some(new) = new {
                    self.pair(old, new);
                }
            }
            if let Some(new) = new
                && is_directory(&self.removed.entry(old))
                && is_directory(&self.added.entry(new))
            {
                moved.insert(path, self.added.path(new).to_vec());
            }
        }
    }

    /// The added entry with a path.
    fn added_at(&self, path: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, self.added.len());
        while low < high {
            let middle = low.midpoint(high);
            match walk_order(self.added.path(middle), path) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

/// An entry with what identifies its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Identified {
    file: FileIdentity,
    /// The number of the entry.
    at: usize,
}

/// The entries with known inodes, sorted by file.
fn by_identity(entries: &PackedRecords, with_devices: bool) -> Vec<Identified> {
    let identity = |at| {
        let entry = entries.entry(at);
        let device = if with_devices { entry.device.unwrap_or(0) } else { 0 };
        Some(Identified { file: (entry.inode?, device, entry.kind.map(|kind| kind as u8)), at })
    };
    let mut found: Vec<Identified> = (0..entries.len()).filter_map(identity).collect();
    found.sort_unstable();
    found
}

/// Calls `each` with the entries of every file that is on both sides.
fn for_each_common(
    mut olds: &[Identified],
    mut news: &[Identified],
    mut each: impl FnMut(&[Identified], &[Identified]),
) {
    while let (Some(old), Some(new)) = (olds.first(), news.first()) {
        let first = old.file.min(new.file);
        let count = |list: &[Identified]| list.iter().take_while(|entry| entry.file == first).count();
        let (old_group, old_rest) = olds.split_at(count(olds));
        let (new_group, new_rest) = news.split_at(count(news));
        if !old_group.is_empty() && !new_group.is_empty() {
            each(old_group, new_group);
        }
        (olds, news) = (old_rest, new_rest);
    }
}

/// A path's directory and name; `None` if it has no directory.
pub(super) fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let slash = memchr::memrchr(b'/', path)?;
    let name = path.get(slash + 1..)?;
    let directory = path.get(..slash.max(1))?;
    (!name.is_empty()).then_some((directory, name))
}

fn name(path: &[u8]) -> &[u8] {
    split(path).map_or(path, |(_, name)| name)
}

fn joined(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let slash: &[u8] = if directory.ends_with(b"/") { b"" } else { b"/" };
    [directory, slash, name].concat()
}

fn is_directory(entry: &Entry<'_>) -> bool {
    entry.kind == Some(EntryKind::Directory)
}
