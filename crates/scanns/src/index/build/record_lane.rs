//! Indexes records with fields: JSON Lines and CSV in, segments out.
//!
//! A record is indexed completely or not at all, so a record that spans several pieces is joined first. A
//! malformed, blank or too large record becomes a void document, so that the records after it keep their
//! numbers. The header of a CSV file has no number.

use super::budget::PART_BYTES;
use super::field_set::FieldSet;
use super::lane::PieceIndexer;
use super::lane_output::{LaneContext, LaneOutput};
use super::lane_report::{ConflictPlace, LaneReport};
use super::record_fields::RecordFields;
use super::report::MalformedRecord;
use crate::error::{Error, Result};
use crate::invert::CHECK_EVERY;
use crate::read::{LineNumber, Piece};
use crate::record::{CsvDelimiter, CsvEnds, CsvHeader, MALFORMED, RecordFormat, RecordReader, Recorded};
use crate::schema::{Field, Records, Store};
use crate::source::Failure;

/// The maximum size of a record.
const MOST_RECORD: usize = 64 << 20;

/// A record of at least this size is indexed only if there is room for it.
const LARGE: usize = 4 << 10;

/// An upper bound of the memory that indexing one byte of a record takes.
const GROWTH: usize = 24;

/// The additional state for reading CSV.
struct CsvState {
    delimiter: Option<CsvDelimiter>,
    ends: CsvEnds,
    /// True once the header has been read.
    has_header: bool,
    /// True while the rest of a file with an unreadable header is skipped.
    skipping_file: bool,
}

/// The place of a malformed record: its input, and its number, given as the number of an earlier record and
/// the records since then.
struct RecordPlace {
    input: u32,
    line: LineNumber,
    later: u64,
}

/// The state of an index thread of records.
pub(crate) struct RecordIndexer<'a> {
    context: LaneContext<'a>,
    fields: FieldSet,
    reader: RecordReader,
    /// `None` for JSON.
    csv: Option<CsvState>,
    /// True if the record itself is stored.
    stores_record: bool,
    /// The maximum size of a record.
    most: usize,
    /// The bytes of the current record from earlier pieces.
    carry: Vec<u8>,
    /// Bytes of the current record so far, if it is too large and is skipped.
    skipped: Option<usize>,
    /// Where the current record begins in its file.
    record_at: u64,
    /// The number of the first record of the current run.
    line: LineNumber,
    /// Records of the run before the current one.
    later: u64,
    /// The places of the first malformed records.
    places: Vec<RecordPlace>,
    /// The places of the first values that do not fit their fields.
    conflicts: Vec<(Field, RecordPlace)>,
    /// The place of the first record without a key.
    without_key: Option<RecordPlace>,
    /// Documents added, without void ones.
    documents: u64,
    /// Bytes since memory was last checked.
    unchecked: usize,
    out: LaneOutput<'a>,
}

impl<'a> RecordIndexer<'a> {
    pub(crate) fn new(context: LaneContext<'a>, of: &RecordFields) -> Result<Self> {
        let most = context.budget.most;
        let fields = FieldSet::new(&of.schema, &context.stored, context.records, most)?;
        let csv = (context.records == Records::Csv).then(|| CsvState {
            delimiter: of.delimiter,
            ends: CsvEnds::new(of.delimiter),
            has_header: false,
            skipping_file: false,
        });
        Ok(RecordIndexer {
            context,
            stores_record: context.stored.store == Store::Content && !fields.stores(),
            fields,
            reader: RecordReader::new(&of.schema, &of.sources, RecordFormat::Json),
            csv,
            most: MOST_RECORD.min(most / 4),
            carry: Vec::new(),
            skipped: None,
            record_at: 0,
            line: LineNumber::after(0),
            later: 0,
            places: Vec::new(),
            conflicts: Vec::new(),
            without_key: None,
            documents: 0,
            unchecked: 0,
            out: LaneOutput::new(context),
        })
    }

    /// Starts a file or a run of lines.
    fn open(&mut self, piece: &Piece) {
        self.carry.clear();
        self.skipped = None;
        self.record_at = piece.offset;
        self.later = 0;
        self.line = piece.first_line.clone().unwrap_or_else(|| LineNumber::after(0));
        if let Some(csv) = &mut self.csv {
            csv.ends = CsvEnds::new(csv.delimiter);
            (csv.has_header, csv.skipping_file) = (false, false);
        }
        if let Some(input) = self.context.inputs.get(piece.input as usize) {
            self.out.keys.lines(self.fields.current_document(), piece.input, input, self.line.clone());
        }
    }

