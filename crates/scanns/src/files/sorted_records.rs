//! Sorts records, such as the entries of a tree, in bounded memory.
//!
//! Records are collected up to a limit. Beyond it, what was collected is sorted and written as a run into a
//! temporary file, and the runs are merged while they are read. The files have no name, so that they vanish
//! with the process. Of several records with one place in the order, the last one counts.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic;

use super::entry_record::{PackedRecords, entry_of, path_of};
use super::order::walk_order;
use crate::error::{Error, Result};
use crate::source::Entry;

/// The most runs that are merged at once.
const MOST_RUNS: usize = 64;

/// The bytes that are read of a run at once.
const READ: usize = 64 << 10;

/// The bytes before a record in a run: its length.
const HEADER: usize = 4;

/// Where and in how much memory entries are sorted.
#[derive(Clone, Debug)]
pub struct SortSpace {
    /// The bytes of entries in memory.
    pub memory: usize,
    /// The directory of temporary files.
    pub directory: PathBuf,
}

/// Compares two records.
pub(super) type RecordOrder = fn(&[u8], &[u8]) -> Ordering;

/// Compares entries by their paths, in the order of a walk with sorted names.
pub(super) fn by_path(one: &[u8], other: &[u8]) -> Ordering {
    walk_order(path_of(one), path_of(other))
}

/// Takes records in any order. They must not be empty.
#[derive(Debug)]
pub(super) struct RecordSorter {
    order: RecordOrder,
    /// The most memory of records, in bytes.
    limit: usize,
    /// Where temporary files are made.
    directory: PathBuf,
    records: PackedRecords,
    runs: Vec<File>,
    doubled: RecordDoubles,
}

/// Records with the place of another record in the order.
#[derive(Clone, Debug, Default)]
pub(super) struct RecordDoubles {
    pub(super) count: u64,
    /// The first record.
    pub(super) first: Vec<u8>,
}

impl RecordDoubles {
    fn add(&mut self, record: &[u8]) {
        if self.count == 0 {
            self.first = record.to_vec();
        }
        self.count += 1;
    }
}

impl RecordSorter {
    pub(super) fn new(order: RecordOrder, limit: usize, directory: &Path) -> Self {
        RecordSorter {
            order,
            limit,
            directory: directory.to_path_buf(),
            records: PackedRecords::default(),
            runs: Vec::new(),
            doubled: RecordDoubles::default(),
        }
    }

    /// Adds a record.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub(super) fn push(&mut self, record: &[u8]) -> Result<()> {
        self.records.push(record);
        // Sorting needs a number for each record.
        if self.records.memory() + self.records.len() * size_of::<u32>() > self.limit {
            self.spill()?;
        }
        Ok(())
    }

    /// The records, sorted.
    ///
    /// # Errors
    /// A temporary file cannot be written.
    pub(super) fn finish(mut self) -> Result<SortedRecords> {
        if !self.runs.is_empty() {
            self.spill()?;
        }
        let numbers = self.sorted();
        let RecordSorter { order, records, runs, doubled, .. } = self;
        Ok(SortedRecords { order, records, numbers, runs, doubled })
    }

    /// The numbers of the collected records in order, without doubles.
    fn sorted(&mut self) -> Vec<u32> {
        let (records, order) = (&self.records, self.order);
        let compare =
            |one: u32, other: u32| order(records.record(one as usize), records.record(other as usize));
        let mut numbers: Vec<u32> = (0..u32::try_from(records.len()).unwrap_or(u32::MAX)).collect();
        numbers.sort_unstable_by(|&one, &other| compare(one, other).then(other.cmp(&one)));
        let doubled = &mut self.doubled;
        numbers.dedup_by(|next, kept| {
            let is_double = compare(*next, *kept).is_eq();
            if is_double {
                doubled.add(records.record(*kept as usize));
            }
            is_double
        });
        numbers
    }

    /// Writes what was collected as a run.
    fn spill(&mut self) -> Result<()> {
        let numbers = self.sorted();
        let mut run = RunWriter::new(&self.directory)?;
        for at in numbers {
            run.write(self.records.record(at as usize))?;
        }
        self.runs.push(run.finish()?);
        self.records = PackedRecords::default();
        if self.runs.len() < MOST_RUNS {
            return Ok(());
        }
        let mut merged = RunWriter::new(&self.directory)?;
        let mut cursor = RecordCursor::merging(self.order, &self.runs)?;
        while !cursor.record.is_empty() {
            merged.write(&cursor.record)?;
            cursor.advance()?;
        }
        if self.doubled.count == 0 {
            self.doubled.first.clone_from(&cursor.doubled.first);
        }
        self.doubled.count += cursor.doubled.count;
        self.runs = vec![merged.finish()?];
        Ok(())
    }
}

