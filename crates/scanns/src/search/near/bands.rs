//! Bands of sketches: which of them may be near, by four numbers of 16 bits.
//!
//! If two sketches differ in at most *d* = 4*r* + *a* bits (0 ≤ *a* < 4), then one of the first *a* + 1
//! bands differs in at most *r* bits, or one of the others in at most *r* - 1: else there were at least
//! (*a* + 1)(*r* + 1) + (3 - *a*)*r* = *d* + 1 different bits. So a table for each band, and a look-up of
//! each key within that number of bits, find all sketches that are near (Norouzi, Punjani and Fleet, "Fast
//! Search in Hamming Space with Multi-Index Hashing", 2012; with *r* = 0 these are the tables of Manku,
//! Jain and Das Sarma, "Detecting Near-Duplicates for Web Crawling", 2007). With *d* = 5 there are 36
//! look-ups, and with 10⁶ sketches about 550 sketches to compare.

/// The number of bands.
pub(crate) const BANDS: usize = 4;

/// The number of keys of a band.
pub(crate) const KEYS: usize = 1 << 16;

/// The maximum distance of sketches that count as near, in bits. Texts that share no pair of
/// words differ in 32 bits or so, a few of them in less than 20.
pub const MOST_DISTANCE: u32 = 15;

/// The number of bits in which two sketches differ.
#[inline]
#[must_use]
pub const fn distance(one: u64, other: u64) -> u32 {
    (one ^ other).count_ones()
}

/// The keys of a sketch, by band.
#[inline]
pub(crate) const fn keys(sketch: u64) -> [u16; BANDS] {
    let bytes = sketch.to_le_bytes();
    let [first, first_high, second, second_high, third, third_high, fourth, fourth_high] = bytes;
    [
        u16::from_le_bytes([first, first_high]),
        u16::from_le_bytes([second, second_high]),
        u16::from_le_bytes([third, third_high]),
        u16::from_le_bytes([fourth, fourth_high]),
    ]
}

/// The look-ups that find all sketches within a distance.
#[derive(Clone, Debug)]
pub(crate) struct Probes {
    /// The distance, in bits.
    distance: u32,
    /// The bits to change in a key, from no bits to the greatest number of them.
    flips: Vec<u16>,
    /// By band: the number of `flips` to try.
    counts: [usize; BANDS],
}

impl Probes {
    /// The look-ups for a distance of at most [`MOST_DISTANCE`]; a greater one counts as that.
    pub(crate) fn new(distance: u32) -> Self {
        let distance = distance.min(MOST_DISTANCE);
        let (radius, more) = (distance / 4, distance % 4);
        let mut flips: Vec<u16> = (0..=u16::MAX).filter(|bits| bits.count_ones() <= radius).collect();
        flips.sort_by_key(|bits| bits.count_ones());
        let fewer = flips.partition_point(|bits| bits.count_ones() < radius);
        let counts = [0, 1, 2, 3].map(|band| if band <= more { flips.len() } else { fewer });
        Probes { distance, flips, counts }
    }

    pub(crate) fn distance(&self) -> u32 {
        self.distance
    }

    /// The bits to change in the key of a band.
    pub(crate) fn flips(&self, band: usize) -> &[u16] {
        self.counts.get(band).and_then(|&count| self.flips.get(..count)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sketch_within_the_distance_is_found_by_some_band() {
        let seed = fastrand::u64(..);
        println!("seed {seed:x}");
        let mut rng = fastrand::Rng::with_seed(seed);
        for most in 0..=MOST_DISTANCE {
            let probes = Probes::new(most);
            for _ in 0..2000 {
                let one = rng.u64(..);
                let mut other = one;
                // Bits in few bands are the hard case.
                let width = [16, 32, 48, 64][rng.usize(..4)].max(most);
                let shift = rng.u32(..64);
                while distance(one, other) < most {
                    other ^= (1u64 << rng.u32(..width)).rotate_left(shift);
                }
                let finds = |band: usize| probes.flips(band).contains(&(keys(one)[band] ^ keys(other)[band]));
                assert!((0..BANDS).any(finds), "{one:x} {other:x} {most}");
            }
        }
    }

    #[test]
    fn the_number_of_look_ups_is_small() {
        let count = |most| (0..BANDS).map(|band| Probes::new(most).flips(band).len()).sum::<usize>();
        assert_eq!([0, 3, 5, 6, 7, 8].map(count), [1, 4, 36, 52, 68, 188]);
        assert_eq!(Probes::new(99).distance(), MOST_DISTANCE);
    }

    #[test]
    fn keys_are_the_bits_of_a_sketch_the_lowest_first() {
        assert_eq!(keys(0x1122_3344_5566_7788), [0x7788, 0x5566, 0x3344, 0x1122]);
    }
}
