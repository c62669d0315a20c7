//! Reads the sums of a chunk of documents out.

use super::bits::SLACK;

/// Number of sums that are read out together.
pub const CHUNK: usize = 64;

/// The sum of a document that nothing was added to. Adding any number from 0 on makes it positive.
pub const UNTOUCHED: f64 = -0.0;

/// Room for what is read out, and for entries that are overwritten after it.
pub struct Drained {
    docs: [u32; CHUNK + SLACK],
    sums: [f64; CHUNK + SLACK],
    len: usize,
}

impl Default for Drained {
    fn default() -> Self {
        Drained { docs: [0; _], sums: [0.0; _], len: 0 }
    }
}

impl Drained {
    /// The documents, ascending.
    #[inline]
    pub fn docs(&self) -> &[u32] {
        self.docs.get(..self.len).unwrap_or_default()
    }

    /// Their sums.
    #[inline]
    pub fn sums(&self) -> &[f64] {
        self.sums.get(..self.len).unwrap_or_default()
    }

    /// Takes the sums that are touched and at least `least`, of documents from `first` on, and clears all.
    #[inline]
    pub fn take(&mut self, sums: &mut [f64; CHUNK], first: u32, least: f64) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("popcnt")
        {
            // SAFETY: the processor was just checked.
            unsafe { x86::take(self, sums, first, least) };
            return;
        }
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor was just checked.
            unsafe { x86::take_by_fours(self, sums, first, least) };
            return;
        }
        self.take_plainly(sums, first, least);
    }

    fn take_plainly(&mut self, sums: &mut [f64; CHUNK], first: u32, least: f64) {
        self.len = 0;
        for (sum, doc) in sums.iter_mut().zip(first..) {
            if let (Some(to_doc), Some(to_sum)) = (self.docs.get_mut(self.len), self.sums.get_mut(self.len)) {
                (*to_doc, *to_sum) = (doc, *sum);
            }
            self.len += usize::from(sum.is_sign_positive() && *sum >= least);
            *sum = UNTOUCHED;
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use std::arch::x86_64::{
        _CMP_GE_OQ, _mm_add_epi32, _mm_set1_epi32, _mm_setr_epi32, _mm_storeu_si128, _mm256_add_epi32,
        _mm256_cmp_pd, _mm256_loadu_pd, _mm256_maskz_compress_epi32, _mm256_movemask_pd, _mm256_set1_epi32,
        _mm256_set1_pd, _mm256_setr_epi32, _mm256_storeu_pd, _mm256_storeu_si256, _mm512_castpd_si512,
        _mm512_cmp_pd_mask, _mm512_loadu_pd, _mm512_maskz_compress_pd, _mm512_movepi64_mask, _mm512_set1_pd,
        _mm512_storeu_pd,
    };

    use super::{CHUNK, Drained, UNTOUCHED};
    use crate::codec::to_front::{doubles_to_front, integers_to_front};

    /// Does the same as [`Drained::take_plainly`], four sums at a time.
    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn take_by_fours(drained: &mut Drained, sums: &mut [f64; CHUNK], first: u32, least: f64) {
        let (least, clear) = (_mm256_set1_pd(least), _mm256_set1_pd(UNTOUCHED));
        let mut docs = _mm_add_epi32(_mm_set1_epi32(first.cast_signed()), _mm_setr_epi32(0, 1, 2, 3));
        let mut len = 0;
        for four in sums.as_chunks_mut::<4>().0 {
            // SAFETY: loads and clears four sums. At most 60 were taken before, so four more fit into 64.
            unsafe {
                let found = _mm256_loadu_pd(four.as_ptr());
                _mm256_storeu_pd(four.as_mut_ptr(), clear);
                let negative = _mm256_movemask_pd(found);
                let enough = _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_GE_OQ>(found, least));
                let wanted = (enough & !negative & 15).cast_unsigned();
                _mm256_storeu_pd(drained.sums.as_mut_ptr().add(len), doubles_to_front(found, wanted));
                let to_docs = drained.docs.as_mut_ptr().add(len);
                _mm_storeu_si128(to_docs.cast(), integers_to_front(docs, wanted));
                len += wanted.count_ones() as usize;
            }
            docs = _mm_add_epi32(docs, _mm_set1_epi32(4));
        }
        drained.len = len;
    }

    /// Does the same as [`Drained::take_plainly`], eight sums at a time.
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,popcnt")]
    pub(super) fn take(drained: &mut Drained, sums: &mut [f64; CHUNK], first: u32, least: f64) {
        let (least, clear) = (_mm512_set1_pd(least), _mm512_set1_pd(UNTOUCHED));
        let mut docs = _mm256_add_epi32(
            _mm256_set1_epi32(first.cast_signed()),
            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
        );
        let mut len = 0;
        for eight in sums.as_chunks_mut::<8>().0 {
            // SAFETY: loads and clears eight sums. At most 56 were taken before, and there is room for 8 more
            // than 64.
            unsafe {
                let found = _mm512_loadu_pd(eight.as_ptr());
                _mm512_storeu_pd(eight.as_mut_ptr(), clear);
                let negative = _mm512_movepi64_mask(_mm512_castpd_si512(found));
                let wanted = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(found, least) & !negative;
                let to_sums = drained.sums.as_mut_ptr().add(len);
                _mm512_storeu_pd(to_sums, _mm512_maskz_compress_pd(wanted, found));
                let to_docs = drained.docs.as_mut_ptr().add(len);
                _mm256_storeu_si256(to_docs.cast(), _mm256_maskz_compress_epi32(wanted, docs));
                len += wanted.count_ones() as usize;
            }
            docs = _mm256_add_epi32(docs, _mm256_set1_epi32(8));
        }
        drained.len = len;
    }
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "as many as there are")]
mod tests {
    use super::*;

    #[test]
    fn sums_are_taken_as_one_by_one() {
        let seed = fastrand::u64(..);
        println!("seed {seed:x}");
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..500 {
            let sums: [f64; CHUNK] = std::array::from_fn(|_| match random.u32(..8) {
                0 => 0.0,
                1 => f64::NAN,
                2 => -random.f64(),
                at if at <= round % 8 => random.f64(),
                _ => UNTOUCHED,
            });
            let first = random.u32(..1 << 31);
            let least = [f64::NEG_INFINITY, 0.0, 0.5, sums[random.usize(..CHUNK)], 2.0][random.usize(..5)];
            let wanted = |&(_, sum): &(u32, f64)| sum.is_sign_positive() && sum >= least;
            let (docs, expected): (Vec<u32>, Vec<f64>) = (first..).zip(sums).filter(wanted).unzip();
            for how in 0..3 {
                let (mut drained, mut left) = (Drained::default(), sums);
                match how {
                    0 => drained.take_plainly(&mut left, first, least),
                    #[cfg(all(target_arch = "x86_64", not(miri)))]
                    1 if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") => {
                        // SAFETY: the processor was just checked.
                        unsafe { x86::take_by_fours(&mut drained, &mut left, first, least) };
                    }
                    _ => drained.take(&mut left, first, least),
                }
                assert_eq!((drained.docs(), drained.sums()), (&docs[..], &expected[..]));
                assert!(left.iter().all(|sum| sum.to_bits() == UNTOUCHED.to_bits()));
            }
        }
    }
}
