//! Numbers documents so that similar ones are near each other.
//!
//! The gaps between the documents of a term are then shorter, and documents that score well for a query are
//! close together, so that a search can skip more blocks. `forward.rs` collects the terms of each document,
//! `bisect.rs` finds an order, and `terms.rs` writes postings in it.
//!
//! In memory are, in addition to what any merge holds, two numbers of 4 bytes for each document. While the
//! order is being found, about 12 bytes for each posting of the terms that count and 72 bytes for each
//! document are added, at most [`Reordering::memory`]. If they would be more, stretches of consecutive
//! documents are put in order, each by itself. If they are less, threads work on halves of the documents at
//! the same time. The data to be written is gathered and sorted within the same bound, in several passes if
//! necessary.

mod bisect;
mod forward;
mod settings;
mod terms;

pub(super) use forward::similar_together;
pub use settings::Reordering;
pub(super) use terms::TermsInOrder;
