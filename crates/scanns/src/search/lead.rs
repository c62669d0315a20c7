//! Which blocks of the rarest of several required terms can hold hits, from the tables alone.
//!
//! Every match is in the list of the rarest term, which so cuts the documents into ranges, one for each of its blocks.
//! What the blocks of another term that reach into a range can add bounds the matches there. Ranges are visited in any
//! order, the most promising first: that raises the threshold early, and most others are then dismissed by one comparison.

use super::run::Clause;
use super::similarity::{Similarity, above};
use super::topk::TopK;
use super::windows::most_promising;

/// Blocks of another term in one range that are looked at one by one; more are bounded by the whole list.
const LOOKED_AT: usize = 16;

/// The ranges of the blocks of the rarest term.
pub(super) struct LeadBlocks {
    /// By block: no match in it scores higher. Negative if it cannot hold a match.
    totals: Vec<f32>,
    /// By block: what the other terms can add to the score of the rarest one.
    others: Vec<f64>,
    /// By other term, then by block: the block of that term where the range begins.
    enter: Vec<u32>,
}

impl LeadBlocks {
    /// The ranges of the blocks of clause `lead`, for matches with all of the clauses `others`.
    pub(super) fn new<S: Similarity>(clauses: &[Clause<S>], lead: usize, others: &[usize]) -> LeadBlocks {
        let lead = &clauses[lead];
        let count = lead.cursor.blocks();
        let mut blocks = LeadBlocks {
            totals: Vec::with_capacity(count),
            others: vec![0.0; count],
            enter: Vec::with_capacity(count * others.len()),
        };
        for &other in others {
            blocks.add(lead, &clauses[other]);
        }
        let bound = |block| f64::from(lead.scorer.bound(&lead.cursor.block_impacts(block)));
        blocks.totals.extend(blocks.others.iter().enumerate().map(|(block, sum)| above(sum + bound(block))));
        blocks
    }

    /// Adds what `other` can to every range of `lead`.
    fn add<S: Similarity>(&mut self, lead: &Clause<S>, other: &Clause<S>) {
        let cursor = &other.cursor;
        let of = |impacts: &_| f64::from(other.scorer.bound(impacts));
        let whole = of(&cursor.list_impacts());
        let (mut first, mut at, mut bounded, mut bound) = (0, 0, usize::MAX, 0.0);
        for (block, sum) in self.others.iter_mut().enumerate() {
            let last = lead.cursor.block_last(block);
            at = cursor.find_block(at, first);
            self.enter.push(u32::try_from(at).unwrap_or(u32::MAX));
            if at == cursor.blocks() {
                *sum = f64::NEG_INFINITY;
            } else if cursor.block_last((at + LOOKED_AT).min(cursor.blocks() - 1)) < last {
                *sum += whole;
            } else {
                let mut most = f64::NEG_INFINITY;
                let mut reach = at;
                loop {
                    if reach != bounded {
                        (bounded, bound) = (reach, of(&cursor.block_impacts(reach)));
                    }
                    most = bound.max(most);
                    if cursor.block_last(reach) >= last || reach + 1 == cursor.blocks() {
                        break;
                    }
                    reach += 1;
                }
                *sum += most;
                at = reach;
            }
            first = last.saturating_add(1);
        }
    }

    /// What the other terms can add to a match in `block`.
    #[inline]
    pub(super) fn others(&self, block: usize) -> f64 {
        self.others[block]
    }

    /// The block of the other term numbered `place` where the range of `block` begins.
    #[inline]
    pub(super) fn enter(&self, place: usize, block: usize) -> usize {
        self.enter[place * self.totals.len() + block] as usize
    }

    /// Calls `visit` with the blocks of `lead` that can hold hits for `top`, the most promising first, then in order.
    pub(super) fn visit<'a, S>(
        &self,
        lead: usize,
        clauses: &mut [Clause<'a, S>],
        top: &mut TopK,
        mut visit: impl FnMut(usize, &mut [Clause<'a, S>], &mut TopK),
    ) {
        let promising = most_promising(&self.totals);
        for &block in &promising {
            visit(block, clauses, top);
        }
        let mut first = 0;
        for (block, &total) in self.totals.iter().enumerate() {
            // The first comparison is the one that nearly always decides.
            if total >= top.threshold()
                && total >= 0.0
                && top.admits(total, first)
                && !promising.contains(&block)
            {
                visit(block, clauses, top);
            }
            first = clauses[lead].cursor.block_last(block).saturating_add(1);
        }
    }
}
