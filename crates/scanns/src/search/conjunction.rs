//! Documents that contain all of several terms.
//!
//! The rarest term leads: its documents are taken in runs, and every other term, the rarer first, leaves those
//! of the run that it contains. Where the other list is not much longer it is joined: the run is written to an
//! array of slots by document, and one pass over the list looks every posting up there, without a branch that
//! could be mispredicted (1 to 1.5 ns a posting). A much longer list is advanced from document to document of
//! the run instead (10 to 20 ns each), which skips blocks.

use std::ops::ControlFlow;

use super::lead::LeadBlocks;
use super::run::{Clause, Sink, View, count_below, offer, postings};
use super::similarity::{Similarity, below, narrow};
use super::topk::TopK;
use super::windows::MAX_SHIFT;
use crate::codec::BLOCK;

/// Documents that a run may span where lists are joined.
const SPAN: u32 = 1 << MAX_SHIFT;

/// A list this many times as long as the run is not joined.
const MUCH_LONGER: u64 = 16;

/// Every document that all clauses have, in order.
pub(super) fn all<S: Similarity>(clauses: &mut [Clause<S>], view: &View, sink: &mut Sink) -> ControlFlow<()> {
    let order = by_frequency(clauses);
    Run::new(clauses.len()).find(clauses, &order, view, view.max_doc, sink)
}

/// The best of them: of the rarest term only blocks whose bounds compete are looked into, and of their documents only
/// those that the other terms could lift over the threshold are looked up there.
pub(super) fn top<S: Similarity>(clauses: &mut [Clause<S>], view: &View, top: &mut TopK) {
    let order = by_frequency(clauses);
    let Some((&lead, others)) = order.split_first() else { return };
    let mut run = Run::new(clauses.len());
    let blocks = LeadBlocks::new(clauses, lead, others);
    blocks.visit(lead, clauses, top, |block, clauses, top| {
        clauses[lead].cursor.load_block(block);
        let spare = blocks.others(block);
        run.take_competing(&mut clauses[lead], lead, below(top.threshold()) - spare);
        let Some(&first) = run.docs.first() else { return };
        for (place, &other) in others.iter().enumerate() {
            clauses[other].cursor.jump(blocks.enter(place, block), first);
        }
        run.intersect(clauses, &order, view);
        // `offer` never breaks.
        let _ = run.score(clauses, &mut |docs, scores| offer(top, view, docs, scores));
    });
}

/// The numbers of the clauses, rarest first.
fn by_frequency<S>(clauses: &[Clause<S>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..clauses.len()).collect();
    order.sort_by_key(|&number| clauses[number].cursor.doc_freq());
    order
}

/// Documents that all clauses looked at so far have.
struct Run {
    docs: Vec<u32>,
    /// By clause, then by document: how often the term occurs.
    tfs: Vec<Vec<u32>>,
    /// By document of the span: its place in the run, from 1. All 0 between joins; there from the first join on.
    slots: Option<Box<[u16; SPAN as usize]>>,
    /// Places in the run that the clause at hand has.
    kept: Vec<u16>,
}

impl Run {
    fn new(clauses: usize) -> Self {
        Run { docs: Vec::new(), tfs: vec![Vec::new(); clauses], slots: None, kept: Vec::new() }
    }

    /// Sends the matches below `end` from where the cursors are.
    fn find<S: Similarity>(
        &mut self,
        clauses: &mut [Clause<S>],
        order: &[usize],
        view: &View,
        end: u32,
        sink: &mut Sink,
    ) -> ControlFlow<()> {
        let Some((&lead, others)) = order.split_first() else { return ControlFlow::Continue(()) };
        while clauses[lead].cursor.doc() < end {
            // Lists that cluster often have long stretches without each other: a run begins where all have been
            // asked once what comes next.
            let mut doc = clauses[lead].cursor.doc();
            for &other in others {
                doc = doc.max(clauses[other].cursor.advance(doc));
            }
            if doc >= end {
                break;
            }
            clauses[lead].cursor.advance(doc);
            self.take(&mut clauses[lead], lead, end, view);
            self.intersect(clauses, order, view);
            self.score(clauses, sink)?;
        }
        ControlFlow::Continue(())
    }

    /// Leaves the documents of the run that all clauses have; the first in `order` has them.
    fn intersect<S: Similarity>(&mut self, clauses: &mut [Clause<S>], order: &[usize], view: &View) {
        for (place, &other) in order.iter().enumerate().skip(1) {
            let (Some(&first), Some(&last)) = (self.docs.first(), self.docs.last()) else { break };
            let span = last - first;
            let expected = u64::from(clauses[other].cursor.doc_freq()) * u64::from(span)
                / u64::from(view.max_doc.max(1));
            self.kept.clear();
            if span < SPAN && expected < MUCH_LONGER * self.docs.len() as u64 {
                self.join(&mut clauses[other], other);
            } else {
                self.probe(&mut clauses[other], other);
            }
            self.keep(&order[..place]);
        }
    }

