//! Writes groups of terms in sequence. The sparse index is kept in memory until the end.

use super::info::{GROUP, HALF, HeadedTerm, prefix_of};
use super::suffixes::{Suffixes, Symbols};
use crate::codec::{ListBytes, ListEncoder, PositionEncoder, put_varint};
use crate::error::Result;
use crate::schema::Postings;
use crate::store::EnvelopeWriter;

/// The output for a section of terms.
pub trait TermsOut {
    /// Number of bytes written so far.
    fn place(&self) -> u64;

    /// Appends bytes.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;
}

impl TermsOut for EnvelopeWriter {
    fn place(&self) -> u64 {
        self.section_len()
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        EnvelopeWriter::write(self, bytes)
    }
}

/// The state of a [`TermsWriter`] that positions need.
pub(super) struct RunBuffers {
    pub(super) encoder: PositionEncoder,
    /// The list of the current term.
    pub(super) list: Vec<u8>,
    /// Start of the unwritten part of the current run in the lists of the group.
    pub(super) start: usize,
    /// Bytes of the current run that have been written.
    pub(super) sent: u64,
    /// Bytes of all runs.
    pub(super) bytes: u64,
}

impl RunBuffers {
    fn new(offsets: bool) -> Self {
        RunBuffers { encoder: PositionEncoder::new(offsets), list: Vec::new(), start: 0, sent: 0, bytes: 0 }
    }
}

/// Writes groups of terms.
pub struct TermsWriter {
    terms: u64,
    count: u8,
    /// The previous term, for front coding.
    before: PreviousTerm,
    pub(super) lists: Vec<u8>,
    /// Lists of a group are written at this size, so that a group of frequent terms takes little memory.
    pub(super) send: usize,
    lists_sent: u64,
    /// Start of the current list in `lists`.
    list_start: usize,
    /// The latest posting of the current list: document and frequency.
    pub(super) latest: (u32, u32),
    lengths: Vec<u8>,
    suffixes: Suffixes,
    pub(super) postings: Vec<u8>,
    /// Bytes of the postings of the first half of the group, and bytes of their lists.
    half: (u64, u64),
    /// The prefix of the first term of the group.
    first: u64,
    block: Vec<u8>,
    sparse: Vec<u8>,
    pub(super) encoder: ListEncoder,
    /// The state for positions, if they are stored.
    pub(super) runs: Option<Box<RunBuffers>>,
}

impl TermsWriter {
    /// Creates a writer at the start of the section, which collects `send` bytes of lists. If positions are
    /// stored, terms must be added by the functions in `runs.rs`.
    pub fn new(send: usize, kept: Postings) -> Self {
        TermsWriter {
            terms: 0,
            count: 0,
            before: PreviousTerm::default(),
            lists: Vec::with_capacity(2 * send),
            send,
            lists_sent: 0,
            list_start: 0,
            latest: (0, 0),
            lengths: Vec::new(),
            suffixes: Suffixes::new(),
            postings: Vec::new(),
            half: (0, 0),
            first: 0,
            block: Vec::new(),
            sparse: Vec::new(),
            encoder: ListEncoder::new(),
            runs: kept.has_positions().then(|| Box::new(RunBuffers::new(kept.has_offsets()))),
        }
    }

    /// Number of terms so far.
    pub fn terms(&self) -> u64 {
        self.terms
    }

    /// Adds the next term, which occurs `freq` times in `doc` and in no other document.
    #[inline(always)]
    pub fn add_single(
        &mut self,
        term: HeadedTerm<'_>,
        doc: u32,
        freq: u32,
        out: &mut impl TermsOut,
    ) -> Result<()> {
        put_varint(&mut self.postings, u64::from(doc) << 2 | u64::from(freq == 1) << 1 | 1);
        if freq != 1 {
            put_varint(&mut self.postings, u64::from(freq));
        }
        self.add_term(term, out)
    }

