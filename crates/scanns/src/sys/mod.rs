//! Access to the machine: reserved memory with huge pages, processors and their topology, direct I/O.
//!
//! All unsafe calls to the operating system are here. This module does not use documents or terms.
//! `region.rs` reserves memory, `slab.rs` makes arrays of it, and `block.rs` the buffers for files. `file.rs`
//! and `uring.rs` read files. `numa.rs` places threads, `priority.rs` gives way to others, `memory.rs`
//! reports the used memory and its limit, `cpu.rs` detects instruction sets, and `clock.rs` tells the time
//! and measures processor time. `helpers.rs` has threads that join in the work of other threads, and
//! `recently_used.rs` a map of bounded size.

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
mod priority;
mod recently_used;
mod region;
mod slab;
mod uring;
mod write_back;

pub use block::{BLOCK_PADDING, BlockMemory, PAGE};
pub use clock::{now, process_seconds};
pub use cpu::{Simd, in_wide_vectors, prefetch};
pub use file::{PERMISSIONS, ReadFile, ReadIdentity, is_readable, open_regular};
pub use helpers::Helpers;
pub use lease::{is_shared, lock_byte};
pub use lock::{lock, unpoisoned, wait};
pub use map::map_file;
pub use memory::{
    address_space_left, address_space_limit, memory_limit_bytes, out_of_memory, peak_resident_bytes,
    try_filled, try_reserve,
};
pub use numa::{Cpus, nodes, pin_current_thread};
pub use priority::lower_priority;
pub use recently_used::RecentlyUsed;
pub use region::{PageSize, Region};
pub use slab::{Plain, Slab};
pub use uring::Ring;
pub use write_back::start_write_back;

/// A directory for a test next to the test's program: on a disk, where direct I/O works, unlike perhaps
/// `/tmp`.
#[cfg(test)]
pub(crate) fn disk_dir() -> tempfile::TempDir {
    tempfile::tempdir_in(std::env::current_exe().unwrap().parent().unwrap()).unwrap()
}
