//! The list of one term: the documents that contain it, its frequencies, and the data that queries need to
//! skip blocks.
//!
//! ```text
//! list  = posting*                     of fewer than BLOCK documents
//!       | block* table                 from the first byte; its length is kept by the dictionary
//! block = documents packed(tf - 1)             BLOCK postings, code and width in the table
//!       | posting* padding                     fewer postings: a loose block; the last one has no padding
//! documents = packed(doc gaps)                 the code is their width
//!           | bits                             the code is DENSE and how many units follow; bit i is the
//!                                              document i + 1 after the one before the block
//! posting = varint(gap << 1 | (tf == 1)) varint(tf)?   tf only where it is not 1
//! table = entry* impacts blocks:u32    one entry per block
//! entry = last:u32 start:u32 code:u8 tf_width:u8 impacts   16 bytes; of a loose block code and width are
//!                                                          LOOSE and the number of its postings
//! impacts = (tf:u8 norm:u8){3}
//! ```
//!
//! A gap is the distance to the previous document minus one; the document before the first one counts as -1.
//! `last` is the last document of the block; `start` its place in units of [`UNIT`](super::bitpack::UNIT)
//! bytes from the start of the list, so that four bytes reach every block of 2³¹ postings. Integers are
//! little-endian.
//!
//! The rest of a list after its full blocks is a loose block. There may be loose blocks between other blocks
//! too: a merge copies the blocks of a list unchanged, so the loose block of the list before them stays
//! loose.
//!
//! Impacts bound the scores of a block without fixing the similarity: every posting of the block is dominated
//! by one of the three pairs, that is, its frequency is at most the frequency of the pair and its norm is at
//! least the norm of the pair. Frequencies are rounded up to the codes of
//! [`length_to_norm`](super::norm::length_to_norm). The impacts after the last entry bound the whole list.
//! Unused pairs repeat the last one.
//!
//! `encode.rs` writes lists, and `docs.rs` the documents of a block. `carry.rs` copies lists. `cursor.rs`
//! reads them with the help of `table.rs`, `windowed.rs` reads them as bits, and `short.rs` reads short lists
//! for a merge. `impact.rs` chooses the pairs.

mod carry;
mod cursor;
mod docs;
mod encode;
mod impact;
mod short;
mod table;
#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "test data is small")]
mod tests;
mod windowed;

pub use carry::ListBytes;
pub use cursor::{ListCursor, NO_MORE, PostingPlace};
pub use encode::ListEncoder;
pub use impact::{Impact, PAIRS, code_to_tf};
pub use short::ShortList;
pub use windowed::{WindowedList, count_below};

use super::bitpack::BLOCK;

/// Number of bytes of an entry of the table.
const ENTRY: usize = 10 + IMPACTS;

/// Number of bytes of the impacts of a block or of the list.
const IMPACTS: usize = 2 * PAIRS;

/// The code of a loose block.
const LOOSE: u8 = u8::MAX;

/// Codes above this one mean that documents are bits; the rest of the code is the number of units of bits.
const DENSE: u8 = 64;
