//! How the bytes of an index are to be understood: which analyzer finds terms, what a document is.
//!
//! These values travel with the index (they stand in its manifest), so that a query is analyzed as the
//! documents were. `fields.rs` says of what fields documents consist, `document.rs` is one, `date.rs` reads
//! and writes dates; `analyzer.rs` names the ways to find terms, `chain.rs` is how users put their own
//! together; `language.rs`, `grams.rs` and `delimiters.rs`, the byte set that separates tokens, are their
//! parameters.

mod analyzer;
mod chain;
mod date;
mod delimiters;
mod document;
mod fields;
mod grams;
mod language;
mod literal;
mod stored;

pub use analyzer::Analyzer;
pub(crate) use analyzer::CHAIN;
pub use chain::Chain;
pub(crate) use chain::{Base, CODE_BREAKS, LINE_ENDS, Step, StopWords};
pub(crate) use date::{day_of, days_since_1970};
pub use date::{format_date, parse_date};
pub use delimiters::Delimiters;
pub use document::{Document, Value, ValueRef};
pub(crate) use document::{MAX_KEY, decode_stored, put_stored};
pub use fields::{Field, FieldEntry, FieldKind, MAX_FIELDS, Schema};
pub(crate) use fields::{MAX_NAME, fits_name};
pub use grams::Grams;
pub use language::{LANGUAGES, Language};
pub(crate) use literal::literal;
pub use stored::{Compression, Store, Stored};

/// Longest token kept, in bytes; longer ones are cut to this length and counted.
pub const MAX_TOKEN: usize = 32 << 10;

use std::str::FromStr;

use crate::error::{Error, Result};

/// What one document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Records {
    /// One document per file.
    File,
    /// One document per line, empty ones included, so that line numbers and documents go together.
    Lines,
    /// One document per line that is an object of JSON; lines are numbered as they stand.
    Jsonl,
    /// One document per row of CSV below a header; rows are numbered from 1.
    Csv,
}

impl Records {
    /// Parses `file`, `lines`, `jsonl` or `csv`.
    pub fn parse(name: &str) -> Result<Self> {
        let all = [Records::File, Records::Lines, Records::Jsonl, Records::Csv];
        all.into_iter().find(|records| records.name() == name).ok_or_else(|| Error::UnknownName {
            what: "records",
            name: name.into(),
            known: "file, lines, jsonl or csv".into(),
        })
    }

    /// The name that [`Records::parse`] takes.
    pub fn name(self) -> &'static str {
        match self {
            Records::File => "file",
            Records::Lines => "lines",
            Records::Jsonl => "jsonl",
            Records::Csv => "csv",
        }
    }

    /// True if a document ends with its line, wherever that is: files can be read in stretches.
    pub(crate) fn ends_with_lines(self) -> bool {
        matches!(self, Records::Lines | Records::Jsonl)
    }

    /// True if documents are parts of files, and have numbers in them.
    pub(crate) fn are_parts(self) -> bool {
        self != Records::File
    }

    /// True if documents have fields with values of their own.
    pub fn have_fields(self) -> bool {
        matches!(self, Records::Jsonl | Records::Csv)
    }
}

impl FromStr for Records {
    type Err = Error;

    /// See [`Records::parse`].
    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

/// What is kept of a term in a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Postings {
    /// How often it occurs there.
    #[default]
    Frequencies,
    /// Where it stands too: the positions, from 0, of the tokens of the document that are the term.
    Positions,
    /// That it occurs there, and no more.
    Documents,
    /// Positions, and of each occurrence where it begins and ends in the text.
    ///
    /// That is in bytes of the text as it was read: of a file, of a line, of a value of the field. Where a
    /// document has several values of a field, each goes on one byte after the end of the one before.
    /// From 2³² - 1 on, offsets are that.
    Offsets,
}

impl Postings {
    /// The number that stands for it in files.
    pub(crate) fn code(self) -> u32 {
        match self {
            Postings::Frequencies => 0,
            Postings::Positions => 1,
            Postings::Documents => 2,
            Postings::Offsets => 3,
        }
    }

    /// What a number in a file stands for.
    pub(crate) fn from_code(code: u32) -> Option<Self> {
        [Postings::Frequencies, Postings::Positions, Postings::Documents, Postings::Offsets]
            .into_iter()
            .find(|kept| kept.code() == code)
    }

    /// True if positions are kept.
    pub fn has_positions(self) -> bool {
        matches!(self, Postings::Positions | Postings::Offsets)
    }

    /// True if offsets are kept.
    pub fn has_offsets(self) -> bool {
        self == Postings::Offsets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_records_are_refused() {
        for records in [Records::File, Records::Lines, Records::Jsonl, Records::Csv] {
            assert_eq!(Records::parse(records.name()).unwrap(), records);
        }
        assert!(Records::parse("page").is_err());
    }
}
