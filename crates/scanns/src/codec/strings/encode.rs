//! Writes a block of strings in the form that pays.

use super::super::fsst::{Matcher, SAMPLE, SymbolTable, sample};
use super::super::put_varint;
use super::{CODES, EndsWriter, FRAME, MOST_IN_FRAME, MOST_SAME, RAW, SAME};

/// Minimum size of text for symbols: a table takes some hundred bytes.
const LEAST: usize = 128;
/// Level of Zstandard. Higher levels take far longer and save little.
const LEVEL: i32 = 3;

/// A table that still compresses a block to this many hundredths of the size that it had at first is used
/// again.
const AS_GOOD: usize = 102;

/// Encodes blocks of similar strings, one after the other.
///
/// Finding symbols takes longer than compressing a block with them. So a block takes the symbols of the block
/// before it as long as they compress it nearly as well.
#[derive(Clone, Debug, Default)]
pub struct StringEncoder {
    last: Option<TrainedTable>,
    /// True if no block becomes a frame.
    no_frames: bool,
}

/// A table of symbols, and what it did to the strings that it was made for.
#[derive(Clone, Debug)]
struct TrainedTable {
    table: SymbolTable,
    matcher: Matcher,
    /// The bytes of the strings, and of their codes.
    text: usize,
    codes: usize,
}

/// The codes of strings, and the end of each.
struct Coded {
    codes: Vec<u8>,
    ends: EndsWriter,
}

impl StringEncoder {
    /// An encoder for strings that are mostly read one by one: none of them is in a frame, which must be
    /// unpacked as a whole.
    pub fn without_frames() -> Self {
        StringEncoder { no_frames: true, ..StringEncoder::default() }
    }

    /// An encoder of the same kind for other strings.
    pub fn anew(&self) -> Self {
        StringEncoder { last: None, ..*self }
    }

    /// Appends a block of `strings`, which must be fewer than 2^32.
    pub fn encode(&mut self, strings: &[&[u8]], out: &mut Vec<u8>) {
        put_varint(out, strings.len() as u64);
        let first = strings.first().copied().unwrap_or_default();
        if strings.len() <= MOST_SAME && strings.iter().all(|&string| string == first) {
            out.push(SAME);
            out.extend_from_slice(first);
            return;
        }
        let text: usize = strings.iter().map(|string| string.len()).sum();
        let coded = (text >= LEAST).then(|| self.codes(strings, text));
        // A string of codes must be decompressed, so saving a few bytes does not pay.
        let coded = coded.filter(|coded| coded.len() <= text / 10 * 9);
        let smallest = coded.as_ref().map_or(text, Vec::len);
        let frame = if self.no_frames { None } else { frame(strings, text, smallest) };
        if let Some(frame) = frame {
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

    /// Encodes a table for the strings, their ends and their codes.
    fn codes(&mut self, strings: &[&[u8]], text: usize) -> Vec<u8> {
        if let Some(last) = &self.last {
            let coded = last.compress(strings, text);
            if coded.codes.len() * 100 / AS_GOOD <= text * last.codes / last.text.max(1) {
                return last.put(coded);
            }
        }
        let table = SymbolTable::train(&sample(strings.iter().copied(), text, SAMPLE));
        let matcher = table.matcher();
        let mut trained = TrainedTable { table, matcher, text, codes: 0 };
        let coded = trained.compress(strings, text);
        trained.codes = coded.codes.len();
        let out = trained.put(coded);
        self.last = Some(trained);
        out
    }
}

impl TrainedTable {
    fn compress(&self, strings: &[&[u8]], text: usize) -> Coded {
        let mut coded = Coded { codes: Vec::with_capacity(text / 2), ends: EndsWriter::default() };
        for string in strings {
            self.matcher.compress(string, &mut coded.codes);
            coded.ends.push(coded.codes.len() as u64);
        }
        coded
    }

    /// The encoded table, ends and codes.
    fn put(&self, Coded { codes, ends }: Coded) -> Vec<u8> {
        let mut out = Vec::with_capacity(codes.len() + 4096);
        self.table.encode(&mut out);
        ends.finish(&mut out);
        out.extend_from_slice(&codes);
        out
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

/// Encodes the strings as one frame if that takes at most half of `smallest`, because reading one string
/// decompresses the whole frame.
fn frame(strings: &[&[u8]], text: usize, smallest: usize) -> Option<Vec<u8>> {
    if !(LEAST..=MOST_IN_FRAME).contains(&text) {
        return None;
    }
    let frame = zstd::bulk::compress(&strings.concat(), LEVEL).ok()?;
    (frame.len() <= smallest / 2).then_some(frame)
}
