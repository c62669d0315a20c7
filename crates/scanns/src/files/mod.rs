//! Questions about file systems in the words of other tools, answered from an index of their entries.
//!
//! [`find_entries`] answers GNU find's expressions, [`disk_usage`] sums up directories as GNU du does,
//! [`compare_trees`] tells how two trees differ, and [`find_duplicates`] finds files with equal content.
//! `entries.rs` reads entries out of an index, `known.rs` answers what an expression asks beyond a single
//! entry, and `select.rs` chooses the documents that may match. `find/` is the language itself; it knows no
//! index.

mod answer;
mod diff;
mod duplicates;
mod entries;
mod entry_record;
mod find;
mod known;
mod order;
mod select;
mod sorted_records;
mod usage;

pub use answer::{FindOptions, FindReport, find_entries};
pub use diff::{
    DiffCounts, DiffOptions, DiffReport, Difference, DifferenceKind, ENTRY_FIELDS, EntryField, EntryFieldSet,
    FieldValue, Growth, GrowthBy, GrowthLine, TreeReport, TreeSource, VisitDifference, compare_trees,
};
pub use duplicates::{
    DuplicateFile, DuplicateGroup, DuplicateOptions, DuplicateProgress, DuplicateReport, DuplicateTick,
    DuplicateWatch, FaultyFiles, HashState, StateFault, find_duplicates,
};
pub use find::{FindOutput, FindSink, UnknownColumn};
pub use usage::{UsageLine, UsageMeasure, UsageOptions, UsageReport, UsageTime, disk_usage};

pub use crate::source::{Entry, EntryKind};
