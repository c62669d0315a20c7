//! The results of a prepared query: the best hits, all hits, their number, or windows of matches.

use std::ops::ControlFlow;

use super::parallel::LeafRange;
use super::parallel::in_order::visit_in_order;
use super::prepared::{PreparedQuery, Weights};
use super::searcher::Searcher;
use super::top_k::{Hit, SharedBound, TopK};
use crate::codec::NO_MORE;
use crate::error::Result;
use crate::query::{Query, Term};
use crate::search::exec::bits::MatchBits;
use crate::search::exec::bound_terms::BoundTerms;
use crate::search::exec::dispatch::{
    LeafOfQuery, count_leaf, run_leaf, takes_leaves_together, top_of_leaves,
};
use crate::search::exec::filter_mask::{Masked, masked};
use crate::search::exec::goal::{Goal, Sink};
use crate::search::exec::live_filter::{LiveFilter, offer};
use crate::search::exec::match_bits::MatchedDocs;
use crate::search::exec::strategy::{LeafFacts, Strategy, Want};
use crate::search::exec::view::{GRAIN, View};
use crate::search::exec::{match_bits, pnorm};
use crate::search::leaf::{Leaf, LeafStats, TermRef, damaged_list};
use crate::search::plan::found::ScoredJoins;
use crate::search::similarity::{Bm25, Classic, Dirichlet, Dph, JelinekMercer, Model, Pl2, Similarity};
use crate::segment::has_bit;

/// Up to this many postings of a term are counted at once, without a look at the clock and by one thread.
const SHORT: u64 = 1 << 16;

/// Runs the query in a range for a goal.
pub(crate) type RunQuery<'j> = dyn Fn(&LeafRange, &mut Goal) -> Result<ControlFlow<()>> + Sync + 'j;

/// Finds the best hits of the query in several ranges.
type RunBest<'j> = dyn Fn(&[LeafRange], &mut TopK) -> Result<()> + 'j;

/// Runs the query under a model.
pub(crate) struct QueryRun<'j> {
    pub(crate) in_range: &'j RunQuery<'j>,
    best: &'j RunBest<'j>,
}

/// Gets what runs the query under a model.
type WithRun<'e> = dyn FnMut(&QueryRun) -> Result<()> + 'e;

/// The joins under a model, and what gets what runs the query.
struct RunUnder<'w, 'e> {
    joins: ScoredJoins,
    with: &'w mut WithRun<'e>,
}

impl<'a> Searcher<'a> {
    /// Finds the best `k` hits, sorted by descending score; hits with equal scores are in document order.
    ///
    /// # Errors
    /// The errors of [`Searcher::prepare`], and [`Error::InvalidValue`](crate::Error::InvalidValue) for a
    /// parameter of the model outside its range.
    pub fn top_k(&self, query: &Query, model: Model, k: usize) -> Result<Vec<Hit>> {
        self.prepare(query)?.top_k(model, k)
    }

    /// Finds the best `k` hits after the hit `after`; see [`PreparedQuery::top_k_after`].
    pub fn top_k_after(&self, query: &Query, model: Model, k: usize, after: Hit) -> Result<Vec<Hit>> {
        self.prepare(query)?.top_k_after(model, k, after)
    }

    /// Visits every hit in document order; see [`PreparedQuery::for_each`].
    pub fn for_each(
        &self,
        query: &Query,
        model: Model,
        visit: impl FnMut(Hit) -> ControlFlow<()>,
    ) -> Result<()> {
        self.prepare(query)?.for_each(model, visit)
    }

    /// Visits hits in batches; see [`PreparedQuery::for_each_batch`].
    pub fn for_each_batch(
        &self,
        query: &Query,
        model: Model,
        visit: impl FnMut(usize, &[u32], &[f32]) -> ControlFlow<()>,
    ) -> Result<()> {
        self.prepare(query)?.for_each_batch(model, visit)
    }

    /// Counts the hits.
    pub fn count(&self, query: &Query) -> Result<u64> {
        if let Query::Term(term) = query
            && let Some(count) = self.count_of_term(term)?
        {
            return Ok(count);
        }
        self.prepare_count(query)?.count()
    }

