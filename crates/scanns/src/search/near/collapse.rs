//! Collapses hits: of hits whose texts are nearly equal, the one with the best rank is kept.
//!
//! A hit is compared with the hits that were kept, and not with those that were collapsed. So every collapsed
//! hit is near the hit that stands for it, and a chain of small changes does not collapse texts that differ.
//! Up to `SCANNED` kept sketches are compared one after the other, about 1 µs in all; more are looked up in
//! the tables of `bands.rs`, 1 to 12 µs. Kept sketches that share 16 bits are all compared; they are few
//! unless someone makes such texts, and then the time is quadratic at worst.

use std::collections::HashMap;

use super::bands::{BANDS, KEYS, Probes, distance, keys};

/// The distance up to which texts are near-duplicates, in bits, unless the user chooses another.
///
/// Measured on passages of 50 to 5,000 words: with 1 % of the words changed, 94 to 99 % are within it, with
/// 2 % 74 to 93 %, with 5 % 20 to 66 %, and with 10 % 1 to 23 %; of pairs that share half of their words in a
/// block, 0 to 0.2 %. Among real files, 95 to 99.7 % of the pairs within it share at least 0.7 of their pairs
/// of words; with 6 bits, 90 to 99 %.
pub const NEAR_DISTANCE: u32 = 5;

/// With more kept sketches, tables are faster than comparing all.
const SCANNED: usize = 2048;

/// What becomes of a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placed {
    /// No kept hit is near: the hit is kept.
    Kept,
    /// The hit is nearly equal to this earlier one, which was kept.
    Near {
        /// The rank of the kept hit: the number of hits added before it. If several are near, the first.
        of: usize,
    },
}

/// The kept hits of an answer. Add all hits in the order of their ranks.
#[derive(Clone, Debug)]
struct SketchGroups {
    probes: Probes,
    /// The maximum number of kept sketches.
    most: usize,
    /// The number of hits added.
    added: usize,
    kept: KeptSketches,
}

/// The sketches of kept hits.
#[derive(Clone, Debug)]
enum KeptSketches {
    /// A few, with their ranks.
    Few(Vec<(u64, usize)>),
    /// Many.
    Tables(BandTables),
}

/// Sketches by the keys of their bands, and their ranks. No sketch occurs twice.
#[derive(Clone, Debug)]
struct BandTables {
    /// By band and key. Whole sketches, because looking them up elsewhere takes longer than comparing them.
    buckets: Vec<Vec<u64>>,
    ranks: HashMap<u64, usize>,
}

impl SketchGroups {
    /// Collapses hits whose sketches differ in at most this number of bits, up to
    /// [`MOST_DISTANCE`](super::bands::MOST_DISTANCE). Remembers at most `most` kept hits, about 80 bytes of
    /// each. Hits are compared with these, and later ones that are kept are not compared with each other.
    fn new(distance: u32, most: usize) -> Self {
        let kept = KeptSketches::Few(Vec::new());
        SketchGroups { probes: Probes::new(distance), most, added: 0, kept }
    }

    /// Adds the next hit. A hit without a sketch is kept.
    fn add(&mut self, sketch: Option<u64>) -> Placed {
        let rank = self.added;
        self.added += 1;
        let Some(sketch) = sketch else { return Placed::Kept };
        if let Some(of) = self.near(sketch) {
            return Placed::Near { of };
        }
        if self.remembered() < self.most {
            self.kept.insert(sketch, rank);
        }
        Placed::Kept
    }

    /// The rank of the first kept hit that is near a sketch.
    fn near(&self, sketch: u64) -> Option<usize> {
        self.kept.first_within(sketch, &self.probes)
    }

    /// The number of kept hits that later ones are compared with.
    fn remembered(&self) -> usize {
        match &self.kept {
            KeptSketches::Few(few) => few.len(),
            KeptSketches::Tables(tables) => tables.ranks.len(),
        }
    }
}

impl KeptSketches {
    fn insert(&mut self, sketch: u64, rank: usize) {
        match self {
            KeptSketches::Few(few) => {
                few.push((sketch, rank));
                if few.len() > SCANNED {
                    let mut tables = BandTables::new();
                    for &(sketch, rank) in few.iter() {
                        tables.insert(sketch, rank);
                    }
                    *self = KeptSketches::Tables(tables);
                }
            }
            KeptSketches::Tables(tables) => tables.insert(sketch, rank),
        }
    }

    fn first_within(&self, sketch: u64, probes: &Probes) -> Option<usize> {
        match self {
            KeptSketches::Few(few) => {
                let near = few.iter().find(|(other, _)| distance(sketch, *other) <= probes.distance());
                near.map(|&(_, rank)| rank)
            }
            KeptSketches::Tables(tables) => tables.first_within(sketch, probes),
        }
    }
}

impl BandTables {
    fn new() -> Self {
        BandTables { buckets: vec![Vec::new(); BANDS * KEYS], ranks: HashMap::new() }
    }

    fn insert(&mut self, sketch: u64, rank: usize) {
        for (band, key) in keys(sketch).into_iter().enumerate() {
            if let Some(bucket) = self.buckets.get_mut(band * KEYS + usize::from(key)) {
                bucket.push(sketch);
            }
        }
        self.ranks.insert(sketch, rank);
    }

    fn first_within(&self, sketch: u64, probes: &Probes) -> Option<usize> {
        let mut first: Option<usize> = None;
        for (band, key) in keys(sketch).into_iter().enumerate() {
            for flip in probes.flips(band) {
                let bucket = self.buckets.get(band * KEYS + usize::from(key ^ flip));
                for &other in bucket.into_iter().flatten() {
                    if distance(sketch, other) <= probes.distance()
                        && let Some(&rank) = self.ranks.get(&other)
                    {
                        first = Some(first.map_or(rank, |first| first.min(rank)));
                    }
                }
            }
        }
        first
    }
}

/// A kept hit, and how many others it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptHit<T> {
    /// The hit.
    pub hit: T,
    /// The number of later hits that are near-duplicates of it.
    pub near: u64,
}

/// Collapses hits, which come in the order of their ranks, each with its sketch. The first `most` kept hits
/// are returned in this order. All hits are counted, also after the last one that is returned.
pub(super) fn collapse_hits<T>(
    hits: impl IntoIterator<Item = (T, Option<u64>)>,
    distance: u32,
    most: usize,
) -> Vec<KeptHit<T>> {
    let mut groups = SketchGroups::new(distance, most);
    let mut kept: Vec<KeptHit<T>> = Vec::new();
    // The places of kept hits in `kept`, by rank.
    let mut places: HashMap<usize, usize> = HashMap::new();
    for (rank, (hit, sketch)) in hits.into_iter().enumerate() {
        // Hits that come too late are no longer kept, so they are not compared with.
        let near = match sketch {
            Some(sketch) if kept.len() >= most => groups.near(sketch),
            None if kept.len() >= most => None,
            sketch => match groups.add(sketch) {
                Placed::Near { of } => Some(of),
                Placed::Kept => {
                    places.insert(rank, kept.len());
                    kept.push(KeptHit { hit, near: 0 });
                    continue;
                }
            },
        };
        if let Some(of) = near.and_then(|of| places.get(&of)).and_then(|&place| kept.get_mut(place)) {
            of.near += 1;
        }
    }
    kept
}

#[cfg(test)]
mod tests;
