//! The shape of a plan. Queries with little nesting have faster algorithms than one document at a time.

use super::found::LeafTerms;
use super::node::{NodeKind, PlanNode};

/// A term of a list with the product of all boosts around it.
#[derive(Clone, Copy)]
pub(crate) struct Boosted {
    pub(crate) term: usize,
    pub(crate) boost: f32,
}

/// Terms beside each other in a list, of which the best one decides their score.
#[derive(Clone, Copy)]
pub(crate) struct BestGroup {
    /// The number of terms.
    pub(crate) len: usize,
    /// The factor of the scores that are not the highest.
    pub(crate) tie: f32,
}

/// The shape of a query.
pub(crate) enum Shape<'p> {
    /// Any of several terms, or a single one, and none of the excluded terms.
    Any {
        terms: Vec<Boosted>,
        excluded: Vec<usize>,
        /// The groups of the terms, in order, if some terms are scored by the best of them.
        groups: Vec<BestGroup>,
    },
    Required(Required<'p>),
    Tree(&'p PlanNode),
}

/// A query that requires terms or phrases.
pub(crate) struct Required<'p> {
    /// At least one.
    pub(crate) required: Vec<Atom<'p>>,
    pub(crate) optional: Vec<Boosted>,
    pub(crate) excluded: Vec<usize>,
}

/// A term or a phrase.
#[derive(Clone, Copy)]
pub(crate) enum Atom<'p> {
    Term(Boosted),
    Phrase { terms: &'p [(u32, usize)], slop: u32, boost: f32 },
}

impl<'p> Shape<'p> {
    /// The shape of a whole plan.
    pub(crate) fn of(root: &'p PlanNode) -> Self {
        let (inner, boost) = root.innermost(1.0);
        let shape = match Atom::of(inner, boost) {
            Some(atom) => Some(Shape::requiring(vec![atom], Vec::new(), Vec::new())),
            None => flat(inner, boost),
        };
        shape.or_else(|| grouped(inner, boost)).unwrap_or(Shape::Tree(root))
    }

    /// The term whose documents are the hits, if there is one.
    pub(crate) fn only_term(&self) -> Option<usize> {
        match self {
            Shape::Any { terms, excluded, .. } => match (&terms[..], &excluded[..]) {
                ([only], []) => Some(only.term),
                _ => None,
            },
            // Optional terms only add to scores.
            Shape::Required(Required { required, excluded, .. }) => match (&required[..], &excluded[..]) {
                ([Atom::Term(only)], []) => Some(only.term),
                _ => None,
            },
            Shape::Tree(_) => None,
        }
    }

    /// The number of documents of a leaf that match at most, by the lengths of the lists; `None` if it is not
    /// known.
    pub(crate) fn most_matches(&self, found: LeafTerms) -> Option<u64> {
        let doc_freq = |boosted: Boosted| u64::from(found.doc_freq(boosted.term));
        match self {
            Shape::Any { terms, .. } => Some(terms.iter().copied().map(doc_freq).sum()),
            Shape::Required(required) => required.terms().map(doc_freq).min(),
            Shape::Tree(_) => None,
        }
    }

    /// A single required term is a list of one term.
    fn requiring(required: Vec<Atom<'p>>, optional: Vec<Boosted>, excluded: Vec<usize>) -> Self {
        match (&required[..], &optional[..]) {
            (&[Atom::Term(term)], []) => Shape::Any { terms: vec![term], excluded, groups: Vec::new() },
            _ => Shape::Required(Required { required, optional, excluded }),
        }
    }
}

impl<'p> Required<'p> {
    /// True if a phrase is required.
    pub(crate) fn has_phrase(&self) -> bool {
        self.required.iter().any(|atom| matches!(atom, Atom::Phrase { .. }))
    }

    /// The terms that a document must have, including the terms of phrases.
    pub(crate) fn terms(&self) -> impl Iterator<Item = Boosted> {
        self.required.iter().flat_map(Atom::terms)
    }

