//! What index threads have in common: where their segments go, and what they say at the end.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::Progress;
use super::budget::LaneBudget;
use super::gate::{Gate, Working};
use super::ledger::{Landed, Ledger};
use super::records::MalformedRecord;
use crate::column::ColumnSet;
use crate::error::Result;
use crate::invert::Inverter;
use crate::read::Span;
use crate::record::RecordCounts;
use crate::schema::{Field, Records, Stored};
use crate::segment::{Collector, FlushBuffers, Flushed, Keys, flush};
use crate::source::{Failure, Input};
use crate::store::Unsynced;

/// Segments of a thread whose sync may wait.
const UNSYNCED: usize = 4;

/// What all index threads of a build have in common.
#[derive(Clone, Copy)]
pub(super) struct LaneContext<'a> {
    pub(super) ledger: &'a Ledger<'a>,
    pub(super) inputs: &'a [Input],
    pub(super) records: Records,
    pub(super) stored: Stored,
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
    /// What became of records with fields.
    pub(super) counts: RecordCounts,
    pub(super) malformed: Vec<MalformedRecord>,
    /// Time it took to write the segments.
    pub(super) flushing: Duration,
}

/// The segments of one index thread, and what they cover.
pub(super) struct LaneOutput<'a> {
    context: LaneContext<'a>,
    /// Segments that the medium may still be working on.
    unsynced: VecDeque<(Landed, Unsynced)>,
    /// Lines that the segment at hand has, and inputs of which it has documents in place of older ones.
    covered: Vec<(u32, Span)>,
    replacing: Vec<u32>,
    /// Held while this thread has a block to index.
    working: Working<'a>,
    /// Bytes to hold before the segment at hand is written.
    pub(super) limit: usize,
    pub(super) report: LaneReport,
}

impl<'a> LaneOutput<'a> {
    pub(super) fn new(context: LaneContext<'a>) -> Self {
        LaneOutput {
            context,
            unsynced: VecDeque::new(),
            covered: Vec::new(),
            replacing: Vec::new(),
            working: None,
            limit: context.budget.first,
            report: LaneReport::default(),
        }
    }

    /// Says that there is a block to index.
    pub(super) fn begin_work(&mut self) {
        self.working = self.context.gate.work();
    }

    /// Says that there is none at the moment; true if there was one.
    pub(super) fn rest(&mut self) -> bool {
        self.working.take().is_some()
    }

    /// Bytes of what a segment may keep of the memory of the one before, for what is stored.
    pub(super) fn spare(&self) -> usize {
        self.context.budget.most.saturating_sub(self.limit + self.limit / 4)
    }

    /// The line or record at hand stands at `start..end` of its file, and is in the segment at hand.
    #[inline]
    pub(super) fn cover(&mut self, input: u32, start: u64, end: u64) {
        match self.covered.last_mut() {
            Some((last, span)) if *last == input && span.end == start => {
                (span.end, span.lines) = (end, span.lines + 1);
            }
            _ => {
                self.covered.push((input, Span { start, end, lines: 1 }));
                self.replace(input);
            }
        }
    }

    /// Notes that the segment at hand has a document of an input.
    pub(super) fn replace(&mut self, input: u32) {
        if self.context.ledger.replaces(input) {
            self.replacing.push(input);
        }
    }

    /// Writes the segment at hand. Whoever calls this has said that it rests, since other threads may have to be waited for.
    pub(super) fn write(
        &mut self,
        fields: &mut [(Field, &mut Inverter)],
        keys: &Keys,
        stored: &mut Collector,
        columns: &mut ColumnSet,
    ) -> Result<()> {
        let writer = self.context.ledger.writer();
        let (segment, unsynced) = {
            let _stopped = self.context.gate.write();
            let begun = Instant::now();
            let (directory, id) = (writer.directory(), writer.new_id());
            let flushed = flush(directory, id, fields, keys, stored, columns, &self.context.buffers)?;
            self.report.flushing += begun.elapsed();
            flushed
        };
        self.context.progress.segments.fetch_add(1, Ordering::Relaxed);
        self.report.segments.push(segment.clone());
        let (covered, replacing) = (std::mem::take(&mut self.covered), std::mem::take(&mut self.replacing));
        self.unsynced.push_back((Landed { segment, covered, replacing }, unsynced));
        self.limit = self.context.budget.after(self.report.segments.len());
        Ok(())
    }

    /// Syncs segments that have waited long, after one was written.
    pub(super) fn sync_old(&mut self) -> Result<()> {
        // Each holds a file open, and the oldest has long been written back.
        if self.unsynced.len() > UNSYNCED { self.sync_oldest() } else { Ok(()) }
    }

    /// Waits until the oldest segment is on the medium: then it can be merged and committed.
    fn sync_oldest(&mut self) -> Result<()> {
        let Some((landed, unsynced)) = self.unsynced.pop_front() else { return Ok(()) };
        unsynced.sync()?;
        self.context.ledger.take_in(landed)
    }

    /// Waits until every segment is on the medium, and says what was done.
    pub(super) fn finish(mut self) -> Result<LaneReport> {
        // All at the end: most of it has long been written back, and indexing never waited for it.
        while !self.unsynced.is_empty() {
            self.sync_oldest()?;
        }
        Ok(self.report)
    }
}
