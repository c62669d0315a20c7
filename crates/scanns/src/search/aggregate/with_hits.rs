//! Hits and aggregations of one query together.

use super::aggregation::Aggregations;
use super::answer::Aggregated;
use super::collector::TopHits;
use super::request::Aggregation;
use super::sort::{SortedHit, SortedHits};
use super::sort_key::SortKey;
use crate::error::Result;
use crate::search::exec::strategy::Want;
use crate::search::prepared::PreparedQuery;
use crate::search::similarity::Model;
use crate::search::top_k::Hit;

/// A page of hits, and the answers to aggregations over all matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered<H> {
    /// The hits of the page.
    pub hits: Vec<H>,
    /// The answers, in the order of the aggregations.
    pub aggregated: Vec<Aggregated>,
}

impl PreparedQuery<'_, '_, '_> {
    /// Finds the best `k` hits, with `after` only those that come after it, and answers aggregations over all
    /// matches.
    ///
    /// If every match must be scored anyway, one pass does both. Otherwise hits are found with pruning and
    /// aggregations without scores; together this is several times faster than scoring every match.
    ///
    /// # Errors
    /// The errors of [`PreparedQuery::top_k_after`] and [`PreparedQuery::aggregate`].
    pub fn top_k_and_aggregate(
        &self,
        model: Model,
        k: usize,
        after: Option<Hit>,
        asked: &[Aggregation],
    ) -> Result<Answered<Hit>> {
        let in_one_pass = k > 0 && !asked.is_empty() && self.ranges(Want::All).help.is_none();
        if !in_one_pass || self.may_prune(model)? {
            let hits = match after {
                Some(after) => self.top_k_after(model, k, after)?,
                None => self.top_k(model, k)?,
            };
            return Ok(Answered { hits, aggregated: self.aggregate(asked)? });
        }
        if let Some(after) = &after {
            self.searcher.leaf_of(after)?;
        }
        let (mut top, mut aggregations) = (TopHits::new(k, after), Aggregations::new(self.searcher, asked)?);
        self.collect(model, &mut (&mut top, &mut aggregations))?;
        Ok(Answered { hits: top.finish(), aggregated: aggregations.finish(self)? })
    }

    /// Finds the first `k` hits in an order, see [`PreparedQuery::top_k_sorted`], and answers aggregations
    /// over all matches. This takes one pass, unless several threads share the aggregations.
    ///
    /// # Errors
    /// The errors of [`PreparedQuery::top_k_sorted`] and [`PreparedQuery::aggregate`].
    pub fn top_k_sorted_and_aggregate(
        &self,
        model: Model,
        keys: &[SortKey],
        k: usize,
        after: Option<&SortedHit>,
        asked: &[Aggregation],
    ) -> Result<Answered<SortedHit>> {
        let mut sorted = SortedHits::new(self.searcher, keys, k, after)?;
        let is_shared = asked.len() > 1 && self.ranges(Want::All).help.is_some();
        if k == 0 || asked.is_empty() || is_shared {
            let hits = self.top_k_sorted(model, keys, k, after)?;
            return Ok(Answered { hits, aggregated: self.aggregate(asked)? });
        }
        let mut aggregations = Aggregations::new(self.searcher, asked)?;
        self.collect(model, &mut (&mut sorted, &mut aggregations))?;
        Ok(Answered { hits: sorted.finish()?, aggregated: aggregations.finish(self)? })
    }
}
