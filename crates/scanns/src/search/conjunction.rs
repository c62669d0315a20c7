//! Documents that contain all of several terms: the rarest leads, the others are advanced to its documents.

use std::ops::ControlFlow;

use super::run::{Clause, Sink, View, offer};
use super::similarity::{Similarity, narrow, score_all};
use super::topk::TopK;
use super::windows::Windows;
use crate::codec::BLOCK;

/// Every document that all clauses have, in order.
pub(super) fn all<S: Similarity>(
    clauses: &mut [Clause],
    view: &View,
    similarity: &S,
    sink: &mut Sink,
) -> ControlFlow<()> {
    let order = by_frequency(clauses);
    Matches::new(clauses.len()).collect(clauses, &order, view.max_doc, |clauses, matches| {
        matches.score(clauses, view, similarity);
        sink(&matches.docs[..matches.len], &matches.scores[..matches.len])
    })
}

/// The best of them; only windows whose bounds compete are looked into.
pub(super) fn top<S: Similarity>(clauses: &mut [Clause], view: &View, similarity: &S, top: &mut TopK) {
    let order = by_frequency(clauses);
    let windows = Windows::new(clauses, view, similarity, true);
    let mut matches = Matches::new(clauses.len());
    windows.visit(top, |window, top| {
        let start = u32::try_from(window << windows.shift).unwrap_or(u32::MAX);
        for (number, clause) in clauses.iter_mut().enumerate() {
            clause.cursor.load_block(windows.block(number, window) as usize);
            clause.cursor.advance(start);
        }
        let end = start.saturating_add(1 << windows.shift).min(view.max_doc);
        // `offer` never breaks.
        let _ = matches.collect(clauses, &order, end, |clauses, matches| {
            matches.score(clauses, view, similarity);
            offer(top, view, &matches.docs[..matches.len], &matches.scores[..matches.len])
        });
    });
}

/// The numbers of the clauses, rarest first.
fn by_frequency(clauses: &[Clause]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..clauses.len()).collect();
    order.sort_by_key(|&number| clauses[number].cursor.doc_freq());
    order
}

/// Documents that match, gathered so that they are scored a block at a time.
struct Matches {
    docs: [u32; BLOCK],
    /// By clause.
    tfs: Vec<[u32; BLOCK]>,
    scores: [f32; BLOCK],
    len: usize,
}

impl Matches {
    fn new(clauses: usize) -> Self {
        Matches { docs: [0; BLOCK], tfs: vec![[0; BLOCK]; clauses], scores: [0.0; BLOCK], len: 0 }
    }

    /// Finds the documents below `end` from where the cursors are; `flush` gets them in batches.
    fn collect(
        &mut self,
        clauses: &mut [Clause],
        order: &[usize],
        end: u32,
        mut flush: impl FnMut(&[Clause], &mut Matches) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some((&lead, others)) = order.split_first() else { return ControlFlow::Continue(()) };
        let mut doc = clauses[lead].cursor.doc();
        while doc < end {
            let beyond = others.iter().find_map(|&other| {
                let found = clauses[other].cursor.advance(doc);
                (found > doc).then_some(found)
            });
            if let Some(beyond) = beyond {
                doc = clauses[lead].cursor.advance(beyond);
                continue;
            }
            self.docs[self.len] = doc;
            for (tfs, clause) in self.tfs.iter_mut().zip(clauses.iter_mut()) {
                tfs[self.len] = clause.cursor.tf();
            }
            self.len += 1;
            if self.len == BLOCK {
                flush(clauses, self)?;
                self.len = 0;
            }
            doc = clauses[lead].cursor.step();
        }
        if self.len > 0 {
            flush(clauses, self)?;
            self.len = 0;
        }
        ControlFlow::Continue(())
    }

    /// Scores of clauses add up in the order of the query.
    fn score<S: Similarity>(&mut self, clauses: &[Clause], view: &View, similarity: &S) {
        let (mut sums, mut scores) = ([0.0f64; BLOCK], [0.0f32; BLOCK]);
        let docs = &self.docs[..self.len];
        for (tfs, clause) in self.tfs.iter().zip(clauses) {
            score_all(similarity, clause.weight, view.norms, (docs, tfs), &mut scores[..docs.len()]);
            for (sum, &score) in sums.iter_mut().zip(&scores) {
                *sum += f64::from(score);
            }
        }
        for (score, sum) in self.scores.iter_mut().zip(sums) {
            *score = narrow(sum);
        }
    }
}
