//! Directories as GNU ls lists them in the C locale, one entry a line.
//!
//! `options.rs` says how entries are listed, `place.rs` reads and sorts the entries of a directory, and
//! `line.rs` writes their lines. Names are written as they are unless the caller quotes them.

mod line;
mod options;
mod place;
mod run;

pub use options::{ListHidden, ListMark, ListOptions, ListSort, ListTime, ListedPath};
pub use run::{ListReport, list_entries};
