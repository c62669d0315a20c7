//! AVX2 and AVX-512 with AES: a key in one masked load, a hash in two AES rounds, a bucket in one comparison.
//!
//! Two rounds spread every bit of the key over the whole block; with secret round keys the result cannot be
//! influenced from outside. About 1 ns per token, including the load.

use std::arch::x86_64::*;

use super::isa::{Isa, Seed};
use crate::invert::entry::{INLINE, TermKey};
use crate::invert::table::TermBucket;

/// AVX2 and AES.
pub(crate) struct Avx2;

/// AVX-512 BW and VL, and AES.
pub(crate) struct Avx512;

#[inline(always)]
unsafe fn vector(key: TermKey) -> __m128i {
    // SAFETY: a key is 16 aligned bytes; SSE2 is part of x86-64.
    unsafe { _mm_load_si128(key.0.as_ptr().cast()) }
}

#[inline(always)]
unsafe fn round_key(seed: &Seed, index: usize) -> __m128i {
    debug_assert!(index < 3);
    // SAFETY: the seed is 48 aligned bytes.
    unsafe { _mm_load_si128(seed.0.as_ptr().cast::<__m128i>().add(index)) }
}

#[inline(always)]
unsafe fn aes_fingerprint(block: __m128i, seed: &Seed) -> u32 {
    // SAFETY: the caller has AES.
    unsafe {
        let state = _mm_aesenc_si128(_mm_xor_si128(block, round_key(seed, 0)), round_key(seed, 1));
        let state = _mm_aesenc_si128(state, round_key(seed, 2));
        _mm_cvtsi128_si32(state).cast_unsigned().max(1)
    }
}

#[inline(always)]
unsafe fn aes_digest(term: &[u8], seed: &Seed) -> (u64, u32) {
    debug_assert!(term.len() > INLINE);
    // SAFETY: the caller has AES; terms are at least 16 bytes, so whole blocks and the last 16 bytes lie
    // inside.
    unsafe {
        let load = |at: usize| _mm_loadu_si128(term.as_ptr().add(at).cast());
        let mut state = _mm_xor_si128(round_key(seed, 0), _mm_set1_epi64x(term.len().cast_signed() as i64));
        let mut at = 0;
        while at + 16 < term.len() {
            state = _mm_aesenc_si128(_mm_xor_si128(state, load(at)), round_key(seed, 1));
            at += 16;
        }
        state = _mm_aesenc_si128(_mm_xor_si128(state, load(term.len() - 16)), round_key(seed, 1));
        state = _mm_aesenc_si128(state, round_key(seed, 2));
        state = _mm_aesenc_si128(state, round_key(seed, 0));
        let digest = _mm_cvtsi128_si64(state).cast_unsigned();
        (digest, _mm_extract_epi32::<2>(state).cast_unsigned().max(1))
    }
}

#[inline(always)]
unsafe fn avx_matches(bucket: &TermBucket, fingerprint: u32) -> u32 {
    // SAFETY: the caller has AVX2; a bucket starts with 32 aligned bytes of fingerprints and link.
    unsafe {
        let slots = _mm256_load_si256(std::ptr::from_ref(bucket).cast());
        let equal = _mm256_cmpeq_epi32(slots, _mm256_set1_epi32(fingerprint.cast_signed()));
        _mm256_movemask_ps(_mm256_castsi256_ps(equal)).cast_unsigned() & 0x7f
    }
}

#[inline(always)]
unsafe fn to_key(bytes: __m128i, len: usize) -> TermKey {
    let mut key = TermKey([0; 2]);
    // SAFETY: the store writes the 16 aligned bytes of `key`.
    unsafe { _mm_store_si128(key.0.as_mut_ptr().cast(), bytes) };
    key.0[1] |= (len as u64) << 56;
    key
}

impl Isa for Avx2 {
    #[inline(always)]
    unsafe fn short_key(text: &[u8], start: usize, len: usize) -> TermKey {
        static MASKS: [u8; 32] = [
            255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        ];
        if start + 16 > text.len() {
            return TermKey::short(&text[start..start + len]);
        }
        // SAFETY: 16 bytes from `start` are inside `text`, and 16 from `16 - len` inside the masks.
        unsafe {
            let bytes = _mm_loadu_si128(text.as_ptr().add(start).cast());
            let mask = _mm_loadu_si128(MASKS.as_ptr().add(16 - len).cast());
            to_key(_mm_and_si128(bytes, mask), len)
        }
    }

    #[inline(always)]
    unsafe fn fingerprint(key: TermKey, seed: &Seed) -> u32 {
        // SAFETY: passed on.
        unsafe { aes_fingerprint(vector(key), seed) }
    }

    #[inline(always)]
    unsafe fn digest(term: &[u8], seed: &Seed) -> (u64, u32) {
        // SAFETY: passed on.
        unsafe { aes_digest(term, seed) }
    }

    #[inline(always)]
    unsafe fn matches(bucket: &TermBucket, fingerprint: u32) -> u32 {
        // SAFETY: passed on.
        unsafe { avx_matches(bucket, fingerprint) }
    }
}

impl Isa for Avx512 {
    #[inline(always)]
    unsafe fn short_key(text: &[u8], start: usize, len: usize) -> TermKey {
        #[expect(clippy::cast_possible_truncation, reason = "at most 15 bits")]
        let valid = ((1u32 << len) - 1) as u16;
        // SAFETY: the mask keeps the load inside `text`; masked-off bytes do not fault.
        unsafe { to_key(_mm_maskz_loadu_epi8(valid, text.as_ptr().add(start).cast()), len) }
    }

    #[inline(always)]
    unsafe fn fingerprint(key: TermKey, seed: &Seed) -> u32 {
        // SAFETY: passed on.
        unsafe { aes_fingerprint(vector(key), seed) }
    }

    #[inline(always)]
    unsafe fn digest(term: &[u8], seed: &Seed) -> (u64, u32) {
        // SAFETY: passed on.
        unsafe { aes_digest(term, seed) }
    }

    #[inline(always)]
    unsafe fn matches(bucket: &TermBucket, fingerprint: u32) -> u32 {
        // SAFETY: passed on.
        unsafe { avx_matches(bucket, fingerprint) }
    }
}