    /// The number of hits of a term, if it takes no plan: the dictionaries know it where no document is
    /// deleted, and elsewhere the lists are short.
    fn count_of_term(&self, term: &Term) -> Result<Option<u64>> {
        let Some(place) = self.fields.place_of(term.field) else { return Ok(None) };
        let (mut count, mut postings, mut lists) = (0, 0, Vec::new());
        for number in 0..self.fields.leaves() {
            let leaf = self.fields.leaf(place, number);
            if leaf.is_of_view() || leaf.field_bits().is_some() {
                return Ok(None);
            }
            let Some(found) = leaf.find(&term.text)? else { continue };
            let doc_freq = u64::from(found.doc_freq);
            if leaf.stats().documents >= u64::from(leaf.max_doc()) {
                count += doc_freq;
                continue;
            }
            postings += doc_freq;
            match leaf.live_bits() {
                Some(live) if postings <= SHORT => lists.push((leaf, found, live)),
                _ => return Ok(None),
            }
        }
        for (leaf, found, live) in &lists {
            count += count_live(*leaf, found, live)?;
        }
        Ok(Some(count))
    }

    /// Visits windows of matches; see [`PreparedQuery::for_each_window`].
    pub fn for_each_window(
        &self,
        query: &Query,
        visit: impl FnMut(usize, u32, &MatchBits) -> ControlFlow<()>,
    ) -> Result<()> {
        self.prepare(query)?.for_each_window(visit)
    }
}

impl<'a> PreparedQuery<'_, 'a, '_> {
    /// Finds the best `k` hits, sorted by descending score; hits with equal scores are in document order.
    ///
    /// # Errors
    /// [`Error::InvalidValue`](crate::Error::InvalidValue) for a parameter of the model outside its range,
    /// [`Error::Corrupt`](crate::Error::Corrupt) if postings cannot be read.
    pub fn top_k(&self, model: Model, k: usize) -> Result<Vec<Hit>> {
        self.best(model, k, None)
    }

    /// Finds the best `k` hits that come after `after` in the order of [`PreparedQuery::top_k`]: by score,
    /// leaf and document. If `after` is the last hit of a page, the result is the next page.
    ///
    /// The model and the leaves must be the same as for the previous page. Memory is bounded by one page,
    /// however deep the page is.
    ///
    /// # Errors
    /// The errors of [`PreparedQuery::top_k`], and [`Error::UnknownHit`](crate::Error::UnknownHit) if the
    /// searcher does not have the leaf of `after`.
    pub fn top_k_after(&self, model: Model, k: usize, after: Hit) -> Result<Vec<Hit>> {
        self.searcher.leaf_of(&after)?;
        self.best(model, k, Some(after))
    }

    fn best(&self, model: Model, k: usize, after: Option<Hit>) -> Result<Vec<Hit>> {
        model.check()?;
        if k == 0 {
            return Ok(Vec::new());
        }
        let ranges = self.ranges(Want::Best);
        let leaves = self.fields().all_leaves();
        let shared = ranges.help.map(|_| SharedBound::new(leaves.iter().map(|leaf| leaf.max_doc())));
        let mut best = Vec::new();
        self.run(model, &mut |run| {
            let new = || TopK::new(k).after(after).among(shared.as_ref());
            if ranges.help.is_none() {
                let mut top = new();
                (run.best)(&ranges.all, &mut top)?;
                best.push(top);
                return Ok(());
            }
            best = ranges.fold(self.fields().clock(), new, |top, range| {
                top.set_leaf(range.leaf);
                top.look_around();
                (run.in_range)(range, &mut Goal::Top(top))
            })?;
            Ok(())
        })?;
        Ok(TopK::merge(best, k))
    }

    /// Calls `visit` with every hit, in document order, until it breaks.
    ///
    /// # Errors
    /// The errors of [`PreparedQuery::top_k`]. Hits before the damage are visited first.
    pub fn for_each(&self, model: Model, mut visit: impl FnMut(Hit) -> ControlFlow<()>) -> Result<()> {
        self.for_each_batch(model, |leaf, docs, scores| {
            let mut hits = docs.iter().zip(scores).map(|(&doc, &score)| Hit { score, leaf, doc });
            hits.try_for_each(&mut visit)
        })
    }

