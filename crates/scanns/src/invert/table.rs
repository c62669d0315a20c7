//! The sparse part of the term table: fingerprints to entry numbers, one cache line per look-up.
//!
//! A bucket has 64 bytes: seven 32-bit fingerprints, a link, seven entry numbers. The fingerprint is 32 bits
//! of the hash, and its low bits are the address of the bucket, so the table grows without access to keys. It
//! grows one bucket at a time (linear hashing, Litwin 1980): every few insertions, the next bucket in turn
//! gives half of its terms to a new one at the end. Growth therefore never stalls, never needs two tables,
//! and reads and writes memory in order. A full bucket continues in an overflow bucket, which is freed when
//! the bucket is split.
//!
//! The alternative is to double the whole table in one step: the same work, but in pauses of 0.1 s, and with
//! half as much memory again during the pause.

use crate::error::Result;
use crate::sys::{PageSize, Plain, Slab, prefetch};

/// Average terms per bucket at which the table grows, in quarters. With at most four terms per bucket the
/// sort of a flush can reuse the table's memory (16 bytes per term).
const LOAD_QUARTERS: usize = 15;

/// Slots of a bucket.
pub(super) const SLOTS: usize = 7;

/// No entry.
pub(super) const NONE: u32 = u32::MAX;

/// A bucket. A fingerprint of zero is an empty slot; slots are filled from the first on.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct TermBucket {
    pub(super) fingerprints: [u32; SLOTS],
    /// Number of the overflow bucket plus one, or zero.
    pub(super) next: u32,
    pub(super) entries: [u32; SLOTS],
    unused: u32,
}

// SAFETY: sixteen u32 without padding; every bit pattern is valid.
unsafe impl Plain for TermBucket {}

impl TermBucket {
    /// Writes to the first free slot; false if there is none.
    #[inline]
    fn put(&mut self, fingerprint: u32, entry: u32) -> bool {
        let Some(slot) = self.fingerprints.iter().position(|&found| found == 0) else { return false };
        self.fingerprints[slot] = fingerprint;
        self.entries[slot] = entry;
        true
    }

    /// Splits the terms into those without and those with `bit` in their fingerprint.
    #[inline]
    fn parted(&self, bit: u32) -> (TermBucket, TermBucket) {
        let mut parts = [TermBucket::default(); 2];
        let mut counts = [0usize; 2];
        for (&fingerprint, &entry) in self.fingerprints.iter().zip(&self.entries) {
            let side = usize::from(fingerprint & bit != 0);
            // An empty slot is copied too; it comes after the last term of its side, where it changes
            // nothing.
            let slot = counts[side];
            parts[side].fingerprints[slot] = fingerprint;
            parts[side].entries[slot] = entry;
            counts[side] += usize::from(fingerprint != 0);
        }
        (parts[0], parts[1])
    }
}

/// The buckets of one index thread.
pub(super) struct TermTable {
    buckets: Slab<TermBucket>,
    /// Buckets at the start of this round of splits, minus one: a mask.
    mask: u32,
    /// Number of buckets split in this round.
    split: u32,
    len: usize,
    overflow: Slab<TermBucket>,
    overflow_len: usize,
    /// The first free overflow bucket, as in [`TermBucket::next`].
    free: u32,
    moving: Vec<(u32, u32)>,
}

impl TermTable {
    /// Creates a table with initial room for `terms` that never takes more than about `max_bytes`.
    pub(super) fn new(terms: usize, max_bytes: usize, pages: PageSize) -> Result<TermTable> {
        let most = (max_bytes / size_of::<TermBucket>()).clamp(64, 1 << 31);
        let start = (terms * 4 / LOAD_QUARTERS).next_power_of_two().clamp(64, most.next_power_of_two() / 2);
        let mut buckets = Slab::reserve(most, pages)?;
        buckets.grow(start);
        Ok(TermTable {
            buckets,
            mask: u32::try_from(start - 1).unwrap_or(u32::MAX >> 1),
            split: 0,
            len: 0,
            overflow: Slab::reserve(most / 2, pages)?,
            overflow_len: 0,
            free: 0,
            moving: Vec::with_capacity(64),
        })
    }

