//! Sorted files, which can be read as often as wanted.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::file_record::{file_of, key_of};
use crate::error::{Error, Result};
use crate::source::ignore::IgnoreFaults;
use crate::source::inputs::{Failure, Input, wait_for_clock};
use crate::source::order::LARGE;
use crate::source::skipped::Skipped;
use crate::source::stamp::Stamp;
use crate::store::{RecordCursor, RecordSorter, SortedRecords};

/// The number of failures that are kept.
pub(super) const MOST_FAILURES: usize = 10_000;

/// The bytes of a size before the record of a large file.
const SIZE: usize = 8;

/// Files in reading order: large ones by descending size, then all others by directory and name.
#[derive(Debug)]
pub struct SortedInputs {
    /// The number of files.
    pub count: u64,
    /// The total size of all files.
    pub bytes: u64,
    /// At most the first 10,000 inputs that could not be read, by path.
    pub failures: Vec<Failure>,
    /// The number of all of them.
    pub failed: u64,
    /// Entries that were skipped on purpose, as of [`Inputs`](super::super::Inputs).
    pub skipped: u64,
    /// Globs that included or excluded nothing.
    pub unused_globs: Vec<String>,
    /// What was wrong with the rules of `.gitignore` files.
    pub rule_faults: IgnoreFaults,
    /// True if a directory was named.
    pub has_roots: bool,
    /// Files that were left out because another one has the same path: the one modified last is kept.
    pub doubled: Skipped,
    pub(super) last_modified: i64,
    /// All files by directory and name.
    files: SortedRecords,
    /// The keys of files that another path reaches first.
    repeated: SortedRecords,
    /// The large files, with their sizes, as they are to be read.
    large: SortedRecords,
}

/// A file of the list.
#[derive(Clone, Copy, Debug)]
pub struct ListedFile<'l> {
    /// Its path.
    pub path: &'l Path,
    /// Its size and time when it was listed.
    pub stamp: Stamp,
}

impl ListedFile<'_> {
    /// The same as an input.
    pub fn input(&self) -> Input {
        let Stamp { bytes, modified } = self.stamp;
        Input { path: self.path.to_path_buf(), bytes, modified, ..Input::default() }
    }
}

impl SortedInputs {
    /// Counts the files, and sorts the large ones with `large`.
    pub(super) fn of(
        files: SortedRecords,
        repeated: SortedRecords,
        mut large: RecordSorter,
        cancel: &AtomicBool,
    ) -> Result<Self> {
        let (mut count, mut bytes, mut record) = (0, 0, Vec::new());
        let mut by_path = ByPath::new(&files, &repeated)?;
        while by_path.advance()? {
            if count % 4096 == 0 && cancel.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            let size = by_path.stamp()?.bytes;
            (count, bytes) = (count + 1, bytes + size);
            if size >= LARGE {
                record.clear();
                record.extend_from_slice(&(!size).to_be_bytes());
                record.extend_from_slice(&by_path.record);
                large.push(&record)?;
            }
        }
        let mut doubled = by_path.doubled;
        for equal in [&files.doubled, &by_path.files.doubled].into_iter().filter(|equal| equal.count > 0) {
            doubled.count += equal.count;
            doubled.first = doubled.first.or_else(|| path_of(&equal.first));
        }
        let large = large.finish()?;
        Ok(SortedInputs {
            count,
            bytes,
            failures: Vec::new(),
            failed: 0,
            skipped: 0,
            unused_globs: Vec::new(),
            rule_faults: IgnoreFaults::default(),
            has_roots: false,
            doubled,
            last_modified: i64::MIN,
            files,
            repeated,
            large,
        })
    }

    /// The files from the first.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub fn read(&self) -> Result<InputCursor<'_>> {
        let by_path = ByPath::new(&self.files, &self.repeated)?;
        Ok(InputCursor { large: self.large.read()?, is_first: true, by_path, path: Vec::new() })
    }

    /// Adds inputs that could not be read, of which at most 10,000 are kept.
    pub(crate) fn fail(&mut self, failures: impl Iterator<Item = Failure>) {
        for failure in failures {
            self.failed += 1;
            if self.failures.len() < MOST_FAILURES {
                self.failures.push(failure);
            }
        }
    }

    /// Waits until the clock of file systems has gone on since the last change of a file, as
    /// [`Inputs`](super::super::Inputs) do.
    pub(crate) fn wait_for_clock(&self) {
        wait_for_clock(self.last_modified);
    }
}

/// A place among sorted files.
#[derive(Debug)]
pub struct InputCursor<'s> {
    large: RecordCursor<'s>,
    /// True until the first large file was read.
    is_first: bool,
    by_path: ByPath<'s>,
    path: Vec<u8>,
}

impl InputCursor<'_> {
    /// The next file; `None` at the end.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub fn next_file(&mut self) -> Result<Option<ListedFile<'_>>> {
        if !std::mem::take(&mut self.is_first) {
            self.large.advance()?;
        }
        let record = match self.large.record() {
            Some(record) => record.get(SIZE..).unwrap_or_default(),
            None => loop {
                if !self.by_path.advance()? {
                    return Ok(None);
                }
                if self.by_path.stamp()?.bytes < LARGE {
                    break self.by_path.record.as_slice();
                }
            },
        };
        let file = file_of(record).ok_or_else(cut_off)?;
        file.path_into(&mut self.path);
        Ok(Some(ListedFile { path: Path::new(OsStr::from_bytes(&self.path)), stamp: file.stamp }))
    }
}

/// Files by directory and name, each path once.
#[derive(Debug)]
struct ByPath<'s> {
    files: RecordCursor<'s>,
    repeated: RecordCursor<'s>,
    /// The current file.
    record: Vec<u8>,
    /// The files that were left out, unless their records are equal.
    doubled: Skipped,
}

impl<'s> ByPath<'s> {
    fn new(files: &'s SortedRecords, repeated: &'s SortedRecords) -> Result<Self> {
        let (files, repeated) = (files.read()?, repeated.read()?);
        Ok(ByPath { files, repeated, record: Vec::new(), doubled: Skipped::default() })
    }

    /// Goes to the next file; false at the end.
    fn advance(&mut self) -> Result<bool> {
        loop {
            let Some(record) = self.files.record() else { return Ok(false) };
            self.record.clear();
            self.record.extend_from_slice(record);
            self.files.advance()?;
            while let Some(next) = self.files.record()
                && key_of(next) == key_of(&self.record)
            {
                self.doubled.count += 1;
                if self.doubled.first.is_none() {
                    self.doubled.first = path_of(next);
                }
                let later = |record| file_of(record).map(|file| (file.stamp.modified, file.stamp.bytes));
                if later(next) > later(&self.record) {
                    self.record.clear();
                    self.record.extend_from_slice(next);
                }
                self.files.advance()?;
            }
            let key = key_of(&self.record);
            while self.repeated.record().is_some_and(|repeated| repeated < key) {
                self.repeated.advance()?;
            }
            if self.repeated.record() != Some(key) {
                return Ok(true);
            }
        }
    }

    fn stamp(&self) -> Result<Stamp> {
        file_of(&self.record).map(|file| file.stamp).ok_or_else(cut_off)
    }
}

fn path_of(record: &[u8]) -> Option<PathBuf> {
    let mut path = Vec::new();
    file_of(record)?.path_into(&mut path);
    Some(PathBuf::from(OsString::from_vec(path)))
}

fn cut_off() -> Error {
    Error::corrupt("a temporary file", "a file of the list is cut off")
}
