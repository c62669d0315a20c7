//! Filters as a bit for each document, under which the rest of a query runs as if the other documents were
//! deleted.
//!
//! So a query with filters has the algorithms of the query without them, and skips what cannot compete.

use std::sync::Arc;

use crate::codec::count_ones;
use crate::error::Result;
use crate::search::exec::bound_terms::BoundTerms;
use crate::search::exec::match_bits;
use crate::search::exec::rare_term::RARE;
use crate::search::exec::view::View;
use crate::search::filter_cache::FilterBits;
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
    /// The documents of the filters, if they are known from another query.
    known: Option<Arc<FilterBits>>,
    /// Documents of the view that match the rest at most, if they are spread evenly over the leaf.
    most: u64,
}

impl Masked<'_> {
    /// A bit for each document of the leaf that is in the view and matches the filters.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if lists or columns cannot be read.
    pub(crate) fn bits(&self, view: &View, terms: BoundTerms<()>) -> Result<Arc<FilterBits>> {
        if let Some(known) = &self.known {
            return Ok(known.clone());
        }
        let words = match_bits::mask(&self.filtered.filters, view, terms)?;
        let bits = Arc::new(FilterBits { matches: count_ones(&words), words });
        if let Some(key) = &self.filtered.key {
            view.keep_filter(key, &bits);
        }
        Ok(bits)
    }

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
    let known = filtered.key.as_ref().and_then(|key| view.kept_filter(key));
    let masked = Masked { filtered, shape, known, most: view.share_of(of_leaf) };
    if masked.known.is_some() {
        return Some(masked);
    }
    let rarest = filtered.required_terms().map(|term| found.doc_freq(term)).min();
    let is_selective = rarest.is_some_and(|rarest| masked.is_selective(view.share_of(rarest.into())));
    (of_leaf * RARE > u64::from(view.end - view.first) && !is_selective).then_some(masked)
}
