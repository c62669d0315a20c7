//! The best hits of a query whose scores a column changes.
//!
//! Once there are enough hits, only values that give a certain number can lead to better ones. So the first
//! documents of a leaf are searched alone. Then the column tells which of the others may compete, as a bit
//! for each, and the query runs as if the rest were deleted.

use std::ops::ControlFlow;

use crate::error::{Error, Result};
use crate::search::exec::goal::Goal;
use crate::search::exec::live_filter::LiveFilter;
use crate::search::exec::value_scorer::ValueScorer;
use crate::search::exec::view::{GRAIN, View};
use crate::search::top_k::TopK;

/// Runs the query without the change of its scores.
pub(crate) type RunInside<'r> = dyn FnMut(&View, &mut Goal) -> Result<ControlFlow<()>> + 'r;

/// One in this many documents is searched before the column tells which may compete.
const FIRST: u32 = 16;

/// Comparing all values of the column takes as long as scoring one document in this many.
pub(crate) const FREQUENT: u64 = 4;

/// What is known of the query inside.
#[derive(Clone, Copy)]
pub(crate) struct KnownInside {
    /// Its greatest score, or more; infinite if it is not known.
    pub(crate) highest: f64,
    /// Whether searching for its best hits may skip some of its matches.
    pub(crate) may_skip: bool,
    /// Whether it matches enough documents for a look at all values of the column.
    pub(crate) is_frequent: bool,
}

/// Offers the hits of a view.
pub(crate) fn top(
    view: &View,
    scorer: &mut ValueScorer,
    inside: KnownInside,
    run: &mut RunInside,
    top: &mut TopK,
) -> Result<ControlFlow<()>> {
    top.look_around();
    let mut first = view.first;
    if inside.is_frequent && top.threshold() == f32::NEG_INFINITY {
        first = first.saturating_add(((view.end - view.first) / FIRST).next_multiple_of(GRAIN)).min(view.end);
        let flow = offer(&view.part(view.first, first), scorer, inside, run, top)?;
        if flow.is_break() || first >= view.end {
            return Ok(flow);
        }
        top.look_around();
    }
    let rest = view.part(first, view.end);
    let mask = match inside.is_frequent {
        true => scorer.may_reach(&rest, top.threshold(), inside.highest)?,
        false => None,
    };
    match &mask {
        Some(mask) => offer(&rest.keeping(mask), scorer, inside, run, top),
        None => offer(&rest, scorer, inside, run, top),
    }
}

fn offer(
    view: &View,
    scorer: &mut ValueScorer,
    inside: KnownInside,
    run: &mut RunInside,
    top: &mut TopK,
) -> Result<ControlFlow<()>> {
    let mut failed: Option<Error> = None;
    let flow = if inside.may_skip && scorer.only_lowers() {
        let mut lower = |doc, score, threshold| {
            scorer.lowered(doc, score, threshold).unwrap_or_else(|error| {
                failed = Some(error);
                f32::NEG_INFINITY
            })
        };
        top.with_lower_scores(&mut lower, |top| run(view, &mut Goal::Top(top)))?
    } else {
        let mut live = LiveFilter::new(view, Vec::new());
        let mut sink = |docs: &[u32], scores: &[f32]| match scorer.offer(top, &mut live, docs, scores) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        };
        run(view, &mut Goal::All(&mut sink))?
    };
    failed.map_or(Ok(flow), Err)
}
