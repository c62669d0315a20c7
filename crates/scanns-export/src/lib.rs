//! Exports of scanns: the values of all hits as CSV, JSON lines, Arrow or Parquet, in the order of the index
//! or in another one.
//!
//! The command and the server write the same rows, so what both need is here. [`HitRows`] reads the values of
//! all hits in index order, some thousands of rows at a time. A [`RowWriter`] writes them: `text.rs` as text
//! and, with the feature `arrow`, `tables.rs` in the formats of Arrow and Parquet. [`Shape`] describes a
//! column. For another order, [`HitRows::sort`] sends the rows through `sort/` first. Memory does not grow
//! with the number of rows in any case. Read `hits.rs` first.

mod error;
mod hits;
mod shape;
mod sort;
#[cfg(feature = "arrow")]
mod tables;
mod text;

pub use error::ExportError;
pub use hits::HitRows;
pub use shape::{KEY, Shape};
pub use sort::key::{RowKeys, RowOrder};
pub use sort::{Sorted, Sorter};
#[cfg(feature = "arrow")]
pub use tables::{Arrow, Parquet, TableCompression};
pub use text::{Csv, JsonLines, RowWriter};
