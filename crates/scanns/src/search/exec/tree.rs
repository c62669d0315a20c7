//! Runs nested queries, document at a time and without pruning.
//!
//! Each node is at a document and can be moved to the first one not below a target; scores are computed where
//! the nodes agree. Sums are rounded per list, as in Lucene: the clauses of a list add up in 64 bits and are
//! cast once, required and optional sums are added in 32 bits.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::phrase::PhraseCursor;
use crate::codec::{BLOCK, NO_MORE, count_below};
use crate::error::{Error, Result};
use crate::search::best_score::BestScore;
use crate::search::budget::Clock;
use crate::search::doc_set::DocSet;
use crate::search::exec::bound_terms::{BoundTerms, Clause};
use crate::search::exec::doc_source::SourceDocs;
use crate::search::exec::goal::Sink;
use crate::search::exec::joined;
use crate::search::exec::value_scorer::ValueScorer;
use crate::search::exec::view::View;
use crate::search::joining::leaf_numbers::ScoredDocs;
use crate::search::leaf::{ListSource, damaged_list};
use crate::search::plan::node::{NodeKind, PlanNode};
use crate::search::plan::shape::Boosted;
use crate::search::similarity::{Similarity, narrow};
use crate::segment::has_bit;

/// Every hit, in order.
pub(crate) fn all<S: Similarity>(
    root: &PlanNode,
    view: &View,
    terms: BoundTerms<S>,
    sink: &mut Sink,
) -> Result<ControlFlow<()>> {
    let sources = terms.sources(view)?;
    let among = terms.candidates(view, root, &sources)?;
    let builder = TreeBuilder { view, terms, sources: &sources, among: among.as_deref() };
    let Some(mut root) = builder.node(root, 1.0)? else { return Ok(ControlFlow::Continue(())) };
    let flow = drive(&mut root, view, sink);
    root.error().map_or(Ok(flow), Err)
}

/// Every hit that is in a set, in order. The set leads, so that lists are only searched for its documents.
pub(crate) fn all_in<S: Similarity>(
    set: DocSet,
    root: &PlanNode,
    view: &View,
    terms: BoundTerms<S>,
    sink: &mut Sink,
) -> Result<ControlFlow<()>> {
    let sources = terms.sources(view)?;
    let builder = TreeBuilder { view, terms, sources: &sources, among: None };
    let Some(node) = builder.node(root, 1.0)? else { return Ok(ControlFlow::Continue(())) };
    let set = TreeCursor::Set { set: Arc::new(set), doc: 0, score: 0.0, end: view.end };
    let mut root = builder.every(vec![builder.settled(set), node]);
    let flow = drive(&mut root, view, sink);
    root.error().map_or(Ok(flow), Err)
}

fn drive<S: Similarity>(root: &mut TreeCursor<S>, view: &View, sink: &mut Sink) -> ControlFlow<()> {
    let (mut docs, mut scores) = ([0; BLOCK], [0.0; BLOCK]);
    let mut len = 0;
    if let TreeCursor::Set { set, score, .. } = root {
        return drive_set(set, *score, view, sink);
    }
    let mut doc = root.advance(view.first);
    while doc != NO_MORE {
        let score = root.score();
        // When time is up, some nodes may have ended early, so the match may be wrong.
        if view.clock.is_up() {
            break;
        }
        (docs[len], scores[len]) = (doc, score);
        len += 1;
        if len == BLOCK {
            sink(&docs, &scores)?;
            len = 0;
        }
        doc = root.advance(doc + 1);
    }
    sink(&docs[..len], &scores[..len])
}

/// Every document of a set.
fn drive_set(set: &DocSet, score: f32, view: &View, sink: &mut Sink) -> ControlFlow<()> {
    let (mut docs, scores) = ([0; BLOCK], [score; BLOCK]);
    let mut next = view.first;
    // A set may itself have ended early.
    while !view.clock.is_up() {
        let found = set.take_from(next, &mut docs);
        let found = &found[..count_below(found, view.end)];
        let Some(&last) = found.last() else { break };
        sink(found, &scores[..found.len()])?;
        next = last + 1;
    }
    ControlFlow::Continue(())
}

