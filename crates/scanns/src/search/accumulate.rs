//! Sums of scores per document of a window, added up term at a time.

use std::ops::ControlFlow;

use super::run::{Clause, count_below};
use super::similarity::Similarity;
use super::windows::MAX_SHIFT;
use crate::codec::{BLOCK, SLACK, list, select};
use crate::sys::in_wide_vectors;

/// Documents in a window.
pub(super) const WINDOW: u32 = 1 << MAX_SHIFT;

/// Documents of a window that are looked at together, as a power of two: one per bit of a word.
const CHUNK_SHIFT: u32 = 6;

/// Documents of a window that are looked at together.
pub(super) const CHUNK: usize = 1 << CHUNK_SHIFT;

/// The sum of a document that no clause has touched. Adding any score, 0 included, makes it positive.
const UNTOUCHED: f64 = -0.0;

/// The sums of a window.
pub(super) struct Accumulators {
    sums: Box<[f64; WINDOW as usize]>,
    /// A bit per chunk: it may hold touched sums.
    chunks: u64,
}

impl Accumulators {
    pub(super) fn new() -> Self {
        Accumulators { sums: Box::new([UNTOUCHED; WINDOW as usize]), chunks: 0 }
    }

    /// Adds the scores of `clause` for the documents from `start`, where its cursor is not beyond, up to `end`.
    pub(super) fn add<S: Similarity>(&mut self, clause: &mut Clause<S>, (start, end): (u32, u32)) {
        let mut scores = [0.0; BLOCK];
        while clause.cursor.doc() < end {
            let (docs, tfs) = clause.cursor.rest_of_block();
            let count = count_below(docs, end);
            let docs = &docs[..count];
            clause.scorer.score_all((docs, tfs), &mut scores[..count]);
            self.add_scores(docs, &scores, start);
            clause.cursor.consume(count);
        }
    }

    #[inline]
    fn add_scores(&mut self, docs: &[u32], scores: &[f32], start: u32) {
        let slot = |doc: u32| (doc.wrapping_sub(start) % WINDOW) as usize;
        let (Some(&first), Some(&last)) = (docs.first(), docs.last()) else { return };
        // Of a block that is worth a visit few chunks in between are empty.
        let (first, last) = (slot(first) / CHUNK, slot(last) / CHUNK);
        self.chunks |= u64::MAX << first & u64::MAX >> (CHUNK - 1).saturating_sub(last);
        for (&doc, &score) in docs.iter().zip(scores) {
            self.sums[slot(doc)] += f64::from(score);
        }
    }

    /// Calls `each` with the documents that have a sum, and one of at least `least`, and these sums, a chunk at a time and
    /// in order, and clears them.
    #[inline]
    pub(super) fn drain(
        &mut self,
        start: u32,
        least: f64,
        mut each: impl FnMut(&[u32], &[f64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (mut docs, mut found) = ([0; CHUNK + SLACK], [0.0; CHUNK + SLACK]);
        while self.chunks != 0 {
            let chunk = self.chunks.trailing_zeros();
            let first = start + (chunk << CHUNK_SHIFT);
            self.chunks &= self.chunks - 1;
            let Some(sums) = self.sums.as_chunks_mut::<CHUNK>().0.get_mut(chunk as usize) else { break };
            let bits = wanted(sums, least);
            let count = select(bits, sums, &mut found);
            list(std::iter::once(bits), first, &mut docs);
            sums.fill(UNTOUCHED);
            each(&docs[..count], &found[..count])?;
        }
        ControlFlow::Continue(())
    }
}

/// A bit for each sum that something was added to and that is at least `least`.
#[inline]
fn wanted(sums: &[f64; CHUNK], least: f64) -> u64 {
    let mut bits = 0;
    in_wide_vectors(
        #[inline(always)]
        || {
            for (sum, bit) in sums.iter().zip(0..) {
                bits |= u64::from(sum.is_sign_positive() && *sum >= least) << bit;
            }
        },
    );
    bits
}
