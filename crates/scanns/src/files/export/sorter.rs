//! Sorts entries, in memory and beyond a limit in temporary files.
//!
//! A record is an entry and its number, so that entries with one place in the order stay in the order in
//! which they came, and none is taken for a double.

use std::cmp::Ordering;

use crate::error::{Error, Result};
use crate::files::entry_record::{path_of, put_entry};
use crate::files::order::walk_order;
use crate::source::Entry;
use crate::store::{RecordOrder, RecordSorter, SortSpace};

/// Entries that are being sorted.
pub(super) struct EntrySorter {
    sorter: RecordSorter,
    /// The number of entries.
    count: u64,
    /// Room for a record.
    single: Vec<u8>,
}

impl EntrySorter {
    pub(super) fn new(order: RecordOrder, space: SortSpace) -> Self {
        let sorter = RecordSorter::new(order, space.memory, &space.directory);
        EntrySorter { sorter, count: 0, single: Vec::new() }
    }

    /// Adds an entry.
    pub(super) fn push(&mut self, entry: &Entry<'_>) -> Result<()> {
        self.single.clear();
        put_entry(&mut self.single, entry);
        self.single.extend_from_slice(&self.count.to_be_bytes());
        self.count += 1;
        self.sorter.push(&self.single)
    }

    /// Calls `visit` with all entries in order.
    pub(super) fn finish(self, visit: &mut dyn FnMut(&Entry<'_>) -> Result<()>) -> Result<()> {
        let sorted = self.sorter.finish()?;
        let mut cursor = sorted.read()?;
        while cursor.record().is_some() {
            let entry = cursor.entry();
            visit(&entry.ok_or_else(|| Error::corrupt("a temporary file", "an entry is cut off"))?)?;
            cursor.advance()?;
        }
        Ok(())
    }
}

/// The order of a walk.
pub(super) fn by_walk(one: &[u8], other: &[u8]) -> Ordering {
    walk_order(path_of(one), path_of(other)).then_with(|| by_number(one, other))
}

/// The order in which entries came.
pub(super) fn by_number(one: &[u8], other: &[u8]) -> Ordering {
    one.last_chunk::<8>().cmp(&other.last_chunk::<8>())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::tests::{random_entries, seeded};
    use super::*;

    #[test]
    fn entries_with_one_path_all_stay_in_the_order_in_which_they_came() {
        for memory in [1, 1 << 20] {
            let mut sorter = EntrySorter::new(by_walk, SortSpace { memory, directory: std::env::temp_dir() });
            for (path, size) in [(b"/b", 1), (b"/a", 2), (b"/b", 3), (b"/a", 4)] {
                sorter.push(&Entry { path, size: Some(size), ..Entry::default() }).unwrap();
            }
            let mut sizes = Vec::new();
            sorter
                .finish(&mut |entry| {
                    sizes.extend(entry.size);
                    Ok(())
                })
                .unwrap();
            assert_eq!(sizes, [2, 4, 1, 3]);
        }
    }

    #[test]
    fn entries_are_sorted_in_any_memory_and_no_file_is_left() {
        let mut random = seeded();
        let entries = random_entries(&mut random, 900);
        let mut expected: Vec<_> = entries.iter().map(|owned| owned.entry()).collect();
        expected.sort_by(|one, other| walk_order(one.path, other.path));
        let place = tempfile::tempdir().unwrap();
        // One entry a run makes more runs than are open at a time.
        for memory in [1, 700, 20_000, 1 << 30] {
            let space = SortSpace { memory, directory: place.path().into() };
            let mut sorter = EntrySorter::new(by_walk, space);
            entries.iter().for_each(|owned| sorter.push(&owned.entry()).unwrap());
            let mut sorted = 0;
            sorter
                .finish(&mut |entry| {
                    assert_eq!(Some(entry), expected.get(sorted));
                    sorted += 1;
                    Ok(())
                })
                .unwrap();
            assert_eq!(sorted, entries.len());
            assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_an_error() {
        let space = SortSpace { memory: 1, directory: "/proc/none".into() };
        let mut sorter = EntrySorter::new(by_walk, space);
        let entry = Entry { path: b"/a", ..Entry::default() };
        assert!(sorter.push(&entry).is_err());
    }
}
