//! The stored data of documents, which searching does not need: their text or its place, and their terms in
//! order.
//!
//! The block store treats the text and the vectors of documents as opaque bytes. `block.rs` packs them into
//! blocks, `codec.rs` compresses the blocks, and `queue.rs` holds them in memory until the segment is
//! written, so that nothing is written twice. `read.rs` finds a document in them, and `cache.rs` keeps what
//! was decompressed for it. `vector.rs` encodes the terms of a document, `spans.rs` stores the places of
//! lines in their files. An index thread fills `collect.rs`.
//!
//! ```text
//! blocks  = block …                                                text: section 32, vectors: section 34
//! index   = documents u32 | zero u32 | text u64 | entry …          text: section 33, vectors: section 35
//! entry   = offset u64 | first u32 | text u32 | lengths u32 | codec u8 | part u8 | order u16       24 bytes
//! ```
//!
//! An uncompressed block is `text` bytes of documents, and `lengths` bytes with their lengths as varints. The
//! lengths stand first if `order` is 1, else last, as in blocks that were written before format 5. The codec
//! is 0 (uncompressed), 1 (LZ4), or 2 (Zstandard). A block holds whole documents from number `first` on
//! (`part` is 0) or a part of one document. Then `part` is 1 in its first block and 2 in the following ones,
//! `first` is the number of the document in all of them, and only the last one has a length, the length of
//! its own text. The documents and the text in the index are the totals of all blocks.

mod block;
mod cache;
mod codec;
mod collect;
mod queue;
mod read;
mod spans;
#[cfg(test)]
mod tests;
mod vector;

pub(super) use block::{BlockPart, PackedBlock, StoredBlockEntry, StoredBlockWriter};
pub use cache::StoredCache;
pub(super) use codec::{LZ4, Unpacker, ZSTD};
pub use collect::StoredCollector;
pub(super) use read::{BlockReader, verify};
pub(super) use spans::{SpanReader, SpanWriter};
pub use vector::TermInDocument;
pub(super) use vector::decode_vector;
