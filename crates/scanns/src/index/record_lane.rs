//! The index thread of records with fields: blocks of JSON Lines and CSV in, segments out.
//!
//! A record counts as a whole or not at all, so one that reaches over several pieces is put together first. What is
//! malformed, blank or too large is a void document, and those behind it keep their numbers. A header of CSV has no number.

use std::sync::atomic::Ordering;

use super::field_set::FieldSet;
use super::lane_output::{LaneContext, LaneOutput, LaneReport};
use super::line_keys::KeyCollector;
use super::records::{MalformedRecord, RecordFields};
use crate::error::{Error, Result};
use crate::invert::CHECK_EVERY;
use crate::read::{Lane, LineNumber, Piece};
use crate::record::{CsvDelimiter, CsvEnds, CsvHeader, MALFORMED, RecordFormat, RecordReader, Recorded};
use crate::schema::{Records, Store};
use crate::source::Failure;

/// Bytes of records between two looks at the memory.
const PART: usize = CHECK_EVERY / 4;

/// Most bytes of a record.
const MOST_RECORD: usize = 64 << 20;

/// Bytes of a record from which on there must be room for it beforehand.
const LARGE: usize = 4 << 10;

/// What a byte of a record may take in memory.
const GROWTH: usize = 24;

/// What records of CSV need beside those of JSON.
struct Csv {
    delimiter: Option<CsvDelimiter>,
    ends: CsvEnds,
    /// True once the header was read.
    headed: bool,
    /// True while the rest of a file whose header cannot be read passes by.
    passing: bool,
}

/// Where a malformed record stands: its input, and its number as a line and so many after that.
struct Place {
    input: u32,
    line: LineNumber,
    later: u64,
}

/// The state of one index thread.
pub(super) struct RecordIndexer<'a> {
    context: LaneContext<'a>,
    fields: FieldSet,
    keys: KeyCollector,
    reader: RecordReader,
    /// None for JSON.
    csv: Option<Csv>,
    /// True if what is stored is the record itself.
    keeps_text: bool,
    /// Most bytes of a record.
    most: usize,
    /// The record at hand as far as it was in other pieces.
    carry: Vec<u8>,
    /// Bytes of the record at hand, if that is too large and passes by.
    skipped: Option<usize>,
    /// Where the record at hand begins in its file.
    record_at: u64,
    /// The number of a record, and how many came after it.
    line: LineNumber,
    later: u64,
    /// Of the first malformed records.
    places: Vec<Place>,
    /// Bytes since the memory was looked at.
    unchecked: usize,
    out: LaneOutput<'a>,
}

impl<'a> RecordIndexer<'a> {
    pub(super) fn new(context: LaneContext<'a>, of: &RecordFields) -> Result<Self> {
        let most = context.budget.most;
        let fields = FieldSet::new(&of.schema, &context.stored, context.records, most)?;
        let csv = (context.records == Records::Csv).then(|| Csv {
            delimiter: of.delimiter,
            ends: CsvEnds::new(of.delimiter),
            headed: false,
            passing: false,
        });
        Ok(RecordIndexer {
            context,
            keeps_text: context.stored.store == Store::Content && !fields.stores(),
            fields,
            keys: KeyCollector::new(context.records),
            reader: RecordReader::new(&of.schema, &of.sources, RecordFormat::Json),
            csv,
            most: MOST_RECORD.min(most / 4),
            carry: Vec::new(),
            skipped: None,
            record_at: 0,
            line: LineNumber::after(0),
            later: 0,
            places: Vec::new(),
            unchecked: 0,
            out: LaneOutput::new(context),
        })
    }

    /// Indexes everything that comes from `lane`; what is left at the end is not flushed yet.
    pub(super) fn run(&mut self, lane: Lane) -> Result<()> {
        if let Some(cpus) = lane.node_cpus() {
            crate::sys::pin_current_thread(cpus);
        }
        for mut block in lane {
            self.out.begin_work();
            let (pieces, bytes) = block.split();
            let mut taken = 0;
            for piece in pieces {
                taken += piece.end - piece.start;
                self.piece(piece, bytes)?;
            }
            self.context.progress.bytes.fetch_add(taken as u64, Ordering::Relaxed);
            self.out.rest();
        }
        Ok(())
    }

    /// Writes what is left, waits until every segment is on the medium, and says what was done.
    pub(super) fn finish(mut self) -> Result<LaneReport> {
        if self.fields.max_doc() > 0 {
            self.flush()?;
        }
        let counts = self.reader.take_counts();
        for malformed in counts.malformed_examples() {
            let place = usize::try_from(malformed.line).ok().and_then(|at| self.places.get(at));
            let Some(Place { input, line, later }) = place else { continue };
            let Some(input) = self.context.inputs.get(*input as usize) else { continue };
            self.out.report.malformed.push(MalformedRecord {
                path: input.path.clone(),
                line: line.resolve() + later,
                reason: malformed.error.to_string(),
                text: malformed.text.clone(),
            });
        }
        self.out.report.counts = counts;
        self.out.report.cut_terms = self.fields.cut_terms();
        self.out.finish()
    }

    fn piece(&mut self, piece: &Piece, bytes: &[u8]) -> Result<()> {
        if piece.opens {
            self.open(piece);
        }
        let mut at = piece.start;
        loop {
            let rest = bytes.get(at..piece.end).unwrap_or_default();
            let Some((record, _)) = self.record_end(rest).and_then(|end| rest.split_at_checked(end)) else {
                return self.leave(piece, rest);
            };
            at += record.len();
            self.end_record(piece, record, at)?;
        }
    }

