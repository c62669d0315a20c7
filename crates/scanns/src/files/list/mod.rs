//! Directories as GNU ls lists them in the C locale, one entry a line.
//!
//! `options.rs` says how entries are listed, `place.rs` reads and sorts the entries of a directory, and
//! `line.rs` writes their lines. `version.rs` is the order of `-v`. Names are written as they are unless
//! the caller quotes them.

mod line;
mod options;
mod place;
mod run;
mod version;

pub use options::{ListDate, ListHidden, ListMark, ListOptions, ListSort, ListTime, ListedPath};
pub use run::{ListReport, list_entries};
