//! Writes entries of an index so that other tools can read them: find, GUFI, ncdu, lists of paths.
//!
//! `run.rs` reads the index and chooses a format. `sorter.rs` sorts entries in bounded memory, and `tree.rs`
//! makes a tree of them, for formats in which entries stand in their directory. `ncdu.rs` and `gufi.rs` write
//! these formats, and `tally.rs` counts what they cannot hold.

mod gufi;
mod ncdu;
mod run;
mod sorter;
mod tally;
#[cfg(test)]
mod tests;
mod tree;

pub use run::{EntryFormat, ExportOptions, export_entries};
pub use tally::ExportReport;
