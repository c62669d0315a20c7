//! The best hits so far, and the threshold for new ones.
//!
//! Several threads may search, each with its own best hits. As soon as one of them has `k` hits, no document
//! that comes after its worst hit can be among the best, so threads share this bound. It is a score and a
//! place in document order, so ties are treated exactly as by a single thread.

use serde::{Deserialize, Serialize};

use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, Ordering as Memory};

/// A document that matches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// The score; higher is better.
    pub score: f32,
    /// The number of the leaf in the searcher.
    pub leaf: usize,
    /// The number of the document in the leaf.
    pub doc: u32,
}

/// A hit as one number, so that hits are compared at once: the higher the number, the worse the hit. It has
/// the inverted score, the leaf and the document.
type Rank = u128;

fn rank(hit: &Hit) -> Rank {
    let leaf = u32::try_from(hit.leaf).unwrap_or(u32::MAX);
    Rank::from(!ordered(hit.score)) << 64 | Rank::from(leaf) << 32 | Rank::from(hit.doc)
}

#[expect(clippy::cast_possible_truncation, reason = "parts of 32 bits")]
fn hit_of(rank: Rank) -> Hit {
    let score = unordered(!((rank >> 64) as u32));
    Hit { score, leaf: (rank >> 32) as u32 as usize, doc: rank as u32 }
}

/// A heap has the threshold after each hit, and takes longer the more hits it has.
const MOST_IN_HEAP: usize = 32;

/// The best hits so far.
enum BestRanks {
    /// The best `k`.
    Heap(BinaryHeap<Rank>),
    /// The best `k` and others, in any order, for more hits. Once there are too many, the best are selected.
    Buffer { ranks: Vec<Rank>, room: usize },
}

impl BestRanks {
    fn new(k: usize) -> Self {
        if k <= MOST_IN_HEAP {
            return BestRanks::Heap(BinaryHeap::new());
        }
        let more = k.min(1 << 16).max(k / 4);
        BestRanks::Buffer { ranks: Vec::new(), room: k.saturating_add(more) }
    }

    /// Adds a hit that is better than the worst of the best `k`, as far as it is known. Returns the worst of
    /// them where it was found anew.
    fn insert(&mut self, rank: Rank, k: usize) -> Option<Rank> {
        match self {
            BestRanks::Heap(heap) => {
                if heap.len() < k {
                    heap.push(rank);
                } else if let Some(mut worst) = heap.peek_mut() {
                    *worst = rank;
                }
                heap.peek().copied().filter(|_| heap.len() == k)
            }
            BestRanks::Buffer { ranks, room } => {
                ranks.push(rank);
                if ranks.len() != k && ranks.len() < *room {
                    return None;
                }
                let (_, &mut worst, _) = ranks.select_nth_unstable(k.checked_sub(1)?);
                ranks.truncate(k);
                Some(worst)
            }
        }
    }

    fn into_ranks(self) -> Vec<Rank> {
        match self {
            BestRanks::Heap(heap) => heap.into_vec(),
            BestRanks::Buffer { ranks, .. } => ranks,
        }
    }
}

/// The best of the worst hits of all threads that have enough hits. It only rises.
pub(crate) struct SharedBound {
    /// The score in the upper half, the inverted place in the lower, so that better bounds are greater; 0
    /// before the first.
    bound: AtomicU64,
    /// By leaf: the number of documents before it.
    starts: Vec<u64>,
    /// How many low bits document numbers over all leaves lose to fit 32 bits.
    shift: u32,
}

impl SharedBound {
    /// For leaves with these numbers of documents.
    pub(crate) fn new(leaves: impl Iterator<Item = u32>) -> Self {
        let mut documents = 0u64;
        let starts = leaves.map(|max_doc| {
            let start = documents;
            documents += u64::from(max_doc);
            start
        });
        let starts = starts.collect();
        let bits = u64::BITS - documents.leading_zeros();
        SharedBound { bound: AtomicU64::new(0), starts, shift: bits.saturating_sub(u32::BITS) }
    }

    /// Shares the worst of `k` hits; returns the best bound known after that.
    fn tell(&self, worst: &Hit) -> u64 {
        let place = self.starts.get(worst.leaf).map_or(u64::MAX, |start| start + u64::from(worst.doc));
        let place = u32::try_from(place >> self.shift).unwrap_or(u32::MAX);
        let told = u64::from(ordered(worst.score)) << 32 | u64::from(!place);
        self.bound.fetch_max(told, Memory::Relaxed).max(told)
    }

    /// The score of a bound, and the leaf and document before which equal scores still count.
    fn read(&self, bound: u64) -> (f32, (usize, u32)) {
        #[expect(clippy::cast_possible_truncation, reason = "halves")]
        let (score, place) = (unordered((bound >> 32) as u32), !(bound as u32));
        // Places that differ only in lost bits count as not yet passed.
        let end = (u64::from(place) + u64::from(self.shift > 0)) << self.shift;
        let leaf = self.starts.partition_point(|&start| start <= end).saturating_sub(1);
        let doc = end.saturating_sub(self.starts.get(leaf).copied().unwrap_or(0));
        (score, (leaf, u32::try_from(doc).unwrap_or(u32::MAX)))
    }
}

