//! Runs a plan in one leaf by the algorithm that `strategy.rs` chooses, and a single term in several leaves
//! together.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::maxscore::{self, ClauseGroup, Scoring};
use super::{conjunction, disjunction, match_bits, scored, term, tree};
use crate::error::Result;
use crate::search::doc_set::DocSet;
use crate::search::exec::bound_terms::{BoundTerms, Clause};
use crate::search::exec::conjunction::clauses::{Conjunction, ConjunctionLists};
use crate::search::exec::filter_mask::{Masked, masked};
use crate::search::exec::goal::{Goal, Sink};
use crate::search::exec::live_filter::{LiveFilter, offer};
use crate::search::exec::scored::{FREQUENT, KnownInside};
use crate::search::exec::strategy::{LeafFacts, Pruning, Strategy, Want};
use crate::search::exec::term::TermInLeaf;
use crate::search::exec::value_scorer::ValueScorer;
use crate::search::exec::view::View;
use crate::search::leaf::damaged_list;
use crate::search::plan::QueryPlan;
use crate::search::plan::found::LeafTerms;
use crate::search::plan::node::PlanNode;
use crate::search::plan::shape::{BestGroup, Boosted, Required, Shape};
use crate::search::similarity::{Similarity, Unscored};
use crate::search::top_k::TopK;

/// Sends every hit of the view to the goal; `Break` if the goal wants no more. `shape` is the shape of the
/// plan.
pub(crate) fn run_leaf<S: Similarity>(
    shape: &Shape,
    view: &View,
    terms: BoundTerms<S>,
    goal: &mut Goal,
) -> Result<ControlFlow<()>> {
    let Some(inside) = &terms.plan.inside else { return run_unchanged(shape, view, terms, goal) };
    let mut scorer = ValueScorer::new(view, terms.plan.scored[inside.scored], inside.boost)?;
    let mut run = |view: &View, goal: &mut Goal| run_unchanged(shape, view, terms, goal);
    match goal {
        Goal::Top(top) => scored::top(view, &mut scorer, known_inside(shape, view, terms)?, &mut run, top),
        Goal::All(sink) => {
            let mut outcome = Ok(());
            let mut sink = |docs: &[u32], scores: &[f32]| {
                scorer.send(docs, scores, *sink).unwrap_or_else(|error| {
                    outcome = Err(error);
                    ControlFlow::Break(())
                })
            };
            let flow = run(view, &mut Goal::All(&mut sink))?;
            outcome.map(|()| flow)
        }
    }
}

/// What is known of a query whose scores a column changes.
fn known_inside<S: Similarity>(shape: &Shape, view: &View, terms: BoundTerms<S>) -> Result<KnownInside> {
    let of_rest = terms.plan.filtered.as_ref().map(|filtered| Shape::of(&filtered.rest));
    let shape = of_rest.as_ref().unwrap_or(shape);
    let scored: Option<Vec<Boosted>> = match shape {
        Shape::Any { terms, .. } => Some(terms.clone()),
        Shape::Required(required) if required.has_phrase() => None,
        Shape::Required(required) => {
            Some(required.terms().chain(required.optional.iter().copied()).collect())
        }
        Shape::Tree(_) => None,
    };
    let mut highest = 0.0;
    for boosted in scored.iter().flatten().filter(|_| terms.are_bounded()) {
        if let Some(source) = terms.source(view, boosted.term)? {
            let clause = terms.clause(view, *boosted, &source)?;
            highest += f64::from(clause.scorer.bound(&clause.cursor.list_impacts()));
        }
    }
    let is_known = scored.is_some() && terms.are_bounded();
    let is_frequent =
        shape.most_matches(terms.found).is_none_or(|most| most * FREQUENT > u64::from(view.max_doc));
    Ok(KnownInside {
        highest: if is_known { highest } else { f64::INFINITY },
        // All postings of a single term are scored in the time that looking up some of their values takes.
        may_skip: terms.are_bounded() && shape.only_term().is_none(),
        is_frequent,
    })
}

