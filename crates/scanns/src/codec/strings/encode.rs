//! Writes a block of strings in the form that pays.

use super::super::fsst::{SAMPLE, SymbolTable, sample};
use super::super::put_varint;
use super::{CODES, EndsWriter, FRAME, MOST_IN_FRAME, MOST_SAME, RAW, SAME};

/// Minimum size of text for symbols: a table takes some hundred bytes.
const LEAST: usize = 128;
/// Level of Zstandard. Higher levels take far longer and save little.
const LEVEL: i32 = 3;

/// Appends a block of `strings`, which must be fewer than 2^32.
pub fn encode_block(strings: &[&[u8]], out: &mut Vec<u8>) {
    put_varint(out, strings.len() as u64);
    let first = strings.first().copied().unwrap_or_default();
    if strings.len() <= MOST_SAME && strings.iter().all(|&string| string == first) {
        out.push(SAME);
        out.extend_from_slice(first);
        return;
    }
    let text: usize = strings.iter().map(|string| string.len()).sum();
    let coded = (text >= LEAST).then(|| codes(strings, text));
    // A string of codes must be decompressed, so saving a few bytes does not pay.
    let coded = coded.filter(|coded| coded.len() <= text / 10 * 9);
    let smallest = coded.as_ref().map_or(text, Vec::len);
    if let Some(frame) = frame(strings, text, smallest) {
        out.push(FRAME);
        put_varint(out, text as u64);
        raw_ends(strings).finish(out);
        out.extend_from_slice(&frame);
    } else if let Some(coded) = coded {
        out.push(CODES);
        out.extend_from_slice(&coded);
    } else {
        out.push(RAW);
        raw_ends(strings).finish(out);
        strings.iter().for_each(|string| out.extend_from_slice(string));
    }
}

/// Returns the ends of the strings in their text.
fn raw_ends(strings: &[&[u8]]) -> EndsWriter {
    let (mut ends, mut at) = (EndsWriter::default(), 0);
    for string in strings {
        at += string.len() as u64;
        ends.push(at);
    }
    ends
}

/// Encodes a table for the strings, their ends and their codes.
fn codes(strings: &[&[u8]], text: usize) -> Vec<u8> {
    let table = SymbolTable::train(&sample(strings.iter().copied(), text, SAMPLE));
    let matcher = table.matcher();
    let (mut ends, mut codes) = (EndsWriter::default(), Vec::with_capacity(text / 2));
    for string in strings {
        matcher.compress(string, &mut codes);
        ends.push(codes.len() as u64);
    }
    let mut out = Vec::with_capacity(codes.len() + 4096);
    table.encode(&mut out);
    ends.finish(&mut out);
    out.extend_from_slice(&codes);
    out
}

/// Encodes the strings as one frame if that takes at most half of `smallest`, because reading one string
/// decompresses the whole frame.
fn frame(strings: &[&[u8]], text: usize, smallest: usize) -> Option<Vec<u8>> {
    if !(LEAST..=MOST_IN_FRAME).contains(&text) {
        return None;
    }
    let frame = zstd::bulk::compress(&strings.concat(), LEVEL).ok()?;
    (frame.len() <= smallest / 2).then_some(frame)
}
