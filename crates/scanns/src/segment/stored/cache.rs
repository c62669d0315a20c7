//! Keeps the blocks of stored documents that were decompressed last.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use crate::sys::lock;

/// The place of a block: the identity of its segment, and its number.
type StoredBlockPlace = (u128, usize);

/// The blocks of stored documents that were decompressed last, or their first bytes, up to a number of bytes.
/// Several threads can use it at the same time.
pub struct StoredCache {
    most: usize,
    kept: Mutex<KeptBlocks>,
}

#[derive(Default)]
struct KeptBlocks {
    blocks: HashMap<StoredBlockPlace, KeptBlock>,
    /// Bytes of all blocks.
    bytes: usize,
    /// The number of uses so far.
    uses: u64,
}

struct KeptBlock {
    raw: Arc<[u8]>,
    /// When it was used last.
    used: u64,
}

impl StoredCache {
    /// Bytes to keep unless another number is chosen.
    pub const DEFAULT: usize = 8 << 20;

    /// Creates a cache of at most `most` bytes of text; with 0 nothing is kept.
    pub fn new(most: usize) -> Self {
        StoredCache { most, kept: Mutex::default() }
    }

    /// The bytes that are kept.
    pub fn bytes(&self) -> usize {
        lock(&self.kept).bytes
    }

    /// The first bytes of a block, or all of them.
    pub(super) fn get(&self, place: StoredBlockPlace) -> Option<Arc<[u8]>> {
        let mut kept = lock(&self.kept);
        kept.uses += 1;
        let now = kept.uses;
        let block = kept.blocks.get_mut(&place)?;
        block.used = now;
        Some(block.raw.clone())
    }

    /// Keeps the first bytes of a block, in place of those that were kept of it before.
    pub(super) fn put(&self, place: StoredBlockPlace, raw: &[u8]) {
        if raw.len() > self.most / 4 {
            return;
        }
        let raw: Arc<[u8]> = raw.into();
        let mut kept = lock(&self.kept);
        kept.bytes += raw.len();
        let used = kept.uses;
        if let Some(old) = kept.blocks.insert(place, KeptBlock { raw, used }) {
            kept.bytes -= old.raw.len();
        }
        if kept.bytes > self.most {
            kept.shrink(self.most - self.most / 4);
        }
    }
}

impl KeptBlocks {
    /// Drops the blocks that were not used for the longest time, until at most `most` bytes are left. Several
    /// at once, because each look through all blocks takes time.
    fn shrink(&mut self, most: usize) {
        let mut uses: Vec<(u64, StoredBlockPlace)> =
            self.blocks.iter().map(|(&place, block)| (block.used, place)).collect();
        uses.sort_unstable();
        for (_, place) in uses {
            if self.bytes <= most {
                break;
            }
            let old = self.blocks.remove(&place);
            self.bytes -= old.map_or(0, |old| old.raw.len());
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
        out.debug_struct("StoredCache").field("most", &self.most).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blocks_that_were_used_last_stay_within_the_limit() {
        let cache = StoredCache::new(100);
        let block = |number: u8| vec![number; 20];
        for number in 0..5 {
            cache.put((1, usize::from(number)), &block(number));
            assert_eq!(cache.get((1, 0)).as_deref(), Some(&block(0)[..]), "used again each time");
        }
        assert_eq!(cache.bytes(), 100);
        cache.put((2, 0), &block(9));
        assert_eq!(cache.bytes(), 60, "a quarter is dropped at once");
        let left = |place| cache.get(place).is_some();
        assert!(left((2, 0)) && left((1, 0)) && left((1, 4)) && !left((1, 1)) && !left((1, 3)));
    }

    #[test]
    fn a_block_replaces_what_was_kept_of_it_and_large_ones_are_not_kept() {
        let cache = StoredCache::new(100);
        cache.put((1, 0), &[1; 5]);
        cache.put((1, 0), &[1; 15]);
        assert_eq!((cache.bytes(), cache.get((1, 0)).map(|raw| raw.len())), (15, Some(15)));
        cache.put((1, 1), &[1; 26]);
        assert!(cache.get((1, 1)).is_none());
        let none = StoredCache::new(0);
        none.put((1, 0), &[1]);
        assert_eq!(none.bytes(), 0);
    }
}
