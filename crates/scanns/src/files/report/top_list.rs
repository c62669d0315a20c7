//! The paths with the greatest values, and the first paths of many.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::files::order::walk_order;

/// A path with a value, and what else is told about it.
#[derive(Clone, Debug)]
pub(super) struct RankedItem<T> {
    pub(super) value: u64,
    pub(super) path: Vec<u8>,
    pub(super) more: T,
}

impl<T> RankedItem<T> {
    /// Greater for greater values, then for paths that come earlier.
    fn rank(&self, value: u64, path: &[u8]) -> Ordering {
        self.value.cmp(&value).then_with(|| walk_order(path, &self.path))
    }
}

impl<T> PartialEq for RankedItem<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for RankedItem<T> {}

impl<T> PartialOrd for RankedItem<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for RankedItem<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank(other.value, &other.path)
    }
}

/// The `most` best of all items that are offered; of equal values, those whose paths come first. So the
/// result does not depend on the order of offers.
#[derive(Debug)]
pub(super) struct TopList<T> {
    most: usize,
    heap: BinaryHeap<Reverse<RankedItem<T>>>,
}

impl<T> TopList<T> {
    pub(super) fn new(most: usize) -> Self {
        TopList { most, heap: BinaryHeap::new() }
    }

    /// The value from which on items may enter.
    #[inline]
    pub(super) fn least(&self) -> u64 {
        match self.heap.peek() {
            Some(Reverse(last)) if self.heap.len() >= self.most => last.value,
            _ if self.most == 0 => u64::MAX,
            _ => 0,
        }
    }

    /// Offers an item.
    #[inline]
    pub(super) fn offer(&mut self, value: u64, path: &[u8], more: impl FnOnce() -> T) {
        if value >= self.least() {
            self.put(value, path, more);
        }
    }

    fn put(&mut self, value: u64, path: &[u8], more: impl FnOnce() -> T) {
        if self.heap.len() >= self.most {
            let Some(Reverse(last)) = self.heap.peek() else { return };
            if last.rank(value, path).is_ge() {
                return;
            }
            self.heap.pop();
        }
        self.heap.push(Reverse(RankedItem { value, path: path.to_vec(), more: more() }));
    }

    pub(super) fn merge(&mut self, other: TopList<T>) {
        for Reverse(item) in other.heap {
            let RankedItem { value, path, more } = item;
            self.offer(value, &path, || more);
        }
    }

    /// The items, the best first.
    pub(super) fn sorted(self) -> Vec<RankedItem<T>> {
        self.heap.into_sorted_vec().into_iter().map(|Reverse(item)| item).collect()
    }
}

/// Counts paths, and keeps the first of them in the order of a walk.
#[derive(Debug)]
pub(super) struct PathCounter {
    count: u64,
    first: TopList<()>,
}

impl PathCounter {
    pub(super) fn new(most: usize) -> Self {
        PathCounter { count: 0, first: TopList::new(most) }
    }

    pub(super) fn add(&mut self, path: &[u8]) {
        self.count += 1;
        self.first.offer(0, path, || ());
    }

    pub(super) fn merge(&mut self, other: PathCounter) {
        self.count += other.count;
        self.first.merge(other.first);
    }

    pub(super) fn counted(self) -> CountedPaths {
        let first = self.first.sorted().into_iter().map(|item| item.path).collect();
        CountedPaths { count: self.count, first }
    }
}

/// A number of paths, and the first of them in the order of a walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountedPaths {
    /// The number of all paths.
    pub count: u64,
    /// The first.
    pub first: Vec<Vec<u8>>,
}