struct TreeBuilder<'b, 's, S> {
    view: &'b View<'s>,
    terms: BoundTerms<'s, S>,
    /// By term.
    sources: &'s [Option<ListSource<'s>>],
    /// The only documents that can match, if they are known.
    among: Option<&'b [u32]>,
}

impl<'s, S: Similarity> TreeBuilder<'_, 's, S> {
    /// The cursor of a node inside boosts whose product is `boost`; `None` if nothing in this leaf can match
    /// it.
    fn node(&self, node: &PlanNode, boost: f32) -> Result<Option<TreeCursor<'s, S>>> {
        let boost = boost * node.boost;
        match &node.kind {
            NodeKind::Term(term) => {
                let Some(source) = &self.sources[*term] else { return Ok(None) };
                let clause = self.terms.clause(self.view, Boosted { term: *term, boost }, source)?;
                let cursor = TreeCursor::Term(Box::new(clause), self.view.end);
                Ok(Some(self.within(self.terms.plan.field_of(*term), cursor)))
            }
            NodeKind::Bool { must, should, must_not, at_least } => {
                self.list(must, should, must_not, *at_least, boost)
            }
            NodeKind::Best { any, tie } => {
                let parts = self.nodes(any, boost)?;
                Ok((!parts.is_empty()).then(|| TreeCursor::best(parts, *tie)))
            }
            NodeKind::Filter(node) => {
                Ok(self.node(node, boost)?.map(|cursor| TreeCursor::Filter(Box::new(cursor))))
            }
            NodeKind::Scored(node, scored) => {
                let Some(base) = self.node(node, boost)? else { return Ok(None) };
                let scorer = ValueScorer::new(self.view, self.terms.plan.scored[*scored], boost)?;
                Ok(Some(TreeCursor::Changed { base: Box::new(base), scorer: Box::new(scorer), error: None }))
            }
            NodeKind::Phrase { terms, slop } => self.phrase(terms, *slop, boost),
            NodeKind::Joined(join) => {
                let of_plan = self.terms.plan.joins[*join].query;
                let docs = joined::scored(self.view, of_plan, &self.terms.joins[*join])?;
                let end = self.view.end;
                Ok(Some(self.settled(TreeCursor::Scored { docs, at: 0, doc: 0, boost, end })))
            }
            NodeKind::Docs(source) => {
                let cursor = match self.terms.docs(self.view, *source, self.among)? {
                    SourceDocs::All => self.everything(boost),
                    SourceDocs::Set(set) => {
                        self.settled(TreeCursor::Set { set, doc: 0, score: boost, end: self.view.end })
                    }
                };
                Ok(Some(match self.terms.plan.field_of_source(*source) {
                    Some(field) => self.within(field, cursor),
                    None => cursor,
                }))
            }
        }
    }

    /// The documents of a cursor that have a field of the plan.
    fn within(&self, field: usize, cursor: TreeCursor<'s, S>) -> TreeCursor<'s, S> {
        match self.view.only(field) {
            Some(only) => self.settled(TreeCursor::Only { base: Box::new(cursor), only }),
            None => cursor,
        }
    }

    fn everything(&self, score: f32) -> TreeCursor<'s, S> {
        self.settled(TreeCursor::Everything { doc: 0, end: self.view.end, score })
    }

    /// Moves a new cursor to its first document.
    fn settled(&self, mut cursor: TreeCursor<'s, S>) -> TreeCursor<'s, S> {
        cursor.advance(self.view.first);
        cursor
    }

    fn list(
        &self,
        must: &[PlanNode],
        should: &[PlanNode],
        must_not: &[PlanNode],
        at_least: usize,
        boost: f32,
    ) -> Result<Option<TreeCursor<'s, S>>> {
        let required = self.nodes(must, boost)?;
        let optional = self.nodes(should, boost)?;
        if required.len() < must.len() || optional.len() < at_least {
            return Ok(None);
        }
        let (clock, first) = (self.view.clock, self.view.first);
        let base = match (required.is_empty(), optional.is_empty()) {
            (true, true) if !should.is_empty() || must_not.is_empty() => return Ok(None),
            (true, true) => self.everything(0.0),
            (true, false) => self.some(optional, at_least),
            (false, true) => self.every(required),
            (false, false) if at_least > 0 => {
                self.every(vec![self.every(required), self.some(optional, at_least)])
            }
            (false, false) => TreeCursor::Boosted {
                base: Box::new(self.every(required)),
                boost: Box::new(TreeCursor::any(optional)),
            },
        };
        let excluded = self.nodes(must_not, boost)?;
        if excluded.is_empty() {
            return Ok(Some(base));
        }
        let excluded = Box::new(TreeCursor::any(excluded));
        let mut without = TreeCursor::Without { base: Box::new(base), excluded, clock };
        without.advance(first);
        Ok(Some(without))
    }

    fn every(&self, parts: Vec<TreeCursor<'s, S>>) -> TreeCursor<'s, S> {
        self.settled(TreeCursor::Every { parts, clock: self.view.clock })
    }

    /// Documents of at least `needed` of the parts, and of at least one.
    fn some(&self, parts: Vec<TreeCursor<'s, S>>, needed: usize) -> TreeCursor<'s, S> {
        match needed {
            0 | 1 => TreeCursor::any(parts),
            _ => self.settled(TreeCursor::AtLeast { parts, needed, doc: 0, clock: self.view.clock }),
        }
    }

    fn phrase(&self, terms: &[(u32, usize)], slop: u32, boost: f32) -> Result<Option<TreeCursor<'s, S>>> {
        let lists: Option<Vec<_>> = terms.iter().map(|&(_, term)| self.sources[term].as_ref()).collect();
        let Some(lists) = lists else { return Ok(None) };
        let matcher = self.terms.phrase_matcher(self.view, terms, slop, &lists)?;
        let scorers = self.terms.phrase_scorers(self.view, terms, boost);
        let phrase = TreeCursor::Phrase(Box::new(PhraseCursor::new(matcher, scorers, self.view)));
        let field = terms.first().map_or(0, |&(_, term)| self.terms.plan.field_of(term));
        Ok(Some(self.within(field, phrase)))
    }

    /// The cursors of the nodes that can match.
    fn nodes(&self, nodes: &[PlanNode], boost: f32) -> Result<Vec<TreeCursor<'s, S>>> {
        nodes.iter().filter_map(|node| self.node(node, boost).transpose()).collect()
    }
}

