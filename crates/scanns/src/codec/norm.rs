//! The length of a document in one byte, as Lucene's `SmallFloat.intToByte4` encodes it.
//!
//! Lengths below 40 are exact, longer lengths are rounded down to their four leading bits. With this
//! encoding, scores can be compared with Lucene's digit by digit.

/// Lengths below this are their own code. It is the number of 8-bit codes that the codes of 31-bit lengths
/// leave free.
const EXACT: u32 = 24;

/// The longest length that has a code.
const LONGEST: u32 = i32::MAX as u32;

/// Returns the norm byte of a document of `length` tokens; it increases with the length.
#[inline]
pub fn length_to_norm(length: u64) -> u8 {
    let length = u32::try_from(length).unwrap_or(LONGEST).min(LONGEST);
    let code = if length < EXACT { length } else { EXACT + to_float4(length - EXACT) };
    u8::try_from(code).unwrap_or(u8::MAX)
}

/// Returns the smallest length whose norm byte is `norm`.
#[inline]
pub const fn norm_to_length(norm: u8) -> u32 {
    let code = norm as u32;
    if code < EXACT { code } else { EXACT + from_float4(code - EXACT) }
}

/// Encodes the four leading bits of `value`: the three bits below the leading one, and the exponent above
/// them.
const fn to_float4(value: u32) -> u32 {
    let bits = 32 - value.leading_zeros();
    if bits < 4 {
        return value;
    }
    let shift = bits - 4;
    (value >> shift) & 7 | (shift + 1) << 3
}

/// Returns the smallest value that [`to_float4`] encodes as `code`.
const fn from_float4(code: u32) -> u32 {
    match code >> 3 {
        0 => code,
        exponent => (code & 7 | 8) << (exponent - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_below_forty_are_exact() {
        for length in 0..40 {
            assert_eq!(norm_to_length(length_to_norm(u64::from(length))), length);
        }
        assert_eq!(norm_to_length(length_to_norm(41)), 40);
    }

    #[test]
    fn every_byte_is_the_code_of_its_length() {
        for norm in 0..=u8::MAX {
            assert_eq!(length_to_norm(u64::from(norm_to_length(norm))), norm);
        }
    }

    #[test]
    fn longer_documents_never_have_smaller_norms_and_lose_at_most_an_eighth() {
        let mut last = 0;
        for length in (0..100_000).chain((0..1 << 31).step_by(99_991)) {
            let norm = length_to_norm(length);
            assert!(norm >= last || length == 0);
            last = norm;
            let decoded = u64::from(norm_to_length(norm));
            assert!(decoded <= length && length - decoded <= length / 8);
        }
    }

    #[test]
    fn known_codes_of_lucene_agree() {
        // The results of `SmallFloat.intToByte4` in Lucene 10 for these lengths.
        for (length, norm) in [(0, 0), (1, 1), (23, 23), (24, 24), (39, 39), (40, 40), (42, 41), (56, 48)] {
            assert_eq!(length_to_norm(length), norm, "length {length}");
        }
        assert_eq!(length_to_norm(i32::MAX as u64), 255);
        assert_eq!(length_to_norm(u64::MAX), 255);
    }
}
