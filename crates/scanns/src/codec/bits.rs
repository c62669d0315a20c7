//! Sets of small numbers as bits, 64 per word, lowest first: counting, listing and combining them.
//!
//! The compiler may use only the instructions that every processor of the target has. On x86-64, those
//! neither count bits nor compress vectors. So both operations have a version for processors that can do
//! this, chosen at run time, and a plain version with the same result.

#![expect(
    clippy::indexing_slicing,
    reason = "a byte has eight bits and a word 64, for which the tables have room"
)]

use crate::sys::in_wide_vectors;

/// Number of entries that [`list`] may overwrite after the listed ones.
pub const SLACK: usize = 32;

/// Returns the number of set bits.
#[inline]
pub fn count_ones(words: &[u64]) -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor was just checked.
        return unsafe { x86::count_ones(words) };
    }
    count_ones_plainly(words)
}

#[inline(always)]
fn count_ones_plainly(words: &[u64]) -> u64 {
    words.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// Writes the numbers of the set bits to `numbers`, in order and each with `first` added. Returns how many
/// there are; the entries after them are meaningless. Returns `None` if there is no room for them and
/// [`SLACK`] more.
#[inline]
pub fn list(words: impl Iterator<Item = u64>, first: u32, numbers: &mut [u32]) -> Option<usize> {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if in_sixty_fours() {
        // SAFETY: the processor was checked.
        return unsafe { x86::list(words, first, numbers) };
    }
    in_wide_vectors(
        #[inline(always)]
        move || list_plainly(words, first, numbers),
    )
}

/// Returns true if this machine compresses vectors of 64 bytes.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
fn in_sixty_fours() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("popcnt")
}

/// The numbers of the bits that are set in a byte: in order, a byte each, padded with zeros.
static OF_BYTE: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][count] = bit;
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// Writes eight numbers for every byte and keeps as many as the byte has set bits. This is cheaper than a
/// branch for each number.
#[inline(always)]
fn list_plainly(words: impl Iterator<Item = u64>, first: u32, numbers: &mut [u32]) -> Option<usize> {
    let most = numbers.len().checked_sub(SLACK)?;
    let (mut at, mut base) = (0, first);
    for byte in words.flat_map(u64::to_le_bytes) {
        *numbers.get_mut(at..)?.first_chunk_mut()? =
            OF_BYTE[usize::from(byte)].map(|bit| base.wrapping_add(u32::from(bit)));
        at += byte.count_ones() as usize;
        if at > most {
            return None;
        }
        base = base.wrapping_add(8);
    }
    Some(at)
}

/// Sets in `target` the bits of `words`, each moved up by `by`, or down if `by` is negative. Bits that leave
/// the range on either side are lost.
#[inline]
pub fn lay_over(words: impl Iterator<Item = u64>, by: i64, target: &mut [u64]) {
    let (mut place, shift) = (by.div_euclid(64), by.rem_euclid(64));
    // The bits that the word before left for this one.
    let mut rest = 0;
    let mut set = |place: i64, bits: u64| {
        if let Some(word) = usize::try_from(place).ok().and_then(|place| target.get_mut(place)) {
            *word |= bits;
        }
    };
    for word in words {
        set(place, word << shift | rest);
        rest = word >> 1 >> (63 - shift);
        place += 1;
    }
    set(place, rest);
}

