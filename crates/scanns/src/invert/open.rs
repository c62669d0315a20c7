//! A document that outgrew its segment: taken out before a flush, and continued after it.

use super::Inverter;
use crate::codec::{ByteReader, put_varint};

/// The terms of a document that has not ended.
#[derive(Debug)]
pub struct OpenDocument {
    /// Length of each term, and how often it occurs.
    terms: Vec<(u32, u32)>,
    bytes: Vec<u8>,
    /// Differences of the positions of all terms as varints, if positions are kept.
    deltas: Vec<u8>,
    tokens: u64,
    /// By how much the positions of the tokens that follow differ from their numbers.
    shift: u64,
}

impl Inverter {
    /// Copies the terms of the document that has not ended, with what is kept of them; `None` if they take more than
    /// `most` bytes.
    ///
    /// They can be given to the index by [`Inverter::resume_document`] after it was drained, so that a flush can
    /// come in the middle of a large document.
    pub fn copy_open_document(&mut self, most: usize) -> Option<OpenDocument> {
        self.settle();
        let doc = self.current_document();
        let (tokens, shift) = (self.doc_tokens, self.doc_shift);
        let mut open =
            OpenDocument { terms: Vec::new(), bytes: Vec::new(), deltas: Vec::new(), tokens, shift };
        let mut parts = Vec::new();
        for number in 0..self.store.terms.len {
            let entry = self.store.terms.entries[number];
            if entry.doc == doc {
                let number = u32::try_from(number).unwrap_or(u32::MAX);
                self.store.terms.with_bytes(number, |term| {
                    open.bytes.extend_from_slice(term);
                    open.terms.push((u32::try_from(term.len()).unwrap_or(u32::MAX), entry.term_freq));
                });
                if let Some((tail, latest)) = self.store.places.get(number) {
                    self.store.chunks.parts(tail, &mut parts);
                    let before = entry.term_freq as usize - 1;
                    last_numbers(self.store.chunks.arena(), &parts, before, &mut open.deltas);
                    put_varint(&mut open.deltas, u64::from(latest));
                }
                if open.bytes.len() + open.deltas.len() + open.terms.len() * 8 > most {
                    return None;
                }
            }
        }
        Some(open)
    }

    /// Continues a document taken from another index.
    pub fn resume_document(&mut self, open: &OpenDocument) {
        let (doc, mut at) = (self.current_document(), 0);
        let mut deltas = ByteReader::new(&open.deltas);
        for &(len, freq) in &open.terms {
            let term = &open.bytes[at..at + len as usize];
            at += len as usize;
            let mut position = deltas.varint32().unwrap_or(0);
            self.token_at((doc, position), term);
            if self.store.places.kept {
                for _ in 1..freq {
                    position = position.wrapping_add(deltas.varint32().unwrap_or(0));
                    self.token_at((doc, position), term);
                }
                continue;
            }
            self.settle();
            if let Some(entry) = self.find(term) {
                self.store.count_many(entry, doc, freq - 1);
            }
        }
        (self.doc_tokens, self.doc_shift) = (open.tokens, open.shift);
    }
}

/// Appends the bytes of the last `count` numbers of the chain that has these parts.
fn last_numbers(arena: &[u8], parts: &[(usize, usize)], count: usize, out: &mut Vec<u8>) {
    let (start, mut ends) = (out.len(), 0);
    for byte in parts.iter().rev().flat_map(|&(start, end)| arena[start..end].iter().rev()) {
        // The last byte of a number is met first.
        ends += usize::from(*byte < 0x80);
        if ends > count {
            break;
        }
        out.push(*byte);
    }
    out[start..].reverse();
}
