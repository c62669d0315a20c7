//! Rows of tables as records: a file of Parquet or Arrow comes in, JSON Lines go out, one line a row.
//!
//! `to_json_lines.rs` has the loop over rows and says which value becomes which JSON. `parquet_batches.rs`
//! reads Parquet in batches that fit into memory. `nested_cells.rs` and `cells.rs` write the values of a
//! column, with `json_text.rs` for texts and numbers and `moments.rs` for dates and times. `row_child.rs` is
//! the process in which all of it runs.

mod cells;
#[cfg(test)]
mod damage_tests;
mod error;
mod json_text;
mod line;
mod moments;
mod nested_cells;
mod parquet_batches;
mod row_child;
#[cfg(test)]
mod tests;
mod to_json_lines;

pub use error::RowsError;
pub use row_child::convert_rows;
pub use scanns::extraction::RowsFormat;
pub use to_json_lines::{RowsWritten, write_rows};
