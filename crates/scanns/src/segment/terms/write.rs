//! Writes term groups as the terms come, in order; the sparse index waits in memory.

use super::{GROUP, prefix_of};
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
        self.block.push(symbols.width);
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

/// The different bytes of a block's suffixes, if they are few enough to be written in fewer bits.
struct Symbols {
    /// A bit for each byte in use.
    set: u128,
    /// Bits per symbol; zero if bytes stay bytes.
    width: u8,
}

impl Symbols {
    fn of(text: &[u8]) -> Symbols {
        let (mut set, mut all) = (0u128, 0u8);
        for &byte in text {
            set |= 1 << (byte & 0x7f);
            all |= byte;
        }
        let width = match set.count_ones() {
            _ if !all.is_ascii() => 0,
            0..=16 => 4,
            17..=32 => 5,
            33..=64 => 6,
            _ => 0,
        };
        // The set itself takes 16 bytes.
        let saved = text.len() * (8 - usize::from(width)) / 8;
        if saved <= 16 { Symbols { set: 0, width: 0 } } else { Symbols { set, width } }
    }

    fn write(&self, out: &mut Vec<u8>) {
        if self.width > 0 {
            out.extend_from_slice(&self.set.to_le_bytes());
        }
    }

    fn write_text(&self, text: &[u8], out: &mut Vec<u8>) {
        if self.width == 0 {
            out.extend_from_slice(text);
            return;
        }
        let mut ranks = [0u8; 128];
        let mut rank = 0;
        for (byte, slot) in ranks.iter_mut().enumerate() {
            *slot = rank;
            rank += u8::from(self.set >> byte & 1 != 0);
        }
        let (mut bits, mut held) = (0u64, 0);
        for &byte in text {
            bits |= u64::from(ranks.get(usize::from(byte)).copied().unwrap_or(0)) << held;
            held += u32::from(self.width);
            if held >= 32 {
                out.extend_from_slice(bits.to_le_bytes().first_chunk::<4>().unwrap_or(&[0; 4]));
                bits >>= 32;
                held -= 32;
            }
        }
        out.extend_from_slice(bits.to_le_bytes().get(..held.div_ceil(8) as usize).unwrap_or_default());
    }
}