    /// Calls `visit` with batches of hits, in document order, until it breaks. A batch is a leaf, ascending
    /// documents of the leaf, and their scores. A batch may be empty.
    ///
    /// # Errors
    /// The errors of [`PreparedQuery::for_each`].
    pub fn for_each_batch(
        &self,
        model: Model,
        mut visit: impl FnMut(usize, &[u32], &[f32]) -> ControlFlow<()>,
    ) -> Result<()> {
        model.check()?;
        let ranges = self.ranges(Want::All);
        self.run(model, &mut |run| {
            let is_up = || self.fields().clock().is_up();
            visit_in_order(&ranges, &is_up, &|range, sink| self.live(range, run.in_range, sink), &mut visit)
        })
    }

    /// Sends the hits of a range that are not deleted.
    pub(crate) fn live(&self, range: &LeafRange, run: &RunQuery, sink: &mut Sink) -> Result<ControlFlow<()>> {
        let view = self.view(range)?;
        // Checking whether a hit is deleted costs as much as finding it, so the check is skipped if no
        // document is deleted.
        if view.all_live() {
            return run(range, &mut Goal::All(sink));
        }
        let mut live = LiveFilter::new(&view, Vec::new());
        run(range, &mut Goal::All(&mut |docs, scores| live.filter(docs, scores, sink)))
    }

