//! Runs of keys, and the sizes of the elements of the sections.

use crate::schema::Field;
use crate::source::Stamp;

/// Paths per front-coded block.
pub(super) const BLOCK: usize = 32;
/// Bytes before the first run.
pub(super) const HEAD: usize = 16;
/// Bytes of a run.
pub(super) const RUN: usize = 16;
/// Bytes of the hash in an entry of the hashes.
pub(super) const HASH: usize = 4;

/// The first line of a run that is a whole file.
pub(in crate::segment) const WHOLE_FILE: u64 = 0;

/// How documents are mapped to paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    /// Document `d` is the file with path `d`.
    Files = 0,
    /// Documents are in the order of the runs.
    Runs = 1,
    /// Each document has a place among the runs.
    Places = 2,
    /// Document `d` is the file with path `d`, and the paths are in a column.
    Column = 3,
}

impl KeyKind {
    /// The kind with a number.
    pub(super) fn of(number: u32) -> Option<Self> {
        [KeyKind::Files, KeyKind::Runs, KeyKind::Places, KeyKind::Column]
            .into_iter()
            .find(|kind| *kind as u32 == number)
    }
}

/// Documents whose keys are consecutive lines of one file, or one document that is a whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRun {
    /// The first of the documents; the last is before the next run.
    pub first_doc: u32,
    /// Index of the path.
    pub path: u32,
    /// The line of the first document, counted from 1; 0 if the document is the whole file.
    pub first_line: u64,
}

/// Paths that a column of the segment has.
#[derive(Clone, Debug)]
pub struct PathsInColumn {
    /// The field of the column.
    pub field: Field,
    /// The hash of each path.
    pub hashes: Vec<PathHash>,
}

/// A hash of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathHash(pub(super) u32);

impl PathHash {
    /// Hashes a path.
    pub fn of(path: &[u8]) -> Self {
        PathHash(hash(path))
    }
}

/// The keys of a segment to be written.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// Paths as bytes, in order of first use; none if they are in a column.
    pub paths: Vec<Vec<u8>>,
    /// The column that has the path of document `d` as its only value.
    pub column: Option<PathsInColumn>,
    /// The stamp of each path; empty if the paths are not files.
    pub stamps: Vec<Stamp>,
    /// The lines that documents are. `None` if document `d` is the file `paths[d]`.
    pub runs: Option<Vec<KeyRun>>,
}

/// The hash that is used to find a path: the upper half of its xxh3-64.
pub(super) fn hash(path: &[u8]) -> u32 {
    u32::try_from(xxhash_rust::xxh3::xxh3_64(path) >> 32).unwrap_or(u32::MAX)
}

/// Bytes of a number below `count`.
pub(super) fn width_of(count: usize) -> usize {
    let bits = usize::BITS - count.saturating_sub(1).leading_zeros();
    (bits.div_ceil(8) as usize).max(1)
}
