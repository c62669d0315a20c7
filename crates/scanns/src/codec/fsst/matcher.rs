//! Compresses: at each place the longest symbol that stands there.
//!
//! Symbols of two bytes and more are listed by a hash of their first two bytes, the longest first, so that
//! the first one that fits is the longest. There are eight times as many slots as symbols: mostly one or two
//! are compared.

#![expect(clippy::indexing_slicing, reason = "the tables have an element for every byte and every start")]

use super::symbol::{LITERAL, LONGEST, Symbol};

const SLOTS: usize = 2048;

/// What compresses with the symbols of a table.
#[derive(Clone, Debug)]
pub struct Matcher {
    /// Where the symbols of each slot begin among `symbols`; they end where those of the next one begin.
    starts: Box<[u8; SLOTS + 1]>,
    symbols: Vec<HashedSymbol>,
    /// The codes of symbols of one byte.
    single: [u8; 256],
}

#[derive(Clone, Copy, Debug)]
struct HashedSymbol {
    bits: u64,
    mask: u64,
    len: u8,
    code: u8,
}

/// The slot of symbols that begin as `word` does.
#[inline(always)]
fn slot(word: u64) -> usize {
    // The product of 16 bits is spread over the upper ones of 32.
    ((word & 0xffff).wrapping_mul(0x9e37_79b1) >> 21 & (SLOTS as u64 - 1)) as usize
}

/// The first eight bytes, and zeros behind the last.
#[inline(always)]
fn word_of(text: &[u8]) -> u64 {
    if let Some(whole) = text.first_chunk() {
        return u64::from_le_bytes(*whole);
    }
    text.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

impl Matcher {
    /// A matcher of up to 255 symbols, whose codes are their numbers.
    pub(super) fn new(symbols: &[Symbol]) -> Self {
        let mut single = [LITERAL; 256];
        let mut candidates = Vec::with_capacity(symbols.len());
        for (&Symbol { bits, len }, code) in symbols.iter().zip(0..LITERAL) {
            if len == 1 {
                single[usize::from(bits.to_le_bytes()[0])] = code;
            } else {
                candidates.push(HashedSymbol { bits, mask: Symbol { bits, len }.mask(), len, code });
            }
        }
        candidates.sort_by_key(|candidate| (slot(candidate.bits), u8::MAX - candidate.len));
        let mut starts = Box::new([0; SLOTS + 1]);
        let mut before = 0;
        for (at, start) in starts.iter_mut().enumerate() {
            while candidates.get(usize::from(before)).is_some_and(|candidate| slot(candidate.bits) < at) {
                before += 1;
            }
            *start = before;
        }
        Matcher { starts, symbols: candidates, single }
    }

    /// The code of the longest symbol that begins `text`, of which there is a byte, and its length; or
    /// [`LITERAL`] and 1.
    #[inline(always)]
    pub(super) fn longest(&self, text: &[u8]) -> (u8, usize) {
        let word = word_of(text);
        let slot = slot(word);
        let slot = usize::from(self.starts[slot])..usize::from(self.starts[slot + 1]);
        for candidate in self.symbols.get(slot).unwrap_or_default() {
            // Zeros behind the end look like those of a symbol.
            if (word ^ candidate.bits) & candidate.mask == 0 && usize::from(candidate.len) <= text.len() {
                return (candidate.code, usize::from(candidate.len));
            }
        }
        (self.single[usize::from(word.to_le_bytes()[0])], 1)
    }

    /// Appends codes that stand for `text`: at most twice its bytes.
    pub fn compress(&self, mut text: &[u8], out: &mut Vec<u8>) {
        out.reserve(text.len() / 2 + LONGEST);
        while let Some(&first) = text.first() {
            let (code, len) = self.longest(text);
            out.push(code);
            if code == LITERAL {
                out.push(first);
            }
            text = text.get(len..).unwrap_or_default();
        }
    }
}
