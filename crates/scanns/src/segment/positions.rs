//! Where in their documents terms stand: finds the runs of a segment and proves that they are whole.
//!
//! The runs are in the section of terms, each before the list that it belongs to.

use super::reader::Segment;
use super::terms::{TermInfo, TermPositions};
use crate::codec::{BLOCK, DeltaReader, ListCursor, PositionCursor};
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
    /// The deltas of a term, as [`Segment::find_all`] or an iterator over terms told of it.
    ///
    /// # Errors
    /// [`Error::Corrupt`], and [`Error::Options`] in a segment without positions.
    pub fn deltas(&self, term: &[u8], info: TermInfo, positions: TermPositions) -> Result<DeltaReader<'_>> {
        match positions {
            TermPositions::NotKept => Err(Error::Options(
                "the index has no positions: build one with --positions, or ask without them".into(),
            )),
            TermPositions::Only(position) => Ok(DeltaReader::only(position)),
            TermPositions::Run { offset, len } => {
                let reader = DeltaReader::new(self.list(offset, len)?, info.doc_freq(), info.total_freq());
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
        let mut cursor = PositionCursor::new(self.deltas(term, info, positions)?);
        let mut list = self.cursor(term, info)?;
        if list.advance(doc) != doc {
            return if list.corrupt() { Err(self.damaged_list(term)) } else { Ok(Vec::new()) };
        }
        let found = cursor.positions_of_current(&mut list).to_vec();
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
    /// run says rightly where those of each block begin.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if that is not so.
    pub(super) fn check_positions(
        &self,
        term: &[u8],
        info: TermInfo,
        positions: TermPositions,
    ) -> Result<()> {
        if positions == TermPositions::NotKept {
            return Ok(());
        }
        let mut deltas = self.deltas(term, info, positions)?;
        let mut list = self.cursor(term, info)?;
        let mut whole = true;
        while !list.rest_of_docs().is_empty() {
            whole &= matches!(positions, TermPositions::Only(_)) || deltas.is_at(list.block());
            let (docs, freqs) = list.rest_of_block();
            for &freq in freqs {
                let (mut before, mut rises) = (None, true);
                let taken = deltas.take(freq, |deltas| {
                    for &delta in deltas {
                        let position = before.unwrap_or(0u32).checked_add(delta);
                        // Only the last position that there is may come again.
                        rises &= position
                            .is_some_and(|at| before.is_none_or(|before| before < at || at == u32::MAX));
                        before = position;
                    }
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
