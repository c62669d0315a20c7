//! Verifies the stored documents, and that document vectors agree with the postings.
//!
//! Postings are read term by term, vectors document by document. To avoid holding either in memory, each
//! posting is hashed to 64 bits from its term, frequency, positions and offsets. The sum of the hashes of a
//! document must be the same on both sides.

use std::ops::Range;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::level::CheckLevel;
use crate::codec::{Columns, Occurrence, OnlyPositions, WithOffsets};
use crate::error::{Error, Result};
use crate::schema::Postings;
use crate::segment::layout::file_name;
use crate::segment::reader::Segment;
use crate::segment::stored::decode_vector;
use crate::sys::try_filled;

/// Documents or terms between two calls of `progress`.
const LOOK_EVERY: u64 = 1 << 10;

impl Segment {
    /// Reads all stored documents and vectors; at level [`CheckLevel::Cross`] also compares vectors with
    /// postings.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for the first error that is found, and errors from `progress`.
    pub(super) fn check_stored(
        &self,
        level: CheckLevel,
        progress: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let mut looks = 0;
        let mut look = |progress: &mut dyn FnMut(u64) -> Result<()>| {
            looks += 1;
            if looks % LOOK_EVERY == 0 { progress(self.bytes()) } else { Ok(()) }
        };
        if let Some(text) = self.text()? {
            text.each(|_, _| look(progress))?;
        }
        if let Some(spans) = self.spans()? {
            for span in spans.spans() {
                span?;
                look(progress)?;
            }
        }
        let Some(vectors) = self.vectors()? else { return Ok(()) };
        let cross = level >= CheckLevel::Cross;
        let sums = if cross { self.stats().max_doc as usize } else { 0 };
        let mut sums = try_filled(0u64, sums, "check term vectors")?;
        let kept = self.kept();
        vectors.each(|doc, bytes| {
            let vector = decode_vector(bytes).ok_or_else(|| self.damaged_vector(doc))?;
            if vector.iter().any(|term| term.offsets.is_empty() == kept.has_offsets()) {
                return Err(self.damaged_vector(doc));
            }
            if let Some(sum) = sums.get_mut(doc as usize) {
                for term in &vector {
                    let frequency = u32::try_from(term.frequency()).unwrap_or(u32::MAX);
                    let positions = if kept.has_positions() { &term.positions[..] } else { &[] };
                    *sum = sum.wrapping_add(mix(xxh3_64(&term.term), frequency, positions, &term.offsets));
                }
            }
            look(progress)
        })?;
        match kept {
            _ if !cross => {}
            Postings::Offsets => self.subtract_postings::<WithOffsets>(&mut sums, progress)?,
            _ => self.subtract_postings::<OnlyPositions>(&mut sums, progress)?,
        }
        match sums.iter().position(|&sum| sum != 0) {
            None => Ok(()),
            Some(doc) => Err(Error::corrupt(
                file_name(self.id()),
                format!("the vector of document {doc} contradicts its postings"),
            )),
        }
    }

    /// Subtracts the hashes of all postings from the sums of their documents.
    fn subtract_postings<C: Columns>(
        &self,
        sums: &mut [u64],
        progress: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let mut terms = self.terms_from(b"")?;
        let mut looked = 0u64;
        while terms.step()? {
            let (info, positions) = (terms.info(), terms.positions());
            let term = terms.term();
            let hash = xxh3_64(term);
            let mut list = self.cursor(term, info)?;
            let has_positions = self.kept().has_positions();
            let mut deltas = has_positions.then(|| self.deltas::<C>(term, info, positions)).transpose()?;
            let (mut places, mut offsets) = (Vec::new(), Vec::new());
            while !list.rest_of_docs().is_empty() {
                let (docs, freqs) = list.rest_of_block();
                let count = docs.len();
                for (&doc, &freq) in docs.iter().zip(freqs) {
                    if let Some(deltas) = &mut deltas {
                        places.clear();
                        offsets.clear();
                        let (mut before, mut start) = (0u32, 0u32);
                        let taken = deltas.take(freq, |deltas| {
                            for delta in deltas.positions {
                                before = before.wrapping_add(*delta);
                                places.push(before);
                            }
                            for (delta, &extra) in deltas.starts.iter().zip(deltas.extras) {
                                start = start.wrapping_add(*delta);
                                let end = Occurrence::end_of(start, extra, term.len());
                                offsets.push(start..end.unwrap_or(start));
                            }
                        });
                        taken.ok_or_else(|| self.damaged_positions(term))?;
                    }
                    if let Some(sum) = sums.get_mut(doc as usize) {
                        *sum = sum.wrapping_sub(mix(hash, freq, &places, &offsets));
                    }
                }
                list.consume(count);
            }
            looked += 1;
            if looked.is_multiple_of(LOOK_EVERY) {
                progress(self.bytes())?;
            }
        }
        Ok(())
    }
}

/// The hash of a posting.
fn mix(term: u64, frequency: u32, positions: &[u32], offsets: &[Range<u32>]) -> u64 {
    let mut hash = Xxh3::with_seed(term);
    hash.update(&frequency.to_le_bytes());
    for position in positions {
        hash.update(&position.to_le_bytes());
    }
    for range in offsets {
        hash.update(&range.start.to_le_bytes());
        hash.update(&range.end.to_le_bytes());
    }
    hash.digest()
}
