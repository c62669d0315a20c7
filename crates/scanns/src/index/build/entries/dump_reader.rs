//! The thread that reads dumps: it divides them into blocks of whole rows, or reads entries into batches.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::block::{BlockRows, EntryBlock};
use super::inventory::with_parts;
use crate::content::decompressed;
use crate::error::{Error, Result};
use crate::index::build::file_fields::EntrySource;
use crate::index::build::options::DumpOptions;
use crate::index::progress::Progress;
use crate::record::dump::{
    ColumnMap, DUMP_HEAD, DumpFormat, DumpReader, DumpTally, KnownDump, OpenedTable, ReadDump, ReadRows,
    TableInput, resolve,
};
use crate::source::{Entry, EntryBatch, nanoseconds};
use crate::sys::{is_readable, now};

/// Bytes of a block of rows.
const BLOCK: usize = 1 << 20;

/// The most bytes of a block whose rows are longer.
const LONGEST: usize = 64 << 20;

/// Entries of a batch, and the bytes of their texts.
const BATCH: usize = 2048;
const BATCH_TEXTS: usize = 512 << 10;

/// The most bytes of a dump that is read as a whole, if its format prefers this.
const SLICE: u64 = 256 << 20;

/// The size of a stream whose end is not known; no file is as large.
const ENDLESS: u64 = u64::MAX;

/// What was found out while a dump was read.
#[derive(Debug, Default)]
pub(crate) struct ReadDumpReport {
    pub(super) path: PathBuf,
    /// The name of its format.
    pub(crate) format: &'static str,
    /// How it was compressed.
    pub(super) compression: Option<&'static str>,
    /// What is known of its format that the user should know.
    pub(super) remarks: &'static [&'static str],
    pub(crate) tally: DumpTally,
    /// When it was made, as far as that is known, in nanoseconds since 1970.
    pub(crate) made: i64,
    /// Why it could not be read to its end.
    pub(crate) failure: Option<String>,
}

/// Reads the dumps of an import.
pub(super) struct DumpSource<'a> {
    pub(super) options: &'a DumpOptions,
    pub(super) progress: &'a Progress,
    pub(super) stop: &'a AtomicBool,
}

/// Takes a block; false if nobody wants another one.
pub(super) type TakeBlock<'s> = dyn FnMut(EntryBlock) -> bool + 's;

/// The bytes of a dump, with their number counted, until the import is stopped.
struct CountedInput<'a> {
    file: File,
    /// True for a pipe or a terminal, for whose bytes the thread may have to wait.
    waits: bool,
    progress: &'a Progress,
    stop: &'a AtomicBool,
}

impl Read for CountedInput<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(io::Error::other("stopped"));
            }
            if !self.waits || is_readable(&self.file)? {
                break;
            }
        }
        let got = self.file.read(buffer)?;
        self.progress.bytes.fetch_add(got as u64, Ordering::Relaxed);
        Ok(got)
    }
}

/// The rest of an input that could not be read.
struct FailedRead(Option<io::Error>);

impl Read for FailedRead {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

impl DumpSource<'_> {
    /// Reads all dumps, and passes their blocks on.
    ///
    /// # Errors
    /// A format is not known, or the first dump cannot be opened.
    pub(super) fn read(&self, send: &mut TakeBlock<'_>) -> Result<Vec<ReadDumpReport>> {
        let size = |path: &PathBuf| std::fs::metadata(path).map_or(0, |meta| meta.len());
        let total = self.options.files.iter().map(size).sum();
        self.progress.total_bytes.store(total, Ordering::Relaxed);
        self.progress.total_files.store(self.options.files.len() as u64, Ordering::Relaxed);
        let mut reports = Vec::new();
        let wrong = |path: &PathBuf, reason| Error::Dump { path: path.clone(), reason };
        let mut dumps = Vec::new();
        for path in &self.options.files {
            dumps.extend(with_parts(path, &self.options.format).map_err(|reason| wrong(path, reason))?);
        }
        for (path, format) in &dumps {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            let mut report = ReadDumpReport { path: path.clone(), ..Default::default() };
            match self.read_dump(reports.len(), format, &mut report, send) {
                Ok(()) => {}
                Err(Error::Io { source, .. }) if !reports.is_empty() => {
                    report.failure = Some(source.to_string());
                }
                Err(error) => return Err(error),
            }
            reports.push(report);
            self.progress.files.fetch_add(1, Ordering::Relaxed);
        }
        Ok(reports)
    }

