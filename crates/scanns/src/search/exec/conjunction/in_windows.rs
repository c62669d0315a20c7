//! Documents that contain all of several terms, none of which is much rarer than the others.
//!
//! The lists are laid over each other as bits, one window of documents at a time, and only the frequencies of
//! the matches are read: the bits of a list tell which of its postings they are.

use std::ops::ControlFlow;

use crate::codec::{BLOCK, NO_MORE, SLACK, WindowedList, count_ones, list};
use crate::error::Result;
use crate::search::exec::bits::{MatchBits, NONE, WINDOW, has};
use crate::search::exec::bound_terms::{BoundTerms, Clause};
use crate::search::exec::conjunction::batch_sums::BatchSums;
use crate::search::exec::goal::Sink;
use crate::search::exec::view::{View, keep_window};
use crate::search::leaf::damaged_list;
use crate::search::plan::shape::{Boosted, Required};
use crate::search::similarity::{PostingsSlice, Scorer, Similarity};

/// Sends every match to `sink`, in order. The query requires terms only.
pub(crate) fn all<S: Similarity>(
    wanted: &Required,
    view: &View,
    terms: BoundTerms<S>,
    sink: &mut Sink,
) -> Result<ControlFlow<()>> {
    let mut sources = Vec::with_capacity(wanted.required.len() + wanted.optional.len());
    for boosted in wanted.terms() {
        let Some(source) = terms.source(view, boosted.term)? else { return Ok(ControlFlow::Continue(())) };
        sources.push((boosted, source));
    }
    let required = sources.len();
    for &boosted in &wanted.optional {
        sources.extend(terms.source(view, boosted.term)?.map(|source| (boosted, source)));
    }
    let scored = sources.len();
    for &term in &wanted.excluded {
        sources.extend(terms.source(view, term)?.map(|source| (Boosted { term, boost: 1.0 }, source)));
    }
    let mut clauses = Vec::with_capacity(sources.len());
    for (boosted, source) in &sources {
        clauses.push(RankedClause::new(terms.clause(view, *boosted, source)?));
    }
    let flow = TermWindows::new(&mut clauses, required, scored).run(view, sink);
    let damaged = clauses.iter().any(|clause| clause.list.corrupt());
    if damaged { Err(damaged_list()) } else { Ok(flow) }
}

/// A term and its documents in the current window.
struct RankedClause<'a, S> {
    list: WindowedList<'a>,
    scorer: Scorer<'a, S>,
    bits: MatchBits,
    /// By match: the frequency of the term, 0 if it does not occur.
    tfs: Vec<u32>,
}

impl<'a, S: Similarity> RankedClause<'a, S> {
    fn new(clause: Clause<'a, S>) -> Self {
        let Clause { cursor, scorer } = clause;
        RankedClause { list: WindowedList::new(cursor), scorer, bits: NONE, tfs: Vec::new() }
    }

    fn fill(&mut self, start: u32) {
        self.bits = NONE;
        self.list.fill(start, &mut self.bits);
    }
}

/// The lists of a query in a leaf.
struct TermWindows<'c, 'a, S> {
    clauses: &'c mut [RankedClause<'a, S>],
    /// The number of clauses that are required; they come first.
    required: usize,
    /// The number of clauses that add to scores. Those after them exclude documents.
    scored: usize,
    /// The matches in the current window.
    docs: Vec<u32>,
    /// Those that an optional clause contains, and its frequencies there.
    present: Vec<u32>,
    found: Vec<u32>,
    /// Of the required and of the optional clauses.
    sums: Box<[BatchSums; 2]>,
}

