//! One file per instruction set: 64 bytes to a membership mask or to the masks of words (`words.rs`), and a
//! mask to offsets. `choose.rs` chooses at run time.
//!
//! Every instruction set gives exactly the same result as [`scalar`]; one test suite runs over all sets of
//! the machine.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod bits;
mod choose;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
mod words;

pub(super) use bits::{LANE, WINDOW};
pub(super) use choose::{ascii_words, changes, mask};
pub(super) use words::WordSpan;
