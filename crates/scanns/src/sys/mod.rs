//! The machine: memory that is reserved, huge-paged and reused; processors and their topology; direct I/O.
//!
//! All unsafe calls to the operating system are here. Nothing here knows documents or terms.

mod region;

pub use region::{PageSize, Region};
