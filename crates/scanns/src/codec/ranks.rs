//! Ranks of the documents of a window: how many set bits are before them.

#![expect(clippy::indexing_slicing, reason = "the remainder is below the number of words")]

/// The bits of a window, lowest first.
pub type RankedBits = [u64; 64];

/// The number of set bits before each word of a window.
pub struct Ranks<'b> {
    bits: &'b RankedBits,
    before: [u32; 64],
}

impl<'b> Ranks<'b> {
    /// Counts the bits of a window.
    pub fn new(bits: &'b RankedBits) -> Self {
        let mut ranks = Ranks { bits, before: [0; 64] };
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor was just checked.
            unsafe { x86::count(&mut ranks) };
            return ranks;
        }
        ranks.count_plainly();
        ranks
    }

    #[inline(always)]
    fn count_plainly(&mut self) {
        let mut count = 0;
        for (before, word) in self.before.iter_mut().zip(self.bits) {
            *before = count;
            count += word.count_ones();
        }
    }

    /// The number of set bits before the bit at `place`, which counts modulo the length of a window.
    #[inline(always)]
    pub fn rank(&self, place: u32) -> u32 {
        let at = (place / 64 % 64) as usize;
        let below = !(u64::MAX << (place % 64));
        self.before[at] + (self.bits[at] & below).count_ones()
    }

    /// Sets `ranks` to the ranks of `docs`, up to the end of the shorter slice; the first bit is for `start`.
    pub fn rank_all(&self, start: u32, docs: &[u32], ranks: &mut [u32]) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor was just checked.
            unsafe { x86::rank_all(self, start, docs, ranks) };
            return;
        }
        self.rank_all_plainly(start, docs, ranks);
    }

    #[inline(always)]
    fn rank_all_plainly(&self, start: u32, docs: &[u32], ranks: &mut [u32]) {
        for (rank, &doc) in ranks.iter_mut().zip(docs) {
            *rank = self.rank(doc.wrapping_sub(start));
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86 {
    use super::Ranks;

    /// Counts as [`Ranks::count_plainly`] does.
    #[target_feature(enable = "popcnt")]
    pub(super) fn count(ranks: &mut Ranks) {
        ranks.count_plainly();
    }

    /// Ranks as [`Ranks::rank_all_plainly`] does.
    #[target_feature(enable = "popcnt")]
    pub(super) fn rank_all(ranks: &Ranks, start: u32, docs: &[u32], found: &mut [u32]) {
        ranks.rank_all_plainly(start, docs, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_count_the_bits_before_a_place() {
        let seed = fastrand::u64(..);
        println!("seed {seed:x}");
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..200 {
            let bits: RankedBits = std::array::from_fn(|_| match round % 4 {
                0 => 0,
                1 => u64::MAX,
                2 => random.u64(..) & random.u64(..) & random.u64(..),
                _ => random.u64(..),
            });
            let start = random.u32(..1 << 30);
            let docs: Vec<u32> = (0..random.usize(..300)).map(|_| start + random.u32(..4_096)).collect();
            let is_set = |place: u32| bits[place as usize / 64] >> (place % 64) & 1;
            let expected: Vec<u64> = docs.iter().map(|&doc| (0..doc - start).map(is_set).sum()).collect();
            let ranks = Ranks::new(&bits);
            let (mut all, mut plain) = (vec![7; docs.len()], vec![7; docs.len()]);
            ranks.rank_all(start, &docs, &mut all);
            let mut plainly = Ranks { bits: &bits, before: [0; 64] };
            plainly.count_plainly();
            plainly.rank_all_plainly(start, &docs, &mut plain);
            assert_eq!(all, plain);
            assert_eq!(all.into_iter().map(u64::from).collect::<Vec<_>>(), expected);
        }
    }
}
