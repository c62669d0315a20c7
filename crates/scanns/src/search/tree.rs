//! Nested queries, document at a time and without pruning.
//!
//! Each node stands on a document and can be moved to the first one not below a target; scores are asked for
//! where all agree. Sums are rounded per list, as Lucene does: clauses of a list add up in 64 bits and are cast
//! once, required and optional parts are added in 32.

use std::ops::ControlFlow;

use super::leaf::{ListSource, damaged_list};
use super::plan::Node;
use super::run::{Clause, Sink, Terms, View};
use super::similarity::{Similarity, narrow};
use crate::codec::{BLOCK, NO_MORE};
use crate::error::Result;

/// Every hit, in order.
pub(super) fn all<S: Similarity>(
    root: &Node,
    view: &View,
    similarity: &S,
    terms: Terms,
    sink: &mut Sink,
) -> Result<ControlFlow<()>> {
    let sources = (0..terms.refs.len()).map(|term| terms.source(view, term)).collect::<Result<Vec<_>>>()?;
    let builder = Builder { view, terms, sources: &sources };
    let Some(mut root) = builder.node(root)? else { return Ok(ControlFlow::Continue(())) };
    let flow = drive(&mut root, view, similarity, sink);
    if root.corrupt() { Err(damaged_list()) } else { Ok(flow) }
}

fn drive<S: Similarity>(root: &mut Cursor, view: &View, similarity: &S, sink: &mut Sink) -> ControlFlow<()> {
    let (mut docs, mut scores) = ([0; BLOCK], [0.0; BLOCK]);
    let mut len = 0;
    let mut doc = root.doc();
    while doc != NO_MORE {
        (docs[len], scores[len]) = (doc, root.score(view, similarity));
        len += 1;
        if len == BLOCK {
            sink(&docs, &scores)?;
            len = 0;
        }
        doc = root.advance(doc + 1);
    }
    sink(&docs[..len], &scores[..len])
}

struct Builder<'b, 's> {
    view: &'b View<'b>,
    terms: Terms<'b>,
    /// By term.
    sources: &'s [Option<ListSource<'s>>],
}

impl<'s> Builder<'_, 's> {
    /// The cursor of a node; `None` if nothing in this leaf can match it.
    fn node(&self, node: &Node) -> Result<Option<Cursor<'s>>> {
        let (must, should, must_not) = match node {
            Node::Term(term) => {
                return match &self.sources[*term] {
                    Some(source) => {
                        Ok(Some(Cursor::Term(Box::new(self.terms.clause(self.view, *term, source)?))))
                    }
                    None => Ok(None),
                };
            }
            Node::Bool { must, should, must_not } => (must, should, must_not),
        };
        let required = self.nodes(must)?;
        if required.len() < must.len() {
            return Ok(None);
        }
        let optional = self.nodes(should)?;
        let base = match (required.is_empty(), optional.is_empty()) {
            (true, true) if !should.is_empty() || must_not.is_empty() => return Ok(None),
            (true, true) => Cursor::Everything { doc: 0, max_doc: self.view.max_doc }.settled(),
            (true, false) => Cursor::any(optional),
            (false, true) => Cursor::every(required),
            (false, false) => Cursor::Boosted {
                base: Box::new(Cursor::every(required)),
                boost: Box::new(Cursor::any(optional)),
            },
        };
        let excluded = self.nodes(must_not)?;
        if excluded.is_empty() {
            return Ok(Some(base));
        }
        let mut without = Cursor::Without { base: Box::new(base), excluded: Box::new(Cursor::any(excluded)) };
        without.advance(0);
        Ok(Some(without))
    }

    /// The cursors of those nodes that can match.
    fn nodes(&self, nodes: &[Node]) -> Result<Vec<Cursor<'s>>> {
        nodes.iter().filter_map(|node| self.node(node).transpose()).collect()
    }
}

/// A position in the documents that match a node.
enum Cursor<'s> {
    Term(Box<Clause<'s>>),
    /// Every document of the leaf.
    Everything {
        doc: u32,
        max_doc: u32,
    },
    Every {
        parts: Vec<Cursor<'s>>,
    },
    Any {
        parts: Vec<Cursor<'s>>,
        doc: u32,
    },
    /// Matches as `base` does, and scores higher where `boost` matches too.
    Boosted {
        base: Box<Cursor<'s>>,
        boost: Box<Cursor<'s>>,
    },
    Without {
        base: Box<Cursor<'s>>,
        excluded: Box<Cursor<'s>>,
    },
}

