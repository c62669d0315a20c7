//! The keys of documents: paths of files, and lines in them.
//!
//! ```text
//! paths  = path …                                  a section of its own, as are the next three
//! path   = shared varint | length varint | bytes   front-coded, afresh every 32 paths
//! places = offset of the block u64 …               per 32 paths
//! hashes = (hash u32 | path) …                     upper half of the xxh3-64 of each path, ascending, then
//!                                                  by path: the fewest bytes that hold the largest
//! keys   = kind u32 | paths u32 | field u64 | run …                            the field of kind 3, else 0
//! kind   = 0: document d is path d, 1: runs of documents, 2: runs of places,
//!          3: document d is path d, which is its value in a column
//! run    = first document u32 | path u32 | first line u64        kinds 1 and 2, ascending by document
//! order  = place of each document, all of the fewest bytes that hold the largest          kind 2 only
//! ```
//!
//! The stamps of the files, as indexed, are two columns: size and time of modification. If all are 0, they
//! are empty.
//!
//! Kind 3 has neither `paths` nor `places`. Entries of file systems have a column of paths, which takes a
//! third of the space, so nothing is stored twice.
//!
//! The documents of a run are consecutive lines of its path. A run whose first line is 0 is one document, the
//! whole file. So lines take almost no space, and a merge can join files and lines. If a merge has reordered
//! the documents, runs are runs of places, and each document has a place; later merges keep places as long as
//! they take less space than a run for each line.
//!
//! `format.rs` defines the types and sizes, `write.rs` writes the sections, `read.rs` finds keys and
//! documents in them, `paths.rs` reads paths, `stamps.rs` writes and reads stamps, `places.rs` maps documents
//! to places. `merge.rs` joins the keys of several segments, and `merge_in_order.rs` does so in another
//! order.

mod format;
mod merge;
mod merge_in_order;
mod paths;
mod places;
mod read;
mod stamps;
#[cfg(test)]
mod tests;
mod write;

pub(super) use format::WHOLE_FILE;
pub use format::{KeyRun, Keys, PathHash, PathsInColumn};
pub(super) use merge::{KeySource, merge};
pub(super) use merge_in_order::{bytes_in_order, merge_in_order};
pub(super) use paths::StoredPathCursor;
pub(super) use read::KeyReader;
pub(super) use stamps::Stamps;
pub(super) use write::write;
