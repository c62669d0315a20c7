//! The paths with the greatest values, and the first paths of many.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::columns::SplitPath;
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
    fn rank(&self, value: u64, path: SplitPath<'_>) -> Ordering {
        self.value.cmp(&value).then_with(|| path.walk_order(&self.path))
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
        self.value.cmp(&other.value).then_with(|| walk_order(&other.path, &self.path))
    }
}

/// The `most` best of all items that are offered; of equal values, those whose paths come first. So the
/// result does not depend on the order of offers.
#[derive(Debug)]
pub(super) struct TopList<T> {
    most: usize,
    heap: BinaryHeap<Reverse<RankedItem<T>>>,
    /// The value from which on items may enter.
    least: u64,
}

impl<T> TopList<T> {
    pub(super) fn new(most: usize) -> Self {
        TopList { most, heap: BinaryHeap::new(), least: if most == 0 { u64::MAX } else { 0 } }
    }

    /// The value from which on items may enter.
    #[inline]
    pub(super) fn least(&self) -> u64 {
        self.least
    }

    /// Offers an item.
    #[inline]
    pub(super) fn offer(&mut self, value: u64, path: SplitPath<'_>, more: impl FnOnce() -> T) {
        if value >= self.least {
            self.put(value, path, more);
        }
    }

    fn put(&mut self, value: u64, path: SplitPath<'_>, more: impl FnOnce() -> T) {
        if self.heap.len() >= self.most {
            let Some(Reverse(last)) = self.heap.peek() else { return };
            if last.rank(value, path).is_ge() {
                return;
            }
            self.heap.pop();
        }
        self.heap.push(Reverse(RankedItem { value, path: path.to_vec(), more: more() }));
        if self.heap.len() >= self.most {
            self.least = self.heap.peek().map_or(0, |Reverse(last)| last.value);
        }
    }

    pub(super) fn merge(&mut self, other: TopList<T>) {
        for Reverse(item) in other.heap {
            let RankedItem { value, path, more } = item;
            self.offer(value, SplitPath::of(&path), || more);
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

    #[inline]
    pub(super) fn add(&mut self, path: SplitPath<'_>) {
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