    /// Adds the next term with its postings; a term without postings is dropped.
    pub fn add(
        &mut self,
        term: HeadedTerm<'_>,
        mut postings: impl Iterator<Item = (u32, u32)>,
        norms: &[u8],
        out: &mut impl TermsOut,
    ) -> Result<()> {
        let Some(first) = postings.next() else { return Ok(()) };
        let Some(second) = postings.next() else { return self.add_single(term, first.0, first.1, out) };
        self.begin_list();
        [first, second].into_iter().chain(postings).for_each(|(doc, freq)| self.push(doc, freq, norms));
        self.end_list(term, norms, out)
    }

    /// Begins the next term, to which [`TermsWriter::push`] adds postings and which [`TermsWriter::end_list`]
    /// ends.
    pub fn begin_list(&mut self) {
        self.list_start = self.lists.len();
    }

    /// Adds a posting; documents ascend.
    #[inline(always)]
    pub fn push(&mut self, doc: u32, freq: u32, norms: &[u8]) {
        self.latest = (doc, freq);
        self.encoder.push(doc, freq, norms, &mut self.lists);
    }

    /// Adds all postings of `list` with `shift` added to their documents, by copying its blocks. Does nothing
    /// and returns false if copying is not worthwhile at this point. Returns `None` if the list is damaged.
    pub fn carry(&mut self, list: &ListBytes<'_>, shift: u32, norms: &[u8]) -> Option<bool> {
        if !self.encoder.would_carry(list) {
            return Some(false);
        }
        self.encoder.carry(list, shift, norms, &mut self.lists).map(|_| true)
    }

    /// Adds the term whose postings have been pushed; a term without postings is dropped.
    pub fn end_list(&mut self, term: HeadedTerm<'_>, norms: &[u8], out: &mut impl TermsOut) -> Result<()> {
        let summary = self.encoder.finish(norms, &mut self.lists);
        if summary.doc_freq < 2 {
            self.lists.truncate(self.list_start);
            let (doc, freq) = self.latest;
            return if summary.doc_freq == 0 { Ok(()) } else { self.add_single(term, doc, freq, out) };
        }
        put_varint(&mut self.postings, u64::from(summary.doc_freq) << 1);
        put_varint(&mut self.postings, (self.lists.len() - self.list_start) as u64);
        put_varint(&mut self.postings, summary.total_tf - u64::from(summary.doc_freq));
        if self.lists.len() >= self.send {
            self.send_lists(out)?;
        }
        self.add_term(term, out)
    }

    #[inline(always)]
    pub(super) fn add_term(&mut self, term: HeadedTerm<'_>, out: &mut impl TermsOut) -> Result<()> {
        let HeadedTerm { term, head } = term;
        let shared = if self.count == 0 {
            self.first = prefix_of(head);
            0
        } else {
            self.before.shared(term, head)
        };
        let own = term.len() - shared;
        let (high, low) = (shared.min(15), own.min(15));
        self.lengths.extend(u8::try_from(high << 4 | low));
        if high == 15 {
            put_varint(&mut self.lengths, (shared - 15) as u64);
        }
        if low == 15 {
            put_varint(&mut self.lengths, (own - 15) as u64);
        }
        self.suffixes.push(term, head, shared);
        self.before.set(term, head);
        self.count += 1;
        self.terms += 1;
        match usize::from(self.count) {
            HALF => {
                self.half = (self.postings.len() as u64, self.lists_sent + self.lists.len() as u64);
                Ok(())
            }
            GROUP => self.end_group(out),
            _ => Ok(()),
        }
    }

    pub(super) fn send_lists(&mut self, out: &mut impl TermsOut) -> Result<()> {
        out.write(&self.lists)?;
        self.lists_sent += self.lists.len() as u64;
        self.lists.clear();
        Ok(())
    }

    /// Writes bytes of lists without collecting them first.
    pub(super) fn send_bytes(&mut self, bytes: &[u8], out: &mut impl TermsOut) -> Result<()> {
        self.lists_sent += bytes.len() as u64;
        out.write(bytes)
    }