    /// Number of buckets in use.
    #[inline]
    fn count(&self) -> usize {
        self.mask as usize + 1 + self.split as usize
    }

    /// Bytes of memory touched.
    pub(super) fn bytes(&self) -> usize {
        self.buckets.touched(self.count()) + self.overflow.touched(self.overflow_len)
    }

    /// The number of the bucket of a fingerprint.
    #[inline(always)]
    fn home(&self, fingerprint: u32) -> usize {
        let short = fingerprint & self.mask;
        let long = fingerprint & (self.mask << 1 | 1);
        (if short < self.split { long } else { short }) as usize
    }

    /// Prefetches the bucket of `fingerprint`.
    #[inline(always)]
    pub(super) fn prefetch(&self, fingerprint: u32) {
        prefetch(self.buckets.as_ptr().wrapping_add(self.home(fingerprint)));
    }

    /// The first bucket for `fingerprint`.
    #[inline(always)]
    pub(super) fn bucket(&self, fingerprint: u32) -> &TermBucket {
        &self.buckets[self.home(fingerprint)]
    }

    /// The bucket in which `bucket` continues.
    #[inline(always)]
    pub(super) fn next(&self, bucket: &TermBucket) -> Option<&TermBucket> {
        (bucket.next != 0).then(|| &self.overflow[bucket.next as usize - 1])
    }

    /// The entries under `fingerprint`, including entries of other terms.
    pub(super) fn candidates(&self, fingerprint: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(self.bucket(fingerprint)), |bucket| self.next(bucket)).flat_map(
            move |bucket| {
                let slots = bucket.fingerprints.iter().zip(bucket.entries);
                slots.filter(move |(found, _)| **found == fingerprint).map(|(_, entry)| entry)
            },
        )
    }

    /// Adds a new term. `free` finds the free slots of a bucket, a bit for each.
    #[inline(always)]
    pub(super) fn insert(&mut self, fingerprint: u32, entry: u32, free: impl FnOnce(&TermBucket) -> u32) {
        let home = self.home(fingerprint);
        let bucket = &mut self.buckets[home];
        let slots = free(bucket);
        if slots != 0 {
            let slot = slots.trailing_zeros() as usize;
            bucket.fingerprints[slot] = fingerprint;
            bucket.entries[slot] = entry;
        } else {
            self.place(fingerprint, entry);
        }
        self.len += 1;
        if self.len * 4 > self.count() * LOAD_QUARTERS && self.count() < self.buckets.len() {
            self.split_next();
        }
    }

    /// Writes to the first free slot of the chain.
    #[cold]
    fn place(&mut self, fingerprint: u32, entry: u32) {
        let home = self.home(fingerprint);
        let bucket = &mut self.buckets[home];
        if bucket.put(fingerprint, entry) {
            return;
        }
        if bucket.next == 0 {
            bucket.next = take_overflow(&mut self.overflow, &mut self.overflow_len, &mut self.free);
        }
        let mut at = bucket.next as usize - 1;
        while !self.overflow[at].put(fingerprint, entry) {
            if self.overflow[at].next == 0 {
                let next = take_overflow(&mut self.overflow, &mut self.overflow_len, &mut self.free);
                self.overflow[at].next = next;
            }
            at = self.overflow[at].next as usize - 1;
        }
    }

    /// Moves half of the next bucket in turn to a new bucket.
    fn split_next(&mut self) {
        let old = self.split as usize;
        if self.buckets[old].next != 0 {
            return self.split_chain();
        }
        let (low, high) = self.buckets[old].parted(self.mask + 1);
        let new = self.count();
        self.buckets.grow(new + 1);
        self.buckets[old] = low;
        self.buckets[new] = high;
        self.advance();
    }

    fn advance(&mut self) {
        self.split += 1;
        if self.split > self.mask {
            self.mask = self.mask << 1 | 1;
            self.split = 0;
        }
    }

    /// Splits a bucket that continues in overflow buckets.
    #[cold]
    fn split_chain(&mut self) {
        self.buckets.grow(self.count() + 1);
        let mut moving = std::mem::take(&mut self.moving);
        let old = self.split as usize;
        let mut next = collect(&mut self.buckets[old], &mut moving);
        while next != 0 {
            let bucket = &mut self.overflow[next as usize - 1];
            let following = collect(bucket, &mut moving);
            bucket.next = self.free;
            self.free = next;
            next = following;
        }
        self.advance();
        for (fingerprint, entry) in moving.drain(..) {
            self.place(fingerprint, entry);
        }
        self.moving = moving;
    }

    /// Removes all terms, but keeps the memory and the size for the next segment.
    pub(super) fn clear(&mut self) {
        let count = self.count();
        self.buckets[..count].fill(TermBucket::default());
        self.overflow[..self.overflow_len].fill(TermBucket::default());
        (self.len, self.overflow_len, self.free) = (0, 0, 0);
    }

    /// The memory of the buckets in use, for the sort of a flush; afterwards only [`TermTable::clear`] may be
    /// called.
    pub(super) fn scratch(&mut self) -> &mut [u128] {
        let words = self.count() * size_of::<TermBucket>() / size_of::<u128>();
        &mut self.buckets.cast_mut()[..words]
    }
}

