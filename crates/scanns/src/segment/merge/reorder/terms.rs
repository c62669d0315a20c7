//! Writes the postings of terms in another order of the documents: collects, sorts and encodes them again.

use std::ops::Range;

use crate::codec::{Columns, Differences, OnlyPositions, WithOffsets};
use crate::error::Result;
use crate::segment::merge::terms::{MergeSource, MergedTerms};
use crate::segment::order::DocumentOrder;
use crate::segment::terms::{TermInfo, TermPositions, TermsOut, TermsWriter};

/// Ranges of documents at whose borders passes may be cut.
const RANGES: u32 = 1 << 10;

/// Bytes of memory for postings and occurrences that wait to be written.
fn waiting_bytes<C: Columns>(postings: u64, occurrences: u64) -> u64 {
    let occurrence = if C::OFFSETS { 12 } else { 4 };
    let postings = postings.saturating_mul(size_of::<Waiting>() as u64);
    postings.saturating_add(occurrences.saturating_mul(occurrence))
}

/// Number of occurrences that are passed on together, so that the occurrences of a huge document do not fill
/// the memory of the writer.
const PIECE: usize = 1 << 14;

/// A waiting posting, and the start of its occurrences.
#[derive(Clone, Copy)]
struct Waiting {
    doc: u32,
    freq: u32,
    start: usize,
}

/// Writes terms in another order of the documents; its buffers are reused.
pub(in crate::segment::merge) struct TermsInOrder<'a> {
    order: &'a DocumentOrder,
    /// The maximum number of waiting bytes. More postings are written in several passes, each for a range of
    /// documents.
    most: u64,
    /// Document and frequency of each posting, if there are no positions.
    lists: Vec<u64>,
    postings: Vec<Waiting>,
    positions: Vec<u32>,
    starts: Vec<u32>,
    extras: Vec<u32>,
}

impl<'a> TermsInOrder<'a> {
    /// Creates a writer for one of `threads` threads.
    pub(in crate::segment::merge) fn new(order: &'a DocumentOrder, threads: usize) -> Self {
        // Half, because buffers double when they grow.
        let most = (order.memory() / threads.max(1) / 2) as u64;
        TermsInOrder {
            order,
            most,
            lists: Vec::new(),
            postings: Vec::new(),
            positions: Vec::new(),
            starts: Vec::new(),
            extras: Vec::new(),
        }
    }

    /// Writes the current term with its surviving postings; returns the sum of their frequencies.
    pub(in crate::segment::merge) fn write(
        &mut self,
        terms: &MergedTerms<'_>,
        norms: &[u8],
        writer: &mut TermsWriter,
        out: &mut impl TermsOut,
    ) -> Result<u64> {
        if writer.has_offsets() {
            self.write_run::<WithOffsets>(terms, norms, writer, out)
        } else if writer.has_runs() {
            self.write_run::<OnlyPositions>(terms, norms, writer, out)
        } else {
            self.write_list(terms, norms, writer, out)
        }
    }

    fn write_list(
        &mut self,
        terms: &MergedTerms<'_>,
        norms: &[u8],
        writer: &mut TermsWriter,
        out: &mut impl TermsOut,
    ) -> Result<u64> {
        let Some(first) = terms.current().next() else { return Ok(0) };
        let (order, lists) = (self.order, &mut self.lists);
        lists.clear();
        let mut total = 0;
        terms.each_posting(|doc, freq| {
            if let Some(doc) = order.number(doc) {
                total += u64::from(freq);
                lists.push(u64::from(doc) << 32 | u64::from(freq));
            }
        })?;
        lists.sort_unstable();
        #[expect(clippy::cast_possible_truncation, reason = "the two halves of the number")]
        let postings = lists.iter().map(|&posting| ((posting >> 32) as u32, posting as u32));
        writer.add(first.term(), postings, norms, out)?;
        Ok(total)
    }

    fn write_run<C: Columns>(
        &mut self,
        terms: &MergedTerms<'_>,
        norms: &[u8],
        writer: &mut TermsWriter,
        out: &mut impl TermsOut,
    ) -> Result<u64> {
        let Some(first) = terms.current().next() else { return Ok(0) };
        let term = first.term();
        if let (TermInfo::Single { doc, .. }, TermPositions::Only(at), 1) =
            (first.terms.info(), first.terms.positions(), terms.current().count())
        {
            // The usual case.
            let Some(doc) = first.documents.get(doc).and_then(|kept| self.order.number(kept)) else {
                return Ok(0);
            };
            writer.add_only::<C>(term, doc, at, out)?;
            return Ok(1);
        }
        let occurrences: u64 =
            terms.current().map(|source| source.terms.info().total_freq()).fold(0, u64::saturating_add);
        let all = 0..u32::try_from(self.order.len()).unwrap_or(u32::MAX);
        let mut passes = Vec::new();
        if waiting_bytes::<C>(terms.doc_freq(), occurrences) <= self.most {
            passes.push(all);
        } else {
            self.cut::<C>(terms, all, &mut passes)?;
        }
        let mut total = 0;
        writer.begin_run();
        for pass in passes {
            self.clear();
            for source in terms.current() {
                self.gather::<C>(source, &pass)?;
            }
            total += self.push::<C>(norms, writer, out)?;
        }
        writer.end_run(term, norms, out)?;
        Ok(total)
    }

