//! Looks up table entries by bytes at given places. Scoring a block of postings begins with this.

/// Sets `found[i]` to `table[bytes[places[i]]]`, up to the end of the shorter slice. A byte that does not
/// exist counts as 0. `places` must ascend.
#[inline]
pub fn gather(table: &[f32; 256], bytes: &[u8], places: &[u32], found: &mut [f32]) {
    debug_assert!(places.is_sorted());
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if let Some(last) = whole_words(bytes)
        && places.last().is_none_or(|&place| place <= last)
        && is_x86_feature_detected!("avx512f")
    {
        // SAFETY: the processor was just checked, and up to `last` four bytes can be read at every place.
        unsafe { x86::gather(table, bytes, last, places, found) };
        return;
    }
    gather_plainly(table, bytes, places, found);
}

#[inline]
#[expect(clippy::indexing_slicing, reason = "a table of 256 entries, indexed by a byte")]
fn gather_plainly(table: &[f32; 256], bytes: &[u8], places: &[u32], found: &mut [f32]) {
    for (found, &place) in found.iter_mut().zip(places) {
        *found = table[usize::from(bytes.get(place as usize).copied().unwrap_or(0))];
    }
}

/// Returns the last place with four bytes after it, if a vector can represent it.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
fn whole_words(bytes: &[u8]) -> Option<u32> {
    let last = u32::try_from(bytes.len().checked_sub(4)?).ok()?;
    (last < 1 << 31).then_some(last)
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use std::arch::x86_64::{
        __mmask16, _mm512_and_si512, _mm512_mask_i32gather_epi32, _mm512_mask_i32gather_ps,
        _mm512_mask_storeu_ps, _mm512_maskz_loadu_epi32, _mm512_min_epu32, _mm512_set1_epi32,
        _mm512_setzero_ps, _mm512_setzero_si512,
    };

    /// Does the same as [`super::gather`]. Places after `last` count as `last`.
    ///
    /// # Safety
    /// `bytes` must have four bytes at `last`, and `last` must be below 2³¹.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn gather(
        table: &[f32; 256],
        bytes: &[u8],
        last: u32,
        places: &[u32],
        found: &mut [f32],
    ) {
        let (last, low_byte) = (_mm512_set1_epi32(last.cast_signed()), _mm512_set1_epi32(0xff));
        for (places, found) in places.chunks(16).zip(found.chunks_mut(16)) {
            let len = places.len().min(found.len());
            let mask: __mmask16 = if len == 16 { u16::MAX } else { (1 << len) - 1 };
            // SAFETY: loads and stores cover the first `len` numbers only; the gathers read at most at
            // `last`, and then at most at place 255 of the table.
            unsafe {
                let places = _mm512_min_epu32(_mm512_maskz_loadu_epi32(mask, places.as_ptr().cast()), last);
                let zeros = _mm512_setzero_si512();
                let words = _mm512_mask_i32gather_epi32::<1>(zeros, mask, places, bytes.as_ptr().cast());
                let codes = _mm512_and_si512(words, low_byte);
                let values =
                    _mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), mask, codes, table.as_ptr().cast());
                _mm512_mask_storeu_ps(found.as_mut_ptr(), mask, values);
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "test data is small")]
mod tests {
    use super::*;

    #[test]
    fn what_is_gathered_is_what_is_looked_up_one_by_one() {
        let seed = 0x5eed_6a74;
        let mut random = fastrand::Rng::with_seed(seed);
        println!("seed {seed:x}");
        for _ in 0..500 {
            let bytes: Vec<u8> = (0..random.usize(..600)).map(|_| random.u8(..)).collect();
            let table: [f32; 256] = std::array::from_fn(|_| random.f32());
            let beyond = if random.bool() { 0 } else { 40 };
            let mut places: Vec<u32> =
                (0..random.usize(..200)).map(|_| random.u32(..bytes.len() as u32 + beyond + 1)).collect();
            places.sort_unstable();
            let (mut found, mut expected) = (vec![7.0; random.usize(..200)], Vec::new());
            expected.clone_from(&found);
            gather_plainly(&table, &bytes, &places, &mut expected);
            gather(&table, &bytes, &places, &mut found);
            assert_eq!(found, expected);
        }
    }
}
