//! The positions of one term: where in each of its documents it stands, as differences.
//!
//! ```text
//! run    = block* tail widths entry*
//! block  = packed(deltas)       BLOCK deltas each, of one width
//! tail   = varint(delta)*       the total % BLOCK deltas that fill no block
//! widths = u8*                  one per block
//! entry  = number:u32 start:u32 skip:u8        one per block of postings but the first: 9 bytes
//! ```
//!
//! A run belongs to a list of postings: each document of it has as many deltas as the term's frequency there, in the
//! order of the list, and `total` is the sum of all frequencies. The first delta of a document is the position of the
//! first occurrence, each other the distance to the one before. Positions count the tokens of a document from 0.
//!
//! An entry says where the deltas of a block of postings begin, so that a cursor that skips to it decodes nothing of
//! what comes before: the number of the block of deltas (that of the tail is the number of blocks), its place in units of
//! [`UNIT`](super::bitpack::UNIT) bytes, and how many deltas of it belong to postings before.
//!
//! `encode.rs` writes runs, `read.rs` reads them from front to back or from an entry on, `cursor.rs` follows a cursor
//! over the postings.

mod cursor;
mod encode;
mod read;
#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "test data is small")]
mod tests;

pub use cursor::PositionCursor;
pub use encode::PositionEncoder;
pub use read::DeltaReader;

use super::bitpack::BLOCK;

/// Bytes of an entry.
const ENTRY: usize = 9;

/// Entries in the run of a list of `doc_freq` postings.
fn entries_len(doc_freq: u32) -> usize {
    (doc_freq as usize).div_ceil(BLOCK).saturating_sub(1)
}
