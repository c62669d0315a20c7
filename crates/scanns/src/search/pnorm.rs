//! The extended Boolean model of Salton, Fox and Wu (1983): operators that are softer the lower p is.
//!
//! A term's degree of match is d = (tf / highest tf) · (idf / highest idf), between 0 and 1. With n operands:
//! OR = (Σ dᵖ / n)^(1/p), AND = 1 − (Σ (1 − d)ᵖ / n)^(1/p), NOT = 1 − d. At p = 1 both are the mean, at
//! infinity they are maximum and minimum. An index keeps no highest frequency per document and no use for the
//! idf of terms that nobody asks for, so both maxima go over the terms of the query: the highest frequency that
//! any of them has in the document, the highest idf that any of them has in the index. Operands weigh as they are boosted:
//! with weights w, the sums are of wᵖ dᵖ and n is the sum of wᵖ.
//!
//! A list with required lists or exclusions is an AND of those, negated where they exclude, with the OR of its
//! optional lists as one more operand. Since operators are soft, a document is a hit if it contains any term
//! that is not excluded.

use std::ops::ControlFlow;

use super::leaf::{LeafStats, damaged_list};
use super::plan::{Kind, Node};
use super::run::{Sink, Terms, View};
use super::similarity::narrow;
use crate::codec::{BLOCK, ListCursor, NO_MORE};
use crate::error::{Error, Result};

/// What is fixed for a query: p, and by term the share of the highest idf, 0 for terms that are not there.
pub(super) struct PNorm {
    p: f64,
    idfs: Vec<f64>,
    highest: f64,
}

impl PNorm {
    /// For terms with their document frequencies and the figures of their fields.
    pub(super) fn new(p: f64, terms: impl Iterator<Item = (u64, LeafStats)>) -> Self {
        let idf = |(doc_freq, stats): (u64, LeafStats)| match doc_freq {
            0 => 0.0,
            some => ((stats.documents_with_terms as f64 + 1.0) / (some as f64 + 1.0)).ln().max(0.0) + 1.0,
        };
        let idfs: Vec<f64> = terms.map(idf).collect();
        let highest = idfs.iter().copied().fold(1.0, f64::max);
        PNorm { p, idfs: idfs.iter().map(|idf| idf / highest).collect(), highest }
    }

    /// The idf of a term, and its share of the highest.
    pub(super) fn idf(&self, term: usize) -> (f64, f64) {
        let share = self.idfs.get(term).copied().unwrap_or(0.0);
        (share * self.highest, share)
    }

    /// Every hit of a leaf, in order.
    pub(super) fn all(
        &self,
        root: &Node,
        view: &View,
        terms: Terms<()>,
        sink: &mut Sink,
    ) -> Result<ControlFlow<()>> {
        let sources =
            (0..terms.found.refs.len()).map(|term| terms.source(view, term)).collect::<Result<Vec<_>>>()?;
        let mut lists = sources
            .iter()
            .enumerate()
            .map(|(term, source)| source.as_ref().map(|source| terms.cursor(view, term, source)).transpose())
            .collect::<Result<Vec<Option<ListCursor>>>>()?;
        let mut wanted = vec![false; lists.len()];
        mark_wanted(root, false, &mut wanted);
        let flow = self.drive(root, &mut lists, (&wanted, view), sink);
        if lists.iter().flatten().any(|list| list.corrupt()) { Err(damaged_list()) } else { Ok(flow) }
    }

