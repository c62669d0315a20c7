//! The best hits so far, and what it takes to become one of them.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A document that matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// How well; higher is better.
    pub score: f32,
    /// Which leaf of the searcher the document is in.
    pub leaf: usize,
    /// Its number there.
    pub doc: u32,
}

/// Orders hits so that the greatest is the worst: the lowest score, of equal ones the last in document order.
struct Worst(Hit);

impl Worst {
    #[inline]
    fn order(left: &Hit, right: &Hit) -> Ordering {
        right.score.total_cmp(&left.score).then_with(|| (left.leaf, left.doc).cmp(&(right.leaf, right.doc)))
    }
}

impl Ord for Worst {
    fn cmp(&self, other: &Self) -> Ordering {
        Worst::order(&self.0, &other.0)
    }
}

impl PartialOrd for Worst {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Worst {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Worst {}

/// Keeps the best `k` hits, whatever the order in which they come.
pub(super) struct TopK {
    k: usize,
    heap: BinaryHeap<Worst>,
    leaf: usize,
    threshold: f32,
    /// Only hits that come after this one are wanted. Better ones are turned away at the door: they raise no threshold.
    after: Option<Hit>,
}

impl TopK {
    pub(super) fn new(k: usize) -> Self {
        TopK { k, heap: BinaryHeap::new(), leaf: 0, threshold: f32::NEG_INFINITY, after: None }
    }

    /// The best hits that come after another one.
    pub(super) fn after(k: usize, after: Hit) -> Self {
        TopK { after: Some(after), ..TopK::new(k) }
    }

    /// How many hits are kept at most.
    pub(super) fn k(&self) -> usize {
        self.k
    }

    /// Says which leaf the documents that follow are in.
    pub(super) fn set_leaf(&mut self, leaf: usize) {
        self.leaf = leaf;
    }

    /// Scores below this cannot become hits; scores equal to it may, see [`TopK::admits`].
    #[inline]
    pub(super) fn threshold(&self) -> f32 {
        self.threshold
    }

    /// True if some document from `first` on with a score of at most `bound` could still become a hit.
    #[inline]
    pub(super) fn admits(&self, bound: f32, first: u32) -> bool {
        if bound != self.threshold {
            return bound > self.threshold;
        }
        match self.heap.peek() {
            Some(Worst(worst)) => (self.leaf, first) < (worst.leaf, worst.doc),
            None => true,
        }
    }

    #[inline]
    pub(super) fn push(&mut self, doc: u32, score: f32) {
        if self.admits(score, doc) {
            let hit = Hit { score, leaf: self.leaf, doc };
            if self.after.is_none_or(|after| Worst::order(&hit, &after) == Ordering::Greater) {
                self.insert(hit);
            }
        }
    }

    #[inline(never)]
    fn insert(&mut self, hit: Hit) {
        if self.heap.len() < self.k {
            self.heap.push(Worst(hit));
        } else if let Some(mut worst) = self.heap.peek_mut() {
            *worst = Worst(hit);
        }
        if self.heap.len() == self.k {
            self.threshold = self.heap.peek().map_or(f32::NEG_INFINITY, |worst| worst.0.score);
        }
    }

    /// The hits, best first.
    pub(super) fn into_hits(self) -> Vec<Hit> {
        let mut hits: Vec<Hit> = self.heap.into_iter().map(|worst| worst.0).collect();
        hits.sort_unstable_by(Worst::order);
        hits
    }
}
