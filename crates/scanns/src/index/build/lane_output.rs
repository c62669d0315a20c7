//! The output of an index thread: its segments, and which lines and inputs they cover.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::budget::LaneBudget;
use super::lane_report::LaneReport;
use super::line_keys::KeyCollector;
use crate::column::ColumnSet;
use crate::error::Result;
use crate::index::commit::ledger::{IndexedSegment, Ledger};
use crate::index::progress::Progress;
use crate::invert::Inverter;
use crate::read::LineSpan;
use crate::schema::{Field, Records, Stored};
use crate::segment::{FlushBuffers, SegmentContents, StoredCollector, flush};
use crate::source::Input;
use crate::store::Unsynced;

/// The maximum number of segments of a thread that may wait for their sync.
const UNSYNCED: usize = 4;

/// The state that all index threads of a build share.
#[derive(Clone, Copy)]
pub(crate) struct LaneContext<'a> {
    pub(crate) ledger: &'a Ledger<'a>,
    pub(crate) inputs: &'a [Input],
    pub(crate) records: Records,
    pub(crate) stored: Stored,
    pub(crate) budget: LaneBudget,
    pub(crate) buffers: FlushBuffers,
    pub(crate) progress: &'a Progress,
}

/// The segments of one index thread, and the inputs and lines that they cover.
pub(crate) struct LaneOutput<'a> {
    context: LaneContext<'a>,
    /// The keys of the current segment.
    pub(crate) keys: KeyCollector,
    /// Segments that may not be durable yet.
    unsynced: VecDeque<(IndexedSegment, Unsynced)>,
    /// The lines in the current segment, by input.
    covered: Vec<(u32, LineSpan)>,
    /// Inputs of which the current segment has documents that replace older ones.
    replacing: Vec<u32>,
    /// Inputs in the current segment whose text was decoded.
    decoded: Vec<u32>,
    /// Documents in the segments written so far, void ones included.
    written_documents: u64,
    /// Bytes that the current segment may hold before it is written.
    pub(crate) limit: usize,
    pub(crate) report: LaneReport,
}

impl<'a> LaneOutput<'a> {
    pub(crate) fn new(context: LaneContext<'a>) -> Self {
        LaneOutput {
            context,
            keys: KeyCollector::new(context.records),
            unsynced: VecDeque::new(),
            covered: Vec::new(),
            replacing: Vec::new(),
            decoded: Vec::new(),
            written_documents: 0,
            limit: context.budget.first,
            report: LaneReport::default(),
        }
    }

    /// Documents in the segments written so far, void ones included.
    pub(crate) fn written_documents(&self) -> u64 {
        self.written_documents
    }

    /// Adds the line or record at `start..end` of its file to the current segment.
    #[inline]
    pub(crate) fn cover(&mut self, input: u32, start: u64, end: u64) {
        match self.covered.last_mut() {
            Some((last, span)) if *last == input && span.end == start => {
                (span.end, span.lines) = (end, span.lines + 1);
            }
            _ => {
                self.covered.push((input, LineSpan { start, end, lines: 1 }));
                self.replace(input);
            }
        }
    }

    /// Notes that the positions of an input are positions in its decoded text.
    pub(crate) fn decoded(&mut self, input: u32) {
        if self.decoded.last() != Some(&input) {
            self.decoded.push(input);
        }
    }

    /// Notes that nothing follows byte `end` of the decoded text of an input.
    pub(crate) fn cover_rest(&mut self, input: u32, end: u64) {
        match self.covered.last_mut() {
            Some((last, span)) if *last == input && span.end == end => span.end = u64::MAX,
            _ => self.covered.push((input, LineSpan { start: end, end: u64::MAX, lines: 0 })),
        }
    }

    /// Notes that the current segment has a document of an input.
    pub(crate) fn replace(&mut self, input: u32) {
        if self.context.ledger.replaces(input) {
            self.replacing.push(input);
        }
    }

    /// Writes the current segment. The memory of `fields`, `stored` and `columns` is kept for the next
    /// segment as far as the budget allows.
    pub(crate) fn write(
        &mut self,
        fields: &mut [(Field, &mut Inverter)],
        stored: &mut StoredCollector,
        columns: &mut ColumnSet,
    ) -> Result<()> {
        let max_doc = fields.first().map_or(0, |(_, inverter)| inverter.max_doc());
        let keys = self.keys.take(max_doc);
        let writer = self.context.ledger.writer();
        let begun = Instant::now();
        let (directory, id) = (writer.directory(), writer.new_id());
        let fields = fields.iter_mut().map(|(field, inverter)| (*field, &mut **inverter)).collect();
        let contents = SegmentContents { fields, keys: &keys, stored, columns };
        let (segment, unsynced) = flush(directory, id, contents, &self.context.buffers)?;
        self.report.flushing += begun.elapsed();
        self.context.progress.segments.fetch_add(1, Ordering::Relaxed);
        self.written_documents += u64::from(segment.stats.max_doc);
        self.report.segments.push(segment.clone());
        let (covered, replacing) = (std::mem::take(&mut self.covered), std::mem::take(&mut self.replacing));
        let decoded = std::mem::take(&mut self.decoded);
        self.unsynced.push_back((IndexedSegment { segment, covered, replacing, decoded }, unsynced));
        self.limit = self.context.budget.after(self.report.segments.len());
        // Inverters get memory first, because allocating it again costs more; stored documents keep the rest.
        stored.keep_within(self.context.budget.most.saturating_sub(self.limit + self.limit / 4));
        // Each unsynced segment holds a file open, and the oldest has long been written back.
        if self.unsynced.len() > UNSYNCED { self.sync_oldest() } else { Ok(()) }
    }

    /// Waits until the oldest segment is durable. From then on it can be merged and committed.
    fn sync_oldest(&mut self) -> Result<()> {
        let Some((landed, unsynced)) = self.unsynced.pop_front() else { return Ok(()) };
        unsynced.sync()?;
        self.context.ledger.take_in(landed)
    }

    /// Waits until every segment is durable, and returns the report.
    pub(crate) fn finish(mut self) -> Result<LaneReport> {
        // Waiting at the end costs little: most segments have long been written back, and indexing did not
        // wait.
        while !self.unsynced.is_empty() {
            self.sync_oldest()?;
        }
        Ok(self.report)
    }
}
