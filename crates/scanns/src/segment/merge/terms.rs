//! Steps through the terms of several segments in one order, and writes each with its postings from all of
//! them.

use std::cmp::Ordering;

use super::tournament::{Contestants, Tournament};
use crate::codec::{BLOCK, Columns, ListBytes, ListCursor, NO_MORE, OnlyPositions, ShortList, WithOffsets};
use crate::error::Result;
use crate::segment::reader::Segment;
use crate::segment::renumbering::Renumbering;
use crate::segment::terms::{HeadedTerm, TermInfo, TermPositions, TermsIter, TermsOut, TermsWriter};

/// Bytes of a term that are compared as a number.
const HEAD: usize = 16;

/// One source at its current term.
pub(super) struct MergeSource<'a> {
    pub(super) segment: &'a Segment,
    pub(super) documents: &'a Renumbering,
    pub(super) terms: TermsIter<'a>,
}

impl MergeSource<'_> {
    /// The current term.
    #[inline(always)]
    pub(super) fn term(&self) -> HeadedTerm<'_> {
        HeadedTerm { term: self.terms.term(), head: self.terms.head() }
    }

    /// Calls `push` with the document, by its number in the source, and the frequency of every posting of the
    /// term.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the list is damaged.
    #[inline(always)]
    pub(super) fn each_posting(&self, mut push: impl FnMut(u32, u32)) -> Result<()> {
        let damaged = || self.segment.damaged_list(self.terms.term());
        match self.terms.info() {
            TermInfo::Single { doc, term_freq } => push(doc, term_freq),
            TermInfo::List { doc_freq, offset, len, .. } if is_short(doc_freq) => {
                let bytes = self.segment.list(offset, len)?;
                let mut list = ShortList::new(bytes, doc_freq, self.segment.stats().max_doc);
                list.by_ref().for_each(|(doc, term_freq)| push(doc, term_freq));
                if !list.is_whole() {
                    return Err(damaged());
                }
            }
            TermInfo::List { doc_freq, offset, len, .. } => {
                let bytes = self.segment.list(offset, len)?;
                let max_doc = self.segment.stats().max_doc;
                let mut cursor = ListCursor::new(bytes, doc_freq, max_doc).ok_or_else(damaged)?;
                let mut seen = 0;
                while cursor.doc() != NO_MORE {
                    let (docs, freqs) = cursor.rest_of_block();
                    let count = docs.len();
                    docs.iter().zip(freqs).for_each(|(&doc, &term_freq)| push(doc, term_freq));
                    seen += count;
                    cursor.consume(count);
                }
                if cursor.corrupt() || seen != doc_freq as usize {
                    return Err(damaged());
                }
            }
        }
        Ok(())
    }
}

/// The sources, which are compared by their current terms.
struct MergeSources<'a>(Vec<MergeSource<'a>>);

impl Contestants for MergeSources<'_> {
    #[inline(never)]
    #[expect(clippy::indexing_slicing, reason = "the tournament gives numbers of sources")]
    fn compare(&self, a: usize, b: usize) -> Ordering {
        let (a, b) = (self.0[a].terms.term(), self.0[b].terms.term());
        // The heads are equal here. A short term is completely in its head; only zeros at its end are not
        // visible there.
        if a.len().max(b.len()) <= HEAD { a.len().cmp(&b.len()) } else { a.cmp(b) }
    }
}

/// All sources, each at its least remaining term.
pub(super) struct MergedTerms<'a> {
    sources: MergeSources<'a>,
    tournament: Tournament,
    /// The sources that have the current term, in their order.
    group: Vec<usize>,
    /// The first term that does not belong to this merge.
    end: Option<&'a [u8]>,
}

impl<'a> MergedTerms<'a> {
    /// Creates an iterator before the first term at or after `start`; all its terms are before `end`.
    pub(super) fn new(
        segments: &'a [Segment],
        documents: &'a [Renumbering],
        start: &[u8],
        end: Option<&'a [u8]>,
    ) -> Result<Self> {
        let mut sources = Vec::with_capacity(segments.len());
        for (segment, documents) in segments.iter().zip(documents) {
            sources.push(MergeSource { segment, documents, terms: segment.terms_from(start)? });
        }
        let group = (0..sources.len()).collect();
        Ok(MergedTerms {
            tournament: Tournament::new(sources.len()),
            sources: MergeSources(sources),
            group,
            end,
        })
    }

