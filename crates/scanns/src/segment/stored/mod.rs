//! What is kept of documents beside what searching needs: their text, or where it is, and their terms in order.
//!
//! Documents are opaque bytes to the block store: `block.rs` packs them into compressed blocks, `codec.rs` compresses
//! those, `arena.rs` holds them until the segment is written, so that nothing is written twice, `read.rs` finds a document
//! in them. `merge.rs` carries whole blocks over as they are, `reorder.rs` packs them anew in another
//! order. Both the text and the vectors of documents are kept so.
//! `vector.rs` says what the bytes of a vector are, `spans.rs` keeps where lines are in their files. `collect.rs` is
//! what an index thread fills, `segment.rs` what a reader of a segment asks, `check.rs` proves it.
//!
//! ```text
//! blocks  = block …                                                text: section 32, vectors: section 34
//! index   = documents u32 | zero u32 | text u64 | entry …          text: section 33, vectors: section 35
//! entry   = offset u64 | first u32 | text u32 | lengths u32 | codec u8 | part u8 | zero u16        24 bytes
//! ```
//!
//! A block unpacks to `text` bytes of documents, and then their lengths as varints, `lengths` bytes in all; its codec is 0
//! (as they are), 1 (LZ4), or 2 (Zstandard). It holds whole documents from number `first` on, or a part of one: then
//! `part` is 1 for the first, 2 for others, each has the number of the document as its `first`, and only the last of
//! them has a length, that of its own text. Documents and text of the index are those of all blocks.

mod arena;
mod block;
mod check;
mod codec;
mod collect;
mod merge;
mod read;
mod reorder;
mod segment;
mod spans;
#[cfg(test)]
mod tests;
mod vector;

pub use collect::Collector;
pub use segment::{Reference, StoredFigures};
pub use vector::TermInDocument;

pub(super) use merge::merge;
pub(super) use reorder::{bytes_in_order, reorder};
pub(super) use segment::verify;

use crate::error::Result;
use crate::store::EnvelopeWriter;

/// Sections of the text of documents: blocks, and their index.
const TEXT: Sections = Sections { blocks: 32, index: 33, what: "stored documents" };
/// Sections of the vectors of documents.
const VECTORS: Sections = Sections { blocks: 34, index: 35, what: "document vectors" };
/// Sections of where documents are: see `spans.rs`.
const SPANS: u32 = 36;
const SPAN_PLACES: u32 = 37;

/// Where a block store is in a file.
#[derive(Clone, Copy, Debug)]
struct Sections {
    blocks: u32,
    index: u32,
    what: &'static str,
}

/// Takes blocks one after the other.
trait BlockSink {
    fn take(&mut self, block: &[u8]) -> Result<()>;
}

impl BlockSink for EnvelopeWriter {
    fn take(&mut self, block: &[u8]) -> Result<()> {
        self.write(block)
    }
}
