//! The results of a run, for reports and comparisons: one JSON file, and the same data as CSV.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::stats::Summary;

/// Version of the results file.
pub const FORMAT: u32 = 1;

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Rates.
    Higher,
    /// Times and sizes.
    Lower,
    /// A fact that is neither good nor bad.
    Neither,
}

/// One measurement with its samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Name of the experiment, which is the name of its command.
    pub experiment: String,
    /// What it was measured on, such as a corpus and its unit of documents.
    pub subject: String,
    /// The variant that was measured: a line of a plot.
    pub variant: String,
    /// Settings by name, such as threads or KiB of a block. Numbers are places on an axis.
    pub settings: BTreeMap<String, Setting>,
    /// The metric of the samples, such as `rate`.
    pub metric: String,
    /// Unit of the samples.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// One per round, in the order in which they were measured.
    pub samples: Vec<f64>,
    /// True for figures that others published; they were not measured here.
    #[serde(default)]
    pub published: bool,
}

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Setting {
    /// A place on an axis.
    Number(f64),
    /// A name.
    Name(String),
}

impl From<f64> for Setting {
    fn from(number: f64) -> Self {
        Setting::Number(number)
    }
}

impl From<&str> for Setting {
    fn from(name: &str) -> Self {
        Setting::Name(name.into())
    }
}

impl std::fmt::Display for Setting {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Setting::Number(number) => write!(out, "{number}"),
            Setting::Name(name) => out.write_str(name),
        }
    }
}

/// A quantity that is measured.
#[derive(Clone, Copy, Debug)]
pub struct Metric<'m> {
    /// Its name.
    pub name: &'m str,
    /// The unit of its samples.
    pub unit: &'m str,
    /// Which direction is better.
    pub better: Better,
}

impl<'m> From<(&'m str, &'m str, Better)> for Metric<'m> {
    fn from(metric: (&'m str, &'m str, Better)) -> Self {
        let (name, unit, better) = metric;
        Metric { name, unit, better }
    }
}

impl Series {
    /// A rate in MiB/s, or another unit with [`Series::of`].
    pub fn rate(experiment: &str, subject: &str, variant: &str, samples: Vec<f64>) -> Self {
        Self::of(experiment, subject, variant, ("rate", "MiB/s", Better::Higher), samples)
    }

    /// Samples of any metric: its name, unit, and which way is better.
    pub fn of<'m>(
        experiment: &str,
        subject: &str,
        variant: &str,
        metric: impl Into<Metric<'m>>,
        samples: Vec<f64>,
    ) -> Self {
        let metric = metric.into();
        Series {
            experiment: experiment.into(),
            subject: subject.into(),
            variant: variant.into(),
            settings: BTreeMap::new(),
            metric: metric.name.into(),
            unit: metric.unit.into(),
            better: metric.better,
            samples,
            published: false,
        }
    }

    /// Returns the series with one more setting.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Setting>) -> Self {
        self.settings.insert(name.into(), value.into());
        self
    }

    /// Returns the series, marked as published by others.
    #[must_use]
    pub fn published(mut self) -> Self {
        self.published = true;
        self
    }

    /// Median and spread.
    pub fn summary(&self) -> Summary {
        Summary::of(&self.samples)
    }

    /// Identifies the measurement: the same text for the same measurement in two runs, without the samples.
    pub fn key(&self) -> String {
        self.named(|_| true)
    }

    /// Identifies the curve: the same as the key, without numeric settings.
    pub fn curve(&self) -> String {
        self.named(|setting| matches!(setting, Setting::Name(_)))
    }

    fn named(&self, takes: impl Fn(&Setting) -> bool) -> String {
        let settings = self.settings.iter().filter(|(_, value)| takes(value));
        let settings: Vec<_> = settings.map(|(name, value)| format!("{name} {value}")).collect();
        [&self.experiment, &self.subject, &self.variant, &settings.join(", "), &self.metric]
            .into_iter()
            .filter(|part| !part.is_empty())
            .cloned()
            .collect::<Vec<_>>()
            .join(" · ")
    }
}

/// A run of one or more experiments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// [`FORMAT`].
    pub format: u32,
    /// Version of scanns.
    pub version: String,
    /// When the run began, as in RFC 3339.
    pub began: String,
    /// Arguments of the command.
    pub command: Vec<String>,
    /// Where it ran.
    pub machine: Machine,
    /// The measurements, in the order in which they were added.
    pub series: Vec<Series>,
    /// Remarks of experiments, such as what was left out and why.
    pub notes: Vec<String>,
}

