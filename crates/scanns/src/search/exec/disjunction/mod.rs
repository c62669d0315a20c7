//! All documents that contain any of several terms: term at a time over windows of documents.

pub(crate) mod accumulate;

use std::ops::ControlFlow;

use crate::codec::{CHUNK, NO_MORE};
use crate::search::exec::bound_terms::Clause;
use crate::search::exec::goal::Sink;
use crate::search::exec::view::View;
use crate::search::similarity::{Similarity, narrow_all};
use accumulate::{Accumulators, WINDOW};

/// Every document that any clause contains, in order.
pub(crate) fn all<S: Similarity>(clauses: &mut [Clause<S>], view: &View, sink: &mut Sink) -> ControlFlow<()> {
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
            sums.add(clause, start, start.saturating_add(WINDOW));
        }
        sums.drain(start, f64::NEG_INFINITY, |docs, sums| {
            let mut scores = [0.0; CHUNK];
            narrow_all(sums, &mut scores);
            sink(docs, &scores[..docs.len()])
        })?;
    }
}
