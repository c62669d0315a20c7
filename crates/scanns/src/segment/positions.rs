//! Where in their documents terms stand: finds the runs of a segment and proves that they are whole.
//!
//! The runs are in the section of terms, each before the list that it belongs to.

use std::ops::Range;

use super::reader::Segment;
use super::terms::{TermInfo, TermPositions};
use crate::codec::{
    BLOCK, Columns, DeltaReader, Differences, ListCursor, Occurrence, OnlyPositions, PositionCursor,
    WithOffsets,
};
use crate::error::{Error, Result};
use crate::schema::Postings;

/// What all of `segments` keep of a term.
///
/// # Errors
/// [`Error::Corrupt`] if they differ, which those of one index never do.
pub(super) fn in_common(segments: &[Segment]) -> Result<Postings> {
    let mut kept =
        segments.iter().filter(|segment| segment.has_field()).map(|segment| (segment.id(), segment.kept()));
    let first = kept.next().map_or(Postings::default(), |(_, first)| first);
    match kept.find(|(_, other)| *other != first) {
        Some((id, _)) => Err(Error::corrupt(
            super::file_name(id),
            "it keeps something else of a term than others of its index",
        )),
        None => Ok(first),
    }
}

impl Segment {
    /// The deltas of a term, as far as `C` knows of them, as [`Segment::find_all`] or an iterator over terms told of it.
    ///
    /// # Errors
    /// [`Error::Corrupt`], and [`Error::Options`] in a segment without positions, or without offsets if those are asked for.
    pub fn deltas<C: Columns>(
        &self,
        term: &[u8],
        info: TermInfo,
        positions: TermPositions,
    ) -> Result<DeltaReader<'_, C>> {
        match positions {
            _ if C::OFFSETS && !self.kept().has_offsets() => Err(Error::Options(
                "the index has no offsets: build one with --offsets, or ask without them".into(),
            )),
            TermPositions::NotKept => Err(Error::Options(
                "the index has no positions: build one with --positions, or ask without them".into(),
            )),
            TermPositions::Only(at) => Ok(DeltaReader::only(at)),
            TermPositions::Run { offset, len, offsets } => {
                let bytes = self.list(offset, len)?;
                let reader = DeltaReader::new(bytes, info.doc_freq(), info.total_freq(), offsets);
                reader.ok_or_else(|| self.damaged_positions(term))
            }
        }
    }

    /// The positions of a term in one document, ascending; none if the document does not have it.
    ///
    /// # Errors
    /// [`Error::Corrupt`], and [`Error::Options`] in a segment without positions.
    pub fn positions(&self, term: &[u8], doc: u32) -> Result<Vec<u32>> {
        let Some((info, positions)) = self.find_all(term)? else { return Ok(Vec::new()) };
        let cursor = PositionCursor::new(self.deltas(term, info, positions)?);
        self.in_document(term, info, doc, cursor, |cursor, list| cursor.positions_of_current(list).to_vec())
    }

    /// Where in the text of one document each occurrence of a term begins and ends, in their order; none if the document
    /// does not have it.
    ///
    /// # Errors
    /// [`Error::Corrupt`], and [`Error::Options`] in a segment without offsets.
    pub fn offsets(&self, term: &[u8], doc: u32) -> Result<Vec<Range<u32>>> {
        let Some((info, positions)) = self.find_all(term)? else { return Ok(Vec::new()) };
        let cursor = PositionCursor::with_offsets(self.deltas(term, info, positions)?, term.len());
        self.in_document(term, info, doc, cursor, |cursor, list| cursor.offsets_of_current(list).to_vec())
    }

    /// What `read` finds in a document of a term.
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

    /// Reads all positions of a term, if there are any: each document has as many as its frequency, they rise, and the
    /// run says rightly where those of each block begin. With offsets, no occurrence begins before the one before it or
    /// ends before it begins.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if that is not so.
    pub(super) fn check_positions(
        &self,
        term: &[u8],
        info: TermInfo,
        positions: TermPositions,
    ) -> Result<()> {
        match self.kept().has_offsets() {
            _ if positions == TermPositions::NotKept => Ok(()),
            true => self.check_run::<WithOffsets>(term, info, positions),
            false => self.check_run::<OnlyPositions>(term, info, positions),
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

    /// The error for positions of this segment that do not decode.
    pub(super) fn damaged_positions(&self, term: &[u8]) -> Error {
        let what = format!("the positions of term \"{}\" cannot be read", term.escape_ascii());
        Error::corrupt(super::file_name(self.id()), what)
    }
}

/// True if positions rise from the one before, which becomes the last.
fn positions_rise(before: &mut Option<u32>, deltas: Differences<'_>) -> bool {
    deltas.positions.iter().all(|&delta| {
        let position = before.unwrap_or(0).checked_add(delta);
        // Only the last position that there is may come again.
        let rises = position.is_some_and(|at| before.is_none_or(|before| before < at || at == u32::MAX));
        *before = position;
        rises
    })
}

/// True if offsets do not fall from the start before, which becomes the last, and no end is before its start.
fn offsets_rise(before: &mut u32, term: &[u8], deltas: Differences<'_>) -> bool {
    deltas.starts.iter().zip(deltas.extras).all(|(&delta, &extra)| {
        let Some(start) = before.checked_add(delta) else { return false };
        *before = start;
        Occurrence::end_of(start, extra, term.len()).is_some()
    })
}