    fn end_group(&mut self, out: &mut impl TermsOut) -> Result<()> {
        self.send_lists(out)?;
        let symbols = Symbols::of(self.suffixes.bytes());
        self.block.clear();
        self.block.push(self.count);
        self.block.push(symbols.width);
        put_varint(&mut self.block, self.lists_sent);
        put_varint(&mut self.block, self.lengths.len() as u64);
        put_varint(&mut self.block, self.suffixes.len() as u64);
        if usize::from(self.count) > HALF {
            put_varint(&mut self.block, self.half.0);
            put_varint(&mut self.block, self.half.1);
        }
        symbols.write(&mut self.block);
        self.block.extend_from_slice(&self.lengths);
        symbols.write_text(self.suffixes.bytes(), &mut self.block);
        self.block.extend_from_slice(&self.postings);

        self.sparse.extend_from_slice(&self.first.to_le_bytes());
        self.sparse.extend_from_slice(&out.place().to_le_bytes());
        self.sparse.extend_from_slice(&u32::try_from(self.block.len()).unwrap_or(u32::MAX).to_le_bytes());
        out.write(&self.block)?;
        self.lengths.clear();
        self.suffixes.clear();
        self.postings.clear();
        (self.count, self.lists_sent) = (0, 0);
        Ok(())
    }

    /// Ends the section; returns the sparse index.
    pub fn finish(mut self, out: &mut impl TermsOut) -> Result<Vec<u8>> {
        if self.count > 0 {
            self.end_group(out)?;
        }
        Ok(self.sparse)
    }
}

/// Bytes of a [`head`](crate::codec::head).
const HEAD: usize = 16;

/// The previous term.
#[derive(Default)]
struct PreviousTerm {
    head: u128,
    len: usize,
    /// Its bytes, if they are longer than the head.
    bytes: Vec<u8>,
}

impl PreviousTerm {
    #[inline(always)]
    fn set(&mut self, term: &[u8], head: u128) {
        (self.head, self.len) = (head, term.len());
        if term.len() > HEAD {
            self.bytes.clear();
            self.bytes.extend_from_slice(term);
        }
    }

    /// Length of the common prefix with `term`.
    #[inline(always)]
    fn shared(&self, term: &[u8], head: u128) -> usize {
        let different = self.head ^ head;
        let shorter = self.len.min(term.len());
        if different != 0 || shorter <= HEAD {
            // The zeros after the end of a term look like shared bytes.
            return (different.leading_zeros() as usize / 8).min(shorter);
        }
        shared_beyond(&self.bytes, term)
    }
}

/// Length of the common prefix of terms whose first 16 bytes are equal.
#[inline(never)]
fn shared_beyond(a: &[u8], b: &[u8]) -> usize {
    let (a_words, _) = a.as_chunks::<8>();
    let (b_words, _) = b.as_chunks::<8>();
    let mut shared = 16;
    for (a_word, b_word) in a_words.iter().zip(b_words).skip(2) {
        let different = u64::from_le_bytes(*a_word) ^ u64::from_le_bytes(*b_word);
        if different != 0 {
            return shared + different.trailing_zeros() as usize / 8;
        }
        shared += 8;
    }
    let rest = |all| <[u8]>::get(all, shared..).unwrap_or_default();
    shared + rest(a).iter().zip(rest(b)).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::head;

    #[test]
    fn shared_prefixes_equal_a_byte_by_byte_comparison() {
        let terms: Vec<Vec<u8>> = (0..60usize)
            .flat_map(|len| [0, len / 3, len].map(|odd| (0..len).map(|i| u8::from(i == odd)).collect()))
            .collect();
        for a in &terms {
            for b in &terms {
                let expected = a.iter().zip(b).take_while(|(a, b)| a == b).count();
                let mut before = PreviousTerm::default();
                before.set(a, head(a));
                assert_eq!(before.shared(b, head(b)), expected, "{a:?} {b:?}");
            }
        }
    }
}
