//! Lowers a query to a plan.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::filter_key::filter_key;
use super::filtered::FilteredPlan;
use super::join_check::check_join;
use super::node::{DocSource, NodeKind, PlanNode};
use super::query_plan::{InsideScored, PlanTerm, PlannedJoin, QueryPlan};
use crate::error::{Error, Result};
use crate::query::{
    BestQuery, BoolQuery, JoinQuery, JoinScore, MAX_CLAUSES, MAX_DEPTH, Pattern, PhraseQuery, Query,
    ScoredQuery, ValueRange,
};
use crate::schema::Field;
use crate::search::fields::Fields;
use crate::search::statistics::{FuzzyKey, WeightedTerm};
use crate::search::terms::patterns::{FuzzyWord, PatternMatcher, nearest};

/// The product of all boosts around a clause. Scores cannot overflow within it.
const BOOSTS: RangeInclusive<f32> = 1e-18..=1e18;

/// Maximum depth of nodes. A parenthesis may contain a list of lists, one level for OR and one for AND, each
/// of them boosted.
const MAX_NODE_DEPTH: usize = NODES_PER_LEVEL * MAX_DEPTH + 4;

/// Nodes that may be nested in each other for each level of parentheses.
const NODES_PER_LEVEL: usize = 4;

/// Maximum number of nodes. Each term may have separate lists and boosts around it, and be looked up in
/// several fields.
const MAX_NODES: usize = 16 * MAX_CLAUSES;

impl<'q> QueryPlan<'q> {
    /// Plans a query over the fields of a searcher.
    ///
    /// # Errors
    /// [`Error::InvalidField`] for a field that is not searched, [`Error::TooMany`] for a query that is too
    /// large, [`Error::InvalidValue`] for boosts, phrases and patterns that cannot be used.
    pub(crate) fn new(query: &'q Query, known: &Fields) -> Result<Self> {
        Planner::plan(query, known, PlanStart { depth: 0, nodes: 0, is_scored: true, is_counted: false })
            .map(|(plan, _)| plan)
    }

    /// Plans a query whose hits are only counted. Clauses that only add to scores are left out.
    pub(crate) fn counted(query: &'q Query, known: &Fields) -> Result<Self> {
        Planner::plan(query, known, PlanStart { depth: 0, nodes: 0, is_scored: true, is_counted: true })
            .map(|(plan, _)| plan)
    }
}

/// Where a planner begins: a query, or a query inside the join of another one.
struct PlanStart {
    depth: usize,
    /// The number of nodes so far.
    nodes: usize,
    is_scored: bool,
    /// Whether the hits are only counted.
    is_counted: bool,
}

impl<'q> Planner<'q, '_> {
    /// The plan of a query, and the number of nodes after it.
    fn plan(query: &'q Query, known: &Fields, from: PlanStart) -> Result<(QueryPlan<'q>, usize)> {
        let mut planner = Planner {
            terms: Vec::new(),
            fields: Vec::new(),
            patterns: Vec::new(),
            ranges: Vec::new(),
            value_patterns: Vec::new(),
            joins: Vec::new(),
            near: Vec::new(),
            scored: Vec::new(),
            nodes: from.nodes,
            blends: 0,
            is_scored: from.is_scored,
            is_counted: from.is_counted,
            known,
        };
        let root = planner.node(query, 1.0, from.depth)?;
        let Planner {
            terms, mut fields, patterns, ranges, value_patterns, joins, near, scored, nodes, ..
        } = planner;
        let inside = InsideScored::of(&root);
        if fields.is_empty() {
            fields.push(known.default_place());
        }
        let mut plan = QueryPlan {
            terms,
            fields,
            patterns,
            ranges,
            value_patterns,
            joins,
            near,
            scored,
            filtered: FilteredPlan::of(inside.as_ref().map_or(&root, |inside| &inside.node)),
            inside,
            root,
            content: None,
        };
        plan.content = plan.required_content(known);
        // With a field of the content, other documents can be hits; see [`QueryPlan::content`].
        let may_keep = known.filters().is_some() && plan.content.is_none();
        if let Some(filtered) = plan.filtered.take() {
            let key = if may_keep { filter_key(&filtered.filters, &plan, known) } else { None };
            plan.filtered = Some(FilteredPlan { key: key.map(Arc::from), ..filtered });
        }
        Ok((plan, nodes))
    }
}

