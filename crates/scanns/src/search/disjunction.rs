//! Documents that contain any of several terms, all of them: term at a time over windows of documents.

use std::ops::ControlFlow;

use super::accumulate::{Accumulators, CHUNK, WINDOW};
use super::run::{Clause, Sink, View};
use super::similarity::{Similarity, narrow};
use crate::codec::NO_MORE;

/// Every document that any clause has, in order.
pub(super) fn all<S: Similarity>(clauses: &mut [Clause<S>], view: &View, sink: &mut Sink) -> ControlFlow<()> {
    let mut sums = Accumulators::new();
    clauses.iter_mut().for_each(|clause| {
        clause.cursor.advance(view.first);
    });
    loop {
        let next = clauses.iter().map(|clause| clause.cursor.doc()).min().unwrap_or(NO_MORE);
        if next >= view.end || view.clock.is_up() {
            return ControlFlow::Continue(());
        }
        let start = next - next % WINDOW;
        for clause in clauses.iter_mut() {
            sums.add(clause, (start, start.saturating_add(WINDOW)));
        }
        sums.drain(start, f64::NEG_INFINITY, |docs, sums| {
            let mut scores = [0.0; CHUNK];
            scores.iter_mut().zip(sums).for_each(|(score, &sum)| *score = narrow(sum));
            sink(docs, &scores[..docs.len()])
        })?;
    }
}
