//! Nested queries, document at a time and without pruning.
//!
//! Each node stands on a document and can be moved to the first one not below a target; scores are asked for
//! where all agree. Sums are rounded per list, as Lucene does: clauses of a list add up in 64 bits and are cast
//! once, required and optional parts are added in 32.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::budget::Clock;
use super::docset::DocSet;
use super::leaf::{ListSource, damaged_list};
use super::phrase::PhraseCursor;
use super::plan::{Boosted, Kind, Node};
use super::run::{Clause, Sink, Terms, View, count_below};
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
    let sources =
        (0..terms.found.refs.len()).map(|term| terms.source(view, term)).collect::<Result<Vec<_>>>()?;
    let among = terms.candidates(view, root, &sources)?;
    let builder = Builder { view, terms, sources: &sources, among: among.as_deref() };
    let Some(mut root) = builder.node(root, 1.0)? else { return Ok(ControlFlow::Continue(())) };
    let flow = drive(&mut root, view, sink);
    if root.corrupt() { Err(damaged_list()) } else { Ok(flow) }
}

fn drive<S: Similarity>(root: &mut Cursor<S>, view: &View, sink: &mut Sink) -> ControlFlow<()> {
    let (mut docs, mut scores) = ([0; BLOCK], [0.0; BLOCK]);
    let mut len = 0;
    if let Cursor::Set { set, score, .. } = root {
        return drive_set(set, *score, view, sink);
    }
    let mut doc = root.advance(view.first);
    while doc != NO_MORE {
        let score = root.score();
        // Then parts may have ended early, which others took for the end.
        if view.clock.is_up() {
            break;
        }
        (docs[len], scores[len]) = (doc, score);
        len += 1;
        if len == BLOCK {
            sink(&docs, &scores)?;
            len = 0;
        }
        doc = root.advance(doc + 1);
    }
    sink(&docs[..len], &scores[..len])
}

/// Every document of a set.
fn drive_set(set: &DocSet, score: f32, view: &View, sink: &mut Sink) -> ControlFlow<()> {
    let (mut docs, scores) = ([0; BLOCK], [score; BLOCK]);
    let mut next = view.first;
    // A set may itself have ended early.
    while !view.clock.is_up() {
        let found = set.take_from(next, &mut docs);
        let found = &found[..count_below(found, view.end)];
        let Some(&last) = found.last() else { break };
        sink(found, &scores[..found.len()])?;
        next = last + 1;
    }
    ControlFlow::Continue(())
}

struct Builder<'b, 's, S> {
    view: &'b View<'s>,
    terms: Terms<'s, S>,
    /// By term.
    sources: &'s [Option<ListSource<'s>>],
    /// The documents that alone can match, if they are known.
    among: Option<&'b [u32]>,
}

