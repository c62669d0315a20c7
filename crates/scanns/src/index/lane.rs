//! The index thread: blocks of files and lines in, segments out.
//!
//! Each has its tokenizer, its inverter, its keys, and writes its own segments; it shares nothing with the others
//! but the directory and counters.

use std::sync::atomic::Ordering;

use super::file_fields::FileFields;
use super::lane_output::{LaneContext, LaneOutput, LaneReport};
use super::line_keys::KeyCollector;
use crate::column::ColumnSet;
use crate::error::Result;
use crate::invert::{CHECK_EVERY, InvertOptions, Inverter};
use crate::read::{Lane, Piece};
use crate::record::{Part, Parts};
use crate::schema::{Analyzer, Field, Postings, Records, Schema};
use crate::segment::{Collector, FLUSH_BYTES};
use crate::source::{Failure, Input};
use crate::tokenize::Tokenizer;

/// Text that is taken as one part.
const PART: usize = CHECK_EVERY / 4;

/// The field that text goes into, and how.
#[derive(Clone, Copy)]
pub(super) struct TextLane<'a> {
    pub(super) field: Field,
    pub(super) analyzer: &'a Analyzer,
    pub(super) invert: InvertOptions,
    /// What is kept of files beside, and the schema with their fields.
    pub(super) files: Option<(&'a FileFields, &'a Schema)>,
}

/// The state of one index thread.
pub(super) struct LaneIndexer<'a> {
    context: LaneContext<'a>,
    text: TextLane<'a>,
    tokenizer: Tokenizer,
    inverter: Inverter,
    keys: KeyCollector,
    stored: Collector,
    /// Of files, what is kept beside their text.
    columns: ColumnSet,
    /// True while the rest of a document that does not fit into memory passes by.
    skipping: bool,
    /// Bytes since the memory was looked at.
    unchecked: usize,
    /// Where the line at hand begins in its file; 0 where a document is a file.
    line_at: u64,
    out: LaneOutput<'a>,
}

impl<'a> LaneIndexer<'a> {
    pub(super) fn new(context: LaneContext<'a>, text: TextLane<'a>) -> Result<Self> {
        Ok(LaneIndexer {
            context,
            text,
            tokenizer: Tokenizer::new(text.analyzer),
            inverter: Inverter::new(&text.invert)?,
            keys: KeyCollector::new(context.records),
            stored: Collector::new(&context.stored, context.records)?
                .keep_offsets(text.invert.postings.has_offsets()),
            columns: text.files.map_or_else(ColumnSet::default, |(_, schema)| ColumnSet::new(schema)),
            skipping: false,
            unchecked: 0,
            line_at: 0,
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
            let before = u64::from(self.inverter.max_doc());
            let flushed = self.out.report.segments.len();
            let (pieces, bytes) = block.split();
            let mut taken = 0;
            for piece in pieces {
                taken += piece.end - piece.start;
                self.piece(piece, bytes)?;
            }
            let after = u64::from(self.inverter.max_doc());
            let written: u64 = self
                .out
                .report
                .segments
                .iter()
                .skip(flushed)
                .map(|segment| u64::from(segment.stats.max_doc))
                .sum();
            self.context.progress.bytes.fetch_add(taken as u64, Ordering::Relaxed);
            self.context.progress.documents.fetch_add(written + after - before, Ordering::Relaxed);
            self.out.rest();
        }
        Ok(())
    }

    /// Writes what is left, waits until every segment is on the medium, and says what was done.
    pub(super) fn finish(mut self) -> Result<LaneReport> {
        if self.inverter.max_doc() > 0 {
            self.flush()?;
        }
        self.out.report.cut_terms = self.tokenizer.cut_tokens();
        self.out.finish()
    }

    fn input(&self, piece: &Piece) -> &'a Input {
        &self.context.inputs[piece.input as usize]
    }

    fn piece(&mut self, piece: &Piece, bytes: &mut [u8]) -> Result<()> {
        let lines = self.context.records == Records::Lines;
        if piece.opens {
            self.open(piece)?;
        }
        if piece.failed && !lines {
            return self.fail(piece);
        }
        let mut range = piece.start..piece.end;
        if piece.mid_token {
            let rest = &bytes[range.clone()];
            let line = if lines { memchr::memchr(b'\n', rest) } else { None };
            range.start += self.tokenizer.rest_of_token(&rest[..line.unwrap_or(rest.len())]);
            if !self.skipping {
                // A token that is cut off is kept to its end as text, and must not fill the memory unseen.
                self.stored.text(&bytes[piece.start..range.start])?;
                if self.is_full() {
                    self.flush_inside(piece)?;
                }
            }
        }
        let ends = (!piece.opens, piece.closes);
        let mut parts = Parts::new(self.context.records, self.text.analyzer, range, ends, PART);
        while let Some(part) = parts.step(bytes) {
            self.part(part, piece, bytes)?;
        }
        Ok(())
    }

    /// A document or run of lines begins.
    fn open(&mut self, piece: &Piece) -> Result<()> {
        match &piece.first_line {
            Some(line) => {
                self.line_at = piece.offset;
                let (document, input) = (self.inverter.current_document(), self.input(piece));
                self.keys.lines(document, piece.input, input, line.clone());
            }
            None => {
                // A file that may not fit beside what is there had better begin a segment of its own.
                let halves = match self.text.invert.postings {
                    Postings::Documents | Postings::Frequencies => 3,
                    Postings::Positions => 5,
                    Postings::Offsets => 6,
                };
                let estimate = self.input(piece).bytes.saturating_mul(halves) / 2;
                let used = (self.inverter.bytes() + self.keys.bytes()) as u64;
                if self.inverter.max_doc() > 0 && used + estimate > self.out.limit as u64 {
                    self.flush()?;
                }
            }
        }
        Ok(())
    }