impl Results {
    /// An empty run that begins now and uses `directories`.
    pub fn begin(directories: &[&Path]) -> Self {
        Results {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            began: jiff::Timestamp::now().to_string(),
            command: std::env::args().skip(1).collect(),
            machine: Machine::look(directories),
            series: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Reads a file that [`Results::save`] wrote.
    ///
    /// # Errors
    /// If the file cannot be read, is not a results file, or has a different version.
    pub fn load(path: &Path) -> Result<Self> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let value: serde_json::Value = serde_json::from_str(&text)
            .with_context(|| format!("{} is not a results file: expected JSON", path.display()))?;
        let format = value.get("format").and_then(serde_json::Value::as_u64);
        anyhow::ensure!(
            format == Some(FORMAT.into()),
            "{} has format {format:?}, but this program reads {FORMAT}: run the benchmark again",
            path.display()
        );
        serde_json::from_value(value).with_context(|| format!("{} is damaged", path.display()))
    }

    /// Writes `results.json` and `results.csv` into `directory`, which is created if it is missing.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn save(&self, directory: &Path) -> Result<()> {
        std::fs::create_dir_all(directory)?;
        std::fs::write(directory.join("results.json"), serde_json::to_string_pretty(self)?)?;
        self.write_csv(std::fs::File::create(directory.join("results.csv"))?)
    }

    /// Writes a row for each series.
    fn write_csv(&self, out: impl std::io::Write) -> Result<()> {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record([
            "experiment",
            "subject",
            "variant",
            "settings",
            "metric",
            "unit",
            "better",
            "published",
            "count",
            "median",
            "min",
            "max",
            "error",
            "samples",
        ])?;
        for series in &self.series {
            let summary = series.summary();
            let settings: Vec<_> =
                series.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let samples: Vec<_> = series.samples.iter().map(f64::to_string).collect();
            csv.write_record([
                series.experiment.as_str(),
                &series.subject,
                &series.variant,
                &settings.join(" "),
                &series.metric,
                &series.unit,
                &format!("{:?}", series.better).to_lowercase(),
                &series.published.to_string(),
                &summary.count.to_string(),
                &summary.median.to_string(),
                &summary.min.to_string(),
                &summary.max.to_string(),
                &summary.error.to_string(),
                &samples.join(" "),
            ])?;
        }
        Ok(csv.flush()?)
    }

    /// Adds a series and prints it, with its ratio to `baseline` if that is given.
    pub fn add(&mut self, series: Series, baseline: Option<&[f64]>) {
        let ratio = baseline.map_or(String::new(), |baseline| {
            let (ratio, error) = crate::stats::ratio(&series.samples, baseline);
            format!("  ×{ratio:.2} ± {error:.2}")
        });
        let settings: Vec<_> =
            series.settings.iter().map(|(name, value)| format!("{name} {value}")).collect();
        println!(
            "  {:<34} {:<28} {:<12} {} {}{ratio}",
            series.variant,
            settings.join(", "),
            series.metric,
            series.summary(),
            series.unit
        );
        self.series.push(series);
    }

    /// Joins all series of the same measurement, with the samples of the first one first, and drops repeated
    /// remarks.
    pub fn join(&mut self) {
        let mut joined: Vec<Series> = Vec::new();
        let mut places = BTreeMap::new();
        for series in self.series.drain(..) {
            let place = *places.entry((series.key(), series.published)).or_insert(joined.len());
            match joined.get_mut(place) {
                Some(first) => first.samples.extend(series.samples),
                None => joined.push(series),
            }
        }
        self.series = joined;
        let mut told = std::collections::BTreeSet::new();
        self.notes.retain(|note| told.insert(note.clone()));
    }

    /// Adds and prints a remark.
    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        println!("  note: {note}");
        self.notes.push(note);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Results {
        let mut results = Results::begin(&[Path::new("/")]);
        results
            .add(Series::rate("reader", "dump", "xs-rd-std", vec![1.0, 3.0, 2.0]).with("threads", 2.0), None);
        results.note("x < y & z");
        results
    }

    #[test]
    fn results_come_back_as_they_were_saved() {
        let dir = tempfile::tempdir().unwrap();
        let results = some();
        results.save(dir.path()).unwrap();
        assert_eq!(Results::load(&dir.path().join("results.json")).unwrap(), results);
        let csv = std::fs::read_to_string(dir.path().join("results.csv")).unwrap();
        assert!(
            csv.lines()
                .nth(1)
                .unwrap()
                .starts_with("reader,dump,xs-rd-std,threads=2,rate,MiB/s,higher,false,3,2,1,3,")
        );
    }

    #[test]
    fn passes_become_samples_of_one_series() {
        let mut results = some();
        results.series.push(Series::rate("reader", "dump", "other", vec![9.0]));
        let again = some();
        results.series.extend(again.series);
        results.notes.extend(again.notes);
        results.join();
        assert_eq!(results.series[0].samples, [1.0, 3.0, 2.0, 1.0, 3.0, 2.0]);
        assert_eq!((results.series.len(), results.notes.len()), (2, 1));
    }

    #[test]
    fn other_files_are_refused_with_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("results.json");
        for (text, told) in [
            ("{", "not a results file"),
            ("{\"format\":99}", "run the benchmark again"),
            ("{\"format\":1}", "damaged"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = format!("{:#}", Results::load(&path).unwrap_err());
            assert!(error.contains(told), "{error}");
        }
        assert!(Results::load(&dir.path().join("absent")).is_err());
    }
}
