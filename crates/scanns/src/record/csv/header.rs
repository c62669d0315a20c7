//! The columns of a CSV file: their names and their delimiter, from the first row and the dialect.

use hashbrown::{HashMap, HashSet};

use super::delimiter::CsvDelimiter;
use super::dialect::{CsvDialect, CsvNames};
use super::quotes::undouble;
use super::row::{RowShape, count_plain, parse_row, without_line_end};
use crate::record::error::RecordError;
use crate::record::names::{cut, map_name};
use crate::record::raw::{BYTE_ORDER_MARK, RawScalar, ScalarKind};

/// The part of a name that is kept where a number is added to it.
const NUMBERED_NAME: usize = 200;

/// A column that could not keep its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenamedColumn {
    /// The number of the column, from 1.
    pub number: usize,
    /// The name in the file.
    pub from: String,
    /// The name that the column has instead.
    pub to: String,
}

/// The columns of a CSV file: their names, and how rows are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvHeader {
    delimiter: CsvDelimiter,
    quotes: bool,
    names: Vec<String>,
    renamed: Vec<RenamedColumn>,
    is_row: bool,
}

impl CsvHeader {
    /// Reads the first row of a file, with or without its line end.
    ///
    /// If the dialect has no delimiter, it is the one of `, ; | tab` that occurs most often in the row. Names
    /// that are empty, or lead to the same field as an earlier one, get a number.
    ///
    /// # Errors
    /// [`RecordError`] if the row is blank, or if its lines end with carriage returns alone.
    pub fn parse(record: &[u8], dialect: &CsvDialect) -> Result<Self, RecordError> {
        let record = record.strip_prefix(BYTE_ORDER_MARK).unwrap_or(record);
        let delimiter = dialect.delimiter_of(record);
        let quotes = dialect.has_quotes(delimiter);
        let mut cells = Vec::new();
        let mut parse = |quotes| {
            cells.clear();
            let shape = RowShape { delimiter: delimiter.byte(), quotes, names: usize::MAX };
            parse_row(record, shape, &mut |cell| cells.push(cell))
        };
        let is_row = match parse(quotes) {
            // A quote in the first row is an ordinary character if it does not quote.
            Err(_) if quotes => parse(false)?,
            parsed => parsed?,
        };
        if !is_row {
            return Err(RecordError::expected(0, "a first row with the names of the columns"));
        }
        let text = without_line_end(record);
        let is_alone = |at: &usize| text.get(at + 1) != Some(&b'\n');
        if let Some(at) = memchr::memchr_iter(b'\r', text).find(is_alone) {
            return Err(RecordError::LoneReturns { at });
        }
        let (names, renamed) = match &dialect.names {
            CsvNames::FirstRow => {
                let mut text = Vec::new();
                distinct(cells.iter().map(|cell| text_of(cell, record, &mut text)))
            }
            CsvNames::Numbered => ((1..=cells.len()).map(numbered).collect(), Vec::new()),
            CsvNames::Given(names) => distinct(names.iter().cloned()),
        };
        Ok(CsvHeader { delimiter, quotes, names, renamed, is_row: dialect.names != CsvNames::FirstRow })
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The columns that have other names than in the file.
    pub fn renamed(&self) -> &[RenamedColumn] {
        &self.renamed
    }

    /// The delimiter between values.
    pub fn delimiter(&self) -> CsvDelimiter {
        self.delimiter
    }

    /// True if a quote at the start of a value quotes the value.
    pub fn has_quotes(&self) -> bool {
        self.quotes
    }

    /// True if the first row of the file is data.
    pub fn is_row(&self) -> bool {
        self.is_row
    }

    /// Calls `visit` with every value of a row, named by the number of its column. Returns false if the row
    /// is blank.
    #[inline]
    pub(in crate::record) fn parse_row(
        &self,
        record: &[u8],
        visit: &mut impl FnMut(RawScalar),
    ) -> Result<bool, RecordError> {
        parse_row(record, self.shape(self.quotes), visit)
    }

    /// Like [`CsvHeader::parse_row`], with quotes as ordinary characters.
    pub(in crate::record) fn parse_plain(
        &self,
        record: &[u8],
        visit: &mut impl FnMut(RawScalar),
    ) -> Result<bool, RecordError> {
        parse_row(record, self.shape(false), visit)
    }

    /// True if a row has exactly one value for each column if quotes are ordinary characters. If they are
    /// anyway, this is no other reading.
    pub(in crate::record) fn fits_plain(&self, record: &[u8]) -> bool {
        self.quotes && count_plain(record, self.delimiter.byte()) == self.names.len()
    }

    fn shape(&self, quotes: bool) -> RowShape {
        RowShape { delimiter: self.delimiter.byte(), quotes, names: self.names.len() }
    }
}

/// The text of a cell.
fn text_of(cell: &RawScalar, record: &[u8], buffer: &mut Vec<u8>) -> String {
    let mut bytes = cell.bytes(record);
    if cell.kind == ScalarKind::Doubled {
        undouble(bytes, buffer);
        bytes = buffer;
    }
    String::from_utf8_lossy(bytes).into_owned()
}

/// The name of a column without one; columns are counted from 1.
fn numbered(column: usize) -> String {
    format!("column{column}")
}

/// Names that lead to different fields, and the columns that were renamed for that.
fn distinct(names: impl Iterator<Item = String>) -> (Vec<String>, Vec<RenamedColumn>) {
    let mut taken = HashSet::new();
    let mut next = HashMap::<String, u64>::new();
    let mut renamed = Vec::new();
    let mut one = |number: usize, name: String| {
        let base = if name.trim().is_empty() { numbered(number) } else { name.clone() };
        let mut own = base.clone();
        while !taken.insert(map_name(&own)) {
            let base = cut(&base, NUMBERED_NAME);
            let count = next.entry(map_name(base)).or_insert(1);
            *count += 1;
            own = format!("{base}_{count}");
        }
        if own != name {
            renamed.push(RenamedColumn { number, from: name, to: own.clone() });
        }
        own
    };
    let names = (1..).zip(names).map(|(number, name)| one(number, name)).collect();
    (names, renamed)
}