/// Bits that compare as [`f32::total_cmp`] does.
fn ordered(score: f32) -> u32 {
    let bits = score.to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

/// The inverse of [`ordered`].
fn unordered(bits: u32) -> f32 {
    f32::from_bits(if bits >> 31 == 1 { bits ^ 1 << 31 } else { !bits })
}

/// Keeps the best `k` hits, which may come in any order.
pub(crate) struct TopK<'s> {
    k: usize,
    best: BestRanks,
    leaf: usize,
    threshold: f32,
    /// Scores equal to the threshold count before this leaf and document.
    tie: (usize, u32),
    /// Only hits that come after this one are wanted. Better ones are rejected first, so that they do not
    /// raise the threshold.
    after: Option<Rank>,
    /// The shared bound, and the value last read from it.
    shared: Option<&'s SharedBound>,
    known: u64,
    /// Lowers the scores of hits.
    lower: Option<&'s mut LowerScore<'s>>,
}

/// The score of a document, from a score that is not lower, and the threshold. Below the threshold, any score
/// that is not lower than the right one will do.
pub(crate) type LowerScore<'s> = dyn FnMut(u32, f32, f32) -> f32 + Send + 's;

impl<'s> TopK<'s> {
    pub(crate) fn new(k: usize) -> Self {
        TopK {
            k,
            best: BestRanks::new(k),
            leaf: 0,
            threshold: f32::NEG_INFINITY,
            tie: (usize::MAX, u32::MAX),
            after: None,
            shared: None,
            known: 0,
            lower: None,
        }
    }

    /// Runs a search for these hits whose scores `lower` then lowers.
    pub(crate) fn with_lower_scores<R>(
        &mut self,
        lower: &mut LowerScore,
        run: impl FnOnce(&mut TopK) -> R,
    ) -> R {
        let best = std::mem::replace(&mut self.best, BestRanks::new(0));
        let mut lowered = TopK { best, lower: Some(lower), ..*self };
        let result = run(&mut lowered);
        let TopK { best, threshold, tie, known, .. } = lowered;
        (self.best, self.threshold, self.tie, self.known) = (best, threshold, tie, known);
        result
    }

    /// Keeps only hits that come after `after`, if it is given.
    pub(crate) fn after(mut self, after: Option<Hit>) -> Self {
        self.after = after.as_ref().map(rank);
        self
    }

    /// Shares a bound with others over the same leaves.
    pub(crate) fn among(mut self, shared: Option<&'s SharedBound>) -> Self {
        self.shared = shared;
        self
    }

    /// The number of hits that are wanted.
    pub(crate) fn k(&self) -> usize {
        self.k
    }

    /// The leaf of the documents that follow.
    pub(crate) fn leaf(&self) -> usize {
        self.leaf
    }

    /// Sets the leaf of the documents that follow.
    pub(crate) fn set_leaf(&mut self, leaf: usize) {
        self.leaf = leaf;
    }

    /// Scores below this cannot become hits; equal scores may, see [`TopK::admits`].
    #[inline]
    pub(crate) fn threshold(&self) -> f32 {
        self.threshold
    }

    /// True if a document from `first` on with a score of at most `bound` could still become a hit.
    #[inline]
    pub(crate) fn admits(&self, bound: f32, first: u32) -> bool {
        if bound != self.threshold {
            return bound > self.threshold;
        }
        (self.leaf, first) < self.tie
    }

    /// The same, after reading what other threads have found.
    #[inline]
    pub(crate) fn admits_now(&mut self, bound: f32, first: u32) -> bool {
        self.look_around();
        self.admits(bound, first)
    }

    /// Reads what other threads have found.
    #[inline]
    pub(crate) fn look_around(&mut self) {
        if let Some(shared) = self.shared {
            self.learn(shared, shared.bound.load(Memory::Relaxed));
        }
    }