/// Sets the bits from `from` to before `to`, as far as they exist.
#[inline]
pub fn set_range(from: u64, to: u64, target: &mut [u64]) {
    let to = to.min(64 * target.len() as u64);
    let (Some(last), true) = (to.checked_sub(1), from < to) else { return };
    let (low, high) = (u64::MAX << (from % 64), u64::MAX >> (63 - last % 64));
    // Both are within the target, whose words fit memory.
    let [first, last] = [from / 64, last / 64].map(|word| usize::try_from(word).unwrap_or(usize::MAX));
    match target.get_mut(first..=last) {
        Some([only]) => *only |= low & high,
        Some([first, between @ .., last]) => {
            *first |= low;
            between.fill(u64::MAX);
            *last |= high;
        }
        _ => {}
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use std::arch::x86_64::{
        __m128i, __m512i, _mm512_add_epi32, _mm512_castsi512_si128, _mm512_cvtepu8_epi32,
        _mm512_extracti32x4_epi32, _mm512_loadu_si512, _mm512_maskz_compress_epi8, _mm512_set1_epi32,
        _mm512_storeu_si512,
    };

    use super::SLACK;

    /// Counts bits as [`super::count_ones`] does.
    #[target_feature(enable = "popcnt")]
    pub(super) fn count_ones(words: &[u64]) -> u64 {
        super::count_ones_plainly(words)
    }

    /// The bytes 0 to 63.
    static NUMBERS: [u8; 64] = {
        let mut numbers = [0; 64];
        let mut number = 0;
        while number < 64 {
            numbers[number as usize] = number;
            number += 1;
        }
        numbers
    };

    /// Lists bits as [`super::list`] does: compresses the numbers 0 to 63 to the numbers whose bits are set,
    /// which are usually few.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
    pub(super) fn list(words: impl Iterator<Item = u64>, first: u32, numbers: &mut [u32]) -> Option<usize> {
        let most = numbers.len().checked_sub(SLACK)?;
        // SAFETY: the array has 64 bytes.
        let all = unsafe { _mm512_loadu_si512(NUMBERS.as_ptr().cast()) };
        let mut base = _mm512_set1_epi32(first.cast_signed());
        let mut at = 0;
        for word in words {
            let count = word.count_ones() as usize;
            if at + count > most {
                return None;
            }
            let found = _mm512_maskz_compress_epi8(word, all);
            // SAFETY: there is room for `at + count` numbers and 32 more. Two vectors fill at most 32 numbers
            // after the first `at`. If `count` is above 32, four vectors fill at most 31 numbers after all of
            // them.
            unsafe {
                let place = numbers.as_mut_ptr().add(at);
                store(place, _mm512_castsi512_si128(found), base);
                store(place.add(16), _mm512_extracti32x4_epi32::<1>(found), base);
                if count > 32 {
                    store(place.add(32), _mm512_extracti32x4_epi32::<2>(found), base);
                    store(place.add(48), _mm512_extracti32x4_epi32::<3>(found), base);
                }
            }
            at += count;
            base = _mm512_add_epi32(base, _mm512_set1_epi32(64));
        }
        Some(at)
    }

    /// Stores 16 numbers, each with `base` added.
    ///
    /// # Safety
    /// `place` must have room for 16 numbers.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
    unsafe fn store(place: *mut u32, numbers: __m128i, base: __m512i) {
        let numbers = _mm512_add_epi32(_mm512_cvtepu8_epi32(numbers), base);
        // SAFETY: the caller guarantees the room.
        unsafe { _mm512_storeu_si512(place.cast(), numbers) };
    }
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "test data is small")]
mod tests {
    use super::*;

    /// Calls `check` with words of every density.
    fn over_words(mut check: impl FnMut(&mut fastrand::Rng, &[u64])) {
        let seed = 0x5eed_b175;
        let mut random = fastrand::Rng::with_seed(seed);
        println!("seed {seed:x}");
        for round in 0..400 {
            let words: Vec<u64> = (0..round % 34)
                .map(|_| match random.u32(..6) {
                    0 => 0,
                    1 => u64::MAX,
                    2 => 1 << random.u32(..64),
                    3 => random.u64(..) & random.u64(..) & random.u64(..),
                    _ => random.u64(..),
                })
                .collect();
            check(&mut random, &words);
        }
    }

    fn slowly(words: &[u64]) -> Vec<u64> {
        (0..64 * words.len() as u64).filter(|bit| words[(bit / 64) as usize] >> (bit % 64) & 1 == 1).collect()
    }

    #[test]
    fn bits_are_counted_and_listed_as_one_by_one() {
        over_words(|random, words| {
            let first = random.u32(..1 << 30);
            let expected: Vec<u32> = slowly(words).iter().map(|&bit| first + bit as u32).collect();
            assert_eq!(count_ones(words), expected.len() as u64);
            assert_eq!(count_ones_plainly(words), expected.len() as u64);
            let both: [fn(_, _, &mut [u32]) -> _; 2] = [list, list_plainly];
            for list in both {
                let words = || words.iter().copied();
                let mut room = vec![7; expected.len() + SLACK];
                assert_eq!(list(words(), first, &mut room), Some(expected.len()));
                assert_eq!(room[..expected.len()], expected);
                assert_eq!(list(words(), first, &mut room[1..]), None.filter(|_| !expected.is_empty()));
            }
        });
    }

    #[test]
    fn bits_are_laid_over_others_wherever_they_stand() {
        over_words(|random, words| {
            let by = random.i64(-3_000..3_000);
            let mut target: Vec<u64> =
                (0..random.usize(..40)).map(|_| random.u64(..) & random.u64(..)).collect();
            let end = 64 * target.len() as i64;
            let mut expected = target.clone();
            for place in
                slowly(words).iter().map(|&bit| bit as i64 + by).filter(|place| (0..end).contains(place))
            {
                expected[place as usize / 64] |= 1 << (place % 64);
            }
            lay_over(words.iter().copied(), by, &mut target);
            assert_eq!(target, expected, "moved by {by}");
        });
    }

    #[test]
    fn ranges_are_set_from_their_first_bit_to_before_their_last() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..2_000 {
            let mut target = vec![0; random.usize(..5)];
            let (from, to) = (random.u64(..400), random.u64(..400));
            set_range(from, to, &mut target);
            let expected: Vec<u64> = (from..to).filter(|&bit| bit < 64 * target.len() as u64).collect();
            assert_eq!(slowly(&target), expected, "{from}..{to}");
        }
    }
}
