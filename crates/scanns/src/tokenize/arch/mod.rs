//! One file per instruction set: 64 bytes to a membership mask, and a mask to offsets. `choose.rs` chooses at
//! run time.
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

pub(super) use bits::{LANE, WINDOW, spread};
pub(super) use choose::{changes, mask};
