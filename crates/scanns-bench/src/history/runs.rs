//! The records of the history: one JSON line for each figure of a run.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::results::{Better, Results, Series, Setting};
use crate::stats::ratio;

/// One figure of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The commit that was measured; a `+` at the end means that files were changed.
    pub commit: String,
    /// When the run began, as in RFC 3339.
    pub date: String,
    /// When an earlier commit that was measured with the current one was made, in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed: Option<String>,
    /// Cores and processor.
    pub machine: String,
    /// What was measured on.
    pub corpus: String,
    /// The name of the figure.
    pub figure: String,
    /// The unit of the value.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// The median over the rounds.
    pub value: f64,
    /// The least of the rounds.
    pub least: f64,
    /// The greatest of the rounds.
    pub greatest: f64,
    /// How many times better than Lucene in the same run, if it was measured.
    pub lucene: Option<f64>,
    /// How many times better than tantivy in the same run, if it was measured.
    pub tantivy: Option<f64>,
}

impl Figure {
    /// Identifies the line of the page that the figure is a point of.
    pub fn key(&self) -> [&str; 3] {
        [&self.machine, &self.corpus, &self.figure]
    }

    /// The place of the figure on its line: an earlier commit stands where it was made.
    pub(super) fn order(&self) -> [&str; 2] {
        [self.committed.as_ref().unwrap_or(&self.date), &self.date]
    }

    /// Identifies the measurement.
    fn identity(&self) -> [&str; 5] {
        [&self.commit, &self.date, &self.machine, &self.corpus, &self.figure]
    }
}

/// What a comparison calls the variant of an earlier commit, before the name of the commit.
const EARLIER: &str = "scanns at ";

/// The figures of scanns in some results: of a comparison, the builds and the means over all classes of
/// queries, also those of earlier commits; of other experiments, the last variant with the same settings,
/// which by convention is ours.
pub fn figures(results: &Results, commit: &str) -> Vec<Figure> {
    let machine = format!("{} cores {}", results.machine.cores, results.machine.processor);
    let measured: Vec<&Series> = results.series.iter().filter(|series| !series.published).collect();
    let same = |one: &Series, other: &Series| {
        (&one.experiment, &one.subject, &one.metric, &one.settings)
            == (&other.experiment, &other.subject, &other.metric, &other.settings)
    };
    let mut found = Vec::new();
    for (at, series) in measured.iter().enumerate() {
        let ours = match series.experiment.as_str() {
            "reference" => false,
            "peers" => series.variant.starts_with("scanns") && is_kept(series),
            _ => !measured.iter().skip(at + 1).any(|later| same(series, later)),
        };
        let summary = series.summary();
        if !ours || series.better == Better::Neither || !summary.median.is_finite() {
            continue;
        }
        let than = |peer: &str| {
            let peers =
                measured.iter().filter(|other| other.variant.starts_with(peer) && same(series, other));
            let gains = peers.map(|other| match series.better {
                Better::Higher => ratio(&series.samples, &other.samples).0,
                _ => ratio(&other.samples, &series.samples).0,
            });
            gains.filter(|gain| gain.is_finite()).min_by(f64::total_cmp)
        };
        found.push(Figure {
            commit: series.variant.strip_prefix(EARLIER).unwrap_or(commit).into(),
            date: results.began.clone(),
            committed: None,
            machine: machine.clone(),
            corpus: series.subject.clone(),
            figure: name(series),
            unit: series.unit.clone(),
            better: series.better,
            value: summary.median,
            least: summary.min,
            greatest: summary.max,
            lucene: than("Lucene"),
            tantivy: than("tantivy"),
        });
    }
    found
}

/// True if a series of a comparison has a line on the page. Single classes of queries have none.
fn is_kept(series: &Series) -> bool {
    series.settings.get("class").is_none_or(|class| *class == Setting::Name("mean".into()))
}

/// The name of a figure: its experiment, metric, and settings. The variant is always ours.
fn name(series: &Series) -> String {
    let settings = series.settings.iter().filter(|(name, _)| *name != "class");
    let mut name = format!("{}: {}", series.experiment, series.metric);
    settings.for_each(|(setting, value)| name += &format!(", {setting} {value}"));
    name
}

/// Appends figures to a file, which is created if it is missing. Returns how many were added, and how many
/// were there already.
///
/// # Errors
/// If the file cannot be read or written.
pub fn append(path: &Path, figures: &[Figure]) -> Result<(usize, usize)> {
    let before = if path.exists() { read(path)? } else { Vec::new() };
    let mut known: BTreeSet<[&str; 5]> = before.iter().map(Figure::identity).collect();
    let new: Vec<&Figure> = figures.iter().filter(|figure| known.insert(figure.identity())).collect();
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    }
    let mut text = String::new();
    for figure in &new {
        text += &serde_json::to_string(figure)?;
        text.push('\n');
    }
    let mut file = fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .with_context(|| format!("cannot write {}", path.display()))?;
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    Ok((new.len(), figures.len() - new.len()))
}

