//! The figures of a segment, and which of its documents are void.
//!
//! ```text
//! section = documents u64 | documents with terms u64 | tokens u64 | terms u64 | max_doc u32 | void count u32 |
//!           void document u32 …                                    ascending
//! ```

use crate::codec::ByteReader;

/// Sizes of a segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentStats {
    /// Documents, void ones not counted.
    pub documents: u64,
    /// Documents with at least one term.
    pub documents_with_terms: u64,
    /// Tokens of all documents.
    pub tokens: u64,
    /// Distinct terms.
    pub terms: u64,
    /// Document numbers in use, void ones included: at most 2³¹.
    pub max_doc: u32,
    /// Documents that failed while they were read: their numbers are used up, they are in no posting.
    pub void: Vec<u32>,
}

impl SegmentStats {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for figure in [self.documents, self.documents_with_terms, self.tokens, self.terms] {
            out.extend_from_slice(&figure.to_le_bytes());
        }
        out.extend_from_slice(&self.max_doc.to_le_bytes());
        out.extend_from_slice(&u32::try_from(self.void.len()).unwrap_or(u32::MAX).to_le_bytes());
        self.void.iter().for_each(|doc| out.extend_from_slice(&doc.to_le_bytes()));
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let mut stats = SegmentStats {
            documents: reader.u64()?,
            documents_with_terms: reader.u64()?,
            tokens: reader.u64()?,
            terms: reader.u64()?,
            max_doc: reader.u32()?,
            void: Vec::new(),
        };
        let count = reader.u32()? as usize;
        let (void, rest) = reader.remaining().as_chunks::<4>();
        stats.void = void.iter().map(|doc| u32::from_le_bytes(*doc)).collect();
        let ascending = stats.void.windows(2).all(|pair| pair.first() < pair.last());
        let inside = stats.void.last().is_none_or(|&doc| doc < stats.max_doc) && stats.max_doc <= 1 << 31;
        let adds_up = stats.documents.checked_add(count as u64) == Some(u64::from(stats.max_doc))
            && stats.documents_with_terms <= stats.documents;
        (rest.is_empty() && void.len() == count && ascending && inside && adds_up).then_some(stats)
    }
}