    fn learn(&mut self, shared: &SharedBound, bound: u64) {
        if bound > self.known {
            self.known = bound;
            let (score, tie) = shared.read(bound);
            if score > self.threshold || score == self.threshold && tie < self.tie {
                (self.threshold, self.tie) = (score, tie);
            }
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, doc: u32, mut score: f32) {
        if self.admits(score, doc)
            && let Some(lower) = &mut self.lower
        {
            score = lower(doc, score, self.threshold);
        }
        if self.admits(score, doc) {
            let rank = rank(&Hit { score, leaf: self.leaf, doc });
            if self.after.is_none_or(|after| rank > after) {
                self.insert(rank);
            }
        }
    }

    #[inline(never)]
    fn insert(&mut self, rank: Rank) {
        if let Some(worst) = self.best.insert(rank, self.k) {
            let worst = hit_of(worst);
            let own = (worst.score, (worst.leaf, worst.doc));
            if own.0 > self.threshold || own.0 == self.threshold && own.1 < self.tie {
                (self.threshold, self.tie) = own;
            }
            if let Some(shared) = self.shared {
                self.learn(shared, shared.tell(&worst));
            }
        }
    }

    /// The best hits of all threads, best first.
    pub(crate) fn merge(all: Vec<Self>, k: usize) -> Vec<Hit> {
        let mut ranks: Vec<Rank> = all.into_iter().flat_map(|one| one.best.into_ranks()).collect();
        ranks.sort_unstable();
        ranks.truncate(k);
        ranks.into_iter().map(hit_of).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;

    #[test]
    fn a_shared_bound_is_read_back() {
        let scores = [-1.5, -0.0, 0.0, 1e-40, 0.3, 7.0, f32::MAX];
        assert!(scores.is_sorted_by(|a, b| ordered(*a) < ordered(*b)));
        let places = [(0, 0), (0, 4), (2, 0), (2, 99), (4, 7)];
        for score in scores {
            for (leaf, doc) in places {
                let shared = SharedBound::new([5, 0, 100, 0, 8].into_iter());
                let bound = shared.tell(&Hit { score, leaf, doc });
                let (read, (tie_leaf, tie_doc)) = shared.read(bound);
                assert_eq!(read.to_bits(), score.to_bits());
                assert_eq!((tie_leaf, tie_doc), (leaf, doc));
            }
        }
        // Where numbers do not fit, equal scores that may be earlier count.
        let shared = SharedBound::new([1 << 31; 5].into_iter());
        for (leaf, doc) in [(0, 0), (1, (1 << 31) - 1), (4, 77)] {
            let bound = shared.tell(&Hit { score: 2.0, leaf, doc });
            let (_, tie) = shared.read(bound);
            assert!(tie > (leaf, doc) && tie <= (leaf + 1, 8.max(doc) + 8), "{tie:?} of {leaf} {doc}");
            shared.bound.store(0, Memory::Relaxed);
        }
    }

    #[test]
    fn the_shared_bound_only_rises_and_keeps_the_earlier_of_equal_scores() {
        let shared = SharedBound::new([10, 10].into_iter());
        let hit = |score, leaf, doc| Hit { score, leaf, doc };
        let first = shared.tell(&hit(1.0, 1, 3));
        assert_eq!(shared.tell(&hit(0.5, 0, 0)), first);
        assert_eq!(shared.tell(&hit(1.0, 1, 4)), first);
        let earlier = shared.tell(&hit(1.0, 0, 9));
        assert!(earlier > first && shared.tell(&hit(1.5, 1, 9)) > earlier);
        // A later document needs a better score, an earlier one an equal score.
        let mut top = TopK::new(1).among(Some(&shared));
        top.look_around();
        top.set_leaf(1);
        assert!(top.admits(1.5, 8) && !top.admits(1.5, 9) && !top.admits(1.4, 0) && top.admits(1.6, 9));
    }

    #[test]
    fn threads_that_share_a_bound_keep_exactly_the_best_hits() {
        let seed = 0x70b;
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..3_000 {
            let most = [30, 30, 400][random.usize(..3)];
            let leaves: Vec<u32> = (0..random.usize(1..4)).map(|_| random.u32(..most)).collect();
            let scores = random.usize(1..6);
            let mut hits = Vec::new();
            for (leaf, &max_doc) in leaves.iter().enumerate() {
                hits.extend((0..max_doc).map(|doc| Hit { score: random.usize(..scores) as f32, leaf, doc }));
            }
            let most = [20, MOST_IN_HEAP + 2, 120][random.usize(..3)];
            let k = random.usize(1..most);
            let after = random.bool().then(|| random.choice(&hits).copied()).flatten();
            let mut expected = hits.clone();
            let order = |left: &Hit, right: &Hit| {
                let place = |hit: &Hit| (hit.leaf, hit.doc);
                right.score.total_cmp(&left.score).then_with(|| place(left).cmp(&place(right)))
            };
            expected.sort_by(order);
            expected.retain(|hit| after.is_none_or(|after| order(hit, &after) == Ordering::Greater));
            expected.truncate(k);
            let shared = SharedBound::new(leaves.into_iter());
            let mut threads: Vec<TopK> =
                (0..3).map(|_| TopK::new(k).after(after).among(Some(&shared))).collect();
            random.shuffle(&mut hits);
            for Hit { score, leaf, doc } in hits {
                let at = random.usize(..3);
                let top = &mut threads[at];
                top.set_leaf(leaf);
                // Dismissed hits must not be among the best, however old the known bound is.
                if if random.bool() { top.admits_now(score, doc) } else { top.admits(score, doc) } {
                    top.push(doc, score);
                }
            }
            assert_eq!(TopK::merge(threads, k), expected);
        }
    }
}
