//! Sorted rows in an unnamed file: keys and rows with their lengths.
//!
//! ```text
//! run = (key length u32 | row length u32 | key | row) …
//! ```

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};

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

impl RunWriter {
    /// Starts a run in a directory.
    pub(super) fn new(place: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(place).context("cannot create a temporary file")?;
        Ok(RunWriter { out: BufWriter::with_capacity(PIECE, file), rows: 0 })
    }

    /// Adds a row.
    pub(super) fn push(&mut self, key: &[u8], row: &[u8]) -> Result<()> {
        let length = |bytes: &[u8]| {
            u32::try_from(bytes.len()).context("a row is longer than 4 GiB: omit long fields from --fields")
        };
        for part in [&length(key)?.to_le_bytes()[..], &length(row)?.to_le_bytes(), key, row] {
            self.out.write_all(part).context("cannot write")?;
        }
        self.rows += 1;
        Ok(())
    }

    /// Completes the run.
    pub(super) fn finish(self) -> Result<SortedRun> {
        let mut file =
            self.out.into_inner().map_err(std::io::IntoInnerError::into_error).context("cannot write")?;
        file.rewind().context("cannot rewind")?;
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
            self.from.read_exact(length).context("cannot read what was written")?;
        }
        let [key, row] = lengths.map(|length| u32::from_le_bytes(length) as usize);
        record.clear();
        let read = (&mut self.from).take((key + row) as u64).read_to_end(record).context("cannot read")?;
        if read != key + row {
            bail!("a temporary file is shorter than what was written to it");
        }
        Ok(Some(key))
    }
}
