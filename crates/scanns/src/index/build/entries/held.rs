//! The entries of a segment before they become documents, and the order in which they do.
//!
//! Documents are in the order of directories, and within a directory in the order of names, both by bytes. So
//! what is in a directory is one range of documents, what is below it is another one, and neighbours have
//! similar values, which their columns pack more tightly.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::tops::around;
use crate::column::split_path;
use crate::index::build::file_fields::EntrySource;
use crate::source::{Entry, EntryBatch};

/// Entries that wait to be written.
#[derive(Default)]
pub(super) struct HeldEntries {
    batch: EntryBatch,
    /// Where they come from, with the number of the first entry of each source.
    sources: Vec<(usize, Arc<EntrySource>)>,
    /// True if the type of an entry is not known.
    lacks_types: bool,
    /// The bytes of all extended attributes.
    attributes: usize,
}

/// The words of extended attributes take this many times their bytes.
const WORDS: usize = 4;

impl HeldEntries {
    pub(super) fn push(&mut self, entry: &Entry<'_>, from: &Arc<EntrySource>) {
        if !self.sources.last().is_some_and(|(_, last)| Arc::ptr_eq(last, from)) {
            self.sources.push((self.batch.len(), from.clone()));
        }
        self.lacks_types |= entry.kind.is_none();
        self.attributes += entry.xattrs.map_or(0, <[u8]>::len);
        self.batch.push(entry);
    }

    pub(super) fn len(&self) -> usize {
        self.batch.len()
    }

    /// Bytes that the entries and the words of their attributes take.
    pub(super) fn bytes(&self) -> usize {
        self.batch.bytes() + WORDS * self.attributes
    }

    /// Removes all entries; the memory is kept.
    pub(super) fn clear(&mut self) {
        self.batch.clear();
        self.sources.clear();
        self.lacks_types = false;
        self.attributes = 0;
    }

    /// An entry and its source.
    pub(super) fn get(&self, number: u32) -> Option<(Entry<'_>, &EntrySource)> {
        let number = number as usize;
        let after = self.sources.partition_point(|&(first, _)| first <= number);
        Some((self.batch.get(number)?, &self.sources.get(after.checked_sub(1)?)?.1))
    }

    /// The numbers of all entries in the order of their documents. Entries with the same path keep their
    /// order.
    pub(super) fn in_order(&self) -> Vec<u32> {
        let (directories, of_entries) = self.directories();
        let mut order: Vec<u32> = (0..).take(directories.len()).collect();
        order.sort_unstable_by_key(|&directory| directories.get(directory as usize));
        let mut ranks = vec![0u32; order.len()];
        for (rank, &directory) in (0..).zip(&order) {
            if let Some(slot) = ranks.get_mut(directory as usize) {
                *slot = rank;
            }
        }
        let rank = |entry: u32| {
            let directory = of_entries.get(entry as usize)?;
            ranks.get(*directory as usize).copied()
        };
        let mut entries: Vec<u32> = (0..).take(of_entries.len()).collect();
        entries.sort_by_key(|&entry| rank(entry));
        let name = |entry: u32| self.batch.path(entry as usize).map(|path| split_path(path).1);
        for siblings in entries.chunk_by_mut(|&one, &other| rank(one) == rank(other)) {
            siblings.sort_by_key(|&entry| name(entry));
        }
        entries
    }

    /// The paths of the directories around the entries, if the type of an entry is not known.
    pub(super) fn parents(&self) -> HashSet<&[u8]> {
        let mut parents = HashSet::new();
        let directories = if self.lacks_types { self.directories().0 } else { Vec::new() };
        for directory in directories {
            // Those around a known one are known, too.
            let _ = around(directory).take_while(|place| parents.insert(*place)).count();
        }
        parents
    }

    /// The distinct directories, and for each entry the number of its directory.
    fn directories(&self) -> (Vec<&[u8]>, Vec<u32>) {
        let (mut directories, mut numbers) = (Vec::new(), HashMap::new());
        let mut last: Option<(&[u8], u32)> = None;
        let of_entries = (0..self.batch.len()).map(|entry| {
            let directory = split_path(self.batch.path(entry).unwrap_or_default()).0;
            if let Some((_, number)) = last.filter(|(last, _)| *last == directory) {
                return number;
            }
            let number = *numbers.entry(directory).or_insert_with(|| {
                directories.push(directory);
                u32::try_from(directories.len() - 1).unwrap_or(u32::MAX)
            });
            last = Some((directory, number));
            number
        });
        let of_entries = of_entries.collect();
        (directories, of_entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::EntryKind;

    #[test]
    fn entries_are_ordered_by_directory_and_name_and_know_their_source() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let sources = ["one", "two"].map(|name| Arc::new(EntrySource { name: name.into(), scanned: 0 }));
        let mut held = HeldEntries::default();
        let names: [&[u8]; 7] = [b"a", b"b", b"a-b", b"a!", b"\xff", b"ab", b""];
        let mut expected = Vec::new();
        for number in 0..2000u64 {
            let mut path = b"/".to_vec();
            for _ in 0..random.usize(1..5) {
                path.extend_from_slice(random.choice(names).unwrap_or_default());
                path.push(b'/');
            }
            path.extend_from_slice(random.choice(names).unwrap_or_default());
            let from = usize::from(number % 700 > 300);
            held.push(&Entry { path: &path, inode: Some(number), ..Entry::default() }, &sources[from]);
            let (directory, name) = split_path(&path);
            expected.push((directory.to_vec(), name.to_vec(), number, sources[from].name.clone()));
        }
        expected.sort();
        let order = held.in_order();
        assert_eq!(order.len(), expected.len());
        for (number, (directory, name, inode, source)) in order.into_iter().zip(expected) {
            let (entry, from) = held.get(number).unwrap();
            assert_eq!((entry.path, entry.inode), ([directory, name].concat().as_slice(), Some(inode)));
            assert_eq!(from.name, source);
        }
        held.clear();
        assert!(held.in_order().is_empty() && held.get(0).is_none());
    }

    #[test]
    fn directories_around_entries_are_known_if_types_are_not() {
        let source = Arc::new(EntrySource { name: Vec::new(), scanned: 0 });
        let mut held = HeldEntries::default();
        let mut push = |path: &str, kind| {
            held.push(&Entry { path: path.as_bytes(), kind, ..Entry::default() }, &source);
            let mut parents: Vec<String> =
                held.parents().into_iter().map(|path| String::from_utf8(path.to_vec()).unwrap()).collect();
            parents.sort();
            parents.join(" ")
        };
        assert_eq!(push("/a/b/c", Some(EntryKind::File)), "");
        assert_eq!(push("/a/b/c/d", None), "/ /a /a/b /a/b/c");
        assert_eq!(push("x", None), "/ /a /a/b /a/b/c");
        assert_eq!(push("x/y/z", None), "/ /a /a/b /a/b/c x x/y");
        assert_eq!(push("./q", None), ". / /a /a/b /a/b/c x x/y");
    }
}
