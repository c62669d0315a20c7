//! Opens a unit, and decides whether it is read as a whole or block by block, through the page cache or past
//! it, and whether its text has to be decoded.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::sync::Arc;

use crate::content::{Content, ContentOptions, DecodedText, HEAD, RowsFormat, TextForm, examine};
use crate::read::block::CARRY;
use crate::read::members::ArchiveUnit;
use crate::read::options::{Direct, ReadOptions};
use crate::read::tables::TableReading;
use crate::read::unpack::{ArchiveFile, ArchiveUnpacker};
use crate::read::wave::Wave;
use crate::read::work::{ReadUnit, WorkList};
use crate::source::{EntryKind, Input};
use crate::sys::{PAGE, ReadFile, is_readable};

/// Files of at least this size are read past the page cache if they are not in it.
const DIRECT_FROM: u64 = 1 << 20;

/// The maximum number of bytes of a file whose size is 0 although it has content, as in `/proc`: some such
/// files never end.
const MOST_WITHOUT_SIZE: u64 = 256 << 20;

/// A unit that has been opened, or could not be.
pub(super) enum OpenedUnit {
    /// A whole file that fits into a block.
    Small(ReadUnit, ReadFile),
    /// A unit that is read block by block.
    Large(Box<LargeUnit>),
    /// A unit that cannot be read, and why.
    Failed(ReadUnit, io::Error),
    /// An archive, whose members are read block by block.
    Archive(Box<ArchiveUnit>),
    /// A unit without text: a binary file, an entry that is not a regular file, or any if names are enough.
    Bare(ReadUnit),
}

/// A range of a file that one read fetches.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadRange {
    pub(super) offset: u64,
    pub(super) len: usize,
}

/// Where the bytes of a unit come from.
pub(super) enum UnitBytes {
    /// From any place of a file.
    File(Arc<ReadFile>),
    /// From a text that is read from its start: of a file that has to be decoded, or a stream.
    Text(DecodedText<'static>),
}

/// A unit that is read block by block, and its remaining reads.
pub(super) struct LargeUnit {
    pub(super) bytes: UnitBytes,
    pub(super) wave: Wave,
    next: u64,
    until: u64,
    step: u64,
}

impl OpenedUnit {
    /// True if no other unit goes into the same block.
    pub(super) fn is_large(&self) -> bool {
        matches!(self, OpenedUnit::Large(_) | OpenedUnit::Archive(_))
    }
}

/// Opens `unit`. Small files are examined when they are read.
pub(super) fn open(work: &Arc<WorkList>, unit: ReadUnit, options: &ReadOptions) -> OpenedUnit {
    let input = work.inputs.get(unit.input as usize);
    if input.is_some_and(Input::is_stream) {
        return open_stream(work, unit, options);
    }
    if input.is_some_and(|input| options.contents.names_only || input.kind != EntryKind::File) {
        work.count_consumed(input.map_or(0, |input| input.bytes));
        return OpenedUnit::Bare(unit);
    }
    let opened = input.map(open_input);
    match opened.unwrap_or_else(|| Err(io::ErrorKind::NotFound.into())) {
        Err(error) => OpenedUnit::Failed(unit, error),
        Ok(file) if unit.link.is_none() && file.size() <= options.block_bytes as u64 => {
            OpenedUnit::Small(unit, file)
        }
        // Only text that needs no decoding is divided between units.
        Ok(file) if unit.link.is_some() || is_read_raw(options) => {
            OpenedUnit::Large(Box::new(LargeUnit::new(unit, Arc::new(file), options, TextForm::Text)))
        }
        Ok(file) => open_examined(work, unit, file, options),
    }
}

/// Opens the file of an input. If it is known who may read it, it must be the file that the walk has seen.
fn open_input(input: &Input) -> io::Result<ReadFile> {
    let file = ReadFile::open(&input.path)?;
    match input.status.as_deref().filter(|status| status.access.is_some()) {
        Some(status) => file.expecting(status.identity()),
        None => Ok(file),
    }
}

/// True if the bytes of all files are their text.
fn is_read_raw(options: &ReadOptions) -> bool {
    options.contents == ContentOptions::RAW && matches!(options.tables, TableReading::AsBytes)
}

/// Opens a whole file to be read block by block, after a look at its first bytes.
pub(super) fn open_examined(
    work: &Arc<WorkList>,
    unit: ReadUnit,
    file: ReadFile,
    options: &ReadOptions,
) -> OpenedUnit {
    let file = Arc::new(file);
    let mut head = vec![0; HEAD];
    let got = match file.read_at(&mut head, 0) {
        Ok(got) => got,
        Err(error) => return OpenedUnit::Failed(unit, error),
    };
    let most = if file.size() == 0 { MOST_WITHOUT_SIZE } else { u64::MAX };
    let stream = || FileStream { file: Arc::clone(&file), offset: 0, most, work: Arc::clone(work) };
    let head = head.get(..got).unwrap_or_default();
    if let Some(format) = options.tables.format_of(head) {
        return open_table(work, unit, &file, format, options);
    }
    let examined = examine(head, file.size(), || Box::new(stream()), options.contents);
    match examined.and_then(|content| without_table(content, options)) {
        Ok(Content::Plain(form)) => {
            if let Some(name) = form.name() {
                work.count_decoded(unit.input, name);
            }
            if file.size() > 0 {
                return OpenedUnit::Large(Box::new(LargeUnit::new(unit, file, options, form)));
            }
            let text = DecodedText::plain(Box::new(stream()), form);
            OpenedUnit::Large(Box::new(LargeUnit::decoded(unit, text, options)))
        }
        Ok(Content::Members(content)) => {
            let size = file.size();
            let file = content.encoding.is_none().then_some(file);
            open_archive(work, unit, ArchiveFile { content, file, size }, options)
        }
        Ok(Content::Decoded(text)) => {
            work.count_decoded(unit.input, &text.encoding);
            OpenedUnit::Large(Box::new(LargeUnit::decoded(unit, text, options)))
        }
        Ok(Content::Binary(kind)) => {
            work.count_binary(unit.input, kind);
            work.count_consumed(file.size());
            OpenedUnit::Bare(unit)
        }
        Err(error) => OpenedUnit::Failed(unit, error),
    }
}

/// Starts to read the rows of a table.
fn open_table(
    work: &Arc<WorkList>,
    unit: ReadUnit,
    file: &ReadFile,
    format: RowsFormat,
    options: &ReadOptions,
) -> OpenedUnit {
    let (input, remarks) = (unit.input, Arc::clone(work));
    let take_remark = Box::new(move |remark| remarks.remark(input, remark));
    match options.tables.open(format, file, Arc::clone(&work.cancel), take_remark) {
        Ok(text) => {
            work.count_decoded(input, &text.encoding);
            work.count_consumed(file.size());
            OpenedUnit::Large(Box::new(LargeUnit::decoded(unit, text, options)))
        }
        Err(error) => OpenedUnit::Failed(unit, error),
    }
}

/// Refuses a compressed table.
fn without_table<'a>(content: Content<'a>, options: &ReadOptions) -> io::Result<Content<'a>> {
    if let Content::Decoded(text) = &content {
        options.tables.refuse(text.table, "compressed")?;
    }
    Ok(content)
}

