//! Runs a plan in one leaf by the fastest way for its shape.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use super::budget::Clock;
use super::docset::DocSet;
use super::fields::Fields;
use super::keep::{Keep, offer};
use super::leaf::{Leaf, ListSource, TermRef, damaged_list};
use super::parts::{Parts, Sources};
use super::plan::{Boosted, InLeaf, Kind, Node, Plan, Required, Shape};
use super::query::ValueRange;
use super::similarity::{Scorer, Similarity, Unscored, Weight};
use super::topk::TopK;
use super::windows::too_large;
use super::{accumulate, conjunction, disjunction, maxscore, sets, term, tree, values};
use crate::codec::{BLOCK, ListCursor, NO_MORE};
use crate::error::{Error, Result};

/// A range of documents begins and ends at a multiple of this, or with its leaf.
pub(super) const GRAIN: u32 = 4_096;

const _: () = assert!(GRAIN.is_multiple_of(sets::WINDOW) && GRAIN.is_multiple_of(accumulate::WINDOW));

/// Values of so many documents are compared in the time in which that of one is looked up.
const RARE: u64 = 64;

/// Takes hits in batches: documents in order, and their scores.
pub(super) type Sink<'s> = dyn FnMut(&[u32], &[f32]) -> ControlFlow<()> + 's;

/// What is wanted: every hit, or the best.
pub(super) enum Goal<'g, 's> {
    All(&'g mut Sink<'s>),
    Top(&'g mut TopK<'s>),
}

