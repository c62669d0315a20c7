//! Filters postings without a branch for each of them, because it is nearly random which ones are wanted.
//!
//! On processors that compress vectors, 8 or 16 postings are filtered with a handful of instructions. The
//! plain versions write each posting and advance the output only if it is wanted. Up to [`SLACK`] entries
//! after the wanted postings are overwritten; they are meaningless.

#![expect(clippy::indexing_slicing, reason = "all places are below `len`, which is at most BLOCK")]

use super::bitpack::BLOCK;
use super::bits::SLACK;

/// Maximum number of documents that a run spans; each of them has a slot.
pub const SLOTS: usize = 4_096;

/// For each document of a run: its index among the wanted documents, plus 1; 0 for other documents.
pub type Slots = [u32; SLOTS];

/// The wanted postings of a block.
pub struct Picked {
    len: usize,
    places: [u32; BLOCK + SLACK],
    tfs: [u32; BLOCK + SLACK],
    numbers: [u32; BLOCK + SLACK],
}

impl Default for Picked {
    fn default() -> Self {
        Picked { len: 0, places: [0; BLOCK + SLACK], tfs: [0; BLOCK + SLACK], numbers: [0; BLOCK + SLACK] }
    }
}

impl Picked {
    /// The indexes of their documents among the wanted documents, from 0.
    #[inline]
    pub fn places(&self) -> &[u32] {
        &self.places[..self.len]
    }

    /// Their frequencies.
    #[inline]
    pub fn tfs(&self) -> &[u32] {
        &self.tfs[..self.len]
    }

    /// Their indexes among the postings of the block.
    #[inline]
    pub fn numbers(&self) -> &[u32] {
        &self.numbers[..self.len]
    }

    /// Picks the postings that have a slot among the first [`BLOCK`] postings. `tfs` are the frequencies for
    /// `docs`; the run begins with document `first`.
    #[inline]
    pub fn pick(&mut self, slots: &Slots, first: u32, docs: &[u32], tfs: &[u32]) {
        let len = docs.len().min(tfs.len()).min(BLOCK);
        let (docs, tfs) = (&docs[..len], &tfs[..len]);
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if compresses() {
            // SAFETY: the processor was checked.
            unsafe { x86::pick(self, slots, first, docs, tfs) };
            return;
        }
        self.pick_plainly(slots, first, docs, tfs);
    }

    fn pick_plainly(&mut self, slots: &Slots, first: u32, docs: &[u32], tfs: &[u32]) {
        self.len = 0;
        for ((&doc, &tf), number) in docs.iter().zip(tfs).zip(0..) {
            let (slot, at) = (slots[slot_of(doc, first)], self.len % BLOCK);
            (self.places[at], self.tfs[at], self.numbers[at]) = (slot.wrapping_sub(1), tf, number);
            self.len += usize::from(slot > 0);
        }
    }
}

/// Returns the index of the slot of a document, in a run that begins with `first`.
#[inline]
pub fn slot_of(doc: u32, first: u32) -> usize {
    doc.wrapping_sub(first) as usize % SLOTS
}

/// Moves the entries of `docs` and `sums` with a sum of at least `least` to the front, and returns their
/// number. Looks at as many entries as the shorter slice has.
#[inline]
pub fn retain(docs: &mut [u32], sums: &mut [f64], least: f64) -> usize {
    let len = docs.len().min(sums.len());
    let (docs, sums) = (&mut docs[..len], &mut sums[..len]);
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if compresses() {
        // SAFETY: the processor was checked.
        return unsafe { x86::retain(docs, sums, least) };
    }
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor was just checked.
        return unsafe { x86::retain_by_fours(docs, sums, least) };
    }
    retain_plainly(docs, sums, least)
}

fn retain_plainly(docs: &mut [u32], sums: &mut [f64], least: f64) -> usize {
    let mut kept = 0;
    for at in 0..docs.len() {
        (docs[kept], sums[kept]) = (docs[at], sums[at]);
        kept += usize::from(sums[at] >= least);
    }
    kept
}

