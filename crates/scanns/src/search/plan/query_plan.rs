//! A plan: the part of a query that is the same in every leaf.

use std::borrow::Cow;

use super::filtered::FilteredPlan;
use super::found::{FoundTerms, FoundValues, LeafJoin, PatternMatches, ValueMatches};
use super::node::{DocSource, NodeKind, PlanNode};
use super::shape::Shape;
use crate::error::Result;
use crate::query::{JoinQuery, ScoredQuery, ValueRange};
use crate::schema::Field;
use crate::search::fields::Fields;
use crate::search::leaf::TermFigures;
use crate::search::statistics::{FuzzyKey, WeightedTerm};
use crate::search::terms::patterns::PatternMatcher;

/// A query whose terms, fields, patterns and ranges are replaced by their indexes in lists.
pub(crate) struct QueryPlan<'q> {
    /// Every term that occurs in the query, once.
    pub(crate) terms: Vec<PlanTerm<'q>>,
    /// The fields of the query, as places in [`Fields`]; at least one.
    pub(crate) fields: Vec<usize>,
    /// The patterns, each with the index of its field in [`QueryPlan::fields`]. Their terms are looked up in
    /// each leaf.
    pub(crate) patterns: Vec<(usize, PatternMatcher<'q>)>,
    /// The ranges of values.
    pub(crate) ranges: Vec<&'q ValueRange>,
    /// The patterns of values of columns.
    pub(crate) value_patterns: Vec<(Field, PatternMatcher<'q>)>,
    /// The joins.
    pub(crate) joins: Vec<PlannedJoin<'q>>,
    /// The nearest terms of the fuzzy words.
    pub(crate) near: Vec<(FuzzyKey, Vec<WeightedTerm>)>,
    /// The queries whose scores are changed by columns.
    pub(crate) scored: Vec<&'q ScoredQuery>,
    pub(crate) root: PlanNode,
    /// The node inside the root, if a column changes the scores of the whole query.
    pub(crate) inside: Option<InsideScored>,
    /// The root or the node inside it again, if it has filters.
    pub(crate) filtered: Option<FilteredPlan>,
    /// A field of the content of documents, as an index into [`QueryPlan::fields`], if a view hides the
    /// content of some documents, and none of these can match.
    pub(crate) content: Option<usize>,
}

/// A query whose scores a column changes, without this change.
pub(crate) struct InsideScored {
    /// The query, with all boosts around it.
    pub(crate) node: PlanNode,
    /// The change: an index into [`QueryPlan::scored`].
    pub(crate) scored: usize,
    /// The boosts around the change.
    pub(crate) boost: f32,
}

impl InsideScored {
    /// What is inside the root of a plan, if a column changes its scores.
    pub(super) fn of(root: &PlanNode) -> Option<Self> {
        let (node, boost) = root.innermost(1.0);
        let boost = boost * node.boost;
        let NodeKind::Scored(inside, scored) = &node.kind else { return None };
        let node = PlanNode { boost: boost * inside.boost, kind: inside.kind.clone() };
        Some(InsideScored { node, scored: *scored, boost })
    }
}

/// A join of a plan.
pub(crate) struct PlannedJoin<'q> {
    pub(crate) query: &'q JoinQuery,
    /// The plan of the query inside; it is taken when the query is prepared.
    pub(crate) inside: Option<QueryPlan<'q>>,
    /// Whether documents get scores from it.
    pub(crate) is_scored: bool,
}

/// A term of a plan.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PlanTerm<'q> {
    /// The index of its field in [`QueryPlan::fields`].
    pub(crate) field: usize,
    pub(crate) bytes: Cow<'q, [u8]>,
    /// Terms with the same number share their frequencies: the highest document frequency, and the sum of
    /// total frequencies. A misspelt term is rare, and would otherwise weigh more than the right one.
    pub(super) blend: Option<usize>,
}

