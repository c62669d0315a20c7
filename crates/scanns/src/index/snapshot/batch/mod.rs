//! The values of all hits in batches of rows, field by field. Exports read an index this way.
//!
//! Hits come in document order. The hits of a batch belong to one leaf, and each field is read from front to
//! back, in whole blocks where most of their documents are hits. Memory holds one batch, which is limited in
//! rows and in bytes: if its values exceed the limit, the batch is halved, down to a single row.
//!
//! `column.rs` holds the values of a field, `fill.rs` reads them, `visit.rs` collects hits into batches, and
//! `text.rs` writes batches as text.

mod column;
mod fill;
mod options;
mod text;
mod visit;

pub use column::BatchColumn;
pub use options::{Batch, BatchField, BatchOptions, BatchVisit};
pub use text::{CsvText, JsonText};
