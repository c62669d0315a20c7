//! Sums of scores per document of a window, added up term at a time.

use std::ops::ControlFlow;

use super::run::{Clause, View, count_below};
use super::similarity::Similarity;
use super::windows::MAX_SHIFT;
use crate::codec::BLOCK;

/// Documents in a window.
pub(super) const WINDOW: u32 = 1 << MAX_SHIFT;

/// Documents of a window that are looked at together, as a power of two: one per bit of a word.
const CHUNK_SHIFT: u32 = 6;

/// Documents of a window that are looked at together.
const CHUNK: usize = 1 << CHUNK_SHIFT;

/// The sum of a document that no clause has touched. Adding any score, 0 included, makes it positive.
const UNTOUCHED: f64 = -0.0;

/// Where hits are a smaller part of all documents than one in so many, each is marked by a bit.
const SPARSE: u64 = 6;

/// The sums of a window.
pub(super) struct Accumulators {
    sums: Box<[f64; WINDOW as usize]>,
    /// A bit per chunk: it may hold touched sums.
    chunks: u64,
    /// A bit per document that is touched; not kept where there are so many that looking at all is cheaper
    /// than the chain of dependent writes to the same word.
    touched: Option<Box<[u64; WINDOW as usize / CHUNK]>>,
}

impl Accumulators {
    pub(super) fn new<S>(clauses: &[Clause<S>], view: &View) -> Self {
        let postings: u64 = clauses.iter().map(|clause| u64::from(clause.cursor.doc_freq())).sum();
        let sparse = postings * SPARSE < u64::from(view.max_doc);
        Accumulators {
            sums: Box::new([UNTOUCHED; WINDOW as usize]),
            chunks: 0,
            touched: sparse.then(|| Box::new([0; WINDOW as usize / CHUNK])),
        }
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
        let (sums, mut chunks) = (&mut *self.sums, self.chunks);
        for (&doc, &score) in docs.iter().zip(scores) {
            sums[slot(doc)] += f64::from(score);
            chunks |= 1 << (slot(doc) / CHUNK);
        }
        self.chunks = chunks;
        if let Some(touched) = &mut self.touched {
            for &doc in docs {
                touched[slot(doc) / CHUNK] |= 1 << (slot(doc) % CHUNK);
            }
        }
    }

    /// Calls `each` with the documents that are touched and their sums as `value` has them, a chunk at a time
    /// and in order, and clears them.
    #[inline]
    pub(super) fn drain<T: Copy + Default>(
        &mut self,
        start: u32,
        value: impl Fn(f64) -> T,
        mut each: impl FnMut(&[u32], &[T]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (mut docs, mut found) = ([0; CHUNK], [T::default(); CHUNK]);
        while self.chunks != 0 {
            let first = start + (self.chunks.trailing_zeros() << CHUNK_SHIFT);
            let chunk = self.chunks.trailing_zeros() as usize;
            self.chunks &= self.chunks - 1;
            let sums = &mut self.sums[chunk * CHUNK..(chunk + 1) * CHUNK];
            let mut count = 0;
            if let Some(touched) = &mut self.touched {
                let mut bits = std::mem::take(&mut touched[chunk]);
                while bits != 0 {
                    let slot = bits.trailing_zeros();
                    bits &= bits - 1;
                    let sum = std::mem::replace(&mut sums[slot as usize], UNTOUCHED);
                    (docs[count % CHUNK], found[count % CHUNK]) = (first + slot, value(sum));
                    count += 1;
                }
            } else {
                for (doc, &sum) in (first..).zip(&*sums) {
                    (docs[count % CHUNK], found[count % CHUNK]) = (doc, value(sum));
                    count += usize::from(sum.is_sign_positive());
                }
                sums.fill(UNTOUCHED);
            }
            each(&docs[..count], &found[..count])?;
        }
        ControlFlow::Continue(())
    }
}
