//! Writes term groups as the terms come, in order; the sparse index waits in memory.

use super::runs::Runs;
use super::suffixes::{Suffixes, Symbols};
use super::{GROUP, HALF, prefix_of};
use crate::codec::{ListBytes, ListEncoder, put_varint};
use crate::error::Result;
use crate::schema::Postings;
use crate::store::EnvelopeWriter;

/// Where the section of terms goes.
pub trait TermsOut {
    /// Bytes of the section, or of the part of it that is written here, so far.
    fn place(&self) -> u64;

    /// Appends to it.
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

/// See the module.
pub struct TermsWriter {
    terms: u64,
    count: u8,
    /// The term before, for front coding.
    before: Before,
    pub(super) lists: Vec<u8>,
    /// Lists of a group are sent on at this size, so that a group of frequent terms takes little memory.
    pub(super) send: usize,
    lists_sent: u64,
    /// Where the list at hand begins in `lists`, and the latest posting of it.
    list_start: usize,
    pub(super) latest: (u32, u32),
    lengths: Vec<u8>,
    suffixes: Suffixes,
    pub(super) postings: Vec<u8>,
    /// Bytes of the postings of the first half of the group, and of their lists.
    half: (u64, u64),
    first: u64,
    block: Vec<u8>,
    sparse: Vec<u8>,
    pub(super) encoder: ListEncoder,
    /// What positions need, if they are kept.
    pub(super) runs: Option<Box<Runs>>,
}

impl TermsWriter {
    /// A writer at the start of the section, which gathers `send` bytes of lists. With positions, terms are added by
    /// the functions of `runs.rs` only.
    pub fn new(send: usize, kept: Postings) -> Self {
        TermsWriter {
            terms: 0,
            count: 0,
            before: Before::default(),
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
            runs: kept.has_positions().then(|| Box::new(Runs::new(kept.has_offsets()))),
        }
    }

    /// Terms so far.
    pub fn terms(&self) -> u64 {
        self.terms
    }

    /// Adds the next term, with its [`head`](crate::codec::head), which is in one document.
    #[inline(always)]
    pub fn add_single(
        &mut self,
        (term, head): (&[u8], u128),
        (doc, freq): (u32, u32),
        out: &mut impl TermsOut,
    ) -> Result<()> {
        put_varint(&mut self.postings, u64::from(doc) << 2 | u64::from(freq == 1) << 1 | 1);
        if freq != 1 {
            put_varint(&mut self.postings, u64::from(freq));
        }
        self.add_term(term, head, out)
    }

    /// Adds the next term with any number of postings; a term without postings leaves no trace.
    pub fn add(
        &mut self,
        (term, head): (&[u8], u128),
        mut postings: impl Iterator<Item = (u32, u32)>,
        norms: &[u8],
        out: &mut impl TermsOut,
    ) -> Result<()> {
        let Some(first) = postings.next() else { return Ok(()) };
        let Some(second) = postings.next() else { return self.add_single((term, head), first, out) };
        self.begin_list();
        [first, second].into_iter().chain(postings).for_each(|(doc, freq)| self.push(doc, freq, norms));
        self.end_list((term, head), norms, out)
    }

    /// Begins the postings of the next term, which [`TermsWriter::push`] adds and [`TermsWriter::end_list`] ends.
    pub fn begin_list(&mut self) {
        self.list_start = self.lists.len();
    }

    /// Adds a posting; documents rise.
    #[inline(always)]
    pub fn push(&mut self, doc: u32, freq: u32, norms: &[u8]) {
        self.latest = (doc, freq);
        self.encoder.push(doc, freq, norms, &mut self.lists);
    }

    /// Adds all postings of `list` with `shift` added to their documents, by copying its blocks, if that is worth it now;
    /// else nothing is done. `None` if the list is damaged.
    pub fn carry(&mut self, list: &ListBytes<'_>, shift: u32, norms: &[u8]) -> Option<bool> {
        if !self.encoder.would_carry(list) {
            return Some(false);
        }
        self.encoder.carry(list, shift, norms, &mut self.lists).map(|_| true)
    }

    /// Adds the term whose postings have been pushed; without any it leaves no trace.
    pub fn end_list(
        &mut self,
        (term, head): (&[u8], u128),
        norms: &[u8],
        out: &mut impl TermsOut,
    ) -> Result<()> {
        let summary = self.encoder.finish(norms, &mut self.lists);
        if summary.doc_freq < 2 {
            self.lists.truncate(self.list_start);
            return match summary.doc_freq {
                0 => Ok(()),
                _ => self.add_single((term, head), self.latest, out),
            };
        }
        put_varint(&mut self.postings, u64::from(summary.doc_freq) << 1);
        put_varint(&mut self.postings, (self.lists.len() - self.list_start) as u64);
        put_varint(&mut self.postings, summary.total_tf - u64::from(summary.doc_freq));
        if self.lists.len() >= self.send {
            self.send_lists(out)?;
        }
        self.add_term(term, head, out)
    }

    #[inline(always)]
    pub(super) fn add_term(&mut self, term: &[u8], head: u128, out: &mut impl TermsOut) -> Result<()> {
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

    /// Sends bytes of lists that are not gathered first.
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

/// A term that the next one is compared with.
#[derive(Default)]
struct Before {
    head: u128,
    len: usize,
    /// Its bytes, if they are more than the head.
    bytes: Vec<u8>,
}

impl Before {
    #[inline(always)]
    fn set(&mut self, term: &[u8], head: u128) {
        (self.head, self.len) = (head, term.len());
        if term.len() > HEAD {
            self.bytes.clear();
            self.bytes.extend_from_slice(term);
        }
    }

    /// Bytes that `term` has in common with it at the front.
    #[inline(always)]
    fn shared(&self, term: &[u8], head: u128) -> usize {
        let different = self.head ^ head;
        let shorter = self.len.min(term.len());
        if different != 0 || shorter <= HEAD {
            // Zeros behind the end of a term look like shared ones.
            return (different.leading_zeros() as usize / 8).min(shorter);
        }
        shared_beyond(&self.bytes, term)
    }
}

/// The same for terms whose first 16 bytes are the same.
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
    fn shared_prefixes_are_those_of_comparing_byte_by_byte() {
        let terms: Vec<Vec<u8>> = (0..60usize)
            .flat_map(|len| [0, len / 3, len].map(|odd| (0..len).map(|i| u8::from(i == odd)).collect()))
            .collect();
        for a in &terms {
            for b in &terms {
                let expected = a.iter().zip(b).take_while(|(a, b)| a == b).count();
                let mut before = Before::default();
                before.set(a, head(a));
                assert_eq!(before.shared(b, head(b)), expected, "{a:?} {b:?}");
            }
        }
    }
}
