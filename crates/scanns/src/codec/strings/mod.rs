//! A block of strings, of which any can be read: the form is the smallest that pays.
//!
//! ```text
//! block = count varint | form u8 | body
//! body  = text                             form 0: each string is this text
//!       | ends | text                      form 1: the strings as they are
//!       | table | ends | code              form 2: the strings as codes of symbols; ends are those of codes
//!       | length varint | ends | frame     form 3: the text of all, at most 1 MiB, as a frame of Zstandard
//! ```
//!
//! There are at most 2^32 - 1 strings, of form 0 at most 65,536. Ends are as in `ends.rs`, tables and codes
//! as in [`fsst`](super::fsst). Of form 3 the whole text is unpacked before one string can be read, so it is
//! taken only where it is much smaller; who reads more than one string of such a block unpacks it once.
//! `encode.rs` writes blocks, `read.rs` reads them.

mod encode;
mod ends;
mod read;
#[cfg(test)]
mod tests;

pub use encode::encode_block;
use ends::Ends;
pub use ends::{BitWriter, EndsPlace, EndsWriter, bits_at};
pub use read::StringBlock;

/// Most strings that are told once for all: nobody is to make room for more than there are bytes for.
const MOST_SAME: usize = 1 << 16;

/// Each string is the same.
const SAME: u8 = 0;
/// Strings as they are.
const RAW: u8 = 1;
/// Codes of symbols.
const CODES: u8 = 2;
/// One frame of Zstandard.
const FRAME: u8 = 3;

/// Most bytes of text of a frame.
const MOST_IN_FRAME: usize = 1 << 20;
