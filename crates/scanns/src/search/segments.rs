//! A segment on disk as a leaf.

use super::{Leaf, LeafStats, ListSource, TermRef};
use crate::error::Result;
use crate::segment::{Segment, TermInfo};

/// Marks a handle that holds a posting instead of a place; no list is that long.
const SINGLE: u64 = 1 << 63;

impl Leaf for Segment {
    fn max_doc(&self) -> u32 {
        self.stats().max_doc
    }

    fn norms(&self) -> Result<&[u8]> {
        self.norms()
    }

    fn stats(&self) -> LeafStats {
        let stats = self.field_stats();
        LeafStats {
            documents: self.live_documents(),
            documents_with_terms: stats.documents_with_terms,
            total_length: stats.tokens,
        }
    }

    fn find(&self, term: &[u8]) -> Result<Option<TermRef>> {
        let handle = |info| match info {
            TermInfo::Single { doc, term_freq } => [u64::from(doc), u64::from(term_freq) | SINGLE],
            TermInfo::List { offset, len, .. } => [offset, len],
        };
        let info = self.find(term)?;
        Ok(info.map(|info| TermRef {
            doc_freq: info.doc_freq(),
            total_freq: info.total_freq(),
            handle: handle(info),
        }))
    }

    fn postings<'a>(&'a self, term: &TermRef) -> Result<ListSource<'a>> {
        let [place, len] = term.handle;
        if len & SINGLE == 0 {
            return self.list(place, len).map(ListSource::Packed);
        }
        #[expect(clippy::cast_possible_truncation, reason = "both were put in as 32 bits")]
        let (doc, tf) = (place as u32, len as u32);
        Ok(ListSource::Single { doc, tf })
    }

    fn is_live(&self, doc: u32) -> bool {
        self.is_live(doc)
    }

    fn key(&self, doc: u32) -> Result<Vec<u8>> {
        self.key(doc)
    }
}
