//! One immutable segment: the documents that an index thread had in memory, written as one file in one pass.
//!
//! What comes in are inverters, keys, stored text and columns; what goes out are terms, postings, norms,
//! keys, texts and column values by document number. Start with `reader.rs`, whose [`Segment`] answers every
//! question about an open segment, and with `flush.rs`, which writes one. `merge/` joins several segments
//! into one and `check/` verifies all of a segment.
//!
//! A segment file is an envelope of sections, which are numbered in `layout.rs`. `terms/` holds terms and
//! postings side by side, because one sequential write cannot fill two sections at once and a query wants
//! both from the same place. `keys/` holds the names of documents, `stored/` their text and vectors,
//! `columns.rs` their typed values, `stats.rs` the figures. What changes after a segment was written is in
//! files beside it: `deletes.rs` and `updates.rs`.
//!
//! The files build on each other in this order: `layout`, `stats`, `progress`, `renumbering`, `order`; then
//! `terms`, `keys`, `stored`, `columns`, `deletes`, `updates`; then `reader` and what it is extended by in
//! `positions` and `documents`; then `known_paths`, `flush`, `merge` and `check`.

#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod check;
mod columns;
mod deletes;
mod documents;
mod flush;
mod keys;
mod known_paths;
mod layout;
mod merge;
mod order;
mod positions;
mod progress;
mod reader;
mod renumbering;
mod stats;
mod stored;
mod terms;
#[cfg(test)]
mod tests;
mod updates;

pub use check::CheckLevel;
pub use documents::{Reference, StoredFigures};
pub use flush::{FLUSH_BYTES, FlushBuffers, Flushed, SegmentContents, flush};
pub use keys::{KeyRun, Keys};
pub use known_paths::KnownPaths;
pub use layout::{SEGMENT, deletes_file_name, file_name, is_file_name, is_of_segment, updates_file_name};
pub use merge::{MergeWork, Merged, Reordering, merge, similar_order};
pub use order::DocumentOrder;
pub use progress::MergeProgress;
pub use reader::Segment;
pub use stats::{FieldStats, SegmentStats};
pub use stored::{StoredCollector, TermInDocument};
pub use terms::{TermInfo, TermPositions, TermsIter, TermsWalk};
pub use updates::{Changes, Updates};
