//! The formats of records: JSON, CSV below a header, or the records of a collection.
//!
//! A record is used as a whole or not at all. Therefore its scalars are kept, as places in the record, until
//! its end has been parsed. If a record has more than [`MOST_WAITING`] scalars, it is parsed a second time
//! instead. A hostile record therefore takes no memory that grows with its length, apart from the names in
//! it.

use std::ops::Range;

use super::collection::{CollectionFormat, CollectionReader, RecordNote};
use super::csv::{CsvDialect, CsvHeader};
use super::error::RecordError;
use super::json::{self, paths::Paths};
use super::made_record::MadeRecord;
use super::raw::{RawScalar, ScalarKind};
use crate::sys;

/// The maximum number of scalars of a record that are kept until its end.
pub(super) const MOST_WAITING: usize = 1 << 16;

/// The format of records with fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordFormat {
    /// One JSON object per line, without line feeds inside: JSON Lines.
    Json,
    /// Rows of CSV below this header.
    Csv(CsvHeader),
    /// Records of a collection.
    Collection(CollectionFormat),
}

/// The format of a file of records with fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// JSON Lines.
    Json,
    /// CSV in this dialect.
    Csv(CsvDialect),
}

/// The start of the current hour in seconds since 1970. The parsers of a build, which begin at almost the
/// same time, should guess the same years.
fn start_of_hour() -> i64 {
    let hour = 3600;
    sys::now() / 1_000_000_000 / hour * hour
}

/// A parser of records, with the names it has learned.
pub(super) enum RecordParser {
    Json(Paths),
    Csv(CsvHeader),
    Collection(CollectionReader),
}

impl RecordParser {
    pub fn new(format: RecordFormat) -> Self {
        match format {
            RecordFormat::Json => RecordParser::Json(Paths::new()),
            RecordFormat::Csv(header) => RecordParser::Csv(header),
            RecordFormat::Collection(format) => {
                RecordParser::Collection(CollectionReader::new(format, start_of_hour()))
            }
        }
    }

    /// Calls `visit` with every scalar of a record of JSON or CSV; returns false if the record is blank.
    /// After an error, the scalars must be ignored.
    pub fn parse(&mut self, record: &[u8], visit: &mut impl FnMut(RawScalar)) -> Result<bool, RecordError> {
        match self {
            RecordParser::Json(paths) => json::parse(record, paths, visit),
            RecordParser::Csv(header) => header.parse_row(record, visit),
            RecordParser::Collection(_) => Ok(false),
        }
    }

    /// The number of names.
    pub fn names(&self) -> usize {
        match self {
            RecordParser::Json(paths) => paths.len(),
            RecordParser::Csv(header) => header.names().len(),
            RecordParser::Collection(reader) => reader.names().len(),
        }
    }

    /// The name with this number, as it is written in the record.
    pub fn source(&self, number: u32) -> &str {
        match self {
            RecordParser::Json(paths) => paths.source(number),
            RecordParser::Csv(header) => header.names().get(number as usize).map_or("", String::as_str),
            RecordParser::Collection(reader) => reader.names().get(number as usize).unwrap_or(&""),
        }
    }

    /// See [`RecordReader::detect_languages`](super::reader::RecordReader::detect_languages).
    pub fn detect_languages(&mut self, detect: bool) {
        if let RecordParser::Collection(CollectionReader::Warc(reader)) = self {
            reader.detect_languages(detect);
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
    /// The number of scalars that were not kept.
    beyond: usize,
    /// What is unusual about the record: its quotes, its number of values, its number of lines.
    oddities: [Option<Oddity>; 3],
    /// The values of a record of a collection, and what is unusual about it.
    made: MadeRecord,
    notes: Vec<RecordNote>,
}

/// What is unusual about a record that is a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Oddity {
    /// A row whose quotes contradict each other, as the error says; they were read as ordinary characters.
    Repaired(RecordError),
    /// A row with fewer values than the header has names, as the error says.
    Short(RecordError),
    /// A row of several lines, as the error says.
    Several(RecordError),
}

impl CheckedParser {
    pub fn new(format: RecordFormat) -> Self {
        CheckedParser {
            parser: RecordParser::new(format),
            waiting: Vec::new(),
            beyond: 0,
            oddities: [None; 3],
            made: MadeRecord::default(),
            notes: Vec::new(),
        }
    }

