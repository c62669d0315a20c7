//! The scores of several documents, as far as a join needs them.

use crate::query::JoinScore;
use crate::search::similarity::narrow;

/// Scores of documents inside a join that have a value in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    sum: f64,
    count: u64,
    most: f32,
    least: f32,
}

impl Tally {
    /// No scores.
    pub(crate) const NOTHING: Tally =
        Tally { sum: 0.0, count: 0, most: f32::NEG_INFINITY, least: f32::INFINITY };

    /// Adds the score of a document.
    pub(crate) fn add(&mut self, score: f32) {
        self.merge(Tally { sum: f64::from(score), count: 1, most: score, least: score });
    }

    /// Adds the scores of another tally.
    pub(crate) fn merge(&mut self, other: Tally) {
        self.sum += other.sum;
        self.count += other.count;
        self.most = self.most.max(other.most);
        self.least = self.least.min(other.least);
    }

    /// The score of a document with these scores, of which there is at least one.
    pub(crate) fn score(self, by: JoinScore) -> f32 {
        match by {
            JoinScore::None => 1.0,
            JoinScore::Max => self.most,
            JoinScore::Sum => narrow(self.sum),
            JoinScore::Mean => narrow(self.sum / self.count.max(1) as f64),
            JoinScore::Min => self.least,
        }
    }
}
