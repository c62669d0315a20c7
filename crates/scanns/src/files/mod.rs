//! Questions about file systems in the words of other tools, answered from an index of their entries.
//!
//! [`find_entries`] answers GNU find's expressions, [`disk_usage`] sums up directories as GNU du does,
//! and [`compare_trees`] tells how two trees differ.
//! `entries.rs` reads entries out of an index, `known.rs` answers what an expression asks beyond a single
//! entry, and `select.rs` chooses the documents that may match. `find/` is the language itself; it knows no
//! index.

mod answer;
mod diff;
mod entries;
mod entry_record;
mod find;
mod known;
mod order;
mod select;
mod sorted_entries;
mod usage;

pub use answer::{FindOptions, FindReport, find_entries};
pub use diff::{
    DiffCounts, DiffOptions, DiffReport, Difference, DifferenceKind, ENTRY_FIELDS, EntryField, EntryFieldSet,
    FieldValue, Growth, GrowthBy, GrowthLine, TreeReport, TreeSource, VisitDifference, compare_trees,
};
pub use find::{FindOutput, FindSink, UnknownColumn};
pub use usage::{UsageLine, UsageMeasure, UsageOptions, UsageReport, UsageTime, disk_usage};

pub use crate::source::{Entry, EntryKind};
