//! Chooses the buckets to show.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::answer::Buckets;
use super::request::TermsOrder;
use crate::column::DictionaryReader;
use crate::error::Result;

/// Takes all buckets and keeps the buckets to show.
#[derive(Debug)]
pub(crate) struct BucketChooser<K> {
    limit: usize,
    min_count: u64,
    order: TermsOrder,
    /// The buckets kept so far, the worst one on top; with equal counts, the one with the greatest value.
    most: BinaryHeap<Reverse<(u64, Reverse<K>)>>,
    first: Vec<(K, u64)>,
    all: u64,
    shown: u64,
    pub(crate) total: u64,
}

impl<K: Ord> BucketChooser<K> {
    pub(crate) fn new(limit: usize, min_count: u64, order: TermsOrder) -> Self {
        let (most, first) = (BinaryHeap::new(), Vec::new());
        BucketChooser { limit, min_count: min_count.max(1), order, most, first, all: 0, shown: 0, total: 0 }
    }

    /// Takes a bucket whose key is cheap to make. Buckets may come in any order unless they are shown in key
    /// order.
    #[inline]
    pub(crate) fn offer(&mut self, count: u64, mut key: K) {
        if self.order == TermsOrder::Count
            && self.most.len() >= self.limit
            && self.most.peek().is_some_and(|worst| worst.0.0 == count && key < worst.0.1.0)
            && let Some(mut worst) = self.most.peek_mut()
        {
            // The new key takes the place of the other one, which is then counted as not shown.
            std::mem::swap(&mut worst.0.1.0, &mut key);
        }
        self.push(count, || key);
    }

    /// Takes a bucket. Buckets must come in key order; the key is made only if the bucket may be shown.
    #[inline]
    pub(crate) fn push(&mut self, count: u64, key: impl FnOnce() -> K) {
        // Counts in messages of others may be anything.
        self.all = self.all.wrapping_add(count);
        if count < self.min_count {
            return;
        }
        self.total += 1;
        if self.order == TermsOrder::Term {
            if self.first.len() < self.limit {
                self.shown = self.shown.wrapping_add(count);
                self.first.push((key(), count));
            }
        } else if self.most.len() < self.limit {
            self.shown = self.shown.wrapping_add(count);
            self.most.push(Reverse((count, Reverse(key()))));
        } else if self.most.peek().is_some_and(|worst| worst.0.0 < count)
            // `peek_mut` costs time even if nothing changes, so it comes after the comparison.
            && let Some(mut worst) = self.most.peek_mut()
        {
            self.shown = self.shown.wrapping_add(count.wrapping_sub(worst.0.0));
            *worst = Reverse((count, Reverse(key())));
        }
    }

    /// The buckets to show, in order; sets the totals of all buckets.
    pub(crate) fn close(self, found: &mut Buckets) -> Vec<(K, u64)> {
        found.total = self.total;
        let (shown, others) = self.finish();
        found.others = others;
        shown
    }

    /// The buckets to show, in order, and the sum of the counts of all others.
    pub(crate) fn finish(self) -> (Vec<(K, u64)>, u64) {
        let mut shown = self.first;
        shown.extend(
            self.most.into_sorted_vec().into_iter().map(|Reverse((count, Reverse(key)))| (key, count)),
        );
        (shown, self.all.wrapping_sub(self.shown))
    }
}

/// The counts of a leaf by ascending term numbers, and their dictionary.
pub(crate) type LeafCounts<'a> = (&'a DictionaryReader, Vec<(u64, u64)>);

/// A term, its leaf, and its count there, ordered so that the least term is the greatest.
type NextTerm = Reverse<(Vec<u8>, usize, u64)>;

/// Calls `visit` with each term that any leaf has counted, in order, and its count over all leaves.
pub(crate) fn merge(leaves: &[LeafCounts<'_>], mut visit: impl FnMut(&[u8], u64)) -> Result<()> {
    let mut cursors: Vec<_> = leaves.iter().map(|(terms, _)| terms.cursor_from(0)).collect();
    let mut rests: Vec<_> = leaves.iter().map(|(_, counts)| counts.iter()).collect();
    let mut heads = BinaryHeap::new();
    let mut step = |leaf: usize, memory: Vec<u8>| -> Result<Option<NextTerm>> {
        let (Some(cursor), Some(rest)) = (cursors.get_mut(leaf), rests.get_mut(leaf)) else {
            return Ok(None);
        };
        let Some(&(number, count)) = rest.next() else { return Ok(None) };
        let mut term = memory;
        term.clear();
        term.extend_from_slice(cursor.seek(u32::try_from(number).unwrap_or(u32::MAX))?);
        Ok(Some(Reverse((term, leaf, count))))
    };
    for leaf in 0..leaves.len() {
        heads.extend(step(leaf, Vec::new())?);
    }
    let (mut at, mut sum) = (Vec::new(), 0);
    while let Some(Reverse((term, leaf, count))) = heads.pop() {
        if sum > 0 && term != at {
            visit(&at, sum);
            sum = 0;
        }
        sum += count;
        let memory = std::mem::replace(&mut at, term);
        heads.extend(step(leaf, memory)?);
    }
    if sum > 0 {
        visit(&at, sum);
    }
    Ok(())
}