/// A leaf, or a range of its documents, as the loops see it. Where a range begins and ends in a leaf is a multiple of
/// [`GRAIN`], so that no window of documents is cut.
pub(super) struct View<'a> {
    /// Which documents there are and are not deleted is the same in all fields.
    leaf: &'a dyn Leaf,
    /// By field of the plan: the leaf, and a norm for every document.
    fields: Vec<(&'a dyn Leaf, &'a [u8])>,
    /// Documents of the leaf.
    pub(super) max_doc: u32,
    /// Only documents from this one on are looked for,
    pub(super) first: u32,
    /// and only those before this one.
    pub(super) end: u32,
    all_live: bool,
    pub(super) clock: Clock<'a>,
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
        let all_live = leaf.stats().documents >= u64::from(max_doc);
        Ok(View { leaf, fields, max_doc, first: 0, end: max_doc, all_live, clock: all.clock() })
    }

    /// The same, of which only a range of documents is looked at.
    pub(super) fn between(mut self, first: u32, end: u32) -> Self {
        self.end = end.min(self.max_doc);
        self.first = first.min(self.end);
        self
    }

    /// True if it is the whole leaf.
    pub(super) fn is_whole(&self) -> bool {
        self.first == 0 && self.end == self.max_doc
    }

    /// The blocks of a list that have documents which are looked for.
    pub(super) fn blocks_of(&self, list: &ListCursor) -> Range<usize> {
        if self.is_whole() {
            return 0..list.blocks();
        }
        let first = list.find_block(0, self.first);
        let last = list.find_block(first, self.end.saturating_sub(1));
        first..(last + 1).min(list.blocks())
    }

    /// The leaf, seen through a field of the plan.
    pub(super) fn through(&self, field: usize) -> &'a dyn Leaf {
        self.fields[field].0
    }

    /// The norms of a field of the plan.
    pub(super) fn norms(&self, field: usize) -> &'a [u8] {
        self.fields[field].1
    }

    /// The documents of the range that have any term at all in a field of the plan.
    pub(super) fn with_terms(&self, field: usize) -> DocSet {
        DocSet::with_terms(self.norms(field), (self.first, self.end))
    }

    /// The documents of the range that have a value in another range; if only some matter, perhaps only of those.
    pub(super) fn with_values(&self, range: &ValueRange, among: Option<&[u32]>) -> Result<DocSet> {
        if let Some(docs) = among
            && let Some(found) = values::among(self.leaf, range, docs, self.clock)?
        {
            return Ok(found);
        }
        values::documents(self.leaf, range, (self.first, self.end), self.clock)
    }

    /// False for deleted documents.
    #[inline]
    pub(super) fn keeps(&self, doc: u32) -> bool {
        self.all_live || self.leaf.is_live(doc)
    }

    /// How many of `docs` are not deleted.
    pub(super) fn count_kept(&self, docs: &[u32]) -> u64 {
        match self.all_live {
            true => docs.len() as u64,
            false => docs.iter().filter(|&&doc| self.keeps(doc)).count() as u64,
        }
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
    pub(super) found: &'t InLeaf,
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

impl<'t> Terms<'t, ()> {
    /// For what does not score.
    pub(super) fn unscored(plan: &'t Plan<'t>, found: &'t InLeaf) -> Self {
        Terms { plan, found, weights: &[], similarities: &[] }
    }
}

impl<'t, S> Terms<'t, S> {
    /// The postings of `term`, which may be absent from the leaf.
    pub(super) fn source<'a>(&self, view: &View<'a>, term: usize) -> Result<Option<ListSource<'a>>> {
        match &self.found.refs[term] {
            Some(found) => view.through(self.plan.field_of(term)).postings(found).map(Some),
            None => Ok(None),
        }
    }

    /// The leaf in whose terms a pattern is sought.
    pub(super) fn leaf_of_pattern<'v>(&self, view: &View<'v>, pattern: usize) -> &'v dyn Leaf {
        view.through(self.plan.patterns[pattern].0)
    }

    /// The documents with a value in a range; if only some matter, perhaps only of those.
    pub(super) fn in_range(&self, view: &View, range: usize, among: Option<&[u32]>) -> Result<DocSet> {
        view.with_values(self.plan.ranges[range], among)
    }

    /// The documents that alone can match, where values are asked for beside a rare word that is required.
    pub(super) fn candidates(
        &self,
        view: &View,
        root: &Node,
        sources: &[Option<ListSource>],
    ) -> Result<Option<Vec<u32>>> {
        let (false, Kind::Bool { must, .. }) = (self.plan.ranges.is_empty(), &root.kind) else {
            return Ok(None);
        };
        let term = |node: &Node| match node.kind {
            Kind::Term(term) => Some(term),
            _ => None,
        };
        let Some(rarest) = must.iter().filter_map(term).min_by_key(|&term| self.doc_freq(term)) else {
            return Ok(None);
        };
        match &sources[rarest] {
            Some(source) if self.is_rare(view, rarest) => self.docs_of(view, rarest, source).map(Some),
            _ => Ok(None),
        }
    }

    /// The documents of a query that is a rare word and nothing else.
    pub(super) fn docs_of_rare(&self, view: &View, root: &Node) -> Result<Option<Vec<u32>>> {
        match root.kind {
            Kind::Term(term) if self.is_rare(view, term) => match self.source(view, term)? {
                Some(source) => self.docs_of(view, term, &source).map(Some),
                None => Ok(Some(Vec::new())),
            },
            _ => Ok(None),
        }
    }

    fn is_rare(&self, view: &View, term: usize) -> bool {
        u64::from(self.doc_freq(term)) * RARE <= u64::from(view.end - view.first)
    }

    /// The documents of a term.
    fn docs_of(&self, view: &View, term: usize, source: &ListSource) -> Result<Vec<u32>> {
        let mut cursor = self.cursor(view, term, source)?;
        cursor.advance(view.first);
        let mut docs = Vec::new();
        while cursor.doc() != NO_MORE && cursor.doc() < view.end {
            let rest = cursor.rest_of_docs();
            docs.extend_from_slice(rest);
            let count = rest.len();
            cursor.consume(count);
        }
        docs.truncate(count_below(&docs, view.end));
        if cursor.corrupt() { Err(damaged_list()) } else { Ok(docs) }
    }

    /// The terms of the leaf that a pattern matches.
    pub(super) fn of_pattern(&self, view: &View, pattern: usize) -> Result<Arc<Vec<TermRef>>> {
        let leaf = self.leaf_of_pattern(view, pattern);
        let matcher = &self.plan.patterns[pattern].1;
        let find = || matcher.terms(leaf, self.plan.expansions, view.clock);
        self.found.patterns[pattern].terms.get_or_find(find)
    }

    /// How many documents of the leaf have a term.
    pub(super) fn doc_freq(&self, term: usize) -> u32 {
        self.found.refs[term].map_or(0, |found| found.doc_freq)
    }

    /// The postings of a term.
    pub(super) fn cursor<'s>(
        &self,
        view: &View<'s>,
        term: usize,
        source: &'s ListSource,
    ) -> Result<ListCursor<'s>> {
        source.cursor(self.doc_freq(term), view.max_doc)
    }
}