    /// Moves to the next term; returns false at the end.
    #[inline(always)]
    #[expect(clippy::indexing_slicing, reason = "the group has numbers of sources")]
    pub(super) fn step(&mut self) -> Result<bool> {
        for &number in &self.group {
            let source = &mut self.sources.0[number];
            let head = if source.terms.step()? { Some(source.terms.head()) } else { None };
            self.tournament.set(number, head, &self.sources);
        }
        self.tournament.least(&mut self.group, &self.sources);
        let Some(&first) = self.group.first() else { return Ok(false) };
        Ok(self.end.is_none_or(|end| self.sources.0[first].terms.term() < end))
    }

    /// The sources that have the current term, in their order.
    pub(super) fn current(&self) -> impl Iterator<Item = &MergeSource<'a>> {
        self.group.iter().filter_map(|&number| self.sources.0.get(number))
    }

    /// Number of documents with the current term, including those that do not survive.
    pub(super) fn doc_freq(&self) -> u64 {
        self.current().map(|source| u64::from(source.terms.info().doc_freq())).sum()
    }

    /// Calls `visit` with each survivor that contains the current term, by its number in the order of the
    /// sources, and with its frequency.
    pub(super) fn each_posting(&self, mut visit: impl FnMut(u32, u32)) -> Result<()> {
        self.current().try_for_each(|source| {
            source.each_posting(|doc, freq| {
                if let Some(doc) = source.documents.get(doc) {
                    visit(doc, freq);
                }
            })
        })
    }

    /// Writes the current term with its surviving postings; returns the sum of their frequencies.
    #[expect(clippy::indexing_slicing, reason = "the group has numbers of sources")]
    pub(super) fn write(
        &mut self,
        norms: &[u8],
        writer: &mut TermsWriter,
        out: &mut impl TermsOut,
    ) -> Result<u64> {
        let Some(&first) = self.group.first() else { return Ok(0) };
        if writer.has_offsets() {
            return self.write_with_positions::<WithOffsets>(first, norms, writer, out);
        } else if writer.has_runs() {
            return self.write_with_positions::<OnlyPositions>(first, norms, writer, out);
        }
        let info = self.sources.0[first].terms.info();
        let source = &self.sources.0[first];
        if let (TermInfo::Single { doc, term_freq }, 1) = (info, self.group.len()) {
            let Some(doc) = source.documents.get(doc) else { return Ok(0) };
            writer.add_single(source.term(), doc, term_freq, out)?;
            return Ok(u64::from(term_freq));
        }
        writer.begin_list();
        let mut total = push_all(source, info, norms, writer)?;
        for &number in self.group.get(1..).unwrap_or_default() {
            let info = self.sources.0[number].terms.info();
            total += push_all(&self.sources.0[number], info, norms, writer)?;
        }
        writer.end_list(self.sources.0[first].term(), norms, out)?;
        Ok(total)
    }

    /// Like [`MergedTerms::write`], with positions, and with offsets if `C` has them.
    #[expect(clippy::indexing_slicing, reason = "the group has numbers of sources")]
    fn write_with_positions<C: Columns>(
        &mut self,
        first: usize,
        norms: &[u8],
        writer: &mut TermsWriter,
        out: &mut impl TermsOut,
    ) -> Result<u64> {
        let source = &self.sources.0[first];
        if let (TermInfo::Single { doc, .. }, TermPositions::Only(at), 1) =
            (source.terms.info(), source.terms.positions(), self.group.len())
        {
            let Some(doc) = source.documents.get(doc) else { return Ok(0) };
            writer.add_only::<C>(source.term(), doc, at, out)?;
            return Ok(1);
        }
        writer.begin_run();
        let mut total = push_run::<C>(source, norms, writer, out)?;
        for &number in self.group.get(1..).unwrap_or_default() {
            total += push_run::<C>(&self.sources.0[number], norms, writer, out)?;
        }
        writer.end_run(self.sources.0[first].term(), norms, out)?;
        Ok(total)
    }
}