/// Writes a run into a file without a name.
struct RunWriter<'d> {
    directory: &'d Path,
    out: BufWriter<File>,
}

impl<'d> RunWriter<'d> {
    fn new(directory: &'d Path) -> Result<Self> {
        let file = temporary_file(directory)
            .map_err(|error| Error::io("create a temporary file in", directory, error))?;
        Ok(RunWriter { directory, out: BufWriter::with_capacity(READ, file) })
    }

    fn write(&mut self, record: &[u8]) -> Result<()> {
        let length = u32::try_from(record.len()).map_err(io::Error::other);
        let written = length.and_then(|length| {
            self.out.write_all(&length.to_le_bytes())?;
            self.out.write_all(record)
        });
        written.map_err(|error| self.failed(error))
    }

    fn finish(self) -> Result<File> {
        let directory = self.directory;
        self.out
            .into_inner()
            .map_err(|error| Error::io("write a temporary file in", directory, error.into_error()))
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io("write a temporary file in", self.directory, error)
    }
}

/// A new file that has lost its name.
fn temporary_file(directory: &Path) -> io::Result<File> {
    static MADE: atomic::AtomicU64 = atomic::AtomicU64::new(0);
    loop {
        let number = MADE.fetch_add(1, atomic::Ordering::Relaxed);
        let path = directory.join(format!(".scanns-{}-{number}", std::process::id()));
        match OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => return fs::remove_file(&path).map(|()| file),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Records in order. They can be read several times.
#[derive(Debug)]
pub(super) struct SortedRecords {
    order: RecordOrder,
    records: PackedRecords,
    /// The numbers of `records` in order.
    numbers: Vec<u32>,
    /// Sorted runs; if there are any, `records` is empty.
    runs: Vec<File>,
    /// Doubles that were found before the runs are merged.
    pub(super) doubled: RecordDoubles,
}

impl SortedRecords {
    /// The records from the first.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub(super) fn read(&self) -> Result<RecordCursor<'_>> {
        if !self.runs.is_empty() {
            return RecordCursor::merging(self.order, &self.runs);
        }
        let mut cursor = RecordCursor::new(self.order);
        cursor.kept = Some(self);
        cursor.advance()?;
        Ok(cursor)
    }
}

/// A place among sorted records.
#[derive(Debug)]
pub(super) struct RecordCursor<'s> {
    order: RecordOrder,
    /// The records, if they are in memory.
    kept: Option<&'s SortedRecords>,
    /// The number of records of `kept` that were read.
    at: usize,
    /// The runs that are not at their end.
    runs: BinaryHeap<RunReader<'s>>,
    /// The current record of the merged runs; empty at the end.
    record: Vec<u8>,
    /// Doubles in different runs.
    pub(super) doubled: RecordDoubles,
}

impl<'s> RecordCursor<'s> {
    fn new(order: RecordOrder) -> Self {
        let (runs, record) = (BinaryHeap::new(), Vec::new());
        RecordCursor { order, kept: None, at: 0, runs, record, doubled: RecordDoubles::default() }
    }

    fn merging(order: RecordOrder, runs: &'s [File]) -> Result<Self> {
        let mut cursor = RecordCursor::new(order);
        for (number, file) in runs.iter().enumerate() {
            let (buffer, record) = (Vec::new(), Vec::new());
            let mut run = RunReader { order, file, number, place: 0, buffer, used: 0, record };
            if run.advance()? {
                cursor.runs.push(run);
            }
        }
        cursor.advance()?;
        Ok(cursor)
    }

    /// The current record; `None` at the end.
    pub(super) fn record(&self) -> Option<&[u8]> {
        match self.kept {
            Some(kept) => {
                let at = *kept.numbers.get(self.at.checked_sub(1)?)?;
                Some(kept.records.record(at as usize))
            }
            None => Some(self.record.as_slice()).filter(|record| !record.is_empty()),
        }
    }

    /// The current record, if it is an entry; `None` at the end.
    pub(super) fn entry(&self) -> Option<Entry<'_>> {
        entry_of(self.record()?)
    }

    /// Goes to the next record.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub(super) fn advance(&mut self) -> Result<()> {
        if self.kept.is_some() {
            self.at += 1;
            return Ok(());
        }
        self.record.clear();
        // Of records with one place, the one in the run with the highest number comes last.
        while let Some(mut first) = self.runs.peek_mut() {
            if !self.record.is_empty() {
                if (self.order)(&self.record, &first.record).is_ne() {
                    break;
                }
                self.doubled.add(&first.record);
            }
            std::mem::swap(&mut self.record, &mut first.record);
            if !first.advance()? {
                PeekMut::pop(first);
            }
        }
        Ok(())
    }
}

