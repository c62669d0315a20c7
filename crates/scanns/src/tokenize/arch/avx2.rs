//! AVX2: two shuffles look up 32 bytes at once; offsets by counting trailing zeros.

use std::arch::x86_64::*;

use super::bits::{LANE, edges, fetch_ahead, spread};
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
