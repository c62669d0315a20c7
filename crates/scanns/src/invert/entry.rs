//! The dense part of the term table: one 32-byte entry per term, in order of insertion.
//!
//! An entry holds the term's key (15 bytes inline, longer terms as digest and reference), the document in
//! which the term was seen last with its frequency there so far (the append cache), and where its earlier
//! postings end. A term that was seen in one document has nothing outside its entry.

use super::chunks::has_grown;
use crate::sys::Plain;

/// The maximum length of a term that is stored in its entry.
pub(super) const INLINE: usize = 15;

/// Marks the key of a longer term, in its last byte.
const LONG: u64 = 0xff;

/// Marks the key of a longer token in a batch, so that it never equals the key of an entry.
const WAITING: u64 = 0xfe;

/// A term in 16 bytes, as little-endian words.
///
/// Up to [`INLINE`] bytes: the bytes, zeros, and the length in the last byte. So equal keys are equal terms,
/// even with zero bytes. Longer terms: a 64-bit digest, a 56-bit payload (in an entry the position of the
/// bytes in the arena, in a waiting token the position in the batch) and a mark that is not a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(16))]
pub(super) struct TermKey(pub(super) [u64; 2]);

impl TermKey {
    /// The key of a term longer than [`INLINE`].
    pub(super) fn long(digest: u64, payload: u64) -> TermKey {
        debug_assert!(payload < 1 << 56);
        TermKey([digest, payload | LONG << 56])
    }

    /// The key of a waiting token longer than [`INLINE`].
    pub(super) fn waiting(digest: u64, place: usize) -> TermKey {
        TermKey([digest, place as u64 | WAITING << 56])
    }

    /// The key of a short term; the scalar twin of the vector code in `arch`.
    pub(super) fn short(term: &[u8]) -> TermKey {
        debug_assert!(term.len() <= INLINE);
        let mut bytes = [0u8; 16];
        bytes[..term.len()].copy_from_slice(term);
        bytes[INLINE] = u8::try_from(term.len()).unwrap_or(0);
        TermKey::from_bytes(bytes)
    }

    /// The key of a short term that is padded with zeros.
    #[inline(always)]
    pub(super) fn padded(mut bytes: [u8; 16], len: u8) -> TermKey {
        bytes[INLINE] = len;
        TermKey::from_bytes(bytes)
    }

    #[inline(always)]
    pub(super) fn from_bytes(bytes: [u8; 16]) -> TermKey {
        let word = u128::from_le_bytes(bytes);
        #[expect(clippy::cast_possible_truncation, reason = "the two halves of the key")]
        TermKey([word as u64, (word >> 64) as u64])
    }

    #[inline(always)]
    pub(super) fn is_long(self) -> bool {
        self.0[1] >> 56 >= WAITING
    }

    #[inline(always)]
    pub(super) fn digest(self) -> u64 {
        self.0[0]
    }

    #[inline(always)]
    pub(super) fn payload(self) -> usize {
        (self.0[1] & ((1 << 56) - 1)) as usize
    }

    /// The [`head`](crate::codec::head) of a short key.
    #[inline(always)]
    pub(super) fn head(self) -> u128 {
        (u128::from(self.0[0].swap_bytes()) << 64 | u128::from(self.0[1].swap_bytes())) & !0xff
    }

    /// The bytes of a short key and their number.
    #[inline]
    pub(super) fn bytes(self) -> ([u8; 16], usize) {
        let bytes = (u128::from(self.0[1]) << 64 | u128::from(self.0[0])).to_le_bytes();
        (bytes, usize::from(bytes[INLINE]).min(INLINE))
    }
}

/// A term and its latest posting.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct TermEntry {
    pub(super) key: TermKey,
    /// The latest document of the term.
    pub(super) doc: u32,
    /// The frequency in this document so far.
    pub(super) term_freq: u32,
    /// The end of the earlier postings; see `chunks.rs`.
    pub(super) tail: u64,
}

impl TermEntry {
    /// True for a term that was seen often in its document, or in many documents.
    #[inline(always)]
    pub(super) fn is_frequent(&self) -> bool {
        self.term_freq >= 16 || has_grown(self.tail)
    }
}

// SAFETY: integers only, 16 + 4 + 4 + 8 bytes without padding; every bit pattern is valid.
unsafe impl Plain for TermEntry {}
