//! NEON: table look-ups of 16 bytes, masks gathered by pairwise additions.

use std::arch::aarch64::*;

use super::bits::{LANE, edges, spread};
use super::words::{WordLanes, WordMasks, WordSpan, WordsFound, ascii_words};
use crate::tokenize::byteset::ByteSet;

/// One bit per byte of a vector whose bytes are 0 or 255.
#[inline]
fn gather(parts: [uint8x16_t; 4]) -> u64 {
    const BIT: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: NEON is part of the aarch64 base; the load reads 16 bytes of a constant.
    unsafe {
        let bit = vld1q_u8(BIT.as_ptr());
        let [a, b, c, d] = parts.map(|part| vandq_u8(part, bit));
        let sum = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)))
    }
}

#[inline]
fn mask64(set: &ByteSet, bytes: &[u8; LANE]) -> u64 {
    const BIT: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: NEON is part of the aarch64 base; every load reads 16 bytes inside its array.
    unsafe {
        let rows = [vld1q_u8(set.rows[0].as_ptr()), vld1q_u8(set.rows[1].as_ptr())];
        let bits = vld1q_u8(BIT.as_ptr());
        let part = |at: usize| {
            let text = vld1q_u8(bytes.as_ptr().add(at));
            let low = vandq_u8(text, vdupq_n_u8(15));
            let other = vcltzq_s8(vreinterpretq_s8_u8(text));
            let row = vbslq_u8(other, vqtbl1q_u8(rows[1], low), vqtbl1q_u8(rows[0], low));
            vtstq_u8(row, vqtbl1q_u8(bits, vshrq_n_u8::<4>(text)))
        };
        gather([part(0), part(16), part(32), part(48)])
    }
}

/// Implements [`super::choose::mask`].
pub(super) fn mask(set: &ByteSet, bytes: &[u8]) -> u64 {
    if let Ok(whole) = bytes.try_into() {
        return mask64(set, whole);
    }
    let mut lane = [0; LANE];
    lane[..bytes.len()].copy_from_slice(bytes);
    mask64(set, &lane) & ((1 << bytes.len()) - 1)
}

/// Implements [`super::choose::changes`].
pub(super) fn changes(set: &ByteSet, bytes: &[u8], out: &mut [u16]) -> usize {
    let (mut count, mut before, mut base) = (0, 0, 0u16);
    for lane in bytes.chunks(LANE) {
        let valid = if lane.len() == LANE { u64::MAX } else { (1 << lane.len()) - 1 };
        count = spread(edges(mask(set, lane), &mut before) & valid, base, out, count);
        base = base.wrapping_add(64);
    }
    count
}

/// Implements [`super::choose::ascii_words`].
pub(super) fn words(text: &mut [u8], span: WordSpan, out: &mut [u16], count: usize) -> WordsFound {
    // SAFETY: NEON is part of the aarch64 base.
    unsafe { ascii_words::<NeonLanes>(text, span, out, count) }
}

struct NeonLanes;

impl WordLanes for NeonLanes {
    #[inline]
    unsafe fn classify(lane: &mut [u8; LANE]) -> WordMasks {
        // SAFETY: NEON is part of the aarch64 base; loads and stores are 16 bytes inside the lane.
        unsafe {
            let part = |at: usize| vld1q_u8(lane.as_ptr().add(at));
            let parts = [part(0), part(16), part(32), part(48)];
            let within =
                |bytes, first: u8, count: u8| vcltq_u8(vsubq_u8(bytes, vdupq_n_u8(first)), vdupq_n_u8(count));
            let is = |bytes, byte: u8| vceqq_u8(bytes, vdupq_n_u8(byte));
            let lowered =
                parts.map(|bytes| vorrq_u8(bytes, vandq_u8(within(bytes, b'A', 26), vdupq_n_u8(0x20))));
            for (i, bytes) in lowered.into_iter().enumerate() {
                vst1q_u8(lane.as_mut_ptr().add(16 * i), bytes);
            }
            WordMasks {
                letters: gather(lowered.map(|bytes| within(bytes, b'a', 26))),
                digits: gather(parts.map(|bytes| within(bytes, b'0', 10))),
                connectors: gather(parts.map(|bytes| is(bytes, b'_'))),
                colons: gather(parts.map(|bytes| is(bytes, b':'))),
                commas: gather(parts.map(|bytes| vorrq_u8(is(bytes, b','), is(bytes, b';')))),
                points: gather(parts.map(|bytes| vorrq_u8(is(bytes, b'.'), is(bytes, b'\'')))),
                foreign: gather(parts.map(|bytes| vcltzq_s8(vreinterpretq_s8_u8(bytes)))),
            }
        }
    }

    #[inline]
    unsafe fn spread(edges: u64, base: u16, out: &mut [u16], count: usize) -> usize {
        spread(edges, base, out, count)
    }
}
