//! Ranked answers over the leaves of an index, be they segments on disk or in memory.
//!
//! In comes a [`Query`] (from text by [`parse`]) and a [`Model`]; out come the best hits, or all of them in
//! document order. Statistics are summed over all leaves before anything is scored, so scores do not depend on
//! how documents are spread over segments; and the best hits are exactly those that scoring everything would
//! give, ties by document order.
//!
//! `leaf.rs` says what a leaf must offer, `segments.rs` offers it for segments, `fields.rs` holds them by field.
//! `lex.rs`, `parse.rs`, `query.rs` understand text, `json/` JSON; `plan.rs` finds the shape of a query and looks its
//! terms up, `patterns/` those that only look alike; `run.rs` chooses the way for the shape: `term.rs`,
//! `conjunction.rs` (with `parts.rs` and `candidates.rs`; of phrases `together.rs`, `phrase.rs` and `sloppy.rs`),
//! `disjunction.rs` (all hits), `maxscore.rs` with `contenders.rs` (the best), `join.rs` for both, `tree.rs` (everything nested, with `docset.rs`), `pnorm.rs`;
//! `values.rs` finds documents by the values of columns. `sets.rs` counts. `windows.rs` and `lead.rs` hold the bounds that pruning works with, `keep.rs` leaves out what must
//! not be a hit, `accumulate.rs` sums per document, `similarity/` the formulas, `topk.rs` the heap. `share.rs` shares a
//! query out to threads, `in_order.rs` all of its hits. Read `run.rs` first.
//!
//! Beside that, `explain/` tells how a score came about, `feedback.rs` and `like.rs` make queries of documents,
//! `by_key.rs` orders hits by their keys, `collect/` sorts and counts by columns, `snippets/` shows why a text answers, `frequent.rs` lists terms, and
//! `suggest.rs` finds what words were meant.

mod accumulate;
mod budget;
mod by_key;
mod candidates;
mod collect;
mod conjunction;
mod contenders;
mod disjunction;
mod docset;
mod explain;
mod feedback;
mod fields;
mod frequent;
mod in_order;
mod join;
mod json;
mod keep;
mod lead;
mod leaf;
mod lex;
mod like;
mod maxscore;
mod parse;
mod parts;
mod patterns;
mod phrase;
mod plan;
mod pnorm;
mod query;
mod run;
mod segments;
mod sets;
mod share;
mod similarity;
mod sloppy;
mod snippets;
mod suggest;
mod term;
#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "test data is small")]
mod tests;
mod together;
mod topk;
mod tree;
mod values;
mod windows;

pub use budget::Budget;
pub use by_key::KeyOrder;
pub use collect::{
    Aggregated, Aggregation, Bucket, BucketKey, Buckets, CalendarUnit, Distinct, Facet, FacetRange, Group,
    GroupBy, Groups, Missing, SortBy, SortKey, SortedHit, Stats, Sum, Terms as FacetTerms, TermsOrder,
};
pub use explain::Explanation;
pub(crate) use feedback::Answer;
pub use feedback::Rm3;
pub use frequent::TermCount;
pub use json::parse_json;
pub use leaf::{Leaf, LeafStats, ListSource, PositionSource, TermRef, TermStream};
pub use like::MoreLikeThis;
pub use parse::{MAX_CLAUSES, MAX_DEPTH, QueryText, parse};
pub use patterns::MAX_EXPANSIONS;
pub use query::{BoolQuery, Operator, Pattern, PhraseQuery, Query, ValueRange, WildcardPart};
pub use sets::{Bits as MatchBits, WINDOW as MATCH_WINDOW};
pub(crate) use sets::{MatchedDocs, docs_of};
pub use share::SearchThreads;
pub use similarity::Model;
pub use snippets::{Highlighter, Snippet, SnippetOptions};
pub use suggest::Suggestion;
pub use topk::Hit;

use std::ops::ControlFlow;

use crate::column::Column;
use crate::error::{Error, Result};
use crate::schema::Field;
use fields::Fields;
use in_order::visit_in_order;
use keep::{Keep, offer};
use plan::{Figures, Found, Kind, Plan, Shape};
use pnorm::PNorm;
use run::{GRAIN, Goal, Sink, Terms, View, count_required, run_leaf};
use share::{Part, Want};
use similarity::{Bm25, Classic, Dirichlet, Dph, JelinekMercer, Pl2, Similarity};
use topk::{Shared, TopK};

/// Answers queries over a fixed set of leaves.
pub struct Searcher<'a> {
    fields: Fields<'a>,
    threads: Option<&'a SearchThreads>,
}

