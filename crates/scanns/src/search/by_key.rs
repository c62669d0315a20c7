//! Hits in the order of their keys, a page at a time.
//!
//! All hits are visited, and the key of each is read, which takes about a microsecond; those of one page are kept.

use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::plan::Plan;
use super::query::Query;
use super::share::Want;
use super::{Hit, Model, Searcher};
use crate::error::Result;

/// An order by the bytes of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOrder {
    /// The least first.
    Ascending,
    /// The greatest first.
    Descending,
}

/// Hits between two calls for progress.
const STEP: u64 = 1 << 14;

/// A hit in an order; of equal keys the one that comes first in the order of documents is first, in both orders.
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

impl Searcher<'_> {
    /// The first `k` hits with their keys in an order by key, of those that come after the hit `after` if there is
    /// one; equal keys are in document order. Scores are those of the model. `progress` is told now and then how many
    /// hits were seen, by the threads that see them, one at a time.
    ///
    /// # Errors
    /// Those of [`Searcher::for_each`], and [`Error::Options`] if `after` is no document that there is.
    pub fn top_by_key(
        &self,
        query: &Query,
        model: Model,
        (k, order): (usize, KeyOrder),
        after: Option<&Hit>,
        progress: impl FnMut(u64) + Send,
    ) -> Result<Vec<(Vec<u8>, Hit)>> {
        let after = match after {
            Some(hit) => Some(Ordered { order, key: self.key(hit)?, hit: *hit }),
            None => None,
        };
        model.check()?;
        let plan = Plan::new(query, &self.fields)?;
        let found = plan.find(&self.fields)?;
        let parts = self.parts(&plan, &found, Want::Keys);
        let (seen, progress) = (AtomicU64::new(0), Mutex::new(progress));
        let tell = |more: usize| {
            let before = seen.fetch_add(more as u64, Ordering::Relaxed);
            let now = before + more as u64;
            // Whoever finds another thread at it leaves it to that.
            if before / STEP != now / STEP
                && let Ok(mut progress) = progress.try_lock()
            {
                // Others may have told of more meanwhile.
                progress(seen.load(Ordering::Relaxed));
            }
        };
        let mut kept = Vec::new();
        self.run(&plan, &found, model, &mut |job| {
            kept = self.fold(&parts, BinaryHeap::new, |kept, part| {
                let mut failed = None;
                let flow = self.live(&plan, part, job, &mut |docs, scores| {
                    tell(docs.len());
                    let mut hits =
                        docs.iter().zip(scores).map(|(&doc, &score)| Hit { score, leaf: part.leaf, doc });
                    hits.try_for_each(|hit| match self.key(&hit) {
                        Ok(key) => {
                            keep(kept, k, Ordered { order, key, hit }, after.as_ref());
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
        best.truncate(k);
        Ok(best.into_iter().map(|one| (one.key, one.hit)).collect())
    }
}

/// Puts one among the first `k`, of which the last is on top, if it comes after `after`.
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
