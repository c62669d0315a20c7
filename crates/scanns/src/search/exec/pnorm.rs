//! The extended Boolean model of Salton, Fox and Wu (1983), whose operators are softer the lower p is.
//!
//! A term's degree of match is d = (tf / highest tf) · (idf / highest idf), between 0 and 1. With n operands:
//! OR = (Σ dᵖ / n)^(1/p), AND = 1 − (Σ (1 − d)ᵖ / n)^(1/p), NOT = 1 − d. At p = 1 both are the mean, at
//! infinity they are maximum and minimum. An index keeps no highest frequency per document, and the idf of
//! terms outside the query is of no use, so both maxima are over the terms of the query: their highest
//! frequency in the document, and their highest idf in the index. Operands weigh as they are boosted: with
//! weights w, the sums are over wᵖ dᵖ, and n is the sum of wᵖ.
//!
//! A list with required or excluded clauses is an AND of these clauses, negated if they exclude, with the OR
//! of its optional clauses as one more operand. Since operators are soft, a document is a hit if it contains
//! any term that is not excluded.

use std::ops::ControlFlow;

use crate::codec::{BLOCK, ListCursor, NO_MORE};
use crate::error::{Error, Result};
use crate::search::exec::bound_terms::BoundTerms;
use crate::search::exec::goal::Sink;
use crate::search::exec::view::View;
use crate::search::leaf::{LeafStats, damaged_list};
use crate::search::plan::node::{NodeKind, PlanNode};
use crate::search::similarity::narrow;
use crate::segment::has_bit;

/// The parameters of a query: p, and by term its idf as a fraction of the highest idf, 0 for terms that do
/// not occur.
pub(crate) struct PNorm {
    p: f64,
    idfs: Vec<f64>,
    highest: f64,
}

/// The list of a term.
struct SoftList<'s> {
    cursor: ListCursor<'s>,
    /// The documents that have its field, if others can be hits.
    only: Option<&'s [u64]>,
}

impl SoftList<'_> {
    /// Moves to the first document of the list that is not below `target` and has the field.
    fn advance(&mut self, target: u32) -> u32 {
        let mut doc = self.cursor.advance(target);
        while doc != NO_MORE && self.only.is_some_and(|only| !has_bit(only, doc)) {
            doc = self.cursor.advance(doc + 1);
        }
        doc
    }

    /// How often the term occurs in a document that is not before the last one that was asked for.
    fn freq_in(&mut self, doc: u32) -> f64 {
        let is_here = self.cursor.doc() <= doc && self.advance(doc) == doc;
        if is_here { f64::from(self.cursor.tf()) } else { 0.0 }
    }
}

impl PNorm {
    /// `terms` are document frequencies with the sizes of their fields.
    pub(crate) fn new(p: f64, terms: impl Iterator<Item = (u64, LeafStats)>) -> Self {
        let idf = |(doc_freq, stats): (u64, LeafStats)| match doc_freq {
            0 => 0.0,
            some => ((stats.documents_with_terms as f64 + 1.0) / (some as f64 + 1.0)).ln().max(0.0) + 1.0,
        };
        let idfs: Vec<f64> = terms.map(idf).collect();
        let highest = idfs.iter().copied().fold(1.0, f64::max);
        PNorm { p, idfs: idfs.iter().map(|idf| idf / highest).collect(), highest }
    }

    /// The idf of a term, and its fraction of the highest.
    pub(crate) fn idf(&self, term: usize) -> (f64, f64) {
        let share = self.idfs.get(term).copied().unwrap_or(0.0);
        (share * self.highest, share)
    }

    /// Every hit of a view, in order.
    pub(crate) fn all(
        &self,
        root: &PlanNode,
        view: &View,
        terms: BoundTerms<()>,
        sink: &mut Sink,
    ) -> Result<ControlFlow<()>> {
        let sources = terms.sources(view)?;
        let mut lists = Vec::with_capacity(sources.len());
        for (term, source) in sources.iter().enumerate() {
            let only = view.only(terms.plan.field_of(term));
            let cursor = source.as_ref().map(|source| terms.cursor(view, term, source)).transpose()?;
            lists.push(cursor.map(|cursor| SoftList { cursor, only }));
        }
        let mut wanted = vec![false; lists.len()];
        mark_wanted(root, false, &mut wanted);
        let flow = self.drive(root, &mut lists, &wanted, view, sink);
        if lists.iter().flatten().any(|list| list.cursor.corrupt()) { Err(damaged_list()) } else { Ok(flow) }
    }

    fn drive(
        &self,
        root: &PlanNode,
        lists: &mut [Option<SoftList>],
        wanted: &[bool],
        view: &View,
        sink: &mut Sink,
    ) -> ControlFlow<()> {
        let (mut docs, mut scores) = ([0; BLOCK], [0.0; BLOCK]);
        let (mut len, mut target) = (0, view.first);
        let mut degrees = vec![0.0; lists.len()];
        loop {
            let candidates = lists.iter_mut().zip(wanted).filter(|(_, wanted)| **wanted);
            let doc = candidates
                .filter_map(|(list, _)| list.as_mut().map(|list| list.advance(target)))
                .min()
                .unwrap_or(NO_MORE);
            if doc >= view.end {
                return sink(&docs[..len], &scores[..len]);
            }
            self.measure(doc, lists, &mut degrees);
            (docs[len], scores[len]) = (doc, narrow(self.score(root, &degrees)));
            len += 1;
            if len == BLOCK {
                sink(&docs, &scores)?;
                len = 0;
                if view.clock.is_up() {
                    return ControlFlow::Continue(());
                }
            }
            target = doc + 1;
        }
    }