    fn drive(
        &self,
        root: &Node,
        lists: &mut [Option<ListCursor>],
        (wanted, view): (&[bool], &View),
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

    /// Finds d of every term in `doc`.
    fn measure(&self, doc: u32, lists: &mut [Option<ListCursor>], degrees: &mut [f64]) {
        for (degree, list) in degrees.iter_mut().zip(lists) {
            let here = list.as_mut().filter(|list| list.doc() <= doc);
            *degree =
                here.map_or(0.0, |list| if list.advance(doc) == doc { f64::from(list.tf()) } else { 0.0 });
        }
        self.weigh(degrees);
    }

    /// Makes d of every term of how often it occurs.
    pub(super) fn weigh(&self, degrees: &mut [f64]) {
        let highest = degrees.iter().copied().fold(1.0, f64::max);
        for (degree, idf) in degrees.iter_mut().zip(&self.idfs) {
            *degree = *degree / highest * idf;
        }
    }

    /// The degree of match of a part of the query, by those of its terms.
    pub(super) fn score(&self, node: &Node, degrees: &[f64]) -> f64 {
        match &node.kind {
            Kind::Term(term) => degrees[*term],
            Kind::Bool { must, should, must_not, .. } => {
                let weighed = |part: &Node| (part.boost, self.score(part, degrees));
                let any = (!should.is_empty()).then(|| self.any(should, degrees));
                if must.is_empty() && must_not.is_empty() {
                    return any.unwrap_or(0.0);
                }
                let misses = (must.iter().map(weighed).map(|(boost, degree)| (boost, 1.0 - degree)))
                    .chain(must_not.iter().map(weighed))
                    .chain(any.map(|any| (1.0, 1.0 - any)));
                1.0 - self.mean(misses)
            }
            // Refused by `check`.
            Kind::Phrase { .. } | Kind::Pattern(_) | Kind::All | Kind::Exists(_) | Kind::Values(_) => 0.0,
        }
    }

    /// The OR of parts.
    pub(super) fn any(&self, parts: &[Node], degrees: &[f64]) -> f64 {
        self.mean(parts.iter().map(|part| (part.boost, self.score(part, degrees))))
    }

    /// The mean of order p of values with their weights: where p is infinite, the largest of the values, each by its weight.
    fn mean(&self, values: impl Iterator<Item = (f32, f64)>) -> f64 {
        let values: Vec<(f64, f64)> = values.map(|(weight, value)| (f64::from(weight), value)).collect();
        // By the largest one, so that powers neither overflow nor all vanish.
        let largest = values.iter().map(|(weight, _)| *weight).fold(f64::MIN_POSITIVE, f64::max);
        if self.p.is_infinite() {
            return values.iter().fold(0.0, |most, (weight, value)| most.max(weight / largest * value));
        }
        let (sum, total) = values.iter().fold((0.0, 0.0), |(sum, total), (weight, value)| {
            let weight = weight / largest;
            (sum + (weight * value).powf(self.p), total + weight.powf(self.p))
        });
        // Nothing has a weight where a fuzzy word has as many edits as characters.
        if total > 0.0 { (sum / total).powf(1.0 / self.p) } else { 0.0 }
    }
}

/// Refuses a query with parts that have no degree of match.
pub(super) fn check(node: &Node) -> Result<()> {
    match &node.kind {
        Kind::Term(_) | Kind::Bool { at_least: 0, .. } => {}
        _ => {
            let message = "p-norm ranks terms and lists of them alone, without a least number: \
                           leave phrases and patterns out, or choose another model";
            return Err(Error::Options(message.into()));
        }
    }
    let Kind::Bool { must, should, must_not, .. } = &node.kind else { return Ok(()) };
    must.iter().chain(should).chain(must_not).try_for_each(check)
}

/// Marks the terms that are not below an odd number of negations.
pub(super) fn mark_wanted(node: &Node, negated: bool, wanted: &mut [bool]) {
    match &node.kind {
        Kind::Term(term) => wanted[*term] |= !negated,
        Kind::Bool { must, should, must_not, .. } => {
            must.iter().chain(should).for_each(|part| mark_wanted(part, negated, wanted));
            must_not.iter().for_each(|part| mark_wanted(part, !negated, wanted));
        }
        Kind::Phrase { .. } | Kind::Pattern(_) | Kind::All | Kind::Exists(_) | Kind::Values(_) => {}
    }
}
