//! Documents that have all that a query requires, and nothing that it excludes.
//!
//! Documents that all lists have are found a run at a time, see `candidates.rs`. Where a phrase is required or something
//! only adds to scores, those that cannot compete are dropped before positions are read and lists are looked into.

use std::ops::ControlFlow;

use super::candidates::{Candidates, compact};
use super::keep::{Keep, offer};
use super::lead::LeadBlocks;
use super::parts::{Part, Parts};
use super::run::{Sink, View};
use super::similarity::{Similarity, below, narrow};
use super::together::Together;
use super::topk::TopK;
use crate::codec::BLOCK;

/// Every match, in order.
pub(super) fn all<'a, S: Similarity>(
    parts: &mut Parts<'a, S>,
    view: &View<'a>,
    sink: &mut Sink,
) -> ControlFlow<()> {
    each_run(parts, view, |search, parts| {
        search.look_up_optional(parts);
        search.score(parts, sink)
    })
}

/// How many there are that are not deleted.
pub(super) fn count<'a, S: Similarity>(parts: &mut Parts<'a, S>, view: &View<'a>) -> u64 {
    let mut count = 0;
    // Counting never breaks.
    let _ = each_run(parts, view, |search, _| {
        count += view.count_kept(&search.found.docs);
        ControlFlow::Continue(())
    });
    count
}

/// Calls `each` with a run of matches after the other, in order.
fn each_run<'a, S: Similarity>(
    parts: &mut Parts<'a, S>,
    view: &View<'a>,
    mut each: impl FnMut(&mut Search, &mut Parts<'a, S>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let order = parts.order();
    let Some((&lead, others)) = order.split_first() else { return ControlFlow::Continue(()) };
    let mut search = Search::new(parts, view, &order);
    parts.clauses[lead].cursor.advance(view.first);
    while parts.clauses[lead].cursor.doc() < view.end && !view.clock.is_up() {
        // Lists that cluster often have long stretches without each other: a run begins where all have been asked once
        // what comes next.
        let mut doc = parts.clauses[lead].cursor.doc();
        for &other in others {
            doc = doc.max(parts.clauses[other].cursor.advance(doc));
        }
        if doc >= view.end {
            break;
        }
        if parts.clauses[lead].cursor.advance(doc) >= view.end {
            break;
        }
        search.found.take(&mut parts.clauses[lead], lead, view);
        search.found.intersect(&mut parts.clauses, &order, view);
        search.exclude(parts);
        search.count_phrases(parts);
        each(&mut search, parts)?;
    }
    ControlFlow::Continue(())
}

/// The best of them: of the rarest term only blocks whose bounds compete are looked into, and of their documents only
/// those that the rest could lift over the threshold are looked for elsewhere.
pub(super) fn top<S: Similarity>(parts: &mut Parts<S>, view: &View, top: &mut TopK) {
    let order = parts.order();
    let Some((&lead, others)) = order.split_first() else { return };
    let mut search = Search::new(parts, view, &order);
    let blocks = LeadBlocks::new(parts, lead, view);
    let plain = parts.is_plain();
    let mut keep = Keep::new(view, Vec::new());
    blocks.visit(lead, parts, view, top, |block, parts, top| {
        parts.clauses[lead].cursor.load_block(block);
        search.found.take_block(&mut parts.clauses[lead], lead, view);
        search.keep_own(parts, lead, below(top.threshold()) - blocks.others(block));
        let Some(&first) = search.found.docs.first() else { return };
        for &other in others {
            parts.clauses[other].cursor.seek(first);
        }
        search.found.intersect(&mut parts.clauses, &order, view);
        if !plain && !search.found.docs.is_empty() {
            search.keep_competing(parts, below(top.threshold()) - blocks.optional(block));
            let Some(&first) = search.found.docs.first() else { return };
            for &other in parts.excluded.iter().chain(&parts.optional) {
                parts.clauses[other].cursor.seek(first);
            }
            search.exclude(parts);
            search.count_phrases(parts);
            search.look_up_optional(parts);
        }
        // `offer` never breaks.
        let _ = search.score(parts, &mut |docs, scores| offer(top, &mut keep, docs, scores));
    });
}

struct Search<'v, 'a> {
    view: &'v View<'a>,
    /// The clauses that must match, rarest first.
    order: &'v [usize],
    found: Candidates,
    /// By required part that is a phrase, then by candidate: what it counts.
    freqs: Vec<Vec<f32>>,
    together: Together,
}

impl<'v, 'a> Search<'v, 'a> {
    fn new<S: Similarity>(parts: &Parts<S>, view: &'v View<'a>, order: &'v [usize]) -> Self {
        let found = Candidates::new(parts.in_phrases());
        Search {
            view,
            order,
            found,
            freqs: vec![Vec::new(); parts.required.len()],
            together: Together::default(),
        }
    }

