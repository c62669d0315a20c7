//! Compresses text: at each position it takes the longest symbol that matches.
//!
//! Symbols of two or more bytes are listed by a hash of their first two bytes, the longest first, so that the
//! first match is the longest. There are eight times as many slots as symbols, so usually only one or two
//! symbols are compared.

#![expect(clippy::indexing_slicing, reason = "the tables have an element for every byte and every start")]

use super::symbol::{LITERAL, LONGEST, Symbol};

const SLOTS: usize = 2048;

/// Compresses text with the symbols of a table.
#[derive(Clone, Debug)]
pub struct Matcher {
    /// The index of the first symbol of each slot in `symbols`; a slot ends where the next one begins.
    starts: Box<[u8; SLOTS + 1]>,
    symbols: Vec<HashedSymbol>,
    /// The codes of single-byte symbols.
    single: [u8; 256],
}

#[derive(Clone, Copy, Debug)]
struct HashedSymbol {
    bits: u64,
    mask: u64,
    len: u8,
    code: u8,
}

/// Returns the slot of the symbols that have the first two bytes of `word`.
#[inline(always)]
fn slot(word: u64) -> usize {
    // The product of 16 bits is spread over the upper bits of 32.
    ((word & 0xffff).wrapping_mul(0x9e37_79b1) >> 21 & (SLOTS as u64 - 1)) as usize
}

/// Returns the first eight bytes, padded with zeros.
#[inline(always)]
fn word_of(text: &[u8]) -> u64 {
    if let Some(whole) = text.first_chunk() {
        return u64::from_le_bytes(*whole);
    }
    text.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

impl Matcher {
    /// Creates a matcher for up to 255 symbols; the code of a symbol is its index.
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

    /// Returns the code and the length of the longest symbol that `text` begins with, or [`LITERAL`] and 1.
    /// `text` must not be empty.
    #[inline(always)]
    pub(super) fn longest(&self, text: &[u8]) -> (u8, usize) {
        let word = word_of(text);
        let slot = slot(word);
        let slot = usize::from(self.starts[slot])..usize::from(self.starts[slot + 1]);
        for candidate in self.symbols.get(slot).unwrap_or_default() {
            // Zeros after the end of the text look like zero bytes of a symbol.
            if (word ^ candidate.bits) & candidate.mask == 0 && usize::from(candidate.len) <= text.len() {
                return (candidate.code, usize::from(candidate.len));
            }
        }
        (self.single[usize::from(word.to_le_bytes()[0])], 1)
    }

    /// Appends the codes of `text`, at most twice as many bytes as `text` has.
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