/// Returns true if this machine compresses vectors of 32-bit and 64-bit elements.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
fn compresses() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("popcnt")
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use std::arch::x86_64::{
        __m512i, __mmask16, _CMP_GE_OQ, _mm_loadu_si128, _mm_storeu_si128, _mm256_cmp_pd, _mm256_loadu_pd,
        _mm256_loadu_si256, _mm256_maskz_compress_epi32, _mm256_movemask_pd, _mm256_set1_pd,
        _mm256_storeu_pd, _mm256_storeu_si256, _mm512_add_epi32, _mm512_and_si512, _mm512_cmp_pd_mask,
        _mm512_i32gather_epi32, _mm512_loadu_pd, _mm512_mask_cmpneq_epi32_mask, _mm512_maskz_compress_epi32,
        _mm512_maskz_compress_pd, _mm512_maskz_loadu_epi32, _mm512_set1_epi32, _mm512_set1_pd,
        _mm512_setr_epi32, _mm512_setzero_si512, _mm512_storeu_pd, _mm512_storeu_si512, _mm512_sub_epi32,
    };

    use super::{Picked, SLOTS, Slots, retain_plainly};
    use crate::codec::to_front::{doubles_to_front, integers_to_front};

    /// The mask from a document to its slot; the number of slots is a power of two.
    const SLOT_MASK: i32 = 0xfff;

    const _: () = assert!(SLOT_MASK as usize == SLOTS - 1);

    /// Does the same as [`Picked::pick`], for as many frequencies as documents and at most a block.
    #[target_feature(enable = "avx512f,avx512vl,popcnt")]
    pub(super) fn pick(picked: &mut Picked, slots: &Slots, first: u32, docs: &[u32], tfs: &[u32]) {
        let (first, mask) = (_mm512_set1_epi32(first.cast_signed()), _mm512_set1_epi32(SLOT_MASK));
        let mut numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        picked.len = 0;
        for (docs, tfs) in docs.chunks(16).zip(tfs.chunks(16)) {
            let there: __mmask16 = if docs.len() == 16 { u16::MAX } else { (1 << docs.len()) - 1 };
            // SAFETY: both loads are of as many numbers as there are, and the gathered indexes are below
            // `SLOTS`.
            let (tfs, found) = unsafe {
                let docs = _mm512_maskz_loadu_epi32(there, docs.as_ptr().cast());
                let tfs = _mm512_maskz_loadu_epi32(there, tfs.as_ptr().cast());
                let places = _mm512_and_si512(_mm512_sub_epi32(docs, first), mask);
                (tfs, _mm512_i32gather_epi32::<4>(places, slots.as_ptr().cast()))
            };
            let wanted = _mm512_mask_cmpneq_epi32_mask(there, found, _mm512_setzero_si512());
            let places = _mm512_sub_epi32(found, _mm512_set1_epi32(1));
            let at = picked.len;
            // SAFETY: fewer postings than a block were kept so far, because at most all earlier ones were,
            // and there is room for 16 more than a block.
            unsafe {
                store(&mut picked.places[at..], _mm512_maskz_compress_epi32(wanted, places));
                store(&mut picked.tfs[at..], _mm512_maskz_compress_epi32(wanted, tfs));
                store(&mut picked.numbers[at..], _mm512_maskz_compress_epi32(wanted, numbers));
            }
            picked.len += wanted.count_ones() as usize;
            numbers = _mm512_add_epi32(numbers, _mm512_set1_epi32(16));
        }
    }

    /// Stores 16 numbers.
    ///
    /// # Safety
    /// `room` must have room for 16 numbers.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn store(room: &mut [u32], numbers: __m512i) {
        debug_assert!(room.len() >= 16);
        // SAFETY: the caller guarantees the room.
        unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), numbers) };
    }

    /// Does the same as [`super::retain`], for as many sums as documents.
    #[target_feature(enable = "avx512f,avx512vl,popcnt")]
    pub(super) fn retain(docs: &mut [u32], sums: &mut [f64], least: f64) -> usize {
        let (whole, lowest) = (docs.len() / 8 * 8, _mm512_set1_pd(least));
        let mut kept = 0;
        for from in (0..whole).step_by(8) {
            // SAFETY: there are 8 documents and sums from `from` on. At most `from` of those before it were
            // kept, so the 8 written entries end at the latest where these 8 end, and these were already
            // read.
            unsafe {
                let all_docs = _mm256_loadu_si256(docs.as_ptr().add(from).cast());
                let all_sums = _mm512_loadu_pd(sums.as_ptr().add(from));
                let wanted = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(all_sums, lowest);
                let some_docs = _mm256_maskz_compress_epi32(wanted, all_docs);
                _mm256_storeu_si256(docs.as_mut_ptr().add(kept).cast(), some_docs);
                _mm512_storeu_pd(sums.as_mut_ptr().add(kept), _mm512_maskz_compress_pd(wanted, all_sums));
                kept += wanted.count_ones() as usize;
            }
        }
        retain_rest(docs, sums, least, [whole, kept])
    }

    /// Does the same on processors that do not compress vectors.
    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn retain_by_fours(docs: &mut [u32], sums: &mut [f64], least: f64) -> usize {
        let (whole, lowest) = (docs.len() / 4 * 4, _mm256_set1_pd(least));
        let mut kept = 0;
        for from in (0..whole).step_by(4) {
            // SAFETY: there are 4 documents and sums from `from` on. At most `from` of those before it were
            // kept, so the 4 written entries end at the latest where these 4 end, and these were already
            // read.
            unsafe {
                let all_docs = _mm_loadu_si128(docs.as_ptr().add(from).cast());
                let all_sums = _mm256_loadu_pd(sums.as_ptr().add(from));
                let wanted = _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_GE_OQ>(all_sums, lowest));
                let wanted = (wanted & 15).cast_unsigned();
                let some_docs = integers_to_front(all_docs, wanted);
                _mm_storeu_si128(docs.as_mut_ptr().add(kept).cast(), some_docs);
                _mm256_storeu_pd(sums.as_mut_ptr().add(kept), doubles_to_front(all_sums, wanted));
                kept += wanted.count_ones() as usize;
            }
        }
        retain_rest(docs, sums, least, [whole, kept])
    }

    /// Retains of the entries from `whole` on, and moves them behind the `kept` ones.
    fn retain_rest(docs: &mut [u32], sums: &mut [f64], least: f64, [whole, kept]: [usize; 2]) -> usize {
        let rest = retain_plainly(&mut docs[whole..], &mut sums[whole..], least);
        docs.copy_within(whole..whole + rest, kept);
        sums.copy_within(whole..whole + rest, kept);
        kept + rest
    }
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "test data is small")]
mod tests {
    use super::*;