    fn read_dump(
        &self,
        dump: usize,
        format: &DumpFormat,
        report: &mut ReadDumpReport,
        send: &mut TakeBlock<'_>,
    ) -> Result<()> {
        let failed = |error| Error::io("read the dump", &report.path, error);
        let opened = open_list(&report.path, self.progress, self.stop).map_err(failed)?;
        let OpenedList { from, size, head, compression, mut reader } = opened;
        if head.is_empty() {
            return Err(Error::Dump { path: report.path.clone(), reason: "it is empty".into() });
        }
        report.compression = compression;
        let wrong = |reason| Error::Dump { path: report.path.clone(), reason };
        let KnownDump { format, reader: rows, remarks, view } = format.open(&head).map_err(wrong)?;
        (report.format, report.remarks) = (format, remarks);
        if let (Some(show), Some(view)) = (self.options.show_map, &view) {
            show(&report.path, view);
        }
        report.made = from.scanned;
        let from: Arc<[_]> = Arc::from([Arc::new(from)]);
        let read = match rows {
            DumpReader::Rows(rows) => divide(&mut reader, &rows, |bytes, offset| {
                let rows = BlockRows::Bytes { bytes, offset, rows: rows.clone() };
                send(EntryBlock { dump, from: from.clone(), rows })
            }),
            DumpReader::Whole(mut whole) => {
                let send =
                    |batch| send(EntryBlock { dump, from: from.clone(), rows: BlockRows::Entries(batch) });
                collect(reader, &mut *whole, &mut report.tally, send)
            }
            DumpReader::Table(format, map) => {
                let input = match File::open(&report.path) {
                    Ok(file) if compression.is_none() && size != ENDLESS => {
                        let rest = size.saturating_sub(DUMP_HEAD as u64);
                        self.progress.bytes.fetch_add(rest, Ordering::Relaxed);
                        TableInput::File(file)
                    }
                    _ => TableInput::Stream(reader),
                };
                let mut table = self.open_table(format, input, &map, &report.path)?;
                let send =
                    |batch| send(EntryBlock { dump, from: from.clone(), rows: BlockRows::Entries(batch) });
                collect(Box::new(io::empty()), &mut table, &mut report.tally, send)
            }
        };
        if let Err(error) = read
            && !self.stop.load(Ordering::Relaxed)
        {
            report.failure = Some(error.to_string());
            report.tally.truncated = true;
        }
        Ok(())
    }

    /// Opens a table with the reader that the program has for its format, and finds its map.
    fn open_table<'a>(
        &self,
        format: &'static str,
        input: TableInput<'a>,
        map: &ColumnMap,
        path: &Path,
    ) -> Result<OpenedTable<'a>> {
        let wrong = |reason| Error::Dump { path: path.to_path_buf(), reason };
        let known = self.options.tables.iter().find(|known| known.name == format);
        let known = known.ok_or_else(|| wrong(format!("this program cannot read {format}")))?;
        let failed = |error: io::Error| wrong(error.to_string());
        let mut table = (known.open)(input).map_err(failed)?;
        let (map, view) = resolve(map, &table.columns().map_err(failed)?).map_err(wrong)?;
        if let Some(show) = self.options.show_map {
            show(path, &view);
        }
        Ok(OpenedTable { table, map })
    }
}

/// A dump or another list that is open.
pub(super) struct OpenedList<'a> {
    /// Where its entries come from.
    pub(super) from: EntrySource,
    /// The size of the file, or a number that no file reaches.
    size: u64,
    /// The first bytes, decompressed.
    pub(super) head: Vec<u8>,
    pub(super) compression: Option<&'static str>,
    /// All bytes, decompressed.
    pub(super) reader: Box<dyn Read + Send + 'a>,
}

/// Opens a dump or another list, compressed or not; `-` is standard input.
pub(super) fn open_list<'a>(
    path: &Path,
    progress: &'a Progress,
    stop: &'a AtomicBool,
) -> io::Result<OpenedList<'a>> {
    let (file, from, size) = open(path)?;
    let mut input = CountedInput { file, waits: size == ENDLESS, progress, stop };
    let mut head = Vec::new();
    (&mut input).take(DUMP_HEAD as u64).read_to_end(&mut head)?;
    let stream = Box::new(Cursor::new(head.clone()).chain(input));
    let (mut reader, compression) = decompressed(&head, size, stream)?;
    if compression.is_some() {
        head.clear();
        let read = (&mut reader).take(DUMP_HEAD as u64).read_to_end(&mut head);
        reader = match read {
            Ok(_) => Box::new(Cursor::new(head.clone()).chain(reader)),
            Err(error) if head.is_empty() => return Err(error),
            Err(error) => Box::new(Cursor::new(head.clone()).chain(FailedRead(Some(error)))),
        };
    }
    Ok(OpenedList { from, size, head, compression, reader })
}

