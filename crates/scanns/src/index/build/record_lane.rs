//! Indexes records with fields: JSON Lines, CSV and collections in, segments out.
//!
//! A record is indexed completely or not at all, so a record that spans several pieces is joined first. A
//! malformed, blank or too large record becomes a void document, so that the records after it keep their
//! numbers. The header of a CSV file has no number. `record_ends.rs` finds where records end.

use super::budget::PART_BYTES;
use super::field_set::FieldSet;
use super::lane::PieceIndexer;
use super::lane_output::{LaneContext, LaneOutput};
use super::lane_report::LaneReport;
use super::near_sketch::NearSketch;
use super::record_ends::RecordEnds;
use super::record_fields::RecordFields;
use super::record_place::{RecordPlace, RecordPlaces};
use crate::error::{Error, Result};
use crate::invert::CHECK_EVERY;
use crate::read::{LineNumber, Piece};
use crate::record::{
    BYTE_ORDER_MARK, CollectionFormat, LongClaim, LongClaimLook, RecordFormat, RecordReader, Recorded,
};
use crate::schema::{Records, Store};
use crate::source::Failure;

/// The maximum size of a record.
const MOST_RECORD: usize = 64 << 20;

/// A record of at least this size is indexed only if there is room for it.
const LARGE: usize = 4 << 10;

/// Bytes of a piece that are joined first to the bytes of earlier pieces; then twice as many, and so on.
const FIRST_STEP: usize = 4 << 10;

/// An upper bound of the memory that indexing one byte of a record takes.
const GROWTH: usize = 24;

/// The state of an index thread of records.
pub(crate) struct RecordIndexer<'a> {
    context: LaneContext<'a>,
    fields: FieldSet,
    reader: RecordReader,
    ends: RecordEnds,
    /// True if the record itself is stored.
    stores_record: bool,
    /// The sketch of the current record, if the index has sketches.
    sketch: Option<NearSketch>,
    /// The maximum size of a record.
    most: usize,
    /// The bytes from the current record on from earlier pieces. A row of CSV whose quotes are not closed may
    /// turn out to be several rows.
    carry: Vec<u8>,
    /// Bytes of the current record so far, if it is too large and is skipped.
    skipped: Option<usize>,
    /// The end that this record claims.
    long_claim: Option<LongClaim>,
    /// Where the current record begins in its file.
    record_at: u64,
    /// The end of what the segments cover of the file.
    covered: u64,
    /// The number of the first record of the current run.
    line: LineNumber,
    /// Records of the run before the current one.
    later: u64,
    /// Lines of the file before the current record, for CSV.
    lines_before: u64,
    /// The places of the records of which the report speaks.
    places: RecordPlaces,
    /// Documents added, without void ones.
    documents: u64,
    /// Bytes since memory was last checked.
    unchecked: usize,
    out: LaneOutput<'a>,
}

impl<'a> RecordIndexer<'a> {
    pub(crate) fn new(context: LaneContext<'a>, of: &RecordFields) -> Result<Self> {
        let most = context.segments.budget.most;
        let fields = FieldSet::new(&of.schema, &context.stored, context.records, most)?;
        let format = CollectionFormat::of(context.records);
        let format = format.map_or(RecordFormat::Json, RecordFormat::Collection);
        Ok(RecordIndexer {
            context,
            stores_record: context.stored.store == Store::Content && !fields.stores(),
            fields,
            sketch: NearSketch::of(&of.schema, context.sketch),
            reader: RecordReader::new(&of.schema, &of.sources, format).detect_languages(context.languages),
            ends: RecordEnds::new(context.records, &of.csv),
            most: MOST_RECORD.min(most / 4),
            carry: Vec::new(),
            skipped: None,
            long_claim: None,
            record_at: 0,
            covered: 0,
            line: LineNumber::after(0),
            later: 0,
            lines_before: 0,
            places: RecordPlaces::default(),
            documents: 0,
            unchecked: 0,
            out: LaneOutput::new(context),
        })
    }

