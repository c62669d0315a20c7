//! The output of an index thread: its segments, and which lines and inputs they cover.

use super::lane_report::LaneReport;
use super::lane_segments::{LaneDocuments, LaneSegments, SegmentContext};
use super::line_keys::KeyCollector;
use crate::column::ColumnSet;
use crate::error::Result;
use crate::index::commit::ledger::{IndexedSegment, Ledger};
use crate::invert::Inverter;
use crate::read::{ArchivePart, LineSpan};
use crate::schema::{Field, Records, Stored};
use crate::segment::{Flushed, StoredCollector};
use crate::source::Input;

/// The state that all index threads of a build share.
#[derive(Clone, Copy)]
pub(crate) struct LaneContext<'a> {
    pub(crate) ledger: &'a Ledger<'a>,
    pub(crate) inputs: &'a [Input],
    pub(crate) records: Records,
    pub(crate) stored: Stored,
    /// Whether to find out in which language documents are.
    pub(crate) languages: bool,
    /// The column of sketches, if the index has them.
    pub(crate) sketch: Option<Field>,
    pub(crate) segments: SegmentContext<'a>,
}

/// The segments of one index thread, and the inputs and lines that they cover.
pub(crate) struct LaneOutput<'a> {
    context: LaneContext<'a>,
    /// The keys of the current segment.
    pub(crate) keys: KeyCollector,
    pub(crate) segments: LaneSegments<'a, Covered>,
    covered: Covered,
}

/// What a segment covers.
#[derive(Default)]
pub(crate) struct Covered {
    /// Lines, by input.
    lines: Vec<(u32, LineSpan)>,
    /// Inputs of which the segment has documents that replace older ones.
    replacing: Vec<u32>,
    /// Inputs whose text was decoded.
    decoded: Vec<u32>,
}

impl<'a> LaneOutput<'a> {
    pub(crate) fn new(context: LaneContext<'a>) -> Self {
        LaneOutput {
            context,
            keys: KeyCollector::new(context.records),
            segments: LaneSegments::new(context.segments),
            covered: Covered::default(),
        }
    }

    /// Documents in the segments written so far, void ones included.
    pub(crate) fn written_documents(&self) -> u64 {
        self.segments.documents()
    }

    /// Adds the line or record at `start..end` of its file to the current segment.
    #[inline]
    pub(crate) fn cover(&mut self, input: u32, start: u64, end: u64) {
        match self.covered.lines.last_mut() {
            Some((last, span)) if *last == input && span.end == start => {
                (span.end, span.lines) = (end, span.lines + 1);
            }
            _ => {
                self.covered.lines.push((input, LineSpan { start, end, lines: 1 }));
                self.replace(input);
            }
        }
    }

    /// Notes that the positions of an input are positions in its decoded text.
    pub(crate) fn decoded(&mut self, input: u32) {
        if self.covered.decoded.last() != Some(&input) {
            self.covered.decoded.push(input);
        }
    }

    /// Notes that a member of an archive is indexed, or, behind all members, the archive itself.
    pub(crate) fn cover_part(&mut self, input: u32, part: &ArchivePart) {
        self.decoded(input);
        match part.member {
            Some(_) => self.cover(input, part.number, part.number + 1),
            None => self.cover_rest(input, part.number),
        }
    }

    /// Notes that nothing follows byte `end` of the decoded text of an input.
    pub(crate) fn cover_rest(&mut self, input: u32, end: u64) {
        match self.covered.lines.last_mut() {
            Some((last, span)) if *last == input && span.end == end => span.end = u64::MAX,
            _ => self.covered.lines.push((input, LineSpan { start: end, end: u64::MAX, lines: 0 })),
        }
    }

    /// Notes that the current segment has a document of an input.
    pub(crate) fn replace(&mut self, input: u32) {
        if self.context.ledger.replaces(input) {
            self.covered.replacing.push(input);
        }
    }

    /// Writes the current segment.
    pub(crate) fn write(
        &mut self,
        fields: Vec<(Field, &mut Inverter)>,
        stored: &mut StoredCollector,
        columns: &mut ColumnSet,
    ) -> Result<()> {
        let max_doc = fields.first().map_or(0, |(_, inverter)| inverter.max_doc());
        let keys = self.keys.take(max_doc);
        let documents = LaneDocuments { fields, keys: &keys, stored, columns };
        let covered = std::mem::take(&mut self.covered);
        self.segments.write(documents, covered, take_into(self.context.ledger))
    }

    /// Waits until every segment is durable, and returns the report.
    pub(crate) fn finish(self) -> Result<LaneReport> {
        self.segments.finish(take_into(self.context.ledger))
    }
}

/// Enters durable segments in the ledger.
fn take_into<'l>(ledger: &'l Ledger<'_>) -> impl Fn(Flushed, Covered) -> Result<()> + 'l {
    |segment, Covered { lines: covered, replacing, decoded }| {
        ledger.take_in(IndexedSegment { segment, covered, replacing, decoded })
    }
}