/// Opens a dump; returns where its entries come from, and its size.
fn open(path: &Path) -> io::Result<(File, EntrySource, u64)> {
    if path == Path::new("-") {
        let from = EntrySource { name: b"standard input".to_vec(), scanned: now() };
        let file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        return Ok((file, from, ENDLESS));
    }
    let file = File::open(path)?;
    let meta = file.metadata()?;
    if meta.is_dir() {
        return Err(io::Error::other("it is a directory; without --dump it is scanned"));
    }
    let scanned = nanoseconds(meta.mtime(), meta.mtime_nsec());
    let name = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let from = EntrySource { name: name.as_os_str().as_bytes().to_vec(), scanned };
    Ok((file, from, if meta.is_file() { meta.len() } else { ENDLESS }))
}

/// Divides a dump into blocks of complete rows. The last block may end inside a row.
fn divide(
    input: &mut dyn Read,
    rows: &Arc<dyn ReadRows>,
    mut send: impl FnMut(Vec<u8>, u64) -> bool,
) -> io::Result<()> {
    let (mut block, mut offset, mut size) = (Vec::with_capacity(BLOCK), 0, BLOCK);
    loop {
        let wanted = (size - block.len()) as u64;
        let got = input.take(wanted).read_to_end(&mut block);
        let is_last = !got.as_ref().is_ok_and(|&got| got as u64 == wanted);
        let len = match rows.complete(&block) {
            // A row that could not be read to its end is not one of the dump.
            len if got.is_err() => len,
            _ if is_last => block.len(),
            0 if size < LONGEST => {
                size *= 2;
                continue;
            }
            0 => block.len(),
            len => len,
        };
        let mut next = Vec::with_capacity(BLOCK);
        next.extend_from_slice(block.get(len..).unwrap_or_default());
        block.truncate(len);
        if len > 0 && !send(block, offset) || is_last {
            return got.map(|_| ());
        }
        (block, offset, size) = (next, offset + len as u64, BLOCK);
    }
}

/// Reads the entries of a dump into batches.
fn collect(
    input: Box<dyn Read + Send + '_>,
    dump: &mut dyn ReadDump,
    tally: &mut DumpTally,
    mut send: impl FnMut(EntryBatch) -> bool,
) -> io::Result<()> {
    let mut batch = EntryBatch::default();
    let mut input = BufReader::with_capacity(256 << 10, input);
    let mut visit = |entry: &Entry<'_>| {
        batch.push(entry);
        let is_full = batch.len() >= BATCH || batch.text_bytes() >= BATCH_TEXTS;
        if is_full && !send(std::mem::take(&mut batch)) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    let mut whole = Vec::new();
    if dump.prefers_slice() {
        (&mut input).take(SLICE).read_to_end(&mut whole)?;
    }
    let read = match whole.len() as u64 {
        0 => dump.read(&mut input, tally, &mut visit),
        SLICE => dump.read(&mut Cursor::new(whole).chain(input), tally, &mut visit),
        _ => dump.read_slice(&whole, tally, &mut visit),
    };
    if !batch.is_empty() {
        send(batch);
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::dump::FindDialect;
    use crate::record::dump::FindRows;

    #[test]
    fn blocks_divide_a_dump_at_rows_and_grow_for_long_ones() {
        let rows: Arc<dyn ReadRows> = Arc::new(FindRows::new(r"%p\n", FindDialect::Gnu).unwrap());
        let mut dump = Vec::new();
        for len in [10, 3 * BLOCK, 20, BLOCK - 5, 7] {
            dump.resize(dump.len() + len, b'x');
            dump.push(b'\n');
        }
        dump.extend_from_slice(b"no end");
        let mut blocks = Vec::new();
        divide(&mut dump.as_slice(), &rows, |block, offset| {
            blocks.push((block, offset));
            true
        })
        .unwrap();
        let joined: Vec<u8> = blocks.iter().flat_map(|(block, _)| block.clone()).collect();
        assert_eq!(joined.len(), dump.len());
        assert!(joined == dump);
        let mut at = 0;
        for (number, (block, offset)) in blocks.iter().enumerate() {
            assert_eq!(*offset, at);
            assert!(number + 1 == blocks.len() || block.ends_with(b"\n"));
            at += block.len() as u64;
        }
    }
}
