//! Merges several segments into one: terms are merged in order, deleted documents are dropped, and the rest
//! is renumbered.
//!
//! Documents keep their order, starting with the first source. Blocks of postings and positions are copied
//! from sources without deletes; see `codec/postings/carry.rs`.
//!
//! All data is streamed from the sources to the new file. Memory holds the norms (a byte per document of all
//! sources), a bit and a half per document of a source with deletes, the sparse index of the new segment (20
//! bytes per 64 terms), the list of the current term, and, with several threads, the pieces that have not
//! been written yet.
//!
//! `pieces.rs` divides the terms among threads, `terms.rs` steps through them in the order that
//! `tournament.rs` determines. `documents.rs` joins stored documents, `columns.rs` columns, and
//! `dictionaries.rs` the dictionaries of columns.
//!
//! A merge can use another order of the documents. It then copies no blocks; `documents_in_order.rs` writes
//! stored documents, and `reorder/` writes terms in it and computes the order in which similar documents are
//! near each other. `path_order.rs` computes the order of directories. `relocate.rs` writes documents under
//! other keys.

mod columns;
mod dictionaries;
mod documents;
mod documents_in_order;
mod path_order;
mod pieces;
mod relocate;
mod renumber;
mod reorder;
mod similar;
mod terms;
mod tournament;
mod work;
mod write;

pub use path_order::path_order;
pub use relocate::{RelocatedDocuments, relocate};
pub use reorder::Reordering;
pub use similar::similar_order;
pub use work::MergeWork;
pub use write::{Merged, merge};
