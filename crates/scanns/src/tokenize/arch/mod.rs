//! One file per instruction set: 64 bytes to a membership mask, and a mask to offsets. Chosen at run time, here
//! for the loops of this room and in [`Simd`] for all.
//!
//! Every set gives bit for bit what [`scalar`] gives; one test suite runs over all that the machine has.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;

use super::byteset::ByteSet;
use crate::sys::Simd;

/// Bytes that one mask covers.
pub(super) const LANE: usize = 64;

/// Turns the bytes of one window into the places where membership changes.
///
/// `bytes` is at most [`super::window::WINDOW`] long; `out` has room for that many offsets and [`LANE`] more. The
/// state before the first byte is "outside"; a run that reaches the end of `bytes` is not closed. Returns the
/// number of offsets written.
pub(super) fn changes(simd: Simd, set: &ByteSet, bytes: &[u8], out: &mut [u16]) -> usize {
    assert!(out.len() >= bytes.len() + LANE && bytes.len() <= super::window::WINDOW);
    match simd {
        Simd::Scalar => scalar::changes(set, bytes, out),
        // SAFETY: `Simd::available` gave this value only after the features were detected.
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 => unsafe { avx2::changes(set, bytes, out) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512 => unsafe { avx512::changes(set, bytes, out) },
        #[cfg(target_arch = "aarch64")]
        Simd::Neon => neon::changes(set, bytes, out),
    }
}

/// The membership mask of up to 64 bytes: bit `i` for `bytes[i]`.
pub(super) fn mask(simd: Simd, set: &ByteSet, bytes: &[u8]) -> u64 {
    assert!(bytes.len() <= LANE);
    match simd {
        Simd::Scalar => scalar::mask(set, bytes),
        // SAFETY: `Simd::available` gave this value only after the features were detected.
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 => unsafe { avx2::mask(set, bytes) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512 => unsafe { avx512::mask(set, bytes) },
        #[cfg(target_arch = "aarch64")]
        Simd::Neon => neon::mask(set, bytes),
    }
}

/// How far ahead text is fetched: the machine does it by itself, but stops at the end of each page of 4 KiB.
///
/// On text beyond the caches, 256 MiB of a metadata dump: 4,220 MiB/s without, 6,040 with 1 KiB, 7,260 with 2 KiB,
/// 7,760 with 4 KiB (Sapphire Rapids, `scanns-bench tokenizer`).
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 4096;

/// Has the text that comes [`AHEAD`] of `lane` brought closer; it may lie outside of any text.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn fetch_ahead(lane: &[u8]) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch reads nothing that a program could see and does not fault, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(lane.as_ptr().wrapping_add(AHEAD).cast()) };
}

/// The bits at which a run of ones starts or the bit after it ends, given whether the bit before was set.
#[inline(always)]
fn edges(mask: u64, before: &mut u64) -> u64 {
    let edges = mask ^ (mask << 1 | *before);
    *before = mask >> 63;
    edges
}

/// Appends the positions of the ones of `edges`, `base` added, at `out[count..]`.
#[inline(always)]
pub(super) fn spread(mut edges: u64, base: u16, out: &mut [u16], count: usize) -> usize {
    let found = edges.count_ones() as usize;
    for slot in &mut out[count..count + found] {
        #[expect(clippy::cast_possible_truncation, reason = "a bit position is below 64")]
        let bit = edges.trailing_zeros() as u16;
        *slot = base + bit;
        edges &= edges - 1;
    }
    count + found
}
