//! An open compound file and its streams.

use std::io::{Read, Seek};

use cfb::CompoundFile;

use super::padded::Padded;
use crate::error::ExtractError;
use crate::output::Output;

/// The most bytes of a stream that are read; the output notes that there are more.
pub(super) const MOST_STREAM: u64 = 256 << 20;

/// An open compound file.
pub(super) struct Compound<S> {
    pub(super) file: CompoundFile<Padded<S>>,
    format: &'static str,
    /// The most bytes of a stream that are read.
    pub(super) most: u64,
    /// Whether a stream has bytes that were not read.
    has_unread: bool,
}

/// What takes the text and the fields of a format.
pub(super) type Extract<S> = fn(&mut Compound<S>, &mut Output) -> Result<(), ExtractError>;

impl<S: Read + Seek> Compound<S> {
    pub(super) fn open(source: S, format: &'static str) -> Result<Self, ExtractError> {
        let damaged = |error| ExtractError::damaged(format, error);
        let mut source = Padded::new(source)?;
        let file = match CompoundFile::open(&mut source) {
            Ok(_) => CompoundFile::open(source),
            Err(_) => CompoundFile::open(source.into_whole_table()?),
        };
        Ok(Self { file: file.map_err(damaged)?, format, most: MOST_STREAM, has_unread: false })
    }

    /// Takes the text and the fields, and notes whether all of the streams was read.
    pub(super) fn extract(mut self, extract: Extract<S>, out: &mut Output) -> Result<(), ExtractError> {
        let result = extract(&mut self, out);
        if self.has_unread {
            out.note_unread();
        }
        result
    }

    /// The bytes of a stream, as far as they are read; `None` if there is none of this path.
    pub(super) fn stream(&mut self, path: &str) -> Result<Option<Vec<u8>>, ExtractError> {
        if !self.file.is_stream(path) {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let opened = self.file.open_stream(path);
        let most = self.most;
        let read = opened.and_then(|stream| {
            let len = stream.len();
            stream.take(most).read_to_end(&mut bytes).map(|_| len > most)
        });
        match read {
            Ok(has_unread) => {
                self.has_unread |= has_unread;
                Ok(Some(bytes))
            }
            // What was read of a stream that is cut off is better than nothing.
            Err(_) if !bytes.is_empty() => {
                self.has_unread = true;
                Ok(Some(bytes))
            }
            Err(error) => Err(ExtractError::damaged(self.format, format!("stream {path}: {error}"))),
        }
    }

    /// The bytes of a stream that must exist.
    pub(super) fn needed(&mut self, path: &str) -> Result<Vec<u8>, ExtractError> {
        let format = self.format;
        self.stream(path)?.ok_or_else(|| ExtractError::damaged(format, format!("no stream {path}")))
    }
}
