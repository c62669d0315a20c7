//! Sorted rows in an unnamed file: keys and rows with their lengths.
//!
//! ```text
//! run = (key length u32 | row length u32 | key | row) …
//! ```

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Error, ErrorKind, Read, Result, Seek, Write};
use std::path::Path;

/// The size of the write buffer.
const PIECE: usize = 256 << 10;

/// Writes a run.
#[derive(Debug)]
pub(super) struct RunWriter {
    out: BufWriter<File>,
    rows: u64,
}

/// A complete run.
#[derive(Debug)]
pub(super) struct SortedRun {
    file: File,
    rows: u64,
}

/// Reads a run.
#[derive(Debug)]
pub(super) struct RunReader {
    from: BufReader<File>,
    /// The number of rows left.
    left: u64,
}

/// An error with what could not be done.
fn failed(what: &str, error: Error) -> Error {
    Error::new(error.kind(), format!("cannot {what}: {error}"))
}

impl RunWriter {
    /// Starts a run in a directory.
    pub(super) fn new(place: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(place).map_err(|error| failed("create a temporary file", error))?;
        Ok(RunWriter { out: BufWriter::with_capacity(PIECE, file), rows: 0 })
    }

    /// Adds a row.
    pub(super) fn push(&mut self, key: &[u8], row: &[u8]) -> Result<()> {
        let length = |bytes: &[u8]| {
            let error =
                || Error::new(ErrorKind::InvalidInput, "a row is longer than 4 GiB: omit long fields");
            u32::try_from(bytes.len()).map_err(|_| error())
        };
        for part in [&length(key)?.to_le_bytes()[..], &length(row)?.to_le_bytes(), key, row] {
            self.out.write_all(part).map_err(|error| failed("write", error))?;
        }
        self.rows += 1;
        Ok(())
    }

    /// Completes the run.
    pub(super) fn finish(self) -> Result<SortedRun> {
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error);
        let mut file = file.map_err(|error| failed("write", error))?;
        file.rewind().map_err(|error| failed("rewind", error))?;
        Ok(SortedRun { file, rows: self.rows })
    }
}

impl SortedRun {
    /// A reader with a buffer of `buffer` bytes.
    pub(super) fn read(self, buffer: usize) -> RunReader {
        RunReader { from: BufReader::with_capacity(buffer, self.file), left: self.rows }
    }
}

impl RunReader {
    /// Reads the next key and row into `record`, and returns the length of the key; `None` after the last
    /// row.
    pub(super) fn next(&mut self, record: &mut Vec<u8>) -> Result<Option<usize>> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        let mut lengths = [[0; 4]; 2];
        for length in &mut lengths {
            self.from.read_exact(length).map_err(|error| failed("read what was written", error))?;
        }
        let [key, row] = lengths.map(|length| u32::from_le_bytes(length) as usize);
        record.clear();
        let read = (&mut self.from).take((key + row) as u64).read_to_end(record);
        if read.map_err(|error| failed("read", error))? != key + row {
            let what = "a temporary file is shorter than what was written to it";
            return Err(Error::new(ErrorKind::UnexpectedEof, what));
        }
        Ok(Some(key))
    }
}
