//! Content encodings of a payload: gzip, deflate, zstd, br.
//!
//! Each encoding is decoded in steps into a buffer of at most 64 MiB, whatever the bytes claim, and
//! at most four follow each other, so nested bombs are bounded.

use std::io::Read;

use super::MAX_DECODED;
use super::deviations::{DAMAGED_ENCODING, MANY_ENCODINGS, NOT_ENCODED, TOO_LONG, UNKNOWN_ENCODING};
use super::sniff::looks_like_text;
use crate::record::deviations::Deviations;

/// The most encodings of one payload.
const MAX_ENCODINGS: usize = 4;

/// The greatest window of zstd, as a power of two: what RFC 9659 allows for a content encoding.
const MAX_ZSTD_WINDOW: u32 = 23;

/// A content encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContentEncoding {
    Gzip,
    Deflate,
    Zstd,
    Brotli,
}

/// Decodes a body from the encodings that the values of Content-Encoding name. None if it stays.
pub(super) fn decode(body: &[u8], values: &[&[u8]], deviations: &mut Deviations) -> Option<Vec<u8>> {
    let mut decoded: Option<Vec<u8>> = None;
    let names = values.iter().rev().flat_map(|value| value.rsplit(|byte| *byte == b','));
    let mut count = 0;
    for name in names {
        let Some(encoding) = encoding_of(name, deviations) else { continue };
        count += 1;
        if count > MAX_ENCODINGS {
            deviations.add(MANY_ENCODINGS);
            break;
        }
        let from = decoded.as_deref().unwrap_or(body);
        if from.is_empty() {
            break;
        }
        let mut into = Vec::new();
        if decode_one(from, encoding, &mut into, deviations) {
            decoded = Some(into);
        }
    }
    decoded
}

/// The encoding of a name.
fn encoding_of(name: &[u8], deviations: &mut Deviations) -> Option<ContentEncoding> {
    match name.trim_ascii().to_ascii_lowercase().as_slice() {
        b"gzip" | b"x-gzip" => Some(ContentEncoding::Gzip),
        b"deflate" => Some(ContentEncoding::Deflate),
        b"zstd" => Some(ContentEncoding::Zstd),
        b"br" => Some(ContentEncoding::Brotli),
        b"" | b"identity" | b"none" => None,
        _ => {
            deviations.add(UNKNOWN_ENCODING);
            None
        }
    }
}

/// Decodes one encoding. False if the body is not encoded.
fn decode_one(
    body: &[u8],
    encoding: ContentEncoding,
    into: &mut Vec<u8>,
    deviations: &mut Deviations,
) -> bool {
    let is_plain = match encoding {
        ContentEncoding::Gzip => !body.starts_with(&[0x1f, 0x8b]),
        ContentEncoding::Zstd => !has_zstd_magic(body),
        ContentEncoding::Deflate | ContentEncoding::Brotli => false,
    };
    if is_plain {
        deviations.add(NOT_ENCODED);
        return false;
    }
    let is_whole = match encoding {
        ContentEncoding::Gzip => read_steps(flate2::bufread::MultiGzDecoder::new(body), into, deviations),
        ContentEncoding::Deflate => inflate(body, into, deviations),
        ContentEncoding::Zstd => unzstd(body, into, deviations),
        ContentEncoding::Brotli => unbrotli(body, into, deviations),
    };
    if is_whole {
        return true;
    }
    let has_no_magic = matches!(encoding, ContentEncoding::Deflate | ContentEncoding::Brotli);
    if has_no_magic && looks_like_text(body) {
        deviations.add(NOT_ENCODED);
        return false;
    }
    deviations.add(DAMAGED_ENCODING);
    true
}

/// Whether bytes begin with a frame of zstd, or one to skip.
fn has_zstd_magic(body: &[u8]) -> bool {
    let is_skipped = matches!(body, [first, 0x2a, 0x4d, 0x18, ..] if first & 0xf0 == 0x50);
    is_skipped || body.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
}

/// Decodes deflate, with the frame of zlib or without.
fn inflate(body: &[u8], into: &mut Vec<u8>, deviations: &mut Deviations) -> bool {
    let has_frame = matches!(body, [first, second, ..]
        if first & 0x0f == 8 && u16::from_be_bytes([*first, *second]).is_multiple_of(31));
    if has_frame {
        let is_whole = read_steps(flate2::bufread::ZlibDecoder::new(body), into, deviations);
        if is_whole || !into.is_empty() {
            return is_whole;
        }
    }
    read_steps(flate2::bufread::DeflateDecoder::new(body), into, deviations)
}

