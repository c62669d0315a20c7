//! The names in the blocks of a plocate database, and which of them are directories.

use std::io::{self, BufRead, BufReader, Read};

use zstd::bulk::Decompressor;
use zstd::stream::read::Decoder;

use super::frame::{LONGEST, content_size};
use crate::record::dump::input::Halt;
use crate::record::dump::posix::without_end_slashes;
use crate::record::dump::{DumpTally, Visit};
use crate::source::{Entry, EntryKind};

/// Which names are directories, in the order of the names.
///
/// ```text
/// record = 0:u8 | 1:u8 seconds:i64 nanoseconds:i32
/// ```
///
/// The time is the later one of the directory's ctime and its mtime.
pub(super) struct PlocateKinds<'f> {
    records: BufReader<Decoder<'static, &'f [u8]>>,
}

impl<'f> PlocateKinds<'f> {
    /// The records that are compressed in `data`.
    pub fn new(data: &'f [u8]) -> io::Result<Self> {
        let mut decoder = Decoder::with_buffer(data)?;
        decoder.window_log_max(26)?;
        Ok(PlocateKinds { records: BufReader::with_capacity(64 << 10, decoder) })
    }

    /// The kind of the next name; an error if there is no valid record.
    fn next(&mut self) -> io::Result<Option<EntryKind>> {
        let Some(flag) = self.records.fill_buf()?.first().copied() else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        self.records.consume(1);
        match flag {
            0 => Ok(None),
            1 => {
                self.records.read_exact(&mut [0; 12])?;
                Ok(Some(EntryKind::Directory))
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// Passes on the names of blocks.
pub(super) struct PlocateNames<'r, 'v, 'f> {
    decompressor: Decompressor<'static>,
    /// The names of one block.
    text: Vec<u8>,
    /// `None` if the kinds are not known.
    pub kinds: Option<PlocateKinds<'f>>,
    pub tally: &'r mut DumpTally,
    pub visit: &'r mut Visit<'v>,
}

impl<'r, 'v> PlocateNames<'r, 'v, '_> {
    /// Names of blocks that were compressed with `dictionary`, which may be empty.
    pub fn new(dictionary: &[u8], tally: &'r mut DumpTally, visit: &'r mut Visit<'v>) -> Result<Self, Halt> {
        let decompressor = Decompressor::with_dictionary(dictionary).map_err(Halt::Failed)?;
        Ok(PlocateNames { decompressor, text: Vec::new(), kinds: None, tally, visit })
    }

    /// Passes on the names of the block `frame`, which stands at `offset`.
    pub fn block(&mut self, frame: &[u8], offset: u64) -> Result<(), Halt> {
        let size = content_size(frame).and_then(|size| usize::try_from(size).ok());
        let Some(size) = size.filter(|size| *size <= LONGEST) else {
            self.unreadable(offset, "it does not say its length, or is longer than 64 MiB");
            return Ok(());
        };
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        text.reserve(size);
        let result = match self.decompressor.decompress_to_buffer(frame, &mut text) {
            Ok(_) => self.names(&text, offset),
            Err(error) => {
                self.unreadable(offset, error);
                Ok(())
            }
        };
        self.text = text;
        result
    }

    /// Counts a block that cannot be read. It is not known how many names it has, so the records of the kinds
    /// no longer match the names that follow.
    #[cold]
    pub fn unreadable(&mut self, offset: u64, problem: impl std::fmt::Display) {
        self.tally.bad(
            offset,
            format!("a block of names (usually 32) cannot be decompressed: {problem}"),
            &[],
        );
        self.kinds = None;
    }

    /// Passes on the names in `text`. `offset` is the place of their block.
    fn names(&mut self, text: &[u8], offset: u64) -> Result<(), Halt> {
        let ends = memchr::memchr_iter(0, text).chain([text.len()]);
        let mut start = 0;
        for end in ends {
            let name = text.get(start..end).unwrap_or_default();
            start = end + 1;
            if name.is_empty() && end == text.len() {
                // updatedb ends a block without a NUL byte, but another writer might end it with one.
                break;
            }
            let kind = self.kind(offset)?;
            if name.first() != Some(&b'/') {
                self.tally.bad(offset, "the path does not begin with a slash", name);
                continue;
            }
            let entry = Entry { path: without_end_slashes(name), kind, ..Entry::default() };
            if (self.visit)(&entry).is_break() {
                return Err(Halt::Stopped);
            }
        }
        Ok(())
    }

    /// The kind of the next name.
    fn kind(&mut self, offset: u64) -> Result<Option<EntryKind>, Halt> {
        let Some(kinds) = &mut self.kinds else { return Ok(None) };
        match kinds.next() {
            Ok(kind) => Ok(kind),
            Err(error) => {
                let reason = format!("the times of directories end too early or are damaged ({error})");
                self.tally.guessed(offset, reason, &[]);
                self.kinds = None;
                Ok(None)
            }
        }
    }

    /// Checks that there is no kind left when all names are read.
    pub fn finish(&mut self, offset: u64) {
        if let Some(mut kinds) = self.kinds.take()
            && !matches!(kinds.next(), Err(error) if error.kind() == io::ErrorKind::UnexpectedEof)
        {
            self.tally.guessed(offset, "there are more times of directories than names", &[]);
        }
    }
}
