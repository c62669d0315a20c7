//! The operations of the hot loop that are implemented for each instruction set.

use crate::invert::entry::TermKey;
use crate::invert::table::TermBucket;

/// Random values that make hashes differ in every process.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(in crate::invert) struct Seed(pub(super) [u64; 6]);

impl Seed {
    /// Returns a random seed from the operating system.
    pub(in crate::invert) fn random() -> Seed {
        use std::hash::{BuildHasher, RandomState};
        Seed(std::array::from_fn(|i| RandomState::new().hash_one(i)))
    }
}

/// The operations of the hot loop on one instruction set.
pub(in crate::invert) trait Isa {
    /// The key of `text[start..start + len]`, `len` at most 15; may read up to 16 bytes from `start` on.
    ///
    /// # Safety
    /// The machine has the instructions; `start + len <= text.len()`.
    unsafe fn short_key(text: &[u8], start: usize, len: usize) -> TermKey;

    /// The fingerprint of a short key; never zero.
    ///
    /// # Safety
    /// The machine has the instructions.
    unsafe fn fingerprint(key: TermKey, seed: &Seed) -> u32;

    /// The digest and the fingerprint (never zero) of a term of at least 16 bytes.
    ///
    /// # Safety
    /// The machine has the instructions.
    unsafe fn digest(term: &[u8], seed: &Seed) -> (u64, u32);

    /// The slots of a bucket that have this fingerprint: bit `i` for slot `i`.
    ///
    /// # Safety
    /// The machine has the instructions.
    unsafe fn matches(bucket: &TermBucket, fingerprint: u32) -> u32;
}
