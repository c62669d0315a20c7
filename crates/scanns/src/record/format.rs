//! What the bytes of records mean: JSON, or CSV below a header.

use super::csv::CsvHeader;
use super::error::RecordError;
use super::json::{self, paths::Paths};
use super::raw::Raw;

/// How records with fields are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordFormat {
    /// One object of JSON each, a line without line feeds inside: JSON Lines.
    Json,
    /// Rows of CSV below this header.
    Csv(CsvHeader),
}

/// A parser of records, with what it has learned of their names.
pub(super) enum Parser {
    Json(Paths),
    Csv(CsvHeader),
}

impl Parser {
    pub fn new(format: RecordFormat) -> Self {
        match format {
            RecordFormat::Json => Parser::Json(Paths::new()),
            RecordFormat::Csv(header) => Parser::Csv(header),
        }
    }

    /// Tells `visit` every scalar of a record; false if that is blank. What it was told counts if all went well.
    pub fn parse(&mut self, record: &[u8], visit: &mut impl FnMut(Raw)) -> Result<bool, RecordError> {
        match self {
            Parser::Json(paths) => json::parse(record, paths, visit),
            Parser::Csv(header) => header.parse_row(record, visit),
        }
    }

    /// How many numbers of names there are.
    pub fn names(&self) -> usize {
        match self {
            Parser::Json(paths) => paths.len(),
            Parser::Csv(header) => header.names().len(),
        }
    }

    /// The name with a number, as it is in the record.
    pub fn source(&self, number: u32) -> &str {
        match self {
            Parser::Json(paths) => paths.source(number),
            Parser::Csv(header) => header.names().get(number as usize).map_or("", String::as_str),
        }
    }

    /// True if names should be forgotten with [`Parser::forget`] before the next record.
    pub fn is_full(&self) -> bool {
        matches!(self, Parser::Json(paths) if paths.is_full())
    }

    /// Forgets names; numbers are given anew.
    pub fn forget(&mut self) {
        if let Parser::Json(paths) = self {
            paths.clear();
        }
    }
}
