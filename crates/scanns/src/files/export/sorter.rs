//! Sorts entries in memory, and beyond a limit in temporary files.
//!
//! Records fill memory up to the limit; then they are sorted and written to a file, a run. In the end all
//! runs are merged. If there are many, they are merged into one before, so that open files and their buffers
//! are limited, too. A file is removed as soon as it is open: nothing is left behind, even if the program is
//! killed.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::record;
use crate::error::{Error, Result};
use crate::source::Entry;

/// The most runs that are open at a time.
const MOST_RUNS: usize = 128;

/// The bytes of the buffer of a run.
const BUFFER: usize = 64 << 10;

/// What entries are sorted by: the path, and whether it is a directory.
pub(super) type EntryKey<'k> = (&'k [u8], bool);

/// An order of entries.
pub(super) type EntryOrder = fn(EntryKey<'_>, EntryKey<'_>) -> Ordering;

/// Where and in how much memory entries are sorted.
#[derive(Clone, Debug)]
pub struct SortSpace {
    /// The bytes of entries in memory.
    pub memory: usize,
    /// The directory of temporary files.
    pub directory: PathBuf,
}

/// Entries that are being sorted.
pub(super) struct EntrySorter {
    order: EntryOrder,
    space: SortSpace,
    records: Vec<u8>,
    /// Where the records start.
    starts: Vec<usize>,
    runs: Vec<SortedRun>,
    /// Room for a record.
    single: Vec<u8>,
}

/// Sorted records in a temporary file.
struct SortedRun {
    file: BufReader<File>,
    /// Records that have not been read.
    left: u64,
}

impl EntrySorter {
    pub(super) fn new(order: EntryOrder, space: SortSpace) -> Self {
        EntrySorter {
            order,
            space,
            records: Vec::new(),
            starts: Vec::new(),
            runs: Vec::new(),
            single: Vec::new(),
        }
    }

    /// Adds an entry.
    pub(super) fn push(&mut self, entry: &Entry<'_>) -> Result<()> {
        self.single.clear();
        if !record::put(entry, &mut self.single) {
            return Err(Error::corrupt("an entry", "its path and texts have more than 4 GiB"));
        }
        let starts = self.starts.len() * size_of::<usize>();
        if !self.starts.is_empty() && self.records.len() + self.single.len() + starts > self.space.memory {
            self.write_run()?;
        }
        self.starts.push(self.records.len());
        self.records.extend_from_slice(&self.single);
        Ok(())
    }

    /// Calls `visit` with all entries in order.
    pub(super) fn finish(mut self, visit: &mut dyn FnMut(&Entry<'_>) -> Result<()>) -> Result<()> {
        if !self.runs.is_empty() {
            self.write_run()?;
            (self.records, self.starts) = (Vec::new(), Vec::new());
            let runs = std::mem::take(&mut self.runs);
            return merge(runs, self.order, &self.space.directory, &mut |record| visit(&read(record)?));
        }
        self.sort();
        self.starts.iter().try_for_each(|&start| visit(&read(self.records.get(start..).unwrap_or_default())?))
    }

    fn sort(&mut self) {
        let (records, order) = (&self.records, self.order);
        let at = |start: usize| record::key(records.get(start..).unwrap_or_default());
        self.starts.sort_unstable_by(|&one, &other| order(at(one), at(other)));
    }

    /// Writes the entries in memory to a temporary file.
    fn write_run(&mut self) -> Result<()> {
        self.sort();
        let mut run = TreeRunWriter::new(&self.space.directory)?;
        for &start in &self.starts {
            let record = self.records.get(start..).unwrap_or_default();
            let length = record::length(record).unwrap_or(0);
            run.put(record.get(..length).unwrap_or_default())?;
        }
        self.records.clear();
        self.starts.clear();
        self.runs.push(run.finish()?);
        if self.runs.len() == MOST_RUNS {
            let mut merged = TreeRunWriter::new(&self.space.directory)?;
            let runs = std::mem::take(&mut self.runs);
            merge(runs, self.order, &self.space.directory, &mut |record| merged.put(record))?;
            self.runs.push(merged.finish()?);
        }
        Ok(())
    }
}

/// The entry of a record that this room has written.
fn read(record: &[u8]) -> Result<Entry<'_>> {
    record::take(record).ok_or_else(|| Error::corrupt("a temporary file", "an entry is cut off"))
}