    /// Starts a run: the documents of the block at hand in which the clause scores at least `least`.
    fn take_competing<S: Similarity>(&mut self, clause: &mut Clause<S>, number: usize, least: f64) {
        let found = postings::<S>(&mut clause.cursor);
        let mut scores = [0.0; BLOCK];
        let scores = &mut scores[..found.0.len()];
        clause.scorer.score_all(found, scores);
        self.docs.clear();
        self.tfs[number].clear();
        for ((&doc, &tf), &score) in found.0.iter().zip(found.1).zip(&*scores) {
            if f64::from(score) >= least {
                self.docs.push(doc);
                self.tfs[number].push(tf);
            }
        }
    }

    /// Starts a run: documents of the clause below `end`, as many as a block has, or a span where that is more.
    fn take<S: Similarity>(&mut self, clause: &mut Clause<S>, number: usize, end: u32, view: &View) {
        let span = u64::from(clause.cursor.doc_freq()) * u64::from(SPAN) / u64::from(view.max_doc.max(1));
        let dense = span > BLOCK as u64;
        let end = if dense { end.min(clause.cursor.doc().saturating_add(SPAN)) } else { end };
        self.docs.clear();
        self.tfs[number].clear();
        while clause.cursor.doc() < end {
            let (docs, tfs) = postings::<S>(&mut clause.cursor);
            let count = count_below(docs, end);
            self.docs.extend_from_slice(&docs[..count]);
            self.tfs[number].extend_from_slice(&tfs[..count]);
            clause.cursor.consume(count);
            if !dense {
                break;
            }
        }
    }

    /// Finds the documents of the run that `clause` has in one pass over its postings.
    fn join<S: Similarity>(&mut self, clause: &mut Clause<S>, number: usize) {
        let (Some(&first), Some(&last)) = (self.docs.first(), self.docs.last()) else { return };
        let slot = |doc: u32| (doc.wrapping_sub(first) % SPAN) as usize;
        let slots = self.slots.get_or_insert_with(|| Box::new([0; SPAN as usize]));
        for (&doc, place) in self.docs.iter().zip(1..) {
            slots[slot(doc)] = place;
        }
        let tfs = &mut self.tfs[number];
        tfs.clear();
        clause.cursor.advance(first);
        while clause.cursor.doc() <= last {
            let found = postings::<S>(&mut clause.cursor);
            let count = count_below(found.0, last + 1);
            let (mut kept, mut kept_tfs, mut len) = ([0; BLOCK], [0; BLOCK], 0);
            for (&doc, &tf) in found.0[..count].iter().zip(found.1) {
                let place = slots[slot(doc)];
                (kept[len % BLOCK], kept_tfs[len % BLOCK]) = (place.wrapping_sub(1), tf);
                len += usize::from(place > 0);
            }
            self.kept.extend_from_slice(&kept[..len]);
            tfs.extend_from_slice(&kept_tfs[..len]);
            clause.cursor.consume(count);
        }
        for &doc in &self.docs {
            slots[slot(doc)] = 0;
        }
    }

    /// Finds the documents of the run that `clause` has by advancing to each.
    fn probe<S: Similarity>(&mut self, clause: &mut Clause<S>, number: usize) {
        let tfs = &mut self.tfs[number];
        tfs.clear();
        for (&doc, place) in self.docs.iter().zip(0..) {
            if clause.cursor.advance(doc) == doc {
                self.kept.push(place);
                tfs.push(if S::SCORED { clause.cursor.tf() } else { 0 });
            }
        }
    }

    /// Drops all but the kept places from the run and from the frequencies of the clauses before.
    fn keep(&mut self, before: &[usize]) {
        compact(&mut self.docs, &self.kept);
        for &number in before {
            compact(&mut self.tfs[number], &self.kept);
        }
    }

    /// Sends the run; scores of clauses add up in the order of the query.
    fn score<S: Similarity>(&self, clauses: &[Clause<S>], sink: &mut Sink) -> ControlFlow<()> {
        for (part, docs) in self.docs.chunks(BLOCK).enumerate() {
            let (mut sums, mut scores) = ([0.0f64; BLOCK], [0.0f32; BLOCK]);
            let scores = &mut scores[..docs.len()];
            for (tfs, clause) in self.tfs.iter().zip(clauses) {
                clause.scorer.score_all((docs, &tfs[part * BLOCK..]), scores);
                for (sum, &score) in sums.iter_mut().zip(&*scores) {
                    *sum += f64::from(score);
                }
            }
            for (score, sum) in scores.iter_mut().zip(sums) {
                *score = narrow(sum);
            }
            sink(docs, scores)?;
        }
        ControlFlow::Continue(())
    }
}

/// Leaves the entries of `list` at `places`, which rise.
fn compact(list: &mut Vec<u32>, places: &[u16]) {
    for (to, &from) in places.iter().enumerate() {
        list[to] = list[usize::from(from)];
    }
    list.truncate(places.len());
}