    /// True if the best hits under a model may be found without scoring every match.
    pub(crate) fn may_prune(&self, model: Model) -> Result<bool> {
        let shape = self.plan.shape();
        for (leaf, found) in self.found.leaves().enumerate() {
            let view = View::new(self.fields(), &self.plan, leaf)?;
            let facts = LeafFacts::new(&view, found, model.is_bounded());
            let prunes = match masked(&self.plan, &view, found) {
                Some(Masked { filtered, shape, .. }) => {
                    Strategy::choose(&filtered.rest, &shape, Want::Best, &facts).prunes()
                }
                None => Strategy::choose(self.plan.unchanged(), &shape, Want::Best, &facts).prunes(),
            };
            if prunes {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Counts the hits.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if postings cannot be read.
    pub fn count(&self) -> Result<u64> {
        let shape = self.plan.shape();
        self.find_joined()?;
        let counts = self.ranges(Want::Count).fold(
            self.fields().clock(),
            || 0,
            |count, range| {
                let found = self.found.in_leaf(range.leaf);
                *count += count_leaf(&shape, &self.view(range)?, &self.plan, &found)?;
                Ok(ControlFlow::Continue(()))
            },
        )?;
        Ok(counts.into_iter().sum())
    }

    /// Calls `visit` with the matches that are not deleted, without scores, until it breaks. Its arguments
    /// are a leaf, the first document of a window, and a bit for each document of the window, lowest first.
    ///
    /// Windows come in document order and begin at multiples of
    /// [`MATCH_WINDOW`](crate::search::MATCH_WINDOW). Windows without matches may be skipped.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if postings cannot be read.
    pub fn for_each_window(
        &self,
        visit: impl FnMut(usize, u32, &MatchBits) -> ControlFlow<()>,
    ) -> Result<()> {
        self.for_each_window_from(0, 0, visit)
    }

    /// Does the same from a document of a leaf on, or from a document shortly before it. Earlier windows are
    /// not searched.
    pub(crate) fn for_each_window_from(
        &self,
        leaf: usize,
        doc: u32,
        mut visit: impl FnMut(usize, u32, &MatchBits) -> ControlFlow<()>,
    ) -> Result<()> {
        self.find_joined()?;
        for number in leaf..self.fields().leaves() {
            let first = if number == leaf { doc - doc % GRAIN } else { 0 };
            let view = View::new(self.fields(), &self.plan, number)?.between(first, u32::MAX);
            let mut flow = ControlFlow::Continue(());
            match_bits::visit(&self.plan.root, &view, self.unscored(number), |start, bits| {
                flow = visit(number, start, bits);
                flow
            })?;
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Calls `visit` with the matches that are not deleted, without scores, until it breaks: leaf after leaf
    /// and in order.
    pub(crate) fn for_each_matched(
        &self,
        mut visit: impl FnMut(usize, MatchedDocs<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.find_joined()?;
        for number in 0..self.fields().leaves() {
            let view = View::new(self.fields(), &self.plan, number)?;
            let mut flow = ControlFlow::Continue(());
            match_bits::visit_all(&self.plan.root, &view, self.unscored(number), |matched| {
                flow = visit(number, matched);
                flow
            })?;
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Calls `with` with what runs the query under a model.
    pub(crate) fn run(&self, model: Model, with: &mut WithRun) -> Result<()> {
        // P-norm refuses joins, before their values are looked for.
        let joins = match model {
            Model::PNorm { p } => return self.run_soft(p, with),
            _ => self.score_joined(model)?,
        };
        let run = RunUnder { joins, with };
        match model {
            Model::Bm25 { k1, b } => self.run_with(|stats| Bm25::new(k1, b, stats), run),
            Model::Classic => self.run_with(Classic::new, run),
            Model::LmDirichlet { mu } => self.run_with(|stats| boxed(Dirichlet::new(mu, stats)), run),
            Model::LmJelinekMercer { lambda } => {
                self.run_with(|stats| boxed(JelinekMercer::new(lambda, stats)), run)
            }
            Model::Pl2 { c } => self.run_with(|stats| boxed(Pl2::new(c, stats)), run),
            Model::Dph => self.run_with(|stats| boxed(Dph::new(stats)), run),
            Model::PNorm { p } => self.run_soft(p, run.with),
        }
    }

    fn run_with<S: Similarity>(
        &self,
        similarity: impl Fn(&LeafStats) -> S,
        RunUnder { joins, with }: RunUnder,
    ) -> Result<()> {
        let shape = self.plan.shape();
        let Weights { similarities, weights } = self.weigh(similarity)?;
        let of_range = |range: &LeafRange| -> Result<LeafOfQuery<S>> {
            let (leaf, view, found) = (range.leaf, self.view(range)?, self.found.in_leaf(range.leaf));
            let (plan, joins) = (&self.plan, joins.in_leaf(range.leaf, found));
            let terms = BoundTerms { plan, found, joins, weights: &weights, similarities: &similarities };
            Ok(LeafOfQuery { leaf, view, terms })
        };
        let in_range = |range: &LeafRange, goal: &mut Goal| {
            let LeafOfQuery { view, terms, .. } = of_range(range)?;
            run_leaf(&shape, &view, terms, goal)
        };
        let best = |ranges: &[LeafRange], top: &mut TopK| {
            if ranges.len() > 1 && takes_leaves_together(&shape, &self.plan) {
                let leaves = ranges.iter().map(of_range).collect::<Result<Vec<_>>>()?;
                return top_of_leaves(&shape, &leaves, top);
            }
            self.best_in_turn(ranges, &in_range, top)
        };
        with(&QueryRun { in_range: &in_range, best: &best })
    }

    /// Finds the best hits in one range after the other.
    fn best_in_turn(&self, ranges: &[LeafRange], in_range: &RunQuery, top: &mut TopK) -> Result<()> {
        for range in ranges {
            if self.fields().clock().is_up() {
                break;
            }
            top.set_leaf(range.leaf);
            if in_range(range, &mut Goal::Top(top))?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn run_soft(&self, p: f64, with: &mut WithRun) -> Result<()> {
        let root = &self.plan.root;
        pnorm::check(root)?;
        let soft = self.soft(p)?;
        let in_range = |range: &LeafRange, goal: &mut Goal| {
            let (view, terms) = (self.view(range)?, self.unscored(range.leaf));
            match goal {
                Goal::All(sink) => soft.all(root, &view, terms, *sink),
                Goal::Top(top) => {
                    let mut live = LiveFilter::new(&view, Vec::new());
                    soft.all(root, &view, terms, &mut |docs, scores| offer(top, &mut live, docs, scores))
                }
            }
        };
        let best = |ranges: &[LeafRange], top: &mut TopK| self.best_in_turn(ranges, &in_range, top);
        with(&QueryRun { in_range: &in_range, best: &best })
    }
}

/// The number of documents of a list whose bit is set in `live`.
fn count_live(leaf: &dyn Leaf, term: &TermRef, live: &[u64]) -> Result<u64> {
    let source = leaf.postings(term)?;
    let mut list = source.cursor(term.doc_freq, leaf.max_doc())?;
    let mut count = 0;
    while list.doc() != NO_MORE {
        let docs = list.rest_of_docs();
        count += docs.iter().map(|&doc| u64::from(has_bit(live, doc))).sum::<u64>();
        let passed = docs.len();
        list.consume(passed);
    }
    if list.corrupt() { Err(damaged_list()) } else { Ok(count) }
}

fn boxed(similarity: impl Similarity + 'static) -> Box<dyn Similarity> {
    Box::new(similarity)
}
