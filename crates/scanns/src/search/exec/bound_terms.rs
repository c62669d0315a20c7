//! The terms of a plan, bound to a leaf: their lists, weights and scorers.

use crate::codec::ListCursor;
use crate::error::Result;
use crate::search::exec::view::View;
use crate::search::leaf::ListSource;
use crate::search::plan::QueryPlan;
use crate::search::plan::found::{LeafJoin, LeafTerms};
use crate::search::plan::shape::Boosted;
use crate::search::similarity::{Scorer, Similarity, Weight};

/// A term of the query with its postings in a leaf.
pub(crate) struct Clause<'a, S> {
    pub(crate) cursor: ListCursor<'a>,
    pub(crate) scorer: Scorer<'a, S>,
}

/// The data about the terms of a plan that a leaf needs, by the numbers of the terms.
pub(crate) struct BoundTerms<'t, S> {
    pub(crate) plan: &'t QueryPlan<'t>,
    pub(crate) found: LeafTerms<'t>,
    /// By join.
    pub(crate) joins: &'t [LeafJoin],
    /// By term, without the boosts of the query.
    pub(crate) weights: &'t [f64],
    /// By field of the plan.
    pub(crate) similarities: &'t [S],
}

impl<S> Clone for BoundTerms<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for BoundTerms<'_, S> {}

impl<'t> BoundTerms<'t, ()> {
    /// Terms that are only matched, not scored.
    pub(crate) fn unscored(plan: &'t QueryPlan<'t>, found: LeafTerms<'t>) -> Self {
        BoundTerms { plan, found, joins: found.joins, weights: &[], similarities: &[] }
    }
}

impl<'t, S> BoundTerms<'t, S> {
    /// The postings of `term`; `None` if the leaf does not contain it.
    pub(crate) fn source<'a>(&self, view: &View<'a>, term: usize) -> Result<Option<ListSource<'a>>> {
        match &self.found.refs[term] {
            Some(found) => view.through(self.plan.field_of(term)).postings(found).map(Some),
            None => Ok(None),
        }
    }

    /// The postings of all terms.
    pub(crate) fn sources<'a>(&self, view: &View<'a>) -> Result<Vec<Option<ListSource<'a>>>> {
        (0..self.found.refs.len()).map(|term| self.source(view, term)).collect()
    }

    /// The number of documents of the leaf that contain a term.
    pub(crate) fn doc_freq(&self, term: usize) -> u32 {
        self.found.doc_freq(term)
    }

    /// A cursor over the postings of a term.
    pub(crate) fn cursor<'s>(
        &self,
        view: &View<'s>,
        term: usize,
        source: &'s ListSource,
    ) -> Result<ListCursor<'s>> {
        source.cursor(self.doc_freq(term), view.max_doc)
    }
}

impl<'t, S: Similarity> BoundTerms<'t, S> {
    /// A clause over the postings that [`BoundTerms::source`] returned.
    pub(crate) fn clause<'s>(
        &self,
        view: &View<'s>,
        boosted: Boosted,
        source: &'s ListSource,
    ) -> Result<Clause<'s, S>>
    where
        't: 's,
    {
        let Boosted { term, boost } = boosted;
        let field = self.plan.field_of(term);
        let weight = self.similarities[field].boosted(self.weights[term], boost);
        Ok(Clause { cursor: self.cursor(view, term, source)?, scorer: self.scorer(view, field, weight) })
    }

    /// True if impacts bound the scores of all fields.
    pub(crate) fn are_bounded(&self) -> bool {
        self.similarities.iter().all(Similarity::is_bounded)
    }

    /// A scorer with this weight in a field of the plan.
    pub(crate) fn scorer<'s>(&self, view: &View<'s>, field: usize, weight: Weight) -> Scorer<'s, S>
    where
        't: 's,
    {
        Scorer { weight, norms: view.norms(field), similarity: &self.similarities[field] }
    }
}
