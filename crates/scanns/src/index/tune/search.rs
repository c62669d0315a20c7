//! The search: the cheapest point of a grid, where every measurement of a cost is noisy and dear.
//!
//! Coordinate descent: one axis after the other, the one with the largest effect first, then the neighbours of what
//! was found until nothing changes. Each axis is a race: all of its values are measured once, side by side with the
//! incumbent, then the best few again, until one is left (successive halving, Jamieson and Talwalkar 2016; racing,
//! Maron and Moore 1994). Of a runner the least cost counts, since what disturbs a measurement only adds to it
//! (Chen and Revels 2016). At the end the winner meets the starting point in a duel of pairs, and has to be better
//! beyond the noise of the pairs.

use crate::error::Result;

/// A point of the grid: for each axis the number of a value.
pub(super) type Point = Vec<usize>;

/// One axis of the grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    /// How many values it has.
    pub(super) values: usize,
    /// True if costs rise and fall along the values, so that nothing good is expected behind a clear loser.
    pub(super) ordered: bool,
}

/// What a measurement gave.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cost {
    /// Seconds, or another figure of which less is better.
    Of(f64),
    /// There is no such point.
    Impossible,
    /// Nothing was measured, since the time is over.
    OutOfTime,
}

/// Measures a point.
pub(super) type Measure<'a> = dyn FnMut(&[usize]) -> Result<Cost> + 'a;

/// A point that was measured, and every cost it had, in order.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) point: Point,
    pub(super) costs: Vec<f64>,
}

/// What a search came to.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The winner of the duel: the starting point, unless another one is clearly better.
    pub(super) best: Point,
    /// The winner of all races, which lost the duel if it is not the best.
    pub(super) challenger: Point,
    /// Cost of the start over that of the challenger, by pairs: the middle one and its standard error. 1 and 0
    /// where there was no challenger.
    pub(super) gain: (f64, f64),
    /// Everything that was measured, in the order of the first measurement.
    pub(super) measured: Vec<Measured>,
}

/// A value this much worse than the best one ends the walk along an ordered axis.
const CLEAR_LOSS: f64 = 1.15;

/// What may stay in a race after each round: this much worse than the best, and so many.
const ROUNDS: [(f64, usize); 2] = [(1.1, 3), (1.04, 2)];

/// Less than this is no reason to leave the incumbent.
const WORTH: f64 = 1.02;

/// Pairs in a duel.
const PAIRS: [usize; 2] = [3, 6];

/// Searches the grid of `axes` from `start`, with `most` measurements at most.
///
/// # Errors
/// The first error of `measure`.
pub(super) fn search(
    axes: &[Axis],
    start: &[usize],
    most: usize,
    measure: &mut Measure<'_>,
) -> Result<Found> {
    let mut search = Search { measure, left: most.saturating_sub(2 * PAIRS[1]), measured: Vec::new() };
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
    let best = if gain.is_some_and(is_clear) { incumbent.clone() } else { start.to_vec() };
    Ok(Found { best, challenger: incumbent, gain: gain.unwrap_or((1.0, 0.0)), measured: search.measured })
}

/// A gain that is worth having, and more than noise.
fn is_clear((gain, error): (f64, f64)) -> bool {
    gain > WORTH && gain - 2.0 * error > 1.0
}

fn moved(point: &[usize], axis: usize, value: usize) -> Point {
    let mut point = point.to_vec();
    point[axis] = value;
    point
}

/// The other values of an axis as walks that begin beside `from`; without `far`, one step of each.
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

struct Search<'a, 'b> {
    measure: &'a mut Measure<'b>,
    /// Measurements that may still be made.
    left: usize,
    measured: Vec<Measured>,
}

impl Search<'_, '_> {
    /// Measures a point once; `None` where there is no such point, or no time left.
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

    /// The winner among the incumbent and the points on the ways that begin beside it.
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
                // A loss that ends a walk is measured twice: the first time may have been disturbed.
                if field.last().is_some_and(|runner| runner.best > bar) && self.again(field.last_mut())? > bar
                {
                    break;
                }
            }
        }
        for (round, (margin, most)) in ROUNDS.into_iter().enumerate() {
            let bar = least(&field) * margin;
            // One bad measurement does not throw the incumbent out.
            field.retain(|runner| runner.best <= bar || round == 0 && runner.point == incumbent);
            // Stable, so that of equals the incumbent, which came first, stays.
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
            // The other way round each time, so that drift favours nobody.
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

    /// Lets a point take part, measured once; false if it cannot.
    fn enter(&mut self, field: &mut Vec<Runner>, point: Point) -> Result<bool> {
        let cost = self.measure(&point)?;
        field.extend(cost.map(|best| Runner { point, best }));
        Ok(cost.is_some())
    }

    /// Measures a runner again and gives its best cost.
    fn again(&mut self, runner: Option<&mut Runner>) -> Result<f64> {
        let Some(runner) = runner else { return Ok(f64::INFINITY) };
        if let Some(cost) = self.measure(&runner.point)? {
            runner.best = runner.best.min(cost);
        }
        Ok(runner.best)
    }

    /// How much dearer `start` is than `challenger`: the middle of the ratios of pairs, and its standard error.
    fn duel(&mut self, start: &[usize], challenger: &[usize]) -> Result<(f64, f64)> {
        let mut ratios = Vec::new();
        for pair in 0..PAIRS[1] {
            let order = if pair % 2 == 0 { [start, challenger] } else { [challenger, start] };
            let (Some(first), Some(second)) = (self.measure(order[0])?, self.measure(order[1])?) else {
                break;
            };
            ratios.push(if pair % 2 == 0 { first / second } else { second / first });
            if ratios.len() >= PAIRS[0] && is_clear(middle(&ratios)) {
                break;
            }
        }
        Ok(middle(&ratios))
    }
}

/// The least cost in a race.
fn least(field: &[Runner]) -> f64 {
    field.iter().map(|runner| runner.best).fold(f64::INFINITY, f64::min)
}

/// The median of ratios and its standard error, from the median deviation; no gain where there are no ratios.
fn middle(ratios: &[f64]) -> (f64, f64) {
    if ratios.is_empty() {
        return (1.0, 0.0);
    }
    let center = median(ratios);
    let deviations: Vec<f64> = ratios.iter().map(|ratio| (ratio - center).abs()).collect();
    let count = u32::try_from(ratios.len()).map_or(f64::INFINITY, f64::from);
    // 1.48 makes a standard deviation of it, 1.25 says how much less sure a median is than a mean.
    (center, 1.4826 * 1.2533 * median(&deviations) / count.sqrt())
}

/// The middle value, or the mean of the middle two; not a number where there is none.
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
