//! The positions of one term in each of its documents, as differences, and optionally its offsets in the
//! text.
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
//! A run belongs to a list of postings: each document has as many deltas as the frequency of the term in it,
//! in the order of the list. `total` is the sum of all frequencies. The first delta of a document is the
//! position of the first occurrence, every other delta is the distance to the previous occurrence. Positions
//! count the tokens of a document from 0. The run ends with the number of bytes of widths, the number of
//! entries, and the number of deltas in the tail.
//!
//! With offsets each delta has three numbers: the difference of the positions; the difference of the starts,
//! in bytes of the text; and an extra, by which the length in the text exceeds the length of the term, in
//! zigzag form and mostly 0. The three are stored together:
//!
//! ```text
//! block  = packed(deltas) packed(starts) packed(extras)   each of a width of its own
//! delta  = varint(delta) varint(start << 1 | (extra != 0)) varint(extra)?   in a loose block and in the tail
//! widths = width:u8 width:u8 width:u8                    per block that is packed
//! ```
//!
//! So all three are written while the run grows, one table of entries serves all three, and a reader of
//! positions skips the offsets.
//!
//! A merge copies the blocks of a run unchanged. The tail of the run before them then becomes a loose block
//! between other blocks.
//!
//! An entry is the place where the deltas of a block of postings begin, so that a cursor can skip to the
//! block without decoding the deltas before it. `number` is the index of the block of deltas among the widths
//! (the number of all widths for the tail), `start` is its place in units of [`UNIT`](super::bitpack::UNIT)
//! bytes, and `skip` is the number of its deltas that belong to earlier postings.
//!
//! `occurrence.rs` defines an occurrence, `encode.rs` writes and copies runs, `read.rs` reads them from the
//! start or from an entry, `cursor.rs` finds the positions of single postings.

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

/// Number of bytes of an entry.
const ENTRY: usize = 9;

/// The width of a loose block is this plus the number of its units.
const LOOSE: u8 = 0x80;
