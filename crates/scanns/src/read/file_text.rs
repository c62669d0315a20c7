//! The text of a single file, outside of a build.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use crate::read::content::{Content, ContentOptions, HEAD, examine};

/// Reads `len` bytes, or less at its end, from byte `start` of the text of a file as a build reads it: decoded
/// if need be, and empty for a binary file.
///
/// # Errors
/// The file cannot be read or decoded.
pub fn read_text(file: &mut File, options: ContentOptions, start: u64, len: u64) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len();
    let mut head = Vec::new();
    file.rewind()?;
    (&mut *file).take(HEAD as u64).read_to_end(&mut head)?;
    file.rewind()?;
    let mut text = Vec::new();
    let content = examine(&head, size, || Box::new(&mut *file), options)?;
    if let Content::Decoded(decoded) = content {
        let mut reader = decoded.into_reader();
        io::copy(&mut (&mut reader).take(start), &mut io::sink())?;
        reader.take(len).read_to_end(&mut text)?;
        return Ok(text);
    }
    let is_plain = matches!(content, Content::Plain);
    drop(content);
    if is_plain {
        file.seek(SeekFrom::Start(start))?;
        file.take(len).read_to_end(&mut text)?;
    }
    Ok(text)
}
