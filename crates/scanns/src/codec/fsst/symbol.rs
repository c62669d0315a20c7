//! Symbols, and the codes that do not stand for a symbol.

/// Maximum number of bytes of a symbol.
pub const LONGEST: usize = 8;
/// Maximum number of symbols; the last code is for literal bytes.
pub(super) const MOST: usize = 255;
/// The code before a literal byte.
pub(super) const LITERAL: u8 = 255;

/// A string of one to eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Symbol {
    /// Its bytes, the first one lowest, padded with zeros.
    pub(super) bits: u64,
    pub(super) len: u8,
}

impl Symbol {
    pub(super) fn byte(byte: u8) -> Self {
        Symbol { bits: u64::from(byte), len: 1 }
    }

    pub(super) fn bytes(&self) -> [u8; LONGEST] {
        self.bits.to_le_bytes()
    }

    /// The bits of a word to compare with the symbol.
    pub(super) fn mask(&self) -> u64 {
        u64::MAX >> (64 - 8 * u32::from(self.len))
    }

    /// The sort key of symbols: by length, then by bytes.
    pub(super) fn order(&self) -> (u8, u64) {
        (self.len, self.bits.swap_bytes())
    }
}
