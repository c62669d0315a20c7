//! Named immutable files: where they live, how they are checked, how a new set of them becomes the current
//! one.
//!
//! [`Directory`] is the storage, on a file system ([`FsDirectory`]), in memory ([`RamDirectory`]), or in
//! memory with faults ([`FaultDirectory`]). `envelope.rs`
//! is what every data file is wrapped in: identity, version, sections, and checksums that `section.rs`
//! verifies at the first touch of each block. `commit.rs` swaps in a new manifest so that a crash leaves the
//! old one or the new one. What the bytes mean is not known here.

#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod bytes;
mod commit;
mod directory;
mod envelope;
mod fault;
mod fs;
mod ram;
mod section;

pub use bytes::Bytes;
pub(crate) use commit::{
    generations, leased, prepare, publish, publish_prepared, read_generation, read_newest, sweep,
};
pub use directory::{Directory, Lease, Output, WriterLock};
pub(crate) use envelope::{Envelope, EnvelopeWriter, FileKind, Unsynced, WRITE_BUFFER};
pub use fault::{Call, CallKind, Fault, FaultDirectory};
pub use fs::FsDirectory;
pub use ram::RamDirectory;
pub(crate) use section::Section;