impl<'t, S: Similarity> Terms<'t, S> {
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
        let scorer = self.scorer(view, self.plan.field_of(term), self.boosted(term, boost));
        Ok(Clause { cursor: self.cursor(view, term, source)?, scorer })
    }

    /// What a term weighs that is boosted.
    fn boosted(&self, term: usize, boost: f32) -> Weight {
        self.similarities[self.plan.field_of(term)].boosted(self.weights[term], boost)
    }

    /// True if impacts bound scores.
    fn are_bounded(&self) -> bool {
        self.similarities.iter().all(Similarity::is_bounded)
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
    match shape {
        Shape::Tree(root) => match goal {
            Goal::All(sink) => tree::all(root, view, terms, *sink),
            Goal::Top(top) => tree_top(root, view, terms, top),
        },
        Shape::Required(required) => run_required(required, view, terms, goal),
        Shape::Any { terms: any, excluded } => run_any((any, excluded), view, terms, goal),
    }
}

/// Where all scores are the same, the first documents are the best.
fn tree_top<S: Similarity>(
    root: &Node,
    view: &View,
    terms: Terms<S>,
    top: &mut TopK,
) -> Result<ControlFlow<()>> {
    if let Some(score) = root.same_score() {
        sets::offer_all(root, score, view, terms, top)?;
        return Ok(ControlFlow::Continue(()));
    }
    let mut keep = Keep::new(view, Vec::new());
    tree::all(root, view, terms, &mut |docs, scores| offer(top, &mut keep, docs, scores))
}

fn run_required<S: Similarity>(
    required: &Required,
    view: &View,
    terms: Terms<S>,
    goal: &mut Goal,
) -> Result<ControlFlow<()>> {
    let Some(sources) = Sources::find(required, view, terms)? else { return Ok(ControlFlow::Continue(())) };
    let mut parts = sources.open(view, terms)?;
    let flow = match goal {
        Goal::All(sink) => conjunction::all(&mut parts, view, *sink),
        Goal::Top(top) if terms.are_bounded() && postings_of(&parts.clauses) >= WORTH_PRUNING => {
            if parts.is_mostly_required() && !too_large(parts.clauses.len(), view.max_doc) {
                return top_of_mixed(parts, view, top);
            }
            conjunction::top(&mut parts, view, top);
            ControlFlow::Continue(())
        }
        Goal::Top(top) => {
            let mut keep = Keep::new(view, Vec::new());
            conjunction::all(&mut parts, view, &mut |docs, scores| offer(top, &mut keep, docs, scores))
        }
    };
    if parts.corrupt() { Err(damaged_list()) } else { Ok(flow) }
}

/// How many documents have what is required, with phrases in it, and are not deleted.
pub(super) fn count_required(
    required: &Required,
    view: &View,
    (plan, found): (&Plan, &InLeaf),
) -> Result<u64> {
    // What only adds to scores matters to nobody.
    let required = Required {
        required: required.required.clone(),
        optional: Vec::new(),
        excluded: required.excluded.clone(),
    };
    let similarities: Vec<Box<dyn Similarity>> =
        plan.fields.iter().map(|_| Box::new(Unscored) as _).collect();
    let weights = vec![0.0; found.refs.len()];
    let terms = Terms { plan, found, weights: &weights, similarities: &similarities };
    let Some(sources) = Sources::find(&required, view, terms)? else { return Ok(0) };
    let mut parts = sources.open(view, terms)?;
    let count = conjunction::count(&mut parts, view);
    if parts.corrupt() { Err(damaged_list()) } else { Ok(count) }
}

