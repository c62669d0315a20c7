//! Tags of MP4 and QuickTime files.
//!
//! ```text
//! box  = size:4 type:4 body              size 1: size:8 after the type; size 0: up to the end
//! path = moov / udta / meta / ilst / name / data        meta has 4 bytes before its boxes
//! data = flags:4 locale:4 text
//! ```
//! Source: ISO/IEC 14496-12 and the QuickTime file format of Apple.

use std::io::{Read, Seek};

use super::tell;
use crate::error::ExtractError;
use crate::output::Output;
use crate::science::bytes::{Bytes, MOST_READ, Order, Source, text_of};

const MOST_BOXES: usize = 10_000;

/// Writes the tags.
pub(crate) fn extract(
    source: &mut Source<'_, impl Read + Seek>,
    out: &mut Output,
) -> Result<(), ExtractError> {
    out.line("MP4");
    let mut offset = 0u64;
    for _ in 0..MOST_BOXES {
        let head = source.read_at(offset, 16)?;
        let mut bytes = Bytes::new(&head, Order::Big);
        let (Some(short), Some(kind)) = (bytes.u32(), bytes.take(4)) else { break };
        let (len, start) = match short {
            0 => (source.size().saturating_sub(offset), 8),
            1 => (bytes.u64().unwrap_or(0), 16),
            short => (short.into(), 8),
        };
        if len < start {
            return Err(ExtractError::damaged("MP4", "a box is shorter than its head"));
        }
        if kind == b"moov" {
            let len = usize::try_from(len - start).unwrap_or(usize::MAX).min(MOST_READ);
            let movie = source.read_at(offset + start, len)?;
            movie_tags(&movie, out);
        }
        offset = offset.saturating_add(len);
    }
    Ok(())
}

fn movie_tags(movie: &[u8], out: &mut Output) {
    for user in boxes(movie).filter(|(kind, _)| kind == b"udta").map(|(_, body)| body) {
        for (kind, body) in boxes(user) {
            match kind {
                b"meta" => meta(body, out),
                // Texts of QuickTime: a length, a language and the text.
                [0xa9, ..] => tell(name_of(kind), &text_of(body.get(4..).unwrap_or_default()), out),
                _ => {}
            }
        }
    }
}

fn meta(body: &[u8], out: &mut Output) {
    let Some(body) = body.get(4..) else { return };
    let items = boxes(body).filter(|(kind, _)| kind == b"ilst").flat_map(|(_, list)| boxes(list));
    for (kind, item) in items {
        let data = boxes(item).find(|(kind, _)| kind == b"data").map(|(_, data)| data);
        // Flag 1 stands for UTF-8.
        if let Some((flags, text)) = data.and_then(|data| data.split_at_checked(8))
            && flags.get(..4) == Some(&[0, 0, 0, 1])
        {
            tell(name_of(kind), &String::from_utf8_lossy(text), out);
        }
    }
}

/// The boxes in a body, up to the first that does not fit.
fn boxes(body: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut bytes = Bytes::new(body, Order::Big);
    std::iter::from_fn(move || {
        let len = usize::try_from(bytes.u32()?).ok()?;
        let kind = bytes.take(4)?;
        Some((kind, bytes.take(len.checked_sub(8)?)?))
    })
}

fn name_of(kind: &[u8]) -> &'static str {
    match kind {
        b"\xa9nam" => "Title",
        b"\xa9ART" | b"\xa9aut" => "Artist",
        b"aART" => "AlbumArtist",
        b"\xa9alb" => "Album",
        b"\xa9wrt" => "Composer",
        b"\xa9gen" => "Genre",
        b"\xa9day" => "Date",
        b"\xa9cmt" => "Comment",
        b"\xa9too" | b"\xa9swr" => "Software",
        b"\xa9mak" => "Make",
        b"\xa9mod" => "Model",
        b"\xa9xyz" => "Position",
        b"\xa9lyr" => "Lyrics",
        b"desc" | b"ldes" => "Description",
        b"cprt" => "Copyright",
        _ => "Text",
    }
}
