//! Searches a grid for the point with the least cost, where measurements are noisy and expensive.
//!
//! The search is a coordinate descent: it goes through the axes, the one with the largest effect first, and
//! then through the neighbours of the best point until nothing changes. Each axis is a race: all of its
//! values are measured once, together with the incumbent, then the best few again, until one is left
//! (successive halving, Jamieson and Talwalkar 2016; racing, Maron and Moore 1994). The least cost of a
//! runner counts, because disturbances only add to a measurement (Chen and Revels 2016). At the end the
//! winner meets the starting point in a duel of pairs, and must be better beyond the noise of the pairs.

use crate::error::Result;

/// A point of the grid: for each axis the number of a value.
pub(super) type Point = Vec<usize>;

/// One axis of the grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    /// The number of values.
    pub(super) values: usize,
    /// True if costs rise and fall along the values, so that a clear loser ends the walk.
    pub(super) ordered: bool,
}

/// The result of a measurement.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cost {
    /// Seconds, or another figure where less is better.
    Of(f64),
    /// The point does not exist.
    Impossible,
    /// Nothing was measured because the time is used up.
    OutOfTime,
}

/// Measures a point.
pub(super) type Measure<'a> = dyn FnMut(&[usize]) -> Result<Cost> + 'a;

/// A measured point, and all its costs in order.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) point: Point,
    pub(super) costs: Vec<f64>,
}

/// How much cheaper one point is than another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gain {
    /// The cost of the other point divided by the cost of this one.
    pub(super) ratio: f64,
    /// The standard error of the ratio.
    pub(super) error: f64,
}

impl Gain {
    /// No gain, known for certain.
    const NONE: Gain = Gain { ratio: 1.0, error: 0.0 };

    /// True if the gain is large enough, and more than noise.
    fn is_clear(&self) -> bool {
        self.ratio > WORTH && self.ratio - 2.0 * self.error > 1.0
    }
}

/// The result of a search.
#[derive(Clone, Debug)]
pub(super) struct SearchOutcome {
    /// The winner of the duel: the starting point, unless another one is clearly better.
    pub(super) best: Point,
    /// The winner of all races. It lost the duel if it is not the best.
    pub(super) challenger: Point,
    /// The gain of the challenger over the start: the median over pairs. 1 without error if there was no
    /// challenger.
    pub(super) gain: Gain,
    /// All measured points, in the order of their first measurement.
    pub(super) measured: Vec<Measured>,
}

/// A value that is worse than the best one by this factor ends the walk along an ordered axis.
const CLEAR_LOSS: f64 = 1.15;

/// The runners that stay in a race after each round: the maximum factor by which they exceed the best cost,
/// and their maximum number.
const ROUNDS: [(f64, usize); 2] = [(1.1, 3), (1.04, 2)];

/// A gain below this factor does not replace the incumbent.
const WORTH: f64 = 1.02;

/// The minimum and maximum number of pairs in a duel.
const PAIRS: [usize; 2] = [3, 6];

/// Searches the grid of `axes` from `start`, with at most `most` measurements.
///
/// # Errors
/// The first error of `measure`.
pub(super) fn search(
    axes: &[Axis],
    start: &[usize],
    most: usize,
    measure: &mut Measure<'_>,
) -> Result<SearchOutcome> {
    let mut search = GridSearch { measure, left: most.saturating_sub(2 * PAIRS[1]), measured: Vec::new() };
    let mut incumbent = start.to_vec();
    let mut quiet = 0;
    for turn in 0..2 * axes.len() {
        let axis = turn % axes.len();
        if quiet >= axes.len().max(2) - usize::from(turn >= axes.len()) {
            break;
        }
        let ways = ways(axes[axis], incumbent[axis], turn < axes.len());
        let points = |way: Vec<usize>| way.into_iter().map(|value| moved(&incumbent, axis, value)).collect();
        let winner = search.race(&incumbent, ways.into_iter().map(points).collect())?;
        quiet = if winner == incumbent { quiet + 1 } else { 0 };
        incumbent = winner;
    }
    search.left += 2 * PAIRS[1].min(most / 2);
    let gain = if incumbent == start { None } else { Some(search.duel(start, &incumbent)?) };
    let best = if gain.is_some_and(|gain| gain.is_clear()) { incumbent.clone() } else { start.to_vec() };
    Ok(SearchOutcome {
        best,
        challenger: incumbent,
        gain: gain.unwrap_or(Gain::NONE),
        measured: search.measured,
    })
}

fn moved(point: &[usize], axis: usize, value: usize) -> Point {
    let mut point = point.to_vec();
    point[axis] = value;
    point
}

/// The other values of an axis as walks away from `from`; without `far`, only the first step of each.
fn ways(axis: Axis, from: usize, far: bool) -> Vec<Vec<usize>> {
    if !axis.ordered {
        return (0..axis.values).filter(|&value| value != from).map(|value| vec![value]).collect();
    }
    let (down, up) = ((0..from).rev(), from + 1..axis.values);
    let steps = if far { axis.values } else { 1 };
    vec![down.take(steps).collect(), up.take(steps).collect()]
}

/// One value in a race.
struct Runner {
    point: Point,
    best: f64,
}

struct GridSearch<'a, 'b> {
    measure: &'a mut Measure<'b>,
    /// Measurements that are left.
    left: usize,
    measured: Vec<Measured>,
}

