//! Runs a plan in one leaf by the fastest way for its shape.

use std::ops::ControlFlow;

use super::leaf::{Leaf, ListSource, TermRef, damaged_list};
use super::plan::Shape;
use super::similarity::Similarity;
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
    pub(super) leaf: &'a dyn Leaf,
    /// One for every document.
    pub(super) norms: &'a [u8],
    pub(super) max_doc: u32,
    all_live: bool,
}

impl<'a> View<'a> {
    pub(super) fn new(leaf: &'a dyn Leaf) -> Result<Self> {
        let (norms, max_doc) = (leaf.norms()?, leaf.max_doc());
        if norms.len() < max_doc as usize {
            return Err(Error::corrupt("norms", format!("{} for {max_doc} documents", norms.len())));
        }
        Ok(View { leaf, norms, max_doc, all_live: leaf.stats().documents >= u64::from(max_doc) })
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
pub(super) struct Clause<'a> {
    pub(super) cursor: ListCursor<'a>,
    /// What the similarity made of it.
    pub(super) weight: f64,
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
#[derive(Clone, Copy)]
pub(super) struct Terms<'t> {
    pub(super) refs: &'t [Option<TermRef>],
    pub(super) weights: &'t [f64],
}

impl<'t> Terms<'t> {
    /// The postings of `term`, which may be absent from the leaf.
    pub(super) fn source<'a>(&self, view: &View<'a>, term: usize) -> Result<Option<ListSource<'a>>> {
        match &self.refs[term] {
            Some(found) => view.leaf.postings(found).map(Some),
            None => Ok(None),
        }
    }

    /// A clause over the postings that [`Terms::source`] gave.
    pub(super) fn clause<'s>(&self, view: &View, term: usize, source: &'s ListSource) -> Result<Clause<'s>> {
        let doc_freq = self.refs[term].map_or(0, |found| found.doc_freq);
        Ok(Clause { cursor: source.cursor(doc_freq, view.max_doc)?, weight: self.weights[term] })
    }
}

/// Sends every hit of the leaf to the goal; `Break` if the goal wants no more.
pub(super) fn run_leaf<S: Similarity>(
    shape: &Shape,
    view: &View,
    similarity: &S,
    terms: Terms,
    goal: &mut Goal,
) -> Result<ControlFlow<()>> {
    let flat = match shape {
        Shape::Tree(root) => {
            return match goal {
                Goal::All(sink) => tree::all(root, view, similarity, terms, *sink),
                Goal::Top(top) => tree::all(root, view, similarity, terms, &mut |docs, scores| {
                    offer(top, view, docs, scores)
                }),
            };
        }
        Shape::And(flat) if flat.iter().any(|&term| terms.refs[term].is_none()) => {
            return Ok(ControlFlow::Continue(()));
        }
        Shape::And(flat) | Shape::Or(flat) => flat,
    };
    let mut sources = Vec::with_capacity(flat.len());
    for &term in flat {
        sources.extend(terms.source(view, term)?.map(|source| (term, source)));
    }
    let mut clauses = sources
        .iter()
        .map(|(term, source)| terms.clause(view, *term, source))
        .collect::<Result<Vec<Clause>>>()?;
    let all = matches!(shape, Shape::And(_));
    let flow = match goal {
        Goal::All(sink) => run_all(all, &mut clauses, view, similarity, *sink),
        Goal::Top(top) => {
            run_top(all, &mut clauses, view, similarity, top);
            ControlFlow::Continue(())
        }
    };
    if clauses.iter().any(|clause| clause.cursor.corrupt()) { Err(damaged_list()) } else { Ok(flow) }
}

fn run_all<S: Similarity>(
    conjunctive: bool,
    clauses: &mut [Clause],
    view: &View,
    similarity: &S,
    sink: &mut Sink,
) -> ControlFlow<()> {
    match clauses {
        [] => ControlFlow::Continue(()),
        [only] => term::all(only, view, similarity, sink),
        _ if conjunctive => conjunction::all(clauses, view, similarity, sink),
        _ => disjunction::all(clauses, view, similarity, sink),
    }
}

/// Lists that are shorter in total are scored without looking for what could be skipped: it costs more.
const WORTH_PRUNING: u64 = 2_048;

/// The same for a single list, where less has to be prepared.
const WORTH_PRUNING_ONE: u64 = 4 * BLOCK as u64;

fn run_top<S: Similarity>(
    conjunctive: bool,
    clauses: &mut [Clause],
    view: &View,
    similarity: &S,
    top: &mut TopK,
) {
    let postings: u64 = clauses.iter().map(|clause| u64::from(clause.cursor.doc_freq())).sum();
    let worth = if clauses.len() == 1 { WORTH_PRUNING_ONE } else { WORTH_PRUNING };
    if !S::PRUNED || postings < worth || !conjunctive && too_large(clauses.len(), view.max_doc) {
        // `offer` never breaks.
        let _ = run_all(conjunctive, clauses, view, similarity, &mut |docs, scores| {
            offer(top, view, docs, scores)
        });
        return;
    }
    match clauses {
        [] => {}
        [only] => term::top(only, view, similarity, top),
        _ if conjunctive => conjunction::top(clauses, view, similarity, top),
        _ => maxscore::top(clauses, view, similarity, top),
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
