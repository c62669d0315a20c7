//! Sorted records in a temporary file without a name.
//!
//! A record shares its first bytes with the one before:
//!
//! ```text
//! record = varint(shared bytes) | varint(length of the rest) | rest
//! ```

use std::cmp::Ordering;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic;

use super::packed_records::RecordOrder;
use crate::codec::{ByteReader, common_prefix, put_varint};
use crate::error::{Error, Result};

/// The bytes that are read of a run at once.
const READ: usize = 64 << 10;

/// The most bytes before the rest of a record.
const HEADER: usize = 20;

/// A run.
#[derive(Debug)]
pub(super) struct SortedRun {
    file: File,
    /// How many times its records were merged.
    pub(super) level: u32,
}

/// Writes a run.
pub(super) struct RunWriter<'d> {
    directory: &'d Path,
    out: BufWriter<File>,
    /// The last record.
    last: Vec<u8>,
    /// Room for the start of a record.
    head: Vec<u8>,
}

impl<'d> RunWriter<'d> {
    pub(super) fn new(directory: &'d Path) -> Result<Self> {
        let file = temporary_file(directory)?;
        let out = BufWriter::with_capacity(READ, file);
        Ok(RunWriter { directory, out, last: Vec::new(), head: Vec::new() })
    }

    pub(super) fn write(&mut self, record: &[u8]) -> Result<()> {
        let shared = common_prefix(record, &self.last);
        let rest = record.get(shared..).unwrap_or_default();
        self.head.clear();
        put_varint(&mut self.head, shared as u64);
        put_varint(&mut self.head, rest.len() as u64);
        let written = self.out.write_all(&self.head).and_then(|()| self.out.write_all(rest));
        self.last.truncate(shared);
        self.last.extend_from_slice(rest);
        written.map_err(|error| failed(self.directory, error))
    }

    pub(super) fn finish(self, level: u32) -> Result<SortedRun> {
        let file = self.out.into_inner().map_err(|error| failed(self.directory, error.into_error()))?;
        Ok(SortedRun { file, level })
    }
}

fn failed(directory: &Path, error: io::Error) -> Error {
    Error::io("write a temporary file in", directory, error)
}

/// A new file that has lost its name, so that it vanishes with the process.
///
/// # Errors
/// It cannot be created in the directory.
pub(crate) fn temporary_file(directory: &Path) -> Result<File> {
    static MADE: atomic::AtomicU64 = atomic::AtomicU64::new(0);
    let failed = |error| Error::io("create a temporary file in", directory, error);
    loop {
        let number = MADE.fetch_add(1, atomic::Ordering::Relaxed);
        let path = directory.join(format!(".scanns-{}-{number}", std::process::id()));
        match OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => return fs::remove_file(&path).map(|()| file).map_err(failed),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
    }
}

/// Reads a run; the greatest one has the first record.
#[derive(Debug)]
pub(super) struct RunReader<'s> {
    order: RecordOrder,
    file: &'s File,
    /// The number of the run.
    number: usize,
    /// The bytes of the file that were read into the buffer.
    place: u64,
    buffer: Vec<u8>,
    /// The bytes of the buffer that were used.
    used: usize,
    pub(super) record: Vec<u8>,
}

impl<'s> RunReader<'s> {
    pub(super) fn new(run: &'s SortedRun, number: usize, order: RecordOrder) -> Self {
        let (buffer, record) = (Vec::new(), Vec::new());
        RunReader { order, file: &run.file, number, place: 0, buffer, used: 0, record }
    }

    /// Reads the next record; false at the end.
    pub(super) fn advance(&mut self) -> Result<bool> {
        self.next_record().map_err(|error| Error::io("read", Path::new("a temporary file"), error))
    }

    fn next_record(&mut self) -> io::Result<bool> {
        self.fill(HEADER)?;
        let unread = self.buffer.get(self.used..).unwrap_or_default();
        if unread.is_empty() {
            return Ok(false);
        }
        let mut reader = ByteReader::new(unread);
        let mut number = || reader.varint().and_then(|number| usize::try_from(number).ok());
        let (Some(shared), Some(rest)) = (number(), number()) else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        self.used += unread.len() - reader.remaining().len();
        self.fill(rest)?;
        let bytes = self.buffer.get(self.used..self.used + rest).ok_or(io::ErrorKind::UnexpectedEof)?;
        self.record.truncate(shared);
        self.record.extend_from_slice(bytes);
        self.used += rest;
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
