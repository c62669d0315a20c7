//! A block of strings, each of which can be read alone, in the smallest form that pays.
//!
//! ```text
//! block = count varint | form u8 | body
//! body  = text                             form 0: each string is this text
//!       | ends | text                      form 1: the strings as they are
//!       | table | ends | code              form 2: the strings as codes of symbols; ends are those of codes
//!       | length varint | ends | frame     form 3: the text of all, at most 1 MiB, as a frame of Zstandard
//! ```
//!
//! A block has at most 2^32 - 1 strings, or 65,536 in form 0. Ends are as in `ends.rs`, tables and codes as
//! in [`fsst`](super::fsst). To read a string of form 3, the whole text must be unpacked, so this form is
//! used only if it is much smaller. A reader of several strings of such a block unpacks it once. `encode.rs`
//! writes blocks, `read.rs` reads them, `opened.rs` keeps what
//! reading single strings needs, `batch.rs` holds many strings to be searched together.

mod batch;
mod encode;
mod ends;
mod opened;
mod read;
#[cfg(test)]
mod tests;

pub use batch::StringBatch;
pub use encode::StringEncoder;
use ends::Ends;
pub use ends::{BitWriter, EndsPlace, EndsWriter, bits_at};
pub use opened::OpenedStrings;
pub use read::StringBlock;

/// Maximum number of strings that are stored once for all of them. It prevents readers from allocating memory
/// for many more strings than there are bytes.
const MOST_SAME: usize = 1 << 16;

/// The form of a block of equal strings.
const SAME: u8 = 0;
/// The form of uncompressed strings.
const RAW: u8 = 1;
/// The form of strings that are codes of symbols.
const CODES: u8 = 2;
/// The form of a frame of Zstandard.
const FRAME: u8 = 3;

/// Maximum number of bytes of text in a frame.
const MOST_IN_FRAME: usize = 1 << 20;
