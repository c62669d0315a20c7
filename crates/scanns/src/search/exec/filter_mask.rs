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

/// The filters of a plan and the shape of its rest, if a mask of the filters pays in this view.
///
/// If few documents match the rest, these are looked up instead. If the rest has no algorithm of its own,
/// filters and clauses are better matched together.
pub(crate) fn masked<'p>(
    plan: &'p QueryPlan,
    view: &View,
    found: LeafTerms,
) -> Option<(&'p FilteredPlan, Shape<'p>)> {
    let filtered = plan.filtered.as_ref()?;
    if view.hides_fields() {
        return None;
    }
    let shape = Shape::of(&filtered.rest);
    let most = shape.most_matches(found)?;
    (most * RARE > u64::from(view.end - view.first)).then_some((filtered, shape))
}