/// Where what is required is nearly everywhere, what is optional decides which documents are the best.
fn top_of_mixed<S: Similarity>(parts: Parts<S>, view: &View, top: &mut TopK) -> Result<ControlFlow<()>> {
    let (required, counted) = (parts.required.len(), parts.required.len() + parts.optional.len());
    let mut clauses = parts.clauses;
    let excluded = clauses.split_off(counted).into_iter().map(|clause| clause.cursor).collect();
    let mut keep = Keep::new(view, excluded);
    maxscore::top(&mut clauses, required, &mut keep, top);
    let damaged = clauses.iter().any(|clause| clause.cursor.corrupt());
    if damaged || keep.corrupt() { Err(damaged_list()) } else { Ok(ControlFlow::Continue(())) }
}

fn run_any<S: Similarity>(
    (any, excluded): (&[Boosted], &[usize]),
    view: &View,
    terms: Terms<S>,
    goal: &mut Goal,
) -> Result<ControlFlow<()>> {
    let mut sources = Vec::with_capacity(any.len());
    for &clause in any {
        sources.extend(terms.source(view, clause.term)?.map(|source| (clause, source)));
    }
    let mut unwanted = Vec::new();
    for &term in excluded {
        unwanted.extend(terms.source(view, term)?.map(|source| (term, source)));
    }
    let mut clauses = sources
        .iter()
        .map(|(clause, source)| terms.clause(view, *clause, source))
        .collect::<Result<Vec<_>>>()?;
    let lists = unwanted.iter().map(|(term, source)| terms.cursor(view, *term, source));
    let mut keep = Keep::new(view, lists.collect::<Result<_>>()?);
    let flow = match goal {
        Goal::All(sink) if keep.keeps_all() => all_of_any(&mut clauses, view, *sink),
        Goal::All(sink) => {
            all_of_any(&mut clauses, view, &mut |docs, scores| keep.filter(docs, scores, *sink))
        }
        Goal::Top(top) => {
            top_of_any(&mut clauses, &mut keep, top, terms.are_bounded());
            ControlFlow::Continue(())
        }
    };
    let damaged = clauses.iter().any(|clause| clause.cursor.corrupt());
    if damaged || keep.corrupt() { Err(damaged_list()) } else { Ok(flow) }
}

fn all_of_any<S: Similarity>(clauses: &mut [Clause<S>], view: &View, sink: &mut Sink) -> ControlFlow<()> {
    match clauses {
        [] => ControlFlow::Continue(()),
        [only] => term::all(only, view, sink),
        _ => disjunction::all(clauses, view, sink),
    }
}

/// Lists that are shorter in total are scored without looking for what could be skipped: it costs more.
const WORTH_PRUNING: u64 = 2_048;

/// The same for a single list, where less has to be prepared.
const WORTH_PRUNING_ONE: u64 = 4 * BLOCK as u64;

fn postings_of<S>(clauses: &[Clause<S>]) -> u64 {
    clauses.iter().map(|clause| u64::from(clause.cursor.doc_freq())).sum()
}

fn top_of_any<S: Similarity>(clauses: &mut [Clause<S>], keep: &mut Keep, top: &mut TopK, bounded: bool) {
    let worth = if clauses.len() == 1 { WORTH_PRUNING_ONE } else { WORTH_PRUNING };
    let view = keep.view;
    if !bounded || postings_of(clauses) < worth || too_large(clauses.len(), view.max_doc) {
        // `offer` never breaks.
        let _ = all_of_any(clauses, view, &mut |docs, scores| offer(top, keep, docs, scores));
        return;
    }
    match clauses {
        [] => {}
        [only] => term::top(only, keep, top),
        _ => maxscore::top(clauses, 0, keep, top),
    }
}