/// Appends the surviving postings that a source has for its term, with their positions; returns the sum of
/// their frequencies. Deltas are copied; those of dropped documents are skipped.
fn push_run<C: Columns>(
    source: &MergeSource,
    norms: &[u8],
    writer: &mut TermsWriter,
    out: &mut impl TermsOut,
) -> Result<u64> {
    let (term, info, positions) = (source.terms.term(), source.terms.info(), source.terms.positions());
    let damaged = || source.segment.damaged_positions(term);
    if let (TermInfo::Single { doc, .. }, TermPositions::Only(at)) = (info, positions) {
        // Most terms have only one number, and a reader for it would cost more than everything else here.
        let Some(doc) = source.documents.get(doc) else { return Ok(0) };
        writer.push_posting(doc, 1, norms);
        if C::OFFSETS {
            writer.push_occurrences(std::iter::once(at), out)?;
        } else {
            writer.push_deltas(std::iter::once(at.position), out)?;
        }
        return Ok(1);
    }
    let mut deltas = source.segment.deltas::<C>(term, info, positions)?;
    if let (Some(shift), Some(list)) = (source.documents.shift(), list_bytes(source, info)?)
        && writer.carry_run(&list, &mut deltas, shift, norms, out)?.ok_or_else(damaged)?
    {
        return Ok(info.total_freq());
    }
    let mut push = |doc, freq| -> Result<u64> {
        let Some(doc) = source.documents.get(doc) else {
            deltas.skip(u64::from(freq)).ok_or_else(damaged)?;
            return Ok(0);
        };
        writer.push_posting(doc, freq, norms);
        let mut pushed = Ok(());
        let taken = deltas.take(freq, |deltas| {
            if pushed.is_ok() {
                pushed = writer.push_differences::<C>(deltas, out);
            }
        });
        pushed?;
        taken.ok_or_else(damaged)?;
        Ok(u64::from(freq))
    };
    let (mut total, mut whole) = (0, true);
    match info {
        TermInfo::Single { doc, term_freq } => total += push(doc, term_freq)?,
        TermInfo::List { doc_freq, offset, len, .. } if is_short(doc_freq) => {
            let bytes = source.segment.list(offset, len)?;
            let mut list = ShortList::new(bytes, doc_freq, source.segment.stats().max_doc);
            for (doc, freq) in list.by_ref() {
                total += push(doc, freq)?;
            }
            whole = list.is_whole();
        }
        TermInfo::List { doc_freq, .. } => {
            let mut cursor = source.segment.cursor(term, info)?;
            let mut seen = 0;
            while cursor.doc() != NO_MORE {
                let (docs, freqs) = cursor.rest_of_block();
                for (&doc, &freq) in docs.iter().zip(freqs) {
                    total += push(doc, freq)?;
                }
                let count = docs.len();
                seen += count;
                cursor.consume(count);
            }
            whole = !cursor.corrupt() && seen == doc_freq as usize;
        }
    }
    if whole && deltas.is_at_end() { Ok(total) } else { Err(damaged()) }
}

/// Returns true for a list without blocks, which is the usual case.
fn is_short(doc_freq: u32) -> bool {
    (1..BLOCK as u64).contains(&u64::from(doc_freq))
}

/// The list of a source for its term, if it has blocks.
fn list_bytes<'a>(source: &MergeSource<'a>, info: TermInfo) -> Result<Option<ListBytes<'a>>> {
    let TermInfo::List { doc_freq, total_freq, offset, len } = info else { return Ok(None) };
    if (doc_freq as usize) < BLOCK {
        return Ok(None);
    }
    let (bytes, max_doc) = (source.segment.list(offset, len)?, source.segment.stats().max_doc);
    Ok(Some(ListBytes { bytes, doc_freq, total_tf: total_freq, max_doc }))
}

/// Appends the surviving postings that a source has for its term; returns the sum of their frequencies.
fn push_all(source: &MergeSource, info: TermInfo, norms: &[u8], writer: &mut TermsWriter) -> Result<u64> {
    let documents = source.documents;
    let damaged = || source.segment.damaged_list(source.terms.term());
    if let (Some(shift), Some(list)) = (documents.shift(), list_bytes(source, info)?)
        && writer.carry(&list, shift, norms).ok_or_else(damaged)?
    {
        return Ok(info.total_freq());
    }
    let mut total = 0;
    source.each_posting(|doc, term_freq| {
        if let Some(doc) = documents.get(doc) {
            total += u64::from(term_freq);
            writer.push(doc, term_freq, norms);
        }
    })?;
    Ok(total)
}