/// Does the same without the column that changes the scores of the whole query.
fn run_unchanged<S: Similarity>(
    shape: &Shape,
    view: &View,
    terms: BoundTerms<S>,
    goal: &mut Goal,
) -> Result<ControlFlow<()>> {
    let Some(masked) = masked(terms.plan, view, terms.found) else {
        return run_shape(terms.plan.unchanged(), shape, view, terms, goal);
    };
    let Masked { filtered, shape, .. } = &masked;
    let unscored = BoundTerms { joins: terms.joins, ..BoundTerms::unscored(terms.plan, terms.found) };
    let mask = masked.bits(view, unscored)?;
    if masked.is_selective(mask.matches) {
        let set = DocSet::Bits { first: 0, words: Arc::unwrap_or_clone(mask).words };
        return for_each_hit(view, goal, |sink| tree::all_in(set, &filtered.rest, view, terms, sink));
    }
    let view = view.keeping(&mask.words);
    match goal {
        Goal::Top(_) => run_shape(&filtered.rest, shape, &view, terms, goal),
        Goal::All(sink) => {
            let mut kept = LiveFilter::new(&view, Vec::new());
            let mut sink = |docs: &[u32], scores: &[f32]| kept.filter(docs, scores, *sink);
            run_shape(&filtered.rest, shape, &view, terms, &mut Goal::All(&mut sink))
        }
    }
}

/// A leaf and what a query needs of it.
pub(crate) struct LeafOfQuery<'v, 't, S> {
    pub(crate) leaf: usize,
    pub(crate) view: View<'v>,
    pub(crate) terms: BoundTerms<'t, S>,
}

impl<S: Similarity> LeafOfQuery<'_, '_, S> {
    /// The only term of the query, if its blocks can be skipped.
    fn skipping_term(&self, shape: &Shape, k: usize) -> Option<Boosted> {
        let facts = LeafFacts::new(&self.view, self.terms.found, self.terms.are_bounded()).for_best(k);
        match Strategy::choose(&self.terms.plan.root, shape, Want::Best, &facts) {
            Strategy::AnyOf { terms: &[only], excluded: [], pruning: Pruning::Blocks, .. } => Some(only),
            _ => None,
        }
    }
}

/// True if the best hits of several leaves are found together: for a single term.
pub(crate) fn takes_leaves_together(shape: &Shape, plan: &QueryPlan) -> bool {
    shape.only_term().is_some() && plan.filtered.is_none() && plan.inside.is_none()
}

/// Finds the best hits of a single term in several leaves. The long lists come last, and together: a block
/// of one of them that cannot compete with a block of another is never decoded.
pub(crate) fn top_of_leaves<S: Similarity>(
    shape: &Shape,
    leaves: &[LeafOfQuery<S>],
    top: &mut TopK,
) -> Result<()> {
    let mut long = Vec::with_capacity(leaves.len());
    for leaf in leaves {
        if leaf.view.clock.is_up() {
            return Ok(());
        }
        match leaf.skipping_term(shape, top.k()) {
            Some(term) => {
                long.extend(leaf.terms.source(&leaf.view, term.term)?.map(|list| (leaf, term, list)))
            }
            None => {
                top.set_leaf(leaf.leaf);
                if run_leaf(shape, &leaf.view, leaf.terms, &mut Goal::Top(top))?.is_break() {
                    return Ok(());
                }
            }
        }
    }
    let mut opened = Vec::with_capacity(long.len());
    for (leaf, term, source) in &long {
        let live = LiveFilter::new(&leaf.view, Vec::new());
        opened.push((leaf.leaf, leaf.terms.clause(&leaf.view, *term, source)?, live));
    }
    let lists = opened.iter_mut().map(|(leaf, clause, keep)| TermInLeaf { leaf: *leaf, clause, keep });
    term::top(&mut lists.collect::<Vec<_>>(), top);
    let damaged = opened.iter().any(|(_, clause, _)| clause.cursor.corrupt());
    if damaged { Err(damaged_list()) } else { Ok(()) }
}

/// Runs an algorithm that sends all hits.
fn for_each_hit(
    view: &View,
    goal: &mut Goal,
    run: impl FnOnce(&mut Sink) -> Result<ControlFlow<()>>,
) -> Result<ControlFlow<()>> {
    match goal {
        Goal::All(sink) => run(*sink),
        Goal::Top(top) => {
            let mut live = LiveFilter::new(view, Vec::new());
            run(&mut |docs, scores| offer(top, &mut live, docs, scores))
        }
    }
}

