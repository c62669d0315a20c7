//! Numbers documents so that similar ones are near each other.
//!
//! The gaps between the documents of a term are then shorter, and documents that score well for a query are
//! close together, so that a search can skip more blocks. `forward.rs` collects the terms of each document,
//! `bisect.rs` finds an order, and `terms.rs` writes postings in it.
//!
//! In addition to the memory of every merge, two numbers of 4 bytes are held for each document. Computing the
//! order takes about 12 bytes for each posting of the terms that are not ignored and 72 bytes for each
//! document, limited by [`Reordering::memory`]. If more would be needed, stretches of consecutive documents
//! are ordered separately. If less is needed, threads work on halves of the documents at the same time. The
//! data to be written is collected and sorted within the same limit, in several passes if necessary.

mod bisect;
mod forward;
mod settings;
mod terms;

pub(super) use forward::similar_together;
pub use settings::Reordering;
pub(super) use terms::TermsInOrder;