    /// Starts a file or a run of records.
    fn open(&mut self, piece: &Piece) {
        self.carry.clear();
        (self.skipped, self.long_claim) = (None, None);
        (self.record_at, self.covered) = (piece.offset, piece.offset);
        (self.later, self.lines_before) = (0, 0);
        self.line = piece.first_line.clone().unwrap_or_else(|| LineNumber::after(0));
        self.ends.open();
        if let Some(start) = &piece.from_cut {
            self.lines_before = start.lines;
            // The reader cuts only files with columns.
            if let Ok(Some(header)) = self.ends.resume(start) {
                self.reader.set_format(RecordFormat::Csv(header));
            }
        }
        if let Some(input) = self.context.inputs.get(piece.input as usize) {
            self.out.keys.lines(self.fields.current_document(), piece.input, input, self.line.clone());
        }
    }

    /// Indexes the records that end in `text`, which `piece` describes.
    fn cut(&mut self, piece: &Piece, text: &[u8]) -> Result<()> {
        let start = self.join(piece, text)?;
        let mut rest = text.get(start..).unwrap_or_default();
        while let Some(end) = self.ends.next_end(rest, piece.closes)
            && let Some((record, behind)) = rest.split_at_checked(end)
        {
            self.record(piece, record)?;
            rest = behind;
        }
        if rest.is_empty() { Ok(()) } else { self.keep(rest) }
    }

    /// Indexes the records that begin in earlier pieces. Returns where the next one begins in `text`.
    fn join(&mut self, piece: &Piece, text: &[u8]) -> Result<usize> {
        if self.skipped.is_some() {
            return self.skip(piece, text);
        }
        if self.carry.is_empty() {
            return Ok(0);
        }
        let mut carry = std::mem::take(&mut self.carry);
        let earlier = carry.len();
        let (mut start, mut used, mut step) = (0, 0, FIRST_STEP);
        loop {
            let more = text.get(used..).unwrap_or_default();
            let more = more.get(..step).unwrap_or(more);
            carry.extend_from_slice(more);
            (used, step) = (used + more.len(), step * 2);
            let is_all = used == text.len();
            while start < earlier
                && let Some(rows) = carry.get(start..)
                && let Some(end) = self.ends.next_end(rows, piece.closes && is_all)
            {
                self.record(piece, rows.get(..end).unwrap_or_default())?;
                start += end;
            }
            if start >= earlier || is_all {
                break;
            }
        }
        let open = if start < earlier { carry.get(start..).unwrap_or_default() } else { b"" };
        if !open.is_empty() && !self.ends.is_skipping() {
            let len = open.len();
            carry.copy_within(start.., 0);
            carry.truncate(len);
            self.carry = carry;
            self.check_carry()?;
            return Ok(text.len());
        }
        carry.clear();
        carry.shrink_to(CHECK_EVERY);
        self.carry = carry;
        Ok(start.saturating_sub(earlier))
    }

    /// Keeps the start of a record until the next piece.
    fn keep(&mut self, rest: &[u8]) -> Result<()> {
        if self.ends.is_skipping() {
            return Ok(());
        }
        self.carry.extend_from_slice(rest);
        self.check_carry()
    }

    /// Skips the current record if it is too large, and writes a segment if memory is full.
    fn check_carry(&mut self) -> Result<()> {
        if self.carry.len() > self.most {
            self.skipped = Some(self.carry.len());
            self.long_claim = self.ends.long_claim(&self.carry);
            if self.long_claim.is_some() {
                return Ok(());
            }
            // Its beginning is indexed, or is for the report.
            let kept = if self.ends.has_long_records() { self.most } else { CHECK_EVERY };
            self.carry.truncate(kept);
            self.carry.shrink_to(kept);
            return Ok(());
        }
        if self.carry.len() >= CHECK_EVERY && self.is_full() { self.flush() } else { Ok(()) }
    }

    /// Skips the rest of a record that is too large. Returns where the next one begins in `text`.
    fn skip(&mut self, piece: &Piece, text: &[u8]) -> Result<usize> {
        let before = self.skipped.unwrap_or(0);
        if let Some(claim) = self.long_claim.take() {
            return self.skip_claimed(piece, text, claim);
        }
        let end = self.ends.end_of_skipped(text);
        let len = before + end.unwrap_or(text.len());
        if end.is_none() && !piece.closes {
            self.skipped = Some(len);
            return Ok(text.len());
        }
        self.skipped = None;
        self.ends.start_record();
        let start = std::mem::take(&mut self.carry);
        match self.ends.has_long_records() {
            true => self.beginning(piece, &start, len)?,
            false => self.leave_out(piece, &start, len)?,
        }
        Ok(end.unwrap_or(text.len()))
    }

