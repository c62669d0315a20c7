//! Finds the documents in the bytes of a piece: whole files, lines, or records with fields.
//!
//! In: a piece of a block, which splits no token but may contain a part of a document. Out: for files and
//! lines, the parts of documents (`documents.rs`); for a line of JSON (`json/`) or a row of CSV (`csv/`), the
//! values of the fields of a document.
//!
//! `dump/` reads dumps of file systems: bytes in, entries out. `changes/` reads lists of changes: bytes in,
//! paths out.
//!
//! For records with fields start at `reader.rs`: it maps names to fields (`names.rs`), converts values to the
//! types of the fields (`typed.rs`) and counts values that do not fit (`counts.rs`). `infer.rs` infers a
//! schema from a sample.

pub(crate) mod changes;
mod counts;
mod csv;
mod documents;
pub(crate) mod dump;
mod error;
mod format;
mod infer;
mod json;
mod names;
mod raw;
mod reader;
mod scalar;
mod seen_field;
mod seen_name;
mod typed;

pub(crate) use counts::MALFORMED;
pub use counts::{Conflict, FlawedRecords, Malformed, RecordCounts};
pub(crate) use csv::CsvCuts;
pub use csv::{
    CsvDelimiter, CsvDialect, CsvHeader, CsvNames, CsvOptions, CsvQuotes, CsvRows, CsvSniffer, RenamedColumn,
};
pub use documents::{DocumentPart, DocumentParts, DocumentRange};
pub use error::RecordError;
pub use format::{FileFormat, RecordFormat};
pub use infer::{Inference, Inferred};
pub use names::{Sources, map_name};
pub(crate) use raw::BYTE_ORDER_MARK;
pub use reader::{RecordReader, Recorded};
pub use seen_field::FieldFigures;