/// Does the same for a query without filters, or whose filters are those of the view. The root of a plan has
/// this shape.
fn run_shape<S: Similarity>(
    root: &PlanNode,
    shape: &Shape,
    view: &View,
    terms: BoundTerms<S>,
    goal: &mut Goal,
) -> Result<ControlFlow<()>> {
    let facts = LeafFacts::new(view, terms.found, terms.are_bounded());
    let (want, facts) = match goal {
        Goal::All(_) => (Want::All, facts),
        Goal::Top(top) => (Want::Best, facts.for_best(top.k())),
    };
    match Strategy::choose(root, shape, want, &facts) {
        Strategy::AnyOf { terms: any, excluded, groups, pruning } => {
            run_any(&AnyOf { any, excluded, groups, pruning }, view, terms, goal)
        }
        Strategy::AllOf { required, pruning } => run_required(required, pruning, view, terms, goal),
        Strategy::InWindows(required) => {
            for_each_hit(view, goal, |sink| conjunction::in_windows::all(required, view, terms, sink))
        }
        Strategy::SameScore { root, score } => {
            if let Goal::Top(top) = goal {
                match_bits::offer_all(root, score, view, terms, top)?;
            }
            Ok(ControlFlow::Continue(()))
        }
        Strategy::Tree(root) | Strategy::Bits(root) => run_tree(root, view, terms, goal),
        Strategy::Empty | Strategy::ListLength(_) | Strategy::ShownFreq(_) => Ok(ControlFlow::Continue(())),
    }
}

/// The number of hits in the view that are not deleted.
pub(crate) fn count_leaf(shape: &Shape, view: &View, plan: &QueryPlan, found: &LeafTerms) -> Result<u64> {
    match Strategy::choose(&plan.root, shape, Want::Count, &LeafFacts::new(view, *found, false)) {
        // The length covers the whole leaf: the range that begins with the first document counts it.
        Strategy::ListLength(doc_freq) => Ok(if view.first == 0 { doc_freq.into() } else { 0 }),
        Strategy::ShownFreq(_) if view.first > 0 => Ok(0),
        Strategy::ShownFreq(term) => match &found.refs[term] {
            Some(found) => Ok(view.through(plan.field_of(term)).figures(found)?.doc_freq),
            None => Ok(0),
        },
        Strategy::AllOf { required, .. } => count_required(required, view, plan, found),
        _ => match_bits::count(&plan.root, view, BoundTerms::unscored(plan, *found)),
    }
}

fn run_tree<S: Similarity>(
    root: &PlanNode,
    view: &View,
    terms: BoundTerms<S>,
    goal: &mut Goal,
) -> Result<ControlFlow<()>> {
    for_each_hit(view, goal, |sink| tree::all(root, view, terms, sink))
}

fn run_required<S: Similarity>(
    required: &Required,
    pruning: Pruning,
    view: &View,
    terms: BoundTerms<S>,
    goal: &mut Goal,
) -> Result<ControlFlow<()>> {
    let Some(lists) = ConjunctionLists::find(required, view, terms)? else {
        return Ok(ControlFlow::Continue(()));
    };
    let mut all = lists.open(view, terms)?;
    let flow = match goal {
        Goal::All(sink) => conjunction::all(&mut all, view, *sink),
        Goal::Top(top) => match pruning {
            Pruning::Windows => return top_of_mixed(all, view, top),
            Pruning::Blocks => {
                conjunction::top(&mut all, view, top);
                ControlFlow::Continue(())
            }
            Pruning::Nothing => {
                let mut live = LiveFilter::new(view, Vec::new());
                conjunction::all(&mut all, view, &mut |docs, scores| offer(top, &mut live, docs, scores))
            }
        },
    };
    if all.corrupt() { Err(damaged_list()) } else { Ok(flow) }
}

/// Optional terms do not change the count, so their lists are not opened.
fn count_required(required: &Required, view: &View, plan: &QueryPlan, found: &LeafTerms) -> Result<u64> {
    let required = required.without_optional();
    let similarities: Vec<Box<dyn Similarity>> =
        plan.fields.iter().map(|_| Box::new(Unscored) as _).collect();
    let weights = vec![0.0; found.refs.len()];
    let (weights, joins) = (&weights[..], found.joins);
    let terms = BoundTerms { plan, found: *found, joins, weights, similarities: &similarities };
    let Some(lists) = ConjunctionLists::find(&required, view, terms)? else { return Ok(0) };
    let mut all = lists.open(view, terms)?;
    let count = conjunction::count(&mut all, view);
    if all.corrupt() { Err(damaged_list()) } else { Ok(count) }
}

/// The best hits of required and optional terms by MaxScore.
fn top_of_mixed<S: Similarity>(all: Conjunction<S>, view: &View, top: &mut TopK) -> Result<ControlFlow<()>> {
    let (required, counted) = (all.required.len(), all.required.len() + all.optional.len());
    let mut clauses = all.clauses;
    let excluded = clauses.split_off(counted).into_iter().map(|clause| clause.cursor).collect();
    let mut live = LiveFilter::new(view, excluded);
    maxscore::top(&mut clauses, Scoring::Required(required), &mut live, top);
    let damaged = clauses.iter().any(|clause| clause.cursor.corrupt());
    if damaged || live.corrupt() { Err(damaged_list()) } else { Ok(ControlFlow::Continue(())) }
}

