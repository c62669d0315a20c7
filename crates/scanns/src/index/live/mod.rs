//! An index that programs write to, document by document, from any number of threads.
//!
//! ```text
//! add, update, delete ─► lane ─► buffer in memory ─► segment ─┐
//!                        lane ─► buffer in memory ─► segment ─┼─► commit
//! ```
//!
//! The thread that adds a document also indexes it, in a lane that no other thread uses at that time. The
//! thread that fills a lane also writes it, while other threads continue. Every operation has a number; the
//! numbers order adds and deletes across lanes. A commit exchanges the buffers of all lanes for empty ones in
//! one short step. It then writes the full buffers while new operations continue in the empty ones.
//!
//! Read `index_writer.rs` first, the public interface, then `writer_core.rs`, which moves buffers from lanes
//! to commits. `lane_buffer.rs` holds the data of a lane in memory, `buffer_pool.rs` enforces the memory cap,
//! `edits.rs` applies deletes and new values to the documents that were added before them, `block.rs` adds
//! documents that become visible together, and `options.rs` contains the options and the sizes derived from
//! them.

mod block;
mod buffer_pool;
mod edits;
mod index_writer;
mod lane_buffer;
mod near;
mod options;
#[cfg(test)]
mod tests;
mod writer_core;

pub use index_writer::{Commit, IndexWriter, PreparedCommit};
pub use options::WriterOptions;