    /// A file could not be read to its end: the reader reports it, its document is void.
    fn fail(&mut self, piece: &Piece) -> Result<()> {
        let begun = self.inverter.pending_tokens() > 0 || self.stored.is_open();
        if !std::mem::take(&mut self.skipping) && begun {
            self.void_document()?;
            self.keys.file(self.input(piece));
        }
        Ok(())
    }

    fn void_document(&mut self) -> Result<()> {
        self.inverter.void_document();
        self.columns.void_document()?;
        self.stored.void_document()
    }

    /// The line at hand ended at byte `end` of the block, and is in the segment at hand.
    #[inline]
    fn cover(&mut self, piece: &Piece, end: usize) {
        let end = piece.offset + (end - piece.start) as u64;
        let start = std::mem::replace(&mut self.line_at, end);
        self.out.cover(piece.input, start, end);
    }

    #[inline]
    fn part(&mut self, part: Part, piece: &Piece, bytes: &mut [u8]) -> Result<()> {
        let last = part.range.end == piece.end;
        self.unchecked += part.range.len();
        // A line feed that ends the text is no part of it; what may stand before that is.
        let text = part.range.start..part.next - usize::from(part.next > part.range.end);
        if !self.skipping {
            self.stored.text(&bytes[text.clone()])?;
            if self.text.invert.postings.has_offsets() {
                let begun = self.line_at.wrapping_add(piece.start as u64);
                self.inverter.text_begins(piece.offset.wrapping_sub(begun));
                self.stored.text_begins(piece.offset.wrapping_sub(begun));
            }
            match self.stored.vectors() {
                Some(vectors) => self.tokenizer.run(bytes, part.range, &mut (&mut self.inverter, vectors)),
                None => self.tokenizer.run(bytes, part.range, &mut self.inverter),
            }
        }
        if part.closes {
            if std::mem::take(&mut self.skipping) {
                self.line_at = piece.offset + (part.next - piece.start) as u64;
                return Ok(());
            }
            if piece.failed && last {
                // The line at which reading failed is not all there.
                return self.void_document();
            }
            self.inverter.end_document();
            let end = piece.offset + (text.end - piece.start) as u64;
            self.stored.end_document((self.line_at, end.saturating_sub(self.line_at)))?;
            match self.context.records {
                Records::Lines => self.cover(piece, part.next),
                _ => {
                    self.keys.file(self.input(piece));
                    self.out.replace(piece.input);
                    if let Some((files, _)) = self.text.files {
                        files.push(self.input(piece), &mut self.columns);
                        self.columns.end_document()?;
                    }
                }
            }
        }
        if self.unchecked >= PART || self.context.records == Records::File {
            self.unchecked = 0;
            if self.is_full() {
                return if part.closes { self.flush() } else { self.flush_inside(piece) };
            }
        }
        Ok(())
    }

    fn is_full(&mut self) -> bool {
        // What is stored does not count towards the size of a segment, since it slows nothing down; the cap covers it.
        let keys = self.keys.bytes() + self.columns.bytes();
        let limit = self.out.limit;
        self.inverter.is_full_beside(limit - keys.min(limit), self.stored.bytes() + keys)
    }

    fn flush(&mut self) -> Result<()> {
        // What follows waits for other threads, which must be able to write meanwhile.
        let was_working = self.out.rest();
        let keys = self.keys.take(self.inverter.max_doc());
        let mut fields = [(self.text.field, &mut self.inverter)];
        self.out.write(&mut fields, &keys, &mut self.stored, &mut self.columns)?;
        if was_working {
            self.out.begin_work();
        }
        // What the inverter may keep goes first: its memory is the dearer one.
        self.stored.keep_within(self.out.spare());
        self.out.sync_old()
    }

    /// Flushes in the middle of a document, which then goes on in the next segment. A document that fills the
    /// memory by itself gets more of it, up to the share of the thread, and is given up after that.
    fn flush_inside(&mut self, piece: &Piece) -> Result<()> {
        if self.inverter.max_doc() > 0
            && let Some(open) = self.inverter.copy_open_document(FLUSH_BYTES / 2)
        {
            self.flush()?;
            self.inverter.resume_document(&open);
            if self.inverter.bytes() < self.out.limit / 4 * 3 {
                return Ok(());
            }
        }
        self.stored.keep_within(0);
        if self.out.limit < self.context.budget.most {
            self.out.limit = self.out.limit.saturating_mul(2).min(self.context.budget.most);
            return Ok(());
        }
        let reason = format!(
            "one document needs more than the {} MiB of memory of an index thread: give more --memory and \
             --segment-memory, fewer --index-threads, or --records lines",
            self.out.limit >> 20
        );
        self.out.report.failures.push(Failure { path: self.input(piece).path.clone(), reason });
        self.stored.drop_open();
        // What came before it is whole: a flush leaves out a document that has not ended.
        match self.inverter.max_doc() {
            0 => self.inverter.clear(),
            _ => self.flush()?,
        }
        self.skipping = true;
        if self.context.records == Records::Lines {
            // The line keeps its number, so that the ones after it keep theirs.
            self.void_document()?;
        }
        Ok(())
    }
}
