//! The vector operations of the hot loop: keys from text, fingerprints from keys, a bucket compared at once.
//!
//! One small trait (`isa.rs`), one file per instruction set; `portable.rs` is the scalar version that tests
//! compare with. Hash values differ between instruction sets (AES rounds or multiplications) and between
//! processes (random seeds, so that nobody can craft collisions); no file depends on them.

mod isa;
pub(super) mod portable;
#[cfg(target_arch = "x86_64")]
pub(super) mod x86;

pub(super) use isa::{Isa, Seed};
