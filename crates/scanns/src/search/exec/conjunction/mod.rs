//! Documents that contain everything a query requires, and nothing that it excludes.
//!
//! `in_windows.rs` lays lists of similar lengths over each other as bits. `candidates.rs` intersects other
//! lists, one run of documents at a time. If phrases or optional terms are involved, documents that cannot
//! compete are dropped before positions are read and optional lists are searched.

pub(crate) mod batch_sums;
pub(crate) mod candidates;
pub(crate) mod clauses;
pub(crate) mod in_windows;
pub(crate) mod lead_blocks;
pub(crate) mod phrase_batch;

use std::ops::ControlFlow;

use crate::codec::BLOCK;
use crate::search::exec::conjunction::phrase_batch::{PhraseBatch, PhraseCounting, PhraseFact};
use crate::search::exec::goal::Sink;
use crate::search::exec::live_filter::{LiveFilter, offer};
use crate::search::exec::view::View;
use crate::search::similarity::{PostingsSlice, Similarity, below};
use crate::search::top_k::TopK;
use batch_sums::BatchSums;
use candidates::{Candidates, compact};
use clauses::{Conjunct, Conjunction};
use lead_blocks::LeadBlocks;

/// Every match, in order.
pub(crate) fn all<'a, S: Similarity>(
    parts: &mut Conjunction<'a, S>,
    view: &View<'a>,
    sink: &mut Sink,
) -> ControlFlow<()> {
    each_run(parts, view, PhraseFact::Frequency, |search, parts| {
        search.look_up_optional(parts);
        search.score(parts, sink)
    })
}

/// The number of matches that are not deleted.
pub(crate) fn count<'a, S: Similarity>(parts: &mut Conjunction<'a, S>, view: &View<'a>) -> u64 {
    let mut count = 0;
    // Counting never breaks.
    let _ = each_run(parts, view, PhraseFact::Presence, |search, _| {
        count += view.count_kept(&search.found.docs);
        ControlFlow::Continue(())
    });
    count
}

/// Calls `each` with one run of matches after another, in order.
fn each_run<'a, S: Similarity>(
    parts: &mut Conjunction<'a, S>,
    view: &View<'a>,
    wanted: PhraseFact,
    mut each: impl FnMut(&mut ConjunctionRun, &mut Conjunction<'a, S>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let order = parts.order();
    let Some((&lead, others)) = order.split_first() else { return ControlFlow::Continue(()) };
    let mut search = ConjunctionRun { wanted, ..ConjunctionRun::new(parts, view, &order) };
    parts.clauses[lead].cursor.advance(view.first);
    while parts.clauses[lead].cursor.doc() < view.end && !view.clock.is_up() {
        // Clustered lists often have long stretches without common documents. So each list is advanced once
        // before a run begins.
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
        search.found.retain_kept(&[lead], view);
        search.found.intersect(&mut parts.clauses, &order, view);
        search.exclude(parts);
        search.count_phrases(parts);
        each(&mut search, parts)?;
    }
    ControlFlow::Continue(())
}

