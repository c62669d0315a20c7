//! The tree of a plan: a query whose terms, fields, patterns and ranges are numbers.

/// A node of a plan and the factor of its scores.
#[derive(Clone)]
pub(crate) struct PlanNode {
    /// The factor of its scores. The boosts of the nodes around it are multiplied on top.
    pub(crate) boost: f32,
    pub(crate) kind: NodeKind,
}

/// The kind of a node, which determines what it matches. Terms are indexes into
/// [`QueryPlan::terms`](super::QueryPlan::terms).
#[derive(Clone)]
pub(crate) enum NodeKind {
    Term(usize),
    Bool {
        must: Vec<PlanNode>,
        should: Vec<PlanNode>,
        must_not: Vec<PlanNode>,
        at_least: usize,
    },
    /// Any of several nodes. The best one decides the score, and the scores of the others count times `tie`.
    Best {
        any: Vec<PlanNode>,
        tie: f32,
    },
    /// At least two terms with their positions in the phrase.
    Phrase {
        terms: Vec<(u32, usize)>,
        slop: u32,
    },
    /// A set of documents that all score the same.
    Docs(DocSource),
    /// The documents of a join with scores: an index into `QueryPlan::joins`.
    Joined(usize),
    /// The documents of a node, with a score of 0.
    Filter(Box<PlanNode>),
    /// The documents of a node, with scores that a column changes: an index into [`QueryPlan::scored`](
    /// super::QueryPlan::scored).
    Scored(Box<PlanNode>, usize),
}

/// The source of a set of documents.
#[derive(Clone, Copy)]
pub(crate) enum DocSource {
    /// Every document.
    All,
    /// The documents of the terms that a pattern matches: an index into `QueryPlan::patterns`.
    Pattern(usize),
    /// The documents with a term in a field: an index into `QueryPlan::fields`.
    Exists(usize),
    /// The documents with a value in a range: an index into `QueryPlan::ranges`.
    Values(usize),
    /// The documents with a value that a pattern matches: an index into `QueryPlan::value_patterns`.
    ValuePattern(usize),
    /// The documents of a join: an index into `QueryPlan::joins`.
    Joined(usize),
}

impl PlanNode {
    /// The same node with a score of 0.
    pub(super) fn filter(self) -> Self {
        PlanNode { boost: 1.0, kind: NodeKind::Filter(Box::new(self)) }
    }

    /// The range of values of a node that is a filter by values: an index into `QueryPlan::ranges`.
    pub(crate) fn value_range(&self) -> Option<usize> {
        match &self.kind {
            NodeKind::Docs(DocSource::Values(range)) => Some(*range),
            NodeKind::Filter(node) => node.value_range(),
            _ => None,
        }
    }

    /// The score of all matching documents, if it is the same for all of them.
    pub(crate) fn same_score(&self) -> Option<f32> {
        let (node, boost) = self.innermost(1.0);
        let boost = boost * node.boost;
        match &node.kind {
            NodeKind::Docs(_) => Some(boost),
            NodeKind::Filter(_) => Some(0.0),
            // A single set that scores, and filters.
            NodeKind::Bool { must, should, .. } if should.is_empty() => {
                let is_filter = |node: &&PlanNode| matches!(node.kind, NodeKind::Filter(_));
                let mut scored = must.iter().filter(|node| !is_filter(node));
                match (scored.next(), scored.next()) {
                    (None, _) => (!must.is_empty()).then_some(0.0),
                    (Some(PlanNode { boost: own, kind: NodeKind::Docs(_) }), None) => Some(boost * own),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// True if documents without any known term may match.
    pub(crate) fn matches_beyond_terms(&self) -> bool {
        match &self.kind {
            NodeKind::Term(_) | NodeKind::Phrase { .. } => false,
            NodeKind::Docs(_) | NodeKind::Joined(_) => true,
            NodeKind::Filter(node) | NodeKind::Scored(node, _) => node.matches_beyond_terms(),
            NodeKind::Best { any, .. } => any.iter().any(PlanNode::matches_beyond_terms),
            NodeKind::Bool { must, should, must_not, .. } => {
                must.iter().chain(should).any(PlanNode::matches_beyond_terms)
                    || must.is_empty() && should.is_empty() && !must_not.is_empty()
            }
        }
    }

    /// Follows lists with a single clause down to the last node; returns it with `boost` times the boosts
    /// passed.
    pub(super) fn innermost(&self, boost: f32) -> (&PlanNode, f32) {
        let (mut node, mut boost) = (self, boost);
        loop {
            let only = match &node.kind {
                NodeKind::Bool { must, should, must_not, at_least } => {
                    match (&must[..], &should[..], &must_not[..], at_least) {
                        ([only], [], [], 0) | ([], [only], [], 0 | 1) => only,
                        _ => return (node, boost),
                    }
                }
                NodeKind::Best { any, .. } => match &any[..] {
                    [only] => only,
                    _ => return (node, boost),
                },
                _ => return (node, boost),
            };
            (node, boost) = (only, boost * node.boost);
        }
    }
}
