//! The first bytes of a string as one number, so that most comparisons of strings compare numbers.

/// Returns the first 16 bytes as a big-endian number, padded with zeros, without a copy of variable length.
///
/// Different numbers have the same order as their strings.
#[inline(always)]
pub fn head(bytes: &[u8]) -> u128 {
    let len = bytes.len();
    if let Some(whole) = bytes.first_chunk::<16>() {
        return u128::from_be_bytes(*whole);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        // The two halves overlap; the shift removes the bytes of the second half that are already in the
        // first.
        let last = u128::from(u64::from_be_bytes(*last)) << (8 * (16 - len));
        return u128::from(u64::from_be_bytes(*first)) << 64 | last & u128::from(u64::MAX);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let last = u64::from(u32::from_be_bytes(*last)) << (8 * (8 - len));
        return u128::from(u64::from(u32::from_be_bytes(*first)) << 32 | last & 0xffff_ffff) << 64;
    }
    bytes.iter().enumerate().fold(0, |number, (i, &byte)| number | u128::from(byte) << (120 - 8 * i))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_the_first_bytes_and_zeros() {
        for len in 0..40usize {
            for odd in [0u8, 1, 0xff] {
                let bytes: Vec<u8> = (0..len).map(|i| if i % 5 == 4 { odd } else { b'm' }).collect();
                let mut padded = bytes.clone();
                padded.resize(len.max(16), 0);
                assert_eq!(head(&bytes), u128::from_be_bytes(*padded.first_chunk().unwrap()), "{bytes:?}");
            }
        }
    }
}
