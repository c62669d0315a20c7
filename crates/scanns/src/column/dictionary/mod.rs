//! The distinct strings of a column in order: finds the term of a number, and the number of a term.
//!
//! ```text
//! terms   = chapter …                                      section of terms
//! chapter = table | block …                                of 512 blocks, fewer in the last one
//! block   = varint(length) | codes | rest?                 of 32 terms, fewer in the last one
//! rest    = widths u8 | varint(most) | varint(length) | number … | zeros | varint(over) … | codes …
//! number  = less | own                                     in bits, lowest first; zeros up to a whole byte
//! index   = guide | ends | terms u64                       section of the index
//! ```
//!
//! Terms are bytes, at most 32 KiB each, and ascend strictly; their numbers, from 0, are below 2^31. The
//! first term of a block is `length` bytes of codes of the table of its chapter, see [`codec`](crate::codec).
//! If the block has more terms, `rest` has them. Each shares `most - less` bytes with the term before it, as
//! many as possible, and the rest of the term is the next `own + 1` bytes of codes. The lower half of
//! `widths` is the number of bits of `less`, the upper half the number of bits of `own`. If all bits of a
//! number are 1, the next varint of `over`, which has `length` bytes, is added to it; a number of no bits is
//! 0. The varints of `over` are in the order of the terms, and of the numbers of a term.
//!
//! The index has the end of each block. A block begins where the one before it ends; the first one of a
//! chapter begins with the table. The guide leads from a term to its block, see `guide.rs`.
//!
//! `write.rs` writes both sections, `block.rs` writes and reads a block, `read.rs` finds the term of a
//! number, `find.rs` the number of a term, `cursor.rs` reads many terms, `batches.rs` all of
//! them.

mod batches;
mod block;
mod cursor;
mod find;
mod guide;
mod limits;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use cursor::TermCursor;
pub use read::DictionaryReader;
pub use write::DictionaryWriter;
