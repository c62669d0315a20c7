//! Upper bounds of the scores in each window of documents, from the tables of blocks alone.
//!
//! Once per query, the impacts of every block are spread over the windows that the block overlaps. The sum
//! over all clauses shows which windows are worth a visit. The first block of each list in each window is
//! recorded too, so windows can be visited in any order, the most promising first. That raises the threshold
//! early, and one comparison then dismisses most windows.

use std::ops::RangeInclusive;

use crate::codec::BLOCK;
use crate::search::budget::Clock;
use crate::search::exec::bound_terms::Clause;
use crate::search::exec::view::View;
use crate::search::similarity::{PostingsSlice, Similarity, narrow};
use crate::search::top_k::TopK;

/// Documents in the largest windows, as a power of two. Their accumulators fit the first-level cache.
pub(crate) const MAX_SHIFT: u32 = 12;

/// Smaller windows cost more to bound and enter than their postings cost to score.
const MIN_SHIFT: u32 = 10;

/// Maximum number of bounds that are kept, 8 bytes each.
const MAX_ENTRIES: u64 = 1 << 23;

/// Windows or blocks that are visited before the others.
const FIRST: usize = 8;

/// A list has no posting in a window.
pub(crate) const ABSENT: u32 = u32::MAX;

/// The bounds of all clauses in all windows of a view.
pub(crate) struct WindowBounds {
    pub(crate) shift: u32,
    slack: f32,
    /// The number of the first window of the view. Tables by window begin with it.
    start: usize,
    count: usize,
    /// By window: the bound of all clauses together.
    sums: Vec<f64>,
    /// By clause, then by window.
    bounds: Vec<f32>,
    /// By clause, then by window: the first block with documents there, or [`ABSENT`].
    blocks: Vec<u32>,
}

impl WindowBounds {
    /// Bounds are raised by the factor `slack`.
    pub(crate) fn new<S: Similarity>(clauses: &mut [Clause<S>], view: &View, slack: f32) -> WindowBounds {
        let shift = shift(clauses, view.max_doc);
        let start = (view.first >> shift) as usize;
        let count = (view.end as usize).div_ceil(1 << shift).saturating_sub(start);
        let mut windows = WindowBounds {
            shift,
            slack,
            start,
            count,
            sums: vec![0.0; count],
            bounds: vec![0.0; count * clauses.len()],
            blocks: vec![ABSENT; count * clauses.len()],
        };
        for (number, clause) in clauses.iter_mut().enumerate() {
            if clause.cursor.blocks() == 1 {
                windows.spread_postings(number, clause);
            } else {
                windows.spread_blocks(number, clause, view);
            }
            let row = number * count..(number + 1) * count;
            // Adding in the order of the clauses, as scores are added, keeps the sum an upper bound despite
            // rounding.
            for (sum, &bound) in windows.sums.iter_mut().zip(&windows.bounds[row]) {
                *sum += f64::from(bound);
            }
        }
        windows
    }

    /// For a list of one block the scores themselves are the bounds.
    fn spread_postings<S: Similarity>(&mut self, number: usize, clause: &mut Clause<S>) {
        let mut scores = [0.0; BLOCK];
        let (docs, tfs) = clause.cursor.rest_of_block();
        clause.scorer.score_all(PostingsSlice { docs, tfs }, &mut scores[..docs.len()]);
        for (&doc, score) in docs.iter().zip(scores) {
            self.spread(number, doc..=doc, 0, score);
        }
    }

    fn spread_blocks<S: Similarity>(&mut self, number: usize, clause: &Clause<S>, view: &View) {
        let mut first = view.first;
        for block in view.blocks_of(&clause.cursor) {
            let bound = clause.scorer.bound(&clause.cursor.block_impacts(block));
            let last = clause.cursor.block_last(block);
            self.spread(number, first..=last, u32::try_from(block).unwrap_or(ABSENT), bound);
            first = first.max(last.saturating_add(1));
        }
    }

