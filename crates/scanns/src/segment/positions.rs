//! The positions and offsets of terms in documents.
//!
//! They are stored in runs, one per term, in the section of terms. The run of a term is stored before its
//! list of postings.

use std::ops::Range;

use super::layout::file_name;
use super::reader::Segment;
use super::terms::{TermInfo, TermPositions};
use crate::codec::{
    BLOCK, Columns, DeltaReader, Differences, ListCursor, Occurrence, OnlyPositions, PositionCursor,
    WithOffsets,
};
use crate::error::{Error, Result};
use crate::schema::Postings;

/// The postings format that all `segments` share.
///
/// # Errors
/// [`Error::Corrupt`] if they differ, which never happens among the segments of one index.
pub(super) fn in_common(segments: &[Segment]) -> Result<Postings> {
    let mut kept =
        segments.iter().filter(|segment| segment.has_field()).map(|segment| (segment.id(), segment.kept()));
    let first = kept.next().map_or(Postings::default(), |(_, first)| first);
    match kept.find(|(_, other)| *other != first) {
        Some((id, _)) => Err(Error::corrupt(
            file_name(id),
            "it does not store the same data per term as the other segments of its index",
        )),
        None => Ok(first),
    }
}

impl Segment {
    /// Returns a reader of the deltas of a term: of its positions, and also of its offsets if `C` has them.
    /// `info` and `positions` come from [`Segment::find_all`] or an iterator over terms.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::NotIndexed`] if the segment has no positions, or no offsets although `C`
    /// needs them.
    pub fn deltas<C: Columns>(
        &self,
        term: &[u8],
        info: TermInfo,
        positions: TermPositions,
    ) -> Result<DeltaReader<'_, C>> {
        match positions {
            _ if C::OFFSETS && !self.kept().has_offsets() => Err(not_indexed("offsets")),
            TermPositions::NotKept => Err(not_indexed("positions")),
            TermPositions::Only(at) => Ok(DeltaReader::only(at)),
            TermPositions::Run { offset, len, offsets } => {
                let bytes = self.list(offset, len)?;
                let reader = DeltaReader::new(bytes, info.doc_freq(), info.total_freq(), offsets);
                reader.ok_or_else(|| self.damaged_positions(term))
            }
        }
    }

    /// Returns the positions of a term in one document, ascending; empty if the document does not contain the
    /// term.
    ///
    /// # Errors
    /// [`Error::Corrupt`], and [`Error::NotIndexed`] in a segment without positions.
    pub fn positions(&self, term: &[u8], doc: u32) -> Result<Vec<u32>> {
        let Some((info, positions)) = self.find_all(term)? else { return Ok(Vec::new()) };
        let cursor = PositionCursor::new(self.deltas(term, info, positions)?);
        self.in_document(term, info, doc, cursor, |cursor, list| cursor.positions_of_current(list).to_vec())
    }

    /// Returns the byte range of each occurrence of a term in the text of one document, in order; empty if
    /// the document does not contain the term.
    ///
    /// # Errors
    /// [`Error::Corrupt`], and [`Error::NotIndexed`] in a segment without offsets.
    pub fn offsets(&self, term: &[u8], doc: u32) -> Result<Vec<Range<u32>>> {
        let Some((info, positions)) = self.find_all(term)? else { return Ok(Vec::new()) };
        let cursor = PositionCursor::with_offsets(self.deltas(term, info, positions)?, term.len());
        self.in_document(term, info, doc, cursor, |cursor, list| cursor.offsets_of_current(list).to_vec())
    }

    /// Returns the result of `read` for a term whose cursor is at document `doc`.
    fn in_document<'a, C: Columns, T>(
        &'a self,
        term: &[u8],
        info: TermInfo,
        doc: u32,
        mut cursor: PositionCursor<'a, C>,
        read: impl FnOnce(&mut PositionCursor<'a, C>, &mut ListCursor<'_>) -> Vec<T>,
    ) -> Result<Vec<T>> {
        let mut list = self.cursor(term, info)?;
        if list.advance(doc) != doc {
            return if list.corrupt() { Err(self.damaged_list(term)) } else { Ok(Vec::new()) };
        }
        let found = read(&mut cursor, &mut list);
        if cursor.corrupt() || list.corrupt() { Err(self.damaged_positions(term)) } else { Ok(found) }
    }

    /// A cursor over the postings of a term.
    pub(super) fn cursor(&self, term: &[u8], info: TermInfo) -> Result<ListCursor<'_>> {
        match info {
            TermInfo::Single { doc, term_freq } => Ok(ListCursor::single(doc, term_freq)),
            TermInfo::List { doc_freq, offset, len, .. } => {
                let cursor = ListCursor::new(self.list(offset, len)?, doc_freq, self.stats().max_doc);
                cursor.ok_or_else(|| self.damaged_list(term))
            }
        }
    }

    /// Verifies the positions of a term, if there are any: each document has one position for each
    /// occurrence, they ascend, and the run contains the correct start of the positions of each block. With
    /// offsets, no occurrence begins before the preceding one, or ends before it begins.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if any of this does not hold.
    pub(super) fn check_positions(
        &self,
        term: &[u8],
        info: TermInfo,
        positions: TermPositions,
    ) -> Result<()> {
        if positions == TermPositions::NotKept {
            Ok(())
        } else if self.kept().has_offsets() {
            self.check_run::<WithOffsets>(term, info, positions)
        } else {
            self.check_run::<OnlyPositions>(term, info, positions)
        }
    }

    fn check_run<C: Columns>(&self, term: &[u8], info: TermInfo, positions: TermPositions) -> Result<()> {
        let mut deltas = self.deltas::<C>(term, info, positions)?;
        let mut list = self.cursor(term, info)?;
        let mut whole = true;
        while !list.rest_of_docs().is_empty() {
            whole &= matches!(positions, TermPositions::Only(_)) || deltas.is_at(list.block());
            let (docs, freqs) = list.rest_of_block();
            for &freq in freqs {
                let (mut before, mut start, mut rises) = (None, 0, true);
                let taken = deltas.take(freq, |deltas| {
                    rises &= positions_rise(&mut before, deltas) && offsets_rise(&mut start, term, deltas);
                });
                whole &= taken.is_some() && rises;
            }
            let count = docs.len().min(BLOCK);
            if !whole {
                break;
            }
            list.consume(count);
        }
        if whole && deltas.is_at_end() { Ok(()) } else { Err(self.damaged_positions(term)) }
    }

    /// Returns the error for positions of this segment that cannot be decoded.
    pub(super) fn damaged_positions(&self, term: &[u8]) -> Error {
        let what = format!("the positions of term \"{}\" cannot be read", term.escape_ascii());
        Error::corrupt(file_name(self.id()), what)
    }
}

/// Returns the error for requesting positions or offsets from a segment without them.
fn not_indexed(what: &'static str) -> Error {
    Error::NotIndexed { what }
}

/// Returns true if the positions ascend from `before`, which becomes the last of them.
fn positions_rise(before: &mut Option<u32>, deltas: Differences<'_>) -> bool {
    deltas.positions.iter().all(|&delta| {
        let position = before.unwrap_or(0).checked_add(delta);
        // Only the greatest possible position may repeat.
        let rises = position.is_some_and(|at| before.is_none_or(|before| before < at || at == u32::MAX));
        *before = position;
        rises
    })
}

/// Returns true if the starts do not descend from `before`, which becomes the last of them, and no end
/// precedes its start.
fn offsets_rise(before: &mut u32, term: &[u8], deltas: Differences<'_>) -> bool {
    deltas.starts.iter().zip(deltas.extras).all(|(&delta, &extra)| {
        let Some(start) = before.checked_add(delta) else { return false };
        *before = start;
        Occurrence::end_of(start, extra, term.len()).is_some()
    })
}
