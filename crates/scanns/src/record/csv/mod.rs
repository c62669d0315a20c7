//! CSV (RFC 4180): where a record ends, the names in the header, the values of a row.
//!
//! ```text
//! file   = [ BOM ] header { row }
//! row    = value { delimiter value } ( LF | CR LF | end of file )
//! value  = plain | '"' { any byte but '"', or two of them } '"'
//! plain  = any bytes but delimiter and LF, of which the first is not '"'
//! ```
//!
//! Quoted values may contain delimiters and line feeds. A quote inside a plain value is an ordinary
//! character; after the quote that closes a value only a delimiter or the end of the row may follow. An empty
//! plain value is null, `""` is an empty text. An empty row is not a record; a row with fewer values than the
//! header has names lacks the last ones; a row with more values is malformed. Bytes need not be UTF-8: a text
//! keeps the bytes it is given.
//!
//! `delimiter.rs` guesses and parses delimiters, `ends.rs` finds the ends of records in a stream, `row.rs`
//! the values of a row, `header.rs` the names of the columns; `quotes.rs` removes doubled quotes.

mod delimiter;
mod ends;
mod header;
pub(super) mod quotes;
mod row;
#[cfg(test)]
mod tests;

pub use delimiter::CsvDelimiter;
pub use ends::CsvEnds;
pub use header::CsvHeader;
