//! The compound file of the older Microsoft formats: Word, Excel and PowerPoint 97-2003, Outlook messages
//! ([MS-CFB], [MS-DOC], [MS-XLS], [MS-PPT], [MS-OXMSG]).
//!
//! A compound file is a small file system of storages and streams. A format follows from the name of a
//! stream.

mod compound;
mod message;
mod padded;
mod sheets;
mod slides;
mod strings;
mod summary;
mod word;

use std::io::{Read, Seek};

use self::compound::Compound;
use crate::error::ExtractError;
use crate::output::Output;

/// The first bytes of a compound file.
pub(super) const MAGIC: [u8; 8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

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

/// Takes the text and the fields of a document of Word.
pub fn extract_word(source: &mut (impl Read + Seek), out: &mut Output) -> Result<(), ExtractError> {
    Compound::open(source, word::NAME)?.extract(word::extract, out)
}

/// Takes the text and the fields of a workbook.
pub fn extract_workbook(source: &mut (impl Read + Seek), out: &mut Output) -> Result<(), ExtractError> {
    Compound::open(source, sheets::NAME)?.extract(sheets::extract, out)
}

/// Takes the text and the fields of a presentation.
pub fn extract_slides(source: &mut (impl Read + Seek), out: &mut Output) -> Result<(), ExtractError> {
    Compound::open(source, slides::NAME)?.extract(slides::extract, out)
}

/// Takes the text and the fields of a message.
pub fn extract_message(source: &mut (impl Read + Seek), out: &mut Output) -> Result<(), ExtractError> {
    Compound::open(source, message::NAME)?.extract(message::extract, out)
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

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use cfb::CompoundFile;

    use super::compound::MOST_STREAM;
    use super::*;

    /// A presentation of one text.
    fn presentation(text: &str) -> Vec<u8> {
        let size = u32::try_from(text.len()).unwrap();
        let record = [&[0, 0][..], &4_008_u16.to_le_bytes(), &size.to_le_bytes(), text.as_bytes()].concat();
        let mut file = CompoundFile::create(Cursor::new(Vec::new())).unwrap();
        file.create_stream("/PowerPoint Document").unwrap().write_all(&record).unwrap();
        file.flush().unwrap();
        file.into_inner().into_inner()
    }

    #[test]
    fn a_stream_that_is_not_read_to_its_end_is_told() {
        let text = "twelve words ".repeat(1_000);
        let bytes = presentation(&text);
        let read = 8 + text.len() as u64;
        for (most, is_cut) in [(MOST_STREAM, false), (read, false), (read - 1, true), (4_000, true)] {
            let mut out = Output::new(1 << 20, 10);
            let mut compound = Compound::open(Cursor::new(&bytes), slides::NAME).unwrap();
            compound.most = most;
            // The record of the text ends behind what is read, and its beginning is text all the same.
            assert_eq!(compound.extract(slides::extract, &mut out).is_err(), is_cut, "{most}");
            let (found, _, cut) = out.into_parts();
            assert_eq!(cut, is_cut, "{most}");
            assert!(
                text.starts_with(found.trim_end())
                    && found.len() + 20 > text.len().min(usize::try_from(most).unwrap()),
                "{most}"
            );
        }
    }
}
