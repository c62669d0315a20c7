//! Collects the terms of each document of several segments as rows for `bisect.rs`, and orders the documents.
//!
//! The terms of all fields are used, except terms in very few documents: their gaps take a byte or two in any
//! order.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::bisect::{self, Rows};
use super::settings::Reordering;
use crate::codec::BLOCK;
use crate::error::{Error, Result};
use crate::segment::merge::terms::MergedTerms;
use crate::segment::progress::OrderProgress;
use crate::segment::reader::Segment;
use crate::segment::renumbering::Renumbering;

/// Terms in fewer documents than this are ignored.
const LEAST: u64 = 4;

/// Bytes held for every document while a stretch is ordered: its number of terms, and its place.
const KEPT: u64 = 8;

/// Terms between two calls of `progress`.
const LOOK_EVERY: u64 = 1 << 12;

/// Computes an order of similarity for the survivors of `sources`, whose numbers in the order of the sources
/// are in `documents`. Returns the order and the number of bytes by which lists shrink in it.
pub(in crate::segment::merge) fn similar_together(
    sources: &[Segment],
    documents: &[Renumbering],
    how: &Reordering,
    progress: OrderProgress<'_>,
) -> Result<(Vec<u32>, u64)> {
    let count = documents.last().map_or(0, |numbers| numbers.end() as usize);
    let least = bisect::memory(count as u64, 0).saturating_add(count as u64 * KEPT);
    if how.memory < least {
        return Err(Error::invalid(
            "memory for reordering",
            format_args!("{} MiB", how.memory >> 20),
            format!("at least {} MiB for {count} documents", (least >> 20) + 1),
        ));
    }
    let forward = Forward { sources, documents, count, progress };
    let lengths = forward.lengths()?;
    let (mut order, mut saved) = (Vec::with_capacity(count), 0);
    let stretches = cut(&lengths, how.memory);
    let all: u64 = stretches.iter().map(|stretch| bisect::steps(stretch.len())).sum();
    let how = Reordering { memory: how.memory.saturating_sub(count as u64 * KEPT), threads: how.threads };
    let done = AtomicU64::new(0);
    let look =
        |steps: u64| progress(done.fetch_add(steps, Ordering::Relaxed).saturating_add(steps).min(all), all);
    for stretch in stretches {
        let rows = forward.rows(&stretch, &lengths)?;
        let first = u32::try_from(stretch.start).unwrap_or(u32::MAX);
        let (found, bits) = bisect::order(&rows, &how, &look)?;
        order.extend(found.into_iter().map(|doc| first + doc));
        saved += bits / 8;
    }
    Ok((order, saved))
}

/// Cuts the documents into stretches that can each be ordered within `memory` bytes.
fn cut(lengths: &[u32], memory: u64) -> Vec<Range<usize>> {
    let memory = memory.saturating_sub(lengths.len() as u64 * KEPT);
    let (mut stretches, mut start, mut postings) = (Vec::new(), 0, 0u64);
    for (doc, &len) in lengths.iter().enumerate() {
        let with = postings + u64::from(len);
        if doc > start && bisect::memory((doc + 1 - start) as u64, with) > memory {
            stretches.push(start..doc);
            (start, postings) = (doc, u64::from(len));
        } else {
            postings = with;
        }
    }
    stretches.push(start..lengths.len());
    stretches
}

/// Reads the terms of documents.
struct Forward<'a> {
    sources: &'a [Segment],
    documents: &'a [Renumbering],
    /// Number of documents that survive.
    count: usize,
    progress: OrderProgress<'a>,
}

impl Forward<'_> {
    /// The number of terms of each document that are not ignored.
    fn lengths(&self) -> Result<Vec<u32>> {
        let mut lengths = vec![0u32; self.count];
        self.each(|_, doc| {
            if let Some(len) = lengths.get_mut(doc as usize) {
                *len = len.saturating_add(1);
            }
        })?;
        Ok(lengths)
    }

    /// The rows of a stretch of documents, whose lengths are known.
    fn rows(&self, stretch: &Range<usize>, lengths: &[u32]) -> Result<Rows> {
        let lengths = lengths.get(stretch.clone()).unwrap_or_default();
        let mut starts = Vec::with_capacity(lengths.len() + 1);
        let mut sum = 0;
        starts.push(0);
        for &len in lengths {
            sum += len as usize;
            starts.push(sum);
        }
        let mut terms = vec![0; sum];
        // Where the next term of each document goes. In the end, this is where the following row begins.
        let mut next = starts.clone();
        let packed = self.each(|term, doc| {
            let Some(next) = (doc as usize).checked_sub(stretch.start).and_then(|row| next.get_mut(row))
            else {
                return;
            };
            if let Some(slot) = terms.get_mut(*next) {
                *slot = term;
                *next += 1;
            }
        })?;
        Ok(Rows { starts, terms, packed })
    }

    /// Calls `visit` with the number of each term that is not ignored, and each survivor that contains it.
    /// Returns by term whether its list is packed in blocks.
    fn each(&self, mut visit: impl FnMut(u32, u32)) -> Result<Vec<bool>> {
        let of_sources = self.sources.iter().flat_map(|source| &source.stats().fields);
        let mut fields: Vec<_> = of_sources.map(|stats| stats.field).collect();
        fields.sort_unstable();
        fields.dedup();
        let (mut distinct, mut packed) = (0u32, Vec::new());
        for field in fields {
            let views: Vec<Segment> = self.sources.iter().map(|source| source.in_field(field)).collect();
            let mut terms = MergedTerms::new(&views, self.documents, &[], None)?;
            let mut seen = 0;
            while terms.step()? {
                seen += 1;
                if seen % LOOK_EVERY == 0 {
                    (self.progress)(0, 0)?;
                }
                if terms.doc_freq() >= LEAST && distinct < u32::MAX - 1 {
                    terms.each_posting(|doc, _| visit(distinct, doc))?;
                    distinct += 1;
                    packed.push(terms.doc_freq() >= BLOCK as u64);
                }
            }
        }
        Ok(packed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_contain_all_documents_and_fit_the_memory() {
        let lengths = [5u32, 80_000, 0, 0, 7, 70_000, 70_000, 1];
        assert!(matches!(cut(&lengths, 64 << 20).as_slice(), [whole] if *whole == (0..8)));
        let stretches = cut(&lengths, 1 << 20);
        assert_eq!(stretches.first().map(|stretch| stretch.start), Some(0));
        assert_eq!(stretches.last().map(|stretch| stretch.end), Some(8));
        assert!(stretches.windows(2).all(|pair| pair[0].end == pair[1].start));
        for stretch in &stretches {
            let postings: u64 = lengths[stretch.clone()].iter().map(|&len| u64::from(len)).sum();
            assert!(bisect::memory(stretch.len() as u64, postings) <= 1 << 20, "{stretch:?}");
        }
        assert!(matches!(cut(&[], 1).as_slice(), [whole] if whole.is_empty()));
    }
}