/// Reads a run; the greatest one has the first record.
#[derive(Debug)]
struct RunReader<'s> {
    order: RecordOrder,
    file: &'s File,
    /// The number of the run.
    number: usize,
    /// The bytes of the file that were read into the buffer.
    place: u64,
    buffer: Vec<u8>,
    /// The bytes of the buffer that were used.
    used: usize,
    record: Vec<u8>,
}

impl RunReader<'_> {
    /// Reads the next record; false at the end.
    fn advance(&mut self) -> Result<bool> {
        self.next_record().map_err(|error| Error::io("read", Path::new("a temporary file"), error))
    }

    fn next_record(&mut self) -> io::Result<bool> {
        self.fill(HEADER)?;
        let unread = self.buffer.get(self.used..).unwrap_or_default();
        let Some((length, _)) = unread.split_first_chunk::<HEADER>() else { return Ok(false) };
        let end = HEADER + u32::from_le_bytes(*length) as usize;
        self.fill(end)?;
        let record = self.buffer.get(self.used + HEADER..self.used + end);
        let record = record.ok_or(io::ErrorKind::UnexpectedEof)?;
        self.record.clear();
        self.record.extend_from_slice(record);
        self.used += end;
        Ok(true)
    }

    /// Reads until there are `count` unused bytes, or the file ends.
    fn fill(&mut self, count: usize) -> io::Result<()> {
        if self.buffer.len() - self.used >= count {
            return Ok(());
        }
        self.buffer.drain(..self.used);
        self.used = 0;
        let mut filled = self.buffer.len();
        self.buffer.resize(count.max(READ), 0);
        while filled < count {
            match self.file.read_at(self.buffer.get_mut(filled..).unwrap_or_default(), self.place) {
                Ok(0) => break,
                Ok(got) => {
                    filled += got;
                    self.place += got as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.buffer.truncate(filled);
        Ok(())
    }
}

impl Ord for RunReader<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let order = (self.order)(&other.record, &self.record);
        order.then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for RunReader<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RunReader<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for RunReader<'_> {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::entry_record::put_entry;
    use super::*;

    /// Paths with their sizes as a sorter with a limit returns them, and the number of doubles.
    fn sorted(entries: &[(Vec<u8>, u64)], limit: usize) -> (Vec<(Vec<u8>, u64)>, u64) {
        let place = tempfile::tempdir().unwrap();
        let mut sorter = RecordSorter::new(by_path, limit, place.path());
        for (path, size) in entries {
            let mut record = Vec::new();
            put_entry(&mut record, &Entry { path, size: Some(*size), ..Entry::default() });
            sorter.push(&record).unwrap();
        }
        let sorted = sorter.finish().unwrap();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        let read = || {
            let (mut found, mut cursor) = (Vec::new(), sorted.read().unwrap());
            while let Some(entry) = cursor.entry() {
                found.push((entry.path.to_vec(), entry.size.unwrap()));
                cursor.advance().unwrap();
            }
            (found, sorted.doubled.count + cursor.doubled.count)
        };
        assert_eq!(read(), read());
        read()
    }

    #[test]
    fn records_are_sorted_with_any_memory_and_the_last_of_a_path_counts() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..10 {
            let count = random.usize(..600);
            let entries: Vec<(Vec<u8>, u64)> = (0..count as u64)
                .map(|at| {
                    let names =
                        (0..random.usize(1..4)).map(|_| random.choice(["a", "b-", "c", "dd"]).unwrap());
                    let path: Vec<&str> = names.collect();
                    (format!("/{}{}", path.join("/"), random.u32(..900)).into_bytes(), at)
                })
                .collect();
            let last: BTreeMap<_, _> = entries.iter().cloned().collect();
            let mut expected: Vec<_> = last.into_iter().collect();
            expected.sort_by(|one, other| walk_order(&one.0, &other.0));
            let doubled = (entries.len() - expected.len()) as u64;
            for limit in [120, 3000, 1 << 20] {
                let (found, doubles) = sorted(&entries, limit);
                assert!(found == expected && doubles == doubled, "round {round} limit {limit}");
            }
        }
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_an_error() {
        let mut sorter = RecordSorter::new(by_path, 0, Path::new("/nonexistent"));
        let error = sorter.push(b"x").unwrap_err().to_string();
        assert!(error.contains("create a temporary file in /nonexistent"), "{error}");
    }
}
