//! A search as it was asked for, and its run.

use pyo3::FromPyObject;
use scanns::aggregate::{Aggregated, Aggregation};
use scanns::schema::Field;
use scanns::search::{Collapsed, KeyOrder, KeyPage, Model, NearHits, SortBy, SortKey, SortedHit};
use scanns::{Error, Hit, Query};

use crate::core::Core;
use crate::hits::KeptHit;
use crate::request::{ModelSpec, Order, SortSpec, order_of};

/// What a search is asked for.
#[derive(FromPyObject)]
pub struct SearchRequest {
    pub k: usize,
    pub model: ModelSpec,
    pub sort: Vec<SortSpec>,
    /// The last hit of the page before.
    after: Option<(usize, u32, u32)>,
    /// Aggregations in JSON.
    pub aggregations: String,
    pub timeout: Option<f64>,
    collapse: Option<u32>,
    /// A document that is not a hit.
    without: Option<(usize, u32)>,
}

/// What a search found.
#[derive(Default)]
pub struct Found {
    /// True if hits have scores, which an order by columns does not need.
    pub scored: bool,
    pub hits: Vec<SortedHit>,
    pub near: Vec<u64>,
    pub aggregated: Vec<Aggregated>,
}

/// Hits with their keys.
pub fn with_keys(core: &Core, hits: Vec<SortedHit>) -> scanns::Result<Vec<KeptHit>> {
    let key = |found: SortedHit| {
        Ok(KeptHit { key: core.snapshot.key(&found.hit)?, hit: found.hit, sorted: found.keys })
    };
    hits.into_iter().map(key).collect()
}

fn unsorted(hits: Vec<Hit>) -> Vec<SortedHit> {
    hits.into_iter().map(|hit| SortedHit { hit, keys: Vec::new() }).collect()
}

/// True if an order needs scores; one without keys is by score.
fn has_scores(keys: &[SortKey]) -> bool {
    keys.is_empty() || keys.iter().any(|key| matches!(key.by, SortBy::Score))
}

/// A search with everything that is known about it.
pub struct Asked<'a> {
    pub core: &'a Core,
    pub query: &'a Query,
    /// The field of words without one.
    pub field: Field,
    pub request: &'a SearchRequest,
    pub model: Model,
    pub asked: Vec<Aggregation>,
}

impl Asked<'_> {
    /// Searches within a budget.
    pub fn run(&self, budget: &scanns::search::Budget) -> scanns::Result<Found> {
        let Asked { core, query, field, request, model, asked } = self;
        let (request, model) = (*request, *model);
        let searcher = core.searcher(Some(*field), budget);
        let prepared = searcher.prepare(query)?;
        let order = order_of(core.snapshot.schema(), &request.sort)?;
        let after = request.after.map(|(leaf, doc, score)| Hit { score: f32::from_bits(score), leaf, doc });
        let wanted = request.k.saturating_add(usize::from(request.without.is_some()));
        if let Some(distance) = request.collapse {
            return self.collapsed(&prepared, order, distance);
        }
        let mut found = match order {
            Order::Score => {
                let found = prepared.top_k_and_aggregate(model, wanted, after, asked)?;
                let hits = unsorted(found.hits);
                Found { scored: true, hits, aggregated: found.aggregated, near: Vec::new() }
            }
            Order::Fields(keys) => {
                let scored = has_scores(&keys);
                let after = after.map(|hit| searcher.sorted_hit(&keys, hit)).transpose()?;
                let found =
                    prepared.top_k_sorted_and_aggregate(model, &keys, wanted, after.as_ref(), asked)?;
                Found { scored, hits: found.hits, aggregated: found.aggregated, near: Vec::new() }
            }
            Order::Key(descending) => {
                let order = if descending { KeyOrder::Descending } else { KeyOrder::Ascending };
                let page = KeyPage { order, limit: wanted, after: after.as_ref() };
                let hits = prepared.top_by_key(model, page, |_| {})?;
                let hits = unsorted(hits.into_iter().map(|found| found.hit).collect());
                Found { scored: false, hits, aggregated: prepared.aggregate(asked)?, near: Vec::new() }
            }
        };
        if let Some(without) = request.without {
            found.hits.retain(|found| (found.hit.leaf, found.hit.doc) != without);
            found.hits.truncate(request.k);
        }
        Ok(found)
    }

    fn collapsed(
        &self,
        prepared: &scanns::search::PreparedQuery<'_, '_, '_>,
        order: Order,
        distance: u32,
    ) -> scanns::Result<Found> {
        let Some(field) = self.core.snapshot.sketch_field() else {
            return Err(Error::Unsupported {
                what: "collapse in an index without sketches of texts".into(),
                remedy: "build the index with near_duplicates=True".into(),
            });
        };
        let keys = match order {
            Order::Score => Vec::new(),
            Order::Fields(keys) => keys,
            Order::Key(_) => {
                return Err(Error::Unsupported {
                    what: "collapse in the order of keys".into(),
                    remedy: "sort by score or by columns".into(),
                });
            }
        };
        let without = self.request.without.map(|(leaf, doc)| Hit { score: 0.0, leaf, doc });
        let near = NearHits { field, distance, without };
        let Collapsed { hits, .. } = prepared.top_collapsed(self.model, &keys, self.request.k, near)?;
        let near = hits.iter().map(|kept| kept.near).collect();
        let hits = hits.into_iter().map(|kept| kept.hit).collect();
        Ok(Found { scored: has_scores(&keys), hits, near, aggregated: prepared.aggregate(&self.asked)? })
    }
}
