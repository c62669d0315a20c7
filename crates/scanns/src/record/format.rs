//! What the bytes of records mean: JSON, or CSV below a header.
//!
//! A record counts as a whole or not at all. So its scalars wait, as places in it, until its end has been seen. A
//! record of more scalars than wait ([`MOST_WAITING`]) is parsed once more instead, so that a hostile one takes no
//! memory that grows with it, apart from the names in it.

use super::csv::{CsvDelimiter, CsvHeader};
use super::error::RecordError;
use super::json::{self, paths::Paths};
use super::raw::Raw;

/// Most scalars of a record that wait for its end.
pub(super) const MOST_WAITING: usize = 1 << 16;

/// How records with fields are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordFormat {
    /// One object of JSON each, a line without line feeds inside: JSON Lines.
    Json,
    /// Rows of CSV below this header.
    Csv(CsvHeader),
}

/// How a file of records with fields is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// JSON Lines.
    Json,
    /// CSV, whose first record is a header; what delimits values is guessed from that unless it is given.
    Csv(Option<CsvDelimiter>),
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

/// A parser that tells scalars of whole records only: first a record is checked, then it is told.
pub(super) struct Checked {
    pub parser: Parser,
    waiting: Vec<Raw>,
    /// True if there are scalars that do not wait.
    more: bool,
}

impl Checked {
    pub fn new(format: RecordFormat) -> Self {
        Checked { parser: Parser::new(format), waiting: Vec::new(), more: false }
    }

    /// Parses a record; false if it is blank.
    #[inline]
    pub fn check(&mut self, record: &[u8]) -> Result<bool, RecordError> {
        let Self { parser, waiting, more } = self;
        waiting.clear();
        *more = false;
        parser.parse(record, &mut |raw| {
            if waiting.len() < MOST_WAITING {
                waiting.push(raw);
            } else {
                *more = true;
            }
        })
    }

    /// Tells the scalars of the record that was checked last.
    #[inline]
    pub fn tell(&mut self, record: &[u8], tell: &mut impl FnMut(Raw)) -> Result<(), RecordError> {
        if self.more {
            return self.parser.parse(record, tell).map(drop);
        }
        self.waiting.iter().copied().for_each(tell);
        Ok(())
    }
}
