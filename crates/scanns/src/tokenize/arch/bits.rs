//! Code that all instruction sets share: masks of 64 bytes, and the positions of their bits.

/// The number of bytes that one mask covers.
pub(in crate::tokenize) const LANE: usize = 64;

/// The number of bytes of text per window.
pub(in crate::tokenize) const WINDOW: usize = 4096;

/// The distance of the prefetch, in bytes. The processor prefetches on its own, but stops at the end of each
/// page of 4 KiB.
///
/// On text larger than the caches, 256 MiB of a metadata dump: 4,220 MiB/s without, 6,040 with 1 KiB, 7,260
/// with 2 KiB, 7,760 with 4 KiB (Sapphire Rapids, `scanns-bench tokenizer`).
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 4096;

/// Prefetches the bytes [`AHEAD`] of `lane`, which may lie outside of any text.
#[inline(always)]
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "other processors fetch enough"))]
pub(super) fn fetch_ahead(lane: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch has no visible effect and does not fault, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(lane.as_ptr().wrapping_add(AHEAD).cast()) };
    }
}

/// Marks the bits where a run of ones starts, and the bits after its end; `before` is the bit before the
/// mask.
#[inline(always)]
pub(super) fn edges(mask: u64, before: &mut u64) -> u64 {
    let edges = mask ^ (mask << 1 | *before);
    *before = mask >> 63;
    edges
}

/// Writes the positions of the ones of `edges`, plus `base`, to `out[count..]`; returns the new count.
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
