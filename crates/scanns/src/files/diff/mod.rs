//! Differences between two trees: what was added, removed, moved and changed.
//!
//! [`compare_trees`] takes two trees, each from an index or a dump (`sources.rs`). Both are sorted by path
//! in bounded memory (`tree.rs`) and read side by side (`compare.rs`). `fields.rs` compares the values of two
//! entries.
//! `moves.rs` and `pairs.rs` find the entries that were removed under one path and added under another, and
//! `growth.rs` sums up differences by directory, owner, group and extension.

mod compare;
mod fields;
mod growth;
mod moves;
mod pairs;
mod sources;
#[cfg(test)]
mod tests;
mod tree;

pub use compare::{DiffCounts, DiffReport, Difference, DifferenceKind, VisitDifference};
pub use fields::{ENTRY_FIELDS, EntryField, EntryFieldSet, FieldValue};
pub use growth::{Growth, GrowthBy, GrowthLine};
pub use sources::{TreeSource, compare_trees};
pub use tree::{DiffOptions, TreeReport};
