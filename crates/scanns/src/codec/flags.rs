//! Flags, a byte each, to bits.
//!
//! To set a bit, its word is read and written, and neighbours wait for each other. A byte is only written.

use super::ranks::RankedBits;

/// Number of flags of a window, one for each of its bits.
pub const FLAGS: usize = 4_096;

const _: () = assert!(8 * size_of::<RankedBits>() == FLAGS);

/// Sets the bits of a window whose flags are 1; flags are 0 or 1. Other bits are unchanged.
#[inline]
pub fn merge_flags(flags: &[u8; FLAGS], bits: &mut RankedBits) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if is_x86_feature_detected!("avx512bw") {
        // SAFETY: the processor was just checked.
        unsafe { x86::merge_flags(flags, bits) };
        return;
    }
    merge_plainly(flags, bits);
}

fn merge_plainly(flags: &[u8; FLAGS], bits: &mut RankedBits) {
    for (word, flags) in bits.iter_mut().zip(flags.as_chunks::<64>().0) {
        for (flags, shift) in flags.as_chunks::<8>().0.iter().zip((0..).step_by(8)) {
            // The product moves the flag of byte `i` to bit 56 + i; no two flags meet.
            let byte = u64::from_le_bytes(*flags).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            *word |= byte << shift;
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use std::arch::x86_64::{_mm512_loadu_si512, _mm512_test_epi8_mask};

    use super::{FLAGS, RankedBits};

    /// Does the same as [`super::merge_flags`].
    #[target_feature(enable = "avx512bw")]
    pub(super) fn merge_flags(flags: &[u8; FLAGS], bits: &mut RankedBits) {
        for (word, flags) in bits.iter_mut().zip(flags.as_chunks::<64>().0) {
            // SAFETY: a chunk has 64 bytes.
            let flags = unsafe { _mm512_loadu_si512(flags.as_ptr().cast()) };
            *word |= _mm512_test_epi8_mask(flags, flags);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_become_bits_one_by_one() {
        let seed = fastrand::u64(..);
        println!("seed {seed:x}");
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..50 {
            let mut flags = [0; FLAGS];
            flags.iter_mut().for_each(|flag| *flag = u8::from(random.u32(..50) <= round));
            let mut bits: RankedBits = std::array::from_fn(|_| random.u64(..) & random.u64(..));
            let mut expected = bits;
            for (place, &flag) in flags.iter().enumerate() {
                expected[place / 64] |= u64::from(flag) << (place % 64);
            }
            let mut plain = bits;
            merge_plainly(&flags, &mut plain);
            assert_eq!(plain, expected);
            merge_flags(&flags, &mut bits);
            assert_eq!(bits, expected);
        }
    }
}