impl<'a> Searcher<'a> {
    /// A searcher of one field; hits name leaves by their place in `leaves`.
    pub fn new(leaves: Vec<&'a dyn Leaf>) -> Self {
        Searcher::over(vec![(Field::default(), leaves)], Field::default())
    }

    /// A searcher of several fields, of which `default` is searched where a query names none. All have the same leaves,
    /// each seen through its field.
    pub fn over(fields: Vec<(Field, Vec<&'a dyn Leaf>)>, default: Field) -> Self {
        Searcher { fields: Fields::new(fields, default), threads: None }
    }

    /// The same, with patterns that match any number of terms, also fuzzy words: which documents match does then not depend
    /// on what else is in the index.
    #[must_use]
    pub fn exhaustive(mut self) -> Self {
        self.fields.exhaust();
        self
    }

    /// The same for one query that may take so long: when the budget has run out, what has been found is the answer, and
    /// [`Budget::ran_out`] says that it is not the whole one. Whoever explains a score or marks a text is not bound.
    #[must_use]
    pub fn within(mut self, budget: &'a Budget) -> Self {
        self.fields.limit(budget);
        self
    }

    /// The same, with queries that take long enough shared out to several threads: whole leaves, and ranges of documents of
    /// large ones. Answers are exactly those of one thread. What a visitor sees is found by several threads, but it is
    /// visited by the one that asks, in the order of documents. What patterns and fuzzy words match is looked up by one
    /// thread, and explanations, suggestions and what is learnt from documents are made by one.
    #[must_use]
    pub fn with_threads(mut self, threads: &'a SearchThreads) -> Self {
        self.threads = Some(threads);
        self
    }

    /// The same, with names for its fields, by which explanations call them.
    #[must_use]
    pub fn naming(mut self, name: impl Fn(Field) -> String) -> Self {
        self.fields.call(name);
        self
    }

    /// The sizes of all leaves together, in the field that is searched where none is named.
    pub fn stats(&self) -> LeafStats {
        self.fields.stats(self.fields.default_place())
    }

    /// What the document of a hit is called.
    ///
    /// # Errors
    /// [`Error::Options`] for a hit that is none of this searcher, [`Error::Corrupt`] if the name cannot be read.
    pub fn key(&self, hit: &Hit) -> Result<Vec<u8>> {
        let leaf = self.leaf_of(hit)?;
        if hit.doc >= leaf.max_doc() {
            return Err(Error::Options(format!(
                "there is no document {} in that part of the index",
                hit.doc
            )));
        }
        leaf.key(hit.doc)
    }

    /// How many leaves there are.
    pub fn leaves(&self) -> usize {
        self.fields.leaves()
    }

    fn leaf_of(&self, hit: &Hit) -> Result<&'a dyn Leaf> {
        if hit.leaf >= self.fields.leaves() {
            let message = format!(
                "there is no part {} of the index, it has {}: take hits of a search of the same commit",
                hit.leaf,
                self.fields.leaves()
            );
            return Err(Error::Options(message));
        }
        Ok(self.fields.leaf(self.fields.default_place(), hit.leaf))
    }

    /// The best `k` hits by falling score, those with equal scores in document order.
    pub fn top_k(&self, query: &Query, model: Model, k: usize) -> Result<Vec<Hit>> {
        self.best(query, model, k, None)
    }

    /// The best `k` hits of those that come after `after` in the order of [`Searcher::top_k`], by score, leaf and
    /// document: of the last hit of a page this is the next page. The model must be the same, and the leaves too.
    /// Memory is that of one page, however deep.
    ///
    /// # Errors
    /// Those of [`Searcher::top_k`], and [`Error::Options`] if `after` is in a leaf that there is not.
    pub fn top_k_after(&self, query: &Query, model: Model, k: usize, after: Hit) -> Result<Vec<Hit>> {
        self.leaf_of(&after)?;
        self.best(query, model, k, Some(after))
    }

    fn best(&self, query: &Query, model: Model, k: usize, after: Option<Hit>) -> Result<Vec<Hit>> {
        model.check()?;
        if k == 0 {
            return Ok(Vec::new());
        }
        let plan = Plan::new(query, &self.fields)?;
        let found = plan.find(&self.fields)?;
        let parts = self.parts(&plan, &found, Want::Best);
        let shared =
            parts.helpers.map(|_| Shared::new(self.fields.all_leaves().iter().map(|leaf| leaf.max_doc())));
        let mut best = Vec::new();
        self.run(&plan, &found, model, &mut |job| {
            let new = || TopK::new(k).after(after).among(shared.as_ref());
            best = self.fold(&parts, new, |top, part| {
                top.set_leaf(part.leaf);
                top.look_around();
                job(part, &mut Goal::Top(top))
            })?;
            Ok(())
        })?;
        Ok(TopK::merge(best, k))
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
        self.for_each_batch(query, model, |leaf, docs, scores| {
            let mut hits = docs.iter().zip(scores).map(|(&doc, &score)| Hit { score, leaf, doc });
            hits.try_for_each(&mut visit)
        })
    }