    /// Cuts documents into ranges whose postings fit into the allowed bytes, or that are one document.
    /// Documents with the term are often close together, so they are counted first.
    fn cut<C: Columns>(
        &self,
        terms: &MergedTerms<'_>,
        range: Range<u32>,
        passes: &mut Vec<Range<u32>>,
    ) -> Result<()> {
        let step = (range.end - range.start).div_ceil(RANGES).max(1);
        let mut sums = vec![0u64; RANGES as usize];
        terms.each_posting(|doc, freq| {
            let doc = self.order.number(doc).filter(|doc| range.contains(doc));
            if let Some(sum) = doc.and_then(|doc| sums.get_mut(((doc - range.start) / step) as usize)) {
                *sum += waiting_bytes::<C>(1, freq.into());
            }
        })?;
        let (mut start, mut sum) = (range.start, 0);
        for (from, more) in range.clone().step_by(step as usize).zip(sums) {
            if sum > 0 && sum + more > self.most {
                passes.push(start..from);
                (start, sum) = (from, 0);
            }
            if more > self.most && step > 1 {
                let end = range.end.min(from.saturating_add(step));
                self.cut::<C>(terms, from..end, passes)?;
                start = end;
            } else {
                sum += more;
            }
        }
        if sum > 0 {
            passes.push(start..range.end);
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.postings.clear();
        self.positions.clear();
        self.starts.clear();
        self.extras.clear();
    }

    /// Gathers the postings of a source whose documents have new numbers in `range`.
    fn gather<C: Columns>(&mut self, source: &MergeSource<'_>, range: &Range<u32>) -> Result<()> {
        let (term, info) = (source.terms.term(), source.terms.info());
        let damaged = || source.segment.damaged_positions(term);
        let mut deltas = source.segment.deltas::<C>(term, info, source.terms.positions())?;
        let mut whole = true;
        source.each_posting(|doc, freq| {
            let doc = source.documents.get(doc).and_then(|kept| self.order.number(kept));
            let Some(doc) = doc.filter(|doc| range.contains(doc)) else {
                whole &= deltas.skip(freq.into()).is_some();
                return;
            };
            self.postings.push(Waiting { doc, freq, start: self.positions.len() });
            let taken = deltas.take(freq, |deltas| {
                self.positions.extend_from_slice(deltas.positions);
                self.starts.extend_from_slice(deltas.starts);
                self.extras.extend_from_slice(deltas.extras);
            });
            whole &= taken.is_some();
        })?;
        if whole && deltas.is_at_end() { Ok(()) } else { Err(damaged()) }
    }

    /// Passes on the gathered postings in order; returns the number of their occurrences.
    fn push<C: Columns>(
        &mut self,
        norms: &[u8],
        writer: &mut TermsWriter,
        out: &mut impl TermsOut,
    ) -> Result<u64> {
        let waiting = waiting_bytes::<C>(self.postings.len() as u64, self.positions.len() as u64);
        debug_assert!(waiting <= self.most || self.postings.len() == 1, "{waiting} bytes wait");
        self.postings.sort_unstable_by_key(|posting| posting.doc);
        for &Waiting { doc, freq, start } in &self.postings {
            writer.push_posting(doc, freq, norms);
            let end = start + freq as usize;
            for from in (start..end).step_by(PIECE) {
                let piece = from..end.min(from + PIECE);
                let of = |column: &'_ [u32]| -> Range<usize> {
                    if column.is_empty() { 0..0 } else { piece.clone() }
                };
                writer.push_differences::<C>(
                    Differences {
                        positions: self.positions.get(piece.clone()).unwrap_or_default(),
                        starts: self.starts.get(of(&self.starts)).unwrap_or_default(),
                        extras: self.extras.get(of(&self.extras)).unwrap_or_default(),
                    },
                    out,
                )?;
            }
        }
        Ok(self.positions.len() as u64)
    }
}
