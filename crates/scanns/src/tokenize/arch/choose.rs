//! Chooses the code of an instruction set at run time.

use super::bits::{LANE, WINDOW};
#[cfg(target_arch = "aarch64")]
use super::neon;
use super::scalar;
use super::words::{WordSpan, WordsFound};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::sys::Simd;
use crate::tokenize::byteset::ByteSet;

/// Finds the positions in the bytes of one window where membership of the set changes.
///
/// `bytes` is at most [`WINDOW`] long; `out` has room for that many offsets and [`LANE`] more. The state
/// before the first byte is "outside"; a run that reaches the end of `bytes` is not closed. Returns the
/// number of offsets written.
pub(in crate::tokenize) fn changes(simd: Simd, set: &ByteSet, bytes: &[u8], out: &mut [u16]) -> usize {
    assert!(out.len() >= bytes.len() + LANE && bytes.len() <= WINDOW);
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
pub(in crate::tokenize) fn mask(simd: Simd, set: &ByteSet, bytes: &[u8]) -> u64 {
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

/// Lower-cases the ASCII text of a span, and appends the starts and ends of its words to `out[count..]`, up
/// to the first byte that is not ASCII. Of that byte's lane, words before it are given, which may go on in
/// it.
///
/// `out` has room for two spans of offsets and [`LANE`] more, and the span is at most [`WINDOW`] long.
pub(in crate::tokenize) fn ascii_words(
    simd: Simd,
    text: &mut [u8],
    span: WordSpan,
    out: &mut [u16],
    count: usize,
) -> WordsFound {
    assert!(span.base <= span.from && span.stop <= span.end && span.end <= text.len());
    assert!(span.stop - span.base <= WINDOW);
    match simd {
        Simd::Scalar => scalar::words(text, span, out, count),
        // SAFETY: `Simd::available` gave this value only after the features were detected.
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 => unsafe { avx2::words(text, span, out, count) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512 => unsafe { avx512::words(text, span, out, count) },
        #[cfg(target_arch = "aarch64")]
        Simd::Neon => neon::words(text, span, out, count),
    }
}
