//! The sums of the scores of the documents of a window, one term at a time.

use std::ops::ControlFlow;

use crate::codec::{BLOCK, SLACK, list, select};
use crate::search::exec::bound_terms::Clause;
use crate::search::exec::view::count_below;
use crate::search::exec::windows::MAX_SHIFT;
use crate::search::similarity::{PostingsSlice, Similarity};
use crate::sys::in_wide_vectors;

/// Documents in a window.
pub(crate) const WINDOW: u32 = 1 << MAX_SHIFT;

/// Documents that are read out together, as a power of two: one per bit of a word.
const CHUNK_SHIFT: u32 = 6;

/// Documents that are read out together.
pub(crate) const CHUNK: usize = 1 << CHUNK_SHIFT;

/// The sum of a document that no clause has touched. Adding any score, even 0, makes it positive.
const UNTOUCHED: f64 = -0.0;

/// The sums of a window.
pub(crate) struct Accumulators {
    sums: Box<[f64; WINDOW as usize]>,
    /// A bit per chunk that may contain touched sums.
    chunks: u64,
}

impl Accumulators {
    pub(crate) fn new() -> Self {
        Accumulators { sums: Box::new([UNTOUCHED; WINDOW as usize]), chunks: 0 }
    }

    /// Adds the scores of `clause` for the documents from `start` to before `end`; its cursor is not before
    /// `start`.
    pub(crate) fn add<S: Similarity>(&mut self, clause: &mut Clause<S>, start: u32, end: u32) {
        let mut scores = [0.0; BLOCK];
        while clause.cursor.doc() < end {
            let (docs, tfs) = clause.cursor.rest_of_block();
            let count = count_below(docs, end);
            let docs = &docs[..count];
            clause.scorer.score_all(PostingsSlice { docs, tfs }, &mut scores[..count]);
            self.add_scores(docs, &scores, start);
            clause.cursor.consume(count);
        }
    }

    #[inline]
    fn add_scores(&mut self, docs: &[u32], scores: &[f32], start: u32) {
        let slot = |doc: u32| (doc.wrapping_sub(start) % WINDOW) as usize;
        let (Some(&first), Some(&last)) = (docs.first(), docs.last()) else { return };
        // Few chunks between the first and the last document of a useful block are empty.
        let (first, last) = (slot(first) / CHUNK, slot(last) / CHUNK);
        self.chunks |= u64::MAX << first & u64::MAX >> (CHUNK - 1).saturating_sub(last);
        for (&doc, &score) in docs.iter().zip(scores) {
            self.sums[slot(doc)] += f64::from(score);
        }
    }

    /// Calls `each` with the documents whose sum is at least `least`, and their sums, one chunk at a time and
    /// in order, and clears all sums.
    #[inline]
    pub(crate) fn drain(
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

/// A bit for each touched sum that is at least `least`.
#[inline]
fn wanted(sums: &[f64; CHUNK], least: f64) -> u64 {
    in_wide_vectors(
        #[inline(always)]
        move || {
            let mut bits = 0;
            for (sum, bit) in sums.iter().zip(0..) {
                bits |= u64::from(sum.is_sign_positive() && *sum >= least) << bit;
            }
            bits
        },
    )
}
