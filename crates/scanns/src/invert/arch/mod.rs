//! What the hot loop does with vectors: keys from text, fingerprints from keys, a bucket compared at once.
//!
//! One small trait, one file per instruction set; `portable.rs` is the twin that tests compare with. Hash values
//! differ between the sets (AES rounds or multiplications) and between processes (random seeds, so that nobody
//! can craft collisions); nothing that is written depends on them.

pub(super) mod portable;
#[cfg(target_arch = "x86_64")]
pub(super) mod x86;

use super::entry::Key;
use super::table::Bucket;

/// Random values that make hashes different in every process.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(super) struct Seed(pub(super) [u64; 6]);

impl Seed {
    /// A seed from the operating system's randomness.
    pub(super) fn random() -> Seed {
        use std::hash::{BuildHasher, RandomState};
        Seed(std::array::from_fn(|i| RandomState::new().hash_one(i)))
    }
}

/// The operations of the hot loop on one instruction set.
pub(super) trait Isa {
    /// The key of `text[start..start + len]`, `len` at most 15; may read up to 16 bytes from `start` on.
    ///
    /// # Safety
    /// The machine has the instructions; `start + len <= text.len()`.
    unsafe fn short_key(text: &[u8], start: usize, len: usize) -> Key;

    /// The fingerprint of a short key; never zero.
    ///
    /// # Safety
    /// The machine has the instructions.
    unsafe fn fingerprint(key: Key, seed: &Seed) -> u32;

    /// Digest and fingerprint (never zero) of a term of at least 16 bytes.
    ///
    /// # Safety
    /// The machine has the instructions.
    unsafe fn digest(term: &[u8], seed: &Seed) -> (u64, u32);

    /// Bit `i` for each slot `i` of the bucket that has this fingerprint.
    ///
    /// # Safety
    /// The machine has the instructions.
    unsafe fn matches(bucket: &Bucket, fingerprint: u32) -> u32;
}