    /// A file or a run of lines begins.
    fn open(&mut self, piece: &Piece) {
        self.carry.clear();
        self.skipped = None;
        self.record_at = piece.offset;
        self.later = 0;
        self.line = piece.first_line.clone().unwrap_or_else(|| LineNumber::after(0));
        if let Some(csv) = &mut self.csv {
            csv.ends = CsvEnds::new(csv.delimiter);
            (csv.headed, csv.passing) = (false, false);
        }
        if let Some(input) = self.context.inputs.get(piece.input as usize) {
            self.keys.lines(self.fields.current_document(), piece.input, input, self.line.clone());
        }
    }

    /// The place behind the record at hand; none if it does not end in these bytes, which are given once.
    #[inline]
    fn record_end(&mut self, bytes: &[u8]) -> Option<usize> {
        match &mut self.csv {
            None => memchr::memchr(b'\n', bytes).map(|feed| feed + 1),
            Some(csv) if csv.passing => None,
            Some(csv) => csv.ends.find(bytes),
        }
    }

    /// What remains of a piece is the beginning of a record, or all of it where the file ends.
    fn leave(&mut self, piece: &Piece, rest: &[u8]) -> Result<()> {
        let is_open = !self.carry.is_empty() || self.skipped.is_some() || !rest.is_empty();
        if piece.failed || self.csv.as_ref().is_some_and(|csv| csv.passing) {
            // Reading ended inside of a record: it is not all there.
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
            // Its beginning is shown.
            self.carry.truncate(CHECK_EVERY);
            self.carry.shrink_to(CHECK_EVERY);
            return Ok(());
        }
        self.carry.extend_from_slice(rest);
        if self.carry.len() >= CHECK_EVERY && self.is_full() { self.flush() } else { Ok(()) }
    }

    /// The record at hand ends with `last`, at byte `end` of the block.
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

    /// Takes a whole record, which ends at byte `end` of its file.
    fn record(&mut self, piece: &Piece, record: &[u8], end: u64) -> Result<()> {
        if self.csv.as_ref().is_some_and(|csv| !csv.headed) {
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
        // The cap has room for what comes between two looks.
        let room = (self.context.budget.most + 12 * CHECK_EVERY).saturating_sub(self.beside());
        let check = |bytes: usize| if bytes < room { Ok(()) } else { Err(Error::Cancelled) };
        let mut fits = Ok(());
        let Self { reader, fields, .. } = self;
        let read = reader.record(self.places.len() as u64, record, &mut |field, value| {
            if fits.is_ok() {
                fits = fields.push(field, value, &check);
            }
        });
        match (read, fits) {
            (Ok(Recorded::Document), Ok(())) => {
                let text = record.strip_suffix(b"\n").unwrap_or(record);
                let text = text.strip_suffix(b"\r").unwrap_or(text);
                if self.keeps_text {
                    self.fields.stored().text(text)?;
                }
                self.fields.end_document((self.record_at, text.len() as u64))?;
                self.context.progress.documents.fetch_add(1, Ordering::Relaxed);
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

    /// The first record of a file of CSV.
    fn header(&mut self, piece: &Piece, record: &[u8]) {
        let Some(csv) = &mut self.csv else { return };
        match CsvHeader::parse(record, csv.delimiter) {
            Ok(header) => {
                csv.headed = true;
                csv.ends = CsvEnds::new(Some(header.delimiter()));
                self.reader.set_format(RecordFormat::Csv(header));
            }
            Err(error) => {
                csv.passing = true;
                let reason = format!("the first record is no header of CSV: {error}");
                if let Some(input) = self.context.inputs.get(piece.input as usize) {
                    self.out.report.failures.push(Failure { path: input.path.clone(), reason });
                }
            }
        }
    }

    /// Counts a record that does not fit as malformed.
    #[cold]
    fn leave_out(&mut self, piece: &Piece, start: &[u8], len: usize, end: u64) -> Result<()> {
        if self.csv.as_ref().is_some_and(|csv| !csv.headed) {
            self.header(piece, b"");
            return Ok(());
        }
        self.reader.leave_out(self.places.len() as u64, start, len);
        self.note_place(piece);
        self.void(piece, len.min(PART), end)
    }

    #[cold]
    fn note_place(&mut self, piece: &Piece) {
        if self.places.len() < MALFORMED {
            self.places.push(Place { input: piece.input, line: self.line.clone(), later: self.later });
        }
    }

    fn void(&mut self, piece: &Piece, len: usize, end: u64) -> Result<()> {
        self.fields.void_document()?;
        self.end(piece, len, end)
    }

    /// The record at hand is in the segment at hand.
    #[inline]
    fn end(&mut self, piece: &Piece, len: usize, end: u64) -> Result<()> {
        let start = std::mem::replace(&mut self.record_at, end);
        self.out.cover(piece.input, start, end);
        self.later += 1;
        self.unchecked += len + 64;
        if self.unchecked >= PART {
            self.unchecked = 0;
            if self.is_full() {
                return self.flush();
            }
        }
        Ok(())
    }

    /// Memory beside that of the fields.
    fn beside(&self) -> usize {
        self.keys.bytes() + self.carry.capacity()
    }

    fn is_full(&mut self) -> bool {
        let beside = self.beside();
        self.fields.is_full(self.out.limit, beside)
    }

    fn flush(&mut self) -> Result<()> {
        if self.fields.max_doc() == 0 {
            return Ok(());
        }
        // What follows waits for other threads, which must be able to write meanwhile.
        let was_working = self.out.rest();
        let keys = self.keys.take(self.fields.max_doc());
        let (mut fields, stored, columns) = self.fields.for_flush();
        self.out.write(&mut fields, &keys, stored, columns)?;
        if was_working {
            self.out.begin_work();
        }
        self.fields.stored().keep_within(self.out.spare());
        self.out.sync_old()
    }
}
