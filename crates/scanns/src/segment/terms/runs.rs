//! Writes terms with positions. The run of a term is written while it grows; its list is written after the
//! end of the run.

use super::info::HeadedTerm;
use super::write::{TermsOut, TermsWriter};
use crate::codec::{
    Columns, DeltaReader, Differences, ListBytes, Occurrence, OnlyPositions, WithOffsets, put_varint,
};
use crate::error::Result;

impl TermsWriter {
    /// Returns true if terms have positions.
    pub fn has_runs(&self) -> bool {
        self.runs.is_some()
    }

    /// Returns true if terms have offsets.
    pub fn has_offsets(&self) -> bool {
        self.runs.as_ref().is_some_and(|runs| runs.encoder.has_offsets())
    }

    /// Bytes of the positions of all terms, if terms have positions.
    pub fn run_bytes(&self) -> Option<u64> {
        self.runs.as_ref().map(|runs| runs.bytes)
    }

    /// Adds the next term, which occurs once, at `at` of `doc`. `C` must have offsets if the segment has
    /// them.
    #[inline(always)]
    pub fn add_only<C: Columns>(
        &mut self,
        term: HeadedTerm<'_>,
        doc: u32,
        at: Occurrence,
        out: &mut impl TermsOut,
    ) -> Result<()> {
        put_varint(&mut self.postings, u64::from(doc) << 2 | 3);
        at.put::<C>(&mut self.postings);
        self.add_term(term, out)
    }

    /// Begins the next term, which [`TermsWriter::end_run`] ends.
    pub fn begin_run(&mut self) {
        if let Some(runs) = &mut self.runs {
            (runs.start, runs.sent) = (self.lists.len(), 0);
        }
    }

    /// Adds a posting; documents ascend. `freq` deltas must follow.
    #[inline(always)]
    pub fn push_posting(&mut self, doc: u32, freq: u32, norms: &[u8]) {
        if let Some(runs) = &mut self.runs {
            self.latest = (doc, freq);
            runs.encoder.begin_posting();
            self.encoder.push(doc, freq, norms, &mut runs.list);
        }
    }

    /// Adds deltas of the posting, in a segment without offsets.
    #[inline(always)]
    pub fn push_deltas(&mut self, deltas: impl Iterator<Item = u32>, out: &mut impl TermsOut) -> Result<()> {
        let Some(runs) = &mut self.runs else { return Ok(()) };
        deltas.for_each(|delta| runs.encoder.push(delta, &mut self.lists));
        self.send_run(out)
    }

    /// Adds deltas of the posting, in a segment with offsets.
    #[inline(always)]
    pub fn push_occurrences(
        &mut self,
        deltas: impl Iterator<Item = Occurrence>,
        out: &mut impl TermsOut,
    ) -> Result<()> {
        let Some(runs) = &mut self.runs else { return Ok(()) };
        deltas.for_each(|delta| runs.encoder.push_all(delta, &mut self.lists));
        self.send_run(out)
    }

    /// Adds deltas of the posting that a reader of `C` returned.
    #[inline(always)]
    pub fn push_differences<C: Columns>(
        &mut self,
        deltas: Differences<'_>,
        out: &mut impl TermsOut,
    ) -> Result<()> {
        if C::OFFSETS {
            self.push_occurrences(deltas.occurrences(), out)
        } else {
            self.push_deltas(deltas.positions.iter().copied(), out)
        }
    }

    /// Writes the current part of the current run, if it is large enough for a write.
    #[inline(always)]
    fn send_run(&mut self, out: &mut impl TermsOut) -> Result<()> {
        let Some(runs) = &mut self.runs else { return Ok(()) };
        if self.lists.len() < self.send {
            return Ok(());
        }
        runs.sent += (self.lists.len() - runs.start) as u64;
        runs.start = 0;
        self.send_lists(out)
    }

    /// Adds all postings of `list` with `shift` added to their documents, and all of `deltas`, by copying
    /// blocks. Does nothing and returns false if copying is not worthwhile at this point. Returns `None` if
    /// they are damaged.
    pub fn carry_run<C: Columns>(
        &mut self,
        list: &ListBytes<'_>,
        deltas: &mut DeltaReader<'_, C>,
        shift: u32,
        norms: &[u8],
        out: &mut impl TermsOut,
    ) -> Result<Option<bool>> {
        let Some(runs) = &mut self.runs else { return Ok(None) };
        if !self.encoder.would_carry(list) {
            return Ok(Some(false));
        }
        let waiting = self.encoder.carry(list, shift, norms, &mut runs.list);
        let blocks = waiting.and_then(|waiting| runs.encoder.carry(deltas, waiting, &mut self.lists));
        let Some(blocks) = blocks else { return Ok(None) };
        if self.lists.len() + blocks.len() < self.send {
            self.lists.extend_from_slice(blocks);
            return Ok(Some(true));
        }
        runs.sent += (self.lists.len() - runs.start + blocks.len()) as u64;
        runs.start = 0;
        self.send_lists(out)?;
        self.send_bytes(blocks, out)?;
        Ok(Some(true))
    }

    /// Adds the term whose postings and deltas have been pushed; a term without postings is dropped.
    pub fn end_run(&mut self, term: HeadedTerm<'_>, norms: &[u8], out: &mut impl TermsOut) -> Result<()> {
        let Some(runs) = &mut self.runs else { return Ok(()) };
        let summary = self.encoder.finish(norms, &mut runs.list);
        let (doc, freq) = self.latest;
        match (summary.doc_freq, runs.encoder.waiting()) {
            (0, _) => return Ok(()),
            (1, Some(at)) if freq == 1 => {
                let offsets = runs.encoder.has_offsets();
                runs.encoder.abandon();
                runs.list.clear();
                return if offsets {
                    self.add_only::<WithOffsets>(term, doc, at, out)
                } else {
                    self.add_only::<OnlyPositions>(term, doc, at, out)
                };
            }
            (1, _) => {
                runs.list.clear();
                put_varint(&mut self.postings, u64::from(doc) << 2 | 1);
                put_varint(&mut self.postings, u64::from(freq));
            }
            (doc_freq, _) => {
                put_varint(&mut self.postings, u64::from(doc_freq) << 1);
                put_varint(&mut self.postings, runs.list.len() as u64);
                put_varint(&mut self.postings, summary.total_tf - u64::from(doc_freq));
            }
        }
        runs.encoder.finish(&mut self.lists);
        let len = runs.sent + (self.lists.len() - runs.start) as u64;
        runs.bytes += len;
        put_varint(&mut self.postings, len);
        self.lists.append(&mut runs.list);
        if self.lists.len() >= self.send {
            self.send_lists(out)?;
        }
        self.add_term(term, out)
    }
}
