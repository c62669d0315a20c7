//! A query that is planned and whose terms are looked up, for any number of requests.

use super::fields::Fields;
use super::leaf::{LeafStats, TermFigures};
use super::parallel::{LeafRange, SearchRanges};
use super::plan::QueryPlan;
use super::plan::found::FoundTerms;
use super::searcher::Searcher;
use super::statistics::TermStatistics;
use crate::error::Result;
use crate::query::Query;
use crate::search::exec::bound_terms::BoundTerms;
use crate::search::exec::pnorm::PNorm;
use crate::search::exec::strategy::Want;
use crate::search::exec::view::View;
use crate::search::similarity::Similarity;

/// A query over the leaves of a searcher, planned once, with its terms looked up in every leaf.
///
/// ```
/// use scanns::query::Operator;
/// use scanns::schema::{Document, FieldEntry, FieldKind, Schema, Value};
/// use scanns::{Index, search::Model};
///
/// # fn main() -> scanns::Result<()> {
/// # let place = tempfile::tempdir().unwrap();
/// # let path = place.path().join("files.scanns");
/// let mut schema = Schema::new();
/// let text = schema.add(FieldEntry::text("text"))?;
/// let size = schema.add(FieldEntry::new("size", FieldKind::Unsigned).column())?;
/// let index = Index::create(&path, &schema)?;
/// let writer = index.writer()?;
/// writer.add(&Document::new("a").text(text, "red apple").with(size, Value::Unsigned(30)))?;
/// writer.add(&Document::new("b").text(text, "red cherry").with(size, Value::Unsigned(12)))?;
/// writer.commit()?;
///
/// let snapshot = index.snapshot()?;
/// let searcher = snapshot.searcher();
/// let query = snapshot.parse("red", Operator::Or)?;
/// let prepared = searcher.prepare(&query)?;
/// assert_eq!(prepared.count()?, 2);
/// assert_eq!(prepared.top_k(Model::Classic, 1)?.len(), 1);
/// for hit in prepared.hits(Model::Classic)? {
///     println!("{}", String::from_utf8_lossy(&snapshot.key(&hit?)?));
/// }
/// # Ok(())
/// # }
/// ```
pub struct PreparedQuery<'s, 'a, 'q> {
    pub(crate) searcher: &'s Searcher<'a>,
    pub(crate) query: &'q Query,
    pub(crate) plan: QueryPlan<'q>,
    pub(crate) found: FoundTerms,
    /// By join: the query inside.
    pub(crate) joined: Vec<Self>,
}

/// The similarity of each field of a plan, and the weight of each term.
pub(crate) struct Weights<S> {
    pub(crate) similarities: Vec<S>,
    pub(crate) weights: Vec<f64>,
}

impl<'a> Searcher<'a> {
    /// Plans a query and looks its terms up, so that several requests share this work.
    ///
    /// # Errors
    /// An error if the query is nested too deep, has too many clauses, or names a field that cannot be
    /// searched; [`Error::Corrupt`](crate::Error::Corrupt) if terms cannot be read.
    pub fn prepare<'s, 'q>(&'s self, query: &'q Query) -> Result<PreparedQuery<'s, 'a, 'q>> {
        let plan = QueryPlan::new(query, &self.fields)?;
        self.prepare_plan(query, plan)
    }

    /// Plans a query whose hits are only counted.
    pub(crate) fn prepare_count<'s, 'q>(&'s self, query: &'q Query) -> Result<PreparedQuery<'s, 'a, 'q>> {
        let plan = QueryPlan::counted(query, &self.fields)?;
        self.prepare_plan(query, plan)
    }

    fn prepare_plan<'s, 'q>(
        &'s self,
        query: &'q Query,
        mut plan: QueryPlan<'q>,
    ) -> Result<PreparedQuery<'s, 'a, 'q>> {
        let found = plan.find(&self.fields)?;
        let inside = plan.joins.iter_mut().filter_map(|join| Some((&*join.query.query, join.inside.take()?)));
        let joined = inside.map(|(query, plan)| self.prepare_plan(query, plan)).collect::<Result<_>>()?;
        Ok(PreparedQuery { searcher: self, query, plan, found, joined })
    }
}

impl<'a> PreparedQuery<'_, 'a, '_> {
    /// Adds the statistics of the terms of the query in these documents.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the lists of terms cannot be read, as a view does.
    pub(crate) fn add_statistics(&self, all: &mut TermStatistics) -> Result<()> {
        let (plan, fields) = (&self.plan, self.fields());
        let fuzzy = plan.near.iter().filter_map(|(word, _)| fields.place_of(word.field));
        for place in plan.fields.iter().copied().chain(fuzzy) {
            all.put_field(fields.field_at(place), fields.own_stats(place)?);
        }
        for (term, figures) in plan.terms.iter().zip(plan.own_figures(fields, &self.found)?) {
            all.put_term(fields.field_at(plan.fields[term.field]), &term.bytes, figures);
        }
        plan.near.iter().for_each(|(word, near)| all.put_near(word, near));
        Ok(())
    }

    pub(crate) fn fields(&self) -> &Fields<'a> {
        &self.searcher.fields
    }

    /// The ranges of documents that threads work on.
    pub(crate) fn ranges(&self, want: Want) -> SearchRanges<'a> {
        SearchRanges::new(self.fields(), self.searcher.threads, &self.plan.shape(), &self.found, want)
    }

    /// A range of documents, seen through the fields of the plan.
    pub(crate) fn view(&self, range: &LeafRange) -> Result<View<'a>> {
        Ok(View::new(self.fields(), &self.plan, range.leaf)?.between(range.first, range.end))
    }

    /// The terms in a leaf, for matching without scores.
    pub(crate) fn unscored(&self, leaf: usize) -> BoundTerms<'_, ()> {
        BoundTerms::unscored(&self.plan, self.found.in_leaf(leaf))
    }

    /// The frequencies of each term over all documents.
    pub(crate) fn figures(&self) -> Result<&[TermFigures]> {
        self.plan.figures(self.fields(), &self.found)
    }

    /// The sizes of a field of the plan.
    pub(crate) fn stats_of(&self, field: usize) -> Result<LeafStats> {
        self.fields().stats(self.plan.fields[field])
    }

    /// Weighs the terms by a similarity.
    pub(crate) fn weigh<S: Similarity>(&self, similarity: impl Fn(&LeafStats) -> S) -> Result<Weights<S>> {
        let fields = 0..self.plan.fields.len();
        let similarities: Vec<S> =
            fields.map(|field| Ok(similarity(&self.stats_of(field)?))).collect::<Result<_>>()?;
        let weigh = |(term, figures): (usize, &TermFigures)| {
            similarities[self.plan.field_of(term)].weight(figures.doc_freq, figures.total_freq)
        };
        let weights = self.figures()?.iter().enumerate().map(weigh).collect();
        Ok(Weights { similarities, weights })
    }

    /// The extended Boolean model for the terms of the query.
    pub(crate) fn soft(&self, p: f64) -> Result<PNorm> {
        let terms = self.figures()?.iter().enumerate();
        let terms: Vec<(u64, LeafStats)> = terms
            .map(|(term, figures)| Ok((figures.doc_freq, self.stats_of(self.plan.field_of(term))?)))
            .collect::<Result<_>>()?;
        Ok(PNorm::new(p, terms.into_iter()))
    }
}
