//! The sums of the scores of a batch of documents.

use crate::codec::BLOCK;
use crate::search::similarity::narrow_all;
use crate::sys::in_wide_vectors;

/// Sums for up to a block of documents. They are of 64 bits, add up in the order of the query, and are
/// rounded once, as Lucene does it.
pub(crate) struct BatchSums {
    sums: [f64; BLOCK],
    scores: [f32; BLOCK],
}

impl BatchSums {
    pub(crate) fn new() -> Self {
        BatchSums { sums: [0.0; BLOCK], scores: [0.0; BLOCK] }
    }

    /// Adds the scores of a clause that all `count` documents contain; `score` computes them.
    #[inline]
    pub(crate) fn add(&mut self, count: usize, score: impl FnOnce(&mut [f32])) {
        let (sums, scores) = (&mut self.sums[..count], &mut self.scores[..count]);
        score(scores);
        add_all(sums, scores);
    }

    /// Adds the scores of a clause in the documents with a frequency. Some models give a score for a
    /// frequency of 0.
    #[inline]
    pub(crate) fn add_present(&mut self, tfs: &[u32], score: impl FnOnce(&mut [f32])) {
        let scores = &mut self.scores[..tfs.len()];
        score(scores);
        for (score, &tf) in scores.iter_mut().zip(tfs) {
            *score = if tf > 0 { *score } else { 0.0 };
        }
        add_all(&mut self.sums[..tfs.len()], scores);
    }

    /// Returns the rounded sums of the first `count` documents, and clears them.
    #[inline]
    pub(crate) fn take(&mut self, count: usize) -> &mut [f32] {
        let (sums, scores) = (&mut self.sums[..count], &mut self.scores[..count]);
        narrow_all(sums, scores);
        sums.fill(0.0);
        scores
    }
}

#[inline]
fn add_all(sums: &mut [f64], scores: &[f32]) {
    in_wide_vectors(
        #[inline(always)]
        move || sums.iter_mut().zip(scores).for_each(|(sum, &score)| *sum += f64::from(score)),
    );
}