/// The lists of a plan while its nodes are made.
struct Planner<'q, 'f> {
    terms: Vec<PlanTerm<'q>>,
    fields: Vec<usize>,
    patterns: Vec<(usize, PatternMatcher<'q>)>,
    ranges: Vec<&'q ValueRange>,
    value_patterns: Vec<(Field, PatternMatcher<'q>)>,
    joins: Vec<PlannedJoin<'q>>,
    near: Vec<(FuzzyKey, Vec<WeightedTerm>)>,
    scored: Vec<&'q ScoredQuery>,
    /// The number of nodes so far.
    nodes: usize,
    /// The number of groups of terms that share their frequencies: see [`PlanTerm::blend`].
    blends: usize,
    /// Whether the current clauses add to the score.
    is_scored: bool,
    /// Whether the hits are only counted.
    is_counted: bool,
    known: &'f Fields<'f>,
}

impl<'q> Planner<'q, '_> {
    /// The node of a query, inside boosts whose product is `around`.
    fn node(&mut self, query: &'q Query, around: f32, depth: usize) -> Result<PlanNode> {
        if depth > MAX_NODE_DEPTH {
            return Err(Error::TooMany {
                what: "levels of nested clauses",
                limit: MAX_DEPTH as u64,
                remedy: "nest fewer lists",
            });
        }
        self.count(1)?;
        let kind = match query {
            Query::Term(term) => {
                let field = self.known_place(term.field)?;
                NodeKind::Term(self.term((&term.text).into(), field, None))
            }
            Query::Bool(list) => self.list(list, around, depth)?,
            Query::Best(best) => self.best(best, around, depth)?,
            Query::Phrase(phrase) => self.phrase(phrase)?,
            Query::Pattern { field, pattern } => self.pattern(*field, pattern)?,
            Query::All => NodeKind::Docs(DocSource::All),
            Query::Exists(field) => {
                let field = self.known_place(*field)?;
                NodeKind::Docs(DocSource::Exists(index_in(&mut self.fields, field)))
            }
            Query::Values(range) => {
                self.ranges.push(range);
                NodeKind::Docs(DocSource::Values(self.ranges.len() - 1))
            }
            Query::ValuePattern { field, pattern } => {
                self.value_patterns.push((*field, PatternMatcher::new(pattern)?));
                NodeKind::Docs(DocSource::ValuePattern(self.value_patterns.len() - 1))
            }
            Query::Join(join) => self.join(join, depth)?,
            Query::Scored(scored) => return self.scored(scored, around, depth),
            Query::Boost(query, boost) => {
                let boosted = around * boost;
                if !BOOSTS.contains(&boosted) {
                    let what = "product of the boosts around a clause";
                    return Err(Error::invalid(what, boosted, "a number from 1e-18 to 1e18"));
                }
                let node = self.node(query, boosted, depth + 1)?;
                return Ok(PlanNode { boost: boost * node.boost, ..node });
            }
        };
        Ok(PlanNode { boost: 1.0, kind })
    }

    fn list(&mut self, list: &'q BoolQuery, around: f32, depth: usize) -> Result<NodeKind> {
        let only_adds = list.at_least == 0 && !(list.must.is_empty() && list.filter.is_empty());
        let is_unused = self.is_counted && only_adds;
        let mut all = |queries: &'q [Query]| -> Result<Vec<PlanNode>> {
            queries.iter().map(|query| self.node(query, around, depth + 1)).collect()
        };
        let mut must = all(&list.must)?;
        let should = if is_unused { Vec::new() } else { all(&list.should)? };
        if is_unused {
            self.check_unused(&list.should, around, depth)?;
        }
        let is_scored = std::mem::replace(&mut self.is_scored, false);
        let mut all = |queries: &'q [Query]| -> Result<Vec<PlanNode>> {
            queries.iter().map(|query| self.node(query, around, depth + 1)).collect()
        };
        must.extend(all(&list.filter)?.into_iter().map(PlanNode::filter));
        let must_not = all(&list.must_not)?;
        self.is_scored = is_scored;
        Ok(NodeKind::Bool { must, should, must_not, at_least: list.at_least })
    }

    /// Checks clauses that do not change which documents match, and leaves nothing of them in the plan.
    fn check_unused(&mut self, queries: &'q [Query], around: f32, depth: usize) -> Result<()> {
        let (terms, near, joins) = (self.terms.len(), self.near.len(), self.joins.len());
        let (patterns, values, ranges) = (self.patterns.len(), self.value_patterns.len(), self.ranges.len());
        let scored = self.scored.len();
        for query in queries {
            self.node(query, around, depth + 1)?;
        }
        self.terms.truncate(terms);
        self.near.truncate(near);
        self.joins.truncate(joins);
        self.patterns.truncate(patterns);
        self.value_patterns.truncate(values);
        self.ranges.truncate(ranges);
        self.scored.truncate(scored);
        Ok(())
    }

    fn best(&mut self, best: &'q BestQuery, around: f32, depth: usize) -> Result<NodeKind> {
        if !(0.0..=1.0).contains(&best.tie) {
            return Err(Error::invalid(
                "tie of the best of several clauses",
                best.tie,
                "a number from 0 to 1",
            ));
        }
        let any = best.clauses.iter().map(|query| self.node(query, around, depth + 1));
        Ok(NodeKind::Best { any: any.collect::<Result<_>>()?, tie: best.tie })
    }

    /// A query whose scores a column changes. Where scores do not count, it is the query inside.
    fn scored(&mut self, scored: &'q ScoredQuery, around: f32, depth: usize) -> Result<PlanNode> {
        scored.by.check()?;
        let inside = self.node(&scored.query, around, depth + 1)?;
        if self.is_counted || !self.is_scored {
            return Ok(inside);
        }
        self.scored.push(scored);
        Ok(PlanNode { boost: 1.0, kind: NodeKind::Scored(Box::new(inside), self.scored.len() - 1) })
    }

    /// A join counts as a level of nested lists.
    fn join(&mut self, join: &'q JoinQuery, depth: usize) -> Result<NodeKind> {
        if let Some(schema) = self.known.schema() {
            check_join(join, schema)?;
        }
        let is_scored = self.is_scored && join.score != JoinScore::None;
        let from =
            PlanStart { depth: depth + NODES_PER_LEVEL, nodes: self.nodes, is_scored, is_counted: false };
        let (inside, nodes) = Planner::plan(&join.query, self.known, from)?;
        self.nodes = nodes;
        self.joins.push(PlannedJoin { query: join, inside: Some(inside), is_scored });
        let number = self.joins.len() - 1;
        Ok(if is_scored { NodeKind::Joined(number) } else { NodeKind::Docs(DocSource::Joined(number)) })
    }

    fn phrase(&mut self, phrase: &'q PhraseQuery) -> Result<NodeKind> {
        if phrase.terms.len() > MAX_CLAUSES {
            return Err(Error::TooMany {
                what: "terms in a phrase",
                limit: MAX_CLAUSES as u64,
                remedy: "use a shorter phrase",
            });
        }
        if !phrase.terms.is_sorted_by(|(a, _), (b, _)| a <= b) {
            let places: Vec<u32> = phrase.terms.iter().map(|(place, _)| *place).collect();
            return Err(Error::invalid("places of a phrase", format!("{places:?}"), "ascending places"));
        }
        let field = self.known_place(phrase.field)?;
        let terms: Vec<(u32, usize)> =
            phrase.terms.iter().map(|(place, term)| (*place, self.term(term.into(), field, None))).collect();
        Ok(match terms[..] {
            [] => NodeKind::Bool { must: Vec::new(), should: Vec::new(), must_not: Vec::new(), at_least: 0 },
            [(_, only)] => NodeKind::Term(only),
            _ => NodeKind::Phrase { terms, slop: phrase.slop },
        })
    }

    fn pattern(&mut self, field: Field, pattern: &'q Pattern) -> Result<NodeKind> {
        let field = self.known_place(field)?;
        if let Pattern::Fuzzy { term, edits, prefix } = pattern
            && !self.known.is_exhaustive()
            && self.is_scored
        {
            return self.fuzzy(&FuzzyWord { term, edits: *edits, prefix: *prefix }, field);
        }
        let field = index_in(&mut self.fields, field);
        self.patterns.push((field, PatternMatcher::new(pattern)?));
        Ok(NodeKind::Docs(DocSource::Pattern(self.patterns.len() - 1)))
    }

    /// A list of the nearest terms, which count as equally frequent.
    fn fuzzy(&mut self, word: &FuzzyWord, field: usize) -> Result<NodeKind> {
        let blend = self.blends;
        self.blends += 1;
        let FuzzyWord { term, edits, prefix } = *word;
        let key = FuzzyKey { field: self.known.field_at(field), term: term.to_owned(), edits, prefix };
        let near = match self.known.statistics() {
            Some(of_all) => of_all.nearest(&key)?,
            None => {
                let leaves = (0..self.known.leaves()).map(|leaf| self.known.leaf(field, leaf));
                nearest(&leaves.collect::<Vec<_>>(), self.known.clock(), word)?
            }
        };
        self.count(near.len())?;
        if self.near.iter().all(|(known, _)| *known != key) {
            self.near.push((key, near.clone()));
        }
        let node = |near: WeightedTerm| {
            let kind = NodeKind::Term(self.term(near.term.into(), field, Some(blend)));
            PlanNode { boost: near.boost.max(0.0), kind }
        };
        let should = near.into_iter().map(node).collect();
        Ok(NodeKind::Bool { must: Vec::new(), should, must_not: Vec::new(), at_least: 0 })
    }

    fn count(&mut self, nodes: usize) -> Result<()> {
        self.nodes += nodes;
        if self.nodes > MAX_NODES {
            return Err(Error::TooMany {
                what: "clauses in a query",
                limit: MAX_CLAUSES as u64,
                remedy: "use fewer terms at a time",
            });
        }
        Ok(())
    }

    /// The place of a field among all that are searched.
    fn known_place(&self, field: Field) -> Result<usize> {
        self.known.place_of(field).ok_or_else(|| Error::InvalidField {
            field: field.number().to_string(),
            problem: "of the query is not searched".to_owned(),
            remedy: "use a searched field, or a range of values for a column".to_owned(),
        })
    }

    /// The index of a term in the plan.
    fn term(&mut self, bytes: Cow<'q, [u8]>, field: usize, blend: Option<usize>) -> usize {
        let field = index_in(&mut self.fields, field);
        index_in(&mut self.terms, PlanTerm { field, bytes, blend })
    }
}

/// The index of `wanted` in a list, to which it is added if it is missing.
fn index_in<T: PartialEq>(list: &mut Vec<T>, wanted: T) -> usize {
    list.iter().position(|known| *known == wanted).unwrap_or_else(|| {
        list.push(wanted);
        list.len() - 1
    })
}
