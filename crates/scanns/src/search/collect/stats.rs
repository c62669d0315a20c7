//! Sums, means and percentiles of the numbers of a column.
//!
//! Sums of integers are exact; those of doubles are compensated (A. Neumaier, 1974), so that their error does not grow with
//! their number. Deviations are put together from those of runs (Chan, Golub and LeVeque, 1979). Percentiles are exact too:
//! whoever asks for them has all values kept, eight bytes each, and of these the wanted ones are selected.

use super::read::{Reader, Run};
use super::window::Matches;
use crate::column::ColumnKind;
use crate::error::{Error, Result};
use crate::schema::Value;

/// Figures of all values that the documents have which match.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Documents that have a value.
    pub documents: u64,
    /// Those that have none.
    pub missing: u64,
    /// Values of all documents.
    pub values: u64,
    /// The least of them; `None` without values, as in what follows.
    pub min: Option<Value>,
    /// The greatest.
    pub max: Option<Value>,
    /// What they come to together.
    pub sum: Option<Sum>,
    /// The mean; of dates in nanoseconds since 1970.
    pub mean: Option<f64>,
    /// The standard deviation of all values, not an estimate from a sample.
    pub deviation: Option<f64>,
    /// The percentiles that were asked for, in that order: the least value that so many percent are not above.
    pub percentiles: Vec<(f64, Value)>,
}

/// A sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sum {
    /// Of whole numbers, truths (1 each), or dates (nanoseconds).
    Whole(i128),
    /// Of doubles.
    Float(f64),
}

/// What makes the order of signed integers that of unsigned ones.
const SIGN: i128 = 1 << 63;

/// Figures that are being made.
#[derive(Debug, Default)]
pub(super) struct StatsCount {
    percentiles: Vec<f64>,
    kind: Option<ColumnKind>,
    documents: u64,
    missing: u64,
    figures: Figures,
    kept: Vec<u64>,
}

#[derive(Debug)]
struct Figures {
    values: u64,
    least: u64,
    most: u64,
    /// Of the integers that stand for the values.
    whole: u128,
    float: f64,
    lost: f64,
    mean: f64,
    /// Squares of what values differ from the mean, together.
    squares: f64,
}

impl Default for Figures {
    fn default() -> Self {
        Figures {
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
    /// # Errors
    /// [`Error::Options`] for a percentile that is not from 0 to 100.
    pub(super) fn new(percentiles: &[f64]) -> Result<Self> {
        if let Some(odd) = percentiles.iter().find(|percent| !(0.0..=100.0).contains(*percent)) {
            return Err(Error::Options(format!("there is no percentile {odd}: ask for 0 to 100")));
        }
        Ok(StatsCount { percentiles: percentiles.to_vec(), ..StatsCount::default() })
    }

    pub(super) fn take(&mut self, reader: Option<&mut Reader<'_>>, matches: &Matches<'_>) -> Result<()> {
        let count = matches.count;
        let Some(reader) = reader else {
            self.missing += count;
            return Ok(());
        };
        let kind = reader.column().kind();
        if !kind.is_number() {
            let why = "sums and means are of numbers and dates: count other fields by a facet";
            return Err(Error::Options(why.into()));
        }
        self.kind = Some(kind);
        let (figures, kept, keep) = (&mut self.figures, &mut self.kept, !self.percentiles.is_empty());
        let present = reader.runs(matches, |run| match run {
            Run::Same(value, documents) => {
                figures.add_same(kind, value, documents);
                if keep {
                    let documents = usize::try_from(documents).unwrap_or(usize::MAX);
                    kept.resize(kept.len().saturating_add(documents), value);
                }
            }
            Run::Singles(values) | Run::Document(values) => {
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

    pub(super) fn finish(mut self) -> Stats {
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

/// Which of so many values in order is the least that `percent` of them are not above.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is not more than the count")]
fn rank(percent: f64, count: usize) -> usize {
    let wanted = (percent * approximate(count as u64) / 100.0).ceil() as usize;
    wanted.clamp(1, count.max(1)) - 1
}

#[expect(clippy::cast_precision_loss, reason = "means of more than 2⁵³ values are rounded")]
fn approximate(number: u64) -> f64 {
    number as f64
}

impl Figures {
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

    /// Adds values that have a mean and squares of their own.
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
            // What was lost of an infinite sum is no number.
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
    fn a_percentile_is_the_least_value_that_enough_are_not_above() {
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
