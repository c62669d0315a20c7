//! The compound file of the older Microsoft formats: Word, Excel and PowerPoint 97-2003, Outlook messages
//! ([MS-CFB], [MS-DOC], [MS-XLS], [MS-PPT], [MS-OXMSG]).
//!
//! A compound file is a small file system of storages and streams. A format follows from the name of a
//! stream.

mod message;
mod padded;
mod sheets;
mod slides;
mod strings;
mod summary;
mod word;

use std::io::{Read, Seek};

use cfb::CompoundFile;

use self::padded::Padded;
use crate::error::ExtractError;

pub use {
    message::extract as extract_message, sheets::extract as extract_workbook,
    slides::extract as extract_slides, word::extract as extract_word,
};

/// The first bytes of a compound file.
pub(super) const MAGIC: [u8; 8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
/// The most bytes of a stream that are read.
const MOST_STREAM: u64 = 256 << 20;

/// What a compound file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Word,
    Workbook,
    Slides,
    Message,
    /// An OOXML package that needs a password.
    Encrypted,
    Other,
}

/// An open compound file.
struct Compound<S> {
    file: CompoundFile<Padded<S>>,
    format: &'static str,
}

impl<S: Read + Seek> Compound<S> {
    fn open(source: S, format: &'static str) -> Result<Self, ExtractError> {
        let damaged = |error| ExtractError::damaged(format, error);
        let mut source = Padded::new(source)?;
        let file = match CompoundFile::open(&mut source) {
            Ok(_) => CompoundFile::open(source),
            Err(_) => CompoundFile::open(source.into_whole_table()?),
        };
        Ok(Self { file: file.map_err(damaged)?, format })
    }

    /// The bytes of a stream; `None` if there is none of this path.
    fn stream(&mut self, path: &str) -> Result<Option<Vec<u8>>, ExtractError> {
        if !self.file.is_stream(path) {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let opened = self.file.open_stream(path);
        let read = opened.and_then(|stream| stream.take(MOST_STREAM).read_to_end(&mut bytes));
        match read {
            Ok(_) => Ok(Some(bytes)),
            // What was read of a stream that is cut off is better than nothing.
            Err(_) if !bytes.is_empty() => Ok(Some(bytes)),
            Err(error) => Err(ExtractError::damaged(self.format, format!("stream {path}: {error}"))),
        }
    }

    /// The bytes of a stream that must exist.
    fn needed(&mut self, path: &str) -> Result<Vec<u8>, ExtractError> {
        let format = self.format;
        self.stream(path)?.ok_or_else(|| ExtractError::damaged(format, format!("no stream {path}")))
    }
}

/// What a compound file holds; an error if it cannot be opened.
pub(super) fn content(source: &mut (impl Read + Seek)) -> Result<Content, ExtractError> {
    let compound = Compound::open(source, "OLE2")?;
    let streams = [
        ("/EncryptedPackage", Content::Encrypted),
        ("/WordDocument", Content::Word),
        ("/Workbook", Content::Workbook),
        ("/Book", Content::Workbook),
        ("/PowerPoint Document", Content::Slides),
        ("/__properties_version1.0", Content::Message),
    ];
    let found = streams.iter().find(|(stream, _)| compound.file.is_stream(stream));
    Ok(found.map_or(Content::Other, |(_, content)| *content))
}
