//! `SipHash-2-4` with 128 bits of output: a hash of a file that depends on a secret key.
//!
//! Without the key, nobody can make two files with the same hash. A hash without a key, such as xxh3, would
//! let the owner of one document replace the text of another in the cache. Source: Aumasson and Bernstein,
//! "SipHash: a fast short-input PRF" (2012), with the 128-bit output of their reference implementation.

/// A hash under way.
#[derive(Clone, Debug)]
pub(super) struct KeyedHash {
    state: [u64; 4],
    /// The last bytes, which do not fill a word yet.
    tail: [u8; 8],
    tail_len: usize,
    /// All bytes so far, of which the hash uses the lowest eight bits.
    length: u64,
}

impl KeyedHash {
    pub(super) fn new(key: [u8; 16]) -> Self {
        let [k0, k1] = halves(u128::from_le_bytes(key));
        let state = [
            k0 ^ 0x736f_6d65_7073_6575,
            k1 ^ 0x646f_7261_6e64_6f6d ^ 0xee,
            k0 ^ 0x6c79_6765_6e65_7261,
            k1 ^ 0x7465_6462_7974_6573,
        ];
        Self { state, tail: [0; 8], tail_len: 0, length: 0 }
    }

    /// Appends bytes: about 1 ns each, bound by a chain of dependent operations.
    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.length = self.length.wrapping_add(bytes.len() as u64);
        let mut rest = bytes;
        if self.tail_len > 0 {
            let (now, later) = rest.split_at(rest.len().min(8 - self.tail_len));
            self.keep(now);
            rest = later;
            if self.tail_len < 8 {
                return;
            }
            absorb(&mut self.state, u64::from_le_bytes(self.tail));
            self.tail_len = 0;
        }
        let (words, odd) = rest.as_chunks::<8>();
        let mut state = self.state;
        for word in words {
            absorb(&mut state, u64::from_le_bytes(*word));
        }
        self.state = state;
        self.keep(odd);
    }

    /// Adds fewer bytes to the tail than it has room for, or as many.
    fn keep(&mut self, bytes: &[u8]) {
        for (room, byte) in self.tail.iter_mut().skip(self.tail_len).zip(bytes) {
            *room = *byte;
        }
        self.tail_len += bytes.len();
    }

    /// The hash.
    pub(super) fn finish(mut self) -> [u8; 16] {
        for room in self.tail.iter_mut().skip(self.tail_len) {
            *room = 0;
        }
        absorb(&mut self.state, u64::from_le_bytes(self.tail) | (self.length << 56));
        let [_, _, v2, _] = &mut self.state;
        *v2 ^= 0xee;
        let low = self.squeeze();
        let [_, v1, _, _] = &mut self.state;
        *v1 ^= 0xdd;
        let high = self.squeeze();
        (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
    }

    fn squeeze(&mut self) -> u64 {
        for _ in 0..4 {
            round(&mut self.state);
        }
        self.state.iter().fold(0, |all, word| all ^ word)
    }
}

/// The lower and the upper half.
fn halves(value: u128) -> [u64; 2] {
    let bytes = value.to_le_bytes();
    let (words, _) = bytes.as_chunks::<8>();
    let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
    [words.next().unwrap_or(0), words.next().unwrap_or(0)]
}

#[inline(always)]
fn absorb(state: &mut [u64; 4], word: u64) {
    let [.., v3] = state;
    *v3 ^= word;
    round(state);
    round(state);
    let [v0, ..] = state;
    *v0 ^= word;
}

#[inline(always)]
fn round(state: &mut [u64; 4]) {
    let [mut v0, mut v1, mut v2, mut v3] = *state;
    v0 = v0.wrapping_add(v1);
    v2 = v2.wrapping_add(v3);
    v1 = v1.rotate_left(13) ^ v0;
    v3 = v3.rotate_left(16) ^ v2;
    v0 = v0.rotate_left(32);
    v2 = v2.wrapping_add(v1);
    v0 = v0.wrapping_add(v3);
    v1 = v1.rotate_left(17) ^ v2;
    v3 = v3.rotate_left(21) ^ v0;
    v2 = v2.rotate_left(32);
    *state = [v0, v1, v2, v3];
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

    fn hash(bytes: &[u8]) -> [u8; 16] {
        let mut hash = KeyedHash::new(KEY);
        hash.update(bytes);
        hash.finish()
    }

    fn hex(bytes: [u8; 16]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_vectors_of_the_reference_implementation_come_out() {
        let input: Vec<u8> = (0..63).collect();
        assert_eq!(hex(hash(b"")), "a3817f04ba25a8e66df67214c7550293");
        assert_eq!(hex(hash(&input[..1])), "da87c1d86b99af44347659119b22fc45");
        assert_eq!(hex(hash(&input)), "5150d1772f50834a503e069a973fbd7c");
    }

    #[test]
    fn pieces_have_the_hash_of_the_whole() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..2000 {
            let bytes: Vec<u8> = (0..random.usize(..200)).map(|_| random.u8(..)).collect();
            let mut pieces = KeyedHash::new(KEY);
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(random.usize(..=rest.len().min(20)));
                pieces.update(piece);
                rest = after;
            }
            assert_eq!(pieces.finish(), hash(&bytes));
        }
    }

    #[test]
    fn another_key_gives_another_hash() {
        let other = KeyedHash::new([7; 16]).finish();
        assert_ne!(other, hash(b""));
    }
}
