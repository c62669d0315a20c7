//! Documents of a window that could become hits, with what they have so far, side by side in arrays.
//!
//! Which ones can still compete is as good as random, so they are sorted out without branches, see `codec/pick.rs`.

use super::join::Joiner;
use super::run::Clause;
use super::similarity::Similarity;
use crate::codec::{BLOCK, retain};

/// Documents in order, none twice, and their sums.
#[derive(Default)]
pub(super) struct Contenders {
    docs: Vec<u32>,
    sums: Vec<f64>,
    joiner: Joiner,
}

impl Contenders {
    pub(super) fn clear(&mut self) {
        self.docs.clear();
        self.sums.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.docs.len()
    }

    /// The first document.
    pub(super) fn first(&self) -> Option<u32> {
        self.docs.first().copied()
    }

    /// The one at a place, with its sum.
    #[inline]
    pub(super) fn at(&self, place: usize) -> (u32, f64) {
        (self.docs[place], self.sums[place])
    }

    /// The documents with their sums.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut f64)> {
        self.docs.iter().copied().zip(&mut self.sums)
    }

    /// Adds documents, which come after all others, with their sums.
    pub(super) fn extend(&mut self, docs: &[u32], sums: &[f64]) {
        self.docs.extend_from_slice(docs);
        self.sums.extend_from_slice(sums);
    }

    /// The same for those whose score is at least `least`.
    pub(super) fn extend_at_least(&mut self, docs: &[u32], scores: &[f32], least: f64) {
        let before = self.docs.len();
        self.docs.extend_from_slice(docs);
        self.sums.extend(scores.iter().take(docs.len()).map(|&score| f64::from(score)));
        let kept = retain(&mut self.docs[before..], &mut self.sums[before..], least);
        self.truncate(before + kept);
    }

    /// Leaves those whose sum is at least `least`.
    pub(super) fn retain(&mut self, least: f64) {
        let kept = retain(&mut self.docs, &mut self.sums, least);
        self.truncate(kept);
    }

    fn truncate(&mut self, len: usize) {
        self.docs.truncate(len);
        self.sums.truncate(len);
    }

    /// Adds what a clause has for them in one pass over its postings from where it is; all are in the window.
    pub(super) fn join<S: Similarity>(&mut self, clause: &mut Clause<S>, window: (u32, u32)) {
        let (mut docs, mut scores) = ([0; BLOCK], [0.0; BLOCK]);
        self.joiner.join(&self.docs, clause, window, |picked, clause| {
            let places = picked.places();
            let (docs, scores) = (&mut docs[..places.len()], &mut scores[..places.len()]);
            for (doc, &place) in docs.iter_mut().zip(places) {
                *doc = self.docs[place as usize];
            }
            clause.scorer.score_all((docs, picked.tfs()), scores);
            for (&place, &score) in places.iter().zip(&*scores) {
                self.sums[place as usize] += f64::from(score);
            }
        });
    }
}
