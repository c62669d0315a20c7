//! Opens a segment and answers: which terms, which postings, which norms, which keys.

use super::stats::SegmentStats;
use super::terms::{self, TermInfo, Terms, TermsIter};
use super::{KEYS, NORMS, SEGMENT, SPARSE, STATS, TERMS, file_name, keys};
use crate::error::{Error, Result};
use crate::store::{Directory, Envelope, Section};

/// An open segment.
#[derive(Debug)]
pub struct Segment {
    file: Envelope,
    stats: SegmentStats,
    terms: Terms,
}

impl Segment {
    /// Opens the segment `id` and verifies what every query needs.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for a damaged file or one of another segment.
    pub fn open(directory: &dyn Directory, id: u128) -> Result<Self> {
        let file = Envelope::open(directory, &file_name(id), SEGMENT)?;
        if file.id() != id {
            return Err(Error::corrupt(file_name(id), format!("it holds segment {:032x}", file.id())));
        }
        let section = file.section(STATS)?;
        let stats = SegmentStats::decode(section.all()?);
        let stats = stats.ok_or_else(|| section.corrupt("its figures contradict each other"))?;
        let norms = file.section(NORMS)?;
        if norms.len() != stats.max_doc as usize {
            return Err(norms.corrupt(format!("{} norms for {} documents", norms.len(), stats.max_doc)));
        }
        file.section(KEYS)?;
        let terms = terms::load(&file, TERMS, SPARSE)?;
        Ok(Segment { file, stats, terms })
    }

    /// Its figures.
    pub fn stats(&self) -> &SegmentStats {
        &self.stats
    }

    /// Length of its file in bytes.
    pub fn bytes(&self) -> u64 {
        self.file.file_len()
    }

    fn term_section(&self) -> Result<&Section> {
        self.file.section(TERMS)
    }

    /// One norm byte per document.
    pub fn norms(&self) -> Result<&[u8]> {
        self.file.section(NORMS)?.all()
    }

    /// False for documents that are void.
    pub fn is_live(&self, doc: u32) -> bool {
        doc < self.stats.max_doc && self.stats.void.binary_search(&doc).is_err()
    }

    /// Looks a term up.
    pub fn find(&self, term: &[u8]) -> Result<Option<TermInfo>> {
        let section = self.term_section()?;
        let info = self.terms.find(section, term)?;
        match info {
            Some(TermInfo::Single { doc, .. }) if doc >= self.stats.max_doc => {
                Err(section.corrupt(format!("a posting names document {doc} of {}", self.stats.max_doc)))
            }
            info => Ok(info),
        }
    }

    /// The bytes of a list that [`Segment::find`] gave.
    pub fn list(&self, offset: u64, len: u64) -> Result<&[u8]> {
        let section = self.term_section()?;
        let range = usize::try_from(offset).ok().zip(usize::try_from(len).ok());
        let range = range.and_then(|(start, len)| Some(start..start.checked_add(len)?));
        section.get(range.ok_or_else(|| section.corrupt("a list lies beyond the address space"))?)
    }

    /// All terms from `start` on, in order.
    pub fn terms_from(&self, start: &[u8]) -> Result<TermsIter<'_>> {
        self.terms.iter_from(self.term_section()?, start)
    }

    /// The sparse index over the terms.
    pub fn sparse(&self) -> &Terms {
        &self.terms
    }

    /// What document `doc` is called.
    pub fn key(&self, doc: u32) -> Result<Vec<u8>> {
        keys::read(self.file.section(KEYS)?, doc)
    }
}
