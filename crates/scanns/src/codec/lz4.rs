//! Decompresses a block of LZ4 from the front, only as far as its bytes are needed.
//!
//! ```text
//! block    = sequence …
//! sequence = token u8 | more literals u8 … | literals | (distance u16 | more length u8 …)?
//! ```
//!
//! The high four bits of a token are the number of literals, the low four bits the length of the match after
//! them, less 4. 15 means that bytes follow that are added, up to the first that is not 255. A match repeats
//! bytes that are `distance` before the end. The last sequence has no match. The format is that of
//! <https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md>.

/// Bytes that are copied together. Up to this number less one are written behind the end of a copy.
const CHUNK: usize = 16;

/// Room that [`Lz4Front::until`] needs behind the last byte of a block.
pub const LZ4_SLACK: usize = 2 * CHUNK;

/// Length of the shortest match.
const SHORTEST: usize = 4;

/// A block that is decompressed from the front.
pub struct Lz4Front<'p> {
    packed: &'p [u8],
    /// The next byte to read.
    at: usize,
    /// Bytes that are decompressed.
    filled: usize,
}

impl<'p> Lz4Front<'p> {
    /// Begins at the front of `packed`.
    pub fn new(packed: &'p [u8]) -> Self {
        Lz4Front { packed, at: 0, filled: 0 }
    }

    /// Bytes that are decompressed.
    pub fn filled(&self) -> usize {
        self.filled
    }

    /// Returns true if the whole block is decompressed.
    pub fn is_at_end(&self) -> bool {
        self.at == self.packed.len()
    }

    /// Goes on until `out` has at least `need` bytes, or to the end of the block. `out` must be the same in
    /// all calls; it has [`LZ4_SLACK`] bytes more than the block may have, and what it holds after
    /// [`Self::filled`] is arbitrary. Returns `None` if the block is damaged or has more bytes.
    pub fn until(&mut self, need: usize, out: &mut [u8]) -> Option<()> {
        let most = out.len().checked_sub(LZ4_SLACK)?;
        while self.filled < need && !self.is_at_end() {
            let token = usize::from(*self.packed.get(self.at)?);
            self.at += 1;
            let literals = self.length(token >> 4)?;
            self.literals(literals, most, out)?;
            if self.is_at_end() {
                break;
            }
            let (distance, _) = self.packed.get(self.at..)?.split_first_chunk()?;
            self.at += 2;
            let length = self.length(token & 15)?.checked_add(SHORTEST)?;
            self.repeat(usize::from(u16::from_le_bytes(*distance)), length, most, out)?;
        }
        Some(())
    }

    /// A number of four bits, with the bytes that are added to it.
    #[inline]
    fn length(&mut self, bits: usize) -> Option<usize> {
        let mut length = bits;
        if bits == 15 {
            loop {
                let more = *self.packed.get(self.at)?;
                self.at += 1;
                length = length.checked_add(usize::from(more))?;
                if more != u8::MAX {
                    break;
                }
            }
        }
        Some(length)
    }

    #[inline]
    fn literals(&mut self, count: usize, most: usize, out: &mut [u8]) -> Option<()> {
        let end = self.filled.checked_add(count).filter(|&end| end <= most)?;
        let source = self.packed.get(self.at..)?;
        match source.first_chunk::<CHUNK>() {
            Some(chunk) if count <= CHUNK => *out.get_mut(self.filled..)?.first_chunk_mut()? = *chunk,
            _ => out.get_mut(self.filled..end)?.copy_from_slice(source.get(..count)?),
        }
        self.at += count;
        self.filled = end;
        Some(())
    }

