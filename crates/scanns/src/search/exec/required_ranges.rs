//! Several ranges of values that documents must all be in.
//!
//! Comparing all values of a column takes a nanosecond for each, and looking up one some ten. So once few
//! documents are left, they are looked up in the other columns.

use crate::error::Result;
use crate::search::doc_set::DocSet;
use crate::search::exec::bound_terms::BoundTerms;
use crate::search::exec::rare_term::RARE;
use crate::search::exec::value_filter;
use crate::search::exec::view::View;

impl<S> BoundTerms<'_, S> {
    /// The sets of documents in these ranges of values, numbers in `QueryPlan::ranges`. A document that
    /// another set does not contain may be left out, and so may a set if another contains none but its
    /// documents. If only the documents `among` matter, others may be left out.
    pub(crate) fn in_ranges(
        &self,
        view: &View,
        ranges: &[usize],
        among: Option<&[u32]>,
    ) -> Result<Vec<DocSet>> {
        let mut order = Vec::with_capacity(ranges.len());
        for &range in ranges {
            let most =
                if ranges.len() > 1 { value_filter::at_most(view, self.plan.ranges[range])? } else { 0 };
            order.push((most, range));
        }
        order.sort_unstable();
        let limit = u64::from(view.end - view.first) / RARE;
        let mut sets: Vec<DocSet> = Vec::with_capacity(ranges.len());
        // The place of a small set, and its documents.
        let mut few: Option<(usize, Vec<u32>)> = None;
        for (_, range) in order {
            let wanted = few.as_ref().map(|(_, docs)| docs.as_slice()).or(among);
            let found = value_filter::filter(view, self.plan.ranges[range], wanted)?;
            // What was looked up among the documents of a small set replaces it.
            let place = few.take().filter(|_| matches!(found, DocSet::Numbers(_))).map(|(place, _)| place);
            let place = place.unwrap_or(sets.len());
            if ranges.len() > 1 {
                few = found.few(limit).map(|docs| (place, docs));
            }
            match sets.get_mut(place) {
                Some(set) => *set = found,
                None => sets.push(found),
            }
        }
        Ok(sets)
    }
}
