//! The terms of several segments in one order, each with the postings of all.

use super::Renumbering;
use crate::codec::{ListCursor, NO_MORE, head};
use crate::error::Result;
use crate::segment::reader::Segment;
use crate::segment::terms::{TermInfo, TermPositions, TermsIter, TermsWriter};
use crate::store::EnvelopeWriter;

/// One source, standing at a term.
struct Source<'a> {
    segment: &'a Segment,
    documents: &'a Renumbering,
    terms: TermsIter<'a>,
    /// The [`head`] of the term.
    head: u128,
}

impl Source<'_> {
    /// Moves to the next term; false at the end.
    fn step(&mut self) -> Result<bool> {
        let more = self.terms.step()?;
        self.head = head(self.terms.term());
        Ok(more)
    }
}

/// A heap of sources by their terms, the earlier source first where those are equal.
pub(super) struct MergedTerms<'a> {
    sources: Vec<Source<'a>>,
    /// Indexes of sources that are not at their end; each is before its two children.
    heap: Vec<usize>,
    /// The sources that have the term at hand, in their order.
    group: Vec<usize>,
}

impl<'a> MergedTerms<'a> {
    /// Before the first term.
    pub(super) fn new(segments: &'a [Segment], documents: &'a [Renumbering]) -> Result<Self> {
        let mut sources = Vec::with_capacity(segments.len());
        for (segment, documents) in segments.iter().zip(documents) {
            let terms = segment.terms_from(b"")?;
            sources.push(Source { segment, documents, terms, head: 0 });
        }
        let group = (0..sources.len()).collect();
        Ok(MergedTerms { sources, heap: Vec::new(), group })
    }

    /// Moves to the next term; false at the end.
    pub(super) fn step(&mut self) -> Result<bool> {
        while let Some(source) = self.group.pop() {
            if self.sources[source].step()? {
                self.heap.push(source);
                self.rise(self.heap.len() - 1);
            }
        }
        let Some(first) = self.pop() else { return Ok(false) };
        self.group.push(first);
        while let Some(&next) = self.heap.first()
            && self.same_term(first, next)
        {
            let next = self.pop();
            self.group.extend(next);
        }
        Ok(true)
    }

