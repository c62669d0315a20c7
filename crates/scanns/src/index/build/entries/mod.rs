//! Indexes entries of file systems: names and metadata that a dump lists. No file is opened.
//!
//! `run.rs` has the steps. One thread reads the dumps (`dump_reader.rs`) and passes blocks of rows or batches
//! of entries to the index threads (`lane.rs`), so memory does not depend on the number of entries. Index
//! threads compare entries with the index (`known.rs`): entries that have not changed are skipped, others
//! replace the older document. `tops.rs` finds the directories that a dump covers; documents below them that
//! the dump does not list are deleted at the end. `inventory.rs` finds the parts of an S3 Inventory, and
//! `preview.rs` shows the first entries without an index.

mod dump_reader;
mod inventory;
mod known;
mod lane;
mod preview;
mod run;
mod threads;
mod tops;

pub use preview::preview_dumps;
pub(super) use run::import;
