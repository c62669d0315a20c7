//! Typed values by document: documents are filtered, sorted, counted and grouped by them, and they are shown
//! with hits.
//!
//! A column is cut into blocks of up to 4,096 documents that have a value, each in the encoding that takes
//! the fewest bytes. Its index has an entry for each block, the *jump table*: the documents and values of the
//! block, its place, its encoding, its least and greatest value. So any document is found with one entry and
//! one block, and filters and sorts skip blocks that cannot matter; `ranges` have the same data for 64 blocks
//! each. Lucene calls such columns DocValues (LUCENE-8585 gave them jump tables, LUCENE-10396 skip lists).
//! Here the presence of values is stored in the blocks, so one look-up in the table finds both.
//!
//! `kind.rs` has the kinds of values, and maps them to integers of the same order. The integers of keywords
//! are the numbers of their terms in a `dictionary/`. A path is the number of its directory, and its name is
//! in a second column of strings. `entry.rs` is the jump table, `write.rs` fills blocks, `read.rs` finds
//! documents in them, `scan.rs` reads whole blocks, `gather.rs` many documents at once, `sums.rs` sums up
//! ranges of documents, `within.rs` finds the documents whose values are within bounds, `values.rs` returns
//! values as they were added, `paths.rs` the paths of documents, `recent.rs` keeps open what single look-ups
//! need, `rewrite.rs` changes values of a written column. `collect.rs` holds the columns
//! of an index thread, `keywords.rs` their terms. Integers are encoded by `codec/numbers/`, strings by
//! `codec/strings/`.
//!
//! ```text
//! blocks  = block …                                                                   section 64
//! block   = length u32 | documents u32 | presence | ends? | values
//! ends    = length u32 | form u8 | width u8 | zero u16 | extra u32 | base u64 | step u64 | numbers
//! index   = header | entry … | jump u32 … | zeros to a multiple of 8 | range … | sum u128 …    section 65
//! header  = kind u32 | flags u32 | documents u32 | blocks u32 | present u64 | values u64 | least u64 |
//!           most u64 | zeros 16
//! entry   = offset u64 | least u64 | most u64 | base u64 | step u64 | first u32 | length u32 |
//!           documents - 1 u16 | present - 1 u16 | values u32 | extra u32 | presence u8 | form u8 |
//!           width u8 | several u8                                              64 bytes
//! range   = least u64 | most u64 | values u64 | present u32 | documents u32        32 bytes, per 64 blocks
//! ```

#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod collect;
mod dictionary;
mod entry;
mod gather;
mod keywords;
mod kind;
mod paths;
mod read;
mod recent;
mod rewrite;
mod scan;
mod sections;
mod sums;
#[cfg(test)]
mod tests;
mod values;
mod within;
mod write;

pub use collect::{ColumnSet, split_path};
pub use dictionary::{DictionaryReader, DictionaryWriter, TermCursor};
pub use entry::{BlockRange, JumpEntry};
pub(crate) use gather::{FoundBlock, find_blocks, prefetch_entries};
pub use gather::{Gather, Gathered};
pub use kind::ColumnKind;
pub use paths::PathCursor;
pub use read::{Column, ColumnCursor};
pub use rewrite::NewValues;
pub use scan::{Scan, StringScan, Values};
pub use sections::{BLOCKS, INDEX, NAMES, NAMES_INDEX, TERMS, TERMS_INDEX};
pub use sums::RangeReader;
pub use values::StringCursor;
pub use write::{BlockSink, ColumnWriter};
