//! AVX-512 (BW, VBMI2): 64 bytes per look-up; offsets by compressing a counter with the mask.
//!
//! About 9 ns per 64 bytes of text with a token every 8 bytes, bound by the two compressions. Their register
//! form is used: the form that stores to memory is microcoded on Zen 4 and many times slower.

use std::arch::x86_64::*;

use super::bits::{LANE, edges, fetch_ahead};
use super::words::{WordLanes, WordMasks, WordSpan, WordsFound, ascii_words};
use crate::tokenize::byteset::ByteSet;

/// The tables of a [`ByteSet`] in registers.
struct Avx512Tables {
    rows: [__m512i; 2],
    bits: __m512i,
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,bmi1,bmi2,popcnt")]
fn tables(set: &ByteSet) -> Avx512Tables {
    // SAFETY: each row is 16 readable bytes.
    let row =
        |half: usize| unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(set.rows[half].as_ptr().cast())) };
    let bits =
        _mm512_broadcast_i32x4(_mm_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128));
    Avx512Tables { rows: [row(0), row(1)], bits }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,bmi1,bmi2,popcnt")]
fn mask64(t: &Avx512Tables, bytes: __m512i) -> u64 {
    let nibble = _mm512_set1_epi8(15);
    let low = _mm512_and_si512(bytes, nibble);
    let high = _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), nibble);
    let ascii = _mm512_shuffle_epi8(t.rows[0], low);
    let row = _mm512_mask_shuffle_epi8(ascii, _mm512_movepi8_mask(bytes), t.rows[1], low);
    _mm512_test_epi8_mask(row, _mm512_shuffle_epi8(t.bits, high))
}

/// Loads up to 64 bytes; missing bytes read as zero, and their memory is not touched.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,bmi1,bmi2,popcnt")]
fn load_part(bytes: &[u8], valid: u64) -> __m512i {
    debug_assert!(bytes.len() >= 64 - valid.leading_zeros() as usize);
    // SAFETY: the mask keeps the load inside `bytes`; masked-off lanes do not fault.
    unsafe { _mm512_maskz_loadu_epi8(valid, bytes.as_ptr().cast()) }
}

/// Implements [`super::choose::mask`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,bmi1,bmi2,popcnt")]
pub(super) fn mask(set: &ByteSet, bytes: &[u8]) -> u64 {
    let valid = if bytes.len() == LANE { u64::MAX } else { (1 << bytes.len()) - 1 };
    mask64(&tables(set), load_part(bytes, valid)) & valid
}

/// The offsets 0 to 31.
#[expect(clippy::cast_possible_truncation, reason = "they are below 32")]
static COUNTER: [u16; 32] = {
    let mut counter = [0; 32];
    let mut at = 0;
    while at < counter.len() {
        counter[at] = at as u16;
        at += 1;
    }
    counter
};

/// [`COUNTER`] in a register.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,bmi1,bmi2,popcnt")]
fn iota() -> __m512i {
    // SAFETY: 32 u16 are 64 readable bytes.
    unsafe { _mm512_loadu_si512(COUNTER.as_ptr().cast()) }
}

/// Does what [`spread`](super::bits::spread) does, for a base in `at`, which is 32 consecutive offsets.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,bmi1,bmi2,popcnt")]
fn spread(edges: u64, at: __m512i, out: &mut [u16], count: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "the two halves of the mask")]
    let (low, high) = (edges as u32, (edges >> 32) as u32);
    let first = low.count_ones() as usize;
    let upper = _mm512_add_epi16(at, _mm512_set1_epi16(32));
    let room = &mut out[count..count + LANE];
    // SAFETY: `room` is 64 offsets long, so a store of 32 at 0 and one at `first` <= 32 stay inside.
    unsafe {
        _mm512_storeu_si512(room.as_mut_ptr().cast(), _mm512_maskz_compress_epi16(low, at));
        _mm512_storeu_si512(room.as_mut_ptr().add(first).cast(), _mm512_maskz_compress_epi16(high, upper));
    }
    count + first + high.count_ones() as usize
}

/// Implements [`super::choose::changes`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,bmi1,bmi2,popcnt")]
pub(super) fn changes(set: &ByteSet, bytes: &[u8], out: &mut [u16]) -> usize {
    let t = tables(set);
    let mut count = 0;
    let mut before = 0;
    let mut at = iota();
    for lane in bytes.chunks(LANE) {
        fetch_ahead(lane);
        let valid = if lane.len() == LANE { u64::MAX } else { (1 << lane.len()) - 1 };
        let edges = edges(mask64(&t, load_part(lane, valid)) & valid, &mut before) & valid;
        count = spread(edges, at, out, count);
        at = _mm512_add_epi16(at, _mm512_set1_epi16(64));
    }
    count
}

/// Implements [`super::choose::ascii_words`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,bmi1,bmi2,popcnt")]
pub(super) fn words(text: &mut [u8], span: WordSpan, out: &mut [u16], count: usize) -> WordsFound {
    // SAFETY: the caller vouches for the instructions.
    unsafe { ascii_words::<Avx512Lanes>(text, span, out, count) }
}

struct Avx512Lanes;

impl WordLanes for Avx512Lanes {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,bmi1,bmi2,popcnt")]
    unsafe fn classify(lane: &mut [u8; LANE]) -> WordMasks {
        // SAFETY: the lane is 64 bytes long.
        let bytes = unsafe { _mm512_loadu_si512(lane.as_ptr().cast()) };
        let within = |bytes: __m512i, first: u8, count: u8| {
            let distance = _mm512_sub_epi8(bytes, _mm512_set1_epi8(first.cast_signed()));
            _mm512_cmplt_epu8_mask(distance, _mm512_set1_epi8(count.cast_signed()))
        };
        let is = |byte: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte.cast_signed()));
        let upper = within(bytes, b'A', 26);
        let lowered = _mm512_mask_add_epi8(bytes, upper, bytes, _mm512_set1_epi8(0x20));
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(lane.as_mut_ptr().cast(), lowered) };
        WordMasks {
            letters: within(lowered, b'a', 26),
            digits: within(bytes, b'0', 10),
            connectors: is(b'_'),
            colons: is(b':'),
            commas: is(b',') | is(b';'),
            points: is(b'.') | is(b'\''),
            foreign: _mm512_movepi8_mask(bytes),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,bmi1,bmi2,popcnt")]
    unsafe fn spread(edges: u64, base: u16, out: &mut [u16], count: usize) -> usize {
        let at = _mm512_add_epi16(iota(), _mm512_set1_epi16(base.cast_signed()));
        spread(edges, at, out, count)
    }
}
