//! Rows that `find -printf`, `lfs find --printf` and `rbh-find -printf` wrote, with any format string.
//!
//! `format.rs` reads the format string, `layout.rs` decides how its rows are divided, and `values.rs` reads
//! the values. A path may contain any byte except NUL. A row is therefore exact if NUL ends every name in it.
//! In other rows, all values beside one name are found from both ends of the row; a line that is no row is
//! part of a name with line feeds. `rows.rs` counts whatever it had to guess.

mod format;
mod layout;
mod rows;
mod values;

#[cfg(test)]
mod tests;

pub use format::{FindDialect, RECOMMENDED_FORMAT};
pub use rows::FindRows;