impl<'s, S: Similarity> Builder<'_, 's, S> {
    /// The cursor of a node, the parts around which are boosted by `boost`; `None` if nothing in this leaf can match it.
    fn node(&self, node: &Node, boost: f32) -> Result<Option<Cursor<'s, S>>> {
        let boost = boost * node.boost;
        match &node.kind {
            Kind::Term(term) => {
                let Some(source) = &self.sources[*term] else { return Ok(None) };
                let clause = self.terms.clause(self.view, Boosted { term: *term, boost }, source)?;
                Ok(Some(Cursor::Term(Box::new(clause), self.view.end)))
            }
            Kind::Bool { must, should, must_not, at_least } => {
                self.list((must, should, must_not), *at_least, boost)
            }
            Kind::Phrase { terms, slop } => self.phrase(terms, *slop, boost),
            Kind::Pattern(pattern) => {
                let (leaf, clock) = (self.terms.leaf_of_pattern(self.view, *pattern), self.view.clock);
                let terms = self.terms.of_pattern(self.view, *pattern)?;
                let set = &self.terms.found.patterns[*pattern].all;
                let set = set.get_or_find(|| DocSet::of_terms(leaf, &terms, clock))?;
                Ok(Some(self.settled(Cursor::Set { set, doc: 0, score: boost, end: self.view.end })))
            }
            Kind::Exists(field) => {
                let set = Arc::new(self.view.with_terms(*field));
                Ok(Some(self.settled(Cursor::Set { set, doc: 0, score: boost, end: self.view.end })))
            }
            Kind::Values(range) => {
                let set = Arc::new(self.terms.in_range(self.view, *range, self.among)?);
                Ok(Some(self.settled(Cursor::Set { set, doc: 0, score: boost, end: self.view.end })))
            }
            Kind::All => Ok(Some(self.everything(boost))),
        }
    }

    fn everything(&self, score: f32) -> Cursor<'s, S> {
        self.settled(Cursor::Everything { doc: 0, end: self.view.end, score })
    }

    /// At its first document; where there are none it has no first one.
    fn settled(&self, mut cursor: Cursor<'s, S>) -> Cursor<'s, S> {
        cursor.advance(self.view.first);
        cursor
    }

    fn list(
        &self,
        (must, should, must_not): (&[Node], &[Node], &[Node]),
        at_least: usize,
        boost: f32,
    ) -> Result<Option<Cursor<'s, S>>> {
        let required = self.nodes(must, boost)?;
        let optional = self.nodes(should, boost)?;
        if required.len() < must.len() || optional.len() < at_least {
            return Ok(None);
        }
        let (clock, first) = (self.view.clock, self.view.first);
        let base = match (required.is_empty(), optional.is_empty()) {
            (true, true) if !should.is_empty() || must_not.is_empty() => return Ok(None),
            (true, true) => self.everything(0.0),
            (true, false) => self.some(optional, at_least),
            (false, true) => self.every(required),
            (false, false) if at_least > 0 => {
                self.every(vec![self.every(required), self.some(optional, at_least)])
            }
            (false, false) => Cursor::Boosted {
                base: Box::new(self.every(required)),
                boost: Box::new(Cursor::any(optional)),
            },
        };
        let excluded = self.nodes(must_not, boost)?;
        if excluded.is_empty() {
            return Ok(Some(base));
        }
        let excluded = Box::new(Cursor::any(excluded));
        let mut without = Cursor::Without { base: Box::new(base), excluded, clock };
        without.advance(first);
        Ok(Some(without))
    }

    fn every(&self, parts: Vec<Cursor<'s, S>>) -> Cursor<'s, S> {
        self.settled(Cursor::Every { parts, clock: self.view.clock })
    }

    /// Documents of at least `needed` of the parts, and of one.
    fn some(&self, parts: Vec<Cursor<'s, S>>, needed: usize) -> Cursor<'s, S> {
        match needed {
            0 | 1 => Cursor::any(parts),
            _ => self.settled(Cursor::AtLeast { parts, needed, doc: 0, clock: self.view.clock }),
        }
    }

    fn phrase(&self, terms: &[(u32, usize)], slop: u32, boost: f32) -> Result<Option<Cursor<'s, S>>> {
        let lists: Option<Vec<_>> = terms.iter().map(|&(_, term)| self.sources[term].as_ref()).collect();
        let Some(lists) = lists else { return Ok(None) };
        let matcher = self.terms.phrase_matcher(self.view, terms, slop, &lists)?;
        let scorers = self.terms.phrase_scorers(self.view, terms, boost);
        Ok(Some(Cursor::Phrase(Box::new(PhraseCursor::new(matcher, scorers, self.view)))))
    }

    /// The cursors of those nodes that can match.
    fn nodes(&self, nodes: &[Node], boost: f32) -> Result<Vec<Cursor<'s, S>>> {
        nodes.iter().filter_map(|node| self.node(node, boost).transpose()).collect()
    }
}

