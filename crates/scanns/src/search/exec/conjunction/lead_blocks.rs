//! Finds the blocks of the rarest required term that can hold hits, from the tables of blocks alone.
//!
//! Every match is in the list of the rarest term, whose blocks divide the documents into ranges. The blocks
//! of the other terms that overlap a range bound the scores in it. Ranges are visited in any order, the most
//! promising first: that raises the threshold early, and one comparison then dismisses most others.

use std::ops::Range;

use crate::codec::{Impact, ListCursor, PAIRS};
use crate::search::exec::bound_terms::Clause;
use crate::search::exec::conjunction::clauses::Conjunction;
use crate::search::exec::view::View;
use crate::search::exec::windows::most_promising;
use crate::search::similarity::{Similarity, above};
use crate::search::top_k::TopK;

/// Maximum number of blocks of another term in a range that are checked one by one. With more blocks, the
/// whole list gives the bound.
const LOOKED_AT: usize = 16;

/// If an optional term has at most this many blocks' worth of documents per block of the lead, its postings
/// are checked one by one.
const RARE: usize = 1;

/// The ranges of the blocks of the rarest term that contain documents of the view.
pub(crate) struct LeadBlocks {
    /// The number of the first of these blocks.
    start: usize,
    /// By block: an upper bound of the scores in it; negative if it cannot hold a match.
    totals: Vec<f32>,
    /// For each block: the maximum that all terms but the lead can add to a score.
    others: Vec<f64>,
    /// By block: the part of `others` that comes from optional terms.
    optional: Vec<f64>,
}

impl LeadBlocks {
    /// The ranges of the blocks of clause `lead`.
    pub(crate) fn new<S: Similarity>(parts: &mut Conjunction<S>, lead: usize, view: &View) -> LeadBlocks {
        // Blocks of rare terms span many ranges, so their bounds say little.
        let all = parts.clauses[lead].cursor.blocks();
        let wanted = view.blocks_of(&parts.clauses[lead].cursor);
        let (start, count) = (wanted.start, wanted.len());
        let mut rare = vec![0.0; count];
        for &clause in &parts.optional {
            if let Ok([lead, clause]) = parts.clauses.get_disjoint_mut([lead, clause])
                && clause.cursor.doc_freq() as usize <= RARE * all
            {
                add_scores(&lead.cursor, start, clause, view, &mut rare);
            }
        }
        let list = &parts.clauses[lead].cursor;
        let mut blocks =
            LeadBlocks { start, totals: Vec::with_capacity(count), others: vec![0.0; count], optional: rare };
        // The maximum score of the phrase or term of the lead, according to its other lists.
        let mut own = vec![f64::INFINITY; count];
        for part in &parts.required {
            let bound = |impacts: &_| part.bound(&parts.clauses, impacts);
            let mut most = vec![f64::INFINITY; count];
            for &clause in part.clauses().iter().filter(|&&clause| clause != lead) {
                let cursor = &parts.clauses[clause].cursor;
                each_range(list, &wanted, cursor, bound, |block, bound| {
                    // `f64::min` would check for NaN.
                    let bound = bound.unwrap_or(f64::NEG_INFINITY);
                    most[block] = if bound < most[block] { bound } else { most[block] };
                });
            }
            if part.clauses().contains(&lead) {
                for (block, most) in most.iter_mut().enumerate() {
                    *most = most.min(bound(&list.block_impacts(start + block)));
                }
                own = most;
            } else {
                blocks.others.iter_mut().zip(most).for_each(|(sum, bound)| *sum += bound);
            }
        }
        for &clause in &parts.optional {
            let optional = &parts.clauses[clause];
            if optional.cursor.doc_freq() as usize <= RARE * all {
                continue;
            }
            let bound = |impacts: &[Impact; PAIRS]| f64::from(optional.scorer.bound(impacts));
            each_range(list, &wanted, &optional.cursor, bound, |block, bound| {
                blocks.optional[block] += bound.unwrap_or(0.0);
            });
        }
        for ((others, own), &optional) in blocks.others.iter_mut().zip(own).zip(&blocks.optional) {
            // Rounded as scores are: the required sum, the optional sum, and the sum of both.
            blocks.totals.push(above(*others + own) + above(optional));
            *others += optional;
        }
        blocks
    }

