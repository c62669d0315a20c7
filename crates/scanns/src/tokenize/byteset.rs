//! A set of bytes in the layout that shuffle instructions look up: a row per low nibble, a bit per high
//! nibble.

/// Membership tables for [`super::arch`]; bit `h` of `rows[half][low]` says whether byte `(8·half + h)·16 +
/// low` is in the set.
#[derive(Clone, Debug)]
pub(super) struct ByteSet {
    pub(super) rows: [[u8; 16]; 2],
}

impl ByteSet {
    /// The set of bytes for which `contains` is true.
    pub(super) fn new(contains: impl Fn(u8) -> bool) -> Self {
        let mut rows = [[0; 16]; 2];
        for byte in 0..=255u8 {
            if contains(byte) {
                rows[usize::from(byte >> 7)][usize::from(byte & 15)] |= 1 << (byte >> 4 & 7);
            }
        }
        ByteSet { rows }
    }

    /// True if `byte` is in the set.
    #[inline]
    pub(super) fn contains(&self, byte: u8) -> bool {
        self.rows[usize::from(byte >> 7)][usize::from(byte & 15)] >> (byte >> 4 & 7) & 1 != 0
    }
}
