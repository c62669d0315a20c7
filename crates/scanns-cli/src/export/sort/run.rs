//! Rows in order in a file that has no name: key and row one after the other, each with its length in front.
//!
//! ```text
//! run = (key length u32 | row length u32 | key | row) …
//! ```

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};

/// Bytes that are written at once.
const PIECE: usize = 256 << 10;

/// A run that is written.
#[derive(Debug)]
pub(super) struct RunWriter {
    out: BufWriter<File>,
    rows: u64,
}

/// A run that is there.
#[derive(Debug)]
pub(super) struct SortedRun {
    file: File,
    rows: u64,
}

/// A run that is read.
#[derive(Debug)]
pub(super) struct RunReader {
    from: BufReader<File>,
    /// Rows that are left.
    left: u64,
}

impl RunWriter {
    /// An empty one in a directory.
    pub(super) fn new(place: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(place).context("cannot make a file")?;
        Ok(RunWriter { out: BufWriter::with_capacity(PIECE, file), rows: 0 })
    }

    /// Adds a row.
    pub(super) fn push(&mut self, key: &[u8], row: &[u8]) -> Result<()> {
        let length = |bytes: &[u8]| {
            u32::try_from(bytes.len()).context("a row has more than 4 GiB: leave long fields out of --fields")
        };
        for part in [&length(key)?.to_le_bytes()[..], &length(row)?.to_le_bytes(), key, row] {
            self.out.write_all(part).context("cannot write")?;
        }
        self.rows += 1;
        Ok(())
    }

    /// The run.
    pub(super) fn finish(self) -> Result<SortedRun> {
        let mut file =
            self.out.into_inner().map_err(std::io::IntoInnerError::into_error).context("cannot write")?;
        file.rewind().context("cannot go back")?;
        Ok(SortedRun { file, rows: self.rows })
    }
}

impl SortedRun {
    /// Reads the run, `buffer` bytes at once.
    pub(super) fn read(self, buffer: usize) -> RunReader {
        RunReader { from: BufReader::with_capacity(buffer, self.file), left: self.rows }
    }
}

impl RunReader {
    /// Puts the next row behind its key into `record`; gives back how long the key is, `None` behind the
    /// last.
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
