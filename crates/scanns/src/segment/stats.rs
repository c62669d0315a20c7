//! The figures of a segment and of its fields, and its void documents.
//!
//! ```text
//! section = documents u64 | max_doc u32 | fields u32 | field … | void count u32 | void document u32 …
//! field   = number u32 | kept u32 | documents with terms u64 | tokens u64 | terms u64 | bytes of runs u64
//! kept    = 0: frequencies, 1: positions, 2: documents only, 3: offsets
//! ```
//!
//! Fields and void documents ascend.

use crate::codec::ByteReader;
use crate::schema::{Field, Postings};

/// The figures of a segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentStats {
    /// Number of documents without the void ones.
    pub documents: u64,
    /// Number of document numbers in use, including void documents; at most 2³¹.
    pub max_doc: u32,
    /// The figures of the searched fields, in ascending order of the fields.
    pub fields: Vec<FieldStats>,
    /// Void documents, ascending: reading them failed. They have a number, but no postings.
    pub void: Vec<u32>,
}

/// The figures of one field of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldStats {
    /// The field.
    pub field: Field,
    /// What is stored about a term in a document.
    pub kept: Postings,
    /// Documents with at least one term.
    pub documents_with_terms: u64,
    /// Number of tokens of all documents, or number of postings if only documents are stored.
    pub tokens: u64,
    /// Number of distinct terms.
    pub terms: u64,
    /// Bytes of the positions and offsets of all terms; 0 if positions are not stored.
    pub run_bytes: u64,
}

impl SegmentStats {
    /// Returns the number of tokens of all fields.
    pub fn tokens(&self) -> u64 {
        self.fields.iter().fold(0, |sum, field| sum.saturating_add(field.tokens))
    }

    /// Returns the number of distinct terms of all fields.
    pub fn terms(&self) -> u64 {
        self.fields.iter().fold(0, |sum, field| sum.saturating_add(field.terms))
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = self.documents.to_le_bytes().to_vec();
        let mut put = |number: usize| {
            out.extend_from_slice(&u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
        };
        put(self.max_doc as usize);
        put(self.fields.len());
        for field in &self.fields {
            let kept = field.kept.code();
            out.extend([u32::from(field.field.number()), kept].map(u32::to_le_bytes).as_flattened());
            let figures = [field.documents_with_terms, field.tokens, field.terms, field.run_bytes];
            out.extend(figures.map(u64::to_le_bytes).as_flattened());
        }
        out.extend(u32::try_from(self.void.len()).unwrap_or(u32::MAX).to_le_bytes());
        for doc in &self.void {
            out.extend_from_slice(&doc.to_le_bytes());
        }
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let (documents, max_doc) = (reader.u64()?, reader.u32()?);
        let mut fields: Vec<FieldStats> = Vec::new();
        for _ in 0..reader.u32()? {
            let field = FieldStats {
                field: Field::new(u16::try_from(reader.u32()?).ok()?)?,
                kept: Postings::from_code(reader.u32()?)?,
                documents_with_terms: reader.u64()?,
                tokens: reader.u64()?,
                terms: reader.u64()?,
                run_bytes: reader.u64()?,
            };
            let ascends = fields.last().is_none_or(|last| last.field < field.field);
            let runs = field.run_bytes == 0 || field.kept.has_positions();
            (ascends && runs && field.documents_with_terms <= documents).then(|| fields.push(field))?;
        }
        let count = reader.u32()? as usize;
        let (void, rest) = reader.remaining().as_chunks::<4>();
        let void: Vec<u32> = void.iter().map(|doc| u32::from_le_bytes(*doc)).collect();
        let ascending = void.windows(2).all(|pair| pair.first() < pair.last());
        let inside = void.last().is_none_or(|&doc| doc < max_doc) && max_doc <= 1 << 31;
        let adds_up = documents.checked_add(count as u64) == Some(u64::from(max_doc));
        (rest.is_empty() && void.len() == count && ascending && inside && adds_up).then_some(SegmentStats {
            documents,
            max_doc,
            fields,
            void,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_round_trip_and_contradictions_are_refused() {
        let field = |number, kept| FieldStats {
            field: Field::new(number).unwrap(),
            kept,
            documents_with_terms: 3,
            tokens: 1 << 40,
            terms: 7,
            run_bytes: if kept.has_positions() { 99 } else { 0 },
        };
        let stats = SegmentStats {
            documents: 3,
            max_doc: 5,
            fields: vec![
                field(0, Postings::Positions),
                field(8, Postings::Offsets),
                field(9, Postings::Documents),
            ],
            void: vec![1, 4],
        };
        let bytes = stats.encode();
        assert_eq!(SegmentStats::decode(&bytes), Some(stats.clone()));
        assert!((0..bytes.len()).all(|len| SegmentStats::decode(&bytes[..len]).is_none()));
        let wrong = [
            SegmentStats { documents: 4, ..stats.clone() },
            SegmentStats { void: vec![4, 1], ..stats.clone() },
            SegmentStats { void: vec![1, 5], ..stats.clone() },
            SegmentStats { fields: vec![field(9, Postings::Documents); 2], ..stats.clone() },
            SegmentStats {
                fields: vec![FieldStats { run_bytes: 1, ..field(0, Postings::Frequencies) }],
                ..stats.clone()
            },
        ];
        assert!(wrong.iter().all(|stats| SegmentStats::decode(&stats.encode()).is_none()));
    }
}
