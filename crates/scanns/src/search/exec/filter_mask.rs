//! Filters as a bit for each document, under which the rest of a query runs as if the other documents were
//! deleted.
//!
//! So a query with filters has the algorithms of the query without them, and skips what cannot compete.

use crate::search::exec::rare_term::RARE;
use crate::search::exec::view::View;
use crate::search::plan::QueryPlan;
use crate::search::plan::filtered::FilteredPlan;
use crate::search::plan::found::LeafTerms;
use crate::search::plan::shape::Shape;

/// If a filter matches one document for this many postings of the rest, or fewer, looking for these documents
/// in the lists takes less time than the algorithms for all documents.
const SELECTIVE: u64 = 256;

/// The filters of a plan, and the shape of its rest.
pub(crate) struct Masked<'p> {
    pub(crate) filtered: &'p FilteredPlan,
    pub(crate) shape: Shape<'p>,
    /// Documents of the view that match the rest at most, if they are spread evenly over the leaf.
    most: u64,
}

impl Masked<'_> {
    /// True if so few documents match the filters that they lead.
    pub(crate) fn is_selective(&self, matches: u64) -> bool {
        matches * SELECTIVE < self.most
    }
}

/// The filters of a plan and its rest, if a mask of the filters pays in this view.
///
/// If few documents match the rest or the filters, these are looked up instead. If the rest has no algorithm
/// of its own, filters and clauses are better matched together.
pub(crate) fn masked<'p>(plan: &'p QueryPlan, view: &View, found: LeafTerms) -> Option<Masked<'p>> {
    let filtered = plan.filtered.as_ref()?;
    if view.hides_fields() {
        return None;
    }
    let shape = Shape::of(&filtered.rest);
    let of_leaf = shape.most_matches(found)?;
    let masked = Masked { filtered, shape, most: view.share_of(of_leaf) };
    let rarest = filtered.required_terms().map(|term| found.doc_freq(term)).min();
    let is_selective = rarest.is_some_and(|rarest| masked.is_selective(view.share_of(rarest.into())));
    (of_leaf * RARE > u64::from(view.end - view.first) && !is_selective).then_some(masked)
}
