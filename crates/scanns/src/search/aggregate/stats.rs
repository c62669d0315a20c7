//! Sums, means and percentiles of the numbers of a column.
//!
//! Sums of integers are exact. Sums of floating-point numbers are compensated (A. Neumaier, 1974), so that
//! their error does not grow with their number. The deviations of runs are combined (Chan, Golub and LeVeque,
//! 1979). Percentiles are exact: they keep all values, eight bytes each, and select from them.

use super::answer::{Stats, Sum};
use super::match_reader::{MatchReader, ValueRun};
use super::matches::Matches;
use crate::column::ColumnKind;
use crate::error::{Error, Result};

/// The offset between signed integers and the unsigned integers that represent them.
const SIGN: i128 = 1 << 63;

/// Statistics in progress.
#[derive(Debug, Default)]
pub(crate) struct StatsCount {
    percentiles: Vec<f64>,
    kind: Option<ColumnKind>,
    documents: u64,
    missing: u64,
    figures: RunningStats,
    kept: Vec<u64>,
}

#[derive(Debug)]
struct RunningStats {
    values: u64,
    least: u64,
    most: u64,
    /// The sum of the integers that represent the values.
    whole: u128,
    float: f64,
    /// The compensation of `float`.
    lost: f64,
    mean: f64,
    /// The sum of the squared distances from the mean.
    squares: f64,
}

impl Default for RunningStats {
    fn default() -> Self {
        RunningStats {
            values: 0,
            least: u64::MAX,
            most: 0,
            whole: 0,
            float: 0.0,
            lost: 0.0,
            mean: 0.0,
            squares: 0.0,
        }
    }
}

impl StatsCount {
    /// Creates statistics without values.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a percentile outside 0 to 100.
    pub(crate) fn new(percentiles: &[f64]) -> Result<Self> {
        if let Some(odd) = percentiles.iter().find(|percent| !(0.0..=100.0).contains(*percent)) {
            return Err(Error::invalid("percentile", odd, "0 to 100"));
        }
        Ok(StatsCount { percentiles: percentiles.to_vec(), ..StatsCount::default() })
    }

    pub(crate) fn take(&mut self, reader: Option<&mut MatchReader<'_>>, matches: &Matches<'_>) -> Result<()> {
        let count = matches.count;
        let Some(reader) = reader else {
            self.missing += count;
            return Ok(());
        };
        let kind = reader.column().kind();
        if !kind.is_number() {
            return Err(Error::Unsupported {
                what: "summing a column without numbers or dates".into(),
                remedy: "count its values with a facet".into(),
            });
        }
        self.kind = Some(kind);
        let (figures, kept, keep) = (&mut self.figures, &mut self.kept, !self.percentiles.is_empty());
        let present = reader.runs(matches, |run| match run {
            ValueRun::Same(value, documents) => {
                figures.add_same(kind, value, documents);
                if keep {
                    let documents = usize::try_from(documents).unwrap_or(usize::MAX);
                    kept.resize(kept.len().saturating_add(documents), value);
                }
            }
            ValueRun::Singles(values) | ValueRun::Document(values) => {
                figures.add(kind, values);
                if keep {
                    kept.extend_from_slice(values);
                }
            }
        })?;
        self.documents += present;
        self.missing += count.saturating_sub(present);
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Stats {
        let mut stats = Stats { documents: self.documents, missing: self.missing, ..Stats::default() };
        let (Some(kind), figures) = (self.kind, &self.figures) else { return stats };
        stats.values = figures.values;
        if figures.values == 0 {
            return stats;
        }
        let count = approximate(figures.values);
        stats.min = Some(kind.value_of(figures.least));
        stats.max = Some(kind.value_of(figures.most));
        let (sum, mean) = figures.sum(kind);
        (stats.sum, stats.mean) = (Some(sum), Some(mean));
        stats.deviation = Some((figures.squares / count).sqrt());
        for &percent in &self.percentiles {
            let rank = rank(percent, self.kept.len());
            if rank < self.kept.len() {
                let (_, value, _) = self.kept.select_nth_unstable(rank);
                stats.percentiles.push((percent, kind.value_of(*value)));
            }
        }
        stats
    }
}

/// The nearest-rank index of a percentile in `count` sorted values.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the index is at most the count")]
fn rank(percent: f64, count: usize) -> usize {
    let wanted = (percent * approximate(count as u64) / 100.0).ceil() as usize;
    wanted.clamp(1, count.max(1)) - 1
}

#[expect(clippy::cast_precision_loss, reason = "means of more than 2⁵³ values are rounded")]
fn approximate(number: u64) -> f64 {
    number as f64
}

impl RunningStats {
    fn add(&mut self, kind: ColumnKind, values: &[u64]) {
        if values.is_empty() {
            return;
        }
        let (mut least, mut most, mut whole) = (self.least, self.most, 0u128);
        for &value in values {
            least = least.min(value);
            most = most.max(value);
            whole += u128::from(value);
        }
        (self.least, self.most) = (least, most);
        let count = approximate(values.len() as u64);
        let numbers = || values.iter().map(|&value| kind.number_of(value));
        if kind.is_float() {
            numbers().for_each(|number| self.add_float(number));
        } else {
            self.whole = self.whole.wrapping_add(whole);
        }
        let mean = numbers().sum::<f64>() / count;
        let squares = numbers().map(|number| (number - mean) * (number - mean)).sum::<f64>();
        self.join(values.len() as u64, mean, squares);
    }

    fn add_same(&mut self, kind: ColumnKind, value: u64, count: u64) {
        (self.least, self.most) = (self.least.min(value), self.most.max(value));
        if kind.is_float() {
            self.add_float(kind.number_of(value) * approximate(count));
        } else {
            self.whole = self.whole.wrapping_add(u128::from(value) * u128::from(count));
        }
        self.join(count, kind.number_of(value), 0.0);
    }

    #[inline]
    fn add_float(&mut self, number: f64) {
        let sum = self.float + number;
        self.lost += if self.float.abs() >= number.abs() {
            self.float - sum + number
        } else {
            number - sum + self.float
        };
        self.float = sum;
    }

    /// Adds a set of values, given its size, its mean and its sum of squares.
    fn join(&mut self, values: u64, mean: f64, squares: f64) {
        let (before, more) = (approximate(self.values), approximate(values));
        let all = before + more;
        let apart = mean - self.mean;
        self.mean += apart * (more / all);
        self.squares += squares + apart * apart * (before * more / all);
        self.values += values;
    }

    #[expect(clippy::cast_precision_loss, reason = "means are rounded")]
    fn sum(&self, kind: ColumnKind) -> (Sum, f64) {
        let count = approximate(self.values);
        if kind.is_float() {
            // The compensation of an infinite sum is not a number.
            let sum = if self.float.is_finite() { self.float + self.lost } else { self.float };
            return (Sum::Float(sum), sum / count);
        }
        let is_signed = matches!(kind, ColumnKind::Signed | ColumnKind::Date);
        let shift = if is_signed { SIGN * i128::from(self.values) } else { 0 };
        let sum = self.whole.cast_signed() - shift;
        (Sum::Whole(sum), sum as f64 / count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_has_the_nearest_rank() {
        for (percent, count, expected) in [
            (99.9, 1_000, 998),
            (99.9, 1_000_000, 998_999),
            (7.0, 100, 6),
            (55.0, 100, 54),
            (50.0, 1, 0),
            (0.0, 9, 0),
            (100.0, 9, 8),
        ] {
            assert_eq!(rank(percent, count), expected, "{percent} of {count}");
        }
    }
}