    /// Returns the maximum that everything but the lead can add to the score of a match in `block`.
    #[inline]
    pub(crate) fn others(&self, block: usize) -> f64 {
        self.others[block - self.start]
    }

    /// The part of it that comes from optional terms.
    #[inline]
    pub(crate) fn optional(&self, block: usize) -> f64 {
        self.optional[block - self.start]
    }

    /// Calls `visit` with the blocks of `lead` that can hold hits for `top`, the most promising first, then
    /// in order.
    pub(crate) fn visit<'a, S>(
        &self,
        lead: usize,
        parts: &mut Conjunction<'a, S>,
        view: &View,
        top: &mut TopK,
        mut visit: impl FnMut(usize, &mut Conjunction<'a, S>, &mut TopK),
    ) {
        let promising = most_promising(&self.totals);
        for &place in &promising {
            // Other threads may have found better hits.
            if top.admits_now(self.totals[place], view.first) {
                visit(self.start + place, parts, top);
            }
        }
        let mut first = view.first;
        for (place, &total) in self.totals.iter().enumerate() {
            let block = self.start + place;
            // The first comparison nearly always decides.
            if total >= top.threshold()
                && total >= 0.0
                && top.admits_now(total, first)
                && !promising.contains(&place)
            {
                if view.clock.is_up() {
                    return;
                }
                visit(block, parts, top);
            }
            first = parts.clauses[lead].cursor.block_last(block).saturating_add(1);
        }
    }
}

/// Adds the highest score of a clause in each range to `sums`, which begin with block `start` of `lead`.
fn add_scores<S: Similarity>(
    lead: &ListCursor,
    start: usize,
    clause: &mut Clause<S>,
    view: &View,
    sums: &mut [f64],
) {
    let (mut block, mut most) = (start, 0.0f64);
    let mut add = |block: usize, most: f64| {
        sums.get_mut(block - start).into_iter().for_each(|sum| *sum += most);
    };
    let mut doc = clause.cursor.seek(view.first);
    while doc < view.end {
        let score = f64::from(clause.scorer.score(doc, clause.cursor.tf()));
        let next = lead.find_block(block, doc);
        if next != block {
            add(block, most);
            (block, most) = (next, 0.0);
        }
        most = score.max(most);
        doc = clause.cursor.step();
    }
    add(block, most);
}

/// Calls `each` with the index of every wanted block of `lead` and the highest bound of `cursor` in its
/// range; `None` if it has no documents there.
fn each_range(
    lead: &ListCursor,
    wanted: &Range<usize>,
    cursor: &ListCursor,
    bound: impl Fn(&[Impact; PAIRS]) -> f64,
    mut each: impl FnMut(usize, Option<f64>),
) {
    let whole = bound(&cursor.list_impacts());
    let (mut at, mut bounded, mut last_bound) = (0, usize::MAX, 0.0);
    let mut first = wanted.start.checked_sub(1).map_or(0, |before| lead.block_last(before).saturating_add(1));
    for (place, block) in wanted.clone().enumerate() {
        let last = lead.block_last(block);
        at = cursor.find_block(at, first);
        if at == cursor.blocks() {
            each(place, None);
        } else if cursor.block_last((at + LOOKED_AT).min(cursor.blocks() - 1)) < last {
            each(place, Some(whole));
        } else {
            let mut most = f64::NEG_INFINITY;
            let mut reach = at;
            loop {
                if reach != bounded {
                    (bounded, last_bound) = (reach, bound(&cursor.block_impacts(reach)));
                }
                most = if last_bound > most { last_bound } else { most };
                if cursor.block_last(reach) >= last || reach + 1 == cursor.blocks() {
                    break;
                }
                reach += 1;
            }
            each(place, Some(most));
            at = reach;
        }
        first = last.saturating_add(1);
    }
}
