//! Files with equal content.
//!
//! [`find_duplicates`] takes the regular files of an index, sorted by size in bounded memory
//! (`candidates.rs`), the largest first. Only files whose size another file has are read, each inode once:
//! first their start and their end, then, of those that are still alike, everything (`content.rs`), on
//! several threads in the order of inodes (`workers.rs`). `find.rs` has these steps. `state.rs` keeps hashes
//! between runs.

mod candidates;
mod content;
mod find;
mod groups;
mod sources;
mod state;
#[cfg(test)]
mod tests;
mod workers;

pub use find::{DuplicateOptions, DuplicateReport, FaultyFiles};
pub use groups::{DuplicateFile, DuplicateGroup};
pub use sources::{DuplicateWatch, find_duplicates};
pub use state::{HashState, StateFault};
pub use workers::{DuplicateProgress, DuplicateTick};
