//! Documents that contain any of several terms, all of them: term at a time over windows of documents.

use std::ops::ControlFlow;

use super::run::{Clause, Sink, View, count_below, postings};
use super::similarity::{Similarity, narrow, score_all};
use super::windows::MAX_SHIFT;
use crate::codec::{BLOCK, NO_MORE};

/// Documents in a window.
const WINDOW: u32 = 1 << MAX_SHIFT;

/// Slots that are looked at together, as a power of two.
const CHUNK_SHIFT: u32 = 6;

/// Slots that are looked at together.
const CHUNK: usize = 1 << CHUNK_SHIFT;

/// The sum of a document that no clause has touched. Adding any score, 0 included, makes it positive.
pub(super) const UNTOUCHED: f64 = -0.0;

/// Sums of scores for the documents of a window.
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
    pub(super) fn add<S: Similarity>(
        &mut self,
        clause: &mut Clause,
        (start, end): (u32, u32),
        view: &View,
        similarity: &S,
    ) {
        let mut scores = [0.0; BLOCK];
        while clause.cursor.doc() < end {
            let (docs, tfs) = postings::<S>(&mut clause.cursor);
            let count = count_below(docs, end);
            let docs = &docs[..count];
            score_all(similarity, clause.weight, view.norms, (docs, tfs), &mut scores[..count]);
            for (&doc, &score) in docs.iter().zip(&scores) {
                let slot = (doc.wrapping_sub(start) % WINDOW) as usize;
                self.sums[slot] += f64::from(score);
                self.chunks |= 1 << (slot / CHUNK);
            }
            clause.cursor.consume(count);
        }
    }

    /// Calls `each` with every touched slot of a chunk at a time, in order, and clears them.
    pub(super) fn drain(&mut self, mut each: impl FnMut(u32, &[f64]) -> ControlFlow<()>) -> ControlFlow<()> {
        while self.chunks != 0 {
            let chunk = self.chunks.trailing_zeros();
            self.chunks &= self.chunks - 1;
            let sums = &mut self.sums[chunk as usize * CHUNK..(chunk as usize + 1) * CHUNK];
            each(chunk << CHUNK_SHIFT, sums)?;
            sums.fill(UNTOUCHED);
        }
        ControlFlow::Continue(())
    }
}

/// Every document that any clause has, in order.
pub(super) fn all<S: Similarity>(
    clauses: &mut [Clause],
    view: &View,
    similarity: &S,
    sink: &mut Sink,
) -> ControlFlow<()> {
    let mut sums = Accumulators::new();
    let (mut docs, mut scores) = ([0; CHUNK], [0.0; CHUNK]);
    loop {
        let next = clauses.iter().map(|clause| clause.cursor.doc()).min().unwrap_or(NO_MORE);
        if next == NO_MORE {
            return ControlFlow::Continue(());
        }
        let start = next - next % WINDOW;
        for clause in clauses.iter_mut() {
            sums.add(clause, (start, start.saturating_add(WINDOW)), view, similarity);
        }
        sums.drain(|first, sums| {
            let mut count = 0;
            for (doc, &sum) in (start + first..).zip(sums) {
                (docs[count % CHUNK], scores[count % CHUNK]) = (doc, narrow(sum));
                count += usize::from(sum.is_sign_positive());
            }
            sink(&docs[..count], &scores[..count])
        })?;
    }
}
