//! Where records end in the bytes of a file: lines of JSON, rows of CSV below a header, or the records of a
//! collection.

use crate::read::PieceStart;
use crate::record::{
    CollectionEnds, CollectionFormat, CsvDialect, CsvHeader, CsvRows, LongClaim, RecordError,
};
use crate::schema::Records;

/// Finds the ends of the records of one file after the other.
pub(super) enum RecordEnds {
    /// Records are lines. The number of bytes of the current line that have no line feed.
    Lines(usize),
    /// Records are rows of CSV.
    Rows(CsvState),
    /// Records of a collection.
    Collection(CollectionEnds),
}

/// The state of a CSV file.
pub(super) struct CsvState {
    dialect: CsvDialect,
    rows: CsvRows,
    place: CsvPlace,
}

/// How far a CSV file was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CsvPlace {
    /// The first row comes next.
    FirstRow,
    /// The columns are known.
    Rows,
    /// The first row could not be read: the rest of the file is skipped.
    Skipping,
}

impl RecordEnds {
    pub(super) fn new(records: Records, dialect: &CsvDialect) -> Self {
        if let Some(format) = CollectionFormat::of(records) {
            return RecordEnds::Collection(CollectionEnds::new(format));
        }
        if records != Records::Csv {
            return RecordEnds::Lines(0);
        }
        let rows = CsvRows::new(dialect);
        RecordEnds::Rows(CsvState { dialect: dialect.clone(), rows, place: CsvPlace::FirstRow })
    }

    /// Starts a file, or a run of lines.
    pub(super) fn open(&mut self) {
        match self {
            RecordEnds::Lines(searched) => *searched = 0,
            RecordEnds::Rows(csv) => {
                csv.rows = CsvRows::new(&csv.dialect);
                csv.place = CsvPlace::FirstRow;
            }
            RecordEnds::Collection(ends) => *ends = ends.restarted(),
        }
    }

    /// Continues a CSV file at a cut, and returns its columns; `None` for lines.
    ///
    /// # Errors
    /// [`RecordError`] if the first row has no columns; the file is skipped.
    pub(super) fn resume(&mut self, at: &PieceStart) -> Result<Option<CsvHeader>, RecordError> {
        let header = self.read_header(&at.head)?;
        if let RecordEnds::Rows(csv) = self {
            csv.rows = std::mem::replace(&mut csv.rows, CsvRows::new(&csv.dialect)).with_credit(at.credit);
        }
        Ok(header)
    }

    /// Returns the length of the record that `bytes` begins with, or `None` if it continues after them. If it
    /// does, the same bytes must come again, with more behind them. If `is_end`, nothing follows.
    #[inline]
    pub(super) fn next_end(&mut self, bytes: &[u8], is_end: bool) -> Option<usize> {
        match self {
            RecordEnds::Lines(searched) => {
                let rest = bytes.get(*searched..).unwrap_or_default();
                let end = memchr::memchr(b'\n', rest).map(|feed| *searched + feed + 1);
                let end = end.or((is_end && !bytes.is_empty()).then_some(bytes.len()));
                *searched = if end.is_some() { 0 } else { bytes.len() };
                end
            }
            RecordEnds::Rows(csv) if csv.place == CsvPlace::Skipping => None,
            RecordEnds::Rows(csv) => csv.rows.next_end(bytes, is_end),
            RecordEnds::Collection(ends) if !bytes.is_empty() => ends.next_end(bytes, is_end),
            RecordEnds::Collection(_) => None,
        }
    }

    /// Where a record that is too large ends in `bytes`; `None` if it continues after them. If the end cannot
    /// be known, the rest counts as another record.
    pub(super) fn end_of_skipped(&self, bytes: &[u8]) -> Option<usize> {
        match self {
            RecordEnds::Collection(_) => Some(0),
            _ => memchr::memchr(b'\n', bytes).map(|feed| feed + 1),
        }
    }

    /// Waits for the end of a record that is too large, which `start` begins, if the record says where it
    /// ends.
    pub(super) fn long_claim(&self, start: &[u8]) -> Option<LongClaim> {
        match self {
            RecordEnds::Collection(ends) => ends.long_claim(start),
            _ => None,
        }
    }

    /// Takes the end that the current record claims for wrong.
    pub(super) fn distrust(&mut self) {
        if let RecordEnds::Collection(ends) = self {
            ends.distrust();
        }
    }

    /// True if records may be much larger than their text, and their beginnings are records too.
    pub(super) fn has_long_records(&self) -> bool {
        matches!(self, RecordEnds::Collection(_))
    }

    /// Starts a record after one that was not passed to [`RecordEnds::next_end`] to its end.
    pub(super) fn start_record(&mut self) {
        match self {
            RecordEnds::Lines(searched) => *searched = 0,
            RecordEnds::Rows(csv) => csv.rows.start_row(),
            RecordEnds::Collection(ends) => ends.start_record(),
        }
    }

    /// The numbers that the last record takes.
    #[inline]
    pub(super) fn numbers(&self) -> u64 {
        match self {
            RecordEnds::Collection(ends) => ends.numbers(),
            _ => 1,
        }
    }

    /// The number of lines of the last record.
    pub(super) fn lines(&self) -> u64 {
        match self {
            RecordEnds::Lines(_) | RecordEnds::Collection(_) => 1,
            RecordEnds::Rows(csv) => csv.rows.lines(),
        }
    }

    /// True if the next record is the first row of a CSV file, for [`RecordEnds::read_header`].
    pub(super) fn needs_header(&self) -> bool {
        matches!(self, RecordEnds::Rows(csv) if csv.place == CsvPlace::FirstRow)
    }

    /// True if the rest of the file is skipped, because its first row could not be read.
    pub(super) fn is_skipping(&self) -> bool {
        matches!(self, RecordEnds::Rows(csv) if csv.place == CsvPlace::Skipping)
    }

    /// Reads the first row of a CSV file, and returns the columns; `None` for lines.
    ///
    /// # Errors
    /// [`RecordError`] if the row has no columns. The rest of the file must be skipped.
    pub(super) fn read_header(&mut self, row: &[u8]) -> Result<Option<CsvHeader>, RecordError> {
        let RecordEnds::Rows(csv) = self else { return Ok(None) };
        csv.place = CsvPlace::Skipping;
        let header = CsvHeader::parse(row, &csv.dialect)?;
        csv.rows = csv.rows.below(&header);
        csv.place = CsvPlace::Rows;
        Ok(Some(header))
    }
}
