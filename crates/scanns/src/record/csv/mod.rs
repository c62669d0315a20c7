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
//! header has names lacks the last ones, and is counted; a row with more values is malformed. Bytes need not
//! be UTF-8: a text keeps the bytes it is given.
//!
//! Files often do not keep to this. A quote that is part of a value may swallow one line at most: `rows.rs`
//! decides where a row ends, and a line whose quotes contradict each other is read with quotes as ordinary
//! characters if it then has one value for each name. Quotes may mean nothing at all, and the first row may
//! be data: that is the dialect.
//!
//! `dialect.rs` says how rows are written, and `sniff.rs` finds it out from samples; `delimiter.rs` guesses
//! and parses delimiters, `rows.rs` finds the ends of rows in a stream, `cuts.rs` where the stream can be
//! divided, `row.rs` the values of a row, `header.rs` the names of the columns; `quotes.rs` removes doubled
//! quotes.

mod cuts;
mod delimiter;
mod dialect;
mod header;
pub(super) mod quotes;
mod row;
mod rows;
mod sniff;
#[cfg(test)]
mod tests;

pub use cuts::CsvCuts;
pub use delimiter::CsvDelimiter;
pub use dialect::{CsvDialect, CsvNames, CsvOptions, CsvQuotes};
pub use header::{CsvHeader, RenamedColumn};
pub use rows::CsvRows;
pub use sniff::CsvSniffer;
