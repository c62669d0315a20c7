//! The schema of an index: fields, analyzers, and the documents that fit them.
//!
//! The schema is stored in the manifest of an index, so that a query is analyzed like the documents.
//! `fields.rs` defines fields, `joined.rs` the fields of several indexes, `document.rs` documents, and
//! `date.rs` parses and formats dates; `value_format.rs` says how records write dates and numbers,
//! `file_mode.rs` how modes of files are written. `analyzer.rs` names the analyzers, and `chain.rs` parses
//! analyzers that users define; `language.rs`, `grams.rs` and `delimiters.rs` (the set of bytes that
//! separate tokens) are their parameters.

mod analyzer;
mod chain;
mod date;
mod delimiters;
mod document;
mod fields;
mod file_mode;
mod grams;
mod joined;
mod language;
mod literal;
mod stored;
mod value_format;

pub use analyzer::Analyzer;
pub(crate) use analyzer::CHAIN;
pub use chain::Chain;
pub(crate) use chain::{Base, CODE_BREAKS, LINE_ENDS, Step, StopWords};
pub use date::{EpochUnit, format_date, parse_date, parse_epoch};
pub(crate) use date::{
    day_of, days_since_1970, is_rfc3339, parse_log_date, parse_rfc3339, rfc2822_in_rfc3339,
};
pub use delimiters::Delimiters;
pub use document::{Document, Value, ValueRef};
pub(crate) use document::{MAX_KEY, decode_stored, put_stored};
pub use fields::{Field, FieldEntry, FieldKind, MAX_FIELDS, Schema};
pub(crate) use fields::{MAX_NAME, fits_name};
pub(crate) use file_mode::ModeText;
pub use file_mode::{format_mode, format_mode_octal};
pub use grams::Grams;
pub(crate) use joined::{FieldNumbers, joined_schema};
pub use language::{LANGUAGES, Language};
pub(crate) use literal::{length_of_time, literal};
pub use stored::{Compression, Store, Stored};
pub use value_format::ValueFormat;

/// The maximum length of a token in bytes; longer tokens are cut to this length and counted.
pub const MAX_TOKEN: usize = 32 << 10;

use std::str::FromStr;

use crate::error::{Error, Result};

/// How the inputs of an index are divided into documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Records {
    /// One document per file.
    File,
    /// One document per line. Empty lines are documents too, so that documents and line numbers correspond.
    Lines,
    /// One document per line that contains a JSON object; line numbers count all lines.
    Jsonl,
    /// One document per row of CSV; rows are numbered from 1, without the header.
    Csv,
    /// One document per page in an archive of the web, WARC or ARC; all records are numbered, from 1.
    Warc,
    /// One document per `<DOC>` of a TREC collection.
    Trec,
    /// One document per `.I` of a collection of the SMART system.
    Smart,
    /// One document per message of a mailbox.
    Mbox,
    /// One document per page of an XML dump of MediaWiki.
    MediaWiki,
    /// One document per line of an access log of a web server.
    Access,
    /// One document per line of a log in the format of syslog.
    Syslog,
    /// One document per entry of a journal of systemd, a JSON object in a line.
    Journal,
}

/// All kinds of records.
const RECORDS: [Records; 12] = [
    Records::File,
    Records::Lines,
    Records::Jsonl,
    Records::Csv,
    Records::Warc,
    Records::Trec,
    Records::Smart,
    Records::Mbox,
    Records::MediaWiki,
    Records::Access,
    Records::Syslog,
    Records::Journal,
];

impl Records {
    /// Parses a name, as [`Records::name`] gives it.
    pub fn parse(name: &str) -> Result<Self> {
        RECORDS.into_iter().find(|records| records.name() == name).ok_or_else(|| Error::UnknownName {
            what: "records",
            name: name.into(),
            known: "file, lines, jsonl, csv, warc, trec, smart, mbox, mediawiki, access, syslog or journal"
                .into(),
        })
    }

    /// The name that [`Records::parse`] accepts.
    pub fn name(self) -> &'static str {
        match self {
            Records::File => "file",
            Records::Lines => "lines",
            Records::Jsonl => "jsonl",
            Records::Csv => "csv",
            Records::Warc => "warc",
            Records::Trec => "trec",
            Records::Smart => "smart",
            Records::Mbox => "mbox",
            Records::MediaWiki => "mediawiki",
            Records::Access => "access",
            Records::Syslog => "syslog",
            Records::Journal => "journal",
        }
    }

    /// The number of the variant in files.
    pub(crate) fn code(self) -> u32 {
        match self {
            Records::File => 0,
            Records::Lines => 1,
            Records::Jsonl => 2,
            Records::Csv => 3,
            Records::Warc => 4,
            Records::Trec => 5,
            Records::Smart => 6,
            Records::Mbox => 7,
            Records::MediaWiki => 8,
            Records::Access => 9,
            Records::Syslog => 10,
            Records::Journal => 11,
        }
    }

    /// The variant with a number in a file.
    pub(crate) fn from_code(code: u32) -> Option<Self> {
        RECORDS.into_iter().find(|records| records.code() == code)
    }

    /// True if every line end is the end of a document, so that a file can be read in parts.
    pub(crate) fn ends_with_lines(self) -> bool {
        matches!(self, Records::Lines | Records::Jsonl)
    }

    /// True if documents are parts of files, and have numbers in them.
    pub(crate) fn are_parts(self) -> bool {
        self != Records::File
    }

    /// True if documents have fields with values.
    pub fn have_fields(self) -> bool {
        !matches!(self, Records::File | Records::Lines)
    }
}

impl FromStr for Records {
    type Err = Error;

    /// Parses a name as [`Records::parse`] does.
    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

/// The details that a posting contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Postings {
    /// How often the term occurs in the document.
    #[default]
    Frequencies,
    /// Frequencies and positions: the numbers, from 0, of the tokens of the document that are the term.
    Positions,
    /// Only that the term occurs in the document.
    Documents,
    /// Positions and offsets: where each occurrence begins and ends in the text.
    ///
    /// Offsets count bytes of the text as it was read: of a file, of a line, of a value of the field. If a
    /// document has several values of a field, each value starts one byte after the end of the previous one.
    /// Offsets are clamped to 2³² - 1.
    Offsets,
}

impl Postings {
    /// The number of the variant in files.
    pub(crate) fn code(self) -> u32 {
        match self {
            Postings::Frequencies => 0,
            Postings::Positions => 1,
            Postings::Documents => 2,
            Postings::Offsets => 3,
        }
    }

    /// The variant with a number in a file.
    pub(crate) fn from_code(code: u32) -> Option<Self> {
        [Postings::Frequencies, Postings::Positions, Postings::Documents, Postings::Offsets]
            .into_iter()
            .find(|kept| kept.code() == code)
    }

    /// True if postings contain positions.
    pub fn has_positions(self) -> bool {
        matches!(self, Postings::Positions | Postings::Offsets)
    }

    /// True if postings contain offsets.
    pub fn has_offsets(self) -> bool {
        self == Postings::Offsets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_records_are_refused() {
        for records in RECORDS {
            assert_eq!(Records::parse(records.name()).unwrap(), records);
        }
        assert!(Records::parse("page").is_err());
    }
}
