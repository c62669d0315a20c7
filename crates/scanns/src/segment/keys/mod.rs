//! What the documents of a segment are called: paths, and lines of them.
//!
//! ```text
//! paths  = path …                                  a section of its own, as are the next four
//! path   = shared varint | length varint | bytes   front-coded, afresh every 16 paths
//! places = offset of the block u64 …               per 16 paths
//! stamps = (size u64 | modified i64) …             of each path: what the file was like when it was indexed; none if all are 0
//! hashes = (hash u64 | path u32) …                 xxh3-64 of each path, ascending, then by path
//! keys   = kind u32 (0: document d is path d, 1: runs say, 2: runs say of places) | paths u32 | zero u64 | run …
//! run    = first document u32 | path u32 | first line u64        kinds 1 and 2, ascending by document
//! order  = place of each document, all of the fewest bytes that hold the largest          kind 2 only
//! ```
//!
//! The documents of a run are consecutive lines of its path; a run whose first line is 0 is one document, the whole
//! file. So lines cost next to nothing, and a merge can bring files and lines together. Where a merge has put documents in
//! another order, runs are those of places, and each document has one; later merges keep that where it takes less than
//! runs of a line each. `write.rs` writes the sections, `read.rs` finds names
//! and documents in them, `order.rs` by place, `merge.rs` joins those of several segments, `reorder.rs` puts them in another
//! order.

use crate::source::Stamp;

mod known;
mod merge;
mod order;
mod read;
mod reorder;
mod write;

pub use known::KnownPaths;
pub(super) use merge::merge;
pub(super) use read::KeyReader;
pub(super) use reorder::{bytes_in_order, reorder};
pub(super) use write::write;

/// Paths per front-coded block.
const BLOCK: usize = 16;
/// Bytes before the first run.
const HEAD: usize = 16;
/// Bytes of a run.
const RUN: usize = 16;
/// Bytes of an entry of the hashes.
const HASH: usize = 12;
/// Bytes of a stamp.
const STAMP: usize = 16;

/// The first line of a run that is a whole file.
pub(super) const WHOLE_FILE: u64 = 0;

/// Documents whose keys are consecutive lines of one file, or one document that is a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRun {
    /// The first of the documents; they reach to the next run.
    pub first_doc: u32,
    /// Index of the path.
    pub path: u32,
    /// The line, counted from 1, that the first document is; 0 if the document is the file.
    pub first_line: u64,
}

/// The keys of a segment to be written.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// Paths as bytes, in order of first use.
    pub paths: Vec<Vec<u8>>,
    /// What each of their files was like: as many, or none if they are no files.
    pub stamps: Vec<Stamp>,
    /// Where documents are lines: which lines. `None` if document `d` is the file `paths[d]`.
    pub runs: Option<Vec<KeyRun>>,
}

/// The hash under which a path is found.
fn hash(path: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(path)
}
