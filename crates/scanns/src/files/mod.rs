//! Questions about file systems in the words of other tools, answered from an index of their entries.
//!
//! [`find_entries`] answers GNU find's expressions, and [`disk_usage`] sums up directories as GNU du does.
//! [`usage_by`] sums up owners, ages and other values, and [`report_files`] reports on everything at once.
//! `entries.rs` reads entries out of an index, `known.rs` answers what an expression asks beyond a single
//! entry, and `select.rs` chooses the documents that may match. `find/` is the language itself; it knows no
//! index.

mod answer;
mod entries;
mod find;
mod known;
mod order;
mod report;
mod select;
mod usage;
mod usage_by;

pub use answer::{FindOptions, FindReport, find_entries};
pub use find::{FindOutput, FindSink, UnknownColumn};
pub use report::{
    AGE_CLASSES, AgeTable, CountedPaths, EntrySums, FilesReport, NamedSums, RankedDirectory, RankedFile,
    RankedPath, ReportNode, ReportNotable, ReportOptions, ReportRankings, ReportTotals, SIZE_CLASSES,
    UnknownValues, report_files,
};
pub use usage::{UsageLine, UsageMeasure, UsageOptions, UsageReport, UsageTime, disk_usage};
pub use usage_by::{UsageKey, UsageSumOf, usage_by};
