//! The different strings of a column in order: from a number to its term, and from a term to its number.
//!
//! ```text
//! terms   = chapter …                                      section of terms
//! chapter = table | block …                                of 512 blocks, the last one of what is left
//! block   = varint(length) | codes | rest?                 of 32 terms, the last one of what is left
//! rest    = widths u8 | varint(most) | varint(length) | number … | zeros | varint(over) … | codes …
//! number  = less | own                                     in bits, lowest first; zeros up to a whole byte
//! index   = guide | ends | terms u64                       section of the index
//! ```
//!
//! Terms are bytes, at most 32 KiB each, and ascend strictly; their numbers, from 0, are below 2^31. The first term
//! of a block is `length` bytes of codes, which are those of the table of its chapter, see [`codec`](crate::codec).
//! If there are others, `rest` has them. Each shares `most - less` bytes with the term before it, as many as it can,
//! and what comes then are the next `own + 1` bytes of codes. The lower half of `widths` is the bits of `less`, the
//! upper half those of `own`; a number whose bits are all 1 is that plus the next varint of `over`, which has
//! `length` bytes, but a number of no bits is 0. `over` has those of a term in the order of its numbers.
//!
//! The index has the end of each block; a block begins where the one before it ends, and the first of a chapter with
//! its table. The guide leads from a term to its block, see `guide.rs`.
//!
//! `write.rs` writes both sections, `block.rs` writes and reads a block, `read.rs` is what columns use, `find.rs`
//! looks up terms, `cursor.rs` goes through many.

mod block;
mod cursor;
mod find;
mod guide;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::DictionaryReader;
pub use write::DictionaryWriter;

/// Most bytes of a term.
const MAX_TERM: usize = 32 << 10;
/// Most terms.
const MAX_TERMS: usize = 1 << 31;
/// Blocks that share a table.
const CHAPTER: usize = 512;
