//! Other names of files with several names.
//!
//! If a file gets or loses a name, or changes, the documents of its other names are no longer right, but many
//! lists name only one of them. So the index is asked for documents with the same inode.

use std::collections::HashSet;
use std::sync::Mutex;

use super::known::KnownEntries;
use crate::error::Result;
use crate::source::{ChangedPaths, Entry, EntryKind, ancestors};
use crate::sys::lock;

/// Inodes of files with several names that were met.
#[derive(Default)]
pub(super) struct LinkedFiles(Mutex<HashSet<u64>>);

impl LinkedFiles {
    /// Takes a file that had several names when it was indexed.
    pub(super) fn add_known(&self, inode: Option<u64>) {
        if let Some(inode) = inode {
            lock(&self.0).insert(inode);
        }
    }

    /// Takes the entries of a batch that have several names.
    pub(super) fn add<'e>(&self, entries: impl Iterator<Item = Entry<'e>>) {
        let is_linked = |entry: &Entry<'_>| {
            entry.links.is_some_and(|links| links > 1) && entry.kind != Some(EntryKind::Directory)
        };
        entries.filter(is_linked).for_each(|entry| self.add_known(entry.inode));
    }

    /// The names of these files in the index that are neither in `looked_at` nor in one of `trees`.
    pub(super) fn names(
        &self,
        known: &KnownEntries<'_>,
        looked_at: &ChangedPaths,
        trees: &[Vec<u8>],
    ) -> Result<ChangedPaths> {
        let mut inodes = std::mem::take(&mut *lock(&self.0));
        let trees: HashSet<&[u8]> = trees.iter().map(Vec::as_slice).collect();
        let is_in_tree = |path: &[u8]| ancestors(path).any(|place| trees.contains(place));
        if !trees.is_empty() {
            // What is gone from there had perhaps a name elsewhere.
            known.each_linked(is_in_tree, |inode| {
                inodes.insert(inode);
            })?;
        }
        let mut names = ChangedPaths::default();
        if inodes.is_empty() {
            return Ok(names);
        }
        known.each_of_inodes(&inodes, |path| {
            if !looked_at.contains(path) && !is_in_tree(path) {
                names.push(path, false);
            }
        })?;
        names.sort();
        Ok(names)
    }
}
