use super::*;
use crate::search::near::bands::MOST_DISTANCE;

/// More hits than any test has.
const MOST_KEPT: usize = 1 << 20;

/// What becomes of the hits, by comparing each with all kept ones.
fn oracle(sketches: &[Option<u64>], most_bits: u32, most_kept: usize) -> Vec<Placed> {
    let mut kept: Vec<(u64, usize)> = Vec::new();
    let mut placed = Vec::new();
    for (rank, sketch) in sketches.iter().enumerate() {
        let near =
            sketch.and_then(|sketch| kept.iter().find(|(other, _)| distance(*other, sketch) <= most_bits));
        placed.push(near.map_or(Placed::Kept, |&(_, of)| Placed::Near { of }));
        if let (None, Some(sketch)) = (near, sketch)
            && kept.len() < most_kept
        {
            kept.push((*sketch, rank));
        }
    }
    placed
}

/// Sketches of which many are near others, or share some of their bits.
fn some_sketches(rng: &mut fastrand::Rng, count: usize) -> Vec<Option<u64>> {
    let mut sketches: Vec<Option<u64>> = Vec::new();
    let shared = rng.u64(..);
    for _ in 0..count {
        let earlier = if sketches.is_empty() { None } else { sketches[rng.usize(..sketches.len())] };
        let one = match (rng.u8(..8), earlier) {
            (0, _) => None,
            (1, Some(earlier)) => Some(earlier),
            (2 | 3, Some(earlier)) => {
                Some((0..rng.u32(..10)).fold(earlier, |one, _| one ^ 1 << rng.u32(..64)))
            }
            // Few bands differ.
            (4, _) => Some(shared ^ rng.u64(..1 << 16) << [0, 16, 32, 48][rng.usize(..4)]),
            _ => Some(rng.u64(..)),
        };
        sketches.push(one);
    }
    sketches
}

fn rng() -> fastrand::Rng {
    let seed = fastrand::u64(..);
    println!("seed {seed:x}");
    fastrand::Rng::with_seed(seed)
}

#[test]
fn hits_are_placed_as_by_comparing_all() {
    let mut rng = rng();
    for round in 0..60 {
        let most_bits = rng.u32(..=8);
        let count = [10, 300, 3000][round % 3];
        let sketches = some_sketches(&mut rng, count);
        let most_kept = if rng.bool() { MOST_KEPT } else { rng.usize(..=count) };
        let mut groups = SketchGroups::new(most_bits, most_kept);
        let placed: Vec<Placed> = sketches.iter().map(|&sketch| groups.add(sketch)).collect();
        assert!(placed == oracle(&sketches, most_bits, most_kept), "within {most_bits}, {count} hits");
        assert!(groups.remembered() <= most_kept);
    }
}

#[test]
fn many_hits_are_placed_by_tables_as_by_comparing_all() {
    let mut rng = rng();
    for most_bits in [0, 3, NEAR_DISTANCE, 8, MOST_DISTANCE] {
        let sketches = some_sketches(&mut rng, SCANNED * 4);
        let mut groups = SketchGroups::new(most_bits, MOST_KEPT);
        let placed: Vec<Placed> = sketches.iter().map(|&sketch| groups.add(sketch)).collect();
        assert!(matches!(groups.kept, KeptSketches::Tables(_)) || most_bits == MOST_DISTANCE);
        assert!(placed == oracle(&sketches, most_bits, MOST_KEPT), "within {most_bits}");
    }
}

#[test]
fn the_first_near_hit_stands_for_the_others() {
    let mut groups = SketchGroups::new(2, MOST_KEPT);
    assert_eq!(groups.add(Some(0)), Placed::Kept);
    assert_eq!(groups.add(None), Placed::Kept);
    assert_eq!(groups.add(Some(0b1111)), Placed::Kept);
    assert_eq!(groups.add(Some(0b11)), Placed::Near { of: 0 });
    // It is near a collapsed hit only, which does not count.
    assert_eq!(groups.add(Some(0b0111_0011)), Placed::Kept);
    assert_eq!(groups.add(Some(0b1110)), Placed::Near { of: 2 });
    assert_eq!(groups.add(None), Placed::Kept, "hits without a sketch are never equal");
    assert_eq!(groups.remembered(), 3);
}

#[test]
fn collapsed_hits_are_counted_also_behind_the_last_kept_one() {
    let hits =
        [("a", Some(0)), ("b", Some(1)), ("c", None), ("d", Some(u64::MAX)), ("e", Some(2)), ("f", None)];
    let kept = collapse_hits(hits, 1, 2);
    assert_eq!(kept, [KeptHit { hit: "a", near: 2 }, KeptHit { hit: "c", near: 0 }]);
    assert_eq!(collapse_hits(hits, 0, 9).len(), 6);
    assert!(collapse_hits(hits, 1, 0).is_empty());
}

#[test]
fn counts_agree_with_the_oracle() {
    let mut rng = rng();
    for _ in 0..40 {
        let sketches = some_sketches(&mut rng, 500);
        let most = rng.usize(..600);
        let placed = oracle(&sketches, NEAR_DISTANCE, usize::MAX);
        let ranks: Vec<usize> = (0..500).filter(|&rank| placed[rank] == Placed::Kept).take(most).collect();
        let kept = collapse_hits(sketches.iter().copied().enumerate(), NEAR_DISTANCE, most);
        assert!(kept.iter().map(|kept| kept.hit).eq(ranks.iter().copied()));
        for KeptHit { hit, near } in &kept {
            // A hit that is near a kept one counts there, also if a hit that was cut off is nearer in rank.
            let is_near = |sketch: &Option<u64>, rank: &usize| {
                let (one, other) = (sketch.as_ref()?, sketches[*rank].as_ref()?);
                (distance(*one, *other) <= NEAR_DISTANCE).then_some(*rank)
            };
            let first = |sketch: &Option<u64>| ranks.iter().find_map(|rank| is_near(sketch, rank));
            let later = sketches.iter().enumerate().filter(|(rank, _)| !ranks.contains(rank));
            assert_eq!(later.filter(|(_, sketch)| first(sketch) == Some(*hit)).count() as u64, *near);
        }
    }
}
