//! Indexes entries of file systems: names and metadata that a dump lists. No file is opened.
//!
//! `run.rs` has the steps. One thread reads the dumps (`dump_reader.rs`) and passes blocks of rows or batches
//! of entries to the index threads (`lane.rs`), so memory does not depend on the number of entries. Index
//! threads compare entries with the index (`known.rs`): entries that have not changed are skipped, others
//! replace the older document. `tops.rs` finds the directories that a dump covers; documents below them that
//! the dump does not list are deleted at the end. `each_entry.rs` reads dumps for questions that
//! need no index.

mod dump_reader;
mod each_entry;
mod known;
mod lane;
mod run;
mod threads;
mod tops;

pub(crate) use dump_reader::ReadDumpReport;
pub(crate) use each_entry::for_each_entry;
pub(super) use run::import;
