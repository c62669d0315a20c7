//! Inverts tokens into postings in memory. Each index thread has its own term table and chains of postings,
//! and shares nothing.
//!
//! [`Inverter`] takes tokens as a [`TokenSink`](crate::tokenize::TokenSink). It can be searched in place, or
//! drained in term order into a segment. Read `inverter.rs` first, then `batch.rs`: the hot loop, with the
//! most frequent terms in `hot_cache.rs` before it. `table.rs` finds terms, `entry.rs` stores them, and
//! `store.rs` combines both. `chunks.rs` stores all postings of a term but the latest, and `postings.rs`
//! reads them; `positions.rs` stores positions and offsets. `lookup.rs` searches in memory. For a flush,
//! `sort.rs` orders the terms and `drain.rs` visits them, and `open.rs` carries over an open document.
//! `arch/` has the vector code, which `dispatch.rs` chooses.

mod arch;
mod batch;
mod chunks;
mod dispatch;
mod drain;
mod entry;
mod hot_cache;
mod inverter;
mod lookup;
mod open;
mod options;
mod positions;
mod postings;
mod sort;
mod store;
mod table;

pub use inverter::Inverter;
pub(crate) use inverter::reserved_bytes;
pub use options::{CHECK_EVERY, InvertOptions};
pub use positions::Deltas;
pub use postings::PostingsIter;

#[cfg(test)]
mod tests;
