//! Sorts rows in bounded memory, whatever their number.
//!
//! Rows come in index order, as bytes, each with the bytes of its sort key. Rows that fit into memory are
//! sorted there. Otherwise the rows in memory are sorted and written as a *run* to an unnamed file, of which
//! nothing remains however the program ends. As many runs as memory allows are merged at once, level by
//! level; a run is longer than the runs of the previous level by this factor. So a row is written once for
//! each level. The output of the last merge is not written, but read directly.
//!
//! `run.rs` writes and reads a run, `merge.rs` merges several, and `key.rs` makes sort keys.

pub mod key;
mod merge;
mod run;

use std::io;
use std::path::PathBuf;

use merge::Merge;
use run::{RunWriter, SortedRun};
use scanns::columns::BatchColumn;

use crate::error::{ExportError, Result};

/// The maximum number of runs to merge at once.
const FAN: usize = 64;

/// The number of rows to merge between two looks at whether anybody wants them.
const STEP: u64 = 1 << 12;

/// The maximum number of sorted rows in a batch, and about the maximum number of their bytes.
const BATCH: (usize, usize) = (8 << 10, 4 << 20);

/// Sorts rows.
#[derive(Debug)]
pub struct Sorter {
    /// The maximum number of bytes to use.
    memory: usize,
    /// The directory for temporary files.
    place: PathBuf,
    held: Held,
    /// Runs by level; the runs of a level have about the same length.
    levels: Vec<Vec<SortedRun>>,
    /// The length in bytes of the longest row with its key.
    longest: usize,
}

/// Rows in memory.
#[derive(Debug, Default)]
pub struct Held {
    bytes: Vec<u8>,
    rows: Vec<Row>,
}

/// The place of a row in memory.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// The first eight bytes of the key, which decide most comparisons.
    prefix: u64,
    /// The start of the key.
    start: usize,
    /// The end of the key and the start of the row.
    middle: usize,
    /// The end of the row.
    end: usize,
}

impl Held {
    fn taken(&self) -> usize {
        self.bytes.len() + self.rows.len() * size_of::<Row>()
    }

    /// Makes room for a row; false if the system refuses the memory.
    fn has_room(&mut self, bytes: usize) -> bool {
        self.bytes.try_reserve(bytes).is_ok() && self.rows.try_reserve(1).is_ok()
    }

    fn push(&mut self, key: &[u8], row: &[u8]) {
        let mut prefix = [0; 8];
        prefix.iter_mut().zip(key).for_each(|(to, &from)| *to = from);
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(row);
        let (middle, end) = (start + key.len(), self.bytes.len());
        self.rows.push(Row { prefix: u64::from_be_bytes(prefix), start, middle, end });
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        let key = |row: &Row| bytes.get(row.start..row.middle).unwrap_or_default();
        // No two keys are equal: they end with the number of the document.
        self.rows.sort_unstable_by(|a, b| a.prefix.cmp(&b.prefix).then_with(|| key(a).cmp(key(b))));
    }
}

impl Sorter {
    /// A sorter that uses at most `memory` bytes, and makes temporary files in `place`.
    pub fn new(memory: usize, place: PathBuf) -> Self {
        Sorter { memory, place, held: Held::default(), levels: Vec::new(), longest: 0 }
    }

    /// Adds a row with its key; false if `stop` wants no more.
    ///
    /// # Errors
    /// [`ExportError::Temporary`] if the rows do not fit into memory and cannot be written.
    pub fn push(&mut self, key: &[u8], row: &[u8], stop: &dyn Fn() -> bool) -> Result<bool> {
        let bytes = key.len() + row.len();
        let is_full = self.held.taken() + bytes + size_of::<Row>() > self.memory;
        if !self.held.rows.is_empty() && (is_full || !self.held.has_room(bytes)) {
            let spilled = self.spill(stop).map_err(|error| self.trouble(error))?;
            if spilled.is_none() {
                return Ok(false);
            }
        }
        self.longest = self.longest.max(key.len() + row.len());
        self.held.push(key, row);
        Ok(true)
    }

