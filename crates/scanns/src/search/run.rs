//! Runs a plan in one leaf by the fastest way for its shape.

use std::ops::ControlFlow;

use super::fields::Fields;
use super::leaf::{Leaf, ListSource, TermRef, damaged_list};
use super::plan::{Boosted, Plan, Shape};
use super::similarity::{Scorer, Similarity, Weight};
use super::topk::TopK;
use super::windows::too_large;
use super::{conjunction, disjunction, maxscore, term, tree};
use crate::codec::{BLOCK, ListCursor};
use crate::error::{Error, Result};

/// Takes hits in batches: documents in order, and their scores.
pub(super) type Sink<'s> = dyn FnMut(&[u32], &[f32]) -> ControlFlow<()> + 's;

/// What is wanted: every hit, or the best.
pub(super) enum Goal<'g, 's> {
    All(&'g mut Sink<'s>),
    Top(&'g mut TopK),
}

/// A leaf as the loops see it.
pub(super) struct View<'a> {
    /// Which documents there are and are not deleted is the same in all fields.
    leaf: &'a dyn Leaf,
    /// By field of the plan: the leaf, and a norm for every document.
    fields: Vec<(&'a dyn Leaf, &'a [u8])>,
    pub(super) max_doc: u32,
    all_live: bool,
}

impl<'a> View<'a> {
    /// Leaf number `number`, seen through the fields of a plan.
    pub(super) fn new(all: &Fields<'a>, plan: &Plan, number: usize) -> Result<Self> {
        let leaf = all.leaf(all.default_place(), number);
        let max_doc = leaf.max_doc();
        let through = |&place: &usize| {
            let leaf = all.leaf(place, number);
            let norms = leaf.norms()?;
            match norms.len() >= max_doc as usize {
                true => Ok((leaf, norms)),
                false => Err(Error::corrupt("norms", format!("{} for {max_doc} documents", norms.len()))),
            }
        };
        let fields = plan.fields.iter().map(through).collect::<Result<_>>()?;
        Ok(View { leaf, fields, max_doc, all_live: leaf.stats().documents >= u64::from(max_doc) })
    }

    /// The leaf, seen through a field of the plan.
    pub(super) fn through(&self, field: usize) -> &'a dyn Leaf {
        self.fields[field].0
    }

    /// The norms of a field of the plan.
    pub(super) fn norms(&self, field: usize) -> &'a [u8] {
        self.fields[field].1
    }

    /// False for deleted documents.
    #[inline]
    pub(super) fn keeps(&self, doc: u32) -> bool {
        self.all_live || self.leaf.is_live(doc)
    }

    /// True if no document is deleted.
    pub(super) fn all_live(&self) -> bool {
        self.all_live
    }
}

/// A term of the query with its postings in this leaf.
pub(super) struct Clause<'a, S> {
    pub(super) cursor: ListCursor<'a>,
    pub(super) scorer: Scorer<'a, S>,
}

/// The postings that are left of the block of a cursor. What is not scored has no use for frequencies, so they
/// are not decoded there; documents stand in for them.
#[inline]
pub(super) fn postings<'c, S: Similarity>(cursor: &'c mut ListCursor) -> (&'c [u32], &'c [u32]) {
    if S::SCORED { cursor.rest_of_block() } else { (cursor.rest_of_docs(), cursor.rest_of_docs()) }
}

/// How many of `docs`, which rise, are below `end`.
#[inline]
pub(super) fn count_below(docs: &[u32], end: u32) -> usize {
    if docs.last().is_some_and(|&last| last < end) {
        docs.len()
    } else {
        docs.partition_point(|&doc| doc < end)
    }
}

/// What a leaf needs to know about the terms of the plan, by their numbers.
pub(super) struct Terms<'t, S> {
    pub(super) plan: &'t Plan<'t>,
    pub(super) refs: &'t [Option<TermRef>],
    /// Without the boosts of the query.
    pub(super) weights: &'t [f64],
    /// By field of the plan.
    pub(super) similarities: &'t [S],
}

impl<S> Clone for Terms<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Terms<'_, S> {}

