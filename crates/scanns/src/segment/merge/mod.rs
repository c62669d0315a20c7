//! Merges several segments into one: terms are merged in order, deleted documents are dropped, and the rest
//! is renumbered.
//!
//! Documents keep their order, those of the first source first. Blocks of postings and positions are copied
//! from sources that lost no document, see `codec/postings/carry.rs`.
//!
//! Everything streams from the sources to the new file. In memory are the norms (a byte per document of all
//! sources), a bit and a half per document of a source with deletes, the sparse index of the new segment (20
//! bytes per 64 terms), the list of the current term, and, with several threads, the pieces that have not
//! been written yet.
//!
//! `pieces.rs` shares the terms among threads, `terms.rs` steps through them in the order that
//! `tournament.rs` finds. `documents.rs` joins stored documents, `columns.rs` columns, `dictionaries.rs` the
//! dictionaries of columns.
//!
//! A merge can be given another order of the documents. It then copies no blocks; `documents_in_order.rs`
//! writes stored documents, and `reorder/` finds the order and writes terms in it.

mod columns;
mod dictionaries;
mod documents;
mod documents_in_order;
mod pieces;
mod renumber;
mod reorder;
mod similar;
mod terms;
mod tournament;
mod work;
mod write;

pub use reorder::Reordering;
pub use similar::similar_order;
pub use work::MergeWork;
pub use write::{Merged, merge};
