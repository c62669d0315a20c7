//! The lengths of documents, to the token.
//!
//! A norm is exact below 40 tokens and rounded above, so longer documents are summed up over all postings
//! of their field. That takes a nanosecond or two for each posting, once for an open segment and field.

use super::reader::Segment;
use super::terms::TermInfo;
use crate::codec::{ListCursor, NO_MORE, norm_to_length};
use crate::error::Result;
use crate::schema::Postings;
use crate::sys::try_filled;

/// Norms below this are lengths.
pub(super) const EXACT_NORMS: u8 = 40;

/// The length of a document if its norm gives it.
#[inline]
pub(super) fn exact_length(norm: u8) -> Option<u64> {
    (norm < EXACT_NORMS).then(|| u64::from(norm_to_length(norm)))
}

impl Segment {
    /// True if short documents have their lengths in the norms: if only documents are stored, the length
    /// that statistics count is the number of distinct terms.
    pub(super) fn has_lengths_in_norms(&self) -> bool {
        self.kept() != Postings::Documents
    }

    /// The tokens of each document, added up over the postings of the field.
    pub(super) fn summed_lengths(&self) -> Result<Vec<u32>> {
        let max_doc = self.stats().max_doc;
        let mut lengths = try_filled(0u32, max_doc as usize, "find the lengths of documents")?;
        let mut add = |doc: u32, tokens: u32| {
            if let Some(length) = lengths.get_mut(doc as usize) {
                *length = length.saturating_add(tokens);
            }
        };
        let mut terms = self.terms_from(b"")?;
        while terms.step()? {
            match terms.info() {
                TermInfo::Single { doc, term_freq } => add(doc, term_freq),
                TermInfo::List { doc_freq, offset, len, .. } => {
                    let damaged = || self.damaged_list(terms.term());
                    let bytes = self.list(offset, len)?;
                    let mut cursor = ListCursor::new(bytes, doc_freq, max_doc).ok_or_else(damaged)?;
                    while cursor.doc() != NO_MORE {
                        let (docs, freqs) = cursor.rest_of_block();
                        docs.iter().zip(freqs).for_each(|(&doc, &freq)| add(doc, freq));
                        let count = docs.len();
                        cursor.consume(count);
                    }
                    if cursor.corrupt() {
                        return Err(damaged());
                    }
                }
            }
        }
        Ok(lengths)
    }
}
