//! The first record of a CSV file: the names of the columns, and their delimiter.

use super::delimiter::CsvDelimiter;
use super::quotes::undouble;
use super::row::parse_row;
use crate::record::error::RecordError;
use crate::record::raw::{BYTE_ORDER_MARK, RawScalar, ScalarKind};

/// The first record of a CSV file: the names of the columns, and their delimiter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvHeader {
    delimiter: CsvDelimiter,
    names: Vec<String>,
}

impl CsvHeader {
    /// Parses a header, with or without its line end. If `delimiter` is `None`, the delimiter is the one of
    /// `, ; | tab` that occurs most often in the header.
    ///
    /// # Errors
    /// [`RecordError`] if the header is malformed or has no names.
    pub fn parse(record: &[u8], delimiter: Option<CsvDelimiter>) -> Result<Self, RecordError> {
        let record = record.strip_prefix(BYTE_ORDER_MARK).unwrap_or(record);
        let delimiter = delimiter.unwrap_or_else(|| CsvDelimiter::guess(record));
        let mut cells = Vec::new();
        if !parse_row(record, delimiter, usize::MAX, &mut |cell| cells.push(cell))? {
            return Err(RecordError::expected(0, "a header with the names of the columns"));
        }
        let mut text = Vec::new();
        let mut name = |cell: &RawScalar| {
            let mut bytes = cell.bytes(record);
            if cell.kind == ScalarKind::Doubled {
                undouble(bytes, &mut text);
                bytes = &text;
            }
            String::from_utf8_lossy(bytes).into_owned()
        };
        Ok(CsvHeader { delimiter, names: cells.iter().map(&mut name).collect() })
    }

    /// The names of the columns, as they are in the file.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The delimiter between values.
    pub fn delimiter(&self) -> CsvDelimiter {
        self.delimiter
    }

    /// Calls `visit` with every value of a row, named by the number of its column. Returns false if the row
    /// is blank.
    pub(in crate::record) fn parse_row(
        &self,
        record: &[u8],
        visit: &mut impl FnMut(RawScalar),
    ) -> Result<bool, RecordError> {
        parse_row(record, self.delimiter, self.names.len(), visit)
    }
}
