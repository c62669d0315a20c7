//! AVX2: two shuffles look up 32 bytes at once; offsets by counting trailing zeros.

use std::arch::x86_64::*;

use super::bits::{LANE, edges, fetch_ahead, spread};
use super::words::{WordLanes, WordMasks, WordSpan, WordsFound, ascii_words};
use crate::tokenize::byteset::ByteSet;

/// The tables of a [`ByteSet`] in registers.
struct Avx2Tables {
    rows: [__m256i; 2],
    bits: __m256i,
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn tables(set: &ByteSet) -> Avx2Tables {
    // SAFETY: each row is 16 readable bytes.
    let row =
        |half: usize| unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(set.rows[half].as_ptr().cast())) };
    let bits = _mm256_setr_epi8(
        1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8,
        16, 32, 64, -128,
    );
    Avx2Tables { rows: [row(0), row(1)], bits }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn mask32(t: &Avx2Tables, bytes: __m256i) -> u32 {
    let nibble = _mm256_set1_epi8(15);
    let low = _mm256_and_si256(bytes, nibble);
    let high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble);
    let ascii = _mm256_shuffle_epi8(t.rows[0], low);
    let other = _mm256_shuffle_epi8(t.rows[1], low);
    let row = _mm256_blendv_epi8(ascii, other, bytes);
    let bit = _mm256_shuffle_epi8(t.bits, high);
    _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_and_si256(row, bit), bit)).cast_unsigned()
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn mask64(t: &Avx2Tables, bytes: &[u8; LANE]) -> u64 {
    // SAFETY: both loads lie inside the 64 bytes.
    let (a, b) = unsafe {
        (_mm256_loadu_si256(bytes.as_ptr().cast()), _mm256_loadu_si256(bytes.as_ptr().add(32).cast()))
    };
    u64::from(mask32(t, a)) | u64::from(mask32(t, b)) << 32
}

/// Implements [`super::choose::mask`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn mask(set: &ByteSet, bytes: &[u8]) -> u64 {
    partial(&tables(set), bytes)
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn partial(t: &Avx2Tables, bytes: &[u8]) -> u64 {
    if let Ok(whole) = bytes.try_into() {
        return mask64(t, whole);
    }
    let mut lane = [0; LANE];
    lane[..bytes.len()].copy_from_slice(bytes);
    mask64(t, &lane) & ((1 << bytes.len()) - 1)
}

/// Implements [`super::choose::changes`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn changes(set: &ByteSet, bytes: &[u8], out: &mut [u16]) -> usize {
    let t = tables(set);
    let (mut count, mut before, mut base) = (0, 0, 0u16);
    let (lanes, rest) = bytes.as_chunks::<LANE>();
    for lane in lanes {
        fetch_ahead(lane);
        count = spread(edges(mask64(&t, lane), &mut before), base, out, count);
        base = base.wrapping_add(64);
    }
    if !rest.is_empty() {
        let edges = edges(partial(&t, rest), &mut before) & ((1 << rest.len()) - 1);
        count = spread(edges, base, out, count);
    }
    count
}

/// Implements [`super::choose::ascii_words`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn words(text: &mut [u8], span: WordSpan, out: &mut [u16], count: usize) -> WordsFound {
    // SAFETY: the caller vouches for the instructions.
    unsafe { ascii_words::<Avx2Lanes>(text, span, out, count) }
}

struct Avx2Lanes;

impl WordLanes for Avx2Lanes {
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    unsafe fn classify(lane: &mut [u8; LANE]) -> WordMasks {
        let (low, high) = (classify32(lane, 0), classify32(lane, 32));
        let both = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        WordMasks {
            letters: both(low[0], high[0]),
            digits: both(low[1], high[1]),
            connectors: both(low[2], high[2]),
            colons: both(low[3], high[3]),
            commas: both(low[4], high[4]),
            points: both(low[5], high[5]),
            foreign: both(low[6], high[6]),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    unsafe fn spread(edges: u64, base: u16, out: &mut [u16], count: usize) -> usize {
        spread(edges, base, out, count)
    }
}

/// The masks of [`WordMasks`], in their order, for the half of the lane that begins at `at`.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn classify32(lane: &mut [u8; LANE], at: usize) -> [u32; 7] {
    let place = lane[at..at + 32].as_mut_ptr();
    // SAFETY: `place` is 32 bytes long.
    let bytes = unsafe { _mm256_loadu_si256(place.cast()) };
    // The distance from `first` is less than `count`, as unsigned bytes.
    let within = |bytes: __m256i, first: u8, count: u8| {
        let distance = _mm256_sub_epi8(bytes, _mm256_set1_epi8(first.cast_signed()));
        let most = _mm256_set1_epi8((count - 1).cast_signed());
        _mm256_cmpeq_epi8(_mm256_min_epu8(distance, most), distance)
    };
    let is = |byte: u8| _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte.cast_signed()));
    let case = _mm256_set1_epi8(0x20);
    let lowered = _mm256_or_si256(bytes, _mm256_and_si256(within(bytes, b'A', 26), case));
    // SAFETY: as above.
    unsafe { _mm256_storeu_si256(place.cast(), lowered) };
    let mask = |bytes: __m256i| _mm256_movemask_epi8(bytes).cast_unsigned();
    [
        mask(within(lowered, b'a', 26)),
        mask(within(bytes, b'0', 10)),
        mask(is(b'_')),
        mask(is(b':')),
        mask(_mm256_or_si256(is(b','), is(b';'))),
        mask(_mm256_or_si256(is(b'.'), is(b'\''))),
        mask(bytes),
    ]
}