impl QueryPlan<'_> {
    /// The whole query, without a column that changes all its scores.
    pub(crate) fn unchanged(&self) -> &PlanNode {
        self.inside.as_ref().map_or(&self.root, |inside| &inside.node)
    }

    /// The shape of [`QueryPlan::unchanged`].
    pub(crate) fn shape(&self) -> Shape<'_> {
        Shape::of(self.unchanged())
    }

    /// The field of a term, as an index into [`QueryPlan::fields`].
    pub(crate) fn field_of(&self, term: usize) -> usize {
        self.terms[term].field
    }

    /// The field that the documents of a source depend on, as an index into [`QueryPlan::fields`]. Columns
    /// are no such fields: those of a view have no values of documents that lack them.
    pub(crate) fn field_of_source(&self, source: DocSource) -> Option<usize> {
        match source {
            DocSource::Pattern(pattern) => self.patterns.get(pattern).map(|(field, _)| *field),
            DocSource::Exists(field) => Some(field),
            DocSource::All | DocSource::Values(_) | DocSource::ValuePattern(_) | DocSource::Joined(_) => None,
        }
    }

    /// Finds the field of the content of documents without which no document can match; see
    /// [`QueryPlan::content`].
    pub(super) fn required_content(&self, fields: &Fields) -> Option<usize> {
        let is_hidden = |field: usize| self.fields.get(field).is_some_and(|&place| fields.hides_some(place));
        let field = (0..self.fields.len()).find(|&field| is_hidden(field))?;
        // In models whose operators are soft, any term may be the only one of a hit.
        let all = self.terms.iter().all(|term| is_hidden(term.field));
        (all && self.requires(&self.root, &is_hidden)).then_some(field)
    }

    /// True if every document that matches a node has some field for which `is_it` is true.
    fn requires(&self, node: &PlanNode, is_it: &dyn Fn(usize) -> bool) -> bool {
        match &node.kind {
            NodeKind::Term(term) => is_it(self.field_of(*term)),
            NodeKind::Phrase { terms, .. } => {
                terms.first().is_some_and(|&(_, term)| is_it(self.field_of(term)))
            }
            NodeKind::Docs(source) => self.field_of_source(*source).is_some_and(is_it),
            NodeKind::Joined(_) => false,
            NodeKind::Filter(node) | NodeKind::Scored(node, _) => self.requires(node, is_it),
            NodeKind::Best { any, .. } => {
                !any.is_empty() && any.iter().all(|node| self.requires(node, is_it))
            }
            NodeKind::Bool { must, should, at_least, .. } => {
                let some_should = must.is_empty() || *at_least > 0;
                must.iter().any(|node| self.requires(node, is_it))
                    || some_should
                        && !should.is_empty()
                        && should.iter().all(|node| self.requires(node, is_it))
            }
        }
    }

    /// Whether a term shares its frequencies with the other nearest terms of a fuzzy word.
    pub(crate) fn is_blended(&self, term: usize) -> bool {
        self.terms.get(term).is_some_and(|term| term.blend.is_some())
    }

    /// Looks up the terms in all leaves.
    pub(crate) fn find(&self, fields: &Fields) -> Result<FoundTerms> {
        let leaves = fields.leaves();
        let mut found = FoundTerms { leaves, ..FoundTerms::default() };
        found.joins.extend(self.joins.iter().map(|_| FoundValues::default()));
        found.refs.reserve(leaves * self.terms.len());
        for leaf in 0..leaves {
            for term in &self.terms {
                found.refs.push(fields.leaf(self.fields[term.field], leaf).find(&term.bytes)?);
            }
            found.patterns.extend(self.patterns.iter().map(|_| PatternMatches::default()));
            found.value_patterns.extend(self.value_patterns.iter().map(|_| ValueMatches::default()));
            found.leaf_joins.extend(found.joins.iter().cloned().map(LeafJoin::of));
        }
        Ok(found)
    }

    /// The frequencies of each term over all documents.
    pub(crate) fn figures<'f>(&self, fields: &Fields, found: &'f FoundTerms) -> Result<&'f [TermFigures]> {
        if let Some(known) = found.figures.get() {
            return Ok(known);
        }
        let mut figures = match fields.statistics() {
            None => self.own_figures(fields, found)?,
            Some(of_all) => {
                let of_term =
                    |term: &PlanTerm| of_all.figures(fields.field_at(self.fields[term.field]), &term.bytes);
                self.terms.iter().map(of_term).collect::<Result<_>>()?
            }
        };
        self.blend(&mut figures);
        Ok(found.figures.get_or_init(|| figures))
    }

    /// The frequencies of each term in these leaves alone, before terms share them.
    pub(crate) fn own_figures(&self, fields: &Fields, found: &FoundTerms) -> Result<Vec<TermFigures>> {
        let mut sums = vec![TermFigures::default(); self.terms.len()];
        for (number, leaf) in found.leaves().enumerate() {
            for ((sum, term), found) in sums.iter_mut().zip(&self.terms).zip(leaf.refs) {
                if let Some(found) = found {
                    let figures = fields.leaf(self.fields[term.field], number).figures(found)?;
                    sum.doc_freq += figures.doc_freq;
                    sum.total_freq += figures.total_freq;
                }
            }
        }
        Ok(sums)
    }

    /// Replaces the frequencies of terms that share them.
    fn blend(&self, figures: &mut [TermFigures]) {
        let mut blends = vec![TermFigures::default(); self.terms.len()];
        for (term, of_term) in self.terms.iter().zip(&*figures) {
            if let Some(blend) = term.blend.and_then(|blend| blends.get_mut(blend)) {
                blend.doc_freq = of_term.doc_freq.max(blend.doc_freq);
                blend.total_freq += of_term.total_freq;
            }
        }
        for (term, of_term) in self.terms.iter().zip(figures) {
            if let Some(&blend) = term.blend.and_then(|blend| blends.get(blend)) {
                *of_term = blend;
            }
        }
    }
}