/// Reads a file of figures, in the order of their commits and dates.
///
/// # Errors
/// If the file cannot be read, or a line is not a figure.
pub fn read(path: &Path) -> Result<Vec<Figure>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let parse = |(at, line): (usize, &str)| -> Result<Figure> {
        let why = || format!("{}, line {}: not a figure; correct or remove the line", path.display(), at + 1);
        serde_json::from_str(line).with_context(why)
    };
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let mut figures = lines.map(parse).collect::<Result<Vec<Figure>>>()?;
    figures.sort_by(|one, next| one.order().cmp(&next.order()));
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Results {
        let mut results = Results::begin(&[Path::new("/")]);
        let rate = ("committed", "MiB/s", Better::Higher);
        for (variant, rates) in [("scanns 0.1.0", [100.0, 120.0]), ("Lucene 10", [50.0, 60.0])] {
            results
                .series
                .push(Series::of("peers", "dump", variant, rate, rates.into()).with("threads", 2.0));
        }
        let time = ("top 10", "µs", Better::Lower);
        for (variant, micros) in [("scanns 0.1.0", 2.0), ("tantivy 0.27", 6.0)] {
            for class in ["low", "mean"] {
                let series = Series::of("peers", "dump", variant, time, vec![micros]);
                results.series.push(series.with("class", class).with("model", "bm25"));
            }
        }
        for variant in ["strtok", "ours"] {
            results.series.push(Series::rate("tokenizer", "text", variant, vec![1.0]));
        }
        results.series.push(Series::rate("reference", "machine", "copy", vec![1.0]));
        results
    }

    #[test]
    fn figures_are_those_of_scanns_with_the_ratios_of_the_same_run() {
        let found = figures(&results(), "abc");
        let shown: Vec<_> = found.iter().map(|one| (one.figure.as_str(), one.lucene, one.tantivy)).collect();
        assert_eq!(
            shown,
            [
                ("peers: committed, threads 2", Some(2.0), None),
                ("peers: top 10, model bm25", None, Some(3.0)),
                ("tokenizer: rate", None, None)
            ]
        );
        assert_eq!((found[0].value, found[0].least, found[0].greatest), (110.0, 100.0, 120.0));
    }

    #[test]
    fn a_run_is_appended_once_and_comes_back_in_the_order_of_dates() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history/runs.jsonl");
        let new = figures(&results(), "new");
        let old: Vec<Figure> =
            new.iter().map(|one| Figure { date: "2000-01-01T00:00:00Z".into(), ..one.clone() }).collect();
        assert_eq!(append(&path, &new).unwrap(), (3, 0));
        assert_eq!(append(&path, &[old.clone(), new.clone()].concat()).unwrap(), (3, 3));
        assert_eq!(read(&path).unwrap(), [old, new].concat());
    }

    #[test]
    fn earlier_commits_have_figures_of_their_own_and_stand_where_they_were_made() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("runs.jsonl");
        let mut results = results();
        let rate = ("committed", "MiB/s", Better::Higher);
        let earlier = Series::of("peers", "dump", "scanns at 1a2b", rate, vec![75.0, 90.0]);
        results.series.push(earlier.with("threads", 2.0));
        let mut found = figures(&results, "abc");
        let (last, before) = found.split_last_mut().unwrap();
        assert_eq!((last.commit.as_str(), last.value, last.lucene), ("1a2b", 82.5, Some(1.5)));
        assert!(before[0].commit == "abc" && before[0].key() == last.key());
        last.committed = Some("2020-01-01T00:00:00Z".into());
        assert_eq!(append(&path, &found).unwrap(), (4, 0));
        assert_eq!(read(&path).unwrap()[0].commit, "1a2b");
        assert_eq!(append(&path, &found).unwrap(), (0, 4));
    }

    #[test]
    fn a_damaged_line_is_told_with_its_number() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("runs.jsonl");
        append(&path, &figures(&results(), "a")).unwrap();
        fs::write(&path, fs::read_to_string(&path).unwrap() + "{}\n").unwrap();
        let error = format!("{:#}", read(&path).unwrap_err());
        assert!(error.contains("line 4") && error.contains("missing field"), "{error}");
        assert!(append(&path, &[]).is_err(), "nothing is appended to a damaged file");
    }
}
