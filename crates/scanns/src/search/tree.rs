//! Nested queries, document at a time and without pruning.
//!
//! Each node stands on a document and can be moved to the first one not below a target; scores are asked for
//! where all agree. Sums are rounded per list, as Lucene does: clauses of a list add up in 64 bits and are cast
//! once, required and optional parts are added in 32.

use std::ops::ControlFlow;

use super::leaf::{ListSource, damaged_list};
use super::plan::{Boosted, Kind, Node};
use super::run::{Clause, Sink, Terms, View};
use super::similarity::{Similarity, narrow};
use crate::codec::{BLOCK, NO_MORE};
use crate::error::Result;

/// Every hit, in order.
pub(super) fn all<S: Similarity>(
    root: &Node,
    view: &View,
    terms: Terms<S>,
    sink: &mut Sink,
) -> Result<ControlFlow<()>> {
    let sources = (0..terms.refs.len()).map(|term| terms.source(view, term)).collect::<Result<Vec<_>>>()?;
    let builder = Builder { view, terms, sources: &sources };
    let Some(mut root) = builder.node(root, 1.0)? else { return Ok(ControlFlow::Continue(())) };
    let flow = drive(&mut root, sink);
    if root.corrupt() { Err(damaged_list()) } else { Ok(flow) }
}

fn drive<S: Similarity>(root: &mut Cursor<S>, sink: &mut Sink) -> ControlFlow<()> {
    let (mut docs, mut scores) = ([0; BLOCK], [0.0; BLOCK]);
    let mut len = 0;
    let mut doc = root.doc();
    while doc != NO_MORE {
        (docs[len], scores[len]) = (doc, root.score());
        len += 1;
        if len == BLOCK {
            sink(&docs, &scores)?;
            len = 0;
        }
        doc = root.advance(doc + 1);
    }
    sink(&docs[..len], &scores[..len])
}

struct Builder<'b, 's, S> {
    view: &'b View<'s>,
    terms: Terms<'s, S>,
    /// By term.
    sources: &'s [Option<ListSource<'s>>],
}

impl<'s, S: Similarity> Builder<'_, 's, S> {
    /// The cursor of a node, the parts around which are boosted by `boost`; `None` if nothing in this leaf can match it.
    fn node(&self, node: &Node, boost: f32) -> Result<Option<Cursor<'s, S>>> {
        let boost = boost * node.boost;
        let (must, should, must_not) = match &node.kind {
            Kind::Term(term) => {
                let Some(source) = &self.sources[*term] else { return Ok(None) };
                let clause = self.terms.clause(self.view, Boosted { term: *term, boost }, source)?;
                return Ok(Some(Cursor::Term(Box::new(clause))));
            }
            Kind::Bool { must, should, must_not } => (must, should, must_not),
        };
        let required = self.nodes(must, boost)?;
        if required.len() < must.len() {
            return Ok(None);
        }
        let optional = self.nodes(should, boost)?;
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
        let excluded = self.nodes(must_not, boost)?;
        if excluded.is_empty() {
            return Ok(Some(base));
        }
        let mut without = Cursor::Without { base: Box::new(base), excluded: Box::new(Cursor::any(excluded)) };
        without.advance(0);
        Ok(Some(without))
    }

    /// The cursors of those nodes that can match.
    fn nodes(&self, nodes: &[Node], boost: f32) -> Result<Vec<Cursor<'s, S>>> {
        nodes.iter().filter_map(|node| self.node(node, boost).transpose()).collect()
    }
}

/// A position in the documents that match a node.
enum Cursor<'s, S> {
    Term(Box<Clause<'s, S>>),
    /// Every document of the leaf.
    Everything {
        doc: u32,
        max_doc: u32,
    },
    Every {
        parts: Vec<Cursor<'s, S>>,
    },
    Any {
        parts: Vec<Cursor<'s, S>>,
        doc: u32,
    },
    /// Matches as `base` does, and scores higher where `boost` matches too.
    Boosted {
        base: Box<Cursor<'s, S>>,
        boost: Box<Cursor<'s, S>>,
    },
    Without {
        base: Box<Cursor<'s, S>>,
        excluded: Box<Cursor<'s, S>>,
    },
}

impl<'s, S: Similarity> Cursor<'s, S> {
    fn any(parts: Vec<Cursor<'s, S>>) -> Self {
        let doc = parts.iter().map(Cursor::doc).min().unwrap_or(NO_MORE);
        Cursor::Any { parts, doc }
    }

    fn every(parts: Vec<Cursor<'s, S>>) -> Self {
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
    fn score(&mut self) -> f32 {
        match self {
            Cursor::Term(clause) => clause.scorer.score(clause.cursor.doc(), clause.cursor.tf()),
            Cursor::Everything { .. } => 0.0,
            Cursor::Every { parts } => narrow(parts.iter_mut().map(|part| f64::from(part.score())).sum()),
            Cursor::Any { parts, doc } => {
                let here = parts.iter_mut().filter(|part| part.doc() == *doc);
                narrow(here.map(|part| f64::from(part.score())).sum())
            }
            Cursor::Boosted { base, boost } => {
                let (doc, score) = (base.doc(), base.score());
                if boost.advance(doc) == doc { score + boost.score() } else { score }
            }
            Cursor::Without { base, .. } => base.score(),
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
fn agree<S: Similarity>(parts: &mut [Cursor<S>], target: u32) -> u32 {
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
