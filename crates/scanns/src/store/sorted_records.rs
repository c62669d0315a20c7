//! Sorts records, such as the entries of a tree, in bounded memory.
//!
//! Records are collected up to a limit. Beyond it, what was collected is sorted and written as a run into a
//! temporary file (`sorted_run.rs`), and the runs are merged while they are read. The files have no name, so
//! that they vanish with the process. Of several records with one place in the order, the last one counts.
//!
//! 64 runs are merged into one of the next level, so a record is written once for each level: twice if 4,096
//! times the limit is sorted.

use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::path::{Path, PathBuf};

use super::packed_records::{PackedRecords, RecordOrder};
use super::sorted_run::{RunReader, RunWriter, SortedRun};
use crate::error::Result;

/// The most runs of a level.
const MOST_RUNS: usize = 64;

/// Where and in how much memory entries are sorted.
#[derive(Clone, Debug)]
pub struct SortSpace {
    /// The bytes of entries in memory.
    pub memory: usize,
    /// The directory of temporary files.
    pub directory: PathBuf,
}

/// Takes records in any order. They must not be empty.
#[derive(Debug)]
pub(crate) struct RecordSorter {
    order: RecordOrder,
    /// The most memory of records, in bytes.
    limit: usize,
    /// Where temporary files are made.
    directory: PathBuf,
    records: PackedRecords,
    runs: Vec<SortedRun>,
    doubled: RecordDoubles,
}

/// Records with the place of another record in the order.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordDoubles {
    pub(crate) count: u64,
    /// The first record.
    pub(crate) first: Vec<u8>,
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
    pub(crate) fn new(order: RecordOrder, limit: usize, directory: &Path) -> Self {
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
    pub(crate) fn push(&mut self, record: &[u8]) -> Result<()> {
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
    pub(crate) fn finish(mut self) -> Result<SortedRecords> {
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
        self.runs.push(run.finish(0)?);
        self.records = PackedRecords::default();
        // Runs of one level are neighbours, and earlier ones have earlier records.
        while let Some(level) = self.runs.last().map(|run| run.level)
            && let from = self.runs.partition_point(|run| run.level > level)
            && self.runs.len() - from >= MOST_RUNS
        {
            self.merge(from, level + 1)?;
        }
        Ok(())
    }

    /// Merges the runs from a number on into one.
    fn merge(&mut self, from: usize, level: u32) -> Result<()> {
        let of_level = self.runs.split_off(from);
        let mut merged = RunWriter::new(&self.directory)?;
        let mut cursor = RecordCursor::merging(self.order, &of_level)?;
        while !cursor.record.is_empty() {
            merged.write(&cursor.record)?;
            cursor.advance()?;
        }
        if self.doubled.count == 0 {
            self.doubled.first.clone_from(&cursor.doubled.first);
        }
        self.doubled.count += cursor.doubled.count;
        self.runs.push(merged.finish(level)?);
        Ok(())
    }
}

/// Records in order. They can be read several times.
#[derive(Debug)]
pub(crate) struct SortedRecords {
    order: RecordOrder,
    records: PackedRecords,
    /// The numbers of `records` in order.
    numbers: Vec<u32>,
    /// Sorted runs; if there are any, `records` is empty.
    runs: Vec<SortedRun>,
    /// Doubles that were found before the runs are merged.
    pub(crate) doubled: RecordDoubles,
}

impl SortedRecords {
    /// The records from the first.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub(crate) fn read(&self) -> Result<RecordCursor<'_>> {
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
pub(crate) struct RecordCursor<'s> {
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
    pub(crate) doubled: RecordDoubles,
}

impl<'s> RecordCursor<'s> {
    fn new(order: RecordOrder) -> Self {
        let (runs, record) = (BinaryHeap::new(), Vec::new());
        RecordCursor { order, kept: None, at: 0, runs, record, doubled: RecordDoubles::default() }
    }

    fn merging(order: RecordOrder, runs: &'s [SortedRun]) -> Result<Self> {
        let mut cursor = RecordCursor::new(order);
        for (number, run) in runs.iter().enumerate() {
            let mut run = RunReader::new(run, number, order);
            if run.advance()? {
                cursor.runs.push(run);
            }
        }
        cursor.advance()?;
        Ok(cursor)
    }

    /// The current record; `None` at the end.
    pub(crate) fn record(&self) -> Option<&[u8]> {
        match self.kept {
            Some(kept) => {
                let at = *kept.numbers.get(self.at.checked_sub(1)?)?;
                Some(kept.records.record(at as usize))
            }
            None => Some(self.record.as_slice()).filter(|record| !record.is_empty()),
        }
    }

    /// Goes to the next record.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub(crate) fn advance(&mut self) -> Result<()> {
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
            self.record.clear();
            self.record.extend_from_slice(&first.record);
            if !first.advance()? {
                PeekMut::pop(first);
            }
        }
        Ok(())
    }
}