    /// All rows in order; `None` if `stop` wants no more.
    ///
    /// # Errors
    /// [`ExportError::Temporary`] if temporary files cannot be written or read.
    pub fn finish(mut self, stop: &dyn Fn() -> bool) -> Result<Option<Sorted>> {
        if self.levels.is_empty() {
            self.held.sort();
            return Ok(Some(Sorted { source: SortedSource::Held(self.held, 0), place: self.place }));
        }
        let finished = (|| -> io::Result<Option<Merge>> {
            if self.spill(stop)?.is_none() {
                return Ok(None);
            }
            self.held = Held::default();
            // Each level has few runs left; the shortest runs are merged first.
            let mut runs: Vec<SortedRun> = self.levels.drain(..).flatten().collect();
            let (fan, buffer) = self.fan();
            while runs.len() > fan {
                let some = runs.drain(..fan.min(runs.len() - fan + 1)).collect();
                let Some(merged) = self.merge(some, buffer, stop)? else { return Ok(None) };
                runs.push(merged);
            }
            Merge::new(runs, buffer).map(Some)
        })();
        let merge = finished.map_err(|error| self.trouble(error))?;
        Ok(merge.map(|merge| Sorted { source: SortedSource::Merged(merge), place: self.place }))
    }

    fn trouble(&self, source: io::Error) -> ExportError {
        ExportError::Temporary { place: self.place.clone(), source }
    }

    /// The number of runs to merge at once, and the buffer size for each; together they take a quarter of the
    /// memory.
    fn fan(&self) -> (usize, usize) {
        let quarter = self.memory / 4;
        let buffer = (quarter / FAN).clamp(4 << 10, 1 << 20);
        ((quarter / (buffer + self.longest)).clamp(2, FAN), buffer)
    }

    /// Writes the rows in memory as a run; `None` if `stop` wants no more.
    fn spill(&mut self, stop: &dyn Fn() -> bool) -> io::Result<Option<()>> {
        self.held.sort();
        let mut run = RunWriter::new(&self.place)?;
        let Held { bytes, rows } = &mut self.held;
        for row in &*rows {
            let key = bytes.get(row.start..row.middle).unwrap_or_default();
            run.push(key, bytes.get(row.middle..row.end).unwrap_or_default())?;
        }
        bytes.clear();
        rows.clear();
        let mut run = run.finish()?;
        let (fan, buffer) = self.fan();
        for level in 0.. {
            if self.levels.len() == level {
                self.levels.push(Vec::new());
            }
            let Some(runs) = self.levels.get_mut(level) else { break };
            runs.push(run);
            if runs.len() < fan {
                break;
            }
            let full = std::mem::take(runs);
            let Some(merged) = self.merge(full, buffer, stop)? else { return Ok(None) };
            run = merged;
        }
        Ok(Some(()))
    }

    fn merge(
        &self,
        runs: Vec<SortedRun>,
        buffer: usize,
        stop: &dyn Fn() -> bool,
    ) -> io::Result<Option<SortedRun>> {
        let (mut merge, mut merged) = (Merge::new(runs, buffer)?, RunWriter::new(&self.place)?);
        let mut rows = 0u64;
        while let Some((key, row)) = merge.next()? {
            merged.push(key, row)?;
            rows += 1;
            if rows.is_multiple_of(STEP) && stop() {
                return Ok(None);
            }
        }
        merged.finish().map(Some)
    }
}

/// Rows in order.
#[derive(Debug)]
pub struct Sorted {
    source: SortedSource,
    place: PathBuf,
}

#[derive(Debug)]
enum SortedSource {
    /// All rows, if they fit into memory, and the number of rows that were read.
    Held(Held, usize),
    /// A merge of the rows in files.
    Merged(Merge),
}

impl Sorted {
    /// The next row; `None` after the last.
    ///
    /// # Errors
    /// [`ExportError::Temporary`] if it cannot be read back.
    pub fn next_row(&mut self) -> Result<Option<&[u8]>> {
        match &mut self.source {
            SortedSource::Held(Held { bytes, rows }, taken) => {
                let Some(row) = rows.get(*taken) else { return Ok(None) };
                *taken += 1;
                Ok(bytes.get(row.middle..row.end))
            }
            SortedSource::Merged(merge) => {
                let place = &self.place;
                let next = merge.next();
                let next = next.map_err(|source| ExportError::Temporary { place: place.clone(), source })?;
                Ok(next.map(|(_, row)| row))
            }
        }
    }

