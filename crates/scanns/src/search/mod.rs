//! Ranked answers over the leaves of an index, be they segments on disk or in memory.
//!
//! In comes a [`Query`] (from text by [`parse`]) and a [`Model`]; out come the best hits, or all of them in
//! document order. Statistics are summed over all leaves before anything is scored, so scores do not depend on
//! how documents are spread over segments; and the best hits are exactly those that scoring everything would
//! give, ties by document order.
//!
//! `leaf.rs` says what a leaf must offer, `segments.rs` offers it for segments. `lex.rs`, `parse.rs`, `query.rs`
//! understand text; `plan.rs` finds the shape of a query and looks its terms up; `run.rs` chooses the way for the shape:
//! `term.rs`, `conjunction.rs`, `disjunction.rs` (all hits), `maxscore.rs` (the best), `tree.rs` (everything nested),
//! `pnorm.rs`. `windows.rs` and `lead.rs` hold the bounds that pruning works with, `accumulate.rs` sums per document,
//! `similarity/` the formulas, `topk.rs` the heap. Read `run.rs` first.

mod accumulate;
mod conjunction;
mod disjunction;
mod lead;
mod leaf;
mod lex;
mod maxscore;
mod parse;
mod plan;
mod pnorm;
mod query;
mod run;
mod segments;
mod similarity;
mod term;
#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "test data is small")]
mod tests;
mod topk;
mod tree;
mod windows;

pub use leaf::{Leaf, LeafStats, ListSource, TermRef};
pub use parse::{MAX_CLAUSES, MAX_DEPTH, parse};
pub use query::{BoolQuery, Operator, Query};
pub use similarity::Model;
pub use topk::Hit;

use std::ops::ControlFlow;

use crate::error::Result;
use plan::{Found, Plan, Shape};
use pnorm::PNorm;
use run::{Goal, Terms, View, offer, run_leaf};
use similarity::{Bm25, Classic, Dirichlet, Dph, JelinekMercer, Pl2, Similarity, Unscored};
use topk::TopK;

/// Answers queries over a fixed set of leaves.
pub struct Searcher<'a> {
    leaves: Vec<&'a dyn Leaf>,
    stats: LeafStats,
}

impl<'a> Searcher<'a> {
    /// A searcher; hits name leaves by their place in `leaves`.
    pub fn new(leaves: Vec<&'a dyn Leaf>) -> Self {
        let mut stats = LeafStats::default();
        for part in leaves.iter().map(|leaf| leaf.stats()) {
            stats.documents += part.documents;
            stats.documents_with_terms += part.documents_with_terms;
            stats.total_length += part.total_length;
        }
        Searcher { leaves, stats }
    }

    /// The sizes of all leaves together.
    pub fn stats(&self) -> LeafStats {
        self.stats
    }

    /// What the document of a hit is called.
    pub fn key(&self, hit: &Hit) -> Result<Vec<u8>> {
        self.leaves[hit.leaf].key(hit.doc)
    }

    /// The best `k` hits by falling score, those with equal scores in document order.
    pub fn top_k(&self, query: &Query, model: Model, k: usize) -> Result<Vec<Hit>> {
        model.check()?;
        let mut top = TopK::new(k);
        if k > 0 {
            let plan = Plan::new(query)?;
            self.run(&plan, &plan.find(&self.leaves)?, model, |leaf, job| {
                top.set_leaf(leaf);
                job(&mut Goal::Top(&mut top))
            })?;
        }
        Ok(top.into_hits())
    }

    /// Calls `visit` with every hit, in document order, until it breaks.
    ///
    /// Damage that is found on the way ends the visit with an error after the hits before it.
    pub fn for_each(
        &self,
        query: &Query,
        model: Model,
        mut visit: impl FnMut(Hit) -> ControlFlow<()>,
    ) -> Result<()> {
        model.check()?;
        let plan = Plan::new(query)?;
        self.run(&plan, &plan.find(&self.leaves)?, model, |leaf, job| {
            let view = View::new(self.leaves[leaf])?;
            job(&mut Goal::All(&mut |docs, scores| {
                let mut hits = docs.iter().zip(scores).map(|(&doc, &score)| Hit { score, leaf, doc });
                // Two loops, since asking of every hit whether it is deleted costs as much as finding it.
                if view.all_live() {
                    hits.try_for_each(&mut visit)
                } else {
                    hits.filter(|hit| view.keeps(hit.doc)).try_for_each(&mut visit)
                }
            }))
        })
    }

