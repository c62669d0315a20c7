//! Writes terms with positions: the run of a term goes out as it grows, its list waits until the run has ended.

use super::TermsWriter;
use crate::codec::{
    Columns, DeltaReader, Differences, ListBytes, Occurrence, OnlyPositions, PositionEncoder, WithOffsets,
    put_varint,
};
use crate::error::Result;
use crate::store::EnvelopeWriter;

/// What a [`TermsWriter`] needs for positions.
pub struct Runs {
    encoder: PositionEncoder,
    /// The list at hand.
    list: Vec<u8>,
    /// Where the run at hand begins in the lists of the group, as far as it has not been sent.
    start: usize,
    /// Bytes of it that have been sent.
    sent: u64,
    /// Bytes of all runs.
    bytes: u64,
}

impl Runs {
    pub(super) fn new(offsets: bool) -> Self {
        Runs { encoder: PositionEncoder::new(offsets), list: Vec::new(), start: 0, sent: 0, bytes: 0 }
    }
}

impl TermsWriter {
    /// True if terms have positions.
    pub fn has_runs(&self) -> bool {
        self.runs.is_some()
    }

    /// True if they have offsets too.
    pub fn has_offsets(&self) -> bool {
        self.runs.as_ref().is_some_and(|runs| runs.encoder.has_offsets())
    }

    /// Bytes of the positions of all terms, if they have some.
    pub fn run_bytes(&self) -> Option<u64> {
        self.runs.as_ref().map(|runs| runs.bytes)
    }

    /// Adds the next term, with its [`head`](crate::codec::head), which occurs once, in `doc`. With
    /// offsets, `C` knows of them.
    #[inline(always)]
    pub fn add_only<C: Columns>(
        &mut self,
        (term, head): (&[u8], u128),
        doc: u32,
        at: Occurrence,
        out: &mut EnvelopeWriter,
    ) -> Result<()> {
        put_varint(&mut self.postings, u64::from(doc) << 2 | 3);
        at.put::<C>(&mut self.postings);
        self.add_term(term, head, out)
    }

    /// Begins the next term, which [`TermsWriter::end_run`] ends.
    pub fn begin_run(&mut self) {
        if let Some(runs) = &mut self.runs {
            (runs.start, runs.sent) = (self.lists.len(), 0);
        }
    }

    /// Adds a posting; documents rise. As many deltas as the term's frequency follow.
    #[inline(always)]
    pub fn push_posting(&mut self, doc: u32, freq: u32, norms: &[u8]) {
        if let Some(runs) = &mut self.runs {
            self.latest = (doc, freq);
            runs.encoder.begin_posting();
            self.encoder.push(doc, freq, norms, &mut runs.list);
        }
    }

    /// Adds deltas of the posting, without offsets.
    #[inline(always)]
    pub fn push_deltas(&mut self, deltas: impl Iterator<Item = u32>, out: &mut EnvelopeWriter) -> Result<()> {
        let Some(runs) = &mut self.runs else { return Ok(()) };
        deltas.for_each(|delta| runs.encoder.push(delta, &mut self.lists));
        self.send_run(out)
    }

    /// The same with offsets.
    #[inline(always)]
    pub fn push_occurrences(
        &mut self,
        deltas: impl Iterator<Item = Occurrence>,
        out: &mut EnvelopeWriter,
    ) -> Result<()> {
        let Some(runs) = &mut self.runs else { return Ok(()) };
        deltas.for_each(|delta| runs.encoder.push_all(delta, &mut self.lists));
        self.send_run(out)
    }

    /// The same with what a reader of `C` gave.
    #[inline(always)]
    pub fn push_differences<C: Columns>(
        &mut self,
        deltas: Differences<'_>,
        out: &mut EnvelopeWriter,
    ) -> Result<()> {
        match C::OFFSETS {
            true => self.push_occurrences(deltas.occurrences(), out),
            false => self.push_deltas(deltas.positions.iter().copied(), out),
        }
    }

    /// Sends what there is of the run at hand, if it is enough.
    #[inline(always)]
    fn send_run(&mut self, out: &mut EnvelopeWriter) -> Result<()> {
        let Some(runs) = &mut self.runs else { return Ok(()) };
        if self.lists.len() < self.send {
            return Ok(());
        }
        runs.sent += (self.lists.len() - runs.start) as u64;
        runs.start = 0;
        self.send_lists(out)
    }

    /// Adds all postings of `list` with `shift` added to their documents, and `deltas`, which is at its start, by copying
    /// blocks, if that is worth it now; else nothing is done. `None` if they are damaged.
    pub fn carry_run<C: Columns>(
        &mut self,
        (list, deltas): (&ListBytes<'_>, &mut DeltaReader<'_, C>),
        shift: u32,
        norms: &[u8],
        out: &mut EnvelopeWriter,
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

    /// Adds the term whose postings and deltas have been pushed; without any it leaves no trace.
    pub fn end_run(
        &mut self,
        (term, head): (&[u8], u128),
        norms: &[u8],
        out: &mut EnvelopeWriter,
    ) -> Result<()> {
        let Some(runs) = &mut self.runs else { return Ok(()) };
        let summary = self.encoder.finish(norms, &mut runs.list);
        let (doc, freq) = self.latest;
        match (summary.doc_freq, runs.encoder.waiting()) {
            (0, _) => return Ok(()),
            (1, Some(at)) if freq == 1 => {
                let offsets = runs.encoder.has_offsets();
                runs.encoder.abandon();
                runs.list.clear();
                return match offsets {
                    true => self.add_only::<WithOffsets>((term, head), doc, at, out),
                    false => self.add_only::<OnlyPositions>((term, head), doc, at, out),
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
        self.add_term(term, head, out)
    }
}
