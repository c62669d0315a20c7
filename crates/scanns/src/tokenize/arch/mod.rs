//! One file per instruction set: 64 bytes to a membership mask, and a mask to offsets. Chosen at run time, here.
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

/// Bytes that one mask covers.
pub(super) const LANE: usize = 64;

/// The instruction sets that the hot loops are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simd {
    /// Plain integer code, on every machine.
    Scalar,
    /// x86-64 with AVX2, BMI and AES instructions.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// x86-64 with AVX-512 BW, VL and VBMI2, BMI and AES instructions.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// aarch64 with NEON, which all of them have.
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Simd {
    /// The best set of this machine.
    pub fn detect() -> Simd {
        Simd::available().pop().unwrap_or(Simd::Scalar)
    }

    /// All sets of this machine, the best last.
    pub fn available() -> Vec<Simd> {
        let mut sets = vec![Simd::Scalar];
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            let base = is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("popcnt")
                && is_x86_feature_detected!("aes");
            if base && is_x86_feature_detected!("avx2") {
                sets.push(Simd::Avx2);
            }
            if base
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vbmi2")
            {
                sets.push(Simd::Avx512);
            }
        }
        #[cfg(all(target_arch = "aarch64", not(miri)))]
        sets.push(Simd::Neon);
        sets
    }
}

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
