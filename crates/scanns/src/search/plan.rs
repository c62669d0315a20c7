//! From a query to what is run in every leaf: the terms once, the shape, and figures over all leaves.

use super::leaf::{Leaf, TermRef};
use super::parse::MAX_DEPTH;
use super::query::Query;
use crate::error::{Error, Result};

/// A query with its terms replaced by numbers.
pub(super) struct Plan<'q> {
    /// Every term that occurs in the query, once.
    pub(super) terms: Vec<&'q [u8]>,
    pub(super) root: Node,
}

/// As [`Query`]; terms are places in [`Plan::terms`].
pub(super) enum Node {
    Term(usize),
    Bool { must: Vec<Node>, should: Vec<Node>, must_not: Vec<Node> },
}

/// What kind of query it is: those without nesting have faster ways than document at a time.
pub(super) enum Shape<'p> {
    And(Vec<usize>),
    /// Also a single term.
    Or(Vec<usize>),
    Tree(&'p Node),
}

impl<'q> Plan<'q> {
    pub(super) fn new(query: &'q Query) -> Result<Self> {
        let mut terms = Vec::new();
        let root = number(query, &mut terms, 0)?;
        Ok(Plan { terms, root })
    }

    pub(super) fn shape(&self) -> Shape<'_> {
        match &self.root {
            Node::Term(term) => Shape::Or(vec![*term]),
            Node::Bool { must, should, must_not } if must_not.is_empty() => {
                match (only_terms(must), only_terms(should)) {
                    (Some(must), Some(_)) if should.is_empty() => Shape::And(must),
                    (Some(_), Some(should)) if must.is_empty() => Shape::Or(should),
                    _ => Shape::Tree(&self.root),
                }
            }
            Node::Bool { .. } => Shape::Tree(&self.root),
        }
    }

    /// Looks the terms up in all leaves.
    pub(super) fn find(&self, leaves: &[&dyn Leaf]) -> Result<Found> {
        let mut found = Found {
            refs: Vec::new(),
            doc_freqs: vec![0; self.terms.len()],
            total_freqs: vec![0; self.terms.len()],
        };
        for leaf in leaves {
            let refs: Vec<Option<TermRef>> =
                self.terms.iter().map(|term| leaf.find(term)).collect::<Result<_>>()?;
            for (sum, term) in found.doc_freqs.iter_mut().zip(&refs) {
                *sum += term.map_or(0, |term| u64::from(term.doc_freq));
            }
            for (sum, term) in found.total_freqs.iter_mut().zip(&refs) {
                *sum += term.map_or(0, |term| term.total_freq);
            }
            found.refs.push(refs);
        }
        Ok(found)
    }
}

/// Where the terms of a plan are.
pub(super) struct Found {
    /// By leaf, then by term.
    pub(super) refs: Vec<Vec<Option<TermRef>>>,
    /// By term, summed over the leaves.
    pub(super) doc_freqs: Vec<u64>,
    /// By term, how often it occurs in all documents.
    pub(super) total_freqs: Vec<u64>,
}

fn number<'q>(query: &'q Query, terms: &mut Vec<&'q [u8]>, depth: usize) -> Result<Node> {
    // A parenthesis may hold a list of lists: one level for OR, one for AND.
    if depth > 2 * MAX_DEPTH + 2 {
        return Err(Error::Options(format!("a query may be nested {MAX_DEPTH} deep")));
    }
    match query {
        Query::Term(term) => {
            let known = terms.iter().position(|known| known == term);
            Ok(Node::Term(known.unwrap_or_else(|| {
                terms.push(term);
                terms.len() - 1
            })))
        }
        Query::Bool(list) => {
            let mut all = |queries: &'q [Query]| {
                queries.iter().map(|query| number(query, terms, depth + 1)).collect::<Result<Vec<_>>>()
            };
            Ok(Node::Bool {
                must: all(&list.must)?,
                should: all(&list.should)?,
                must_not: all(&list.must_not)?,
            })
        }
    }
}

fn only_terms(nodes: &[Node]) -> Option<Vec<usize>> {
    nodes.iter().map(|node| if let Node::Term(term) = node { Some(*term) } else { None }).collect()
}
