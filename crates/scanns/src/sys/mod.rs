//! The machine: memory that is reserved, huge-paged and reused; processors and their topology; direct I/O.
//!
//! All unsafe calls to the operating system are here. Nothing here knows documents or terms.

mod cpu;
mod region;
mod slab;
mod write_back;

pub use cpu::{Simd, prefetch};
pub use region::{PageSize, Region};
pub use slab::{Plain, Slab};
pub use write_back::start_write_back;
