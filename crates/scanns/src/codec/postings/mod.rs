//! The list of one term: which documents contain it and how often, with what queries need to skip.
//!
//! ```text
//! list  = block* tail table?           from the first byte; its length is kept by the dictionary
//! block = packed(doc gaps) packed(tf - 1)      BLOCK postings each, widths in the table
//! tail  = posting*                     the doc_freq % BLOCK postings that fill no block
//! posting = varint(gap << 1 | (tf == 1)) varint(tf)?   tf only where it is not 1
//! table = entry* impacts               only if there is a block; one entry per block and one for a tail
//! entry = last:u32 start:u32 gap_width:u8 tf_width:u8 impacts        16 bytes
//! impacts = (tf:u8 norm:u8){3}
//! ```
//!
//! A gap is the distance to the document before, less one; before the first document stands number -1. `last`
//! is the last document of the block; `start` its place in units of [`UNIT`](super::bitpack::UNIT) bytes from
//! the start of the list, so that four bytes reach every block of 2³¹ postings. Integers are little-endian.
//!
//! Impacts bound the scores of a block without fixing the similarity: every posting of the block is dominated
//! by one of the three pairs, that is, has a frequency of at most the pair's and a norm of at least the pair's.
//! Frequencies are rounded up to the codes of [`length_to_norm`](super::norm::length_to_norm). The impacts
//! after the last entry are those of the whole list. Unused pairs repeat the last one.
//!
//! `encode.rs` writes lists, `cursor.rs` reads them, `impact.rs` finds the pairs.

mod cursor;
mod encode;
mod impact;
#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "test data is small")]
mod tests;

pub use cursor::{ListCursor, NO_MORE};
pub use encode::ListEncoder;
pub use impact::{Impact, PAIRS, code_to_tf};

use super::bitpack::BLOCK;

/// Bytes of one entry of the table.
const ENTRY: usize = 10 + IMPACTS;

/// Bytes of the impacts of a block or of the list.
const IMPACTS: usize = 2 * PAIRS;

/// Entries in the table of a list of `doc_freq` postings: 0 for a list without a full block.
fn table_len(doc_freq: u32) -> usize {
    let postings = doc_freq as usize;
    if postings < BLOCK { 0 } else { postings.div_ceil(BLOCK) }
}
