//! A document that is larger than its segment: copied before a flush, and continued after it.

use super::inverter::Inverter;
use super::positions::Deltas;
use super::store::TokenPlace;
use crate::codec::{ByteReader, Occurrence, WithOffsets};

/// The terms of an open document.
#[derive(Debug)]
pub struct OpenDocument {
    /// Length of each term, and its frequency.
    terms: Vec<(u32, u32)>,
    bytes: Vec<u8>,
    /// Differences of the occurrences of all terms, if positions are kept.
    deltas: Vec<u8>,
    tokens: u64,
    /// The difference between the positions of the tokens that follow and their numbers.
    shift: u64,
}

impl Inverter {
    /// Copies the terms of the open document, with their stored details; returns `None` if they take more
    /// than `most` bytes.
    ///
    /// [`Inverter::resume_document`] adds them to the index again after it was drained, so that an index can
    /// be flushed in the middle of a large document.
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
                let deltas = self.store.places.deltas(number, &self.store.chunks, &mut parts);
                deltas.into_iter().for_each(|deltas| put_last(deltas, entry.term_freq, &mut open.deltas));
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
            if self.store.places.are_kept() {
                let mut before = Occurrence::default();
                for _ in 0..freq {
                    before = Occurrence::read(&mut deltas, true).unwrap_or_default().after(before);
                    self.token_at(TokenPlace { doc, at: before }, term);
                }
                continue;
            }
            self.token_at(TokenPlace { doc, at: Occurrence::default() }, term);
            self.settle();
            if let Some(entry) = self.find(term) {
                self.store.count_many(entry, doc, freq - 1);
            }
        }
        (self.doc_tokens, self.doc_shift) = (open.tokens, open.shift);
    }
}

/// Appends the last `count` differences of a term.
fn put_last(mut deltas: Deltas<'_>, count: u32, out: &mut Vec<u8>) {
    let all = deltas.clone().count();
    deltas.skip(u32::try_from(all).unwrap_or(u32::MAX).saturating_sub(count));
    (0..count).for_each(|_| deltas.next_occurrence().put::<WithOffsets>(out));
}
