//! A report about the files of an index: where the space is, whose it is, how old it is, and what deserves a
//! look.
//!
//! [`report_files`] reads the entries, in parts on several threads. Each part fills a `ReportCollector`
//! (`collector.rs`, read it first) from columns (`columns.rs`), in which entries may come in any order.
//! `numbered.rs` looks up the strings of a batch once. Collectors are merged, and `answer.rs` makes a
//! [`FilesReport`] of the last one.

mod answer;
mod classes;
mod collector;
mod columns;
mod directories;
mod facts;
mod lists;
mod names;
mod numbered;
mod options;
mod read;
mod summed;
mod sums;
#[cfg(test)]
mod tests;
mod top_list;
mod tree;
mod unknown;

pub use answer::{FilesReport, RankedFile, RankedPath, ReportNotable, ReportRankings, ReportTotals};
pub(super) use classes::age_class;
pub use classes::{AGE_CLASSES, AgeTable, SIZE_CLASSES};
pub(super) use facts::{LinkedKey, extension, linked_key};
pub use names::NamedSums;
pub use options::ReportOptions;
pub use read::report_files;
pub use summed::RankedDirectory;
pub use sums::EntrySums;
pub use top_list::CountedPaths;
pub use tree::ReportNode;
pub use unknown::UnknownValues;
