//! An index that programs write to, document by document, from any number of threads.
//!
//! ```text
//! add, update, delete ─► lane ─► buffer in memory ─► segment ─┐
//!                        lane ─► buffer in memory ─► segment ─┼─► commit
//! ```
//!
//! The thread that adds a document also indexes it, in a lane that no other thread uses at that moment. A
//! full lane is written by the thread that filled it while the others go on. Every operation has a number;
//! the numbers order adds and deletes across lanes. A commit takes the buffers out of all lanes at one
//! moment, which takes no longer than exchanging them for empty ones, and writes them while new operations go
//! on in the empty ones.
//!
//! Read `index_writer.rs` first, the public face, then `writer_core.rs`, which moves buffers from lanes to
//! commits. `lane_buffer.rs` is what a lane has in memory, `buffer_pool.rs` keeps the memory cap, `edits.rs`
//! applies deletes and new values to the documents that were added before them, `options.rs` has the options
//! and what follows from them.

mod buffer_pool;
mod edits;
mod index_writer;
mod lane_buffer;
mod options;
#[cfg(test)]
mod tests;
mod writer_core;

pub use index_writer::{Commit, IndexWriter, PreparedCommit};
pub use options::WriterOptions;
