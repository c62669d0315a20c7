//! Entries that have moved: they were removed under one path and added under another.
//!
//! The entries of one path alone are collected in memory, and paired by `pairs.rs`. If they need more memory
//! than allowed, no moves are found, and the report says so.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::super::order::walk_order;
use super::fields::FieldRules;
use super::pairs::{EntryPairs, split};
use super::tree::SortedTree;
use crate::error::Result;
use crate::source::{Entry, EntryKind};
use crate::store::{PackedRecords, RecordCursor, SortedRecords};

/// The memory that pairing needs for an entry besides its values.
const EACH: usize = 96;

/// The entries at a path of two trees; at least one of them is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathEntries<'a> {
    pub(super) old: Option<Entry<'a>>,
    pub(super) new: Option<Entry<'a>>,
}

/// Reads two trees side by side, and returns their cursors at the end.
pub(super) fn side_by_side<'s>(
    old: &'s SortedRecords,
    new: &'s SortedRecords,
    mut visit: impl FnMut(PathEntries<'_>) -> Result<bool>,
) -> Result<(RecordCursor<'s>, RecordCursor<'s>)> {
    let (mut olds, mut news) = (old.read()?, new.read()?);
    loop {
        let (old, new) = (olds.entry(), news.entry());
        let order = match (&old, &new) {
            (None, None) => break,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(old), Some(new)) => walk_order(old.path, new.path),
        };
        let entries = PathEntries { old: old.filter(|_| order.is_le()), new: new.filter(|_| order.is_ge()) };
        if !visit(entries)? {
            break;
        }
        if order.is_le() {
            olds.advance()?;
        }
        if order.is_ge() {
            news.advance()?;
        }
    }
    Ok((olds, news))
}

/// Which entries have moved.
#[derive(Debug, Default)]
pub(super) struct Moves {
    pub(super) pairs: EntryPairs,
    /// By added entry, whether it only moved along with its directory.
    along: Vec<bool>,
    /// True if the entries were too many to look for moves.
    pub(super) given_up: bool,
}

impl Moves {
    /// Finds the moves between two trees, with at most `limit` bytes of memory. An entry that the other tree
    /// may have, too, has not moved.
    pub(super) fn find(
        old: &SortedTree,
        new: &SortedTree,
        rules: FieldRules,
        with_devices: bool,
        limit: usize,
    ) -> Result<Self> {
        let (mut removed, mut added) = (PackedRecords::default(), PackedRecords::default());
        let mut given_up = false;
        side_by_side(&old.entries, &new.entries, |entries| {
            match (entries.old, entries.new) {
                (Some(entry), None) if new.unread.reason(entry.path).is_none() => removed.push_entry(&entry),
                (None, Some(entry)) if old.unread.reason(entry.path).is_none() => added.push_entry(&entry),
                _ => {}
            }
            let count = removed.len() + added.len();
            given_up = removed.memory() + added.memory() + count * EACH > limit;
            Ok(!given_up)
        })?;
        if given_up {
            return Ok(Moves { given_up, ..Moves::default() });
        }
        let pairs = EntryPairs::find(removed, added, rules, with_devices);
        let along = along(&pairs);
        Ok(Moves { pairs, along, given_up })
    }

    /// The entry that an added entry was.
    pub(super) fn old_of(&self, added: usize) -> Option<Entry<'_>> {
        let old = self.pairs.old_of.get(added).copied().flatten()?;
        Some(self.pairs.removed.entry(old))
    }

    /// True if a removed entry is now under another path.
    pub(super) fn is_kept(&self, removed: usize) -> bool {
        self.pairs.new_of.get(removed).is_some_and(Option::is_some)
    }

    /// True if an added entry is where its moved directory has taken it.
    pub(super) fn is_along(&self, added: usize) -> bool {
        self.along.get(added).copied().unwrap_or(false)
    }
}

/// By added entry, whether it moved with its directory and kept its name.
fn along(pairs: &EntryPairs) -> Vec<bool> {
    // By the old path of a directory, its added entry.
    let mut directories: HashMap<&[u8], usize> = HashMap::new();
    let mut along = vec![false; pairs.added.len()];
    for (old, new) in pairs.new_of.iter().enumerate().filter_map(|(old, new)| Some((old, (*new)?))) {
        let (old_path, new_path) = (pairs.removed.path(old), pairs.added.path(new));
        if let (Some((old_directory, old_name)), Some((new_directory, new_name))) =
            (split(old_path), split(new_path))
            && old_name == new_name
            && directories.get(old_directory).is_some_and(|&at| pairs.added.path(at) == new_directory)
            && let Some(slot) = along.get_mut(new)
        {
            *slot = true;
        }
        if pairs.removed.entry(old).kind == Some(EntryKind::Directory) {
            directories.insert(old_path, new);
        }
    }
    along
}
