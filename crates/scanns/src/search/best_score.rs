//! The score of a document by the best of several clauses.

use crate::search::similarity::narrow;

/// The highest of several scores, plus a share of the others, added up as Lucene's `DisjunctionMaxScorer`
/// does.
pub(crate) struct BestScore {
    best: f32,
    others: f64,
}

impl BestScore {
    /// Of no scores yet: 0.
    pub(crate) fn new() -> Self {
        BestScore { best: 0.0, others: 0.0 }
    }

    /// Adds the score of a clause that matches.
    #[inline]
    pub(crate) fn add(&mut self, score: f32) {
        let other = if score > self.best { std::mem::replace(&mut self.best, score) } else { score };
        self.others += f64::from(other);
    }

    /// The score, if those that are not the highest count times `tie`.
    #[inline]
    pub(crate) fn value(&self, tie: f32) -> f32 {
        narrow(f64::from(self.best) + self.others * f64::from(tie))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(scores: &[f32], tie: f32) -> f32 {
        let mut best = BestScore::new();
        scores.iter().for_each(|score| best.add(*score));
        best.value(tie)
    }

    #[test]
    fn the_best_score_counts_in_full_and_the_others_in_part() {
        assert_eq!(of(&[], 0.5), 0.0);
        for scores in [[1.0, 4.0, 2.0], [4.0, 2.0, 1.0], [2.0, 1.0, 4.0]] {
            assert_eq!(of(&scores, 0.0), 4.0);
            assert_eq!(of(&scores, 0.5), 5.5);
            assert_eq!(of(&scores, 1.0), 7.0);
        }
    }
}
