//! A single term: whole blocks are scored; for the best hits, only the blocks whose impacts compete.

use std::ops::{ControlFlow, Range};

use super::windows::most_promising;
use crate::codec::{BLOCK, count_below};
use crate::search::exec::bound_terms::Clause;
use crate::search::exec::goal::Sink;
use crate::search::exec::live_filter::{LiveFilter, offer};
use crate::search::exec::view::View;
use crate::search::similarity::{PostingsSlice, Similarity};
use crate::search::top_k::TopK;

/// Every posting, block by block.
pub(crate) fn all<S: Similarity>(clause: &mut Clause<S>, view: &View, sink: &mut Sink) -> ControlFlow<()> {
    let mut scores = [0.0; BLOCK];
    clause.cursor.advance(view.first);
    while clause.cursor.doc() < view.end && !view.clock.is_up() {
        let (docs, tfs) = clause.cursor.rest_of_block();
        let count = count_below(docs, view.end);
        let docs = &docs[..count];
        clause.scorer.score_all(PostingsSlice { docs, tfs: &tfs[..count] }, &mut scores[..count]);
        sink(docs, &scores[..count])?;
        clause.cursor.consume(count);
    }
    ControlFlow::Continue(())
}

/// The term in a leaf.
pub(crate) struct TermInLeaf<'c, 's, 'v, 'a, S> {
    pub(crate) leaf: usize,
    pub(crate) clause: &'c mut Clause<'s, S>,
    pub(crate) keep: &'c mut LiveFilter<'v, 'a>,
}

/// The best hits in one leaf or several. The most promising blocks of all of them come first, so that most
/// others are never decoded.
pub(crate) fn top<S: Similarity>(leaves: &mut [TermInLeaf<S>], top: &mut TopK) {
    let mut bounds: Vec<f32> = Vec::new();
    // By leaf: its blocks, and the place of the first one in `bounds`.
    let mut blocks_of: Vec<(Range<usize>, usize)> = Vec::with_capacity(leaves.len());
    for TermInLeaf { leaf, clause, keep } in &mut *leaves {
        top.set_leaf(*leaf);
        let competes = top.admits(clause.scorer.bound(&clause.cursor.list_impacts()), keep.view.first);
        let blocks = if competes { keep.view.blocks_of(&clause.cursor) } else { 0..0 };
        let bound = |block| clause.scorer.bound(&clause.cursor.block_impacts(block));
        blocks_of.push((blocks.clone(), bounds.len()));
        bounds.extend(blocks.map(bound));
    }
    for place in most_promising(&bounds) {
        let bound = std::mem::replace(&mut bounds[place], f32::NEG_INFINITY);
        let at = blocks_of.partition_point(|&(_, start)| start <= place).saturating_sub(1);
        let (blocks, start) = &blocks_of[at];
        let TermInLeaf { leaf, clause, keep } = &mut leaves[at];
        top.set_leaf(*leaf);
        // Other threads may have found better hits.
        if top.admits_now(bound, keep.view.first) {
            score_block(clause, blocks.start + place - start, keep, top);
        }
    }
    for (TermInLeaf { leaf, clause, keep }, (blocks, start)) in leaves.iter_mut().zip(blocks_of) {
        top.set_leaf(*leaf);
        let mut first = keep.view.first;
        for (block, &bound) in blocks.zip(&bounds[start..]) {
            let next = clause.cursor.block_last(block).saturating_add(1);
            if bound >= top.threshold()
                && bound >= 0.0
                && top.admits_now(bound, first)
                && keep.view.may_keep(first..next)
            {
                if keep.view.clock.is_up() {
                    return;
                }
                score_block(clause, block, keep, top);
            }
            first = next;
        }
    }
}

fn score_block<S: Similarity>(clause: &mut Clause<S>, block: usize, keep: &mut LiveFilter, top: &mut TopK) {
    let mut scores = [0.0; BLOCK];
    clause.cursor.load_block(block);
    clause.cursor.advance(keep.view.first);
    let (docs, tfs) = clause.cursor.rest_of_block();
    let count = count_below(docs, keep.view.end);
    let (docs, scores) = (&docs[..count], &mut scores[..count]);
    clause.scorer.score_all(PostingsSlice { docs, tfs: &tfs[..count] }, scores);
    // `offer` never breaks.
    let _ = offer(top, keep, docs, scores);
}
