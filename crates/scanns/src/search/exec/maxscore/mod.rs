//! The best documents that contain any of several terms: MaxScore within windows.
//!
//! In each window the clauses are sorted by the maximum that they can add. Clauses that together could not
//! lift a document over the threshold are not essential: only documents of the other clauses are candidates.
//! They are looked up in the non-essential lists one list after another, as long as they can still compete.
//!
//! Sums in that order may round differently from sums in the order of the query, so candidates pass if they
//! come close, and the remaining ones are scored again in query order. Mostly that is not needed: the scores
//! of a term are multiples of a number not much smaller than its weight, so sums have enough places to be
//! exact in any order, and documents that only equal the worst hit are dismissed immediately.
//!
//! Some clauses may be required; the remaining candidates are hits only if they contain all of these. Or the
//! best clause of each group decides its score, which is never more than the sum of the group.

pub(crate) mod score_candidates;

use std::ops::{ControlFlow, Range};

use super::windows::{ABSENT, WindowBounds};
use crate::codec::{BLOCK, count_below};
use crate::search::best_score::BestScore;
use crate::search::exec::bound_terms::Clause;
use crate::search::exec::disjunction::accumulate::Accumulators;
use crate::search::exec::live_filter::LiveFilter;
use crate::search::similarity::{PostingsSlice, Similarity, above, below, narrow};
use crate::search::top_k::TopK;
use score_candidates::ScoreCandidates;

/// The factor by which a sum that is rounded once may fall short of the sum of two sums that are rounded
/// apart.
const ROUNDED_TWICE: f32 = 1.0 + 5e-7;

/// How the scores of clauses make the score of a document.
pub(crate) enum Scoring {
    /// They are added up.
    Sum,
    /// Documents must contain this many clauses, which are the first. The scores of required and optional
    /// clauses are added up apart.
    Required(usize),
    /// The best clause of each group counts, and the scores of the groups are added up.
    Best(Vec<ClauseGroup>),
}

/// Clauses beside each other, of which the best one decides their score.
pub(crate) struct ClauseGroup {
    /// The number of clauses in this group and those before it.
    pub(crate) end: usize,
    /// The factor of the scores that are not the highest.
    pub(crate) tie: f32,
}

/// The best hits.
pub(crate) fn top<S: Similarity>(
    clauses: &mut [Clause<S>],
    scoring: Scoring,
    keep: &mut LiveFilter,
    top: &mut TopK,
) {
    let (required, groups) = match scoring {
        Scoring::Sum => (0, Vec::new()),
        Scoring::Required(required) => (required, Vec::new()),
        Scoring::Best(groups) => (0, groups),
    };
    let is_sum = required == 0 && groups.is_empty();
    let slack = if is_sum { 1.0 } else { ROUNDED_TWICE };
    let clock = keep.view.clock;
    let windows = WindowBounds::new(clauses, keep.view, slack);
    let sums = Accumulators::new();
    let exact = is_sum && are_exact(clauses, windows.highest());
    let mut search = MaxScore {
        clauses,
        required,
        groups,
        exact,
        keep,
        windows: &windows,
        window: 0,
        ranked: Vec::new(),
        sums,
        candidates: ScoreCandidates::default(),
    };
    windows.visit(clock, top, |window, top| search.visit(window, top));
}

/// The number of integers that 64-bit floats represent exactly.
const PLACES: f64 = 9_007_199_254_740_992.0;

/// True if no sum of scores rounds: all are multiples of the same number, and small enough multiples of it.
fn are_exact<S: Similarity>(clauses: &[Clause<S>], highest: f64) -> bool {
    let units: Option<Vec<f64>> = clauses.iter().map(|clause| clause.scorer.unit()).collect();
    units.is_some_and(|units| highest <= PLACES * units.into_iter().fold(f64::INFINITY, f64::min))
}

/// Looking up a document takes as long as scoring this many postings.
const LOOK_UP: u64 = 6;

/// A clause with postings in the window.
#[derive(Clone, Copy)]
struct Ranked {
    clause: usize,
    /// The maximum that it can add.
    bound: f64,
    /// The maximum that it and the clauses before it can add.
    up_to: f64,
}

struct MaxScore<'m, 'v, 'w, 'a, S> {
    clauses: &'m mut [Clause<'a, S>],
    required: usize,
    /// The groups of the clauses; none if all scores are added up.
    groups: Vec<ClauseGroup>,
    /// True if sums are the same in any order.
    exact: bool,
    keep: &'m mut LiveFilter<'v, 'w>,
    windows: &'m WindowBounds,
    window: usize,
    /// Sorted by ascending bound.
    ranked: Vec<Ranked>,
    sums: Accumulators,
    candidates: ScoreCandidates,
}

