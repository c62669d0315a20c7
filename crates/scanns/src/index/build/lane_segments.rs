//! The segments of an index thread on their way to the medium.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::budget::LaneBudget;
use super::lane_report::LaneReport;
use crate::column::ColumnSet;
use crate::error::Result;
use crate::index::commit::writer::Writer;
use crate::index::progress::Progress;
use crate::invert::Inverter;
use crate::schema::Field;
use crate::segment::{FlushBuffers, Flushed, Keys, SegmentContents, StoredCollector, flush};
use crate::store::Unsynced;

/// The maximum number of segments of a thread that may wait for their sync.
const UNSYNCED: usize = 4;

/// How an index thread writes its segments.
#[derive(Clone, Copy)]
pub(crate) struct SegmentContext<'a> {
    pub(crate) writer: &'a Writer<'a>,
    pub(crate) budget: LaneBudget,
    pub(crate) buffers: FlushBuffers,
    pub(crate) progress: &'a Progress,
}

/// The documents of a segment, before it is written.
pub(crate) struct LaneDocuments<'d> {
    pub(crate) fields: Vec<(Field, &'d mut Inverter)>,
    pub(crate) keys: &'d Keys,
    pub(crate) stored: &'d mut StoredCollector,
    pub(crate) columns: &'d mut ColumnSet,
}

/// The segments of one index thread. `T` is what becomes valid together with a segment.
pub(crate) struct LaneSegments<'a, T> {
    context: SegmentContext<'a>,
    /// Segments that may not be durable yet.
    unsynced: VecDeque<(Flushed, T, Unsynced)>,
    /// Documents in the segments written so far, void ones included.
    documents: u64,
    /// Bytes that the current segment may hold before it is written.
    pub(crate) limit: usize,
    pub(crate) report: LaneReport,
}

impl<'a, T> LaneSegments<'a, T> {
    pub(crate) fn new(context: SegmentContext<'a>) -> Self {
        LaneSegments {
            context,
            unsynced: VecDeque::new(),
            documents: 0,
            limit: context.budget.first,
            report: LaneReport::default(),
        }
    }

    /// Documents in the segments written so far, void ones included.
    pub(crate) fn documents(&self) -> u64 {
        self.documents
    }

    /// Writes the current segment. The memory of the documents is kept for the next segment as far as the
    /// budget allows. Calls `take_in` for each segment that has become durable.
    pub(crate) fn write(
        &mut self,
        documents: LaneDocuments<'_>,
        with: T,
        take_in: impl Fn(Flushed, T) -> Result<()>,
    ) -> Result<()> {
        let LaneDocuments { fields, keys, stored, columns } = documents;
        let SegmentContext { writer, budget, buffers, progress } = self.context;
        let begun = Instant::now();
        let contents = SegmentContents { fields, keys, stored: &mut *stored, columns };
        let (segment, unsynced) = flush(writer.directory(), writer.new_id(), contents, &buffers)?;
        self.report.flushing += begun.elapsed();
        progress.segments.fetch_add(1, Ordering::Relaxed);
        self.documents += u64::from(segment.stats.max_doc);
        self.report.segments.push(segment.clone());
        self.unsynced.push_back((segment, with, unsynced));
        self.limit = budget.after(self.report.segments.len());
        // Inverters get memory first, because allocating it again costs more; stored documents keep the rest.
        stored.keep_within(budget.most.saturating_sub(self.limit + self.limit / 4));
        // Each unsynced segment holds a file open, and the oldest has long been written back.
        if self.unsynced.len() > UNSYNCED { self.sync_oldest(&take_in) } else { Ok(()) }
    }

    /// Waits until the oldest segment is durable. From then on it can be merged and committed.
    fn sync_oldest(&mut self, take_in: &impl Fn(Flushed, T) -> Result<()>) -> Result<()> {
        let Some((segment, with, unsynced)) = self.unsynced.pop_front() else { return Ok(()) };
        unsynced.sync()?;
        take_in(segment, with)
    }

    /// Waits until every segment is durable, and returns the report.
    pub(crate) fn finish(mut self, take_in: impl Fn(Flushed, T) -> Result<()>) -> Result<LaneReport> {
        // Waiting at the end costs little: most segments have long been written back, and indexing did not
        // wait.
        while !self.unsynced.is_empty() {
            self.sync_oldest(&take_in)?;
        }
        Ok(self.report)
    }
}
