//! Inverts tokens into postings in memory: a term table and chains of postings, one set per index thread,
//! nothing shared.
//!
//! [`Inverter`] takes tokens as a [`TokenSink`](crate::tokenize::TokenSink). It can be searched in place, or
//! drained in term order into a segment. Read `inverter.rs` first, then `batch.rs`: the hot loop, with the
//! most frequent terms in `hot_cache.rs` before it. `table.rs` finds terms, `entry.rs` is what a term costs,
//! and `store.rs` puts both together. `chunks.rs` holds all postings of a term but the latest and
//! `postings.rs` reads them; `positions.rs` holds positions and offsets, if they are kept. `lookup.rs`
//! searches in memory. For a flush, `sort.rs` orders the terms and `drain.rs` visits them, and `open.rs`
//! carries over a document that has not ended. `arch/` has the vector code, which `dispatch.rs` chooses.

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
pub use options::{CHECK_EVERY, InvertOptions};
pub use positions::Deltas;
pub use postings::PostingsIter;

#[cfg(test)]
mod tests;
