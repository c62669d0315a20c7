//! The best hits of a query, without those that nearly repeat a better one.

use super::collapse::{KeptHit, collapse_hits};
use crate::column::ColumnCursor;
use crate::error::Result;
use crate::schema::Field;
use crate::search::aggregate::{SortKey, SortedHit};
use crate::search::prepared::PreparedQuery;
use crate::search::similarity::Model;
use crate::search::top_k::Hit;

/// The least number of hits that are compared at first, and their number for each hit that is wanted.
const FIRST: usize = 1000;
const FIRST_PER_HIT: usize = 10;

/// The maximum number of hits that are compared, unless more are wanted.
const MOST: usize = 1 << 20;

/// How near-duplicates among hits are found.
#[derive(Clone, Copy, Debug)]
pub struct NearHits {
    /// The column of sketches: [`Snapshot::sketch_field`](crate::Snapshot::sketch_field).
    pub field: Field,
    /// The maximum number of bits in which the sketches of near-duplicates differ, such as
    /// [`NEAR_DISTANCE`](crate::search::NEAR_DISTANCE), up to
    /// [`MOST_DISTANCE`](crate::search::MOST_DISTANCE).
    pub distance: u32,
    /// A document that is no hit, such as the one that others are to be similar to.
    pub without: Option<Hit>,
}

/// Hits without near-duplicates.
#[derive(Clone, Debug)]
pub struct Collapsed {
    /// The best hits, in order. Their keys are empty if they are sorted by score.
    pub hits: Vec<KeptHit<SortedHit>>,
    /// The number of best hits that were compared.
    pub seen: usize,
    /// True if these are all hits of the query. Otherwise, later hits may also nearly repeat one of them.
    pub is_all: bool,
}

impl PreparedQuery<'_, '_, '_> {
    /// Finds the first `k` hits that do not nearly repeat a better one, and counts for each how many later
    /// ones nearly repeat it. Hits are in the order by `keys`, or by descending score if there are none.
    ///
    /// Every hit is compared with the hits that are kept. Documents without a sketch are kept. The best
    /// 1,000 hits are compared, or ten times `k`, and up to a million if fewer than `k` of them are kept.
    ///
    /// # Errors
    /// The errors of [`PreparedQuery::top_k`] and [`PreparedQuery::top_k_sorted`];
    /// [`Error::Corrupt`](crate::Error::Corrupt) if sketches cannot be read.
    pub fn top_collapsed(
        &self,
        model: Model,
        keys: &[SortKey],
        k: usize,
        near: NearHits,
    ) -> Result<Collapsed> {
        let mut wanted = k.saturating_mul(FIRST_PER_HIT).max(FIRST);
        loop {
            let mut hits = self.best_in_order(model, keys, wanted)?;
            let is_all = hits.len() < wanted;
            hits.retain(|found| near.without.is_none_or(|one| !is_same(&found.hit, &one)));
            let seen = hits.len();
            let sketches = self.sketches(&hits, near.field)?;
            let kept = collapse_hits(hits.into_iter().zip(sketches), near.distance, k);
            if is_all || kept.len() >= k || wanted >= MOST {
                return Ok(Collapsed { hits: kept, seen, is_all });
            }
            wanted = wanted.saturating_mul(4).min(MOST);
        }
    }

    fn best_in_order(&self, model: Model, keys: &[SortKey], count: usize) -> Result<Vec<SortedHit>> {
        if !keys.is_empty() {
            return self.top_k_sorted(model, keys, count, None);
        }
        let hits = self.top_k(model, count)?;
        Ok(hits.into_iter().map(|hit| SortedHit { hit, keys: Vec::new() }).collect())
    }

    /// The sketch of each hit. They are read in the order of the index, so that each block is read once.
    fn sketches(&self, hits: &[SortedHit], field: Field) -> Result<Vec<Option<u64>>> {
        let place = |at: usize| hits.get(at).map(|found| (found.hit.leaf, found.hit.doc));
        let mut order: Vec<usize> = (0..hits.len()).collect();
        order.sort_unstable_by_key(|&at| place(at));
        let mut sketches = vec![None; hits.len()];
        let mut cursor: Option<(usize, Option<ColumnCursor<'_>>)> = None;
        for at in order {
            let (Some((leaf, doc)), Some(sketch)) = (place(at), sketches.get_mut(at)) else { continue };
            if cursor.as_ref().is_none_or(|(of, _)| *of != leaf) {
                cursor = Some((leaf, self.searcher.column_in(leaf, field).map(ColumnCursor::new)));
            }
            if let Some((_, Some(cursor))) = &mut cursor {
                *sketch = cursor.first(doc)?;
            }
        }
        Ok(sketches)
    }
}

fn is_same(one: &Hit, other: &Hit) -> bool {
    (one.leaf, one.doc) == (other.leaf, other.doc)
}