    #[inline]
    fn repeat(&mut self, distance: usize, length: usize, most: usize, out: &mut [u8]) -> Option<()> {
        let end = self.filled.checked_add(length).filter(|&end| end <= most)?;
        let mut from = self.filled.checked_sub(distance).filter(|_| distance > 0)?;
        if distance >= CHUNK {
            let mut to = self.filled;
            while to < end {
                let chunk: [u8; CHUNK] = *out.get(from..)?.first_chunk()?;
                *out.get_mut(to..)?.first_chunk_mut()? = chunk;
                (from, to) = (from + CHUNK, to + CHUNK);
            }
        } else {
            // The match overlaps itself: each copy doubles what can be copied next.
            let mut to = self.filled;
            while to < end {
                let count = (to - from).min(end - to);
                out.copy_within(from..from + count, to);
                to += count;
            }
        }
        self.filled = end;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;
    use lz4_flex::block::{compress, decompress};

    use super::*;

    /// Bytes that repeat what came before in all distances and lengths, or do not.
    fn random_text(random: &mut Rng) -> Vec<u8> {
        let len = [0, 1, 5, 13, 100, 3000, 70_000][random.usize(..7)];
        let mut text = Vec::new();
        while text.len() < len {
            let distance = [1, 2, 3, 7, 8, 15, 16, 17, 300, 40_000][random.usize(..10)];
            let most = [4, 20, 40, 400, 4000][random.usize(..5)];
            let count = 1 + random.usize(..most);
            if random.bool() || distance > text.len() {
                text.extend((0..count).map(|_| random.u8(..)));
            } else {
                (0..count).for_each(|_| text.push(text[text.len() - distance]));
            }
        }
        text
    }

    /// Decompresses in steps, and returns the bytes.
    fn in_steps(packed: &[u8], most: usize, needs: &[usize]) -> Option<Vec<u8>> {
        let mut out = vec![0xaa; most + LZ4_SLACK];
        let mut front = Lz4Front::new(packed);
        for &need in needs {
            front.until(need, &mut out)?;
            assert!(front.filled() >= need || front.is_at_end());
        }
        out.truncate(front.filled());
        Some(out)
    }

    #[test]
    fn every_front_of_a_block_is_that_of_another_implementation() {
        let seed = 0x5eed_0710;
        let mut random = Rng::with_seed(seed);
        for round in 0..600 {
            let text = random_text(&mut random);
            let packed = compress(&text);
            let what = format!("seed {seed:x} round {round}");
            assert!(in_steps(&packed, text.len(), &[text.len()]).unwrap() == text, "{what}");
            let mut needs: Vec<usize> = (0..random.usize(..5)).map(|_| random.usize(..=text.len())).collect();
            needs.sort_unstable();
            let found = in_steps(&packed, text.len(), &needs).unwrap();
            assert!(found.len() >= needs.last().copied().unwrap_or(0) && text.starts_with(&found), "{what}");
            if !text.is_empty() {
                assert!(in_steps(&packed, text.len() - 1, &[usize::MAX]).is_none(), "{what}: too long");
            }
        }
    }

    #[test]
    fn damaged_blocks_give_nothing_or_what_the_other_implementation_gives() {
        let seed = 0x5eed_0711;
        let mut random = Rng::with_seed(seed);
        for round in 0..4000 {
            let text = random_text(&mut random);
            let mut packed = compress(&text[..text.len().min(2000)]);
            match random.u8(..4) {
                0 => packed.truncate(random.usize(..=packed.len())),
                1 => packed.extend((0..random.usize(1..9)).map(|_| random.u8(..))),
                _ => {
                    let at = random.usize(..packed.len());
                    packed[at] =
                        [0, 0xff, random.u8(..), packed[at] ^ 1 << random.u8(..8)][random.usize(..4)];
                }
            }
            let found = in_steps(&packed, 5000, &[usize::MAX]);
            if let Ok(expected) = decompress(&packed, 5000) {
                assert!(found.as_ref() == Some(&expected), "seed {seed:x} round {round}");
            }
        }
        assert_eq!(in_steps(&[], 10, &[10]), Some(Vec::new()));
        assert_eq!(in_steps(&[0xf0, 255, 255], 10, &[10]), None);
        assert_eq!(in_steps(&[0x10, b'a', 0, 0], 10, &[10]), None, "a distance of 0");
        assert_eq!(in_steps(&[0x10, b'a', 2, 0], 10, &[10]), None, "a distance to before the beginning");
    }
}
