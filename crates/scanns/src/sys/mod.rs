//! The machine: memory that is reserved, huge-paged and reused; processors and their topology; direct I/O.
//!
//! All unsafe calls to the operating system are here. Nothing here knows documents or terms. `region.rs` is
//! reserved memory, `block.rs` what files are read into, `file.rs` and `uring.rs` how, `numa.rs` where
//! threads run, `memory.rs` how much was used and may be; `slab.rs` makes arrays of reserved memory, `cpu.rs`
//! knows the instructions, `clock.rs` the processor time. `helpers.rs` has threads that join in work of
//! others.

mod block;
mod clock;
mod cpu;
mod file;
mod helpers;
mod lease;
mod lock;
mod map;
mod memory;
mod numa;
mod region;
mod slab;
mod uring;
mod write_back;

pub use block::{BLOCK_PADDING, BlockMemory, PAGE};
pub use clock::process_seconds;
pub use cpu::{Simd, in_wide_vectors, prefetch};
pub use file::ReadFile;
pub use helpers::Helpers;
pub use lease::{is_shared, lock_byte};
pub use lock::{lock, unpoisoned, wait};
pub use map::map_file;
pub use memory::{memory_limit_bytes, peak_resident_bytes};
pub use numa::{Cpus, nodes, pin_current_thread};
pub use region::{PageSize, Region};
pub use slab::{Plain, Slab};
pub use uring::Ring;
pub use write_back::start_write_back;

/// A directory for a test beside the test's program: on a disk, where direct I/O works, as `/tmp` may not be.
#[cfg(test)]
pub(crate) fn disk_dir() -> tempfile::TempDir {
    tempfile::tempdir_in(std::env::current_exe().unwrap().parent().unwrap()).unwrap()
}
