//! Finds the documents in the bytes of a piece: whole files, lines, or records with fields.
//!
//! In: a piece of a block, which splits no token but may contain a part of a document. Out: for files and
//! lines, the parts of documents (`documents.rs`); for a line of JSON (`json/`) or a row of CSV (`csv/`), the
//! values of the fields of a document.
//!
//! `dump/` reads dumps of file systems: bytes in, entries out. `changes/` reads lists of changes: bytes in,
//! paths out.
//!
//! `collection/` has the formats whose fields are known beforehand: web archives (`warc/`), and collections
//! of texts (`corpus/`), such as those of TREC, mail and dumps of wikis, and logs (`log/`). `page_charset.rs`
//! converts their web pages to UTF-8, `made_record.rs` holds the values of a record, and `deviations.rs` what
//! is unusual about it.
//!
//! For records with fields start at `reader.rs`: it maps names to fields (`names.rs`), converts values to the
//! types of the fields (`typed.rs`) and counts values that do not fit (`counts.rs`). `infer.rs` infers a
//! schema from a sample.

pub(crate) mod changes;
mod collection;
mod corpus;
mod counts;
mod csv;
mod deviations;
mod documents;
pub(crate) mod dump;
mod error;
mod format;
mod infer;
mod json;
mod log;
mod made_record;
mod names;
mod page_charset;
mod raw;
mod reader;
mod scalar;
mod seen_field;
mod seen_name;
#[cfg(test)]
pub(crate) mod test_data;
#[cfg(test)]
mod test_ends;
mod typed;
mod warc;

pub(crate) use collection::{COLLECTIONS, MemberRecordReader, MemberValues, contents_of_records};
pub use collection::{
    CollectionCuts, CollectionEnds, CollectionFormat, RecordNote, RecordNotes, TextFieldOptions, text_of_file,
};
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
pub use warc::{LongClaim, LongClaimLook};
