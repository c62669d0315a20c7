//! Keeps the blocks of stored documents that were decompressed last.

use std::fmt;
use std::sync::{Arc, Mutex};

use crate::sys::{RecentlyUsed, lock};

/// The place of a block: the identity of its segment, and its number.
type StoredBlockPlace = (u128, usize);

/// The blocks of stored documents that were decompressed last, or their first bytes, up to a number of bytes.
/// Several threads can use it at the same time.
pub struct StoredCache {
    blocks: Mutex<RecentlyUsed<StoredBlockPlace, Arc<[u8]>>>,
}

impl StoredCache {
    /// Bytes to keep unless another number is chosen.
    pub const DEFAULT: usize = 8 << 20;

    /// Creates a cache of at most `most` bytes of text; with 0 nothing is kept.
    pub fn new(most: usize) -> Self {
        StoredCache { blocks: Mutex::new(RecentlyUsed::new(most)) }
    }

    /// The bytes that are kept.
    pub fn bytes(&self) -> usize {
        lock(&self.blocks).bytes()
    }

    /// The first bytes of a block, or all of them.
    pub(super) fn get(&self, place: StoredBlockPlace) -> Option<Arc<[u8]>> {
        lock(&self.blocks).get(&place).cloned()
    }

    /// Keeps the first bytes of a block, in place of those that were kept of it before.
    pub(super) fn put(&self, place: StoredBlockPlace, raw: &[u8]) {
        if lock(&self.blocks).admits(raw.len()) {
            let copy: Arc<[u8]> = raw.into();
            lock(&self.blocks).put(place, copy, raw.len());
        }
    }
}

impl Default for StoredCache {
    fn default() -> Self {
        StoredCache::new(Self::DEFAULT)
    }
}

impl fmt::Debug for StoredCache {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("StoredCache").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_kept_up_to_a_quarter_of_the_whole() {
        let cache = StoredCache::new(100);
        cache.put((1, 0), &[1; 15]);
        assert_eq!((cache.bytes(), cache.get((1, 0)).map(|raw| raw.len())), (15, Some(15)));
        cache.put((1, 1), &[1; 26]);
        assert!(cache.get((1, 1)).is_none() && cache.get((2, 0)).is_none());
    }
}