    /// The number of hits.
    pub fn count(&self, query: &Query) -> Result<u64> {
        let plan = Plan::new(query)?;
        let found = plan.find(&self.leaves)?;
        let mut count = 0;
        for (leaf, refs) in self.leaves.iter().zip(&found.refs) {
            let view = View::new(*leaf)?;
            if let (Query::Term(_), [term], true) = (query, &refs[..], view.all_live()) {
                count += term.map_or(0, |term| u64::from(term.doc_freq));
                continue;
            }
            let mut tally = |docs: &[u32], _: &[f32]| {
                let live = |docs: &[u32]| docs.iter().filter(|&&doc| view.keeps(doc)).count();
                count += if view.all_live() { docs.len() } else { live(docs) } as u64;
                ControlFlow::Continue(())
            };
            let terms = Terms { refs, weights: &vec![0.0; refs.len()] };
            let _ = run_leaf(&plan.shape(), &view, &Unscored, terms, &mut Goal::All(&mut tally))?;
        }
        Ok(count)
    }

    /// Runs a plan in every leaf: `each` gets the leaf's number and what to call with its goal.
    fn run(
        &self,
        plan: &Plan,
        found: &Found,
        model: Model,
        each: impl FnMut(usize, &mut Job) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        match model {
            Model::Bm25 { k1, b } => self.run_with(plan, found, &Bm25::new(k1, b, &self.stats), each),
            Model::Classic => self.run_with(plan, found, &Classic::new(&self.stats), each),
            Model::LmDirichlet { mu } => self.run_with(plan, found, &Dirichlet::new(mu, &self.stats), each),
            Model::LmJelinekMercer { lambda } => {
                self.run_with(plan, found, &JelinekMercer::new(lambda, &self.stats), each)
            }
            Model::Pl2 { c } => self.run_with(plan, found, &Pl2::new(c, &self.stats), each),
            Model::Dph => self.run_with(plan, found, &Dph::new(&self.stats), each),
            Model::PNorm { p } => {
                self.run_soft(plan, found, &PNorm::new(p, &found.doc_freqs, &self.stats), each)
            }
        }
    }

    fn run_with<S: Similarity>(
        &self,
        plan: &Plan,
        found: &Found,
        similarity: &S,
        mut each: impl FnMut(usize, &mut Job) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let shape: Shape = plan.shape();
        let figures = found.doc_freqs.iter().zip(&found.total_freqs);
        let weights: Vec<f64> =
            figures.map(|(&doc_freq, &total_freq)| similarity.weight(doc_freq, total_freq)).collect();
        for (number, leaf) in self.leaves.iter().enumerate() {
            let view = View::new(*leaf)?;
            let terms = Terms { refs: &found.refs[number], weights: &weights };
            if each(number, &mut |goal| run_leaf(&shape, &view, similarity, terms, goal))?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn run_soft(
        &self,
        plan: &Plan,
        found: &Found,
        soft: &PNorm,
        mut each: impl FnMut(usize, &mut Job) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let weights = vec![0.0; found.doc_freqs.len()];
        for (number, leaf) in self.leaves.iter().enumerate() {
            let view = View::new(*leaf)?;
            let terms = Terms { refs: &found.refs[number], weights: &weights };
            let flow = each(number, &mut |goal| match goal {
                Goal::All(sink) => soft.all(&plan.root, &view, terms, *sink),
                Goal::Top(top) => {
                    soft.all(&plan.root, &view, terms, &mut |docs, scores| offer(top, &view, docs, scores))
                }
            })?;
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// Runs the query in one leaf for a goal.
type Job<'j> = dyn FnMut(&mut Goal) -> Result<ControlFlow<()>> + 'j;