impl<'c, 'a, S: Similarity> TermWindows<'c, 'a, S> {
    fn new(clauses: &'c mut [RankedClause<'a, S>], required: usize, scored: usize) -> Self {
        let sums = Box::new([BatchSums::new(), BatchSums::new()]);
        let (docs, present, found) = (Vec::new(), Vec::new(), Vec::new());
        TermWindows { clauses, required, scored, docs, present, found, sums }
    }

    fn run(&mut self, view: &View, sink: &mut Sink) -> ControlFlow<()> {
        let mut next = self.next(view.first);
        while next < view.end && !view.clock.is_up() {
            let start = next - next % WINDOW;
            if let Some(matches) = self.matches(start, view) {
                list_docs(start, &matches, &mut self.docs);
                self.read_tfs(start, &matches);
                self.score(sink)?;
            }
            next = self.next(start.saturating_add(WINDOW));
        }
        ControlFlow::Continue(())
    }

    /// A lower bound of the first match from `target` on.
    fn next(&mut self, target: u32) -> u32 {
        let required = self.clauses.iter_mut().take(self.required);
        required.fold(target, |next, clause| if next == NO_MORE { next } else { clause.list.next(next) })
    }

    /// The matches in the window that begins with `start`; `None` if there are none.
    fn matches(&mut self, start: u32, view: &View) -> Option<MatchBits> {
        // Ranges of documents consist of whole windows.
        let mut matches = [u64::MAX; _];
        if let Some(kept) = view.kept_bits() {
            keep_window(kept, start, &mut matches);
        }
        for (place, clause) in self.clauses.iter_mut().enumerate() {
            if place >= self.required && place < self.scored {
                continue;
            }
            clause.fill(start);
            if place < self.required {
                matches.iter_mut().zip(&clause.bits).for_each(|(word, bits)| *word &= bits);
            } else {
                matches.iter_mut().zip(&clause.bits).for_each(|(word, bits)| *word &= !bits);
            }
            if matches == NONE {
                return None;
            }
        }
        Some(matches)
    }

    fn read_tfs(&mut self, start: u32, matches: &MatchBits) {
        let (required, others) = self.clauses.split_at_mut(self.required);
        for clause in required {
            clause.tfs.resize(self.docs.len(), 0);
            clause.list.tfs(start, &clause.bits, &self.docs, &mut clause.tfs);
        }
        for clause in others.iter_mut().take(self.scored - self.required) {
            clause.fill(start);
            let mut both = *matches;
            both.iter_mut().zip(&clause.bits).for_each(|(word, bits)| *word &= bits);
            list_docs(start, &both, &mut self.present);
            self.found.resize(self.present.len(), 0);
            clause.list.tfs(start, &clause.bits, &self.present, &mut self.found);
            let mut found = self.found.iter();
            clause.tfs.clear();
            clause.tfs.extend(
                self.docs
                    .iter()
                    .map(|&doc| if has(&both, doc) { found.next().copied().unwrap_or_default() } else { 0 }),
            );
        }
    }

    fn score(&mut self, sink: &mut Sink) -> ControlFlow<()> {
        let (required, optional) = self.clauses[..self.scored].split_at(self.required);
        let [sums, more] = &mut *self.sums;
        for (docs, first) in self.docs.chunks(BLOCK).zip((0..).step_by(BLOCK)) {
            for clause in required {
                let tfs = &clause.tfs[first..first + docs.len()];
                sums.add(docs.len(), |scores| clause.scorer.score_all(PostingsSlice { docs, tfs }, scores));
            }
            let scores = sums.take(docs.len());
            for clause in optional {
                let tfs = &clause.tfs[first..first + docs.len()];
                more.add_present(tfs, |scores| clause.scorer.score_all(PostingsSlice { docs, tfs }, scores));
            }
            if !optional.is_empty() {
                // The sum of the optional terms is rounded on its own.
                scores.iter_mut().zip(more.take(docs.len())).for_each(|(score, more)| *score += *more);
            }
            sink(docs, scores)?;
        }
        ControlFlow::Continue(())
    }
}

/// Sets `docs` to the documents of a window whose bits are set.
fn list_docs(start: u32, bits: &MatchBits, docs: &mut Vec<u32>) {
    docs.resize(usize::try_from(count_ones(bits)).unwrap_or(0) + SLACK, 0);
    // There is room for all of them.
    let count = list(bits.iter().copied(), start, docs).unwrap_or_default();
    docs.truncate(count);
}