/// Writes a run.
struct TreeRunWriter<'p> {
    directory: &'p Path,
    file: BufWriter<File>,
    count: u64,
}

impl<'p> TreeRunWriter<'p> {
    fn new(directory: &'p Path) -> Result<Self> {
        let file = temporary(directory).map_err(|source| Error::io("sort entries in", directory, source))?;
        Ok(TreeRunWriter { directory, file: BufWriter::with_capacity(BUFFER, file), count: 0 })
    }

    fn put(&mut self, record: &[u8]) -> Result<()> {
        self.count += 1;
        self.file.write_all(record).map_err(|source| Error::io("sort entries in", self.directory, source))
    }

    fn finish(self) -> Result<SortedRun> {
        let failed = |source| Error::io("sort entries in", self.directory, source);
        let mut file = self.file.into_inner().map_err(|error| failed(error.into_error()))?;
        file.rewind().map_err(failed)?;
        Ok(SortedRun { file: BufReader::with_capacity(BUFFER, file), left: self.count })
    }
}

/// A new file without a name.
fn temporary(directory: &Path) -> io::Result<File> {
    for number in 0_u32.. {
        let path = directory.join(format!(".scanns-sort-{}-{number}", std::process::id()));
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            Ok(file) => return fs::remove_file(&path).map(|()| file),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

impl SortedRun {
    /// Reads the next record; false at the end.
    fn next(&mut self, record: &mut Vec<u8>) -> io::Result<bool> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        let mut length = [0; 4];
        self.file.read_exact(&mut length)?;
        record.clear();
        record.extend_from_slice(&length);
        let wanted = u64::from(u32::from_le_bytes(length));
        let read = self.file.by_ref().take(wanted).read_to_end(record)?;
        if read as u64 == wanted { Ok(true) } else { Err(ErrorKind::UnexpectedEof.into()) }
    }
}

/// The next record of a run; the least one is the greatest of a heap.
struct MergeHead {
    record: Vec<u8>,
    run: usize,
    order: EntryOrder,
}

impl Ord for MergeHead {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.order)(record::key(&other.record), record::key(&self.record))
    }
}

impl PartialOrd for MergeHead {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for MergeHead {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for MergeHead {}

/// Calls `visit` with the records of all runs in order.
fn merge(
    mut runs: Vec<SortedRun>,
    order: EntryOrder,
    directory: &Path,
    visit: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let failed = |source| Error::io("sort entries in", directory, source);
    let mut heads = BinaryHeap::with_capacity(runs.len());
    for (run, sorted) in runs.iter_mut().enumerate() {
        let mut record = Vec::new();
        if sorted.next(&mut record).map_err(failed)? {
            heads.push(MergeHead { record, run, order });
        }
    }
    while let Some(mut head) = heads.pop() {
        visit(&head.record)?;
        let more = runs.get_mut(head.run).map_or(Ok(false), |run| run.next(&mut head.record));
        if more.map_err(failed)? {
            heads.push(head);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{random_entries, seeded};
    use super::*;
    use crate::files::order::walk_order;

    fn by_path(one: EntryKey<'_>, other: EntryKey<'_>) -> Ordering {
        walk_order(one.0, other.0)
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
            let mut sorter = EntrySorter::new(by_path, space);
            entries.iter().for_each(|owned| sorter.push(&owned.entry()).unwrap());
            assert_eq!(sorter.runs.is_empty(), memory == 1 << 30);
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
        let mut sorter = EntrySorter::new(by_path, space);
        let entry = Entry { path: b"/a", ..Entry::default() };
        sorter.push(&entry).unwrap();
        assert!(sorter.push(&entry).is_err());
    }
}