/// Any of several terms, and none of the excluded ones.
struct AnyOf<'p> {
    any: &'p [Boosted],
    excluded: &'p [usize],
    groups: &'p [BestGroup],
    pruning: Pruning,
}

impl AnyOf<'_> {
    /// How clauses add up that are the terms at these places.
    fn scoring(&self, places: &[usize]) -> Scoring {
        if self.groups.is_empty() {
            return Scoring::Sum;
        }
        let mut behind = 0;
        let of_group = |group: &BestGroup| {
            behind += group.len;
            ClauseGroup { end: places.partition_point(|place| *place < behind), tie: group.tie }
        };
        Scoring::Best(self.groups.iter().map(of_group).collect())
    }
}

/// A single term, without the lists that several would need.
fn run_one<S: Similarity>(
    only: Boosted,
    pruning: Pruning,
    view: &View,
    terms: BoundTerms<S>,
    goal: &mut Goal,
) -> Result<ControlFlow<()>> {
    let Some(source) = terms.source(view, only.term)? else { return Ok(ControlFlow::Continue(())) };
    let mut clause = terms.clause(view, only, &source)?;
    let mut live = LiveFilter::new(view, Vec::new());
    let flow = match goal {
        Goal::All(sink) => term::all(&mut clause, view, *sink),
        Goal::Top(top) if pruning == Pruning::Blocks => {
            let leaf = top.leaf();
            term::top(&mut [TermInLeaf { leaf, clause: &mut clause, keep: &mut live }], top);
            ControlFlow::Continue(())
        }
        Goal::Top(top) => {
            term::all(&mut clause, view, &mut |docs, scores| offer(top, &mut live, docs, scores))
        }
    };
    if clause.cursor.corrupt() { Err(damaged_list()) } else { Ok(flow) }
}

fn run_any<S: Similarity>(
    wanted: &AnyOf,
    view: &View,
    terms: BoundTerms<S>,
    goal: &mut Goal,
) -> Result<ControlFlow<()>> {
    if let ([only], []) = (wanted.any, wanted.excluded) {
        return run_one(*only, wanted.pruning, view, terms, goal);
    }
    let mut sources = Vec::with_capacity(wanted.any.len());
    let mut places = Vec::with_capacity(wanted.any.len());
    for (place, &clause) in wanted.any.iter().enumerate() {
        if let Some(source) = terms.source(view, clause.term)? {
            places.push(place);
            sources.push((clause, source));
        }
    }
    let mut unwanted = Vec::new();
    for &term in wanted.excluded {
        unwanted.extend(terms.source(view, term)?.map(|source| (term, source)));
    }
    let mut clauses = Vec::with_capacity(sources.len());
    for (clause, source) in &sources {
        clauses.push(terms.clause(view, *clause, source)?);
    }
    let lists = unwanted.iter().map(|(term, source)| terms.cursor(view, *term, source));
    let mut live = LiveFilter::new(view, lists.collect::<Result<_>>()?);
    let flow = match goal {
        Goal::All(sink) if live.keeps_all() => all_of_any(&mut clauses, view, *sink),
        Goal::All(sink) => {
            all_of_any(&mut clauses, view, &mut |docs, scores| live.filter(docs, scores, *sink))
        }
        Goal::Top(top) => {
            let scoring = wanted.scoring(&places);
            top_of_any(&mut clauses, wanted.pruning, scoring, &mut live, top);
            ControlFlow::Continue(())
        }
    };
    let damaged = clauses.iter().any(|clause| clause.cursor.corrupt());
    if damaged || live.corrupt() { Err(damaged_list()) } else { Ok(flow) }
}

fn all_of_any<S: Similarity>(clauses: &mut [Clause<S>], view: &View, sink: &mut Sink) -> ControlFlow<()> {
    match clauses {
        [] => ControlFlow::Continue(()),
        [only] => term::all(only, view, sink),
        _ => disjunction::all(clauses, view, sink),
    }
}

fn top_of_any<S: Similarity>(
    clauses: &mut [Clause<S>],
    pruning: Pruning,
    scoring: Scoring,
    live: &mut LiveFilter,
    top: &mut TopK,
) {
    match (pruning, &mut *clauses) {
        (Pruning::Blocks, [only]) => {
            let leaf = top.leaf();
            term::top(&mut [TermInLeaf { leaf, clause: only, keep: live }], top);
        }
        (Pruning::Windows, _) => maxscore::top(clauses, scoring, live, top),
        _ => {
            let view = live.view;
            // `offer` never breaks.
            let _ = all_of_any(clauses, view, &mut |docs, scores| offer(top, live, docs, scores));
        }
    }
}
