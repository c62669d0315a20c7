//! Sorted files, which can be read as often as wanted.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::file_record::{file_of, key_of};
use crate::error::{Error, Result};
use crate::source::ignore::IgnoreFaults;
use crate::source::inputs::{Failure, Input, wait_for_clock};
use crate::source::order::LARGE;
use crate::source::stamp::Stamp;
use crate::store::{RecordCursor, RecordSorter, SortedRecords};

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
}

impl<'s> ByPath<'s> {
    fn new(files: &'s SortedRecords, repeated: &'s SortedRecords) -> Result<Self> {
        let (files, repeated) = (files.read()?, repeated.read()?);
        Ok(ByPath { files, repeated, record: Vec::new() })
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

fn cut_off() -> Error {
    Error::corrupt("a temporary file", "a file of the list is cut off")
}
