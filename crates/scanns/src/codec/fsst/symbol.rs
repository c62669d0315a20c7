//! Symbols, and the codes that are none.

/// Most bytes of a symbol.
pub(super) const LONGEST: usize = 8;
/// Most symbols: the last code is for bytes that are none.
pub(super) const MOST: usize = 255;
/// The code before a byte as it is.
pub(super) const LITERAL: u8 = 255;

/// A string of one to eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Symbol {
    /// Its bytes, the first one lowest, and zeros.
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

    /// The bits that count of a word that is compared with it.
    pub(super) fn mask(&self) -> u64 {
        u64::MAX >> (64 - 8 * u32::from(self.len))
    }

    /// Symbols stand by length and then by bytes.
    pub(super) fn order(&self) -> (u8, u64) {
        (self.len, self.bits.swap_bytes())
    }
}
