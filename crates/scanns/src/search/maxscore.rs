//! The best documents that contain any of several terms: MaxScore within windows.
//!
//! In a window the clauses are sorted by what they can add there. Those that could not lift a document over the
//! threshold even together are not essential: only documents of the others are candidates, and they are looked
//! up in the non-essential lists one after the other, as long as they can still compete. Sums built in that
//! order may round otherwise than in the order of the query, so candidates pass if they come close, and what is
//! left is scored again in order. Mostly though sums need fewer places than they have: scores of a term are multiples of
//! a number that is not much smaller than its weight. Sums are exact then in any order, and of what only equals the worst
//! hit nothing is looked at twice. Some clauses may be required: of what is left, only what has them is a hit.

use std::ops::ControlFlow;

use super::accumulate::Accumulators;
use super::contenders::Contenders;
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
    let sums = Accumulators::new();
    let exact = required == 0 && are_exact(clauses, windows.highest());
    let mut search = MaxScore {
        clauses,
        required,
        exact,
        keep,
        windows: &windows,
        window: 0,
        ranked: Vec::new(),
        sums,
        candidates: Contenders::default(),
    };
    windows.visit(clock, top, |window, top| search.visit(window, top));
}

/// Places of a sum in 64 bits.
const PLACES: f64 = 9_007_199_254_740_992.0;

/// True if no sum of scores rounds: all are multiples of the same number, and not larger ones than there are places for.
fn are_exact<S: Similarity>(clauses: &[Clause<S>], highest: f64) -> bool {
    let units: Option<Vec<f64>> = clauses.iter().map(|clause| clause.scorer.unit()).collect();
    units.is_some_and(|units| highest <= PLACES * units.into_iter().fold(f64::INFINITY, f64::min))
}

/// To look a document up takes as long as to score so many postings.
const LOOK_UP: u64 = 6;

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
    /// True if sums are the same in any order.
    exact: bool,
    keep: &'m mut Keep<'v, 'w>,
    windows: &'m Windows,
    window: usize,
    /// By rising bound.
    ranked: Vec<Ranked>,
    sums: Accumulators,
    candidates: Contenders,
}

impl<S: Similarity> MaxScore<'_, '_, '_, '_, S> {
    fn visit(&mut self, window: usize, top: &mut TopK) {
        self.window = window;
        let start = self.windows.first_of(window);
        let end = start.saturating_add(1 << self.windows.shift);
        self.rank();
        let optional = self.ranked.iter().take_while(|entry| !top.admits(above(entry.up_to), start)).count();
        let spare = optional.checked_sub(1).map_or(0.0, |last| self.ranked[last].up_to);
        let least = self.least(top, start);
        self.candidates.clear();
        match self.ranked.len() - optional {
            0 => return,
            1 => self.take_from_one(self.ranked[optional].clause, (start, end), least - spare),
            _ => self.take_from_many(optional, (start, end), least - spare),
        }
        for place in (0..optional).rev() {
            self.look_up(place, (start, end), least);
        }
        self.finish(start, top);
    }

    /// What the sum of a document from `start` on is at least if it becomes a hit.
    fn least(&self, top: &TopK, start: u32) -> f64 {
        let threshold = top.threshold();
        let (low, high) = match top.admits(threshold, start) {
            true => (threshold.next_down(), threshold),
            false => (threshold, threshold.next_up()),
        };
        if !self.exact || !low.is_finite() || !high.is_finite() {
            return below(threshold);
        }
        // What is above the middle may be rounded up.
        f64::from(low).midpoint(f64::from(high))
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
    fn take_from_one(&mut self, clause: usize, (start, end): (u32, u32), least: f64) {
        self.enter(clause, start);
        let clause = &mut self.clauses[clause];
        let mut scores = [0.0; BLOCK];
        while clause.cursor.doc() < end {
            let (docs, tfs) = clause.cursor.rest_of_block();
            let count = count_below(docs, end);
            let docs = &docs[..count];
            clause.scorer.score_all((docs, tfs), &mut scores[..count]);
            self.candidates.extend_at_least(docs, &scores, least);
            clause.cursor.consume(count);
        }
    }

    /// Candidates of the essential clauses, those from place `optional` on.
    fn take_from_many(&mut self, optional: usize, (start, end): (u32, u32), least: f64) {
        // In the order of the query, so that rounding differs as rarely as possible.
        for clause in 0..self.clauses.len() {
            if self.ranked[optional..].iter().any(|entry| entry.clause == clause) {
                self.enter(clause, start);
                self.sums.add(&mut self.clauses[clause], (start, end));
            }
        }
        let candidates = &mut self.candidates;
        let _ = self.sums.drain(start, least, |docs, sums| {
            candidates.extend(docs, sums);
            ControlFlow::Continue(())
        });
    }

    /// Adds what the clause at `place` has for the candidates that can still compete with a sum of `least`.
    fn look_up(&mut self, place: usize, (start, end): (u32, u32), least: f64) {
        let least = least - self.ranked[place].up_to;
        self.candidates.retain(least);
        let Some(first) = self.candidates.first() else { return };
        let number = self.ranked[place].clause;
        self.enter(number, first);
        let postings = u64::from(self.clauses[number].cursor.doc_freq());
        let in_window = (postings << self.windows.shift) / u64::from(self.keep.view.max_doc.max(1));
        if in_window < LOOK_UP * self.candidates.len() as u64 {
            self.candidates.join(&mut self.clauses[number], (start, end));
            return;
        }
        let clause = &mut self.clauses[number];
        for (doc, sum) in self.candidates.iter_mut() {
            if clause.cursor.advance(doc) == doc {
                *sum += score_one(clause, doc);
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
        let least = self.least(top, start);
        self.candidates.retain(least);
        // Two scores add up to the same whatever their order.
        let again = self.ranked.len() > 2 && !self.exact || self.required > 0;
        if again && self.candidates.first().is_some() {
            for place in 0..self.ranked.len() {
                self.enter(self.ranked[place].clause, start);
            }
            self.ranked.sort_by_key(|entry| entry.clause);
        }
        for place in 0..self.candidates.len() {
            let (doc, sum) = self.candidates.at(place);
            let score = match again {
                false if top.admits(narrow(sum), doc) && self.keep.keeps(doc) => Some(narrow(sum)),
                true if sum >= below(top.threshold()) && self.keep.keeps(doc) => self.score_again(doc),
                _ => None,
            };
            if let Some(score) = score {
                top.push(doc, score);
            }
        }
    }

    /// The score of a document in the order of the query, if it has all that is required.
    fn score_again(&mut self, doc: u32) -> Option<f32> {
        if self.required > 0 {
            return self.score_required(doc);
        }
        let sum = self.ranked.iter().fold(0.0, |sum, entry| {
            let clause = &mut self.clauses[entry.clause];
            if clause.cursor.advance(doc) == doc { sum + score_one(clause, doc) } else { sum }
        });
        Some(narrow(sum))
    }
}

/// The score of a clause for `doc`, where its cursor is.
#[inline]
fn score_one<S: Similarity>(clause: &mut Clause<S>, doc: u32) -> f64 {
    f64::from(clause.scorer.score(doc, clause.cursor.tf()))
}
