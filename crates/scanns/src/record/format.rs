//! The formats of records: JSON, or CSV below a header.
//!
//! A record is used as a whole or not at all. Therefore its scalars are kept, as places in the record, until
//! its end has been parsed. If a record has more than [`MOST_WAITING`] scalars, it is parsed a second time
//! instead. A hostile record therefore takes no memory that grows with its length, apart from the names in
//! it.

use super::csv::{CsvDelimiter, CsvHeader};
use super::error::RecordError;
use super::json::{self, paths::Paths};
use super::raw::RawScalar;

/// The maximum number of scalars of a record that are kept until its end.
pub(super) const MOST_WAITING: usize = 1 << 16;

/// The format of records with fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordFormat {
    /// One JSON object per line, without line feeds inside: JSON Lines.
    Json,
    /// Rows of CSV below this header.
    Csv(CsvHeader),
}

/// The format of a file of records with fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// JSON Lines.
    Json,
    /// CSV whose first record is a header; the delimiter is guessed from the header unless it is given.
    Csv(Option<CsvDelimiter>),
}

/// A parser of records, with the names it has learned.
pub(super) enum RecordParser {
    Json(Paths),
    Csv(CsvHeader),
}

impl RecordParser {
    pub fn new(format: RecordFormat) -> Self {
        match format {
            RecordFormat::Json => RecordParser::Json(Paths::new()),
            RecordFormat::Csv(header) => RecordParser::Csv(header),
        }
    }

    /// Calls `visit` with every scalar of a record; returns false if the record is blank. After an error, the
    /// scalars must be ignored.
    pub fn parse(&mut self, record: &[u8], visit: &mut impl FnMut(RawScalar)) -> Result<bool, RecordError> {
        match self {
            RecordParser::Json(paths) => json::parse(record, paths, visit),
            RecordParser::Csv(header) => header.parse_row(record, visit),
        }
    }

    /// The number of names.
    pub fn names(&self) -> usize {
        match self {
            RecordParser::Json(paths) => paths.len(),
            RecordParser::Csv(header) => header.names().len(),
        }
    }

    /// The name with this number, as it is written in the record.
    pub fn source(&self, number: u32) -> &str {
        match self {
            RecordParser::Json(paths) => paths.source(number),
            RecordParser::Csv(header) => header.names().get(number as usize).map_or("", String::as_str),
        }
    }

    /// True if [`RecordParser::forget`] should be called before the next record.
    pub fn is_full(&self) -> bool {
        matches!(self, RecordParser::Json(paths) if paths.is_full())
    }

    /// Forgets all names; the numbers are assigned again from the start.
    pub fn forget(&mut self) {
        if let RecordParser::Json(paths) = self {
            paths.clear();
        }
    }
}

/// A parser that passes on the scalars of well-formed records only: it checks a record first and then replays
/// it.
pub(super) struct CheckedParser {
    pub parser: RecordParser,
    waiting: Vec<RawScalar>,
    /// True if there are more scalars than were kept.
    more: bool,
}

impl CheckedParser {
    pub fn new(format: RecordFormat) -> Self {
        CheckedParser { parser: RecordParser::new(format), waiting: Vec::new(), more: false }
    }

    /// Parses a record; returns false if it is blank.
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

    /// Calls `visit` with the scalars of the record that was checked last.
    #[inline]
    pub fn replay(&mut self, record: &[u8], visit: &mut impl FnMut(RawScalar)) -> Result<(), RecordError> {
        if self.more {
            return self.parser.parse(record, visit).map(drop);
        }
        self.waiting.iter().copied().for_each(visit);
        Ok(())
    }
}
