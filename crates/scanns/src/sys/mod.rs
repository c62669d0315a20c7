//! The machine: memory that is reserved, huge-paged and reused; processors and their topology; direct I/O.
//!
//! All unsafe calls to the operating system are here. Nothing here knows documents or terms.

mod cpu;
mod region;
mod slab;

pub use cpu::{Simd, prefetch};
pub use region::{PageSize, Region};
pub use slab::{Plain, Slab};
