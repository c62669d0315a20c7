//! Collects the suffixes of a group of terms, and writes them as a stream of symbols of few bits.
//!
//! A suffix is appended with one store, and eight symbols are packed at a time. In profiles of a build,
//! packing took 5 ns per term.

/// Bytes of a head. The suffix of a term of up to this length is appended with one store, for which this
/// number of bytes is kept free after the suffixes.
const HEAD: usize = 16;

/// The suffixes of the current group.
pub(super) struct Suffixes {
    bytes: Vec<u8>,
    len: usize,
}

impl Suffixes {
    pub(super) fn new() -> Self {
        Suffixes { bytes: vec![0; 4096], len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// Appends `term[shared..]`; `head` is the [`head`](crate::codec::head) of the term.
    #[inline(always)]
    pub(super) fn push(&mut self, term: &[u8], head: u128, shared: usize) {
        let own = term.len() - shared;
        if self.bytes.len() < self.len + own + HEAD {
            self.bytes.resize((self.len + own + HEAD).next_power_of_two(), 0);
        }
        let Some(room) = self.bytes.get_mut(self.len..) else { return };
        self.len += own;
        if term.len() <= HEAD {
            if let Some(room) = room.first_chunk_mut() {
                // An empty suffix is a shift by all 128 bits.
                *room = head.checked_shl(8 * u32::try_from(shared).unwrap_or(16)).unwrap_or(0).to_be_bytes();
            }
        } else if let (Some(room), Some(suffix)) = (room.get_mut(..own), term.get(shared..)) {
            room.copy_from_slice(suffix);
        }
    }
}

/// The distinct bytes of the suffixes, if they are few enough to be written in fewer bits.
pub(super) struct Symbols {
    /// One bit for each byte in use.
    set: u128,
    /// Bits per symbol; zero if suffixes are written as bytes.
    pub(super) width: u8,
}

impl Symbols {
    #[expect(clippy::indexing_slicing, reason = "tables of 256 entries, indexed by bytes")]
    pub(super) fn of(text: &[u8]) -> Symbols {
        let mut seen = [0u8; 256];
        for &byte in text {
            seen[usize::from(byte)] = 1;
        }
        let (ascii, beyond) = seen.split_at(128);
        let set = set_of(ascii);
        let width = match set.count_ones() {
            _ if beyond.iter().any(|&seen| seen != 0) => 0,
            0..=16 => 4,
            17..=32 => 5,
            33..=64 => 6,
            _ => 0,
        };
        // The set itself takes 16 bytes.
        let saved = text.len() * (8 - usize::from(width)) / 8;
        if width == 0 || saved <= 16 { Symbols { set: 0, width: 0 } } else { Symbols { set, width } }
    }

    /// Appends the set, if suffixes are written as symbols.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        if self.width > 0 {
            out.extend_from_slice(&self.set.to_le_bytes());
        }
    }

    /// Appends `text` as symbols or as bytes.
    #[expect(clippy::indexing_slicing, reason = "tables of 256 entries, indexed by bytes")]
    pub(super) fn write_text(&self, text: &[u8], out: &mut Vec<u8>) {
        if self.width == 0 {
            out.extend_from_slice(text);
            return;
        }
        let mut ranks = [0u8; 256];
        let (mut bits, mut rank) = (self.set, 0);
        while bits != 0 {
            ranks[bits.trailing_zeros() as usize] = rank;
            rank += 1;
            bits &= bits - 1;
        }
        let width = usize::from(self.width);
        let (eights, rest) = text.as_chunks::<8>();
        for eight in eights {
            let packed = pack_eight(eight.map(|byte| ranks[usize::from(byte)]), self.width);
            out.extend_from_slice(packed.to_le_bytes().get(..width).unwrap_or_default());
        }
        let mut last = [0; 8];
        last.iter_mut().zip(rest).for_each(|(slot, &byte)| *slot = ranks[usize::from(byte)]);
        let packed = pack_eight(last, self.width);
        out.extend_from_slice(
            packed.to_le_bytes().get(..(rest.len() * width).div_ceil(8)).unwrap_or_default(),
        );
    }
}

/// One bit for each of `seen`, whose bytes are 0 or 1.
fn set_of(seen: &[u8]) -> u128 {
    let words = seen.as_chunks::<8>().0.iter().enumerate();
    words.fold(0, |set, (i, word)| {
        // The product gathers the eight low bits in its highest byte.
        let bits = u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        set | u128::from(bits) << (8 * i)
    })
}

/// Packs eight values of `width` bits, lowest first, by joining neighbours three times.
#[inline(always)]
fn pack_eight(values: [u8; 8], width: u8) -> u64 {
    let bits = u64::from_le_bytes(values);
    let bits = bits & 0x00ff_00ff_00ff_00ff | (bits & 0xff00_ff00_ff00_ff00) >> (8 - width);
    let bits = bits & 0x0000_ffff_0000_ffff | (bits & 0xffff_0000_ffff_0000) >> (16 - 2 * width);
    bits & 0xffff_ffff | bits >> 32 << (4 * width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::head;

    #[test]
    fn suffixes_of_all_lengths_follow_each_other() {
        let mut suffixes = Suffixes::new();
        let mut expected = Vec::new();
        for len in (0..40usize).chain([5000, 3, 70_000, 16, 17]) {
            let term: Vec<u8> = (0..len).map(|i| u8::try_from((i * 7 + len) % 256).unwrap()).collect();
            for shared in [0, len / 2, len] {
                suffixes.push(&term, head(&term), shared);
                expected.extend_from_slice(&term[shared..]);
            }
        }
        assert_eq!(suffixes.bytes(), expected);
        assert_eq!(suffixes.len(), expected.len());
    }

    #[test]
    fn sets_and_packed_symbols_equal_a_simple_implementation() {
        for alphabet in [1usize, 2, 15, 16, 17, 32, 33, 64] {
            for len in 100..140usize {
                let text: Vec<u8> = (0..len).map(|i| 40 + u8::try_from(i * i % alphabet).unwrap()).collect();
                let symbols = Symbols::of(&text);
                let plain = text.iter().fold(0u128, |set, &byte| set | 1 << byte);
                assert_eq!((symbols.set, symbols.width > 0), (plain, true));
                let (mut bits, mut held, mut expected) = (0u64, 0, Vec::new());
                for &byte in &text {
                    bits |= u64::from((plain & ((1 << byte) - 1)).count_ones()) << held;
                    held += symbols.width;
                    while held >= 8 {
                        expected.push(u8::try_from(bits & 0xff).unwrap());
                        bits >>= 8;
                        held -= 8;
                    }
                }
                if held > 0 {
                    expected.push(u8::try_from(bits).unwrap());
                }
                let mut got = Vec::new();
                symbols.write_text(&text, &mut got);
                assert_eq!(got, expected, "{alphabet} symbols, {len} bytes");
            }
        }
        assert_eq!(Symbols::of(&[0x80; 100]).width, 0, "only ASCII has symbols");
        assert_eq!(Symbols::of(b"abc").width, 0, "too short to pay");
    }
}
