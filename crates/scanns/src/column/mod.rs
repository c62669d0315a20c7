//! Typed values by document: what documents are filtered, sorted, counted and grouped by, and what is shown of them.
//!
//! A column is cut into blocks of up to 4,096 documents that have a value, in the form that takes least of each. Its index has
//! an entry for each block, the *jump table*: what it holds from which document on, where it is, how it is written, its least
//! and its greatest value. So any document is found by one entry and one block, wherever it stands, and a filter or a sort
//! passes blocks that cannot matter; `ranges` say the same of 64 blocks at once. That is what Lucene calls DocValues
//! (LUCENE-8585 gave them jump tables, LUCENE-10396 skip lists); blocks here carry their own presence, so that one look
//! into the table finds both.
//!
//! `kind.rs` says what values are, and maps them to integers of the same order. Those of a keyword are the numbers of terms in
//! a `dictionary/`; a path is one for its directory, and its name in a column of strings beside. `entry.rs` is the jump
//! table, `write.rs` fills blocks, `read.rs` finds documents in them, `scan.rs` reads whole blocks, `gather.rs` many documents at
//! once, `values.rs` gives what
//! was put in, `rewrite.rs` changes values of a column that is written; `walk.rs` does without jump tables, for comparison. `collect.rs` is what an index thread fills, `keywords.rs` its terms. How integers are packed is decided in
//! `codec/numbers/`, how strings are in `codec/strings/`.
//!
//! ```text
//! blocks  = block …                                                                   section 64
//! block   = length u32 | documents u32 | presence | ends? | values
//! ends    = length u32 | form u8 | width u8 | zero u16 | extra u32 | base u64 | step u64 | numbers
//! index   = header | entry … | jump u32 … | zeros to a multiple of 8 | range …          section 65
//! header  = kind u32 | flags u32 | documents u32 | blocks u32 | present u64 | values u64 | least u64 | most u64 | zeros 16
//! entry   = offset u64 | least u64 | most u64 | base u64 | step u64 | first u32 | length u32 | documents - 1 u16 |
//!           present - 1 u16 | values u32 | extra u32 | presence u8 | form u8 | width u8 | several u8       64 bytes
//! range   = least u64 | most u64 | values u64 | present u32 | documents u32                  32 bytes, of 64 blocks each
//! ```

mod collect;
mod dictionary;
mod entry;
mod gather;
mod keywords;
mod kind;
mod read;
mod rewrite;
mod scan;
#[cfg(test)]
mod tests;
mod values;
mod walk;
mod write;

pub use collect::ColumnSet;
pub use dictionary::{DictionaryReader, DictionaryWriter};
pub use entry::{Entry, Range};
pub(crate) use gather::{FoundBlock, find_blocks, prefetch_entries};
pub use gather::{Gather, Gathered};
pub use kind::ColumnKind;
pub use read::{Block, Column, ColumnCursor, Damaged};
pub use rewrite::NewValues;
pub use scan::{Scan, Values};
pub use values::StringCursor;
pub use walk::Walker;
pub use write::ColumnWriter;

/// Section of the blocks of a column.
pub const BLOCKS: u32 = 64;
/// Section of the index over them.
pub const INDEX: u32 = 65;
/// Sections of the terms of a column of keywords, or of the directories of one of paths: see `dictionary/`.
pub const TERMS: u32 = 66;
pub const TERMS_INDEX: u32 = 67;
/// Sections of the names of a column of paths: as those of a column of strings.
pub const NAMES: u32 = 68;
pub const NAMES_INDEX: u32 = 69;