impl<'s> Cursor<'s> {
    fn any(parts: Vec<Cursor<'s>>) -> Self {
        let doc = parts.iter().map(Cursor::doc).min().unwrap_or(NO_MORE);
        Cursor::Any { parts, doc }
    }

    fn every(parts: Vec<Cursor<'s>>) -> Self {
        let mut every = Cursor::Every { parts };
        every.advance(0);
        every
    }

    /// A leaf without documents has no first one.
    fn settled(mut self) -> Self {
        self.advance(0);
        self
    }

    fn doc(&self) -> u32 {
        match self {
            Cursor::Term(clause) => clause.cursor.doc(),
            Cursor::Everything { doc, .. } | Cursor::Any { doc, .. } => *doc,
            Cursor::Every { parts } => parts.first().map_or(NO_MORE, Cursor::doc),
            Cursor::Boosted { base, .. } | Cursor::Without { base, .. } => base.doc(),
        }
    }

    /// Moves to the first match not below `target`; never back.
    fn advance(&mut self, target: u32) -> u32 {
        match self {
            Cursor::Term(clause) => clause.cursor.advance(target),
            Cursor::Everything { doc, max_doc } => {
                *doc = target.max(*doc);
                if *doc >= *max_doc {
                    *doc = NO_MORE;
                }
                *doc
            }
            Cursor::Every { parts } => agree(parts, target),
            Cursor::Any { parts, doc } => {
                *doc = parts.iter_mut().map(|part| part.advance(target)).min().unwrap_or(NO_MORE);
                *doc
            }
            Cursor::Boosted { base, .. } => base.advance(target),
            Cursor::Without { base, excluded } => {
                let mut doc = base.advance(target);
                while doc != NO_MORE && excluded.advance(doc) == doc {
                    doc = base.advance(doc + 1);
                }
                doc
            }
        }
    }

    /// The score of the current document.
    fn score<S: Similarity>(&mut self, view: &View, similarity: &S) -> f32 {
        match self {
            Cursor::Term(clause) => {
                let norm = view.norms.get(clause.cursor.doc() as usize).copied().unwrap_or(0);
                similarity.score(clause.weight, clause.cursor.tf(), norm)
            }
            Cursor::Everything { .. } => 0.0,
            Cursor::Every { parts } => {
                narrow(parts.iter_mut().map(|part| f64::from(part.score(view, similarity))).sum())
            }
            Cursor::Any { parts, doc } => {
                let here = parts.iter_mut().filter(|part| part.doc() == *doc);
                narrow(here.map(|part| f64::from(part.score(view, similarity))).sum())
            }
            Cursor::Boosted { base, boost } => {
                let (doc, score) = (base.doc(), base.score(view, similarity));
                if boost.advance(doc) == doc { score + boost.score(view, similarity) } else { score }
            }
            Cursor::Without { base, .. } => base.score(view, similarity),
        }
    }

    /// True if a list below turned out damaged.
    fn corrupt(&self) -> bool {
        match self {
            Cursor::Term(clause) => clause.cursor.corrupt(),
            Cursor::Everything { .. } => false,
            Cursor::Every { parts } | Cursor::Any { parts, .. } => parts.iter().any(Cursor::corrupt),
            Cursor::Boosted { base, boost: other } | Cursor::Without { base, excluded: other } => {
                base.corrupt() || other.corrupt()
            }
        }
    }
}

/// Moves all parts to the first document not below `target` that all of them have.
fn agree(parts: &mut [Cursor], target: u32) -> u32 {
    let mut doc = target;
    loop {
        let highest = parts.iter_mut().map(|part| part.advance(doc)).max().unwrap_or(NO_MORE);
        if highest == doc || highest == NO_MORE {
            // At the end the first part, which stands for all, must be there too.
            return parts.first_mut().map_or(NO_MORE, |part| part.advance(highest));
        }
        doc = highest;
    }
}
