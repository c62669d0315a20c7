//! Documents of a window that may become hits, with their sums so far, in parallel arrays.
//!
//! Which of them can still compete is close to random, so they are filtered without branches, see
//! `codec/pick.rs`.

use std::ops::Range;

use crate::codec::{BLOCK, retain};
use crate::search::exec::bound_terms::Clause;
use crate::search::exec::join::ListJoiner;
use crate::search::similarity::{PostingsSlice, Similarity};
use crate::segment::has_bit;

/// Ascending documents and their sums.
#[derive(Default)]
pub(crate) struct ScoreCandidates {
    docs: Vec<u32>,
    sums: Vec<f64>,
    joiner: ListJoiner,
}

impl ScoreCandidates {
    pub(crate) fn clear(&mut self) {
        self.docs.clear();
        self.sums.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.docs.len()
    }

    /// The first document.
    pub(crate) fn first(&self) -> Option<u32> {
        self.docs.first().copied()
    }

    /// The document at an index, with its sum.
    #[inline]
    pub(crate) fn at(&self, place: usize) -> (u32, f64) {
        (self.docs[place], self.sums[place])
    }

    /// The documents with their sums.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut f64)> {
        self.docs.iter().copied().zip(&mut self.sums)
    }

    /// Adds documents, which come after all others, with their sums.
    pub(crate) fn extend(&mut self, docs: &[u32], sums: &[f64]) {
        self.docs.extend_from_slice(docs);
        self.sums.extend_from_slice(sums);
    }

    /// Adds the documents whose score is at least `least`.
    pub(crate) fn extend_at_least(&mut self, docs: &[u32], scores: &[f32], least: f64) {
        let before = self.docs.len();
        self.docs.extend_from_slice(docs);
        self.sums.extend(scores.iter().take(docs.len()).map(|&score| f64::from(score)));
        let kept = retain(&mut self.docs[before..], &mut self.sums[before..], least);
        self.truncate(before + kept);
    }

    /// Keeps the documents whose sum is at least `least`.
    pub(crate) fn retain(&mut self, least: f64) {
        let kept = retain(&mut self.docs, &mut self.sums, least);
        self.truncate(kept);
    }

    /// Keeps the documents whose bits are set.
    pub(crate) fn retain_bits(&mut self, bits: &[u64]) {
        for (&doc, sum) in self.docs.iter().zip(&mut self.sums) {
            *sum = if has_bit(bits, doc) { *sum } else { f64::NEG_INFINITY };
        }
        self.retain(f64::MIN);
    }

    fn truncate(&mut self, len: usize) {
        self.docs.truncate(len);
        self.sums.truncate(len);
    }

    /// Adds the scores of a clause in one pass over its postings from the current one; all documents are in
    /// the window.
    pub(crate) fn join<S: Similarity>(&mut self, clause: &mut Clause<S>, window: &Range<u32>) {
        let (mut docs, mut scores) = ([0; BLOCK], [0.0; BLOCK]);
        self.joiner.join(&self.docs, clause, window.clone(), |picked, clause| {
            let places = picked.places();
            let (docs, scores) = (&mut docs[..places.len()], &mut scores[..places.len()]);
            for (doc, &place) in docs.iter_mut().zip(places) {
                *doc = self.docs[place as usize];
            }
            clause.scorer.score_all(PostingsSlice { docs, tfs: picked.tfs() }, scores);
            for (&place, &score) in places.iter().zip(&*scores) {
                self.sums[place as usize] += f64::from(score);
            }
        });
    }
}