/// Starts to unpack an archive.
fn open_archive(
    work: &Arc<WorkList>,
    unit: ReadUnit,
    archive: ArchiveFile,
    options: &ReadOptions,
) -> OpenedUnit {
    work.count_decoded(unit.input, &archive.kind());
    match ArchiveUnpacker::start(work, unit.input, archive, options) {
        Ok(unpacker) => OpenedUnit::Archive(Box::new(ArchiveUnit::new(unit, unpacker))),
        Err(error) => OpenedUnit::Failed(unit, error),
    }
}

/// Opens the stream, after a look at its first bytes.
fn open_stream(work: &Arc<WorkList>, unit: ReadUnit, options: &ReadOptions) -> OpenedUnit {
    let once = || io::Error::other("it was read before");
    let Some(stream) = &options.stream else { return OpenedUnit::Failed(unit, once()) };
    let examined = stream.start(HEAD).and_then(|head| {
        options.tables.refuse(RowsFormat::of(&head), "standard input")?;
        let (start, rest) = stream.take().ok_or_else(once)?;
        let rest = StreamReader { file: rest, work: Arc::clone(work) };
        let mut reader = Some(Box::new(Cursor::new(start).chain(rest)) as Box<dyn Read + Send>);
        let taken = || reader.take().unwrap_or_else(|| Box::new(io::empty()));
        let content = examine(&head, u64::MAX, taken, options.contents)?;
        let content = without_table(content, options)?;
        Ok((content, reader))
    });
    match examined {
        Ok((Content::Plain(form), reader)) => {
            let text = DecodedText::plain(reader.unwrap_or_else(|| Box::new(io::empty())), form);
            OpenedUnit::Large(Box::new(LargeUnit::decoded(unit, text, options)))
        }
        Ok((Content::Decoded(text), _)) => {
            work.count_decoded(unit.input, &text.encoding);
            OpenedUnit::Large(Box::new(LargeUnit::decoded(unit, text, options)))
        }
        Ok((Content::Members(content), _)) => {
            open_archive(work, unit, ArchiveFile { content, file: None, size: 0 }, options)
        }
        Ok((Content::Binary(kind), _)) => {
            work.count_binary(unit.input, kind);
            OpenedUnit::Bare(unit)
        }
        Err(error) => OpenedUnit::Failed(unit, error),
    }
}

/// Reads a stream until it ends or the build is stopped, and counts the bytes.
struct StreamReader {
    file: File,
    work: Arc<WorkList>,
}