/// The best matches. Only blocks of the rarest term whose bounds compete are read, and only documents that
/// the other terms could lift over the threshold are looked up.
pub(crate) fn top<S: Similarity>(parts: &mut Conjunction<S>, view: &View, top: &mut TopK) {
    let order = parts.order();
    let Some((&lead, others)) = order.split_first() else { return };
    let mut search = ConjunctionRun::new(parts, view, &order);
    let blocks = LeadBlocks::new(parts, lead, view);
    let plain = parts.is_plain();
    let mut keep = LiveFilter::new(view, Vec::new());
    blocks.visit(lead, parts, view, top, |block, parts, top| {
        parts.clauses[lead].cursor.load_block(block);
        search.found.take_block(&mut parts.clauses[lead], lead, view);
        search.found.retain_kept(&[lead], view);
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

struct ConjunctionRun<'v, 'a> {
    view: &'v View<'a>,
    /// The required clauses, rarest first.
    order: &'v [usize],
    found: Candidates,
    /// By required phrase, then by candidate: the frequency of the phrase.
    freqs: Vec<Vec<f32>>,
    /// What is to be known about phrases.
    wanted: PhraseFact,
    batch: PhraseBatch,
    /// Of the required and of the optional clauses.
    sums: Box<[BatchSums; 2]>,
}

impl<'v, 'a> ConjunctionRun<'v, 'a> {
    fn new<S: Similarity>(parts: &Conjunction<S>, view: &'v View<'a>, order: &'v [usize]) -> Self {
        let found = Candidates::new(parts.in_phrases());
        ConjunctionRun {
            view,
            order,
            found,
            freqs: vec![Vec::new(); parts.required.len()],
            wanted: PhraseFact::Frequency,
            batch: PhraseBatch::default(),
            sums: Box::new([BatchSums::new(), BatchSums::new()]),
        }
    }

    /// Drops candidates of one block of the lead whose score from the lead's term or phrase is below `least`.
    fn keep_own<S: Similarity>(&mut self, parts: &Conjunction<S>, lead: usize, least: f64) {
        let own = parts.required.iter().find(|part| part.clauses().contains(&lead));
        self.keep_bounded(parts, own.into_iter(), &[lead], least);
    }

    /// Drops candidates, at most a block of them, whose required terms cannot score `least`.
    fn keep_competing<S: Similarity>(&mut self, parts: &Conjunction<S>, least: f64) {
        self.keep_bounded(parts, parts.required.iter(), self.order, least);
    }

    fn keep_bounded<'p, 's, S: Similarity>(
        &mut self,
        parts: &'p Conjunction<'s, S>,
        of: impl Iterator<Item = &'p Conjunct<'s, S>>,
        known: &[usize],
        least: f64,
    ) {
        let mut sums = [0.0; BLOCK];
        let sums = &mut sums[..self.found.docs.len()];
        for part in of {
            part.add_bounds(&parts.clauses, known, &self.found, sums);
        }
        self.found.retain(known, sums, least);
    }

    fn exclude<S: Similarity>(&mut self, parts: &mut Conjunction<S>) {
        for &excluded in &parts.excluded {
            self.found.exclude(&mut parts.clauses[excluded], self.order, self.view);
        }
    }

    fn look_up_optional<S: Similarity>(&mut self, parts: &mut Conjunction<S>) {
        for &optional in &parts.optional {
            self.found.look_up(&mut parts.clauses, optional, self.view);
        }
    }

    /// Keeps the candidates that contain all phrases.
    fn count_phrases<S: Similarity>(&mut self, parts: &mut Conjunction<S>) {
        let counting = PhraseCounting { wanted: self.wanted, clock: self.view.clock };
        for number in 0..parts.required.len() {
            let Conjunct::Phrase(phrase) = &mut parts.required[number] else { continue };
            let (before, freqs) = self.freqs.split_at_mut(number);
            let Some(freqs) = freqs.first_mut() else { continue };
            phrase.count(&self.found, &mut self.batch, counting, freqs);
            self.found.retain(self.order, freqs, f32::MIN_POSITIVE);
            let kept = self.found.retained();
            compact(freqs, kept);
            before.iter_mut().filter(|freqs| !freqs.is_empty()).for_each(|freqs| compact(freqs, kept));
        }
    }

    /// Sends the candidates. Scores of clauses add up in the order of the query.
    fn score<S: Similarity>(&mut self, parts: &Conjunction<S>, sink: &mut Sink) -> ControlFlow<()> {
        let [sums, more] = &mut *self.sums;
        for (chunk, docs) in self.found.docs.chunks(BLOCK).enumerate() {
            let start = chunk * BLOCK;
            for (part, freqs) in parts.required.iter().zip(&self.freqs) {
                sums.add(docs.len(), |scores| match part {
                    Conjunct::Term(clause) => {
                        let tfs = &self.found.tfs[*clause][start..];
                        parts.clauses[*clause].scorer.score_all(PostingsSlice { docs, tfs }, scores);
                    }
                    Conjunct::Phrase(phrase) => phrase.score_all(docs, &freqs[start..], scores),
                });
            }
            let scores = sums.take(docs.len());
            for &optional in &parts.optional {
                let tfs = &self.found.tfs[optional][start..start + docs.len()];
                more.add_present(tfs, |scores| {
                    parts.clauses[optional].scorer.score_all(PostingsSlice { docs, tfs }, scores);
                });
            }
            if !parts.optional.is_empty() {
                // The sum of the optional terms is rounded on its own.
                scores.iter_mut().zip(more.take(docs.len())).for_each(|(score, more)| *score += *more);
            }
            sink(docs, scores)?;
        }
        ControlFlow::Continue(())
    }
}