    /// Finds the degree of match of every term in `doc`.
    fn measure(&self, doc: u32, lists: &mut [Option<SoftList>], degrees: &mut [f64]) {
        for (degree, list) in degrees.iter_mut().zip(lists) {
            *degree = list.as_mut().map_or(0.0, |list| list.freq_in(doc));
        }
        self.weigh(degrees);
    }

    /// Turns frequencies into degrees of match.
    pub(crate) fn weigh(&self, degrees: &mut [f64]) {
        let highest = degrees.iter().copied().fold(1.0, f64::max);
        for (degree, idf) in degrees.iter_mut().zip(&self.idfs) {
            *degree = *degree / highest * idf;
        }
    }

    /// The degree of match of a node, from the degrees of its terms.
    pub(crate) fn score(&self, node: &PlanNode, degrees: &[f64]) -> f64 {
        match &node.kind {
            NodeKind::Term(term) => degrees[*term],
            NodeKind::Bool { must, should, must_not, .. } => {
                let weighed = |part: &PlanNode| (part.boost, self.score(part, degrees));
                let any = (!should.is_empty()).then(|| self.any(should, degrees));
                if must.is_empty() && must_not.is_empty() {
                    return any.unwrap_or(0.0);
                }
                let misses = (must.iter().map(weighed).map(|(boost, degree)| (boost, 1.0 - degree)))
                    .chain(must_not.iter().map(weighed))
                    .chain(any.map(|any| (1.0, 1.0 - any)));
                1.0 - self.mean(misses)
            }
            NodeKind::Best { any, .. } => self.any(any, degrees),
            // `check` refuses these.
            NodeKind::Phrase { .. }
            | NodeKind::Docs(_)
            | NodeKind::Joined(_)
            | NodeKind::Filter(_)
            | NodeKind::Scored(..) => 0.0,
        }
    }

    /// The OR of several nodes.
    pub(crate) fn any(&self, parts: &[PlanNode], degrees: &[f64]) -> f64 {
        self.mean(parts.iter().map(|part| (part.boost, self.score(part, degrees))))
    }

    /// The mean of order p of weighted values. If p is infinite it is the largest of the weighted values.
    fn mean(&self, values: impl Iterator<Item = (f32, f64)>) -> f64 {
        let values: Vec<(f64, f64)> = values.map(|(weight, value)| (f64::from(weight), value)).collect();
        // Relative to the largest weight, so that powers neither overflow nor all vanish.
        let largest = values.iter().map(|(weight, _)| *weight).fold(f64::MIN_POSITIVE, f64::max);
        if self.p.is_infinite() {
            return values.iter().fold(0.0, |most, (weight, value)| most.max(weight / largest * value));
        }
        let (sum, total) = values.iter().fold((0.0, 0.0), |(sum, total), (weight, value)| {
            let weight = weight / largest;
            (sum + (weight * value).powf(self.p), total + weight.powf(self.p))
        });
        // The weights are all 0 if a fuzzy word has as many edits as characters.
        if total > 0.0 { (sum / total).powf(1.0 / self.p) } else { 0.0 }
    }
}

/// Refuses queries with nodes that have no degree of match.
pub(crate) fn check(node: &PlanNode) -> Result<()> {
    match &node.kind {
        NodeKind::Term(_) | NodeKind::Best { .. } | NodeKind::Bool { at_least: 0, .. } => {}
        _ => {
            return Err(Error::Unsupported {
                what:
                    "p-norm for phrases, patterns, filters, joins, scores by columns, or a least number of \
                       matching clauses"
                        .into(),
                remedy: "use only terms and lists of terms, or choose another model".into(),
            });
        }
    }
    match &node.kind {
        NodeKind::Bool { must, should, must_not, .. } => {
            must.iter().chain(should).chain(must_not).try_for_each(check)
        }
        NodeKind::Best { any, .. } => any.iter().try_for_each(check),
        _ => Ok(()),
    }
}

/// Marks the terms that are not below an odd number of negations.
pub(crate) fn mark_wanted(node: &PlanNode, negated: bool, wanted: &mut [bool]) {
    match &node.kind {
        NodeKind::Term(term) => wanted[*term] |= !negated,
        NodeKind::Bool { must, should, must_not, .. } => {
            must.iter().chain(should).for_each(|part| mark_wanted(part, negated, wanted));
            must_not.iter().for_each(|part| mark_wanted(part, !negated, wanted));
        }
        NodeKind::Best { any, .. } => any.iter().for_each(|part| mark_wanted(part, negated, wanted)),
        NodeKind::Phrase { .. }
        | NodeKind::Docs(_)
        | NodeKind::Joined(_)
        | NodeKind::Filter(_)
        | NodeKind::Scored(..) => {}
    }
}
