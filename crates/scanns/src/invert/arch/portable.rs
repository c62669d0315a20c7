//! Plain integer code: for machines without the vector instructions, and for tests to compare with.

use super::isa::{Isa, Seed};
use crate::invert::entry::TermKey;
use crate::invert::table::TermBucket;

/// Plain integer code, for any machine.
pub(crate) struct Portable;

/// The two halves of a 64 × 64 bit product, combined.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    #[expect(clippy::cast_possible_truncation, reason = "the two halves are folded on purpose")]
    let folded = product as u64 ^ (product >> 64) as u64;
    folded
}

/// The upper half of a hash, made non-zero.
#[inline(always)]
fn upper(hash: u64) -> u32 {
    let upper = (hash >> 32) as u32;
    upper.max(1)
}

impl Isa for Portable {
    #[inline(always)]
    unsafe fn short_key(text: &[u8], start: usize, len: usize) -> TermKey {
        let Some(window) = text.get(start..start + 16).and_then(|window| window.first_chunk::<16>()) else {
            return TermKey::short(&text[start..start + len]);
        };
        let word = u128::from_le_bytes(*window) & ((1 << (8 * len)) - 1) | (len as u128) << 120;
        TermKey::from_bytes(word.to_le_bytes())
    }

    #[inline(always)]
    unsafe fn fingerprint(key: TermKey, seed: &Seed) -> u32 {
        let mixed = fold(key.0[0] ^ seed.0[0], key.0[1] ^ seed.0[1]);
        upper(fold(mixed ^ seed.0[2], seed.0[3] | 1))
    }

    #[inline(always)]
    unsafe fn digest(term: &[u8], seed: &Seed) -> (u64, u32) {
        let mut state = seed.0[4] ^ term.len() as u64;
        let mut take = |chunk: &[u8]| {
            let mut word = [0; 16];
            word[..chunk.len()].copy_from_slice(chunk);
            let TermKey([a, b]) = TermKey::from_bytes(word);
            state = fold(a ^ seed.0[0] ^ state, b ^ seed.0[1]).wrapping_add(state.rotate_left(29));
        };
        term.chunks(16).for_each(&mut take);
        let digest = fold(state ^ seed.0[2], seed.0[3] | 1);
        (digest, upper(fold(digest ^ seed.0[5], seed.0[3] | 1)))
    }

    #[inline(always)]
    unsafe fn matches(bucket: &TermBucket, fingerprint: u32) -> u32 {
        let slots = bucket.fingerprints.iter().enumerate();
        slots.fold(0, |mask, (slot, &found)| mask | u32::from(found == fingerprint) << slot)
    }
}
