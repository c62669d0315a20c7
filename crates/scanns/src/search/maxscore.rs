//! The best documents that contain any of several terms: MaxScore within windows.
//!
//! In a window the clauses are sorted by what they can add there. Those that could not lift a document over the
//! threshold even together are not essential: only documents of the others are candidates, and they are looked
//! up in the non-essential lists one after the other, as long as they can still compete. Sums built in that
//! order may round otherwise than in the order of the query, so candidates pass if they come close, and what is
//! left is scored again in order. Some clauses may be required: of what is left, only what has them is a hit.

use std::ops::ControlFlow;

use super::accumulate::Accumulators;
use super::keep::Keep;
use super::run::{Clause, count_below};
use super::similarity::{Similarity, above, below, narrow};
use super::topk::TopK;
use super::windows::{ABSENT, Windows};
use crate::codec::BLOCK;

/// What a bound of a sum that is rounded once lacks to one of two sums that are rounded before they are added.
const ROUNDED_TWICE: f32 = 1.0 + 5e-7;

/// The best hits. They must match the first `required` clauses.
pub(super) fn top<S: Similarity>(
    clauses: &mut [Clause<S>],
    required: usize,
    keep: &mut Keep,
    top: &mut TopK,
) {
    let slack = if required == 0 { 1.0 } else { ROUNDED_TWICE };
    let clock = keep.view.clock;
    let windows = Windows::new(clauses, keep.view, slack);
    let sums = Accumulators::new(clauses, keep.view);
    let mut search = MaxScore {
        clauses,
        required,
        keep,
        windows: &windows,
        window: 0,
        ranked: Vec::new(),
        sums,
        candidates: Vec::new(),
    };
    windows.visit(clock, top, |window, top| search.visit(window, top));
}

/// A clause that has postings in the window.
#[derive(Clone, Copy)]
struct Ranked {
    clause: usize,
    /// What it can add.
    bound: f64,
    /// What it and the clauses before it can add.
    up_to: f64,
}

struct MaxScore<'m, 'v, 'w, 'a, S> {
    clauses: &'m mut [Clause<'a, S>],
    required: usize,
    keep: &'m mut Keep<'v, 'w>,
    windows: &'m Windows,
    window: usize,
    /// By rising bound.
    ranked: Vec<Ranked>,
    sums: Accumulators,
    /// Documents and what they have so far, by document.
    candidates: Vec<(u32, f64)>,
}

impl<S: Similarity> MaxScore<'_, '_, '_, '_, S> {
    fn visit(&mut self, window: usize, top: &mut TopK) {
        self.window = window;
        let start = u32::try_from(window << self.windows.shift).unwrap_or(u32::MAX);
        let end = start.saturating_add(1 << self.windows.shift);
        self.rank();
        let optional = self.ranked.iter().take_while(|entry| !top.admits(above(entry.up_to), start)).count();
        let spare = optional.checked_sub(1).map_or(0.0, |last| self.ranked[last].up_to);
        self.candidates.clear();
        match self.ranked.len() - optional {
            0 => return,
            1 => self.take_from_one(self.ranked[optional].clause, (start, end), spare, top.threshold()),
            _ => self.take_from_many(optional, (start, end), spare, top.threshold()),
        }
        for place in (0..optional).rev() {
            self.look_up(place, start, top.threshold());
        }
        self.finish(start, top);
    }

    fn rank(&mut self) {
        self.ranked.clear();
        for clause in 0..self.clauses.len() {
            if self.windows.block(clause, self.window) != ABSENT {
                let bound = f64::from(self.windows.bound(clause, self.window));
                self.ranked.push(Ranked { clause, bound, up_to: 0.0 });
            }
        }
        self.ranked.sort_by(|left, right| left.bound.total_cmp(&right.bound));
        let mut sum = 0.0;
        for entry in &mut self.ranked {
            sum += entry.bound;
            entry.up_to = sum;
        }
    }

    /// Moves a cursor to its first document from `start` on; the block is already known.
    fn enter(&mut self, clause: usize, start: u32) {
        let cursor = &mut self.clauses[clause].cursor;
        cursor.load_block(self.windows.block(clause, self.window) as usize);
        cursor.advance(start);
    }

