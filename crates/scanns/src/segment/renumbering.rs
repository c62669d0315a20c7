//! The documents of a segment that survive a merge, and their new numbers.

/// Bits per entry of the running counts.
const RANK: usize = 512;

/// New numbers for the survivors of `0..old`, in the same order.
#[derive(Clone, Debug)]
pub struct Renumbering {
    base: u32,
    survivors: u32,
    /// Which numbers survive; `None` if all do.
    bits: Option<SurvivorBits>,
}

#[derive(Clone, Debug)]
struct SurvivorBits {
    /// One bit per old number, set if it survives.
    words: Vec<u64>,
    /// Survivors before each group of [`RANK`] numbers.
    ranks: Vec<u32>,
}

impl Renumbering {
    /// All of `0..old` survive and become `base..base + old`.
    pub fn of_all(base: u32, old: u32) -> Self {
        Renumbering { base, survivors: old, bits: None }
    }

    /// The numbers below `old` for which `survives` returns true become `base..`.
    pub fn new(base: u32, old: u32, mut survives: impl FnMut(u32) -> bool) -> Self {
        let mut words = vec![0u64; (old as usize).div_ceil(64)];
        for number in (0..old).filter(|&number| survives(number)) {
            if let Some(word) = words.get_mut(number as usize / 64) {
                *word |= 1 << (number % 64);
            }
        }
        let mut survivors = 0;
        let ranks = words.chunks(RANK / 64).map(|group| {
            let before = survivors;
            survivors += group.iter().map(|word| word.count_ones()).sum::<u32>();
            before
        });
        let ranks = ranks.collect();
        let bits = (survivors < old).then_some(SurvivorBits { words, ranks });
        Renumbering { base, survivors, bits }
    }

    /// The new number of an old one; `None` if it does not survive.
    #[inline]
    pub fn get(&self, old: u32) -> Option<u32> {
        let Some(SurvivorBits { words, ranks }) = &self.bits else {
            return (old < self.survivors).then(|| self.base + old);
        };
        let (word, bit) = (old as usize / 64, 1u64 << (old % 64));
        let found = *words.get(word)?;
        if found & bit == 0 {
            return None;
        }
        let group = word / (RANK / 64);
        let before = words.get(group * (RANK / 64)..word)?.iter().map(|word| word.count_ones()).sum::<u32>();
        Some(self.base + ranks.get(group)? + before + (found & (bit - 1)).count_ones())
    }

    /// The old number of a new one; `None` if `new` is outside the numbers given here.
    pub fn old(&self, new: u32) -> Option<u32> {
        let mut rank = new.checked_sub(self.base).filter(|&rank| rank < self.survivors)?;
        let Some(SurvivorBits { words, ranks }) = &self.bits else { return Some(rank) };
        let group = ranks.partition_point(|&before| before <= rank).checked_sub(1)?;
        rank -= ranks.get(group)?;
        let first = group * (RANK / 64);
        for (number, word) in (first..).zip(words.get(first..)?) {
            let count = word.count_ones();
            if rank < count {
                let left = (0..rank).fold(*word, |left, _| left & (left - 1));
                return Some(u32::try_from(number * 64).ok()? + left.trailing_zeros());
            }
            rank -= count;
        }
        None
    }

    /// The new number that the first survivor from `old` on has: the base plus the survivors below `old`.
    pub fn before(&self, old: u32) -> u32 {
        let Some(SurvivorBits { words, ranks }) = &self.bits else {
            return self.base + old.min(self.survivors);
        };
        let (word, bit) = (old as usize / 64, 1u64 << (old % 64));
        let Some(found) = words.get(word) else { return self.end() };
        let group = word / (RANK / 64);
        let before = words.get(group * (RANK / 64)..word).unwrap_or_default();
        let before = before.iter().map(|word| word.count_ones()).sum::<u32>();
        self.base + ranks.get(group).copied().unwrap_or(0) + before + (found & (bit - 1)).count_ones()
    }

    /// Number of survivors.
    pub fn survivors(&self) -> u32 {
        self.survivors
    }

    /// The number that is added to every old number, if all survive.
    pub fn shift(&self) -> Option<u32> {
        self.bits.is_none().then_some(self.base)
    }

    /// The first new number after those given here.
    pub fn end(&self) -> u32 {
        self.base + self.survivors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn survivors_are_numbered_in_order_whichever_documents_are_dropped() {
        let seed = 0x5eed_0401;
        let mut random = fastrand::Rng::with_seed(seed);
        for old in [0, 1, 63, 64, 65, 511, 512, 513, 5000] {
            for share in [0, 1, 50, 99, 100] {
                let survive: Vec<bool> = (0..old).map(|_| random.u32(..100) < share).collect();
                let numbers = Renumbering::new(7, old, |number| survive[number as usize]);
                let mut next = 7;
                for (number, &survives) in (0..).zip(&survive) {
                    assert_eq!(numbers.before(number), next, "seed {seed:x} {old} {share}");
                    assert_eq!(numbers.get(number), survives.then_some(next), "seed {seed:x} {old} {share}");
                    if survives {
                        assert_eq!(numbers.old(next), Some(number), "seed {seed:x} {old} {share}");
                    }
                    next += u32::from(survives);
                }
                assert_eq!((numbers.old(6), numbers.old(next)), (None, None));
                assert_eq!((numbers.before(old), numbers.survivors()), (next, next - 7));
                assert_eq!((numbers.end(), numbers.get(old)), (next, None));
                assert_eq!(numbers.shift().is_some(), next == 7 + old);
            }
        }
    }
}
