//! The entries of one of the trees, sorted, and what is known about all of them.

use std::path::PathBuf;

use super::super::entry_record::{by_path, path_of, put_entry};
use super::super::order::{relative, without_slash};
use super::super::place::{common, holds};
use super::super::unread::UnreadPlaces;
use super::fields::{EntryFieldSet, SECOND};
use crate::error::Result;
use crate::record::dump::DumpTally;
use crate::source::{Entry, is_at_or_below};
use crate::store::{RecordDoubles, RecordSorter, SortedRecords};

/// Options of [`compare_trees`](super::compare_trees).
#[derive(Clone, Debug)]
pub struct DiffOptions {
    /// Fields that are not compared.
    pub ignored: EntryFieldSet,
    /// The directory of the old tree whose entries are compared, by their paths below it.
    pub old_root: Option<Vec<u8>>,
    /// The directory of the new tree whose entries are compared, by their paths below it.
    pub new_root: Option<Vec<u8>>,
    /// Compare only entries at and below this path, which is relative if there is a root.
    pub below: Option<Vec<u8>>,
    /// The most memory of entries, in bytes. Larger trees are sorted in temporary files.
    pub memory: usize,
    /// The directory of temporary files.
    pub temporary: PathBuf,
}

/// What was read of a tree.
#[derive(Clone, Debug, Default)]
pub struct TreeReport {
    /// The number of entries that were compared.
    pub entries: u64,
    /// Entries that were not compared, since they are not at or below the root and the path of the options.
    pub elsewhere: u64,
    /// Entries with the path of another entry; the last one was compared.
    pub doubled: u64,
    /// The path of the first of them.
    pub first_doubled: Vec<u8>,
    /// Entries of the other tree that this one may have, too, since it could not be read where they are, or
    /// left the place out.
    pub unseen: u64,
    /// The place of the first of them.
    pub unseen_place: Vec<u8>,
    /// Entries of the other tree that this one may have, too, since they are below none of its roots.
    pub uncovered: u64,
    /// The uppermost directories of the first of them.
    pub uncovered_places: Vec<Vec<u8>>,
    /// True if there are more of these directories.
    pub uncovered_more: bool,
    /// The format of the dump, if it is one.
    pub format: Option<&'static str>,
    /// What could not be read of the dump.
    pub tally: DumpTally,
    /// Why the dump could not be read to its end.
    pub failure: Option<String>,
}

impl TreeReport {
    /// True if every entry of the tree was read.
    pub fn is_complete(&self) -> bool {
        let tally = &self.tally;
        self.failure.is_none() && tally.bad == 0 && !tally.truncated && tally.complete != Some(false)
    }
}

/// Takes the entries of a tree in any order.
#[derive(Debug)]
pub(super) struct TreeCollector<'o> {
    root: Option<&'o [u8]>,
    below: Option<&'o [u8]>,
    sorter: RecordSorter,
    /// The entry that is being added.
    record: Vec<u8>,
    facts: TreeFacts,
    /// The deepest directory that has all entries so far.
    top: Option<Vec<u8>>,
}

/// What is known about all entries of a tree.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TreeFacts {
    entries: u64,
    elsewhere: u64,
    /// True if a time has a fraction of a second.
    has_fractions: bool,
    /// True if an entry has an inode.
    pub(super) has_inodes: bool,
    /// True if an entry has an inode and no device.
    lacks_devices: bool,
}

/// A tree that was read.
#[derive(Debug)]
pub(super) struct SortedTree {
    pub(super) entries: SortedRecords,
    pub(super) facts: TreeFacts,
    /// Where it could not be read.
    pub(super) unread: UnreadPlaces,
    /// The deepest directory that has all entries.
    pub(super) top: Option<Vec<u8>>,
}

impl<'o> TreeCollector<'o> {
    /// Collects a tree below `root`, if there is one.
    pub(super) fn new(root: Option<&'o [u8]>, options: &'o DiffOptions) -> Self {
        TreeCollector {
            root: root.map(without_slash),
            below: options.below.as_deref().map(without_slash),
            sorter: RecordSorter::new(by_path, options.memory / 6, &options.temporary),
            record: Vec::new(),
            facts: TreeFacts::default(),
            top: None,
        }
    }

    /// Adds an entry, unless it is elsewhere.
    pub(super) fn add(&mut self, entry: &Entry<'_>) -> Result<()> {
        let path = match self.root {
            Some(root) => relative(entry.path, root),
            None => Some(entry.path),
        };
        let path = path.filter(|path| self.below.is_none_or(|below| is_at_or_below(path, below)));
        let Some(path) = path else {
            self.facts.elsewhere += 1;
            return Ok(());
        };
        match &mut self.top {
            None => self.top = Some(path.to_vec()),
            Some(top) if holds(top, path) => {}
            Some(top) => top.truncate(common(top, path).map_or(0, <[u8]>::len)),
        }
        let facts = &mut self.facts;
        facts.entries += 1;
        let times = [entry.mtime, entry.atime, entry.ctime, entry.btime];
        facts.has_fractions |= times.into_iter().flatten().any(|time| time % SECOND != 0);
        facts.has_inodes |= entry.inode.is_some();
        facts.lacks_devices |= entry.inode.is_some() && entry.device.is_none();
        self.record.clear();
        put_entry(&mut self.record, &Entry { path, ..*entry });
        self.sorter.push(&self.record)
    }

    /// The entries, sorted, of a tree with these unread places.
    pub(super) fn finish(self, unread: UnreadPlaces) -> Result<SortedTree> {
        let unread = match self.root {
            Some(root) => unread.below(root),
            None => unread,
        };
        Ok(SortedTree { entries: self.sorter.finish()?, facts: self.facts, unread, top: self.top })
    }
}

impl TreeFacts {
    /// True if times have fractions of seconds, or there are no entries.
    pub(super) fn is_fine(&self) -> bool {
        self.has_fractions || self.entries == 0
    }

    /// True if every inode has its device.
    pub(super) fn knows_devices(&self) -> bool {
        !self.lacks_devices
    }
}

impl SortedTree {
    /// The report of the tree, with doubles that were found while it was read.
    pub(super) fn report(&self, found: &RecordDoubles) -> TreeReport {
        let before = &self.entries.doubled;
        let first = if before.count > 0 { before } else { found };
        let TreeFacts { entries, elsewhere, .. } = self.facts;
        let doubled = before.count + found.count;
        TreeReport {
            entries: entries - doubled,
            elsewhere,
            doubled,
            first_doubled: path_of(&first.first).to_vec(),
            ..TreeReport::default()
        }
    }
}