    /// Returns the end of the current record in `bytes`, if it is there. The CSV scanner has state, so pass
    /// the same bytes only once.
    #[inline]
    fn record_end(&mut self, bytes: &[u8]) -> Option<usize> {
        match &mut self.csv {
            None => memchr::memchr(b'\n', bytes).map(|feed| feed + 1),
            Some(csv) if csv.skipping_file => None,
            Some(csv) => csv.ends.find(bytes),
        }
    }

    /// Handles the rest of a piece: the start of a record, or a complete record at the end of a file.
    fn leave(&mut self, piece: &Piece, rest: &[u8]) -> Result<()> {
        let is_open = !self.carry.is_empty() || self.skipped.is_some() || !rest.is_empty();
        if piece.failed || self.csv.as_ref().is_some_and(|csv| csv.skipping_file) {
            // Reading ended inside a record, which is incomplete.
            self.carry.clear();
            self.skipped = None;
            return Ok(());
        }
        if piece.closes {
            return if is_open { self.end_record(piece, rest, piece.end) } else { Ok(()) };
        }
        if let Some(skipped) = &mut self.skipped {
            *skipped += rest.len();
            return Ok(());
        }
        if self.carry.len() + rest.len() > self.most {
            self.skipped = Some(self.carry.len() + rest.len());
            // Keep its beginning for the report.
            self.carry.truncate(CHECK_EVERY);
            self.carry.shrink_to(CHECK_EVERY);
            return Ok(());
        }
        self.carry.extend_from_slice(rest);
        if self.carry.len() >= CHECK_EVERY && self.is_full() { self.flush() } else { Ok(()) }
    }

    /// Ends the current record, whose last bytes are `last`, at byte `end` of the block.
    fn end_record(&mut self, piece: &Piece, last: &[u8], end: usize) -> Result<()> {
        let end = piece.offset + (end - piece.start) as u64;
        if self.carry.is_empty() && self.skipped.is_none() {
            return self.record(piece, last, end);
        }
        let skipped = self.skipped.take().map(|skipped| skipped + last.len());
        let mut carry = std::mem::take(&mut self.carry);
        let done = match skipped {
            Some(len) => self.leave_out(piece, &carry, len, end),
            None => {
                carry.extend_from_slice(last);
                self.record(piece, &carry, end)
            }
        };
        carry.clear();
        carry.shrink_to(CHECK_EVERY);
        self.carry = carry;
        done
    }

    /// Indexes a complete record, which ends at byte `end` of its file.
    fn record(&mut self, piece: &Piece, record: &[u8], end: u64) -> Result<()> {
        if self.csv.as_ref().is_some_and(|csv| !csv.has_header) {
            self.header(piece, record);
            return Ok(());
        }
        if record.len() > self.most {
            return self.leave_out(piece, record, record.len(), end);
        }
        if record.len() >= LARGE && self.fields.max_doc() > 0 {
            let needed = record.len().saturating_mul(GROWTH);
            if self.fields.bytes() + self.beside() + needed > self.context.budget.most {
                self.flush()?;
            }
        }
        // The cap leaves room for the bytes added between two checks.
        let room = (self.context.budget.most + 12 * CHECK_EVERY).saturating_sub(self.beside());
        let check = |bytes: usize| if bytes < room { Ok(()) } else { Err(Error::Cancelled) };
        let mut fits = Ok(());
        let Self { reader, fields, .. } = self;
        let read = reader.record(self.places.len() as u64, record, &mut |field, value| {
            if fits.is_ok() {
                fits = fields.push(field, value, &check);
            }
        });
        self.note_conflicts(piece);
        match (read, fits) {
            (Ok(Recorded::Document), Ok(())) => {
                let text = record.strip_suffix(b"\n").unwrap_or(record);
                let text = text.strip_suffix(b"\r").unwrap_or(text);
                if self.stores_record {
                    self.fields.stored().text(text)?;
                }
                self.fields.end_document((self.record_at, text.len() as u64))?;
                self.documents += 1;
                self.end(piece, record.len(), end)
            }
            (Ok(Recorded::Document), Err(_)) => self.leave_out(piece, record, record.len(), end),
            (Ok(Recorded::Blank), _) => self.void(piece, record.len(), end),
            (Err(_), _) => {
                self.note_place(piece);
                self.void(piece, record.len(), end)
            }
        }
    }

    /// Reads the first record of a CSV file.
    fn header(&mut self, piece: &Piece, record: &[u8]) {
        let Some(csv) = &mut self.csv else { return };
        match CsvHeader::parse(record, csv.delimiter) {
            Ok(header) => {
                csv.has_header = true;
                csv.ends = CsvEnds::new(Some(header.delimiter()));
                self.reader.set_format(RecordFormat::Csv(header));
            }
            Err(error) => {
                csv.skipping_file = true;
                let reason = format!("the first record is not a CSV header: {error}");
                if let Some(input) = self.context.inputs.get(piece.input as usize) {
                    self.out.report.failures.push(Failure { path: input.path.clone(), reason });
                }
            }
        }
    }