    /// The same for a record that claims where it ends.
    fn skip_claimed(&mut self, piece: &Piece, text: &[u8], mut claim: LongClaim) -> Result<usize> {
        let len = self.skipped.take().unwrap_or(0) + text.len();
        let look = claim.take(text, piece.closes);
        if look == LongClaimLook::Continues {
            (self.skipped, self.long_claim) = (Some(len), Some(claim));
            return Ok(text.len());
        }
        let (start, behind) = (std::mem::take(&mut self.carry), claim.behind());
        let len = len.saturating_sub(behind.len());
        if look == LongClaimLook::Right {
            self.ends.start_record();
            self.beginning(piece, &start, len)?;
        } else {
            self.records_in(piece, &start, len, claim.lost())?;
        }
        let Some(earlier) = behind.len().checked_sub(text.len()).filter(|&earlier| earlier > 0) else {
            return Ok(text.len() - behind.len());
        };
        self.carry = behind.get(..earlier).unwrap_or_default().to_vec();
        self.join(piece, text)
    }

    /// Indexes what is known of `len` bytes that claim to be one record and are not: the records in their
    /// beginning, and the beginning of one. The `lost` ones behind it are counted.
    #[cold]
    fn records_in(&mut self, piece: &Piece, start: &[u8], len: usize, lost: u64) -> Result<()> {
        self.ends.distrust();
        let (mut at, mut unknown) = (0, len.saturating_sub(start.len()));
        while let Some(rest) = start.get(at..)
            && let Some(end) = self.ends.next_end(rest, false)
        {
            self.record(piece, rest.get(..end).unwrap_or(rest))?;
            at += end;
        }
        self.ends.start_record();
        let rest = start.get(at..).unwrap_or_default();
        if at == 0 && self.reader.note_wrong_length(self.places.next()) {
            self.note_place(piece);
        }
        let len = rest.len() + if lost == 0 { std::mem::take(&mut unknown) } else { 0 };
        if len > 0 {
            self.beginning(piece, rest, len)?;
        }
        for _ in 0..lost {
            let len = std::mem::take(&mut unknown);
            self.reader.lose(self.places.next(), len);
            if self.reader.is_example() {
                self.note_place(piece);
            }
            self.void(piece, len)?;
        }
        Ok(())
    }

    /// Indexes a complete record.
    fn record(&mut self, piece: &Piece, record: &[u8]) -> Result<()> {
        let record = match self.ends.needs_header() {
            true => self.header(piece, record),
            false => record,
        };
        if record.is_empty() {
            return Ok(());
        }
        match record.get(..self.most).filter(|start| start.len() < record.len()) {
            None => self.index(piece, record, record.len()),
            Some(start) if self.ends.has_long_records() => self.beginning(piece, start, record.len()),
            Some(_) => self.leave_out(piece, record, record.len()),
        }
    }

    /// Indexes the beginning of a record of `len` bytes that does not fit into memory.
    #[cold]
    fn beginning(&mut self, piece: &Piece, start: &[u8], len: usize) -> Result<()> {
        let start = start.get(..self.most).unwrap_or(start);
        if self.reader.note_cut(self.places.next()) {
            self.note_place(piece);
        }
        self.index(piece, start, len)
    }

