//! Keeps which documents match the filters that repeat, as a bit for each document of a leaf.

use std::collections::VecDeque;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::{Arc, Mutex};

use crate::sys::{RecentlyUsed, lock};

/// A filter is kept if it comes again among this many others, each in each leaf.
const REMEMBERED: usize = 1024;

/// Leaves with fewer documents are filtered again in less time than keeping takes.
const LEAST_DOCUMENTS: u32 = 1024;

/// The filters that were used last and more than once, up to a number of bytes. Several threads can use it
/// at the same time. It belongs to one snapshot: the documents and their values never change.
pub(crate) struct FilterCache {
    kept: Mutex<KeptFilters>,
    hasher: RandomState,
}

struct KeptFilters {
    filters: RecentlyUsed<FilterPlace, Arc<FilterBits>>,
    /// Hashes of the places that were asked for last.
    asked: VecDeque<u64>,
}

/// A filter in a range of the documents of a leaf.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct FilterPlace {
    /// What identifies the filter.
    pub(crate) key: Arc<[u8]>,
    pub(crate) leaf: usize,
    pub(crate) docs: Range<u32>,
}

/// The documents that match a filter.
#[derive(Clone, Debug)]
pub(crate) struct FilterBits {
    /// A bit for each document of the leaf.
    pub(crate) words: Vec<u64>,
    /// The number of bits that are set.
    pub(crate) matches: u64,
}

impl FilterCache {
    /// Bytes to keep unless another number is chosen: 2 filters of 100 million documents.
    pub(crate) const DEFAULT: usize = 32 << 20;

    /// Creates a cache of at most `most` bytes; with 0 nothing is kept.
    pub(crate) fn new(most: usize) -> Self {
        let kept = KeptFilters { filters: RecentlyUsed::new(most), asked: VecDeque::new() };
        FilterCache { kept: Mutex::new(kept), hasher: RandomState::new() }
    }

    /// An empty cache with the same limit, for other leaves.
    pub(crate) fn anew(&self) -> Self {
        FilterCache::new(lock(&self.kept).filters.most())
    }

    /// The bytes that are kept.
    pub(crate) fn bytes(&self) -> usize {
        lock(&self.kept).filters.bytes()
    }

    /// The documents of a filter, if they are kept.
    pub(crate) fn get(&self, place: &FilterPlace) -> Option<Arc<FilterBits>> {
        lock(&self.kept).filters.get(place).cloned()
    }

    /// Keeps the documents of a filter, if it has been asked for before.
    pub(crate) fn offer(&self, place: FilterPlace, bits: &Arc<FilterBits>) {
        let bytes = bits.words.len() * 8 + place.key.len();
        if place.docs.len() < LEAST_DOCUMENTS as usize {
            return;
        }
        let hash = self.hasher.hash_one(&place);
        let mut kept = lock(&self.kept);
        if !kept.filters.admits(bytes) {
            return;
        }
        match kept.asked.iter().position(|&asked| asked == hash) {
            Some(at) => {
                kept.asked.remove(at);
                kept.filters.put(place, bits.clone(), bytes);
            }
            None => {
                if kept.asked.len() == REMEMBERED {
                    kept.asked.pop_front();
                }
                kept.asked.push_back(hash);
            }
        }
    }
}

impl Default for FilterCache {
    fn default() -> Self {
        FilterCache::new(Self::DEFAULT)
    }
}

impl fmt::Debug for FilterCache {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("FilterCache").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(key: &str, leaf: usize, docs: Range<u32>) -> FilterPlace {
        FilterPlace { key: key.as_bytes().into(), leaf, docs }
    }

    #[test]
    fn a_filter_is_kept_when_it_comes_again_within_the_limit() {
        let cache = FilterCache::new(4 * 8192);
        let bits = Arc::new(FilterBits { words: vec![1; 64], matches: 64 });
        let whole = || place("a", 0, 0..4096);
        cache.offer(whole(), &bits);
        assert!(cache.get(&whole()).is_none() && cache.bytes() == 0);
        cache.offer(whole(), &bits);
        assert_eq!(cache.get(&whole()).unwrap().words, bits.words);
        assert_eq!(cache.bytes(), 64 * 8 + 1);
        for other in [place("b", 0, 0..4096), place("a", 1, 0..4096), place("a", 0, 0..4095)] {
            assert!(cache.get(&other).is_none());
        }
        // Neither what takes more than a quarter, nor what few documents are.
        let large = Arc::new(FilterBits { words: vec![0; 1024], matches: 0 });
        for _ in 0..3 {
            cache.offer(place("b", 0, 0..65_536), &large);
            cache.offer(place("c", 0, 0..1023), &bits);
        }
        assert_eq!(cache.bytes(), 64 * 8 + 1);
    }

    #[test]
    fn filters_that_came_too_long_ago_are_forgotten() {
        let cache = FilterCache::default();
        let bits = Arc::new(FilterBits { words: vec![0; 64], matches: 0 });
        for number in 0..=REMEMBERED {
            cache.offer(place(&number.to_string(), 0, 0..4096), &bits);
        }
        cache.offer(place("0", 0, 0..4096), &bits);
        assert_eq!(cache.bytes(), 0, "it is as if it came for the first time");
        cache.offer(place("0", 0, 0..4096), &bits);
        assert_eq!(cache.bytes(), 64 * 8 + 1);
    }
}
