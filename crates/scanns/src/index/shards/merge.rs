//! Puts the hits of all shards in one order.

use super::message::{FoundHit, ShardOrder};
use crate::search::aggregate::{SortedHit, compare};
use crate::search::{Hit, KeyOrder, SortKey};

/// Bits for the number of a leaf within its shard.
const LEAF_BITS: u32 = 32;

/// The place of a hit among those of all shards, which orders hits as a single index would.
pub(super) fn in_shard(shard: usize, hit: Hit) -> Hit {
    Hit { leaf: shard << LEAF_BITS | hit.leaf, ..hit }
}

/// The shard of a hit, and its place there.
pub(super) fn of_shard(hit: Hit) -> (usize, Hit) {
    let leaf = hit.leaf & ((1 << LEAF_BITS) - 1);
    (hit.leaf >> LEAF_BITS, Hit { leaf, ..hit })
}

/// Sorts hits of several shards, whose places are those among all shards.
pub(super) fn sort(hits: &mut [FoundHit], order: &ShardOrder) {
    let place = |found: &FoundHit| (found.hit.leaf, found.hit.doc);
    match order {
        ShardOrder::Score => {
            hits.sort_by(|a, b| b.hit.score.total_cmp(&a.hit.score).then_with(|| place(a).cmp(&place(b))))
        }
        ShardOrder::Key(order) => hits.sort_by(|a, b| {
            let keys = match order {
                KeyOrder::Ascending => a.key.cmp(&b.key),
                KeyOrder::Descending => b.key.cmp(&a.key),
            };
            keys.then_with(|| place(a).cmp(&place(b)))
        }),
        ShardOrder::Fields(keys) => sort_by_fields(hits, keys),
    }
}

/// Sorts hits by values.
pub(super) fn sort_by_fields(hits: &mut [FoundHit], keys: &[SortKey]) {
    let sorted = |found: &FoundHit| SortedHit { hit: found.hit, keys: found.keys.clone() };
    hits.sort_by_cached_key(|found| ByKeys { keys, hit: sorted(found) });
}

struct ByKeys<'k> {
    keys: &'k [SortKey],
    hit: SortedHit,
}

impl Ord for ByKeys<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        compare(self.keys, &self.hit, &other.hit)
    }
}

impl PartialOrd for ByKeys<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByKeys<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ByKeys<'_> {}