    #[inline]
    fn spread(&mut self, number: usize, docs: RangeInclusive<u32>, block: u32, bound: f32) {
        // Postings before the first window count in none.
        let low = ((docs.start() >> self.shift) as usize).max(self.start) - self.start;
        let high = ((docs.end() >> self.shift) as usize + 1).saturating_sub(self.start).min(self.count);
        let row = number * self.count;
        let bound = bound * self.slack;
        if low < high {
            let blocks = &mut self.blocks[row + low..row + high];
            for (highest, first) in self.bounds[row + low..row + high].iter_mut().zip(blocks) {
                // `f32::max` would check for NaN.
                *highest = if bound > *highest { bound } else { *highest };
                *first = block.min(*first);
            }
        }
    }

    /// The highest bound of all clauses together.
    pub(crate) fn highest(&self) -> f64 {
        self.sums.iter().copied().fold(0.0, f64::max)
    }

    /// The first document of a window.
    #[inline]
    pub(crate) fn first_of(&self, window: usize) -> u32 {
        u32::try_from((self.start + window) << self.shift).unwrap_or(u32::MAX)
    }

    /// The bound of a clause in a window.
    #[inline]
    pub(crate) fn bound(&self, clause: usize, window: usize) -> f32 {
        self.bounds[clause * self.count + window]
    }

    /// The first block of a clause with documents in a window, or [`ABSENT`].
    #[inline]
    pub(crate) fn block(&self, clause: usize, window: usize) -> u32 {
        self.blocks[clause * self.count + window]
    }

    /// Calls `visit` with the windows that can hold hits for `top`, the most promising first, then in order.
    pub(crate) fn visit(&self, clock: Clock, top: &mut TopK, mut visit: impl FnMut(usize, &mut TopK)) {
        let sums: Vec<f32> = self.sums.iter().map(|&sum| narrow(sum)).collect();
        let first = most_promising(&sums);
        for &window in &first {
            visit(window, top);
        }
        for (window, &sum) in sums.iter().enumerate() {
            // The first comparison nearly always decides.
            if sum >= top.threshold()
                && !first.contains(&window)
                && top.admits_now(sum, self.first_of(window))
            {
                if clock.is_up() {
                    return;
                }
                visit(window, top);
            }
        }
    }
}

/// The size of windows for which the longest list has about one block per window, or larger to limit the
/// tables.
fn shift<S>(clauses: &[Clause<S>], max_doc: u32) -> u32 {
    let longest = clauses.iter().map(|clause| clause.cursor.doc_freq()).max().unwrap_or(1).max(1);
    let span = u64::from(max_doc) * BLOCK as u64 / u64::from(longest);
    let mut shift = span.max(1).ilog2().clamp(MIN_SHIFT, MAX_SHIFT);
    while shift < MAX_SHIFT && entries(clauses.len(), max_doc, shift) > MAX_ENTRIES {
        shift += 1;
    }
    shift
}

fn entries(clauses: usize, max_doc: u32, shift: u32) -> u64 {
    clauses as u64 * u64::from(max_doc >> shift)
}

/// True if the tables for this many clauses would be too large to pay.
pub(crate) fn too_large(clauses: usize, max_doc: u32) -> bool {
    entries(clauses, max_doc, MAX_SHIFT) > MAX_ENTRIES
}

/// The indexes of the few highest of `bounds`, highest first; empty if there are few bounds, or none is
/// positive.
pub(crate) fn most_promising(bounds: &[f32]) -> Vec<usize> {
    let mut best: Vec<(f32, usize)> = Vec::with_capacity(FIRST + 1);
    if bounds.len() <= FIRST {
        return Vec::new();
    }
    let mut lowest = 0.0;
    for (place, &bound) in bounds.iter().enumerate() {
        if bound > lowest {
            let at = best.partition_point(|&(other, _)| other >= bound);
            best.insert(at, (bound, place));
            best.truncate(FIRST);
            lowest = if best.len() == FIRST { best[FIRST - 1].0 } else { 0.0 };
        }
    }
    best.into_iter().map(|(_, place)| place).collect()
}
