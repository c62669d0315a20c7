//! The extended Boolean model of Salton, Fox and Wu (1983): operators that are softer the lower p is.
//!
//! A term's degree of match is d = (tf / highest tf) · (idf / highest idf), between 0 and 1. With n operands:
//! OR = (Σ dᵖ / n)^(1/p), AND = 1 − (Σ (1 − d)ᵖ / n)^(1/p), NOT = 1 − d. At p = 1 both are the mean, at
//! infinity they are maximum and minimum. An index keeps no highest frequency per document and no use for the
//! idf of terms that nobody asks for, so both maxima go over the terms of the query: the highest frequency that
//! any of them has in the document, the highest idf that any of them has in the index. Operands weigh the same.
//!
//! A list with required clauses or exclusions is an AND of those, negated where they exclude, with the OR of its
//! optional clauses as one more operand. Since operators are soft, a document is a hit if it contains any term
//! that is not excluded.

use std::ops::ControlFlow;

use super::leaf::{LeafStats, damaged_list};
use super::plan::Node;
use super::run::{Clause, Sink, Terms, View};
use super::similarity::narrow;
use crate::codec::{BLOCK, NO_MORE};
use crate::error::Result;

/// What is fixed for a query: p, and by term the share of the highest idf, 0 for terms that are not there.
pub(super) struct PNorm {
    p: f64,
    idfs: Vec<f64>,
}

impl PNorm {
    pub(super) fn new(p: f64, doc_freqs: &[u64], stats: &LeafStats) -> Self {
        let documents = stats.documents_with_terms as f64;
        let idf = |&doc_freq: &u64| match doc_freq {
            0 => 0.0,
            some => ((documents + 1.0) / (some as f64 + 1.0)).ln().max(0.0) + 1.0,
        };
        let highest = doc_freqs.iter().map(idf).fold(1.0, f64::max);
        PNorm { p, idfs: doc_freqs.iter().map(|doc_freq| idf(doc_freq) / highest).collect() }
    }

    /// Every hit of a leaf, in order.
    pub(super) fn all(
        &self,
        root: &Node,
        view: &View,
        terms: Terms,
        sink: &mut Sink,
    ) -> Result<ControlFlow<()>> {
        let sources =
            (0..terms.refs.len()).map(|term| terms.source(view, term)).collect::<Result<Vec<_>>>()?;
        let mut clauses = sources
            .iter()
            .enumerate()
            .map(|(term, source)| source.as_ref().map(|source| terms.clause(view, term, source)).transpose())
            .collect::<Result<Vec<Option<Clause>>>>()?;
        let mut wanted = vec![false; clauses.len()];
        mark_wanted(root, false, &mut wanted);
        let flow = self.drive(root, &mut clauses, &wanted, sink);
        if clauses.iter().flatten().any(|clause| clause.cursor.corrupt()) {
            Err(damaged_list())
        } else {
            Ok(flow)
        }
    }

    fn drive(
        &self,
        root: &Node,
        clauses: &mut [Option<Clause>],
        wanted: &[bool],
        sink: &mut Sink,
    ) -> ControlFlow<()> {
        let (mut docs, mut scores) = ([0; BLOCK], [0.0; BLOCK]);
        let (mut len, mut target) = (0, 0);
        let mut degrees = vec![0.0; clauses.len()];
        loop {
            let candidates = clauses.iter_mut().zip(wanted).filter(|(_, wanted)| **wanted);
            let doc = candidates
                .filter_map(|(clause, _)| clause.as_mut().map(|clause| clause.cursor.advance(target)))
                .min()
                .unwrap_or(NO_MORE);
            if doc == NO_MORE {
                return sink(&docs[..len], &scores[..len]);
            }
            self.measure(doc, clauses, &mut degrees);
            (docs[len], scores[len]) = (doc, narrow(self.score(root, &degrees)));
            len += 1;
            if len == BLOCK {
                sink(&docs, &scores)?;
                len = 0;
            }
            target = doc + 1;
        }
    }

    /// Finds d of every term in `doc`.
    fn measure(&self, doc: u32, clauses: &mut [Option<Clause>], degrees: &mut [f64]) {
        let mut highest = 1.0f64;
        for (degree, clause) in degrees.iter_mut().zip(clauses) {
            let here = clause.as_mut().filter(|clause| clause.cursor.doc() <= doc);
            *degree = here.map_or(0.0, |clause| {
                if clause.cursor.advance(doc) == doc { f64::from(clause.cursor.tf()) } else { 0.0 }
            });
            highest = highest.max(*degree);
        }
        for (degree, idf) in degrees.iter_mut().zip(&self.idfs) {
            *degree = *degree / highest * idf;
        }
    }

    fn score(&self, node: &Node, degrees: &[f64]) -> f64 {
        match node {
            Node::Term(term) => degrees[*term],
            Node::Bool { must, should, must_not } => {
                let any = (!should.is_empty())
                    .then(|| self.mean(should.iter().map(|part| self.score(part, degrees))));
                if must.is_empty() && must_not.is_empty() {
                    return any.unwrap_or(0.0);
                }
                let misses = (must.iter().map(|part| 1.0 - self.score(part, degrees)))
                    .chain(must_not.iter().map(|part| self.score(part, degrees)))
                    .chain(any.map(|any| 1.0 - any));
                1.0 - self.mean(misses)
            }
        }
    }

    /// The mean of order p: the largest of the values where p is infinite.
    fn mean(&self, values: impl Iterator<Item = f64>) -> f64 {
        if self.p.is_infinite() {
            return values.fold(0.0, f64::max);
        }
        let (sum, count) =
            values.fold((0.0, 0.0), |(sum, count), value| (sum + value.powf(self.p), count + 1.0));
        (sum / count).powf(1.0 / self.p)
    }
}

/// Marks the terms that are not below an odd number of negations.
fn mark_wanted(node: &Node, negated: bool, wanted: &mut [bool]) {
    match node {
        Node::Term(term) => wanted[*term] |= !negated,
        Node::Bool { must, should, must_not } => {
            must.iter().chain(should).for_each(|part| mark_wanted(part, negated, wanted));
            must_not.iter().for_each(|part| mark_wanted(part, !negated, wanted));
        }
    }
}