    /// Candidates of the only essential clause.
    fn take_from_one(&mut self, clause: usize, (start, end): (u32, u32), spare: f64, threshold: f32) {
        self.enter(clause, start);
        let clause = &mut self.clauses[clause];
        let least = below(threshold) - spare;
        let mut scores = [0.0; BLOCK];
        while clause.cursor.doc() < end {
            let (docs, tfs) = clause.cursor.rest_of_block();
            let count = count_below(docs, end);
            let docs = &docs[..count];
            clause.scorer.score_all((docs, tfs), &mut scores[..count]);
            let pairs = docs.iter().zip(&scores).map(|(&doc, &score)| (doc, f64::from(score)));
            self.candidates.extend(pairs.filter(|&(_, score)| score >= least));
            clause.cursor.consume(count);
        }
    }

    /// Candidates of the essential clauses, those from place `optional` on.
    fn take_from_many(&mut self, optional: usize, (start, end): (u32, u32), spare: f64, threshold: f32) {
        // In the order of the query, so that rounding differs as rarely as possible.
        for clause in 0..self.clauses.len() {
            if self.ranked[optional..].iter().any(|entry| entry.clause == clause) {
                self.enter(clause, start);
                self.sums.add(&mut self.clauses[clause], (start, end));
            }
        }
        let least = below(threshold) - spare;
        let candidates = &mut self.candidates;
        let same = |sum| sum;
        let _ = self.sums.drain(start, same, |docs, sums| {
            let found = docs.iter().copied().zip(sums.iter().copied());
            candidates.extend(found.filter(|&(_, sum)| sum >= least));
            ControlFlow::Continue(())
        });
    }

    /// Adds what the clause at `place` has for the candidates that can still compete.
    fn look_up(&mut self, place: usize, start: u32, threshold: f32) {
        let least = below(threshold) - self.ranked[place].up_to;
        self.candidates.retain(|&(_, sum)| sum >= least);
        if self.candidates.is_empty() {
            return;
        }
        self.enter(self.ranked[place].clause, start);
        let clause = &mut self.clauses[self.ranked[place].clause];
        for (doc, sum) in &mut self.candidates {
            if clause.cursor.advance(*doc) == *doc {
                *sum += score_one(clause, *doc);
            }
        }
    }

    /// The score of a document, if it has all that is required: what is required and what is not are rounded apart.
    fn score_required(&mut self, doc: u32) -> Option<f32> {
        let (mut required, mut optional, mut matched) = (0.0, 0.0, 0);
        for entry in &self.ranked {
            let clause = &mut self.clauses[entry.clause];
            if clause.cursor.advance(doc) != doc {
                continue;
            }
            let score = score_one(clause, doc);
            if entry.clause < self.required {
                (required, matched) = (required + score, matched + 1);
            } else {
                optional += score;
            }
        }
        (matched == self.required).then(|| narrow(required) + narrow(optional))
    }

    /// Offers the candidates that are left, in order.
    fn finish(&mut self, start: u32, top: &mut TopK) {
        let least = below(top.threshold());
        self.candidates.retain(|&(_, sum)| sum >= least);
        // Two scores add up to the same whatever their order.
        let again = self.ranked.len() > 2 || self.required > 0;
        if again && !self.candidates.is_empty() {
            for place in 0..self.ranked.len() {
                self.enter(self.ranked[place].clause, start);
            }
            self.ranked.sort_by_key(|entry| entry.clause);
        }
        for place in 0..self.candidates.len() {
            let (doc, mut sum) = self.candidates[place];
            if sum < below(top.threshold()) || !self.keep.keeps(doc) {
                continue;
            }
            if self.required > 0 {
                if let Some(score) = self.score_required(doc) {
                    top.push(doc, score);
                }
                continue;
            }
            if again {
                sum = self.ranked.iter().fold(0.0, |sum, entry| {
                    let clause = &mut self.clauses[entry.clause];
                    let found = clause.cursor.advance(doc) == doc;
                    if found { sum + score_one(clause, doc) } else { sum }
                });
            }
            top.push(doc, narrow(sum));
        }
    }
}

/// The score of a clause for `doc`, where its cursor is.
#[inline]
fn score_one<S: Similarity>(clause: &mut Clause<S>, doc: u32) -> f64 {
    f64::from(clause.scorer.score(doc, clause.cursor.tf()))
}