impl Read for StreamReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.work.cancelled() && !self.work.is_closed() {
            if is_readable(&self.file)? {
                let got = self.file.read(buffer)?;
                self.work.count_consumed(got as u64);
                return Ok(got);
            }
        }
        Ok(0)
    }
}

/// Reads a file from its start to its end, and counts the bytes.
struct FileStream {
    file: Arc<ReadFile>,
    offset: u64,
    /// More bytes are an error.
    most: u64,
    work: Arc<WorkList>,
}

impl Read for FileStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.file.read_at(buffer, self.offset)?;
        self.offset += got as u64;
        if self.offset > self.most {
            return Err(io::Error::other("it has no size, and more than 256 MiB of content: leave it out"));
        }
        self.work.count_consumed(got as u64);
        Ok(got)
    }
}

/// Makes reads of `file` bypass the page cache if `direct` says so for `len` bytes at `offset`.
pub(super) fn choose_path(file: &ReadFile, direct: Direct, offset: u64, len: u64) {
    let past = match direct {
        Direct::Never => false,
        Direct::Always => true,
        Direct::Auto => file.size() >= DIRECT_FROM && !file.seems_cached(offset, len),
    };
    if past {
        file.enter_direct();
    }
}

impl LargeUnit {
    fn new(unit: ReadUnit, file: Arc<ReadFile>, options: &ReadOptions, form: TextForm) -> Self {
        const PAGE_BYTES: u64 = PAGE as u64;
        let size = file.size().min(unit.until.unwrap_or(u64::MAX));
        // The byte before the unit tells whether a line starts with the unit.
        let next = unit.start.saturating_sub(1) / PAGE_BYTES * PAGE_BYTES;
        // Most lines that start in the unit end within the next CARRY bytes.
        let until = unit.end.map_or(size, |end| size.min(end.saturating_add(CARRY as u64))).max(next + 1);
        // Blocks of equal size, so that the last read is not tiny.
        let blocks = (until - next).div_ceil(options.block_bytes as u64);
        let step = (until - next).div_ceil(blocks).next_multiple_of(PAGE_BYTES);
        choose_path(&file, options.direct, next, until - next);
        LargeUnit { bytes: UnitBytes::File(file), wave: Wave::new(unit, size, form), next, until, step }
    }

    fn decoded(unit: ReadUnit, text: DecodedText<'static>, options: &ReadOptions) -> Self {
        let (wave, step) = (Wave::decoded(unit, text.form), options.block_bytes as u64);
        LargeUnit { bytes: UnitBytes::Text(text), wave, next: 0, until: u64::MAX, step }
    }

    /// The file, if the unit is read from a file without decoding.
    pub(super) fn file(&self) -> Option<&Arc<ReadFile>> {
        match &self.bytes {
            UnitBytes::File(file) => Some(file),
            UnitBytes::Text(_) => None,
        }
    }

    /// Where the first read begins, before any was made.
    pub(super) fn begins_at(&self) -> u64 {
        self.next
    }

    /// Makes a read, waiting for it.
    pub(super) fn read(&mut self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        match &mut self.bytes {
            UnitBytes::Text(text) => text.fill_readable(into),
            UnitBytes::File(file) => file.read_at(into, offset),
        }
    }

    /// Completes a read of which `result` is known, and says whether it reached the end of the file or text.
    pub(super) fn complete(
        &self,
        result: io::Result<usize>,
        into: &mut [u8],
        offset: u64,
    ) -> io::Result<(usize, bool)> {
        let file = match &self.bytes {
            UnitBytes::File(file) => file,
            // The error comes with the next read.
            UnitBytes::Text(text) => {
                return result.map(|got| (got, got < into.len() && !text.has_failed()));
            }
        };
        let left = file.size().saturating_sub(offset);
        let wanted = usize::try_from(left).unwrap_or(into.len()).min(into.len());
        let got = match result {
            Ok(got) if got >= wanted => file.is_as_expected().map(|()| got),
            Ok(got) => file.read_rest(into, offset, got),
            Err(_) => file.read_at(into, offset),
        };
        got.map(|got| (got, got < wanted))
    }

    /// The next read to make, whole pages.
    pub(super) fn next_read(&mut self) -> Option<ReadRange> {
        let offset = self.next;
        if offset >= self.until {
            return None;
        }
        self.next += self.step;
        usize::try_from(self.step).ok().map(|len| ReadRange { offset, len })
    }

    /// Allows further reads when a line continues beyond the planned ones.
    pub(super) fn extend(&mut self, reads: usize) {
        if self.next >= self.until {
            self.until = self.next.saturating_add(self.step.saturating_mul(reads as u64));
        }
    }

    /// True if the reads of the unit are known; if false, its last line decides.
    pub(super) fn is_bounded(&self) -> bool {
        self.wave.unit.end.is_none()
    }
}
