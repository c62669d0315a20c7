//! Questions about file systems in the words of other tools, answered from an index of their entries.
//!
//! [`find_entries`] answers GNU find's expressions, in the order of a walk or of a value (`find_sort.rs`),
//! [`disk_usage`] sums up directories as GNU du does, and [`usage_by`] owners, ages and other values;
//! [`report_files`] reports on everything at once. [`list_entries`] lists directories as ls does (`list/`),
//! [`stat_entries`] shows entries as stat does (`stat/`), and [`export_entries`] writes entries for other
//! tools (`export/`). [`compare_trees`] tells how two trees differ (`diff/`), and [`find_duplicates`] finds
//! files with equal content (`duplicates/`), and [`explain_access`] why a user may see an entry or not
//! (`access.rs`).
//!
//! `entries.rs` reads entries out of an index, `known.rs` answers what an expression asks beyond a single
//! entry, `missing.rs` says what an answer may lack, `unread.rs` where entries may be missing,
//! `unread_directories.rs` which directories could not be read, and `select.rs` chooses the documents that
//! may match. `parts.rs` shares documents among threads, and `gathered.rs` reads entries with them and sorts
//! them. `find/` is the language itself; it knows no index.

mod access;
mod answer;
mod date_text;
mod device_numbers;
mod diff;
mod duplicates;
mod entries;
mod entry_record;
mod export;
mod find;
mod find_sort;
mod gathered;
mod human;
mod indexed_path;
mod known;
mod list;
mod missing;
mod order;
mod parts;
mod place;
mod report;
mod select;
#[cfg(test)]
mod sorting_tests;
mod stat;
mod tops;
mod unread;
mod unread_directories;
mod usage;
mod usage_by;
mod usage_exclude;
mod usage_ranges;
mod usage_sum;
#[cfg(test)]
mod view_tests;

pub use crate::store::SortSpace;
pub use access::{AccessExplanation, AccessStep, ExplainedCheck, StepSource, explain_access};
pub use answer::{FindOptions, FindReport, find_entries};
pub use diff::{
    DiffCounts, DiffOptions, DiffReport, Difference, DifferenceKind, ENTRY_FIELDS, EntryField, EntryFieldSet,
    FieldValue, Growth, GrowthBy, GrowthLine, TreeReport, TreeSource, VisitDifference, compare_trees,
};
pub use duplicates::{
    DuplicateFile, DuplicateGroup, DuplicateOptions, DuplicateProgress, DuplicateReport, DuplicateTick,
    DuplicateWatch, FaultyFiles, HashState, StateFault, find_duplicates,
};
pub use export::{EntryFormat, ExportOptions, ExportReport, export_entries};
pub use find::{FindOutput, FindSink, UnknownColumn};
pub use find_sort::FindSort;
pub use human::human_size;
pub use indexed_path::indexed_path;
pub use list::{
    ListDate, ListHidden, ListMark, ListOptions, ListReport, ListSort, ListTime, ListedPath, list_entries,
};
pub use missing::{AskedPlaces, ShowPath, missing_entries, not_in_index};
pub use report::{
    AGE_CLASSES, AgeTable, CountedPaths, EntrySums, FilesReport, NamedSums, RankedDirectory, RankedFile,
    RankedPath, ReportNode, ReportNotable, ReportOptions, ReportRankings, ReportTotals, SIZE_CLASSES,
    UnknownValues, report_files,
};
pub use stat::{StatLayout, StatOptions, StatReport, stat_entries};
pub use usage::{UsageLine, UsageReport, disk_usage};
pub use usage_by::{UsageKey, UsageSumOf, usage_by};
pub use usage_sum::{UsageMeasure, UsageOptions, UsageTime};

pub use crate::source::{Entry, EntryKind};
