//! Medians, the spread of samples, and ratios with their error.
//!
//! Shared machines have slow minutes, and their samples have long tails on one side. Nothing here therefore
//! assumes a normal distribution: the middle is the median, the spread is measured by ranks, and a ratio is
//! taken round by round, between samples that were measured one right after the other.

use serde::{Deserialize, Serialize};

/// The median of some samples, and their spread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The number of samples.
    pub count: usize,
    /// The middle one, or the mean of the two in the middle.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// Standard error of the median, computed from the median distance to it.
    pub error: f64,
}

/// The sample at `share` of the way through sorted samples, interpolated between two of them.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rank"
)]
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share.clamp(0.0, 1.0) * last as f64;
    let at = |i: usize| sorted.get(i.min(last)).copied().unwrap_or(f64::NAN);
    let (low, part) = (place.floor(), place.fract());
    let low = low as usize;
    if part == 0.0 { at(low) } else { at(low) * (1.0 - part) + at(low + 1) * part }
}

/// The median of samples in any order; NaN if there are none.
pub fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile(&sorted, 0.5)
}

impl Summary {
    /// Summarizes samples in any order. If there are none, all values but the count are NaN.
    pub fn of(samples: &[f64]) -> Self {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let middle = quantile(&sorted, 0.5);
        let away: Vec<f64> = sorted.iter().map(|sample| (sample - middle).abs()).collect();
        // 1.4826 turns the median distance into a standard deviation, and 1.2533 turns the error of a mean
        // into the error of a median. Both hold for normal samples; here they give an order of magnitude.
        #[expect(clippy::cast_precision_loss, reason = "a count of runs")]
        let error = 1.4826 * 1.2533 * median(&away) / (sorted.len().max(1) as f64).sqrt();
        Summary {
            count: sorted.len(),
            median: middle,
            min: quantile(&sorted, 0.0),
            max: quantile(&sorted, 1.0),
            error,
        }
    }

    /// The error as a share of the median.
    pub fn relative_error(&self) -> f64 {
        if self.median == 0.0 { 0.0 } else { (self.error / self.median).abs() }
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = if self.median.abs() < 10.0 { 2 } else { 1 };
        write!(out, "{:.digits$} ({:.digits$} to {:.digits$})", self.median, self.min, self.max)
    }
}

/// Bytes as MiB.
#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
pub fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// The ratio of `one` to `other`, with its error.
///
/// If both have the same number of samples, these are taken as rounds in turns: the result is the median of
/// the ratios of the rounds, so that a slow minute that hit both cancels out. Otherwise it is the ratio of
/// the medians, with both errors.
pub fn ratio(one: &[f64], other: &[f64]) -> (f64, f64) {
    if one.len() == other.len() {
        let rounds: Vec<f64> = one.iter().zip(other).map(|(one, other)| one / other).collect();
        let summary = Summary::of(&rounds);
        return (summary.median, summary.error);
    }
    let (one, other) = (Summary::of(one), Summary::of(other));
    let ratio = one.median / other.median;
    (ratio, ratio * one.relative_error().hypot(other.relative_error()))
}

/// Measures every variant once per round, forwards in one round and backwards in the next, so that a machine
/// that becomes slower or faster meanwhile affects all of them. Returns the samples of each variant.
///
/// # Errors
/// The first error of `measure`.
pub fn in_turns<V, E>(
    rounds: usize,
    variants: &[V],
    mut measure: impl FnMut(&V) -> Result<f64, E>,
) -> Result<Vec<Vec<f64>>, E> {
    let mut samples = vec![Vec::with_capacity(rounds); variants.len()];
    for round in 0..rounds {
        for step in 0..variants.len() {
            let at = if round % 2 == 0 { step } else { variants.len() - 1 - step };
            if let (Some(variant), Some(samples)) = (variants.get(at), samples.get_mut(at)) {
                samples.push(measure(variant)?);
            }
        }
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_the_middle_and_quantiles_lie_between_samples() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(quantile(&[0.0, 10.0], 0.99), 9.9);
        assert!(median(&[]).is_nan());
        assert_eq!(Summary::of(&[5.0; 7]).error, 0.0);
    }

    #[test]
    fn a_slow_minute_that_hits_both_does_not_change_their_ratio() {
        let other = [100.0, 100.0, 40.0, 100.0, 55.0];
        let one = other.map(|rate| rate * 2.0);
        assert_eq!(ratio(&one, &other), (2.0, 0.0));
        let (ratio, error) = ratio(&one[..4], &other);
        assert!((ratio - 2.0).abs() < 1e-9 && error >= 0.0, "medians of unequal numbers of samples");
    }

    #[test]
    fn turns_go_forwards_and_backwards_and_each_variant_has_every_round() {
        let mut order = Vec::new();
        let samples = in_turns(3, &[1.0, 2.0], |&variant| {
            order.push(variant);
            Ok::<_, ()>(variant)
        });
        assert_eq!(order, [1.0, 2.0, 2.0, 1.0, 1.0, 2.0]);
        assert_eq!(samples.unwrap(), [vec![1.0; 3], vec![2.0; 3]]);
    }
}
