//! Reads integers at ascending places, eight at a time.
//!
//! Read one by one, an integer takes a little over a nanosecond, and most of this is arithmetic on its place.
//! With a vector of eight places it takes half a nanosecond (EPYC 9005, places 1 to 20 apart, warm). On
//! processors whose gather instructions were slowed down by mitigations against attacks, vectors are no
//! faster.

use super::{Packed, place_in_packed};

impl Packed<'_> {
    /// Appends integers `docs[i] - first`; `None` if one is after the last integer. `docs` must ascend.
    #[inline]
    pub fn pick(&self, first: u32, docs: &[u32], out: &mut Vec<u64>) -> Option<()> {
        debug_assert!(docs.is_sorted());
        let Some((&lowest, &highest)) = docs.first().zip(docs.last()) else { return Some(()) };
        if lowest < first || highest.wrapping_sub(first) as usize >= self.count {
            return None;
        }
        #[cfg_attr(any(miri, not(target_arch = "x86_64")), expect(unused_mut, reason = "no vector code"))]
        let mut rest = docs;
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor was just checked.
            rest = unsafe { x86::pick(self, first, docs, out) };
        }
        self.pick_plainly(first, rest, out)
    }

    fn pick_plainly(&self, first: u32, docs: &[u32], out: &mut Vec<u64>) -> Option<()> {
        let (bytes, count, width) = (self.bytes, self.count, self.width);
        let (start, mut whole) = (out.len(), true);
        out.resize(start + docs.len(), 0);
        for (value, &doc) in out.iter_mut().skip(start).zip(docs) {
            let place = doc.wrapping_sub(first) as usize;
            let (at, read) = place_in_packed(place, width);
            whole &= place < count;
            if let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
                *value = read(*word);
            }
        }
        whole.then_some(())
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use std::arch::x86_64::{
        _mm256_loadu_si256, _mm256_min_epu32, _mm256_set1_epi32, _mm256_sub_epi32, _mm512_and_si512,
        _mm512_cvtepu32_epi64, _mm512_i64gather_epi64, _mm512_mul_epu32, _mm512_set1_epi64,
        _mm512_srli_epi64, _mm512_srlv_epi64, _mm512_storeu_si512,
    };

    use super::Packed;

    /// Appends the integers of whole groups of eight, and returns the remaining documents. Places after the
    /// last integer count as the last one.
    #[target_feature(enable = "avx512f")]
    pub(super) fn pick<'d>(
        packed: &Packed<'_>,
        first: u32,
        docs: &'d [u32],
        out: &mut Vec<u64>,
    ) -> &'d [u32] {
        let (groups, rest) = docs.as_chunks::<8>();
        let Some(last) = packed.count.checked_sub(1).and_then(|last| u32::try_from(last).ok()) else {
            return docs;
        };
        let mask = if packed.width >= 64 { u64::MAX } else { (1 << packed.width) - 1 };
        let (last, first) = (_mm256_set1_epi32(last.cast_signed()), _mm256_set1_epi32(first.cast_signed()));
        let (width, low) = (_mm512_set1_epi64(packed.width.into()), _mm512_set1_epi64(7));
        let mask = _mm512_set1_epi64(mask.cast_signed());
        out.reserve(8 * groups.len());
        for group in groups {
            let mut values = [0u64; 8];
            // SAFETY: each load is of a group of eight documents and each store is to an array of eight. The
            // last integer that is gathered is at most the one at `last`, whose bits begin before the `TAIL`
            // bytes that `Packed::new` checked.
            unsafe {
                let docs = _mm256_loadu_si256(group.as_ptr().cast());
                let places = _mm256_min_epu32(_mm256_sub_epi32(docs, first), last);
                let bits = _mm512_mul_epu32(_mm512_cvtepu32_epi64(places), width);
                let words =
                    _mm512_i64gather_epi64::<1>(_mm512_srli_epi64::<3>(bits), packed.bytes.as_ptr().cast());
                let found = _mm512_and_si512(_mm512_srlv_epi64(words, _mm512_and_si512(bits, low)), mask);
                _mm512_storeu_si512(values.as_mut_ptr().cast(), found);
            }
            out.extend_from_slice(&values);
        }
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::super::{pack_all, packed_bytes};
    use super::*;

    #[test]
    fn integers_that_are_picked_are_those_that_are_read_alone() {
        let seed = 0x5eed_91c4;
        let mut random = fastrand::Rng::with_seed(seed);
        println!("seed {seed:x}");
        for width in (0..=56).chain([64]) {
            for _ in 0..20 {
                let count = random.usize(1..700);
                let limit = if width == 64 { u64::MAX } else { (1 << width) - 1 };
                let mut bytes = Vec::new();
                pack_all((0..count).map(|_| random.u64(..=limit)), width, &mut bytes);
                // Bytes after the end must not be read.
                bytes.shrink_to_fit();
                let packed = Packed::new(&bytes, count, width).unwrap();
                assert_eq!(packed.len_bytes(), packed_bytes(count, width) + super::super::TAIL);
                let first = [0, 1, 70_000, u32::MAX - 700][random.usize(..4)];
                let mut docs: Vec<u32> =
                    (first..).take(count).filter(|_| random.u8(..4) > 0 || count < 9).collect();
                if random.bool() {
                    docs.extend(docs.last().copied());
                }
                let expected: Vec<u64> =
                    docs.iter().map(|doc| packed.get((doc - first) as usize).unwrap()).collect();
                let (mut picked, mut plainly) = (vec![9], vec![9]);
                packed.pick(first, &docs, &mut picked).unwrap();
                packed.pick_plainly(first, &docs, &mut plainly).unwrap();
                assert_eq!(picked[1..], expected, "width {width}, {count} from {first}");
                assert_eq!(plainly, picked);
                let beyond = first.saturating_add(u32::try_from(count).unwrap());
                for wrong in [first.checked_sub(1), Some(beyond)].into_iter().flatten() {
                    let mut docs = docs.clone();
                    docs.push(wrong);
                    docs.sort_unstable();
                    assert!(packed.pick(first, &docs, &mut Vec::new()).is_none(), "width {width}");
                }
            }
        }
    }
}