impl<S: Similarity> MaxScore<'_, '_, '_, '_, S> {
    fn visit(&mut self, window: usize, top: &mut TopK) {
        self.window = window;
        let start = self.windows.first_of(window);
        let docs = start..start.saturating_add(1 << self.windows.shift);
        if !self.keep.view.may_keep(docs.clone()) {
            return;
        }
        self.rank();
        let optional = self.ranked.iter().take_while(|entry| !top.admits(above(entry.up_to), start)).count();
        let spare = optional.checked_sub(1).map_or(0.0, |last| self.ranked[last].up_to);
        let least = self.least(top, start);
        self.candidates.clear();
        match self.ranked.len() - optional {
            0 => return,
            1 => self.take_from_one(self.ranked[optional].clause, &docs, least - spare),
            _ => self.take_from_many(optional, &docs, least - spare),
        }
        if let Some(kept) = self.keep.view.shown_bits() {
            self.candidates.retain_bits(kept);
        }
        for place in (0..optional).rev() {
            self.look_up(place, &docs, least);
        }
        self.finish(start, top);
    }

    /// The least sum of a document from `start` on that becomes a hit.
    fn least(&self, top: &TopK, start: u32) -> f64 {
        let threshold = top.threshold();
        let (low, high) = if top.admits(threshold, start) {
            (threshold.next_down(), threshold)
        } else {
            (threshold, threshold.next_up())
        };
        if !self.exact || !low.is_finite() || !high.is_finite() {
            return below(threshold);
        }
        // Sums above the middle may be rounded up.
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

    /// Finds the candidates of the only essential clause.
    fn take_from_one(&mut self, clause: usize, window: &Range<u32>, least: f64) {
        self.enter(clause, window.start);
        let clause = &mut self.clauses[clause];
        let mut scores = [0.0; BLOCK];
        while clause.cursor.doc() < window.end {
            let (docs, tfs) = clause.cursor.rest_of_block();
            let count = count_below(docs, window.end);
            let docs = &docs[..count];
            clause.scorer.score_all(PostingsSlice { docs, tfs }, &mut scores[..count]);
            self.candidates.extend_at_least(docs, &scores, least);
            clause.cursor.consume(count);
        }
    }

    /// Finds the candidates of the essential clauses, which begin at index `optional`.
    fn take_from_many(&mut self, optional: usize, window: &Range<u32>, least: f64) {
        // In query order, so that rounding differs as rarely as possible.
        for clause in 0..self.clauses.len() {
            if self.ranked[optional..].iter().any(|entry| entry.clause == clause) {
                self.enter(clause, window.start);
                self.sums.add(&mut self.clauses[clause], window.start, window.end);
            }
        }
        let candidates = &mut self.candidates;
        let _ = self.sums.drain(window.start, least, |docs, sums| {
            candidates.extend(docs, sums);
            ControlFlow::Continue(())
        });
    }

    /// Adds the scores of the clause at index `place` for the candidates that can still reach a sum of
    /// `least`.
    fn look_up(&mut self, place: usize, window: &Range<u32>, least: f64) {
        let least = least - self.ranked[place].up_to;
        self.candidates.retain(least);
        let Some(first) = self.candidates.first() else { return };
        let number = self.ranked[place].clause;
        self.enter(number, first);
        let postings = u64::from(self.clauses[number].cursor.doc_freq());
        let in_window = (postings << self.windows.shift) / u64::from(self.keep.view.max_doc.max(1));
        if in_window < LOOK_UP * self.candidates.len() as u64 {
            self.candidates.join(&mut self.clauses[number], window);
            return;
        }
        let clause = &mut self.clauses[number];
        for (doc, sum) in self.candidates.iter_mut() {
            if clause.cursor.advance(doc) == doc {
                *sum += score_one(clause, doc);
            }
        }
    }

    /// The score of a document if it contains all required clauses. Required and optional sums are rounded
    /// apart.
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

    /// The score of a document if the best clause of each group counts.
    fn score_groups(&mut self, doc: u32) -> f32 {
        let mut ranked = self.ranked.iter().peekable();
        let mut sum = 0.0;
        for group in &self.groups {
            let mut best = BestScore::new();
            while let Some(entry) = ranked.next_if(|entry| entry.clause < group.end) {
                let clause = &mut self.clauses[entry.clause];
                if clause.cursor.advance(doc) == doc {
                    best.add(clause.scorer.score(doc, clause.cursor.tf()));
                }
            }
            sum += f64::from(best.value(group.tie));
        }
        narrow(sum)
    }

    /// Offers the remaining candidates, in order.
    fn finish(&mut self, start: u32, top: &mut TopK) {
        let least = self.least(top, start);
        self.candidates.retain(least);
        // Two scores add up to the same sum in any order.
        let again = self.ranked.len() > 2 && !self.exact || self.required > 0 || !self.groups.is_empty();
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

    /// The score of a document in query order, if it contains all required clauses.
    fn score_again(&mut self, doc: u32) -> Option<f32> {
        if self.required > 0 {
            return self.score_required(doc);
        }
        if !self.groups.is_empty() {
            return Some(self.score_groups(doc));
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