impl<'t, S: Similarity> Terms<'t, S> {
    /// The postings of `term`, which may be absent from the leaf.
    pub(super) fn source<'a>(&self, view: &View<'a>, term: usize) -> Result<Option<ListSource<'a>>> {
        match &self.refs[term] {
            Some(found) => view.through(self.plan.field_of(term)).postings(found).map(Some),
            None => Ok(None),
        }
    }

    /// A clause over the postings that [`Terms::source`] gave.
    pub(super) fn clause<'s>(
        &self,
        view: &View<'s>,
        Boosted { term, boost }: Boosted,
        source: &'s ListSource,
    ) -> Result<Clause<'s, S>>
    where
        't: 's,
    {
        let scorer = self.scorer(view, self.plan.field_of(term), S::boosted(self.weights[term], boost));
        Ok(Clause { cursor: self.cursor(view, term, source)?, scorer })
    }

    /// The postings of a term.
    pub(super) fn cursor<'s>(
        &self,
        view: &View<'s>,
        term: usize,
        source: &'s ListSource,
    ) -> Result<ListCursor<'s>> {
        source.cursor(self.refs[term].map_or(0, |found| found.doc_freq), view.max_doc)
    }

    /// What scores with this weight in a field of the plan.
    pub(super) fn scorer<'s>(&self, view: &View<'s>, field: usize, weight: Weight) -> Scorer<'s, S>
    where
        't: 's,
    {
        Scorer { weight, norms: view.norms(field), similarity: &self.similarities[field] }
    }
}

/// Sends every hit of the leaf to the goal; `Break` if the goal wants no more.
pub(super) fn run_leaf<S: Similarity>(
    shape: &Shape,
    view: &View,
    terms: Terms<S>,
    goal: &mut Goal,
) -> Result<ControlFlow<()>> {
    let flat = match shape {
        Shape::Tree(root) => {
            return match goal {
                Goal::All(sink) => tree::all(root, view, terms, *sink),
                Goal::Top(top) => {
                    tree::all(root, view, terms, &mut |docs, scores| offer(top, view, docs, scores))
                }
            };
        }
        Shape::And(flat) if flat.iter().any(|clause| terms.refs[clause.term].is_none()) => {
            return Ok(ControlFlow::Continue(()));
        }
        Shape::And(flat) | Shape::Or(flat) => flat,
    };
    let mut sources = Vec::with_capacity(flat.len());
    for &clause in flat {
        sources.extend(terms.source(view, clause.term)?.map(|source| (clause, source)));
    }
    let mut clauses = sources
        .iter()
        .map(|(clause, source)| terms.clause(view, *clause, source))
        .collect::<Result<Vec<_>>>()?;
    let all = matches!(shape, Shape::And(_));
    let flow = match goal {
        Goal::All(sink) => run_all(all, &mut clauses, view, *sink),
        Goal::Top(top) => {
            run_top(all, &mut clauses, view, top);
            ControlFlow::Continue(())
        }
    };
    if clauses.iter().any(|clause| clause.cursor.corrupt()) { Err(damaged_list()) } else { Ok(flow) }
}

fn run_all<S: Similarity>(
    conjunctive: bool,
    clauses: &mut [Clause<S>],
    view: &View,
    sink: &mut Sink,
) -> ControlFlow<()> {
    match clauses {
        [] => ControlFlow::Continue(()),
        [only] => term::all(only, sink),
        _ if conjunctive => conjunction::all(clauses, view, sink),
        _ => disjunction::all(clauses, view, sink),
    }
}

/// Lists that are shorter in total are scored without looking for what could be skipped: it costs more.
const WORTH_PRUNING: u64 = 2_048;

/// The same for a single list, where less has to be prepared.
const WORTH_PRUNING_ONE: u64 = 4 * BLOCK as u64;

fn run_top<S: Similarity>(conjunctive: bool, clauses: &mut [Clause<S>], view: &View, top: &mut TopK) {
    let postings: u64 = clauses.iter().map(|clause| u64::from(clause.cursor.doc_freq())).sum();
    let worth = if clauses.len() == 1 { WORTH_PRUNING_ONE } else { WORTH_PRUNING };
    if !S::PRUNED || postings < worth || !conjunctive && too_large(clauses.len(), view.max_doc) {
        // `offer` never breaks.
        let _ = run_all(conjunctive, clauses, view, &mut |docs, scores| offer(top, view, docs, scores));
        return;
    }
    match clauses {
        [] => {}
        [only] => term::top(only, view, top),
        _ if conjunctive => conjunction::top(clauses, view, top),
        _ => maxscore::top(clauses, view, top),
    }
}

/// Gives a batch of hits to `top`, deleted documents left out.
#[inline]
pub(super) fn offer(top: &mut TopK, view: &View, docs: &[u32], scores: &[f32]) -> ControlFlow<()> {
    for (&doc, &score) in docs.iter().zip(scores) {
        if score >= top.threshold() && view.keeps(doc) {
            top.push(doc, score);
        }
    }
    ControlFlow::Continue(())
}
