//! Named immutable files: their storage, their checksums, and the commit of a new set of files.
//!
//! [`Directory`] is the storage: on a file system ([`FsDirectory`]), in memory ([`RamDirectory`]), or in
//! memory with faults ([`FaultDirectory`]). `envelope.rs` is the outer format of every data file: identity,
//! version, sections, and checksums that `section.rs` verifies at the first access to each block. `commit.rs`
//! replaces the manifest so that a crash leaves either the old one or the new one, and `links.rs` makes a
//! second directory with the same files. `sorted_records.rs` sorts records in bounded memory, with temporary
//! files. This module does not interpret the content of files.

#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod bytes;
mod commit;
mod directory;
mod envelope;
mod fault;
mod fs;
mod links;
mod packed_records;
mod ram;
mod section;
mod sorted_records;
mod sorted_run;

pub use bytes::Bytes;
pub(crate) use commit::{
    generations, leased, manifest_name, prepare, publish, publish_prepared, read_generation, read_newest,
    sweep,
};
pub use directory::{Directory, Lease, Output, WriterLock};
pub(crate) use envelope::{Envelope, EnvelopeWriter, FileKind, Unsynced, WRITE_BUFFER};
pub use fault::{Call, CallKind, Fault, FaultDirectory};
pub use fs::FsDirectory;
pub(crate) use fs::SNAPSHOTS;
pub(crate) use links::link_directory;
pub(crate) use packed_records::{PackedRecords, RecordOrder};
pub use ram::RamDirectory;
pub(crate) use section::Section;
pub use sorted_records::SortSpace;
pub(crate) use sorted_records::{RecordCursor, RecordDoubles, RecordSorter, SortedRecords};
pub(crate) use sorted_run::temporary_file;