    /// The same query without the terms that only add to scores.
    pub(crate) fn without_optional(&self) -> Self {
        let (required, excluded) = (self.required.clone(), self.excluded.clone());
        Required { required, optional: Vec::new(), excluded }
    }
}

impl<'p> Atom<'p> {
    /// A node that is a term or a phrase; `boost` is the product of the boosts around it.
    fn of(node: &'p PlanNode, boost: f32) -> Option<Self> {
        let boost = boost * node.boost;
        match &node.kind {
            NodeKind::Term(term) => Some(Atom::Term(Boosted { term: *term, boost })),
            NodeKind::Phrase { terms, slop } => Some(Atom::Phrase { terms, slop: *slop, boost }),
            _ => None,
        }
    }

    /// The terms that a document must have.
    pub(crate) fn terms(&self) -> impl Iterator<Item = Boosted> + use<'p> {
        let (only, of_phrase, boost) = match *self {
            Atom::Term(term) => (Some(term), &[][..], 1.0),
            Atom::Phrase { terms, boost, .. } => (None, terms, boost),
        };
        only.into_iter().chain(of_phrase.iter().map(move |&(_, term)| Boosted { term, boost }))
    }
}

/// The shape of a list of terms and phrases; `None` if it contains anything else.
fn flat(list: &PlanNode, boost: f32) -> Option<Shape<'_>> {
    let NodeKind::Bool { must, should, must_not, at_least: at_least @ (0 | 1) } = &list.kind else {
        return None;
    };
    let boost = boost * list.boost;
    let excluded = only_terms(must_not, 1.0)?.iter().map(|excluded| excluded.term).collect();
    match (&must[..], &should[..]) {
        ([], []) => None,
        // The only clause must match.
        ([], [_]) => Some(Shape::requiring(atoms(should, boost)?, Vec::new(), excluded)),
        ([], _) => Some(Shape::Any { terms: only_terms(should, boost)?, excluded, groups: Vec::new() }),
        // One of the optional clauses must match as well, and they are summed apart.
        _ if *at_least > 0 => None,
        _ => Some(Shape::requiring(atoms(must, boost)?, only_terms(should, boost)?, excluded)),
    }
}

/// The shape of optional terms and groups of terms; `None` if the list contains anything else.
fn grouped(list: &PlanNode, boost: f32) -> Option<Shape<'_>> {
    let (mut terms, mut groups) = (Vec::new(), Vec::new());
    let mut take = |node, boost| -> Option<()> {
        let (inner, boost) = PlanNode::innermost(node, boost);
        let (of_group, tie) = match (&inner.kind, Atom::of(inner, boost)) {
            (NodeKind::Best { any, tie }, _) => (only_terms(any, boost * inner.boost)?, *tie),
            (_, Some(Atom::Term(term))) => (vec![term], 0.0),
            _ => return None,
        };
        groups.push(BestGroup { len: of_group.len(), tie });
        terms.extend(of_group);
        Some(())
    };
    let mut excluded = Vec::new();
    match &list.kind {
        NodeKind::Bool { must, should, must_not, at_least: 0 | 1 } if must.is_empty() => {
            should.iter().try_for_each(|node| take(node, boost * list.boost))?;
            excluded.extend(only_terms(must_not, 1.0)?.iter().map(|excluded| excluded.term));
        }
        NodeKind::Best { .. } => take(list, boost)?,
        _ => return None,
    }
    (!terms.is_empty()).then_some(Shape::Any { terms, excluded, groups })
}

/// Nodes that are all terms and phrases.
fn atoms(nodes: &[PlanNode], boost: f32) -> Option<Vec<Atom<'_>>> {
    let atom = |node| {
        let (inner, boost) = PlanNode::innermost(node, boost);
        Atom::of(inner, boost)
    };
    nodes.iter().map(atom).collect()
}

/// Nodes that are all terms.
fn only_terms(nodes: &[PlanNode], boost: f32) -> Option<Vec<Boosted>> {
    let term = |atom| if let Atom::Term(term) = atom { Some(term) } else { None };
    atoms(nodes, boost)?.into_iter().map(term).collect()
}
