//! A plan: the part of a query that is the same in every leaf.

use std::borrow::Cow;

use super::found::{FoundTerms, LeafTerms, PatternMatches, ValueMatches};
use super::node::PlanNode;
use super::shape::Shape;
use crate::error::Result;
use crate::query::ValueRange;
use crate::schema::Field;
use crate::search::fields::Fields;
use crate::search::leaf::TermRef;
use crate::search::statistics::{FuzzyKey, TermFigures, WeightedTerm};
use crate::search::terms::patterns::PatternMatcher;

/// A query whose terms, fields, patterns and ranges are replaced by their indexes in lists.
pub(crate) struct QueryPlan<'q> {
    /// Every term that occurs in the query, once.
    pub(crate) terms: Vec<PlanTerm<'q>>,
    /// The fields of the query, as places in [`Fields`]; at least one.
    pub(crate) fields: Vec<usize>,
    /// The patterns, each with the index of its field in [`QueryPlan::fields`]. Their terms are looked up in
    /// each leaf.
    pub(crate) patterns: Vec<(usize, PatternMatcher<'q>)>,
    /// The ranges of values.
    pub(crate) ranges: Vec<&'q ValueRange>,
    /// The patterns of values of columns.
    pub(crate) value_patterns: Vec<(Field, PatternMatcher<'q>)>,
    /// The nearest terms of the fuzzy words.
    pub(crate) near: Vec<(FuzzyKey, Vec<WeightedTerm>)>,
    pub(crate) root: PlanNode,
}

/// A term of a plan.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PlanTerm<'q> {
    /// The index of its field in [`QueryPlan::fields`].
    pub(crate) field: usize,
    pub(crate) bytes: Cow<'q, [u8]>,
    /// Terms with the same number share their frequencies: the highest document frequency, and the sum of
    /// total frequencies. A misspelt term is rare, and would otherwise weigh more than the right one.
    pub(super) blend: Option<usize>,
}

impl QueryPlan<'_> {
    /// The shape of the whole query.
    pub(crate) fn shape(&self) -> Shape<'_> {
        Shape::of(&self.root)
    }

    /// The field of a term, as an index into [`QueryPlan::fields`].
    pub(crate) fn field_of(&self, term: usize) -> usize {
        self.terms[term].field
    }

    /// Whether a term shares its frequencies with the other nearest terms of a fuzzy word.
    pub(crate) fn is_blended(&self, term: usize) -> bool {
        self.terms.get(term).is_some_and(|term| term.blend.is_some())
    }

    /// Looks up the terms in all leaves.
    pub(crate) fn find(&self, fields: &Fields) -> Result<FoundTerms> {
        let mut found =
            FoundTerms { leaves: Vec::new(), figures: vec![TermFigures::default(); self.terms.len()] };
        for leaf in 0..fields.leaves() {
            let find = |term: &PlanTerm| fields.leaf(self.fields[term.field], leaf).find(&term.bytes);
            let refs: Vec<Option<TermRef>> = self.terms.iter().map(find).collect::<Result<_>>()?;
            for (sum, term) in found.figures.iter_mut().zip(&refs) {
                sum.doc_freq += term.map_or(0, |term| u64::from(term.doc_freq));
                sum.total_freq += term.map_or(0, |term| term.total_freq);
            }
            let patterns = self.patterns.iter().map(|_| PatternMatches::default()).collect();
            let value_patterns = self.value_patterns.iter().map(|_| ValueMatches::default()).collect();
            found.leaves.push(LeafTerms { refs, patterns, value_patterns });
        }
        for (figures, term) in found.figures.iter_mut().zip(&self.terms) {
            if let Some(of_all) = fields.statistics() {
                *figures = of_all.figures(fields.field_at(self.fields[term.field]), &term.bytes)?;
            }
        }
        self.blend(&mut found.figures);
        Ok(found)
    }

    /// Replaces the frequencies of terms that share them.
    fn blend(&self, figures: &mut [TermFigures]) {
        let mut blends = vec![TermFigures::default(); self.terms.len()];
        for (term, of_term) in self.terms.iter().zip(&*figures) {
            if let Some(blend) = term.blend.and_then(|blend| blends.get_mut(blend)) {
                blend.doc_freq = of_term.doc_freq.max(blend.doc_freq);
                blend.total_freq += of_term.total_freq;
            }
        }
        for (term, of_term) in self.terms.iter().zip(figures) {
            if let Some(&blend) = term.blend.and_then(|blend| blends.get(blend)) {
                *of_term = blend;
            }
        }
    }
}
