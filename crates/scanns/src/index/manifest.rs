//! What a commit says: how the index is to be understood, and which segments are in it.
//!
//! ```text
//! manifest = analyzer u32 (0 standard, 1 bytes) | delimiters u64 × 4 | records u32 (0 file, 1 lines) |
//!            segments u32 | segment …
//! segment  = id u128 | documents u64 | terms u64 | tokens u64 | file length u64
//! ```

use crate::codec::ByteReader;
use crate::error::{Error, Result};
use crate::schema::{Analyzer, Delimiters, Records};
use crate::segment::Flushed;

/// A segment as the manifest knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SegmentEntry {
    pub(super) id: u128,
    pub(super) documents: u64,
    pub(super) terms: u64,
    pub(super) tokens: u64,
    pub(super) bytes: u64,
}

impl From<&Flushed> for SegmentEntry {
    fn from(flushed: &Flushed) -> Self {
        SegmentEntry {
            id: flushed.id,
            documents: flushed.stats.documents,
            terms: flushed.stats.terms,
            tokens: flushed.stats.tokens,
            bytes: flushed.bytes,
        }
    }
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) analyzer: Analyzer,
    pub(super) records: Records,
    pub(super) segments: Vec<SegmentEntry>,
}

impl Manifest {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let (kind, words) = match &self.analyzer {
            Analyzer::Standard => (0u32, [0; 4]),
            Analyzer::Bytes(delimiters) => (1, delimiters.words()),
        };
        out.extend_from_slice(&kind.to_le_bytes());
        words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        let records = match self.records {
            Records::File => 0u32,
            Records::Lines => 1,
        };
        out.extend_from_slice(&records.to_le_bytes());
        out.extend_from_slice(&u32::try_from(self.segments.len()).unwrap_or(u32::MAX).to_le_bytes());
        for segment in &self.segments {
            out.extend_from_slice(&segment.id.to_le_bytes());
            for figure in [segment.documents, segment.terms, segment.tokens, segment.bytes] {
                out.extend_from_slice(&figure.to_le_bytes());
            }
        }
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self> {
        Self::try_decode(bytes)
            .ok_or_else(|| Error::corrupt("the manifest", "its fields do not fit together"))
    }

    fn try_decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let kind = reader.u32()?;
        let words = [reader.u64()?, reader.u64()?, reader.u64()?, reader.u64()?];
        let analyzer = match kind {
            0 => Analyzer::Standard,
            1 => Analyzer::Bytes(Delimiters::from_words(words)),
            _ => return None,
        };
        let records = match reader.u32()? {
            0 => Records::File,
            1 => Records::Lines,
            _ => return None,
        };
        let count = reader.u32()?;
        let mut segments = Vec::new();
        for _ in 0..count {
            let id = u128::from_le_bytes(*reader.take(16)?.first_chunk()?);
            let [documents, terms, tokens, bytes] =
                [reader.u64()?, reader.u64()?, reader.u64()?, reader.u64()?];
            segments.push(SegmentEntry { id, documents, terms, tokens, bytes });
        }
        reader.remaining().is_empty().then_some(Manifest { analyzer, records, segments })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_read_back_and_cut_ones_do_not() {
        let segment = |id| SegmentEntry { id, documents: 2, terms: 3, tokens: 4, bytes: u64::MAX };
        for analyzer in ["standard", "paths"] {
            let analyzer = Analyzer::parse(analyzer).unwrap();
            let manifest = Manifest {
                analyzer,
                records: Records::Lines,
                segments: vec![segment(1), segment(u128::MAX)],
            };
            let bytes = manifest.encode();
            assert_eq!(Manifest::decode(&bytes).unwrap(), manifest);
            assert!((0..bytes.len()).all(|len| Manifest::decode(&bytes[..len]).is_err()));
        }
    }
}
