//! One term: whole blocks are scored, and for the best hits only those blocks whose impacts compete.

use std::ops::ControlFlow;

use super::keep::{Keep, offer};
use super::run::{Clause, Sink, View};
use super::similarity::Similarity;
use super::topk::TopK;
use super::windows::most_promising;
use crate::codec::{BLOCK, NO_MORE};

/// Every posting, block by block.
pub(super) fn all<S: Similarity>(clause: &mut Clause<S>, view: &View, sink: &mut Sink) -> ControlFlow<()> {
    let mut scores = [0.0; BLOCK];
    while clause.cursor.doc() != NO_MORE && !view.clock.is_up() {
        let found = clause.cursor.rest_of_block();
        let count = found.0.len();
        clause.scorer.score_all(found, &mut scores[..count]);
        sink(found.0, &scores[..count])?;
        clause.cursor.consume(count);
    }
    ControlFlow::Continue(())
}

/// The best hits. The most promising blocks come first, so that most others need not be decoded.
pub(super) fn top<S: Similarity>(clause: &mut Clause<S>, keep: &mut Keep, top: &mut TopK) {
    if !top.admits(clause.scorer.bound(&clause.cursor.list_impacts()), 0) {
        return;
    }
    let bound = |block| clause.scorer.bound(&clause.cursor.block_impacts(block));
    let mut bounds: Vec<f32> = (0..clause.cursor.blocks()).map(bound).collect();
    for block in most_promising(&bounds) {
        bounds[block] = f32::NEG_INFINITY;
        score_block(clause, block, keep, top);
    }
    let mut first = 0;
    for (block, bound) in bounds.into_iter().enumerate() {
        if bound >= top.threshold() && bound >= 0.0 && top.admits(bound, first) {
            if keep.view.clock.is_up() {
                return;
            }
            score_block(clause, block, keep, top);
        }
        first = clause.cursor.block_last(block).saturating_add(1);
    }
}

fn score_block<S: Similarity>(clause: &mut Clause<S>, block: usize, keep: &mut Keep, top: &mut TopK) {
    let mut scores = [0.0; BLOCK];
    clause.cursor.load_block(block);
    let found = clause.cursor.rest_of_block();
    let scores = &mut scores[..found.0.len()];
    clause.scorer.score_all(found, scores);
    // `offer` never breaks.
    let _ = offer(top, keep, found.0, scores);
}
