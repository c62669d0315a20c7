//! A file that remembers whether the system failed to read it. Parsers turn such errors into errors of a
//! format.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// A file, and whether an operation on it failed.
pub(crate) struct WatchedFile<'a> {
    file: &'a File,
    has_failed: &'a Cell<bool>,
}

impl<'a> WatchedFile<'a> {
    pub(crate) fn new(file: &'a File, has_failed: &'a Cell<bool>) -> Self {
        Self { file, has_failed }
    }

    /// A position before the start of the file is a mistake of the document, not of the machine.
    fn noted<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result
            && !matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::InvalidInput)
        {
            self.has_failed.set(true);
        }
        result
    }
}

impl Read for WatchedFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.file.read(buffer);
        self.noted(got)
    }
}

impl Seek for WatchedFile<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = self.file.seek(to);
        self.noted(at)
    }
}