/// A position in the documents that match a node.
enum Cursor<'s, S> {
    /// With the document that it ends before.
    Term(Box<Clause<'s, S>>, u32),
    Phrase(Box<PhraseCursor<'s, S>>),
    /// Every document up to `end`.
    Everything {
        doc: u32,
        end: u32,
        score: f32,
    },
    /// The documents of a set, all with one score.
    Set {
        set: Arc<DocSet>,
        doc: u32,
        score: f32,
        end: u32,
    },
    Every {
        parts: Vec<Cursor<'s, S>>,
        clock: Clock<'s>,
    },
    Any {
        parts: Vec<Cursor<'s, S>>,
        doc: u32,
    },
    /// Documents of at least so many of the parts.
    AtLeast {
        parts: Vec<Cursor<'s, S>>,
        needed: usize,
        doc: u32,
        clock: Clock<'s>,
    },
    /// Matches as `base` does, and scores higher where `boost` matches too.
    Boosted {
        base: Box<Cursor<'s, S>>,
        boost: Box<Cursor<'s, S>>,
    },
    Without {
        base: Box<Cursor<'s, S>>,
        excluded: Box<Cursor<'s, S>>,
        clock: Clock<'s>,
    },
}

impl<'s, S: Similarity> Cursor<'s, S> {
    fn any(parts: Vec<Cursor<'s, S>>) -> Self {
        let doc = parts.iter().map(Cursor::doc).min().unwrap_or(NO_MORE);
        Cursor::Any { parts, doc }
    }

    fn doc(&self) -> u32 {
        match self {
            Cursor::Term(clause, end) => before(clause.cursor.doc(), *end),
            Cursor::Phrase(phrase) => phrase.doc(),
            Cursor::Everything { doc, .. }
            | Cursor::Set { doc, .. }
            | Cursor::Any { doc, .. }
            | Cursor::AtLeast { doc, .. } => *doc,
            Cursor::Every { parts, .. } => parts.first().map_or(NO_MORE, Cursor::doc),
            Cursor::Boosted { base, .. } | Cursor::Without { base, .. } => base.doc(),
        }
    }

    /// Moves to the first match not below `target`; never back.
    fn advance(&mut self, target: u32) -> u32 {
        match self {
            Cursor::Term(clause, end) => before(clause.cursor.advance(target), *end),
            Cursor::Phrase(phrase) => phrase.advance(target),
            Cursor::Set { set, doc, end, .. } => {
                *doc = before(set.next(target.max(*doc)), *end);
                *doc
            }
            Cursor::AtLeast { parts, needed, doc, clock } => {
                *doc = agree_some(parts, *needed, target, *clock);
                *doc
            }
            Cursor::Everything { doc, end, .. } => {
                *doc = before(target.max(*doc), *end);
                *doc
            }
            Cursor::Every { parts, clock } => agree(parts, target, *clock),
            Cursor::Any { parts, doc } => {
                *doc = parts.iter_mut().map(|part| part.advance(target)).min().unwrap_or(NO_MORE);
                *doc
            }
            Cursor::Boosted { base, .. } => base.advance(target),
            Cursor::Without { base, excluded, clock } => {
                let mut doc = base.advance(target);
                while doc != NO_MORE && excluded.advance(doc) == doc {
                    if clock.is_up() {
                        return NO_MORE;
                    }
                    doc = base.advance(doc + 1);
                }
                doc
            }
        }
    }

    /// The score of the current document.
    fn score(&mut self) -> f32 {
        match self {
            Cursor::Term(clause, _) => clause.scorer.score(clause.cursor.doc(), clause.cursor.tf()),
            Cursor::Phrase(phrase) => phrase.score(),
            Cursor::Everything { score, .. } | Cursor::Set { score, .. } => *score,
            Cursor::Every { parts, .. } => narrow(parts.iter_mut().map(|part| f64::from(part.score())).sum()),
            Cursor::Any { parts, doc } | Cursor::AtLeast { parts, doc, .. } => {
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
            Cursor::Term(clause, _) => clause.cursor.corrupt(),
            Cursor::Phrase(phrase) => phrase.corrupt(),
            Cursor::Everything { .. } | Cursor::Set { .. } => false,
            Cursor::Every { parts, .. } | Cursor::Any { parts, .. } | Cursor::AtLeast { parts, .. } => {
                parts.iter().any(Cursor::corrupt)
            }
            Cursor::Boosted { base, boost: other } | Cursor::Without { base, excluded: other, .. } => {
                base.corrupt() || other.corrupt()
            }
        }
    }
}

/// A document, or the end if that is before it.
#[inline]
fn before(doc: u32, end: u32) -> u32 {
    if doc < end { doc } else { NO_MORE }
}

/// Moves all parts to the first document not below `target` that all of them have.
fn agree<S: Similarity>(parts: &mut [Cursor<S>], target: u32, clock: Clock) -> u32 {
    let mut doc = target;
    loop {
        let highest = parts.iter_mut().map(|part| part.advance(doc)).max().unwrap_or(NO_MORE);
        if highest == doc || highest == NO_MORE {
            // At the end the first part, which stands for all, must be there too.
            return parts.first_mut().map_or(NO_MORE, |part| part.advance(highest));
        }
        if clock.is_up() {
            return NO_MORE;
        }
        doc = highest;
    }
}

/// Moves parts to the first document not below `target` that at least `needed` of them have, as far as they are before.
fn agree_some<S: Similarity>(parts: &mut [Cursor<S>], needed: usize, target: u32, clock: Clock) -> u32 {
    let mut target = target;
    loop {
        let mut docs: Vec<u32> = parts.iter_mut().map(|part| part.advance(target)).collect();
        docs.sort_unstable();
        // Before the one at this place there are too few; all must have been asked for it, since all add to its score.
        match docs.get(needed.saturating_sub(1)) {
            None | Some(&NO_MORE) => return NO_MORE,
            Some(&doc) if docs.first() == Some(&doc) => return doc,
            Some(_) if clock.is_up() => return NO_MORE,
            Some(&doc) => target = doc,
        }
    }
}
