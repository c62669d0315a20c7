//! Sums, means and percentiles of the numbers of a column.
//!
//! Sums and sums of squares are exact (see `moments.rs`); means and deviations are rounded once. Percentiles
//! are exact: they keep all values, eight bytes each, and select from them.

use serde::{Deserialize, Serialize};

use super::answer::Stats;
use super::match_reader::{MatchReader, ValueRun};
use super::matches::Matches;
use super::moments::{Moments, approximate};
use crate::column::ColumnKind;
use crate::error::{Error, Result};

/// Statistics in progress.
#[derive(Debug, Default)]
pub(crate) struct StatsCount {
    percentiles: Vec<f64>,
    kind: Option<ColumnKind>,
    parts: StatsParts,
}

/// What statistics are computed from, which can be added up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct StatsParts {
    documents: u64,
    missing: u64,
    figures: Moments,
    /// The integers that represent all values, if percentiles are wanted.
    kept: Vec<u64>,
}

impl StatsParts {
    pub(crate) fn join(&mut self, other: StatsParts) {
        self.documents = self.documents.saturating_add(other.documents);
        self.missing = self.missing.saturating_add(other.missing);
        self.figures.join(other.figures);
        self.kept.extend(other.kept);
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

    /// Statistics of a column of this kind from their parts.
    pub(crate) fn of_parts(percentiles: &[f64], kind: ColumnKind, parts: StatsParts) -> Result<Self> {
        Ok(StatsCount { kind: Some(kind), parts, ..StatsCount::new(percentiles)? })
    }

    /// What the statistics are computed from.
    pub(crate) fn into_parts(self) -> StatsParts {
        self.parts
    }

    pub(crate) fn take(&mut self, reader: Option<&mut MatchReader<'_>>, matches: &Matches<'_>) -> Result<()> {
        let count = matches.count;
        let Some(reader) = reader else {
            self.parts.missing += count;
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
        let StatsParts { figures, kept, .. } = &mut self.parts;
        let keep = !self.percentiles.is_empty();
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
        self.parts.documents += present;
        self.parts.missing += count.saturating_sub(present);
        Ok(())
    }

    pub(crate) fn finish(self) -> Stats {
        let StatsParts { documents, missing, figures, mut kept } = self.parts;
        let mut stats = Stats { documents, missing, ..Stats::default() };
        let Some(kind) = self.kind else { return stats };
        stats.values = figures.values;
        if figures.values == 0 {
            return stats;
        }
        stats.min = Some(kind.value_of(figures.least));
        stats.max = Some(kind.value_of(figures.most));
        let (sum, mean) = figures.sum(kind);
        (stats.sum, stats.mean) = (Some(sum), Some(mean));
        stats.deviation = Some(figures.deviation());
        for &percent in &self.percentiles {
            let rank = rank(percent, kept.len());
            if rank < kept.len() {
                let (_, value, _) = kept.select_nth_unstable(rank);
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
