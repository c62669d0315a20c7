//! Benchmarks of scanns: what is measured, how often, against what, and how it is shown.
//!
//! Every experiment is a file with the name of its command, and adds [`results::Series`] to
//! [`results::Results`]. `stats.rs` has medians, ratios with their error, and the order in which variants
//! take turns. `machine.rs` describes where figures were taken, `reference.rs` shows how steady the machine
//! was, `child.rs` measures other programs, `report/` writes the page with the results, and `compare.rs`
//! finds what became slower, and `history/` keeps figures over time. Records of runs that were worth keeping
//! are in `records/`, by date.

pub mod archive;
pub mod cache;
pub mod child;
pub mod compare;
pub mod history;
pub mod machine;
pub mod reference;
pub mod report;
pub mod results;
pub mod stats;
pub mod variants;