    /// Replaces the rows of columns with the next ones: some thousands, or some megabytes. False after the
    /// last row.
    ///
    /// # Errors
    /// [`ExportError::Temporary`] if they cannot be read back.
    pub fn next_batch(&mut self, columns: &mut [BatchColumn]) -> Result<bool> {
        columns.iter_mut().for_each(BatchColumn::clear);
        let (mut count, mut bytes) = (0, 0);
        while count < BATCH.0 && bytes < BATCH.1 {
            let Some(mut row) = self.next_row()? else { break };
            bytes += row.len();
            count += 1;
            let read = columns.iter_mut().try_for_each(|column| column.take_row(&mut row));
            if read.is_none() {
                let source = io::Error::other("cannot read a row back from a temporary file");
                return Err(ExportError::Temporary { place: self.place.clone(), source });
            }
        }
        Ok(count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(rows: &[(Vec<u8>, Vec<u8>)], memory: usize) -> (Vec<Vec<u8>>, bool) {
        let mut sorter = Sorter::new(memory, std::env::temp_dir());
        rows.iter().for_each(|(key, row)| assert!(sorter.push(key, row, &|| false).unwrap()));
        let mut sorted = sorter.finish(&|| false).unwrap().unwrap();
        let merged = matches!(sorted.source, SortedSource::Merged(_));
        let mut all = Vec::new();
        while let Some(row) = sorted.next_row().unwrap() {
            all.push(row.to_vec());
        }
        assert!(sorted.next_row().unwrap().is_none());
        (all, merged)
    }

    #[test]
    fn rows_come_in_order_whatever_the_memory() {
        let seed = 0x5eed_0642;
        let mut random = fastrand::Rng::with_seed(seed);
        for (count, longest) in [(0, 1), (1, 10), (2, 10), (3_000, 20), (3_000, 3_000)] {
            let mut rows: Vec<(Vec<u8>, Vec<u8>)> = (0..count)
                .map(|_: u32| {
                    let mut bytes =
                        |most| (0..random.usize(..most)).map(|_| random.u8(..3)).collect::<Vec<_>>();
                    (bytes(12), bytes(longest))
                })
                .zip(0u32..)
                .map(|((key, row), number)| ([&key[..], &number.to_be_bytes()].concat(), row))
                .collect();
            random.shuffle(&mut rows);
            let mut expected = rows.clone();
            expected.sort();
            let expected: Vec<_> = expected.into_iter().map(|(_, row)| row).collect();
            for memory in [1, 200, 5_000, 100_000, 100 << 20] {
                let (found, merged) = sorted(&rows, memory);
                assert!(found == expected, "seed {seed:x} {count} rows of {longest} in {memory}");
                if memory == 1 || memory > 1 << 20 {
                    assert_eq!(merged, memory == 1 && count > 1);
                }
            }
        }
    }

    #[test]
    fn runs_are_merged_in_several_passes_of_few_at_once() {
        let rows: Vec<_> = (0..5_000u32)
            .map(|n| (n.wrapping_mul(2_654_435_761).to_be_bytes().to_vec(), n.to_le_bytes().to_vec()))
            .collect();
        let mut sorter = Sorter::new(400, std::env::temp_dir());
        for (key, row) in &rows {
            assert!(sorter.push(key, row, &|| false).unwrap());
        }
        assert_eq!(sorter.fan().0, 2);
        assert!(sorter.levels.len() > 6 && sorter.levels.iter().all(|level| level.len() < 2));
        let mut expected = rows.clone();
        expected.sort();
        let mut sorted = sorter.finish(&|| false).unwrap().unwrap();
        for (_, row) in &expected {
            assert_eq!(sorted.next_row().unwrap(), Some(&row[..]));
        }
        assert_eq!(sorted.next_row().unwrap(), None);
    }

    #[test]
    fn a_place_where_nothing_can_be_written_is_named() {
        let mut sorter = Sorter::new(1, "/nowhere/at/all".into());
        sorter.push(b"a", b"", &|| false).unwrap();
        let error = sorter.push(b"b", b"", &|| false).unwrap_err();
        assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
        assert!(std::error::Error::source(&error).unwrap().to_string().contains("create a temporary file"));
    }

    #[test]
    fn a_sort_that_nobody_wants_ends() {
        let mut sorter = Sorter::new(1, std::env::temp_dir());
        let wanted = (0..1u32 << 20).take_while(|n| sorter.push(&n.to_be_bytes(), b"", &|| true).unwrap());
        assert!(wanted.count() < 1 << 14);
        let sorter = Sorter { levels: Vec::new(), ..Sorter::new(1 << 20, std::env::temp_dir()) };
        assert!(sorter.finish(&|| true).unwrap().is_some(), "an empty sort has nothing to stop");
    }
}