/// Empties `bucket` into `moving`; returns its link.
fn collect(bucket: &mut TermBucket, moving: &mut Vec<(u32, u32)>) -> u32 {
    let pairs = bucket.fingerprints.iter().copied().zip(bucket.entries);
    moving.extend(pairs.take_while(|&(fingerprint, _)| fingerprint != 0));
    std::mem::take(bucket).next
}

/// Takes an empty overflow bucket, numbered as in [`TermBucket::next`].
#[cold]
fn take_overflow(overflow: &mut Slab<TermBucket>, len: &mut usize, free: &mut u32) -> u32 {
    if *free != 0 {
        let taken = *free;
        *free = std::mem::take(&mut overflow[taken as usize - 1]).next;
        return taken;
    }
    *len += 1;
    overflow.grow(*len);
    u32::try_from(*len).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_from_the_smallest_table_neither_loses_nor_duplicates_a_term() {
        for start in [1, 1000] {
            let mut table = TermTable::new(start, 1 << 26, PageSize::Base).unwrap();
            // Multiples of a large odd number cover all fingerprints; few distinct low bits make long chains,
            // as crafted keys would.
            let fingerprint =
                |i: u32| if i.is_multiple_of(3) { i << 16 | 1 } else { i.wrapping_mul(0x9e37_79b1) | 1 };
            let free = |bucket: &TermBucket| {
                let slots = bucket.fingerprints.iter().enumerate();
                slots.fold(0, |mask, (slot, &found)| mask | u32::from(found == 0) << slot)
            };
            for entry in 0..60_000u32 {
                table.insert(fingerprint(entry), entry, free);
            }
            for entry in 0..60_000u32 {
                let hits = table.candidates(fingerprint(entry)).filter(|&found| found == entry).count();
                assert_eq!(hits, 1, "entry {entry}, start {start}");
            }
            let stored: usize = (0..table.count())
                .map(|b| {
                    std::iter::successors(Some(&table.buckets[b]), |bucket| table.next(bucket))
                        .map(|bucket| bucket.fingerprints.iter().filter(|&&f| f != 0).count())
                        .sum::<usize>()
                })
                .sum();
            assert_eq!(stored, 60_000);
            table.clear();
            assert_eq!(table.candidates(fingerprint(5)).count(), 0);
        }
    }
}
