//! Writes term groups as the terms come, in order; the sparse index waits in memory.

use super::{GROUP, NIBBLES, TermInfo, prefix_of};
use crate::codec::{ListEncoder, put_varint};
use crate::error::Result;
use crate::store::EnvelopeWriter;

/// Lists of a group are sent on at this size, so that a group of frequent terms takes little memory.
const SEND: usize = 256 << 10;

/// See the module.
pub struct TermsWriter {
    terms: u64,
    count: u8,
    /// The term before, for front coding.
    before: Vec<u8>,
    lists: Vec<u8>,
    lists_sent: u64,
    lengths: Vec<u8>,
    suffixes: Vec<u8>,
    postings: Vec<u8>,
    first: u64,
    block: Vec<u8>,
    sparse: Vec<u8>,
    encoder: ListEncoder,
}

impl TermsWriter {
    /// A writer at the start of the section.
    pub fn new() -> Self {
        TermsWriter {
            terms: 0,
            count: 0,
            before: Vec::new(),
            lists: Vec::with_capacity(2 * SEND),
            lists_sent: 0,
            lengths: Vec::new(),
            suffixes: Vec::new(),
            postings: Vec::new(),
            first: 0,
            block: Vec::new(),
            sparse: Vec::new(),
            encoder: ListEncoder::new(),
        }
    }

    /// Terms so far.
    pub fn terms(&self) -> u64 {
        self.terms
    }

    /// Adds the next term with its postings; a term without postings leaves no trace.
    #[inline]
    pub fn add(
        &mut self,
        term: &[u8],
        mut postings: impl Iterator<Item = (u32, u32)>,
        norms: &[u8],
        out: &mut EnvelopeWriter,
    ) -> Result<()> {
        let Some((doc, freq)) = postings.next() else { return Ok(()) };
        if let Some((second, second_freq)) = postings.next() {
            let start = self.lists.len();
            self.encoder.push(doc, freq, norms, &mut self.lists);
            self.encoder.push(second, second_freq, norms, &mut self.lists);
            postings.for_each(|(doc, freq)| self.encoder.push(doc, freq, norms, &mut self.lists));
            let summary = self.encoder.finish(norms, &mut self.lists);
            put_varint(&mut self.postings, u64::from(summary.doc_freq) << 1);
            put_varint(&mut self.postings, (self.lists.len() - start) as u64);
            put_varint(&mut self.postings, summary.total_tf - u64::from(summary.doc_freq));
            if self.lists.len() >= SEND {
                self.send_lists(out)?;
            }
        } else {
            put_varint(&mut self.postings, u64::from(doc) << 2 | u64::from(freq == 1) << 1 | 1);
            if freq != 1 {
                put_varint(&mut self.postings, u64::from(freq));
            }
        }
        self.add_term(term);
        if usize::from(self.count) == GROUP { self.end_group(out) } else { Ok(()) }
    }

    #[inline]
    fn add_term(&mut self, term: &[u8]) {
        let shared = if self.count == 0 {
            self.first = prefix_of(term);
            0
        } else {
            shared_prefix(&self.before, term)
        };
        let suffix = term.get(shared..).unwrap_or_default();
        let (high, low) = (shared.min(15), suffix.len().min(15));
        self.lengths.extend(u8::try_from(high << 4 | low));
        if high == 15 {
            put_varint(&mut self.lengths, (shared - 15) as u64);
        }
        if low == 15 {
            put_varint(&mut self.lengths, (suffix.len() - 15) as u64);
        }
        self.suffixes.extend_from_slice(suffix);
        self.before.truncate(shared);
        self.before.extend_from_slice(suffix);
        self.count += 1;
        self.terms += 1;
    }

    fn send_lists(&mut self, out: &mut EnvelopeWriter) -> Result<()> {
        out.write(&self.lists)?;
        self.lists_sent += self.lists.len() as u64;
        self.lists.clear();
        Ok(())
    }

