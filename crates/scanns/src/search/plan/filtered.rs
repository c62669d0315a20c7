//! The filters of a plan, apart from the clauses that score.

use std::sync::Arc;

use super::node::{NodeKind, PlanNode};

/// A query whose hits match all its filters and a rest. The scores are those of the rest.
pub(crate) struct FilteredPlan {
    /// A list of clauses that are required or excluded, without scores.
    pub(crate) filters: PlanNode,
    /// The query without these clauses.
    pub(crate) rest: PlanNode,
    /// What identifies the filters, if their documents may be kept for other queries.
    pub(crate) key: Option<Arc<[u8]>>,
}

impl FilteredPlan {
    /// The terms among the filters that a document must have.
    pub(crate) fn required_terms(&self) -> impl Iterator<Item = usize> {
        let must = match &self.filters.kind {
            NodeKind::Bool { must, .. } => &must[..],
            _ => &[],
        };
        must.iter().filter_map(|node| match &node.kind {
            NodeKind::Filter(inside) => match inside.kind {
                NodeKind::Term(term) => Some(term),
                _ => None,
            },
            _ => None,
        })
    }

    /// Takes the filters out of a whole query; `None` if it has none, or if documents match it that match
    /// nothing else.
    pub(super) fn of(root: &PlanNode) -> Option<Self> {
        let (list, boost) = root.innermost(1.0);
        let NodeKind::Bool { must, should, must_not, at_least } = &list.kind else { return None };
        let is_filter = |node: &PlanNode| matches!(node.kind, NodeKind::Filter(_));
        let (filters, required): (Vec<_>, Vec<_>) = must.iter().partition(|node| is_filter(node));
        // The lists of excluded terms are searched for single hits.
        let is_term = |node: &PlanNode| matches!(node.kind, NodeKind::Term(_));
        let (terms, excluded): (Vec<_>, Vec<_>) = must_not.iter().partition(|node| is_term(node));
        let needs_optional = !should.is_empty() && (must.is_empty() || *at_least > 0);
        if filters.is_empty() && excluded.is_empty() || required.is_empty() && !needs_optional {
            return None;
        }
        let cloned = |nodes: Vec<&PlanNode>| nodes.into_iter().cloned().collect::<Vec<_>>();
        let filters = NodeKind::Bool {
            must: cloned(filters),
            should: Vec::new(),
            must_not: cloned(excluded),
            at_least: 0,
        };
        let rest = NodeKind::Bool {
            must: cloned(required),
            should: should.clone(),
            must_not: cloned(terms),
            at_least: *at_least,
        };
        Some(FilteredPlan {
            filters: PlanNode { boost: 1.0, kind: filters },
            rest: PlanNode { boost: boost * list.boost, kind: rest },
            key: None,
        })
    }
}
