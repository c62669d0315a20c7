//! The text of a single file, outside of a build.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use crate::read::content::{Content, ContentOptions, HEAD, examine};

/// Reads `len` bytes, or less at its end, from byte `start` of the text of a file as a build reads it:
/// decoded if need be, and empty for a binary file.
///
/// # Errors
/// The file cannot be read or decoded.
pub fn text_of_file(file: &mut File, options: ContentOptions, start: u64, len: u64) -> io::Result<Vec<u8>> {
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

/// The text of which `start` holds the first bytes, at most `len` bytes of it. Compressed data is cut off
/// where `start` ends.
pub fn text_of_start(start: &[u8], options: ContentOptions, len: usize) -> Vec<u8> {
    let head = start.get(..HEAD).unwrap_or(start);
    let mut text = Vec::new();
    match examine(head, start.len() as u64, || Box::new(start), options) {
        Ok(Content::Plain) => text.extend_from_slice(start.get(..len).unwrap_or(start)),
        // The end of the data is missing, and the error says so after everything before it was read.
        Ok(Content::Decoded(decoded)) => {
            let _ = decoded.into_reader().take(len as u64).read_to_end(&mut text);
        }
        Ok(Content::Binary(_)) | Err(_) => {}
    }
    text
}
