//! One immutable segment: the documents of an index thread, written as one file in one pass.
//!
//! The input is inverters, keys, stored text and columns. The output is terms, postings, norms, keys, texts
//! and column values by document number. Start with `reader.rs`, whose [`Segment`] gives access to an open
//! segment, and with `flush.rs`, which writes one. `merge/` joins several segments into one and `check/`
//! verifies a segment.
//!
//! A segment file is an envelope of sections, which are numbered in `layout.rs`. `terms/` stores terms and
//! postings next to each other, because one sequential write cannot fill two sections at the same time and a
//! query needs both from the same place. `keys/` holds the names of documents, `stored/` their text and
//! vectors, `columns.rs` their typed values, `stats.rs` the figures. Changes after a segment was written are
//! in separate files: `deletes.rs` and `updates.rs`. A view of a segment (`shown.rs`) shows some of its
//! documents.
//!
//! The files depend on each other in this order: `layout`, `stats`, `progress`, `renumbering`, `order`; then
//! `terms`, `columns`, `keys`, `stored`, `deletes`, `updates`, `visible`; then `reader` and its extensions in
//! `positions`, `documents`, `key_field`, `lengths`, `shown` and `shown_columns`; then `known_paths`,
//! `flush`, `merge` and `check`.

#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod check;
mod columns;
mod deletes;
mod doc_bits;
mod documents;
mod double_paths;
mod flush;
mod key_field;
mod keys;
mod known_paths;
mod layout;
mod lengths;
mod live;
mod merge;
mod order;
mod positions;
mod progress;
mod reader;
mod renumbering;
mod shown;
mod shown_columns;
mod stats;
mod stored;
mod terms;
#[cfg(test)]
mod tests;
mod updates;
mod visible;

pub use check::CheckLevel;
pub use doc_bits::DocBits;
pub(crate) use doc_bits::has_bit;
pub use documents::{Reference, StoredFigures};
pub use double_paths::{DoublePaths, double_paths};
pub use flush::{FLUSH_BYTES, FlushBuffers, Flushed, SegmentContents, flush};
pub use key_field::DocumentOrigin;
pub use keys::{KeyRun, Keys, PathHash, PathsInColumn};
pub use known_paths::{KnownPath, KnownPathCursor, KnownPaths};
pub use layout::{SEGMENT, deletes_file_name, file_name, is_file_name, is_of_segment, updates_file_name};
pub use merge::{
    MergeWork, Merged, RelocatedDocuments, Reordering, merge, path_order, relocate, similar_order,
};
pub use order::DocumentOrder;
pub use progress::MergeProgress;
pub use reader::Segment;
pub use stats::{FieldStats, SegmentStats};
pub use stored::{StoredCache, StoredCollector, TermInDocument};
pub use terms::{TermBlocks, TermInfo, TermPositions, TermsIter, TermsWalk};
pub use updates::{Changes, Updates};
pub use visible::VisibleDocs;
