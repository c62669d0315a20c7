//! Tables with a map of columns: CSV, TSV and JSON lines, and tables that programs open (Parquet, Arrow).
//!
//! `spec.rs` reads what the user says, `resolve.rs` completes it: `names.rs` knows names of columns, and
//! `guess.rs` how values are written. The result is the map (`table_map.rs`) by which `row.rs` makes an entry
//! of the values of a row; `value.rs` converts them. `csv.rs` and `jsonl.rs` read rows.

mod conversion;
mod csv;
mod field;
mod guess;
mod jsonl;
mod names;
mod resolve;
mod row;
mod spec;
mod table_map;
#[cfg(test)]
mod tests;
mod value;

pub use csv::{CsvTable, MappedCsv};
pub use jsonl::MappedJson;
pub use resolve::resolve;
pub use row::MappedRow;
pub use spec::ColumnMap;
pub(super) use spec::object_key_map;
pub use table_map::{ColumnType, MapView, MappedField, TableColumn, TableMap};
pub use value::TableValue;