    /// Counts a record that does not fit into memory as malformed.
    #[cold]
    fn leave_out(&mut self, piece: &Piece, start: &[u8], len: usize, end: u64) -> Result<()> {
        if self.csv.as_ref().is_some_and(|csv| !csv.has_header) {
            self.header(piece, b"");
            return Ok(());
        }
        self.reader.leave_out(self.places.len() as u64, start, len);
        self.note_place(piece);
        self.void(piece, len.min(PART_BYTES), end)
    }

    #[cold]
    fn note_place(&mut self, piece: &Piece) {
        if self.places.len() < MALFORMED {
            self.places.push(RecordPlace { input: piece.input, line: self.line.clone(), later: self.later });
        }
    }

    /// Notes the place of the current record if it has the first value that does not fit its field, or is the
    /// first one without a key.
    fn note_conflicts(&mut self, piece: &Piece) {
        for field in self.reader.take_first_conflicts() {
            let place = RecordPlace { input: piece.input, line: self.line.clone(), later: self.later };
            self.conflicts.push((field, place));
        }
        if self.without_key.is_none() && self.reader.has_record_without_key() {
            let (line, later) = (self.line.clone(), self.later);
            self.without_key = Some(RecordPlace { input: piece.input, line, later });
        }
    }

    fn void(&mut self, piece: &Piece, len: usize, end: u64) -> Result<()> {
        self.fields.void_document()?;
        self.end(piece, len, end)
    }

    /// Ends the current record, which is now in the current segment.
    #[inline]
    fn end(&mut self, piece: &Piece, len: usize, end: u64) -> Result<()> {
        let start = std::mem::replace(&mut self.record_at, end);
        self.out.cover(piece.input, start, end);
        self.later += 1;
        self.unchecked += len + 64;
        if self.unchecked >= PART_BYTES {
            self.unchecked = 0;
            if self.is_full() {
                return self.flush();
            }
        }
        Ok(())
    }

    /// Memory in use outside of the fields.
    fn beside(&self) -> usize {
        self.out.keys.bytes() + self.carry.capacity()
    }

    fn is_full(&mut self) -> bool {
        let beside = self.beside();
        self.fields.is_full(self.out.limit, beside)
    }

    fn flush(&mut self) -> Result<()> {
        if self.fields.max_doc() == 0 {
            return Ok(());
        }
        let (mut fields, stored, columns) = self.fields.for_flush();
        self.out.write(&mut fields, stored, columns)
    }
}

impl PieceIndexer for RecordIndexer<'_> {
    fn piece(&mut self, piece: &Piece, bytes: &mut [u8]) -> Result<()> {
        if piece.opens {
            self.open(piece);
        }
        if piece.decoded {
            self.out.decoded(piece.input);
        }
        let mut at = piece.start;
        loop {
            let rest = bytes.get(at..piece.end).unwrap_or_default();
            let Some((record, _)) = self.record_end(rest).and_then(|end| rest.split_at_checked(end)) else {
                self.leave(piece, rest)?;
                break;
            };
            at += record.len();
            self.end_record(piece, record, at)?;
        }
        if piece.last {
            self.out.cover_rest(piece.input, piece.offset + (piece.end - piece.start) as u64);
        }
        Ok(())
    }

    fn documents(&self) -> u64 {
        self.documents
    }

    fn finish(mut self) -> Result<LaneReport> {
        self.flush()?;
        let counts = self.reader.take_counts();
        for malformed in counts.malformed_examples() {
            let place = usize::try_from(malformed.line).ok().and_then(|at| self.places.get(at));
            let Some(RecordPlace { input, line, later }) = place else { continue };
            let Some(input) = self.context.inputs.get(*input as usize) else { continue };
            self.out.report.malformed.push(MalformedRecord {
                path: input.path.clone(),
                line: line.resolve() + later,
                reason: malformed.error.to_string(),
                text: malformed.text.clone(),
            });
        }
        for (field, RecordPlace { input, line, later }) in &self.conflicts {
            let Some(input) = self.context.inputs.get(*input as usize) else { continue };
            let conflict = counts.conflicts().find(|(other, _)| other == field);
            let example = conflict.map_or_else(String::new, |(_, conflict)| conflict.example.clone());
            let (path, line) = (input.path.clone(), line.resolve() + later);
            self.out.report.conflicts.push(ConflictPlace { field: *field, path, line, example });
        }
        if let Some(RecordPlace { input, line, later }) = &self.without_key
            && let Some(input) = self.context.inputs.get(*input as usize)
        {
            self.out.report.without_key = Some((input.path.clone(), line.resolve() + later));
        }
        self.out.report.counts = counts;
        self.out.report.cut_terms = self.fields.cut_terms();
        self.out.finish()
    }
}
