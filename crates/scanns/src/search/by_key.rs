//! Hits sorted by key, one page at a time.
//!
//! Every hit is visited and its key is read, which takes about a microsecond. Only the hits of one page are
//! kept.

use serde::{Deserialize, Serialize};

use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::prepared::PreparedQuery;
use super::searcher::Searcher;
use super::similarity::Model;
use super::top_k::Hit;
use crate::error::Result;
use crate::query::Query;
use crate::search::exec::strategy::Want;

/// An order by the bytes of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeyOrder {
    /// The least key first.
    Ascending,
    /// The greatest key first.
    Descending,
}

/// Hits between two reports of progress.
const STEP: u64 = 1 << 14;

/// A hit in an order. Hits with equal keys are in document order in both orders.
struct Ordered {
    order: KeyOrder,
    key: Vec<u8>,
    hit: Hit,
}

impl Ordered {
    fn cmp_to(&self, key: &[u8], hit: &Hit) -> std::cmp::Ordering {
        let keys = match self.order {
            KeyOrder::Ascending => self.key.as_slice().cmp(key),
            KeyOrder::Descending => key.cmp(self.key.as_slice()),
        };
        keys.then_with(|| (self.hit.leaf, self.hit.doc).cmp(&(hit.leaf, hit.doc)))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.cmp_to(&other.key, &other.hit)
    }
}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ordered {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered {}

/// A request for a page of hits sorted by key.
#[derive(Clone, Copy, Debug)]
pub struct KeyPage<'h> {
    /// The order of the keys.
    pub order: KeyOrder,
    /// The maximum number of hits of the page.
    pub limit: usize,
    /// The last hit of the previous page, if there is one.
    pub after: Option<&'h Hit>,
}

/// A hit and its key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeyedHit {
    /// The key of the document.
    #[serde(with = "serde_bytes")]
    pub key: Vec<u8>,
    /// The hit, with its score.
    pub hit: Hit,
}

impl Searcher<'_> {
    /// Finds a page of hits sorted by key; see [`PreparedQuery::top_by_key`].
    pub fn top_by_key(
        &self,
        query: &Query,
        model: Model,
        page: KeyPage<'_>,
        progress: impl FnMut(u64) + Send,
    ) -> Result<Vec<KeyedHit>> {
        self.prepare(query)?.top_by_key(model, page, progress)
    }
}

impl PreparedQuery<'_, '_, '_> {
    /// Finds a page of hits sorted by key. Hits with equal keys are in document order. Hits have their scores
    /// under the model.
    ///
    /// `progress` is called now and then with the number of hits visited so far. The calls come from the
    /// threads that visit hits, one at a time.
    ///
    /// # Errors
    /// The errors of [`PreparedQuery::for_each`], and [`Error::UnknownHit`](crate::Error::UnknownHit) if
    /// `page.after` does not belong to the searcher.
    pub fn top_by_key(
        &self,
        model: Model,
        page: KeyPage<'_>,
        progress: impl FnMut(u64) + Send,
    ) -> Result<Vec<KeyedHit>> {
        let KeyPage { order, limit, after } = page;
        let after = match after {
            Some(hit) => Some(Ordered { order, key: self.searcher.key(hit)?, hit: *hit }),
            None => None,
        };
        model.check()?;
        let ranges = self.ranges(Want::Keys);
        let (seen, progress) = (AtomicU64::new(0), Mutex::new(progress));
        let tell = |more: usize| {
            let before = seen.fetch_add(more as u64, Ordering::Relaxed);
            let now = before + more as u64;
            // If another thread is reporting progress, this thread does not.
            if before / STEP != now / STEP
                && let Ok(mut progress) = progress.try_lock()
            {
                // Other threads may have seen more hits since then.
                progress(seen.load(Ordering::Relaxed));
            }
        };
        let mut kept = Vec::new();
        self.run(model, &mut |run| {
            kept = ranges.fold(self.fields().clock(), BinaryHeap::new, |kept, range| {
                let mut failed = None;
                let flow = self.live(range, run.in_range, &mut |docs, scores| {
                    tell(docs.len());
                    let mut hits =
                        docs.iter().zip(scores).map(|(&doc, &score)| Hit { score, leaf: range.leaf, doc });
                    hits.try_for_each(|hit| match self.searcher.key(&hit) {
                        Ok(key) => {
                            keep(kept, limit, Ordered { order, key, hit }, after.as_ref());
                            ControlFlow::Continue(())
                        }
                        Err(error) => {
                            failed = Some(error);
                            ControlFlow::Break(())
                        }
                    })
                });
                failed.map_or(flow, Err)
            })?;
            Ok(())
        })?;
        let mut best: Vec<Ordered> = kept.into_iter().flatten().collect();
        best.sort_unstable();
        best.truncate(limit);
        Ok(best.into_iter().map(|one| KeyedHit { key: one.key, hit: one.hit }).collect())
    }
}

/// Adds a hit to the first `k` if it comes after `after`. The last of the `k` hits is at the top of the heap.
fn keep(kept: &mut BinaryHeap<Ordered>, k: usize, one: Ordered, after: Option<&Ordered>) {
    if after.is_none_or(|after| one > *after) {
        if kept.len() < k {
            kept.push(one);
        } else if let Some(mut last) = kept.peek_mut()
            && one < *last
        {
            *last = one;
        }
    }
}
