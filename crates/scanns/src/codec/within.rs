//! Compares many values with bounds.

/// Returns a bit for each of the first 64 values that is at least `low` and at most `low + reach`, the first
/// value lowest.
#[inline]
pub fn within(values: &[u64], low: u64, reach: u64) -> u64 {
    let values = values.get(..64).unwrap_or(values);
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor was just checked.
        return unsafe { x86::within(values, low, reach) };
    }
    within_plainly(values, low, reach)
}

#[inline]
fn within_plainly(values: &[u64], low: u64, reach: u64) -> u64 {
    let bits = values.iter().zip(0..).map(|(&value, bit)| u64::from(value.wrapping_sub(low) <= reach) << bit);
    bits.fold(0, |word, bit| word | bit)
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use std::arch::x86_64::{
        __mmask8, _mm512_mask_cmple_epu64_mask, _mm512_maskz_loadu_epi64, _mm512_set1_epi64, _mm512_sub_epi64,
    };

    /// Does the same as [`super::within`] for at most 64 values.
    #[target_feature(enable = "avx512f")]
    pub(super) fn within(values: &[u64], low: u64, reach: u64) -> u64 {
        let (low, reach) = (_mm512_set1_epi64(low.cast_signed()), _mm512_set1_epi64(reach.cast_signed()));
        let mut word = 0;
        for (values, from) in values.chunks(8).zip((0..64).step_by(8)) {
            let there: __mmask8 = if values.len() == 8 { u8::MAX } else { (1 << values.len()) - 1 };
            // SAFETY: the load is of as many values as there are.
            let values = unsafe { _mm512_maskz_loadu_epi64(there, values.as_ptr().cast()) };
            let found = _mm512_mask_cmple_epu64_mask(there, _mm512_sub_epi64(values, low), reach);
            word |= u64::from(found) << from;
        }
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_within_bounds_are_those_of_a_comparison_one_by_one() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..3_000 {
            let most = [1, 10, 1 << 40, u64::MAX][random.usize(..4)];
            let values: Vec<u64> = (0..random.usize(..80)).map(|_| random.u64(..=most)).collect();
            let (one, other) = (random.u64(..=most), random.u64(..=most));
            let (low, high) = (one.min(other), if random.u8(..9) == 0 { u64::MAX } else { one.max(other) });
            let mut expected = 0;
            for (bit, value) in values.iter().take(64).enumerate() {
                expected |= u64::from((low..=high).contains(value)) << bit;
            }
            assert_eq!(within(&values, low, high - low), expected);
            assert_eq!(within_plainly(&values[..values.len().min(64)], low, high - low), expected);
        }
    }
}
