//! Which terms the documents of several segments have, as rows for `bisect.rs`, and the order that comes of them.
//!
//! Terms of all fields count but those in very few documents, whose gaps take a byte or two wherever documents stand.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::bisect::{self, Rows};
use super::{Reordering, Telling};
use crate::codec::BLOCK;
use crate::error::{Error, Result};
use crate::segment::merge::Renumbering;
use crate::segment::merge::terms::MergedTerms;
use crate::segment::reader::Segment;

/// Terms in fewer documents do not count.
const LEAST: u64 = 4;

/// Bytes that are kept for each document whichever are put in order: how many terms it has, and its place.
const KEPT: u64 = 8;

/// Terms between two looks at whether to go on.
const LOOK_EVERY: u64 = 1 << 12;

/// The survivors of `sources`, which `documents` numbers in their order, in an order of similarity, and the bytes that lists
/// take less in it.
pub(super) fn similar_together(
    sources: &[Segment],
    documents: &[Renumbering],
    how: &Reordering,
    tell: Telling<'_>,
) -> Result<(Vec<u32>, u64)> {
    let count = documents.last().map_or(0, |numbers| numbers.end() as usize);
    let least = bisect::memory(count as u64, 0).saturating_add(count as u64 * KEPT);
    if how.memory < least {
        return Err(Error::Options(format!(
            "{} MiB of memory are too little to reorder {count} documents: give at least --memory {}MiB",
            how.memory >> 20,
            (least >> 20) + 1
        )));
    }
    let forward = Forward { sources, documents, count, tell };
    let lengths = forward.lengths()?;
    let (mut order, mut saved) = (Vec::with_capacity(count), 0);
    let parts = cut(&lengths, how.memory);
    let all: u64 = parts.iter().map(|part| bisect::steps(part.len())).sum();
    let how = Reordering { memory: how.memory.saturating_sub(count as u64 * KEPT), threads: how.threads };
    let done = AtomicU64::new(0);
    let look =
        |steps: u64| tell(done.fetch_add(steps, Ordering::Relaxed).saturating_add(steps).min(all), all);
    for part in parts {
        let rows = forward.rows(&part, &lengths)?;
        let first = u32::try_from(part.start).unwrap_or(u32::MAX);
        let (found, bits) = bisect::order(&rows, &how, &look)?;
        order.extend(found.into_iter().map(|doc| first + doc));
        saved += bits / 8;
    }
    Ok((order, saved))
}

/// Cuts documents in stretches of which each can be put in order within `memory` bytes.
fn cut(lengths: &[u32], memory: u64) -> Vec<Range<usize>> {
    let memory = memory.saturating_sub(lengths.len() as u64 * KEPT);
    let (mut parts, mut start, mut postings) = (Vec::new(), 0, 0u64);
    for (doc, &len) in lengths.iter().enumerate() {
        let with = postings + u64::from(len);
        if doc > start && bisect::memory((doc + 1 - start) as u64, with) > memory {
            parts.push(start..doc);
            (start, postings) = (doc, u64::from(len));
        } else {
            postings = with;
        }
    }
    parts.push(start..lengths.len());
    parts
}

struct Forward<'a> {
    sources: &'a [Segment],
    documents: &'a [Renumbering],
    /// Documents that survive.
    count: usize,
    tell: Telling<'a>,
}

impl Forward<'_> {
    /// By document how many terms of it count.
    fn lengths(&self) -> Result<Vec<u32>> {
        let mut lengths = vec![0u32; self.count];
        self.each(|_, doc| {
            if let Some(len) = lengths.get_mut(doc as usize) {
                *len = len.saturating_add(1);
            }
        })?;
        Ok(lengths)
    }

    /// The rows of some documents, whose lengths are known.
    fn rows(&self, part: &Range<usize>, lengths: &[u32]) -> Result<Rows> {
        let lengths = lengths.get(part.clone()).unwrap_or_default();
        let mut starts = Vec::with_capacity(lengths.len() + 1);
        let mut sum = 0;
        starts.push(0);
        for &len in lengths {
            sum += len as usize;
            starts.push(sum);
        }
        let mut terms = vec![0; sum];
        // Where the next term of each document goes; in the end where the row after it begins.
        let mut next = starts.clone();
        let packed = self.each(|term, doc| {
            let Some(next) = (doc as usize).checked_sub(part.start).and_then(|row| next.get_mut(row)) else {
                return;
            };
            if let Some(slot) = terms.get_mut(*next) {
                *slot = term;
                *next += 1;
            }
        })?;
        Ok(Rows { starts, terms, packed })
    }

    /// Calls `visit` with the number of each term that counts and each survivor that has it; returns by term whether its
    /// list is packed in blocks.
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
                    (self.tell)(0, 0)?;
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
    fn stretches_hold_all_documents_and_fit_the_memory() {
        let lengths = [5u32, 80_000, 0, 0, 7, 70_000, 70_000, 1];
        assert!(matches!(cut(&lengths, 64 << 20).as_slice(), [whole] if *whole == (0..8)));
        let parts = cut(&lengths, 1 << 20);
        assert_eq!(parts.first().map(|part| part.start), Some(0));
        assert_eq!(parts.last().map(|part| part.end), Some(8));
        assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
        for part in &parts {
            let postings: u64 = lengths[part.clone()].iter().map(|&len| u64::from(len)).sum();
            assert!(bisect::memory(part.len() as u64, postings) <= 1 << 20, "{part:?}");
        }
        assert!(matches!(cut(&[], 1).as_slice(), [whole] if whole.is_empty()));
    }
}