/// Decodes zstd.
fn unzstd(body: &[u8], into: &mut Vec<u8>, deviations: &mut Deviations) -> bool {
    let Ok(mut decoder) = zstd::stream::read::Decoder::with_buffer(body) else { return false };
    decoder.window_log_max(MAX_ZSTD_WINDOW).is_ok() && read_steps(decoder, into, deviations)
}

/// Decodes brotli. The content encoding has no large windows, which could claim 1 GiB.
fn unbrotli(body: &[u8], into: &mut Vec<u8>, deviations: &mut Deviations) -> bool {
    let has_large_window = body.first().is_some_and(|first| first & 0x7f == 0x11);
    !has_large_window && read_steps(brotli_decompressor::Decompressor::new(body, 0), into, deviations)
}

/// Reads decoded bytes up to the greatest length. False if they are damaged or cut.
fn read_steps(mut decoder: impl Read, into: &mut Vec<u8>, deviations: &mut Deviations) -> bool {
    let mut step = [0; 16 << 10];
    loop {
        match decoder.read(&mut step) {
            Ok(0) => return true,
            Ok(len) => {
                let room = MAX_DECODED - into.len();
                into.extend_from_slice(step.get(..len.min(room)).unwrap_or_default());
                if len > room {
                    deviations.add(TOO_LONG);
                    return true;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn raw_deflate(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn decoded(body: &[u8], values: &[&[u8]]) -> (Option<Vec<u8>>, Vec<&'static str>) {
        let mut deviations = Deviations::default();
        let decoded = decode(body, values, &mut deviations);
        (decoded, deviations.kinds().to_vec())
    }

    #[test]
    fn each_encoding_is_decoded_and_several_in_reverse_order() {
        let text = b"text of a page, text of a page";
        let zstd = zstd::encode_all(&text[..], 1).unwrap();
        let rows: [(Vec<u8>, &[&[u8]]); 6] = [
            (gzip(text), &[b"X-GZIP"]),
            (raw_deflate(text), &[b"deflate"]),
            (zlib(text), &[b"deflate"]),
            (zstd.clone(), &[b"zstd"]),
            (gzip(&zstd), &[b"zstd, gzip"]),
            (gzip(&zlib(&zstd)), &[b"zstd", b"identity", b"deflate,gzip"]),
        ];
        for (body, values) in rows {
            assert_eq!(decoded(&body, values), (Some(text.to_vec()), vec![]));
        }
    }

    #[test]
    fn a_brotli_body_is_decoded() {
        // The meta-block of an uncompressed "hello", and the empty last one.
        let body = [0x0b, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', 0x03];
        assert_eq!(decoded(&body, &[b"br"]), (Some(b"hello".to_vec()), vec![]));
    }

    #[test]
    fn a_plain_body_stays_and_a_cut_one_gives_its_beginning() {
        for name in [&b"gzip"[..], b"deflate", b"zstd", b"br"] {
            let plain = b"<html>a page without its encoding, \xc3\xa9</html>";
            assert_eq!(decoded(plain, &[name]), (None, vec![NOT_ENCODED]), "{}", name.escape_ascii());
        }
        let mut random = fastrand::Rng::with_seed(1);
        let text: Vec<u8> = (0..100_000).map(|_| random.alphanumeric() as u8).collect();
        let whole = gzip(&text);
        let (cut, kinds) = decoded(&whole[..whole.len() / 2], &[b"gzip"]);
        let cut = cut.unwrap();
        assert!(text.starts_with(&cut) && cut.len() > 10_000, "{}", cut.len());
        assert_eq!(kinds, [DAMAGED_ENCODING]);
    }

    #[test]
    fn bombs_are_cut_at_the_greatest_length() {
        let zeros = vec![0; MAX_DECODED + 100_000];
        let (bytes, kinds) = decoded(&gzip(&gzip(&zeros)), &[b"gzip, gzip"]);
        assert_eq!((bytes.unwrap().len(), kinds), (MAX_DECODED, vec![TOO_LONG]));
        let mut many = b"x".to_vec();
        for _ in 0..6 {
            many = gzip(&many);
        }
        let (bytes, kinds) = decoded(&many, &[b"gzip,gzip,gzip,gzip,gzip,gzip"]);
        assert_eq!((bytes, kinds), (Some(gzip(&gzip(b"x"))), vec![MANY_ENCODINGS]));
    }
}
