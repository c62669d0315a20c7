//! Reads the bytes of inputs into blocks that split no token and no record.
//!
//! In: the list of inputs. Out: [`Lane`]s, one for each index thread, which yield
//! [`ReadBlock`](block::ReadBlock)s of [`Piece`]s. The inputs are divided into units, in order: whole files
//! or ranges of lines. All pieces of a unit go to one lane, in order. Small files are packed many to a block;
//! large files span many blocks. Only text that has to be read from its start is divided differently: its
//! records go to any lane, block by block.
//!
//! Binary files become empty pieces, and compressed text and text in other encodings becomes pieces of UTF-8.
//! The members of archives become pieces of their own.
//!
//! Read `work.rs` (units) first, then `reader.rs` (the thread) and `driver.rs` (which starts it). `unit.rs`
//! opens files, `pack.rs` packs small ones, `wave.rs` finds the cuts, `queue.rs` passes blocks back and
//! forth, `lines.rs` numbers lines across units, `shared.rs` shares out the records of text that is read
//! from its start, `unpack.rs` unpacks archives in threads of their own and `members.rs` puts their members
//! into blocks, `cuts.rs` lets others say where that can be cut and `collections.rs` where the records of a
//! collection end, `stream.rs` is standard input, `tables.rs` reads rows of tables, `count.rs` counts files
//! that are not plain text, and `file_text.rs` reads the text of a single file.

mod block;

mod collections;
mod count;
mod cuts;
mod driver;
mod file_text;
mod lines;
mod members;
mod options;
mod pack;
mod queue;
mod reader;
mod shared;
mod stream;
mod tables;
mod unit;
mod unpack;
mod wave;
mod work;

#[cfg(feature = "internals")]
pub use block::ReadBlock;
pub use block::{ArchivePart, Lane, Piece};

pub use collections::{FindLongEnd, FindRecords, KnowCollections, LongEnd};
pub use count::ContentCount;
pub(crate) use count::ContentCounts;
pub use cuts::{Cut, FindCuts, PieceStart};
pub use driver::{ReadReport, ReaderDriver, start, start_after};
pub(crate) use file_text::records_of_file;
pub use file_text::{TextReading, text_of_file, text_of_member, text_of_start};
pub use lines::LineNumber;
pub use options::{Direct, ReadOptions};
pub use stream::StreamSource;
pub use tables::TableReading;
pub use wave::Rules;
pub use work::{DoneParts, LineSpan};

#[cfg(test)]
mod tests;
