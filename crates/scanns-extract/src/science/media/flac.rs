//! Vorbis comments of FLAC and Ogg files.
//!
//! ```text
//! FLAC    = "fLaC" block*      block = last:1bit type:7bits length:3 body         type 4: comments
//! Ogg     = page*              page = "OggS" … segments:1 lengths data; the second packet is the comments
//! comment = length:4 vendor count:4 (length:4 "NAME=value")*                      little-endian
//! ```

use std::io::{Read, Seek};

use super::tell;
use crate::error::ExtractError;
use crate::output::Output;
use crate::science::bytes::{Bytes, Order, Source};

const MOST_BLOCKS: usize = 1000;
/// The start of an Ogg file in which the comments are looked for.
const OGG_START: usize = 256 << 10;
/// The longest comment: pictures in base64 are longer.
const MOST_COMMENT: usize = 16 << 10;

/// Writes the comments of a FLAC file.
pub(crate) fn flac(source: &mut Source<'_, impl Read + Seek>, out: &mut Output) -> Result<(), ExtractError> {
    out.line("FLAC");
    let mut offset = 4u64;
    for _ in 0..MOST_BLOCKS {
        let head = source.read_at(offset, 4)?;
        let mut bytes = Bytes::new(&head, Order::Big);
        let Some(word) = bytes.u32() else {
            return Err(ExtractError::damaged("FLAC", "the metadata is cut off"));
        };
        let len = word & 0xff_ffff;
        if word >> 24 & 0x7f == 4 {
            let body = source.read_at(offset + 4, usize::try_from(len).unwrap_or(0))?;
            let _ = comments(&body, out);
        }
        if word >> 31 == 1 {
            break;
        }
        offset += 4 + u64::from(len);
    }
    Ok(())
}

/// Writes the comments of an Ogg file.
pub(crate) fn ogg(source: &mut Source<'_, impl Read + Seek>, out: &mut Output) -> Result<(), ExtractError> {
    out.line("Ogg");
    let start = source.read_at(0, OGG_START)?;
    let packets = packets(&start);
    for packet in &packets {
        let body = packet.strip_prefix(b"\x03vorbis").or_else(|| packet.strip_prefix(b"OpusTags"));
        if let Some(body) = body {
            let _ = comments(body, out);
            return Ok(());
        }
    }
    Ok(())
}

/// The first two packets of an Ogg file.
fn packets(start: &[u8]) -> Vec<Vec<u8>> {
    let mut packets = vec![Vec::new()];
    let mut bytes = Bytes::new(start, Order::Little);
    while bytes.take(4) == Some(b"OggS") && packets.len() < 3 {
        let lengths = bytes.skip(22).and_then(|()| bytes.u8()).and_then(|count| bytes.take(count.into()));
        for &len in lengths.unwrap_or_default() {
            let Some(part) = bytes.take(len.into()) else { return packets };
            if let Some(last) = packets.last_mut() {
                last.extend_from_slice(part);
            }
            if len < 255 {
                packets.push(Vec::new());
            }
        }
    }
    packets
}

fn comments(body: &[u8], out: &mut Output) -> Option<()> {
    let mut bytes = Bytes::new(body, Order::Little);
    let mut next = || {
        let len = bytes.u32()?;
        bytes.take(usize::try_from(len).ok()?)
    };
    next()?;
    let mut bytes = Bytes::new(bytes.rest(), Order::Little);
    for _ in 0..bytes.u32()? {
        let len = usize::try_from(bytes.u32()?).ok()?;
        let comment = bytes.take(len)?;
        if let Some((name, value)) = String::from_utf8_lossy(comment).split_once('=')
            && len <= MOST_COMMENT
        {
            tell(&name.to_ascii_lowercase(), value, out);
        }
    }
    Some(())
}
