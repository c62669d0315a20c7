//! A segment on disk as a leaf.

use super::leaf::each_key_among;
use super::{Leaf, LeafStats, ListSource, PositionSource, TermFigures, TermRef, TermStream};
use crate::codec::{Occurrence, PositionCursor};
use crate::column::Column;
use crate::error::Result;
use crate::schema::Field;
use crate::segment::{DocBits, Segment, TermBlocks, TermInfo, TermPositions, TermsWalk};

/// Marks positions that are not a run: the index has no positions, or the term has a single one, which is
/// stored instead of a place.
const NOT_KEPT: u64 = u64::MAX;
const ONLY: u64 = u64::MAX - 1;

/// Marks the place of a run with offsets. No run is long enough for its place to have this bit.
const OFFSETS: u64 = 1 << 62;

/// Marks a handle that contains a posting instead of a place. No list is long enough for its place to have
/// this bit.
const SINGLE: u64 = 1 << 63;

/// A reference to a term of a segment.
pub(super) fn term_ref(info: TermInfo, positions: TermPositions) -> TermRef {
    let handle = match info {
        TermInfo::Single { doc, term_freq } => [u64::from(doc), u64::from(term_freq) | SINGLE],
        TermInfo::List { offset, len, .. } => [offset, len],
    };
    let positions = match positions {
        TermPositions::NotKept => [0, NOT_KEPT],
        TermPositions::Only(occurrence) => [u64::from(occurrence.position), ONLY],
        TermPositions::Run { offset, len, offsets } => [offset, len | if offsets { OFFSETS } else { 0 }],
    };
    TermRef { doc_freq: info.doc_freq(), total_freq: info.total_freq(), handle, positions }
}

/// The inverse of [`term_ref`].
fn info_of(term: &TermRef) -> TermInfo {
    let [place, len] = term.handle;
    #[expect(clippy::cast_possible_truncation, reason = "both were stored from 32 bits")]
    if len & SINGLE == 0 {
        TermInfo::List { doc_freq: term.doc_freq, total_freq: term.total_freq, offset: place, len }
    } else {
        TermInfo::Single { doc: place as u32, term_freq: len as u32 }
    }
}

/// The terms of a segment.
struct SegmentTerms<'a> {
    terms: TermsWalk<'a>,
}

impl TermStream for SegmentTerms<'_> {
    fn step(&mut self) -> Result<bool> {
        self.terms.step()
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        self.terms.seek(target)
    }

    fn term(&self) -> &[u8] {
        self.terms.term()
    }

    fn found(&mut self) -> Result<TermRef> {
        self.terms.info().map(|(info, positions)| term_ref(info, positions))
    }
}

impl Leaf for Segment {
    fn max_doc(&self) -> u32 {
        self.stats().max_doc
    }

    fn norms(&self) -> Result<&[u8]> {
        self.norms()
    }

    fn stats(&self) -> LeafStats {
        let documents = self.live_documents();
        if self.view().is_some() {
            return LeafStats { documents, ..LeafStats::default() };
        }
        let stats = self.field_stats();
        LeafStats { documents, documents_with_terms: stats.documents_with_terms, total_length: stats.tokens }
    }

    fn sizes(&self) -> Result<LeafStats> {
        let sizes = self.shown_sizes()?;
        Ok(LeafStats {
            documents: self.live_documents(),
            documents_with_terms: sizes.documents_with_terms,
            total_length: sizes.tokens,
        })
    }

    fn figures(&self, term: &TermRef) -> Result<TermFigures> {
        let figures = self.shown_figures(info_of(term))?;
        Ok(TermFigures { doc_freq: figures.doc_freq, total_freq: figures.total_freq })
    }

    fn is_shown(&self, term: &TermRef) -> Result<bool> {
        self.is_shown(info_of(term))
    }

    fn live_bits(&self) -> Option<&[u64]> {
        self.live_bits().map(DocBits::words)
    }

    fn is_of_view(&self) -> bool {
        self.view().is_some()
    }

    fn field_bits(&self) -> Option<&[u64]> {
        self.field_bits().map(DocBits::words)
    }

    fn find(&self, term: &[u8]) -> Result<Option<TermRef>> {
        Ok(self.find_recent(term)?.map(|(info, positions)| term_ref(info, positions)))
    }

    fn postings<'a>(&'a self, term: &TermRef) -> Result<ListSource<'a>> {
        match info_of(term) {
            TermInfo::List { offset, len, .. } => self.list(offset, len).map(ListSource::Packed),
            TermInfo::Single { doc, term_freq } => Ok(ListSource::Single { doc, tf: term_freq }),
        }
    }

    fn terms<'a>(&'a self) -> Result<Box<dyn TermStream + 'a>> {
        Ok(Box::new(SegmentTerms { terms: self.walk_terms() }))
    }

    fn term_blocks(&self) -> Option<TermBlocks<'_>> {
        Some(self.term_blocks())
    }

    fn positions<'a>(&'a self, term: &TermRef) -> Result<PositionSource<'a>> {
        let [place, len] = term.positions;
        #[expect(clippy::cast_possible_truncation, reason = "it was stored from 32 bits")]
        let positions = match len {
            NOT_KEPT => TermPositions::NotKept,
            ONLY => TermPositions::Only(Occurrence { position: place as u32, ..Occurrence::default() }),
            _ => TermPositions::Run { offset: place, len: len & !OFFSETS, offsets: len & OFFSETS != 0 },
        };
        let deltas = self.deltas(b"", info_of(term), positions)?;
        Ok(PositionSource::Packed(Box::new(PositionCursor::new(deltas))))
    }

    fn is_live(&self, doc: u32) -> bool {
        self.is_live(doc)
    }

    fn is_in_ranges(&self) -> bool {
        true
    }

    fn column(&self, field: Field) -> Option<&Column> {
        self.column(field)
    }

    fn key(&self, doc: u32) -> Result<Vec<u8>> {
        self.key(doc)
    }

    fn documents_of_keys(&self, keys: &[Vec<u8>], found: &mut dyn FnMut(u32, usize)) -> Result<()> {
        let max_doc = self.stats().max_doc;
        if keys.len() > max_doc as usize {
            return each_key_among(keys, max_doc, &|doc| self.key(doc), found);
        }
        for (key, place) in keys.iter().zip(0..) {
            // The path of a file also stands for its lines, which have other keys.
            for doc in self.documents_named([key.as_slice()])?.into_iter().flatten() {
                if self.key(doc)? == *key {
                    found(doc, place);
                }
            }
        }
        Ok(())
    }
}