    fn same_term(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.sources[a], &self.sources[b]);
        a.head == b.head && a.terms.term() == b.terms.term()
    }

    fn is_before(&self, a: usize, b: usize) -> bool {
        let (x, y) = (&self.sources[a], &self.sources[b]);
        let order = x.head.cmp(&y.head).then_with(|| x.terms.term().cmp(y.terms.term()));
        order.then(a.cmp(&b)).is_lt()
    }

    fn rise(&mut self, mut at: usize) {
        while at > 0 && self.is_before(self.heap[at], self.heap[(at - 1) / 2]) {
            self.heap.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    /// Takes the first source out.
    fn pop(&mut self) -> Option<usize> {
        if self.heap.is_empty() {
            return None;
        }
        let first = self.heap.swap_remove(0);
        let mut at = 0;
        loop {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            let Some(&left_source) = self.heap.get(left) else { break };
            let child = match self.heap.get(right) {
                Some(&right_source) if self.is_before(right_source, left_source) => right,
                _ => left,
            };
            if !self.is_before(self.heap[child], self.heap[at]) {
                break;
            }
            self.heap.swap(at, child);
            at = child;
        }
        Some(first)
    }

    /// Writes the term at hand with its surviving postings; returns how often it occurs in them.
    pub(super) fn write(
        &mut self,
        norms: &[u8],
        writer: &mut TermsWriter,
        out: &mut EnvelopeWriter,
    ) -> Result<u64> {
        let Some(&first) = self.group.first() else { return Ok(0) };
        if writer.has_runs() {
            return self.write_with_positions(first, norms, writer, out);
        }
        let info = self.sources[first].terms.info()?;
        let source = &self.sources[first];
        let term = (source.terms.term(), source.head);
        if let (TermInfo::Single { doc, term_freq }, 1) = (info, self.group.len()) {
            let Some(doc) = source.documents.get(doc) else { return Ok(0) };
            writer.add_single(term, (doc, term_freq), out)?;
            return Ok(u64::from(term_freq));
        }
        writer.begin_list();
        let mut total = push_all(source, info, norms, writer)?;
        for &number in self.group.get(1..).unwrap_or_default() {
            let info = self.sources[number].terms.info()?;
            total += push_all(&self.sources[number], info, norms, writer)?;
        }
        let source = &self.sources[first];
        writer.end_list((source.terms.term(), source.head), norms, out)?;
        Ok(total)
    }

    /// The same with positions.
    fn write_with_positions(
        &mut self,
        first: usize,
        norms: &[u8],
        writer: &mut TermsWriter,
        out: &mut EnvelopeWriter,
    ) -> Result<u64> {
        let info = self.sources[first].terms.info()?;
        let source = &self.sources[first];
        let positions = source.terms.positions();
        if let (TermInfo::Single { doc, .. }, TermPositions::Only(position), 1) =
            (info, positions, self.group.len())
        {
            let Some(doc) = source.documents.get(doc) else { return Ok(0) };
            writer.add_only((source.terms.term(), source.head), doc, position, out)?;
            return Ok(1);
        }
        writer.begin_run();
        let mut total = push_run(source, (info, positions), norms, writer, out)?;
        for &number in self.group.get(1..).unwrap_or_default() {
            let info = self.sources[number].terms.info()?;
            let positions = self.sources[number].terms.positions();
            total += push_run(&self.sources[number], (info, positions), norms, writer, out)?;
        }
        let source = &self.sources[first];
        writer.end_run((source.terms.term(), source.head), norms, out)?;
        Ok(total)
    }
}

/// Appends the surviving postings that a source has for its term, with their positions; returns the sum of their
/// frequencies. Deltas are carried over as they are; those of documents that fall out are passed.
fn push_run(
    source: &Source,
    (info, positions): (TermInfo, TermPositions),
    norms: &[u8],
    writer: &mut TermsWriter,
    out: &mut EnvelopeWriter,
) -> Result<u64> {
    let term = source.terms.term();
    let damaged = || source.segment.damaged_positions(term);
    if let (TermInfo::Single { doc, .. }, TermPositions::Only(position)) = (info, positions) {
        // A reader of one number costs more than all else here, and most terms have no more.
        let Some(doc) = source.documents.get(doc) else { return Ok(0) };
        writer.push_posting(doc, 1, norms);
        writer.push_deltas(std::iter::once(position), out)?;
        return Ok(1);
    }
    let mut deltas = source.segment.deltas(term, info, positions)?;
    let mut push = |doc, freq| -> Result<u64> {
        let Some(doc) = source.documents.get(doc) else {
            deltas.skip(u64::from(freq)).ok_or_else(damaged)?;
            return Ok(0);
        };
        writer.push_posting(doc, freq, norms);
        let mut pushed = Ok(());
        let taken = deltas.take(freq, |deltas| {
            if pushed.is_ok() {
                pushed = writer.push_deltas(deltas.iter().copied(), out);
            }
        });
        pushed?;
        taken.ok_or_else(damaged)?;
        Ok(u64::from(freq))
    };
    let (mut total, mut whole) = (0, true);
    match info {
        TermInfo::Single { doc, term_freq } => total += push(doc, term_freq)?,
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

/// Appends the surviving postings that a source has for its term; returns the sum of their frequencies.
fn push_all(source: &Source, info: TermInfo, norms: &[u8], writer: &mut TermsWriter) -> Result<u64> {
    let documents = source.documents;
    let mut total = 0;
    let mut push = |doc, term_freq| {
        if let Some(doc) = documents.get(doc) {
            total += u64::from(term_freq);
            writer.push(doc, term_freq, norms);
        }
    };
    match info {
        TermInfo::Single { doc, term_freq } => push(doc, term_freq),
        TermInfo::List { doc_freq, offset, len, .. } => {
            let bytes = source.segment.list(offset, len)?;
            let max_doc = source.segment.stats().max_doc;
            let damaged = || source.segment.damaged_list(source.terms.term());
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
    Ok(total)
}
