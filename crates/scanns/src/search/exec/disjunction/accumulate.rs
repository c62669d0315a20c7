//! The sums of the scores of the documents of a window, one term at a time.

use std::cell::Cell;
use std::ops::ControlFlow;

use crate::codec::{BLOCK, CHUNK, Drained, UNTOUCHED, count_below};
use crate::search::exec::bound_terms::Clause;
use crate::search::exec::windows::MAX_SHIFT;
use crate::search::similarity::{PostingsSlice, Similarity};

/// Documents in a window.
pub(crate) const WINDOW: u32 = 1 << MAX_SHIFT;

/// A chunk of sums has a bit of a word.
const CHUNK_SHIFT: u32 = CHUNK.trailing_zeros();

const _: () = assert!(WINDOW as usize == CHUNK * u64::BITS as usize);

type Sums = [f64; WINDOW as usize];

thread_local! {
    /// Sums that the last search of this thread has left, all untouched.
    static SPARE: Cell<Option<Box<Sums>>> = const { Cell::new(None) };
}

/// The sums of a window.
pub(crate) struct Accumulators {
    /// `None` only when it is dropped.
    sums: Option<Box<Sums>>,
    /// A bit per chunk that may contain touched sums.
    chunks: u64,
}

impl Drop for Accumulators {
    fn drop(&mut self) {
        if self.chunks == 0 {
            // The thread may be about to end; then they are dropped.
            let _ = SPARE.try_with(|spare| spare.set(self.sums.take()));
        }
    }
}

impl Accumulators {
    pub(crate) fn new() -> Self {
        let spare = SPARE.try_with(Cell::take).ok().flatten();
        let sums = spare.unwrap_or_else(|| Box::new([UNTOUCHED; WINDOW as usize]));
        Accumulators { sums: Some(sums), chunks: 0 }
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
        let Some(sums) = &mut self.sums else { return };
        for (&doc, &score) in docs.iter().zip(scores) {
            sums[slot(doc)] += f64::from(score);
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
        let mut drained = Drained::default();
        let Some(sums) = &mut self.sums else { return ControlFlow::Continue(()) };
        while self.chunks != 0 {
            let chunk = self.chunks.trailing_zeros();
            self.chunks &= self.chunks - 1;
            let Some(sums) = sums.as_chunks_mut::<CHUNK>().0.get_mut(chunk as usize) else { break };
            drained.take(sums, start + (chunk << CHUNK_SHIFT), least);
            each(drained.docs(), drained.sums())?;
        }
        ControlFlow::Continue(())
    }
}
