//! JPEG, PNG, WebP and HEIF: the size, the Exif data (crate `kamadak-exif`), and the comments.
//!
//! ```text
//! JPEG = ff d8 segment*         segment = ff marker length:2 body     c0-cf: size; fe: comment
//! PNG  = signature chunk*       chunk = length:4 type:4 body crc:4    IHDR: size; tEXt, zTXt, iTXt: texts
//! WebP = "RIFF" size:4 "WEBP" chunk*                                  VP8X: size
//! ```

use std::io::{BufReader, Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};

use flate2::read::ZlibDecoder;

use super::tell;
use crate::error::ExtractError;
use crate::output::Output;
use crate::science::bytes::{Bytes, Order, Source, text_of};
use crate::science::cdl::shape_text;

/// The most segments or chunks of a file.
const MOST_PARTS: usize = 10_000;
/// The longest comment that is read.
const MOST_TEXT: usize = 256 << 10;
/// The longest value of an Exif field that is written: makers keep blobs in them.
const MOST_VALUE: usize = 1000;

/// What is told of Exif data that cannot be read.
const DAMAGED: &str = "Exif=damaged";

/// Writes what the Exif data of an image tells, if it has some. Cameras and editors write much that is
/// damaged, and the image is none the worse for it: a field tells that.
fn exif(source: &mut Source<'_, impl Read + Seek>, out: &mut Output) -> Result<(), ExtractError> {
    let read = catch_unwind(AssertUnwindSafe(|| {
        let file = source.rewound()?;
        Ok::<_, ExtractError>(::exif::Reader::new().read_from_container(&mut BufReader::new(file)))
    }));
    let exif = match read {
        Ok(read) => match read? {
            Ok(exif) => exif,
            Err(::exif::Error::NotFound(_)) => return Ok(()),
            Err(_) => {
                out.field("attr", DAMAGED);
                return Ok(());
            }
        },
        Err(_) => {
            out.field("attr", DAMAGED);
            return Ok(());
        }
    };
    for field in exif.fields().filter(|field| field.ifd_num == ::exif::In::PRIMARY) {
        let Some(value) = value_text(field, &exif) else { continue };
        tell(&field.tag.to_string(), &value, out);
    }
    Ok(())
}

fn value_text(field: &::exif::Field, exif: &::exif::Exif) -> Option<String> {
    if let ::exif::Value::Ascii(lines) = &field.value {
        return Some(lines.iter().map(|line| text_of(line)).collect::<Vec<_>>().join(" "));
    }
    if field.tag == ::exif::Tag::MakerNote {
        return None;
    }
    let text = catch_unwind(AssertUnwindSafe(|| field.display_value().with_unit(exif).to_string())).ok()?;
    (text.len() <= MOST_VALUE && !text.starts_with("0x")).then_some(text)
}

fn size(columns: u32, rows: u32, out: &mut Output) {
    out.field("shape", &shape_text(&[rows.into(), columns.into()]));
    out.line(&format!("{columns} x {rows} pixels"));
}

/// Writes what a JPEG tells.
pub(crate) fn jpeg(source: &mut Source<'_, impl Read + Seek>, out: &mut Output) -> Result<(), ExtractError> {
    out.line("JPEG");
    let mut offset = 2u64;
    for _ in 0..MOST_PARTS {
        let head = source.read_at(offset, 9)?;
        let mut bytes = Bytes::new(&head, Order::Big);
        let Some((0xff, marker)) = bytes.u8().zip(bytes.u8()) else { break };
        if marker == 0xff {
            offset += 1;
            continue;
        }
        // The pixels begin; or the file ends.
        if matches!(marker, 0xda | 0xd9) {
            break;
        }
        let Some(len) = bytes.u16() else { break };
        match marker {
            0xfe => tell(
                "Comment",
                &text_of(&source.read_at(offset + 4, usize::from(len.saturating_sub(2)))?),
                out,
            ),
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                let numbers = bytes.skip(1).and_then(|()| bytes.u16().zip(bytes.u16()));
                if let Some((rows, columns)) = numbers {
                    size(columns.into(), rows.into(), out);
                }
            }
            _ => {}
        }
        offset += 2 + u64::from(len);
    }
    exif(source, out)
}

/// Writes what a PNG tells.
pub(crate) fn png(source: &mut Source<'_, impl Read + Seek>, out: &mut Output) -> Result<(), ExtractError> {
    out.line("PNG");
    let mut offset = 8u64;
    for _ in 0..MOST_PARTS {
        let head = source.read_at(offset, 16)?;
        let mut bytes = Bytes::new(&head, Order::Big);
        let (Some(len), Some(kind)) = (bytes.u32(), bytes.take(4)) else { break };
        let most = usize::try_from(len).unwrap_or(usize::MAX).min(MOST_TEXT);
        match kind {
            b"IHDR" => {
                if let Some((columns, rows)) = bytes.u32().zip(bytes.u32()) {
                    size(columns, rows, out);
                }
            }
            b"tEXt" | b"zTXt" | b"iTXt" => {
                let body = source.read_at(offset + 8, most)?;
                if let Some((name, value)) = png_text(kind, &body) {
                    tell(&name, &value, out);
                }
            }
            b"IEND" => break,
            _ => {}
        }
        offset = offset.saturating_add(12 + u64::from(len));
    }
    exif(source, out)
}

/// The keyword and the text of a chunk.
fn png_text(kind: &[u8], body: &[u8]) -> Option<(String, String)> {
    let (name, rest) = until_nul(body)?;
    let value = match kind {
        b"tEXt" => text_of(rest),
        b"zTXt" => inflated(rest.get(1..)?),
        _ => {
            let (is_compressed, rest) = (rest.first()? == &1, rest.get(2..)?);
            let (_language, rest) = until_nul(rest)?;
            let (_name, rest) = until_nul(rest)?;
            if is_compressed { inflated(rest) } else { text_of(rest) }
        }
    };
    Some((text_of(name), value))
}

fn until_nul(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|&byte| byte == 0)?;
    Some((bytes.get(..at)?, bytes.get(at + 1..)?))
}

fn inflated(data: &[u8]) -> String {
    let mut plain = Vec::new();
    // What came before an error is text of the file too.
    let _ = ZlibDecoder::new(data).take(MOST_TEXT as u64).read_to_end(&mut plain);
    text_of(&plain)
}

/// Writes what a WebP tells.
pub(crate) fn webp(source: &mut Source<'_, impl Read + Seek>, out: &mut Output) -> Result<(), ExtractError> {
    out.line("WebP");
    let head = source.read_at(12, 18)?;
    if head.starts_with(b"VP8X") {
        let mut bytes = Bytes::new(head.get(12..).unwrap_or_default(), Order::Little);
        let mut number = || Some(u32::from(bytes.u16()?) | u32::from(bytes.u8()?) << 16);
        if let Some((columns, rows)) = number().zip(number()) {
            size(columns + 1, rows + 1, out);
        }
    }
    exif(source, out)
}

/// Writes the Exif data of a HEIF or AVIF image.
pub(crate) fn heif(source: &mut Source<'_, impl Read + Seek>, out: &mut Output) -> Result<(), ExtractError> {
    out.line("HEIF");
    exif(source, out)
}
