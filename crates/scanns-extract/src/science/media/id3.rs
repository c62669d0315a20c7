//! ID3 tags of MP3 files: version 2 at the start, version 1 in the last 128 bytes.
//!
//! ```text
//! tag   = "ID3" version revision flags size frame*        size: four times 7 bits
//! frame = id:4 size:4 flags:2 body                   version 2.2: id:3 size:3; 2.4: size of 7 bits a byte
//! text  = encoding string                                 0 Latin-1, 1 UTF-16 with mark, 2 UTF-16BE, 3 UTF-8
//! ```
//! Source: id3.org.

use std::io::{Read, Seek};

use super::tell;
use crate::error::ExtractError;
use crate::output::Output;
use crate::science::bytes::{Bytes, Order, Source, text_of};

/// The most bytes of a tag that are read: pictures are in them.
const MOST_TAG: usize = 16 << 20;

/// Writes the tags.
pub(crate) fn extract(
    source: &mut Source<'_, impl Read + Seek>,
    out: &mut Output,
) -> Result<(), ExtractError> {
    out.line("MP3");
    let head = source.read_at(0, 10)?;
    if head.starts_with(b"ID3") {
        let len = head.get(6..10).map_or(0, seven_bits);
        let version = head.get(3).copied().unwrap_or(3);
        let mut body = source.read_at(10, len.min(MOST_TAG))?;
        // Before 2.4 the whole tag may be stored with a zero after each ff.
        if version < 4 && head.get(5).is_some_and(|flags| flags & 0x80 != 0) {
            body = without_marks(&body);
        }
        frames(&body, version, out);
    }
    let last = source.read_at(source.size().saturating_sub(128), 128)?;
    if let Some(old) = last.strip_prefix(b"TAG") {
        for (name, at, len) in [("Title", 0, 30), ("Artist", 30, 30), ("Album", 60, 30), ("Year", 90, 4)] {
            tell(name, &text_of(old.get(at..at + len).unwrap_or_default()), out);
        }
    }
    Ok(())
}

fn seven_bits(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |all, &byte| all << 7 | usize::from(byte & 0x7f))
}

fn without_marks(body: &[u8]) -> Vec<u8> {
    let mut after_ff = false;
    let keep = |byte: &&u8| {
        let is_mark = after_ff && **byte == 0;
        after_ff = **byte == 0xff;
        !is_mark
    };
    body.iter().filter(keep).copied().collect()
}

fn frames(body: &[u8], version: u8, out: &mut Output) {
    let mut bytes = Bytes::new(body, Order::Big);
    while let Some((id, frame)) = next_frame(&mut bytes, version) {
        let Some(name) = name_of(id) else { continue };
        let text = match id {
            b"COMM" | b"COM" | b"USLT" | b"ULT" => described(frame),
            _ => frame.split_first().map(|(&code, text)| decoded(code, text)),
        };
        tell(name, &text.unwrap_or_default(), out);
    }
}

fn next_frame<'a>(bytes: &mut Bytes<'a>, version: u8) -> Option<(&'a [u8], &'a [u8])> {
    let id = bytes.take(if version == 2 { 3 } else { 4 })?;
    let size = bytes.take(id.len())?;
    let len = match version {
        4 => seven_bits(size),
        _ => size.iter().fold(0, |all, &byte| all << 8 | usize::from(byte)),
    };
    if id.first() == Some(&0) {
        return None;
    }
    if version != 2 {
        bytes.skip(2)?;
    }
    Some((id, bytes.take(len)?))
}

/// A text after an encoding, a language of three letters and a short description.
fn described(frame: &[u8]) -> Option<String> {
    let (&code, rest) = frame.split_first()?;
    Some(decoded(code, rest.get(3..)?))
}

/// A text; the zeros between its parts become spaces.
fn decoded(code: u8, text: &[u8]) -> String {
    let wide = |order: Order, text: &[u8]| {
        let mut bytes = Bytes::new(text, order);
        let units = std::iter::from_fn(|| bytes.u16()).filter(|unit| !matches!(unit, 0xfeff | 0xfffe));
        char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}')).collect::<String>()
    };
    let found = match code {
        1 if text.starts_with(&[0xfe, 0xff]) => wide(Order::Big, text),
        1 => wide(Order::Little, text),
        2 => wide(Order::Big, text),
        3 => String::from_utf8_lossy(text).into_owned(),
        _ => text.iter().map(|&byte| char::from(byte)).collect(),
    };
    found.replace('\0', " ").trim().to_string()
}

fn name_of(id: &[u8]) -> Option<&'static str> {
    Some(match id {
        b"TIT2" | b"TT2" => "Title",
        b"TIT3" | b"TT3" => "Subtitle",
        b"TPE1" | b"TP1" => "Artist",
        b"TPE2" | b"TP2" => "AlbumArtist",
        b"TCOM" | b"TCM" => "Composer",
        b"TALB" | b"TAL" => "Album",
        b"TCON" | b"TCO" => "Genre",
        b"TYER" | b"TDRC" | b"TYE" => "Date",
        b"TRCK" | b"TRK" => "Track",
        b"TPUB" => "Publisher",
        b"TLAN" => "Language",
        b"TCOP" => "Copyright",
        b"COMM" | b"COM" => "Comment",
        b"USLT" | b"ULT" => "Lyrics",
        b"TXXX" | b"TXX" => "Text",
        _ => return None,
    })
}
