use std::f64::consts::TAU;

use super::*;

/// A shape of costs over lanes, read threads, pages, block size and queue depth, each from 0 to 1 along its
/// axis.
type Shape = fn(&[f64]) -> f64;

/// Everything matters a little, and nothing depends on anything else.
fn bowl(x: &[f64]) -> f64 {
    let best = [0.8, 0.3, 0.5, 0.6, 0.2];
    (0..5).map(|i| (x[i] - best[i]).powi(2) * [2.0, 0.4, 0.3, 0.5, 0.3][i]).sum::<f64>() + 1.0
}

/// One axis decides, the others are a plateau with a cliff at each end.
fn cliffs(x: &[f64]) -> f64 {
    let cliff = |x: f64, from: f64| if x < from { 1.0 + (from - x) * 2.0 } else { 1.0 };
    (2.0 - x[0]) * cliff(x[3], 0.25) * cliff(x[4], 0.3) * if x[2] == 0.5 { 1.3 } else { 1.0 }
}

/// The more lanes, the more read threads are needed; the larger the blocks, the less depth.
fn valley(x: &[f64]) -> f64 {
    let lanes = 1.0 + (1.0 - x[0]) + 0.8 * x[0] * (0.6 - x[1]).max(0.0);
    lanes * (1.0 + 0.3 * (0.6 - x[3] - x[4]).max(0.0)) * (1.0 + 0.1 * x[2])
}

/// A device that is the limit: only deep queues of small blocks help.
fn device(x: &[f64]) -> f64 {
    1.0 + 0.8 * (0.75 - x[4]).max(0.0) + 0.3 * (x[3] - 0.4).max(0.0) + 0.05 * x[0]
}

/// Nothing matters.
fn flat(_: &[f64]) -> f64 {
    1.0
}

const SHAPES: [(&str, Shape); 5] =
    [("bowl", bowl), ("cliffs", cliffs), ("valley", valley), ("device", device), ("flat", flat)];

/// Grids of machines with 2 and with 32 cores.
const GRIDS: [[usize; 5]; 2] = [[2, 2, 3, 6, 5], [6, 6, 3, 6, 5]];

fn axes(grid: [usize; 5]) -> Vec<Axis> {
    (0..5).map(|i| Axis { values: grid[i], ordered: i != 2 }).collect()
}

/// All cores, a quarter of the read threads, the first kind of pages, blocks and depth in the middle.
fn start(grid: [usize; 5]) -> Point {
    vec![grid[0] - 1, grid[1] / 4, 0, 2, 2]
}

fn cost(shape: Shape, grid: [usize; 5], point: &[usize]) -> f64 {
    let place = |i: usize| point[i] as f64 / (grid[i] - 1) as f64;
    shape(&(0..5).map(place).collect::<Vec<_>>())
}

fn best_of(shape: Shape, grid: [usize; 5]) -> f64 {
    let mut least = f64::INFINITY;
    for number in 0..grid.iter().product::<usize>() {
        let mut rest = number;
        let point: Point = grid.iter().map(|&len| (rest % len, rest /= len).0).collect();
        least = least.min(cost(shape, grid, &point));
    }
    least
}

/// The disturbances of a measurement on a shared machine: a little always, a lot occasionally, and slow
/// minutes.
fn noise(random: &mut fastrand::Rng, time: usize) -> f64 {
    let usual = 0.05 * random.f64() * random.f64();
    let spike = if random.u8(..) < 20 { 0.3 * random.f64() } else { 0.0 };
    1.0 + usual + spike + 0.05 * (1.0 + (time as f64 / 40.0 * TAU).sin())
}

/// The cost of the result divided by the best cost, and the number of measurements, for one seed.
fn run(shape: Shape, grid: [usize; 5], seed: u64) -> (f64, usize, SearchOutcome) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut count = 0;
    let found = search(&axes(grid), &start(grid), usize::MAX / 4, &mut |point| {
        count += 1;
        Ok(Cost::Of(cost(shape, grid, point) * noise(&mut random, count)))
    });
    let found = found.unwrap();
    (cost(shape, grid, &found.best) / best_of(shape, grid), count, found)
}

#[test]
fn the_choice_is_nearly_the_best_of_the_grid_for_a_tenth_of_its_measurements() {
    const SEEDS: u64 = 200;
    for grid in GRIDS {
        // A grid is measured three times if it has few points, so that its best point is reliable.
        let whole = grid.iter().product::<usize>() * if grid[0] == 2 { 3 } else { 1 };
        for (name, shape) in SHAPES {
            let (mut short, mut most) = (Vec::new(), 0);
            for seed in 0..SEEDS {
                let (ratio, count, _) = run(shape, grid, seed);
                most = most.max(count);
                if ratio > 1.0 / 0.95 {
                    short.push((seed, ratio));
                }
            }
            assert!(short.len() as u64 <= SEEDS / 100, "{name} {grid:?}: seeds and ratios {short:?}");
            assert!(most * 10 <= whole, "{name} {grid:?}: {most} of {whole} measurements");
        }
    }
}

#[test]
fn where_nothing_matters_the_start_stays() {
    let left = (0..200).filter(|&seed| run(flat, GRIDS[0], seed).2.best != start(GRIDS[0])).count();
    assert!(left <= 4, "{left} of 200 searches left the start for nothing");
}

#[test]
fn a_search_keeps_to_its_measurements_and_passes_by_what_is_impossible() {
    let grid = GRIDS[1];
    for most in [0, 1, 5, 20, 40] {
        let mut count = 0;
        let found = search(&axes(grid), &start(grid), most, &mut |point| {
            if point[3] > 2 {
                return Ok(Cost::Impossible);
            }
            count += 1;
            Ok(Cost::Of(cost(bowl, grid, point)))
        });
        let found = found.unwrap();
        assert!(count <= most, "{count} of {most}");
        assert!(found.best[3] <= 2 && cost(bowl, grid, &found.best) <= cost(bowl, grid, &start(grid)));
        assert_eq!(found.measured.iter().map(|known| known.costs.len()).sum::<usize>(), count);
    }
}

#[test]
fn when_time_is_over_or_measuring_fails_nothing_is_believed() {
    let grid = GRIDS[0];
    let mut left = 9;
    let found = search(&axes(grid), &start(grid), 100, &mut |point| {
        left -= 1;
        Ok(if left < 0 { Cost::OutOfTime } else { Cost::Of(cost(bowl, grid, point)) })
    });
    assert_eq!(found.unwrap().best, start(grid), "there was no time for a duel");
    let failed = search(&axes(grid), &start(grid), 100, &mut |_| Err(crate::error::Error::Cancelled));
    assert!(failed.is_err());
}

#[test]
fn the_median_of_pairs_comes_with_its_error() {
    assert_eq!(median_gain(&[]), Gain::NONE);
    assert_eq!(median_gain(&[1.2, 1.2, 1.2]), Gain { ratio: 1.2, error: 0.0 });
    let Gain { ratio: center, error } = median_gain(&[1.0, 1.1, 1.2, 1.3]);
    assert!((center - 1.15).abs() < 1e-9 && (error - 0.0929).abs() < 1e-3, "{center} {error}");
    let is_clear = |ratio, error| Gain { ratio, error }.is_clear();
    assert!(is_clear(1.1, 0.01) && !is_clear(1.1, 0.06) && !is_clear(1.01, 0.0));
}
