//! A map of bounded size that keeps what was used last.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// Keeps the values that were used last, up to a number of bytes.
pub struct RecentlyUsed<K, V> {
    most: usize,
    kept: HashMap<K, KeptValue<V>>,
    /// Bytes of all values.
    bytes: usize,
    /// The number of uses so far.
    uses: u64,
}

struct KeptValue<V> {
    value: V,
    bytes: usize,
    /// When it was used last.
    used: u64,
}

impl<K: Clone + Eq + Hash, V> RecentlyUsed<K, V> {
    /// Creates a map for at most `most` bytes of values; with 0 nothing is kept.
    pub fn new(most: usize) -> Self {
        RecentlyUsed { most, kept: HashMap::new(), bytes: 0, uses: 0 }
    }

    /// The bytes that are kept at most.
    pub fn most(&self) -> usize {
        self.most
    }

    /// The bytes that are kept.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// True if a value of this size would be kept: up to a quarter of the whole.
    pub fn admits(&self, bytes: usize) -> bool {
        bytes <= self.most / 4
    }

    /// A value, which is used now.
    pub fn get<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.uses += 1;
        let kept = self.kept.get_mut(key)?;
        kept.used = self.uses;
        Some(&kept.value)
    }

    /// Keeps a value of this size, in place of the one with the same key, if it is not too large.
    pub fn put(&mut self, key: K, value: V, bytes: usize) {
        if !self.admits(bytes) {
            return;
        }
        self.bytes += bytes;
        let used = self.uses;
        if let Some(old) = self.kept.insert(key, KeptValue { value, bytes, used }) {
            self.bytes -= old.bytes;
        }
        if self.bytes > self.most {
            self.shrink(self.most - self.most / 4);
        }
    }

    /// Drops the values that were not used for the longest time, until at most `most` bytes are left. Several
    /// at once, because each look through all values takes time.
    fn shrink(&mut self, most: usize) {
        let mut uses: Vec<(u64, K)> = self.kept.iter().map(|(key, kept)| (kept.used, key.clone())).collect();
        uses.sort_unstable_by_key(|(used, _)| *used);
        for (_, key) in uses {
            if self.bytes <= most {
                break;
            }
            let old = self.kept.remove(&key);
            self.bytes -= old.map_or(0, |old| old.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_stays_within_the_limit() {
        let mut map = RecentlyUsed::new(100);
        for number in 0..5 {
            map.put(number, number, 20);
            assert_eq!(map.get(&0), Some(&0), "used again each time");
        }
        assert_eq!(map.bytes(), 100);
        map.put(9, 9, 20);
        assert_eq!(map.bytes(), 60, "a quarter is dropped at once");
        let left: Vec<i32> = [0, 1, 2, 3, 4, 9].into_iter().filter(|key| map.get(key).is_some()).collect();
        assert_eq!(left, [0, 4, 9]);
    }

    #[test]
    fn a_value_replaces_the_one_of_its_key_and_large_ones_are_not_kept() {
        let mut map = RecentlyUsed::new(100);
        map.put("a", 1, 5);
        map.put("a", 2, 15);
        assert_eq!((map.bytes(), map.get("a")), (15, Some(&2)));
        map.put("b", 3, 26);
        assert!(map.get("b").is_none() && map.admits(25) && !map.admits(26));
        let mut none = RecentlyUsed::new(0);
        none.put("a", 1, 1);
        assert_eq!((none.bytes(), none.get("a")), (0, None));
    }
}
