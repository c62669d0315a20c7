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
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if let Some(values) = values.first_chunk()
        && is_x86_feature_detected!("avx2")
    {
        // SAFETY: the processor was just checked.
        return unsafe { x86::within_all(values, low, reach) };
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
        __mmask8, _mm256_castsi256_pd, _mm256_cmpgt_epi64, _mm256_loadu_si256, _mm256_movemask_pd,
        _mm256_set1_epi64x, _mm256_sub_epi64, _mm512_mask_cmple_epu64_mask, _mm512_maskz_loadu_epi64,
        _mm512_set1_epi64, _mm512_sub_epi64,
    };

    /// The sign of a number: without it, signed numbers have the order of unsigned ones.
    const SIGN: u64 = 1 << 63;

    /// Does the same as [`super::within`] for 64 values.
    #[target_feature(enable = "avx2")]
    pub(super) fn within_all(values: &[u64; 64], low: u64, reach: u64) -> u64 {
        // The distance from `low`, with its sign flipped.
        let low = _mm256_set1_epi64x(low.wrapping_add(SIGN).cast_signed());
        let reach = _mm256_set1_epi64x((reach ^ SIGN).cast_signed());
        let mut beyond = 0;
        for (values, from) in values.chunks_exact(4).zip((0..64).step_by(4)) {
            // SAFETY: the chunk has four values.
            let values = unsafe { _mm256_loadu_si256(values.as_ptr().cast()) };
            let found = _mm256_cmpgt_epi64(_mm256_sub_epi64(values, low), reach);
            let found = _mm256_movemask_pd(_mm256_castsi256_pd(found));
            beyond |= u64::from(found.cast_unsigned()) << from;
        }
        !beyond
    }

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
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            if let Some(values) = values.first_chunk()
                && is_x86_feature_detected!("avx2")
            {
                // SAFETY: the processor was just checked.
                assert_eq!(unsafe { x86::within_all(values, low, high - low) }, expected);
            }
            assert_eq!(within_plainly(&values[..values.len().min(64)], low, high - low), expected);
        }
    }
}
