//! Indexes entries of file systems: names and metadata that a dump lists or a scan finds. No file is opened.
//!
//! `run.rs` has the steps. `dump_import.rs` reads dumps with one thread (`dump_reader.rs`), `scan_import.rs`
//! scans with several. Both pass blocks of rows or batches of entries (`block.rs`) to the index threads
//! (`threads.rs`, `lane.rs`), so memory does not depend on the number of entries. Index threads compare
//! entries with the index (`known.rs`, and `known_cursors.rs` for where they are in it): entries that have
//! not changed are skipped, others replace the older document. They hold the entries of a segment and sort
//! them (`held.rs`). `attribute_words.rs` indexes extended attributes, and `dump_access.rs`
//! finds out who may see the entries of dumps.
//!
//! Documents whose entries were not found are deleted at the end: below the directories that a dump covers
//! (`tops.rs`), or that were scanned, but for places of file systems that are not mounted
//! (`lost_mounts.rs`). `each_entry.rs` reads dumps for questions that need no index, and
//! `listed_dump.rs` for a list of files whose contents are indexed. `inventory.rs`
//! finds the parts of an S3 Inventory, `told.rs` which values a dump lacks, `mixed.rs` whether an index has
//! absolute and relative paths, and `preview.rs` shows the first entries without an index.
//!
//! A list of paths does not tell which entries are directories: those that others are below. Index threads
//! find most of them, and `untyped.rs` the others.
//!
//! A list of changes (`change_parts.rs`) says at which paths a scan should look (`change_import.rs`), and the
//! index knows other names of the files there (`linked_names.rs`).

mod attribute_words;
mod block;
mod change_import;
mod change_parts;
mod dump_access;
mod dump_import;
mod dump_reader;
mod each_entry;
mod held;
mod inventory;
mod known;
mod known_cursors;
mod lane;
mod linked_names;
mod listed_dump;
mod lost_mounts;
mod mixed;
mod preview;
mod rooted;
mod run;
mod scan_import;
mod threads;
mod told;
mod tops;
mod untyped;

pub(super) use change_parts::apply_changes;
pub(super) use dump_import::import;
pub(crate) use dump_reader::ReadDumpReport;
pub(crate) use each_entry::for_each_entry;
pub(crate) use listed_dump::{ListedDumps, list_dumps};
pub use preview::preview_dumps;
pub(super) use scan_import::scan;
