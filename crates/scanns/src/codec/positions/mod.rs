//! The positions of one term: where in each of its documents it stands, as differences; and its offsets,
//! where those are kept.
//!
//! ```text
//! run    = delta*                       of fewer than BLOCK: varints
//!        | block* tail widths entry* widths:u32 entries:u32 tail:u8
//! block  = packed(deltas)               BLOCK deltas, of one width
//!        | delta* padding               fewer deltas: a loose block, in whole units
//! tail   = delta*                       the deltas that fill no block
//! delta  = varint(delta)
//! widths = width:u8                     per block
//!        | LOOSE + units:u8 deltas:u8   of a loose block
//! entry  = number:u32 start:u32 skip:u8        one per block of postings but the first: 9 bytes
//! ```
//!
//! A run belongs to a list of postings: each document of it has as many deltas as the term's frequency there,
//! in the order of the list, and `total` is the sum of all frequencies. The first delta of a document is the
//! position of the first occurrence, each other the distance to the one before. Positions count the tokens of
//! a document from 0. Behind the entries stand the bytes of widths, the number of entries and that of deltas
//! in the tail.
//!
//! With offsets there are three numbers for each delta: that of its position; that of its start, in bytes
//! from the start of the text; and by how much its length there exceeds the term's, in zigzag form, mostly 0.
//! They stay together:
//!
//! ```text
//! block  = packed(deltas) packed(starts) packed(extras)   each of a width of its own
//! delta  = varint(delta) varint(start << 1 | (extra != 0)) varint(extra)?   in a loose block and in the tail
//! widths = width:u8 width:u8 width:u8                    per block that is packed
//! ```
//!
//! So a run goes out as it grows, of all three; one table leads into it; and a reader of positions alone
//! passes by the rest.
//!
//! A merge copies the blocks of a run as they are; what the run before them left is then a loose block
//! between others.
//!
//! An entry says where the deltas of a block of postings begin, so that a cursor that skips to it decodes
//! nothing of what comes before: which byte of the widths belongs to the block of deltas (all of them for the
//! tail), its place in units of [`UNIT`](super::bitpack::UNIT) bytes, and how many deltas of it belong to
//! postings before.
//!
//! `occurrence.rs` is what there is of one, `encode.rs` writes runs and copies them, `read.rs` reads them
//! from front to back or from an entry on, `cursor.rs` follows a cursor over the postings.

mod cursor;
mod encode;
mod occurrence;
mod read;
#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "test data is small")]
mod tests;

pub use cursor::PositionCursor;
pub use encode::PositionEncoder;
pub use occurrence::{Columns, Differences, Occurrence, OnlyPositions, WithOffsets};
pub use read::DeltaReader;

use super::bitpack::BLOCK;

/// Bytes of an entry.
const ENTRY: usize = 9;

/// Added to the units that a loose block takes, this is its width.
const LOOSE: u8 = 0x80;