impl GridSearch<'_, '_> {
    /// Measures a point once. Returns `None` if the point does not exist or no time is left.
    fn measure(&mut self, point: &[usize]) -> Result<Option<f64>> {
        if self.left == 0 {
            return Ok(None);
        }
        let cost = match (self.measure)(point)? {
            Cost::Of(cost) => cost,
            Cost::Impossible => return Ok(None),
            Cost::OutOfTime => {
                self.left = 0;
                return Ok(None);
            }
        };
        self.left -= 1;
        match self.measured.iter_mut().find(|known| known.point == point) {
            Some(known) => known.costs.push(cost),
            None => self.measured.push(Measured { point: point.to_vec(), costs: vec![cost] }),
        }
        Ok(Some(cost))
    }

    /// The winner among the incumbent and the points on the walks away from it.
    fn race(&mut self, incumbent: &[usize], ways: Vec<Vec<Point>>) -> Result<Point> {
        let mut field = Vec::new();
        if ways.iter().all(Vec::is_empty) || !self.enter(&mut field, incumbent.to_vec())? {
            return Ok(incumbent.to_vec());
        }
        for way in ways {
            for point in way {
                let bar = least(&field) * CLEAR_LOSS;
                if !self.enter(&mut field, point)? {
                    continue;
                }
                // A loss that ends a walk is measured twice, because the first measurement may have been
                // disturbed.
                if field.last().is_some_and(|runner| runner.best > bar) && self.again(field.last_mut())? > bar
                {
                    break;
                }
            }
        }
        for (round, (margin, most)) in ROUNDS.into_iter().enumerate() {
            let bar = least(&field) * margin;
            // One bad measurement does not eliminate the incumbent.
            field.retain(|runner| runner.best <= bar || round == 0 && runner.point == incumbent);
            // The sort is stable, so that the incumbent, which comes first, wins ties.
            field.sort_by(|a, b| a.best.total_cmp(&b.best));
            while field.len() > most {
                let last = field.iter().rposition(|runner| runner.point != incumbent);
                last.map(|last| field.remove(last));
            }
            let least = least(&field);
            let stays = |runner: &Runner| runner.point == incumbent && runner.best <= least * WORTH;
            if field.len() < 2 || round > 0 && field.iter().any(stays) {
                break;
            }
            // Reverse the order each time, so that drift favours no runner.
            field.reverse();
            for runner in &mut field {
                self.again(Some(runner))?;
            }
        }
        let winner = field.iter().min_by(|a, b| a.best.total_cmp(&b.best));
        let stays = field.iter().find(|runner| runner.point == incumbent);
        Ok(match (winner, stays) {
            (Some(winner), Some(stays)) if winner.best * WORTH > stays.best => stays.point.clone(),
            (Some(winner), _) => winner.point.clone(),
            (None, _) => incumbent.to_vec(),
        })
    }

    /// Measures a point once and adds it to the race. Returns false if it cannot be measured.
    fn enter(&mut self, field: &mut Vec<Runner>, point: Point) -> Result<bool> {
        let cost = self.measure(&point)?;
        field.extend(cost.map(|best| Runner { point, best }));
        Ok(cost.is_some())
    }

    /// Measures a runner again and returns its best cost.
    fn again(&mut self, runner: Option<&mut Runner>) -> Result<f64> {
        let Some(runner) = runner else { return Ok(f64::INFINITY) };
        if let Some(cost) = self.measure(&runner.point)? {
            runner.best = runner.best.min(cost);
        }
        Ok(runner.best)
    }

    /// The gain of `challenger` over `start`, over pairs of measurements.
    fn duel(&mut self, start: &[usize], challenger: &[usize]) -> Result<Gain> {
        let mut ratios = Vec::new();
        for pair in 0..PAIRS[1] {
            let order = if pair % 2 == 0 { [start, challenger] } else { [challenger, start] };
            let (Some(first), Some(second)) = (self.measure(order[0])?, self.measure(order[1])?) else {
                break;
            };
            ratios.push(if pair % 2 == 0 { first / second } else { second / first });
            if ratios.len() >= PAIRS[0] && median_gain(&ratios).is_clear() {
                break;
            }
        }
        Ok(median_gain(&ratios))
    }
}

/// The least cost in a race.
fn least(field: &[Runner]) -> f64 {
    field.iter().map(|runner| runner.best).fold(f64::INFINITY, f64::min)
}

/// The median of ratios, with its standard error from the median deviation; no gain without ratios.
fn median_gain(ratios: &[f64]) -> Gain {
    if ratios.is_empty() {
        return Gain::NONE;
    }
    let center = median(ratios);
    let deviations: Vec<f64> = ratios.iter().map(|ratio| (ratio - center).abs()).collect();
    let count = u32::try_from(ratios.len()).map_or(f64::INFINITY, f64::from);
    // 1.48 turns the median deviation into a standard deviation; 1.25 is the error of a median relative to a
    // mean.
    Gain { ratio: center, error: 1.4826 * 1.2533 * median(&deviations) / count.sqrt() }
}

/// The middle value, or the mean of the middle two; NaN without values.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.get(sorted.len() / 2), sorted.len() % 2) {
        (Some(&upper), 0) => (sorted[sorted.len() / 2 - 1] + upper) / 2.0,
        (Some(&value), _) => value,
        (None, _) => f64::NAN,
    }
}

#[cfg(test)]
mod tests;