/// A position in the documents that match a node.
enum TreeCursor<'s, S> {
    /// A term, and the document before which it ends.
    Term(Box<Clause<'s, S>>, u32),
    Phrase(Box<PhraseCursor<'s, S>>),
    /// Every document up to `end`.
    Everything {
        doc: u32,
        end: u32,
        score: f32,
    },
    /// The documents of a set, all with one score.
    Set {
        set: Arc<DocSet>,
        doc: u32,
        score: f32,
        end: u32,
    },
    /// The documents of a join with their scores.
    Scored {
        docs: Arc<ScoredDocs>,
        /// The place of the document.
        at: usize,
        doc: u32,
        boost: f32,
        end: u32,
    },
    /// Matches as the cursor inside does, with a score of 0.
    Filter(Box<TreeCursor<'s, S>>),
    /// Matches as `base` does, with scores that a column changes.
    Changed {
        base: Box<TreeCursor<'s, S>>,
        scorer: Box<ValueScorer<'s, 's>>,
        error: Option<Error>,
    },
    Every {
        parts: Vec<TreeCursor<'s, S>>,
        clock: Clock<'s>,
    },
    Any {
        parts: Vec<TreeCursor<'s, S>>,
        doc: u32,
    },
    /// Documents of any of the parts, scored by the best one.
    Best {
        parts: Vec<TreeCursor<'s, S>>,
        tie: f32,
        doc: u32,
    },
    /// Documents of at least `needed` of the parts.
    AtLeast {
        parts: Vec<TreeCursor<'s, S>>,
        needed: usize,
        doc: u32,
        clock: Clock<'s>,
    },
    /// Matches as `base` does, and scores higher where `boost` matches too.
    Boosted {
        base: Box<TreeCursor<'s, S>>,
        boost: Box<TreeCursor<'s, S>>,
    },
    Without {
        base: Box<TreeCursor<'s, S>>,
        excluded: Box<TreeCursor<'s, S>>,
        clock: Clock<'s>,
    },
    /// Documents of `base` whose bits are set.
    Only {
        base: Box<TreeCursor<'s, S>>,
        only: &'s [u64],
    },
}

impl<'s, S: Similarity> TreeCursor<'s, S> {
    fn any(parts: Vec<TreeCursor<'s, S>>) -> Self {
        let doc = parts.iter().map(TreeCursor::doc).min().unwrap_or(NO_MORE);
        TreeCursor::Any { parts, doc }
    }

    fn best(parts: Vec<TreeCursor<'s, S>>, tie: f32) -> Self {
        let doc = parts.iter().map(TreeCursor::doc).min().unwrap_or(NO_MORE);
        TreeCursor::Best { parts, tie, doc }
    }

    fn doc(&self) -> u32 {
        match self {
            TreeCursor::Term(clause, end) => before(clause.cursor.doc(), *end),
            TreeCursor::Phrase(phrase) => phrase.doc(),
            TreeCursor::Filter(inner) => inner.doc(),
            TreeCursor::Everything { doc, .. }
            | TreeCursor::Set { doc, .. }
            | TreeCursor::Scored { doc, .. }
            | TreeCursor::Any { doc, .. }
            | TreeCursor::Best { doc, .. }
            | TreeCursor::AtLeast { doc, .. } => *doc,
            TreeCursor::Every { parts, .. } => parts.first().map_or(NO_MORE, TreeCursor::doc),
            TreeCursor::Boosted { base, .. }
            | TreeCursor::Without { base, .. }
            | TreeCursor::Changed { base, .. }
            | TreeCursor::Only { base, .. } => base.doc(),
        }
    }

    /// Moves to the first match not below `target`; never back.
    fn advance(&mut self, target: u32) -> u32 {
        match self {
            TreeCursor::Term(clause, end) => before(clause.cursor.advance(target), *end),
            TreeCursor::Phrase(phrase) => phrase.advance(target),
            TreeCursor::Filter(inner) => inner.advance(target),
            TreeCursor::Set { set, doc, end, .. } => {
                *doc = before(set.next(target.max(*doc)), *end);
                *doc
            }
            TreeCursor::Scored { docs, at, doc, end, .. } => {
                *at = docs.next(*at, target);
                *doc = before(docs.docs.get(*at).copied().unwrap_or(NO_MORE), *end);
                *doc
            }
            TreeCursor::AtLeast { parts, needed, doc, clock } => {
                *doc = agree_some(parts, *needed, target, *clock);
                *doc
            }
            TreeCursor::Everything { doc, end, .. } => {
                *doc = before(target.max(*doc), *end);
                *doc
            }
            TreeCursor::Every { parts, clock } => agree(parts, target, *clock),
            TreeCursor::Any { parts, doc } | TreeCursor::Best { parts, doc, .. } => {
                *doc = parts.iter_mut().map(|part| part.advance(target)).min().unwrap_or(NO_MORE);
                *doc
            }
            TreeCursor::Boosted { base, .. } | TreeCursor::Changed { base, .. } => base.advance(target),
            TreeCursor::Only { base, only } => {
                let mut doc = base.advance(target);
                while doc != NO_MORE && !has_bit(only, doc) {
                    doc = base.advance(doc + 1);
                }
                doc
            }
            TreeCursor::Without { base, excluded, clock } => {
                let mut doc = base.advance(target);
                while doc != NO_MORE && excluded.advance(doc) == doc {
                    if clock.is_up() {
                        return NO_MORE;
                    }
                    doc = base.advance(doc + 1);
                }
                doc
            }
        }
    }

    /// The score of the current document.
    fn score(&mut self) -> f32 {
        match self {
            TreeCursor::Term(clause, _) => clause.scorer.score(clause.cursor.doc(), clause.cursor.tf()),
            TreeCursor::Phrase(phrase) => phrase.score(),
            TreeCursor::Filter(_) => 0.0,
            TreeCursor::Changed { base, scorer, error } => {
                let (doc, score) = (base.doc(), base.score());
                scorer.score(doc, score).unwrap_or_else(|failed| {
                    *error = Some(failed);
                    score
                })
            }
            TreeCursor::Everything { score, .. } | TreeCursor::Set { score, .. } => *score,
            TreeCursor::Scored { docs, at, boost, .. } => {
                docs.scores.get(*at).map_or(0.0, |score| score * *boost)
            }
            TreeCursor::Every { parts, .. } => {
                narrow(parts.iter_mut().map(|part| f64::from(part.score())).sum())
            }
            TreeCursor::Any { parts, doc } | TreeCursor::AtLeast { parts, doc, .. } => {
                let here = parts.iter_mut().filter(|part| part.doc() == *doc);
                narrow(here.map(|part| f64::from(part.score())).sum())
            }
            TreeCursor::Best { parts, tie, doc } => {
                let mut best = BestScore::new();
                let here = parts.iter_mut().filter(|part| part.doc() == *doc);
                here.for_each(|part| best.add(part.score()));
                best.value(*tie)
            }
            TreeCursor::Boosted { base, boost } => {
                let (doc, score) = (base.doc(), base.score());
                if boost.advance(doc) == doc { score + boost.score() } else { score }
            }
            TreeCursor::Without { base, .. } | TreeCursor::Only { base, .. } => base.score(),
        }
    }

    /// The error of a list or a column that cannot be read.
    fn error(&mut self) -> Option<Error> {
        let of_list = |is_damaged: bool| is_damaged.then(damaged_list);
        match self {
            TreeCursor::Term(clause, _) => of_list(clause.cursor.corrupt()),
            TreeCursor::Phrase(phrase) => of_list(phrase.corrupt()),
            TreeCursor::Filter(inner) | TreeCursor::Only { base: inner, .. } => inner.error(),
            TreeCursor::Everything { .. } | TreeCursor::Set { .. } | TreeCursor::Scored { .. } => None,
            TreeCursor::Every { parts, .. }
            | TreeCursor::Any { parts, .. }
            | TreeCursor::Best { parts, .. }
            | TreeCursor::AtLeast { parts, .. } => parts.iter_mut().find_map(TreeCursor::error),
            TreeCursor::Boosted { base, boost: other }
            | TreeCursor::Without { base, excluded: other, .. } => base.error().or_else(|| other.error()),
            TreeCursor::Changed { base, error, .. } => error.take().or_else(|| base.error()),
        }
    }
}

/// The document, or the end if the document is not before it.
#[inline]
fn before(doc: u32, end: u32) -> u32 {
    if doc < end { doc } else { NO_MORE }
}

/// Moves all parts to the first document not below `target` that all of them contain.
fn agree<S: Similarity>(parts: &mut [TreeCursor<S>], target: u32, clock: Clock) -> u32 {
    let mut doc = target;
    loop {
        let highest = parts.iter_mut().map(|part| part.advance(doc)).max().unwrap_or(NO_MORE);
        if highest == doc || highest == NO_MORE {
            // At the end, the first part must be at the same document, because it represents all parts.
            return parts.first_mut().map_or(NO_MORE, |part| part.advance(highest));
        }
        if clock.is_up() {
            return NO_MORE;
        }
        doc = highest;
    }
}

/// Moves the parts to the first document not below `target` that at least `needed` of them contain.
fn agree_some<S: Similarity>(parts: &mut [TreeCursor<S>], needed: usize, target: u32, clock: Clock) -> u32 {
    let mut target = target;
    loop {
        let mut docs: Vec<u32> = parts.iter_mut().map(|part| part.advance(target)).collect();
        docs.sort_unstable();
        // Fewer than `needed` parts have a document before the one at this index. All parts must reach it,
        // since all add to its score.
        match docs.get(needed.saturating_sub(1)) {
            None | Some(&NO_MORE) => return NO_MORE,
            Some(&doc) if docs.first() == Some(&doc) => return doc,
            Some(_) if clock.is_up() => return NO_MORE,
            Some(&doc) => target = doc,
        }
    }
}