    /// Ascending documents of a run that begins with `first`, fewer than a block.
    fn some_docs(random: &mut fastrand::Rng, first: u32) -> Vec<u32> {
        let share = random.u32(1..200);
        let docs = (first..first + SLOTS as u32).filter(|_| random.u32(..4_096) < share);
        let docs: Vec<u32> = docs.collect();
        docs[..random.usize(..=BLOCK).min(docs.len())].to_vec()
    }

    #[test]
    fn postings_of_wanted_documents_are_picked() {
        let seed = 0x5eed_91c4;
        let mut random = fastrand::Rng::with_seed(seed);
        println!("seed {seed:x}");
        let mut picked = Picked::default();
        for _ in 0..500 {
            let first = random.u32(..1 << 30);
            let docs = some_docs(&mut random, first);
            let tfs: Vec<u32> = docs.iter().map(|_| random.u32(..)).collect();
            let mut slots = [0; SLOTS];
            let share = random.u32(..=100);
            for slot in &mut slots {
                *slot = if random.u32(..100) < share { random.u32(1..) } else { 0 };
            }
            let of = |at: &usize| slots[(docs[*at] - first) as usize];
            let expected: Vec<usize> = (0..docs.len()).filter(|at| of(at) > 0).collect();
            for plain in [false, true] {
                match plain {
                    true => picked.pick_plainly(&slots, first, &docs, &tfs),
                    false => picked.pick(&slots, first, &docs, &tfs),
                }
                let places: Vec<u32> = expected.iter().map(|at| of(at) - 1).collect();
                let of_them: Vec<u32> = expected.iter().map(|&at| tfs[at]).collect();
                let numbers: Vec<u32> = expected.iter().map(|&at| at as u32).collect();
                assert_eq!((picked.places(), picked.tfs()), (&places[..], &of_them[..]), "plain: {plain}");
                assert_eq!(picked.numbers(), numbers, "plain: {plain}");
            }
        }
    }

    #[test]
    fn sums_that_are_high_enough_are_retained() {
        let seed = 0x5eed_4e7a;
        let mut random = fastrand::Rng::with_seed(seed);
        println!("seed {seed:x}");
        for _ in 0..1_000 {
            let len = random.usize(..100);
            let docs: Vec<u32> = (0..len).map(|_| random.u32(..)).collect();
            let odd = [f64::NEG_INFINITY, -0.0, 0.0, f64::INFINITY, f64::NAN];
            let sums: Vec<f64> = (0..len)
                .map(|_| if random.u32(..5) == 0 { odd[random.usize(..odd.len())] } else { random.f64() })
                .collect();
            let least = [0.0, 0.5, 0.9, f64::NEG_INFINITY, f64::INFINITY, f64::NAN][random.usize(..6)];
            let wanted = docs.iter().zip(&sums).filter(|&(_, &sum)| sum >= least);
            let expected: Vec<(u32, u64)> = wanted.map(|(&doc, sum)| (doc, sum.to_bits())).collect();
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            let by_fours = |docs: &mut [u32], sums: &mut [f64], least: f64| {
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
                    // SAFETY: the processor was just checked.
                    return unsafe { x86::retain_by_fours(docs, sums, least) };
                }
                retain_plainly(docs, sums, least)
            };
            #[cfg(not(all(target_arch = "x86_64", not(miri))))]
            let by_fours = retain_plainly;
            for retain in [retain, retain_plainly, by_fours] {
                let (mut docs, mut sums) = (docs.clone(), sums.clone());
                let kept = retain(&mut docs, &mut sums, least);
                let left = docs.iter().zip(&sums).map(|(&doc, sum)| (doc, sum.to_bits()));
                assert_eq!(left.take(kept).collect::<Vec<_>>(), expected);
            }
        }
    }
}