    /// Drops candidates, which are of one block of the lead, whose score from the part of the lead is below `least`.
    fn keep_own<S: Similarity>(&mut self, parts: &Parts<S>, lead: usize, least: f64) {
        let own = parts.required.iter().find(|part| part.clauses().contains(&lead));
        self.keep_bounded(parts, &own.into_iter().collect::<Vec<_>>(), &[lead], least);
    }

    /// Drops candidates, not more than a block, whose required parts cannot score `least`.
    fn keep_competing<S: Similarity>(&mut self, parts: &Parts<S>, least: f64) {
        self.keep_bounded(parts, &parts.required.iter().collect::<Vec<_>>(), self.order, least);
    }

    fn keep_bounded<S: Similarity>(
        &mut self,
        parts: &Parts<S>,
        of: &[&Part<S>],
        known: &[usize],
        least: f64,
    ) {
        let mut sums = [0.0; BLOCK];
        let found = (&self.found.docs[..], &self.found.tfs[..]);
        let sums = &mut sums[..found.0.len()];
        for part in of {
            part.add_bounds(&parts.clauses, known, found, sums);
        }
        self.found.retain(known, sums, least);
    }

    fn exclude<S: Similarity>(&mut self, parts: &mut Parts<S>) {
        for &excluded in &parts.excluded {
            self.found.exclude(&mut parts.clauses[excluded], self.order, self.view);
        }
    }

    fn look_up_optional<S: Similarity>(&mut self, parts: &mut Parts<S>) {
        for &optional in &parts.optional {
            self.found.look_up(&mut parts.clauses, optional, self.view);
        }
    }

    /// Leaves the candidates that have all phrases.
    fn count_phrases<S: Similarity>(&mut self, parts: &mut Parts<S>) {
        for number in 0..parts.required.len() {
            let Part::Phrase(phrase) = &mut parts.required[number] else { continue };
            let (before, freqs) = self.freqs.split_at_mut(number);
            let Some(freqs) = freqs.first_mut() else { continue };
            phrase.count(&self.found, &mut self.together, self.view.clock, freqs);
            self.found.retain(self.order, freqs, f32::MIN_POSITIVE);
            let kept = self.found.retained();
            compact(freqs, kept);
            before.iter_mut().filter(|freqs| !freqs.is_empty()).for_each(|freqs| compact(freqs, kept));
        }
    }

    /// Sends the candidates; scores of clauses add up in the order of the query.
    fn score<S: Similarity>(&self, parts: &Parts<S>, sink: &mut Sink) -> ControlFlow<()> {
        for (chunk, docs) in self.found.docs.chunks(BLOCK).enumerate() {
            let start = chunk * BLOCK;
            let (mut sums, mut scores) = ([0.0f64; BLOCK], [0.0f32; BLOCK]);
            let scores = &mut scores[..docs.len()];
            for (part, freqs) in parts.required.iter().zip(&self.freqs) {
                match part {
                    Part::Term(clause) => {
                        let tfs = &self.found.tfs[*clause][start..];
                        parts.clauses[*clause].scorer.score_all((docs, tfs), scores);
                    }
                    Part::Phrase(phrase) => phrase.score_all(docs, &freqs[start..], scores),
                }
                for (sum, &score) in sums.iter_mut().zip(&*scores) {
                    *sum += f64::from(score);
                }
            }
            for (score, sum) in scores.iter_mut().zip(sums) {
                *score = narrow(sum);
            }
            if !parts.optional.is_empty() {
                self.add_optional(parts, (start, docs), scores);
            }
            sink(docs, scores)?;
        }
        ControlFlow::Continue(())
    }

    /// Adds the sum of what is optional, which is rounded on its own.
    fn add_optional<S: Similarity>(
        &self,
        parts: &Parts<S>,
        (start, docs): (usize, &[u32]),
        scores: &mut [f32],
    ) {
        let (mut sums, mut own) = ([0.0f64; BLOCK], [0.0f32; BLOCK]);
        for &optional in &parts.optional {
            let tfs = &self.found.tfs[optional][start..];
            let own = &mut own[..docs.len()];
            parts.clauses[optional].scorer.score_all((docs, tfs), own);
            for ((sum, &score), &tf) in sums.iter_mut().zip(&*own).zip(tfs) {
                // Not every model gives 0 for what does not occur.
                *sum += if tf > 0 { f64::from(score) } else { 0.0 };
            }
        }
        for (score, sum) in scores.iter_mut().zip(sums) {
            *score += narrow(sum);
        }
    }
}
