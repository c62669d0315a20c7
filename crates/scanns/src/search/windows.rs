//! Bounds per window: what the best document of a range of documents could score, from the tables alone.
//!
//! The impacts of every block are spread over the windows that the block reaches into, once per query. The sum
//! over the clauses tells which windows are worth a visit, and the number of the block where a list enters a
//! window lets windows be visited in any order, the most promising first. That raises the threshold early, and
//! most windows are then dismissed by one comparison.

use super::budget::Clock;
use super::run::{Clause, View};
use super::similarity::{Similarity, narrow};
use super::topk::TopK;
use crate::codec::BLOCK;

/// Documents in the largest windows, as a power of two: accumulators for them fit the first-level cache.
pub(super) const MAX_SHIFT: u32 = 12;

/// Windows smaller than this cost more to bound and enter than their postings do to score.
const MIN_SHIFT: u32 = 10;

/// Bounds that are kept at most, 8 bytes each.
const MAX_ENTRIES: u64 = 1 << 23;

/// Windows or blocks that are visited before the others.
const FIRST: usize = 8;

/// A list has no posting in a window.
pub(super) const ABSENT: u32 = u32::MAX;

/// Bounds of all clauses in all windows of a view.
pub(super) struct Windows {
    pub(super) shift: u32,
    slack: f32,
    /// The number of the first window of the view; what is kept by window begins with it.
    start: usize,
    count: usize,
    /// By window: the bound of all clauses together.
    sums: Vec<f64>,
    /// By clause, then by window.
    bounds: Vec<f32>,
    /// By clause, then by window: the first block with documents there, or [`ABSENT`].
    blocks: Vec<u32>,
}

impl Windows {
    /// Bounds are raised by the factor `slack`.
    pub(super) fn new<S: Similarity>(clauses: &mut [Clause<S>], view: &View, slack: f32) -> Windows {
        let shift = shift(clauses, view.max_doc);
        let start = (view.first >> shift) as usize;
        let count = (view.end as usize).div_ceil(1 << shift).saturating_sub(start);
        let mut windows = Windows {
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
            // Summing in the order of the clauses, as scores are, makes the sum a bound despite rounding.
            for (sum, &bound) in windows.sums.iter_mut().zip(&windows.bounds[row]) {
                *sum += f64::from(bound);
            }
        }
        windows
    }

    /// The bounds of a list that is one block are the scores themselves.
    fn spread_postings<S: Similarity>(&mut self, number: usize, clause: &mut Clause<S>) {
        let mut scores = [0.0; BLOCK];
        let found = clause.cursor.rest_of_block();
        clause.scorer.score_all(found, &mut scores[..found.0.len()]);
        for (doc, score) in found.0.iter().zip(scores) {
            self.spread(number, (*doc, *doc), 0, score);
        }
    }

    fn spread_blocks<S: Similarity>(&mut self, number: usize, clause: &Clause<S>, view: &View) {
        let mut first = view.first;
        for block in view.blocks_of(&clause.cursor) {
            let bound = clause.scorer.bound(&clause.cursor.block_impacts(block));
            let last = clause.cursor.block_last(block);
            self.spread(number, (first, last), u32::try_from(block).unwrap_or(ABSENT), bound);
            first = first.max(last.saturating_add(1));
        }
    }

    #[inline]
    fn spread(&mut self, number: usize, (first, last): (u32, u32), block: u32, bound: f32) {
        // A posting before the first window counts in none.
        let low = ((first >> self.shift) as usize).max(self.start) - self.start;
        let high = ((last >> self.shift) as usize + 1).saturating_sub(self.start).min(self.count);
        let row = number * self.count;
        let bound = bound * self.slack;
        if low < high {
            let blocks = &mut self.blocks[row + low..row + high];
            for (highest, first) in self.bounds[row + low..row + high].iter_mut().zip(blocks) {
                // `f32::max` would ask whether they are numbers.
                *highest = if bound > *highest { bound } else { *highest };
                *first = block.min(*first);
            }
        }
    }

    /// The highest bound of all clauses together.
    pub(super) fn highest(&self) -> f64 {
        self.sums.iter().copied().fold(0.0, f64::max)
    }

    /// The first document of a window.
    #[inline]
    pub(super) fn first_of(&self, window: usize) -> u32 {
        u32::try_from((self.start + window) << self.shift).unwrap_or(u32::MAX)
    }

    /// The bound of a clause in a window.
    #[inline]
    pub(super) fn bound(&self, clause: usize, window: usize) -> f32 {
        self.bounds[clause * self.count + window]
    }

    /// The first block of a clause with documents in a window, or [`ABSENT`].
    #[inline]
    pub(super) fn block(&self, clause: usize, window: usize) -> u32 {
        self.blocks[clause * self.count + window]
    }

    /// Calls `visit` with the windows that can hold hits for `top`, the most promising first, then in order.
    pub(super) fn visit(&self, clock: Clock, top: &mut TopK, mut visit: impl FnMut(usize, &mut TopK)) {
        let sums: Vec<f32> = self.sums.iter().map(|&sum| narrow(sum)).collect();
        let first = most_promising(&sums);
        for &window in &first {
            visit(window, top);
        }
        for (window, &sum) in sums.iter().enumerate() {
            // The first comparison is the one that nearly always decides.
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

/// The size of windows in which the longest list has about one block, or what keeps the tables in bounds.
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

/// True if the tables for so many clauses would be too large to pay.
pub(super) fn too_large(clauses: usize, max_doc: u32) -> bool {
    entries(clauses, max_doc, MAX_SHIFT) > MAX_ENTRIES
}

/// The places of the few highest of `bounds`, highest first; none if there are few bounds in all or none
/// stands out by being positive.
pub(super) fn most_promising(bounds: &[f32]) -> Vec<usize> {
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