    /// Parses a record; returns false if it is blank.
    #[inline]
    pub fn check(&mut self, record: &[u8]) -> Result<bool, RecordError> {
        let Self { parser, waiting, beyond, .. } = self;
        waiting.clear();
        *beyond = 0;
        if let RecordParser::Collection(_) = parser {
            return self.make(record);
        }
        let parsed = parser.parse(record, &mut |raw| keep(waiting, beyond, raw));
        self.oddities = [None; 3];
        let RecordParser::Csv(header) = &self.parser else { return parsed };
        match parsed {
            Err(error @ RecordError::Expected { .. }) if header.fits_plain(record) => {
                self.waiting.clear();
                self.beyond = 0;
                self.oddities[0] = Some(Oddity::Repaired(error));
                header.parse_plain(record, &mut |raw| keep(&mut self.waiting, &mut self.beyond, raw))
            }
            Ok(true) => {
                let (values, names) = (self.waiting.len() + self.beyond, header.names().len());
                if values < names {
                    self.oddities[1] = Some(Oddity::Short(RecordError::TooFew { values, names }));
                }
                if let Some(lines) = several_lines(record) {
                    self.oddities[2] = Some(Oddity::Several(RecordError::SeveralLines { lines }));
                }
                parsed
            }
            _ => parsed,
        }
    }

    /// Makes the values of a record of a collection; returns false if it is not a document.
    fn make(&mut self, record: &[u8]) -> Result<bool, RecordError> {
        let RecordParser::Collection(reader) = &mut self.parser else { return Ok(false) };
        let is_document = reader.read(record, &mut self.made, &mut self.notes)?;
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let scalar = |(name, value): (u32, Range<usize>)| RawScalar {
            name,
            kind: ScalarKind::Text,
            start: place(value.start),
            end: place(value.end),
        };
        self.waiting.extend(self.made.values().map(scalar));
        Ok(is_document)
    }

    /// What is unusual about the record of a collection that was checked last.
    pub fn notes(&self) -> &[RecordNote] {
        &self.notes
    }

    /// What is unusual about the record that was checked last.
    #[inline]
    pub fn oddities(&self) -> impl Iterator<Item = Oddity> {
        self.oddities.into_iter().flatten()
    }

    /// Calls `visit` with the scalars of the record that was checked last, and the bytes in which they are.
    #[inline]
    pub fn replay(
        &mut self,
        record: &[u8],
        visit: &mut impl FnMut(&[u8], RawScalar),
    ) -> Result<(), RecordError> {
        if self.beyond == 0 {
            let is_made = matches!(self.parser, RecordParser::Collection(_));
            let bytes = if is_made { self.made.bytes() } else { record };
            self.waiting.iter().for_each(|&raw| visit(bytes, raw));
            return Ok(());
        }
        let visit = &mut |raw| visit(record, raw);
        match (&self.parser, self.oddities[0]) {
            (RecordParser::Csv(header), Some(Oddity::Repaired(_))) => header.parse_plain(record, visit),
            _ => self.parser.parse(record, visit),
        }
        .map(drop)
    }
}

/// The number of lines of a row, if there are several.
#[inline]
fn several_lines(row: &[u8]) -> Option<usize> {
    let text = row.strip_suffix(b"\n").unwrap_or(row);
    memchr::memchr(b'\n', text)?;
    Some(memchr::memchr_iter(b'\n', text).count() + 1)
}

/// Keeps a scalar until the end of its record, or counts it.
#[inline]
fn keep(waiting: &mut Vec<RawScalar>, beyond: &mut usize, raw: RawScalar) {
    if waiting.len() < MOST_WAITING {
        waiting.push(raw);
    } else {
        *beyond += 1;
    }
}