    /// The same in batches, for whoever takes many hits: the leaf that they are in, their documents there, and a score for
    /// each of those. A batch may be empty.
    pub fn for_each_batch(
        &self,
        query: &Query,
        model: Model,
        mut visit: impl FnMut(usize, &[u32], &[f32]) -> ControlFlow<()>,
    ) -> Result<()> {
        model.check()?;
        let plan = Plan::new(query, &self.fields)?;
        let found = plan.find(&self.fields)?;
        let parts = self.parts(&plan, &found, Want::All);
        self.run(&plan, &found, model, &mut |job| {
            let is_up = || self.fields.clock().is_up();
            visit_in_order(&parts, &is_up, &|part, sink| self.live(&plan, part, job, sink), &mut visit)
        })
    }

    /// Sends the hits of a part that are not deleted.
    fn live(&self, plan: &Plan, part: &Part, job: &Job, sink: &mut Sink) -> Result<ControlFlow<()>> {
        let view = self.view(plan, part)?;
        // Two ways, since asking of every hit whether it is deleted costs as much as finding it.
        if view.all_live() {
            return job(part, &mut Goal::All(sink));
        }
        let mut live = Keep::new(&view, Vec::new());
        job(part, &mut Goal::All(&mut |docs, scores| live.filter(docs, scores, sink)))
    }

    /// The number of hits.
    pub fn count(&self, query: &Query) -> Result<u64> {
        let plan = Plan::new(query, &self.fields)?;
        let found = plan.find(&self.fields)?;
        let shape = plan.shape();
        let parts = self.parts(&plan, &found, Want::Count);
        let counts = self.fold(
            &parts,
            || 0,
            |count, part| {
                let (view, found) = (self.view(&plan, part)?, found.in_leaf(part.leaf));
                *count += match (&plan.root.kind, &found.refs[..], &shape) {
                    // Of all documents of the leaf: the range that begins with the first one counts them.
                    (Kind::Term(_), [term], _) if view.all_live() => {
                        term.filter(|_| part.first == 0).map_or(0, |term| u64::from(term.doc_freq))
                    }
                    (_, _, Shape::Required(required)) if required.has_phrase() => {
                        count_required(required, &view, (&plan, found))?
                    }
                    _ => sets::count(&plan.root, &view, Terms::unscored(&plan, found))?,
                };
                Ok(ControlFlow::Continue(()))
            },
        )?;
        Ok(counts.into_iter().sum())
    }

    /// Calls `visit` with the documents that match and are not deleted, without scores, until it breaks: a leaf, the first
    /// of a window of documents, and a bit for each document of the window, lowest first. Windows rise, begin at multiples
    /// of [`MATCH_WINDOW`], and those without matches may be left out.
    pub fn for_each_window(
        &self,
        query: &Query,
        visit: impl FnMut(usize, u32, &MatchBits) -> ControlFlow<()>,
    ) -> Result<()> {
        self.for_each_window_from(query, (0, 0), visit)
    }

