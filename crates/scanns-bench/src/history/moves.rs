//! The noise of a figure, and the runs that moved it beyond.

use super::runs::Figure;
use crate::results::Better;
use crate::stats::median;

/// The least noise of any figure, as a share. Even steady figures differ by this between two builds.
const LEAST: f64 = 0.02;

/// The number of runs whose median is the level of a figure.
const LATEST: usize = 5;

/// The level of a figure at one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The median of the latest runs before, back to the last move; at a move, the value itself.
    pub value: f64,
    /// How many times better the run is than the level before, if that is beyond the noise.
    pub moved: Option<f64>,
}

/// Half the spread of values as a share of their median.
fn half_spread(values: &[f64]) -> f64 {
    let (least, greatest) =
        values.iter().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(*value), high.max(*value)));
    let middle = median(values);
    if middle > 0.0 { (greatest - least) / 2.0 / middle } else { 0.0 }
}

/// The noise of a figure as a share of its value: the larger one of the median half spread of the rounds of a
/// run, and of the half spread of repeated runs of a commit. `points` are the runs of one figure.
pub fn noise(points: &[&Figure]) -> f64 {
    let rounds: Vec<f64> =
        points.iter().map(|point| half_spread(&[point.least, point.value, point.greatest])).collect();
    let repeated: Vec<f64> = points
        .chunk_by(|one, next| one.commit == next.commit)
        .filter(|runs| runs.len() > 1)
        .map(|runs| half_spread(&runs.iter().map(|run| run.value).collect::<Vec<_>>()))
        .collect();
    let middle = |shares: &[f64]| if shares.is_empty() { 0.0 } else { median(shares) };
    middle(&rounds).max(middle(&repeated)).max(LEAST)
}

/// The level at each of `points`, which are the runs of one figure in the order of their dates.
pub fn levels(points: &[&Figure]) -> Vec<Level> {
    let noise = noise(points);
    let (mut levels, mut since): (Vec<Level>, Vec<f64>) = (Vec::new(), Vec::new());
    for point in points {
        let latest = since.get(since.len().saturating_sub(LATEST)..).unwrap_or_default();
        let before = if latest.is_empty() { point.value } else { median(latest) };
        let gain = match point.better {
            Better::Lower => before / point.value,
            _ => point.value / before,
        };
        let moved = (gain > 1.0 + noise || gain < 1.0 / (1.0 + noise)).then_some(gain);
        if moved.is_some() {
            since.clear();
        }
        since.push(point.value);
        levels.push(Level { value: if moved.is_some() { point.value } else { before }, moved });
    }
    levels
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Runs of one figure: commit, value, and half the spread of its rounds.
    pub fn runs(better: Better, runs: &[(&str, f64, f64)]) -> Vec<Figure> {
        let run = |(at, &(commit, value, half)): (usize, &(&str, f64, f64))| Figure {
            commit: commit.into(),
            date: format!("2026-11-{:02}T00:00:00Z", at + 1),
            committed: None,
            machine: "2 cores X".into(),
            corpus: "dump & more".into(),
            figure: "peers: committed".into(),
            unit: "MiB/s".into(),
            better,
            value,
            least: value - half,
            greatest: value + half,
            lucene: Some(3.0),
            tantivy: None,
        };
        runs.iter().enumerate().map(run).collect()
    }

    fn of(figures: &[Figure]) -> (f64, Vec<Option<f64>>) {
        let points: Vec<&Figure> = figures.iter().collect();
        (noise(&points), levels(&points).into_iter().map(|level| level.moved).collect())
    }

    #[test]
    fn noise_is_that_of_the_rounds_or_of_repeated_runs() {
        let steady = runs(Better::Higher, &[("a", 100.0, 0.0), ("b", 100.0, 0.0)]);
        assert_eq!(of(&steady).0, LEAST);
        let rounds = runs(Better::Higher, &[("a", 100.0, 7.0), ("b", 100.0, 7.0)]);
        assert!((of(&rounds).0 - 0.07).abs() < 1e-9);
        let repeated = runs(Better::Higher, &[("a", 90.0, 1.0), ("a", 110.0, 1.0), ("b", 100.0, 1.0)]);
        assert!((of(&repeated).0 - 0.1).abs() < 1e-9);
        assert_eq!(noise(&[]), LEAST);
    }

    #[test]
    fn a_commit_moves_a_figure_beyond_the_noise_once_and_in_its_direction() {
        let faster = [("a", 100.0, 5.0), ("b", 104.0, 5.0), ("c", 150.0, 5.0), ("d", 148.0, 5.0)];
        assert_eq!(of(&runs(Better::Higher, &faster)).1, [None, None, Some(150.0 / 102.0), None]);
        let slower = of(&runs(Better::Lower, &faster)).1;
        assert!(slower[2].is_some_and(|gain| gain < 0.7) && slower[3].is_none());
    }
}
