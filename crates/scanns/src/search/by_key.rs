//! Hits in the order of their keys, a page at a time.
//!
//! All hits are visited, and the key of each is read, which takes about a microsecond; those of one page are kept.

use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use super::query::Query;
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
    /// hits were seen.
    ///
    /// # Errors
    /// Those of [`Searcher::for_each`], and [`Error::Options`] if `after` is no document that there is.
    pub fn top_by_key(
        &self,
        query: &Query,
        model: Model,
        (k, order): (usize, KeyOrder),
        after: Option<&Hit>,
        mut progress: impl FnMut(u64),
    ) -> Result<Vec<(Vec<u8>, Hit)>> {
        let after = match after {
            Some(hit) => Some(Ordered { order, key: self.key(hit)?, hit: *hit }),
            None => None,
        };
        // The last of those that are kept is on top.
        let mut kept: BinaryHeap<Ordered> = BinaryHeap::new();
        let mut seen = 0;
        let mut outcome = Ok(());
        self.for_each(query, model, |hit| {
            seen += 1;
            if seen % STEP == 0 {
                progress(seen);
            }
            let key = match self.key(&hit) {
                Ok(key) => key,
                Err(error) => {
                    outcome = Err(error);
                    return ControlFlow::Break(());
                }
            };
            let one = Ordered { order, key, hit };
            if after.as_ref().is_none_or(|after| one > *after) {
                if kept.len() < k {
                    kept.push(one);
                } else if let Some(mut last) = kept.peek_mut()
                    && one < *last
                {
                    *last = one;
                }
            }
            ControlFlow::Continue(())
        })?;
        outcome?;
        Ok(kept.into_sorted_vec().into_iter().map(|one| (one.key, one.hit)).collect())
    }
}