    /// The same from a document of a leaf on, or from one shortly before: windows before it are not looked at.
    pub(crate) fn for_each_window_from(
        &self,
        query: &Query,
        (leaf, doc): (usize, u32),
        mut visit: impl FnMut(usize, u32, &MatchBits) -> ControlFlow<()>,
    ) -> Result<()> {
        let plan = Plan::new(query, &self.fields)?;
        let found = plan.find(&self.fields)?;
        for number in leaf..self.fields.leaves() {
            let first = if number == leaf { doc - doc % GRAIN } else { 0 };
            let view = View::new(&self.fields, &plan, number)?.between(first, u32::MAX);
            let found = found.in_leaf(number);
            let mut flow = ControlFlow::Continue(());
            sets::visit(&plan.root, &view, Terms::unscored(&plan, found), |start, bits| {
                flow = visit(number, start, bits);
                flow
            })?;
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Calls `visit` with the documents that match and are not deleted, without scores, until it breaks: leaf after leaf and in
    /// order.
    pub(crate) fn for_each_matched(
        &self,
        query: &Query,
        mut visit: impl FnMut(usize, MatchedDocs<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        let plan = Plan::new(query, &self.fields)?;
        let found = plan.find(&self.fields)?;
        for number in 0..self.fields.leaves() {
            let (view, found) = (View::new(&self.fields, &plan, number)?, found.in_leaf(number));
            let mut flow = ControlFlow::Continue(());
            sets::visit_all(&plan.root, &view, Terms::unscored(&plan, found), |matched| {
                flow = visit(number, matched);
                flow
            })?;
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The column of a field in a leaf.
    pub fn column(&self, leaf: usize, field: Field) -> Option<&'a Column> {
        self.fields.all_leaves().get(leaf)?.column(field)
    }

    /// Gives `each` what runs a plan in a part.
    fn run(&self, plan: &Plan, found: &Found, model: Model, each: &mut Each) -> Result<()> {
        match model {
            Model::Bm25 { k1, b } => self.run_with(plan, found, |stats| Bm25::new(k1, b, stats), each),
            Model::Classic => self.run_with(plan, found, Classic::new, each),
            Model::LmDirichlet { mu } => {
                self.run_with(plan, found, |stats| boxed(Dirichlet::new(mu, stats)), each)
            }
            Model::LmJelinekMercer { lambda } => {
                self.run_with(plan, found, |stats| boxed(JelinekMercer::new(lambda, stats)), each)
            }
            Model::Pl2 { c } => self.run_with(plan, found, |stats| boxed(Pl2::new(c, stats)), each),
            Model::Dph => self.run_with(plan, found, |stats| boxed(Dph::new(stats)), each),
            Model::PNorm { p } => self.run_soft(plan, found, p, each),
        }
    }

    /// The figures of a field of the plan.
    fn stats_of(&self, plan: &Plan, field: usize) -> LeafStats {
        self.fields.stats(plan.fields[field])
    }

    /// The similarities of the fields and the weights of the terms of a plan.
    fn weigh<S: Similarity>(
        &self,
        plan: &Plan,
        found: &Found,
        similarity: impl Fn(&LeafStats) -> S,
    ) -> (Vec<S>, Vec<f64>) {
        let similarities: Vec<S> =
            (0..plan.fields.len()).map(|field| similarity(&self.stats_of(plan, field))).collect();
        let weigh = |(term, of_term): (usize, &Figures)| {
            similarities[plan.field_of(term)].weight(of_term.doc_freq, of_term.total_freq)
        };
        let weights = found.figures.iter().enumerate().map(weigh).collect();
        (similarities, weights)
    }

    /// The extended Boolean model for the terms of a plan.
    fn soft(&self, plan: &Plan, found: &Found, p: f64) -> PNorm {
        let of_terms = found.figures.iter().enumerate();
        let of_terms =
            of_terms.map(|(term, of_term)| (of_term.doc_freq, self.stats_of(plan, plan.field_of(term))));
        PNorm::new(p, of_terms)
    }

    fn run_with<S: Similarity>(
        &self,
        plan: &Plan,
        found: &Found,
        similarity: impl Fn(&LeafStats) -> S,
        each: &mut Each,
    ) -> Result<()> {
        let shape: Shape = plan.shape();
        let (similarities, weights) = self.weigh(plan, found, similarity);
        each(&|part, goal| {
            let (view, found) = (self.view(plan, part)?, found.in_leaf(part.leaf));
            let terms = Terms { plan, found, weights: &weights, similarities: &similarities };
            run_leaf(&shape, &view, terms, goal)
        })
    }

    fn run_soft(&self, plan: &Plan, found: &Found, p: f64, each: &mut Each) -> Result<()> {
        pnorm::check(&plan.root)?;
        let soft = self.soft(plan, found, p);
        each(&|part, goal| {
            let view = self.view(plan, part)?;
            let terms = Terms::unscored(plan, found.in_leaf(part.leaf));
            match goal {
                Goal::All(sink) => soft.all(&plan.root, &view, terms, *sink),
                Goal::Top(top) => {
                    let mut keep = Keep::new(&view, Vec::new());
                    soft.all(&plan.root, &view, terms, &mut |docs, scores| {
                        offer(top, &mut keep, docs, scores)
                    })
                }
            }
        })
    }
}

fn boxed(similarity: impl Similarity + 'static) -> Box<dyn Similarity> {
    Box::new(similarity)
}

/// Runs the query in a part for a goal.
type Job<'j> = dyn Fn(&Part, &mut Goal) -> Result<ControlFlow<()>> + Sync + 'j;

/// Gets what runs the query.
type Each<'e> = dyn FnMut(&Job) -> Result<()> + 'e;
