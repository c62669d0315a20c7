//! The index thread: blocks in, segments out.
//!
//! Each has its tokenizer, its inverter, its keys, and writes its own segments; it shares nothing with the others
//! but the directory and counters.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::Progress;
use super::budget::LaneBudget;
use super::gate::{Gate, Working};
use super::ledger::{Landed, Ledger};
use super::line_keys::KeyCollector;
use crate::column::ColumnSet;
use crate::error::Result;
use crate::invert::{CHECK_EVERY, InvertOptions, Inverter};
use crate::read::{Lane, Piece, Span};
use crate::record::{Part, Parts};
use crate::schema::{Analyzer, Field, Postings, Records, Stored};
use crate::segment::{Collector, FLUSH_BYTES, FlushBuffers, Flushed, flush};
use crate::source::{Failure, Input};
use crate::store::Unsynced;
use crate::tokenize::Tokenizer;

/// Segments of a thread whose sync may wait.
const UNSYNCED: usize = 4;

/// Text that is taken as one part.
const PART: usize = CHECK_EVERY / 4;

/// What all index threads of a build have in common.
#[derive(Clone, Copy)]
pub(super) struct LaneContext<'a> {
    pub(super) ledger: &'a Ledger<'a>,
    pub(super) inputs: &'a [Input],
    pub(super) records: Records,
    pub(super) field: Field,
    pub(super) analyzer: &'a Analyzer,
    pub(super) stored: Stored,
    pub(super) invert: InvertOptions,
    pub(super) budget: LaneBudget,
    pub(super) gate: &'a Gate,
    pub(super) buffers: FlushBuffers,
    pub(super) progress: &'a Progress,
}

/// What an index thread did.
#[derive(Debug, Default)]
pub(super) struct LaneReport {
    pub(super) segments: Vec<Flushed>,
    pub(super) cut_terms: u64,
    pub(super) failures: Vec<Failure>,
    /// Time it took to write the segments.
    pub(super) flushing: Duration,
}

/// The state of one index thread.
pub(super) struct LaneIndexer<'a> {
    context: LaneContext<'a>,
    tokenizer: Tokenizer,
    inverter: Inverter,
    keys: KeyCollector,
    stored: Collector,
    /// Bytes to hold before the segment at hand is written.
    limit: usize,
    /// True while the rest of a document that does not fit into memory passes by.
    skipping: bool,
    /// Bytes since the memory was looked at.
    unchecked: usize,
    /// Segments that the medium may still be working on.
    unsynced: VecDeque<(Landed, Unsynced)>,
    /// Lines that the segment at hand has, and inputs of which it has documents in place of older ones.
    covered: Vec<(u32, Span)>,
    replacing: Vec<u32>,
    /// Where the line at hand begins in its file; 0 where a document is a file.
    line_at: u64,
    /// Held while this thread has a block to index.
    working: Working<'a>,
    report: LaneReport,
}

impl<'a> LaneIndexer<'a> {
    pub(super) fn new(context: LaneContext<'a>) -> Result<Self> {
        Ok(LaneIndexer {
            context,
            tokenizer: Tokenizer::new(context.analyzer),
            inverter: Inverter::new(&context.invert)?,
            keys: KeyCollector::new(context.records),
            stored: Collector::new(&context.stored, context.records)?
                .keep_offsets(context.invert.postings.has_offsets()),
            limit: context.budget.first,
            skipping: false,
            unchecked: 0,
            unsynced: VecDeque::new(),
            covered: Vec::new(),
            replacing: Vec::new(),
            line_at: 0,
            working: None,
            report: LaneReport::default(),
        })
    }

    /// Indexes everything that comes from `lane`; what is left at the end is not flushed yet.
    pub(super) fn run(&mut self, lane: Lane) -> Result<()> {
        if let Some(cpus) = lane.node_cpus() {
            crate::sys::pin_current_thread(cpus);
        }
        for mut block in lane {
            self.working = self.context.gate.work();
            let before = u64::from(self.inverter.max_doc());
            let flushed = self.report.segments.len();
            let (pieces, bytes) = block.split();
            let mut taken = 0;
            for piece in pieces {
                taken += piece.end - piece.start;
                self.piece(piece, bytes)?;
            }
            let after = u64::from(self.inverter.max_doc());
            let written: u64 = self
                .report
                .segments
                .iter()
                .skip(flushed)
                .map(|segment| u64::from(segment.stats.max_doc))
                .sum();
            self.context.progress.bytes.fetch_add(taken as u64, Ordering::Relaxed);
            self.context.progress.documents.fetch_add(written + after - before, Ordering::Relaxed);
            self.working = None;
        }
        Ok(())
    }