    /// Indexes a record of `len` bytes, of which `record` is all, or the beginning.
    fn index(&mut self, piece: &Piece, record: &[u8], len: usize) -> Result<()> {
        if record.len() >= LARGE && self.fields.max_doc() > 0 {
            let needed = record.len().saturating_mul(GROWTH);
            if self.fields.bytes() + self.beside() + needed > self.context.segments.budget.most {
                self.flush()?;
            }
        }
        // The cap leaves room for the bytes added between two checks.
        let room = (self.context.segments.budget.most + 12 * CHECK_EVERY).saturating_sub(self.beside());
        let check = |bytes: usize| if bytes < room { Ok(()) } else { Err(Error::Cancelled) };
        let mut fits = Ok(());
        let Self { reader, fields, sketch, .. } = self;
        sketch.iter_mut().for_each(NearSketch::begin);
        let read = reader.record(self.places.next(), record, &mut |field, value| {
            if fits.is_ok() {
                sketch.iter_mut().for_each(|sketch| sketch.value(field, value));
                fits = fields.push(field, value, &check);
            }
        });
        if let Some((field, sketch)) = sketch.as_ref().and_then(NearSketch::finish)
            && fits.is_ok()
        {
            fits = fields.push(field, sketch, &check);
        }
        if self.reader.is_example() {
            self.note_place(piece);
        }
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
                self.end(piece, len)
            }
            (Ok(Recorded::Document), Err(_)) => self.leave_out(piece, record, len),
            (Ok(Recorded::Blank) | Err(_), _) => self.void(piece, len),
        }
    }

    /// Reads the first row of a CSV file. Returns the row if it is data, or else no bytes.
    fn header<'r>(&mut self, piece: &Piece, row: &'r [u8]) -> &'r [u8] {
        let without_mark = row.strip_prefix(BYTE_ORDER_MARK).unwrap_or(row);
        match self.ends.read_header(row) {
            Ok(Some(header)) => {
                let is_row = header.is_row();
                self.reader.set_format(RecordFormat::Csv(header));
                if is_row {
                    self.record_at += (row.len() - without_mark.len()) as u64;
                    return without_mark;
                }
            }
            Ok(None) => {}
            Err(error) => {
                let reason = format!("the first row has no names of columns: {error}");
                if let Some(input) = self.context.inputs.get(piece.input as usize) {
                    self.out.segments.report.failures.push(Failure { path: input.path.clone(), reason });
                }
            }
        }
        self.record_at += row.len() as u64;
        self.lines_before += self.ends.lines();
        b""
    }

    /// Counts a record that does not fit into memory as malformed. Of its `len` bytes `start` are the first.
    #[cold]
    fn leave_out(&mut self, piece: &Piece, start: &[u8], len: usize) -> Result<()> {
        if self.ends.needs_header() {
            self.header(piece, b"");
            return Ok(());
        }
        self.reader.leave_out(self.places.next(), start, len);
        if self.reader.is_example() {
            self.note_place(piece);
        }
        self.void(piece, len)
    }

    #[cold]
    fn note_place(&mut self, piece: &Piece) {
        let place = self.place(piece);
        self.places.noted.push(place);
    }

    /// The place of the current record.
    fn place(&self, piece: &Piece) -> RecordPlace {
        let first_line = (self.context.records == Records::Csv).then_some(self.lines_before + 1);
        RecordPlace { input: piece.input, record: self.line.clone(), later: self.later, first_line }
    }

    /// Notes the place of the current record if it has the first value that does not fit its field, or is the
    /// first one without a key.
    fn note_conflicts(&mut self, piece: &Piece) {
        for field in self.reader.take_first_conflicts() {
            let place = self.place(piece);
            self.places.conflicts.push((field, place));
        }
        if self.places.without_key.is_none() && self.reader.has_record_without_key() {
            self.places.without_key = Some(self.place(piece));
        }
    }

    fn void(&mut self, piece: &Piece, len: usize) -> Result<()> {
        self.fields.void_document()?;
        self.end(piece, len)
    }

    /// Ends the current record, which is now in the current segment.
    #[inline]
    fn end(&mut self, piece: &Piece, len: usize) -> Result<()> {
        self.record_at += len as u64;
        let start = std::mem::replace(&mut self.covered, self.record_at);
        self.out.cover(piece.input, start, self.record_at);
        self.out.segments.report.record_bytes += len as u64;
        self.lines_before += self.ends.lines();
        self.later += 1;
        for _ in 1..self.ends.numbers() {
            self.fields.void_document()?;
            self.later += 1;
        }
        self.unchecked += len.min(PART_BYTES) + 64;
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
        self.fields.is_full(self.out.segments.limit, beside)
    }

    fn flush(&mut self) -> Result<()> {
        if self.fields.max_doc() == 0 {
            return Ok(());
        }
        let (fields, stored, columns) = self.fields.for_flush();
        self.out.write(fields, stored, columns)
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
        if piece.failed {
            // Reading ended inside a record, which is incomplete.
            self.carry.clear();
            (self.skipped, self.long_claim) = (None, None);
        } else if !self.ends.is_skipping() {
            self.cut(piece, bytes.get(piece.start..piece.end).unwrap_or_default())?;
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
        self.places.report(&counts, self.context.inputs, &mut self.out.segments.report);
        self.out.segments.report.counts = counts;
        self.out.segments.report.cut_terms = self.fields.cut_terms();
        self.out.finish()
    }
}
