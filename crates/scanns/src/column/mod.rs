//! Typed columns: what a document has in a field, found by the number of the document.
//!
//! `dictionary` holds the different strings of a column, so that a column of strings is one of numbers.

mod dictionary;

#[allow(unused_imports, reason = "segments are their first user")]
pub use dictionary::{DictionaryReader, DictionaryWriter, TermCursor};