    /// Writes what is left, waits until every segment is on the medium, and says what was done.
    pub(super) fn finish(mut self) -> Result<LaneReport> {
        if self.inverter.max_doc() > 0 {
            self.flush()?;
        }
        // All at the end: most of it has long been written back, and indexing never waited for it.
        while !self.unsynced.is_empty() {
            self.sync_oldest()?;
        }
        self.report.cut_terms = self.tokenizer.cut_tokens();
        Ok(self.report)
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
        let mut parts = Parts::new(self.context.records, self.context.analyzer, range, ends, PART);
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
                let halves = match self.context.invert.postings {
                    Postings::Documents | Postings::Frequencies => 3,
                    Postings::Positions => 5,
                    Postings::Offsets => 6,
                };
                let estimate = self.input(piece).bytes.saturating_mul(halves) / 2;
                let used = (self.inverter.bytes() + self.keys.bytes()) as u64;
                if self.inverter.max_doc() > 0 && used + estimate > self.limit as u64 {
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
        self.stored.void_document()
    }

    /// The line at hand ended at byte `end` of the block, and is in the segment at hand.
    #[inline]
    fn cover(&mut self, piece: &Piece, end: usize) {
        let end = piece.offset + (end - piece.start) as u64;
        let start = std::mem::replace(&mut self.line_at, end);
        match self.covered.last_mut() {
            Some((input, span)) if *input == piece.input && span.end == start => {
                (span.end, span.lines) = (end, span.lines + 1);
            }
            _ => {
                self.covered.push((piece.input, Span { start, end, lines: 1 }));
                self.replace(piece);
            }
        }
    }

    /// Notes that the segment at hand has a document of the piece's input.
    fn replace(&mut self, piece: &Piece) {
        if self.context.ledger.replaces(piece.input) {
            self.replacing.push(piece.input);
        }
    }

    #[inline]
    fn part(&mut self, part: Part, piece: &Piece, bytes: &mut [u8]) -> Result<()> {
        let last = part.range.end == piece.end;
        self.unchecked += part.range.len();
        // A line feed that ends the text is no part of it; what may stand before that is.
        let text = part.range.start..part.next - usize::from(part.next > part.range.end);
        if !self.skipping {
            self.stored.text(&bytes[text.clone()])?;
            if self.context.invert.postings.has_offsets() {
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
                Records::File => {
                    self.keys.file(self.input(piece));
                    self.replace(piece);
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
        let keys = self.keys.bytes();
        self.inverter.is_full_beside(self.limit - keys.min(self.limit), self.stored.bytes() + keys)
    }

    fn flush(&mut self) -> Result<()> {
        // What follows waits for other threads, which must be able to write meanwhile.
        let was_working = self.working.take().is_some();
        let keys = self.keys.take(self.inverter.max_doc());
        let id = self.context.ledger.writer().new_id();
        let (segment, unsynced) = {
            let _stopped = self.context.gate.write();
            let begun = Instant::now();
            let directory = self.context.ledger.writer().directory();
            let mut fields = [(self.context.field, &mut self.inverter)];
            let flushed = flush(
                directory,
                id,
                &mut fields,
                &keys,
                &mut self.stored,
                &mut ColumnSet::default(),
                &self.context.buffers,
            )?;
            self.report.flushing += begun.elapsed();
            flushed
        };
        self.working = was_working.then(|| self.context.gate.work()).flatten();
        self.context.progress.segments.fetch_add(1, Ordering::Relaxed);
        self.report.segments.push(segment.clone());
        let (covered, replacing) = (std::mem::take(&mut self.covered), std::mem::take(&mut self.replacing));
        self.unsynced.push_back((Landed { segment, covered, replacing }, unsynced));
        self.limit = self.context.budget.after(self.report.segments.len());
        // What the inverter may keep goes first: its memory is the dearer one.
        self.stored.keep_within(self.context.budget.most.saturating_sub(self.limit + self.limit / 4));
        // Each holds a file open, and the oldest has long been written back.
        if self.unsynced.len() > UNSYNCED {
            self.sync_oldest()?;
        }
        Ok(())
    }

    /// Waits until the oldest segment is on the medium: then it can be merged and committed.
    fn sync_oldest(&mut self) -> Result<()> {
        let Some((landed, unsynced)) = self.unsynced.pop_front() else { return Ok(()) };
        unsynced.sync()?;
        self.context.ledger.take_in(landed)
    }

    /// Flushes in the middle of a document, which then goes on in the next segment. A document that fills the
    /// memory by itself gets more of it, up to the share of the thread, and is given up after that.
    fn flush_inside(&mut self, piece: &Piece) -> Result<()> {
        if self.inverter.max_doc() > 0
            && let Some(open) = self.inverter.copy_open_document(FLUSH_BYTES / 2)
        {
            self.flush()?;
            self.inverter.resume_document(&open);
            if self.inverter.bytes() < self.limit / 4 * 3 {
                return Ok(());
            }
        }
        self.stored.keep_within(0);
        if self.limit < self.context.budget.most {
            self.limit = self.limit.saturating_mul(2).min(self.context.budget.most);
            return Ok(());
        }
        let reason = format!(
            "one document needs more than the {} MiB of memory of an index thread: give more --memory and \
             --segment-memory, fewer --index-threads, or --records lines",
            self.limit >> 20
        );
        self.report
            .failures
            .push(Failure { path: self.context.inputs[piece.input as usize].path.clone(), reason });
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