    fn end_group(&mut self, out: &mut EnvelopeWriter) -> Result<()> {
        self.send_lists(out)?;
        let symbols = Symbols::of(&self.suffixes);
        self.block.clear();
        self.block.push(self.count);
        self.block.push(symbols.count());
        put_varint(&mut self.block, self.lists_sent);
        put_varint(&mut self.block, self.lengths.len() as u64);
        put_varint(&mut self.block, self.suffixes.len() as u64);
        symbols.write(&mut self.block);
        self.block.extend_from_slice(&self.lengths);
        symbols.write_text(&self.suffixes, &mut self.block);
        self.block.extend_from_slice(&self.postings);

        self.sparse.extend_from_slice(&self.first.to_le_bytes());
        self.sparse.extend_from_slice(&out.section_len().to_le_bytes());
        self.sparse.extend_from_slice(&u32::try_from(self.block.len()).unwrap_or(u32::MAX).to_le_bytes());
        out.write(&self.block)?;
        self.lengths.clear();
        self.suffixes.clear();
        self.postings.clear();
        (self.count, self.lists_sent) = (0, 0);
        Ok(())
    }

    /// Ends the section; returns the sparse index.
    pub fn finish(mut self, out: &mut EnvelopeWriter) -> Result<Vec<u8>> {
        if self.count > 0 {
            self.end_group(out)?;
        }
        Ok(self.sparse)
    }
}

/// Bytes that two terms have in common at their front.
#[inline]
fn shared_prefix(a: &[u8], b: &[u8]) -> usize {
    let (a_words, _) = a.as_chunks::<8>();
    let (b_words, _) = b.as_chunks::<8>();
    let mut shared = 0;
    for (a_word, b_word) in a_words.iter().zip(b_words) {
        let different = u64::from_le_bytes(*a_word) ^ u64::from_le_bytes(*b_word);
        if different != 0 {
            return shared + different.trailing_zeros() as usize / 8;
        }
        shared += 8;
    }
    let rest = |all| <[u8]>::get(all, shared..).unwrap_or_default();
    shared + rest(a).iter().zip(rest(b)).take_while(|(a, b)| a == b).count()
}

/// The different bytes of a block's suffixes, if they are few enough for nibbles.
struct Symbols {
    list: [u8; NIBBLES],
    /// Zero if there are too many.
    count: usize,
    code: [u8; 256],
}

impl Symbols {
    fn of(text: &[u8]) -> Symbols {
        let mut seen = [false; 256];
        text.iter().for_each(|&byte| {
            if let Some(slot) = seen.get_mut(usize::from(byte)) {
                *slot = true;
            }
        });
        let mut symbols = Symbols { list: [0; NIBBLES], count: 0, code: [0; 256] };
        for byte in (0..=255u8).filter(|&byte| seen.get(usize::from(byte)).is_some_and(|&seen| seen)) {
            let Some(slot) = symbols.list.get_mut(symbols.count) else {
                symbols.count = 0;
                return symbols;
            };
            *slot = byte;
            if let Some(code) = symbols.code.get_mut(usize::from(byte)) {
                *code = u8::try_from(symbols.count).unwrap_or(0);
            }
            symbols.count += 1;
        }
        // Nibbles must save more than the list of symbols costs.
        if text.len() / 2 <= symbols.count {
            symbols.count = 0;
        }
        symbols
    }

    fn count(&self) -> u8 {
        u8::try_from(self.count).unwrap_or(0)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.list.get(..self.count).unwrap_or_default());
    }

    fn write_text(&self, text: &[u8], out: &mut Vec<u8>) {
        if self.count == 0 {
            out.extend_from_slice(text);
            return;
        }
        let code = |byte: u8| self.code.get(usize::from(byte)).copied().unwrap_or(0);
        let (pairs, rest) = text.as_chunks::<2>();
        out.extend(pairs.iter().map(|&[low, high]| code(low) | code(high) << 4));
        out.extend(rest.iter().map(|&low| code(low)));
    }
}
