//! Finds what became slower between two builds, beyond noise.
//!
//! There are two ways: compare two files of results that were measured at different times, or run two
//! programs in turns now. A shared machine is faster in one minute than in the next, by more than most
//! changes to a program make. A difference therefore counts only if it is larger than a tenth, and larger
//! than the spread of the samples on either side. Between files, it must also exceed the difference of the
//! machine itself, which the reference work of both runs shows.
//!
//! Some measurements are points of a curve, such as one over block sizes. If a single point differs and its
//! neighbours do not, the point is reported, to be measured again, but it does not count. A disturbance of
//! one second affects one point; a change to the program hardly ever does. The report ends with the size of a
//! change that would have been visible in the noise.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::results::{Better, Results, Series};
use crate::stats::{Summary, median, ratio};

/// What to compare.
#[derive(Debug, clap::Args)]
pub struct CompareArgs {
    /// Results of the old build (`results.json`), or its scanns-bench program
    pub old: PathBuf,
    /// The same for the new build
    pub new: PathBuf,
    /// Rounds in which two programs take turns
    #[arg(long, default_value_t = 5)]
    pub rounds: usize,
    /// Arguments of the two programs; default: all --quick
    #[arg(last = true)]
    pub arguments: Vec<String>,
}

/// The smallest difference that counts.
const LEAST: f64 = 0.10;

/// The difference in one measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// [`Series::key`].
    pub key: String,
    /// How many times better the new build is. Below 1, it is worse.
    pub gain: f64,
    /// The difference that it must exceed to count, as a share.
    pub noise: f64,
    /// [`Series::curve`]: the same for measurements that differ only in numeric settings.
    curve: String,
    /// True if it is the only one of several points of its curve that differs in its direction.
    pub alone: bool,
}

impl Difference {
    /// True if the new build is worse beyond noise.
    pub fn is_worse(&self) -> bool {
        !self.alone && self.beyond(1.0) < 0
    }

    /// True if the new build is better beyond noise.
    pub fn is_better(&self) -> bool {
        !self.alone && self.beyond(1.0) > 0
    }

    /// -1 if it is worse by more than `share` of the noise, 1 if it is better by more than that, otherwise 0.
    fn beyond(&self, share: f64) -> i32 {
        let least = 1.0 + self.noise * share;
        i32::from(self.gain > least) - i32::from(self.gain < 1.0 / least)
    }
}

/// Marks points that differ alone in their curves.
fn mark_alone(found: &mut [Difference]) {
    let mut curves = BTreeMap::<&str, Vec<(i32, i32)>>::new();
    for point in found.iter() {
        curves.entry(&point.curve).or_default().push((point.beyond(1.0), point.beyond(0.5)));
    }
    let alone = |point: &Difference| {
        let (points, side) = (&curves[point.curve.as_str()], point.beyond(1.0));
        let alike = points.iter().filter(|&&(_, half)| half == side).count();
        side != 0 && points.len() > 1 && alike < 2
    };
    let marks: Vec<bool> = found.iter().map(alone).collect();
    found.iter_mut().zip(marks).for_each(|(point, alone)| point.alone = alone);
}

/// Half the range of the samples, as a share of their median.
fn spread(samples: &[f64]) -> f64 {
    let summary = Summary::of(samples);
    let half = (summary.max - summary.min) / 2.0;
    if summary.median == 0.0 { 0.0 } else { (half / summary.median).abs() }
}

/// Factors for the noise of a measurement: one for its own spread, one for the usual spread in its
/// experiment. The second exists because samples that happen to lie close together are no more certain than
/// their neighbours. With these factors, two hundred measurements of a program against itself flag none (see
/// the test below).
const MARGINS: (f64, f64) = (1.5, 2.0);

/// Compares the measurements that both sides have. `drift` is how much the machine itself differed.
fn differences(old: &[Series], new: &[Series], drift: f64) -> Vec<Difference> {
    let old: BTreeMap<String, &Series> = old.iter().map(|series| (series.key(), series)).collect();
    let both = new.iter().filter_map(|series| old.get(&series.key()).map(|old| (*old, series)));
    // Predictions follow from measurements and magnify their noise.
    let measured = |series: &Series| !series.published && series.experiment != "scaling";
    let both: Vec<_> = both.filter(|(_, new)| measured(new) && new.better != Better::Neither).collect();
    let noise = |old: &Series, new: &Series| spread(&old.samples).hypot(spread(&new.samples));
    let mut usual = BTreeMap::<&str, Vec<f64>>::new();
    for (old, new) in &both {
        usual.entry(&new.experiment).or_default().push(noise(old, new));
    }
    let usual: BTreeMap<&str, f64> =
        usual.into_iter().map(|(name, noises)| (name, median(&noises))).collect();
    let differ = |(old, new): &(&Series, &Series)| {
        let (times, _) = ratio(&new.samples, &old.samples);
        let gain = if new.better == Better::Higher { times } else { 1.0 / times };
        let usual = usual.get(new.experiment.as_str()).copied().unwrap_or(0.0);
        let noise = (MARGINS.0 * noise(old, new)).max(MARGINS.1 * usual) + drift;
        Difference { key: new.key(), gain, noise: noise.max(LEAST), curve: new.curve(), alone: false }
    };
    let mut found: Vec<_> = both.iter().map(differ).filter(|found| found.gain.is_finite()).collect();
    mark_alone(&mut found);
    found
}

/// How much the machine differed between two runs: the median over the kinds of reference work. On nearly any
/// virtual machine, the maximum would be the figure for fresh memory, which says little about work that
/// allocates none.
fn drift(old: &Results, new: &Results) -> f64 {
    let reference = |results: &Results| -> BTreeMap<String, f64> {
        let series = results.series.iter().filter(|series| series.experiment == "reference");
        series.map(|series| (series.key(), median(&series.samples))).collect()
    };
    let (old, new) = (reference(old), reference(new));
    let shares =
        new.iter().filter_map(|(key, new)| old.get(key).map(|old| (new / old).ln().abs().exp() - 1.0));
    let shares: Vec<f64> = shares.filter(|share| share.is_finite()).collect();
    if shares.is_empty() { 0.0 } else { median(&shares) }
}

/// Combines the runs of one program: each sample of a series is the median of one run.
fn gather(runs: &[Results]) -> Vec<Series> {
    let mut gathered: Vec<Series> = Vec::new();
    for series in runs.iter().flat_map(|run| &run.series) {
        let middle = median(&series.samples);
        match gathered.iter_mut().find(|known| known.key() == series.key()) {
            Some(known) => known.samples.push(middle),
            None => gathered.push(Series { samples: vec![middle], ..series.clone() }),
        }
    }
    gathered
}

/// Runs a program and reads its results.
fn measure(program: &Path, arguments: &[String]) -> Result<Results> {
    let directory = std::env::temp_dir().join(format!("scanns-compare-{}", std::process::id()));
    let status = Command::new(program)
        .args(arguments)
        .arg("--report")
        .arg(&directory)
        .stdout(std::process::Stdio::null())
        .status()
        .with_context(|| format!("cannot run {}", program.display()))?;
    anyhow::ensure!(status.success(), "{} failed with {status}", program.display());
    let results = Results::load(&directory.join("results.json"));
    std::fs::remove_dir_all(&directory).with_context(|| format!("cannot remove {}", directory.display()))?;
    results
}

/// Runs both programs in turns. The order is reversed from round to round.
fn in_turns(args: &CompareArgs) -> Result<Vec<Difference>> {
    let all = ["all".to_string(), "--quick".to_string()];
    let arguments = if args.arguments.is_empty() { &all[..] } else { &args.arguments };
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for round in 0..args.rounds.max(2) {
        println!("round {} of {}", round + 1, args.rounds.max(2));
        for step in 0..2 {
            if (round + step) % 2 == 0 {
                old.push(measure(&args.old, arguments)?);
            } else {
                new.push(measure(&args.new, arguments)?);
            }
        }
    }
    Ok(differences(&gather(&old), &gather(&new), 0.0))
}

/// Compares two builds. Returns true if nothing became worse.
///
/// # Errors
/// If a file cannot be read, a program fails, or the two sides have no measurement in common.
pub fn run(args: &CompareArgs) -> Result<bool> {
    let is_file = |path: &Path| path.extension().is_some_and(|end| end == "json");
    let found = match (is_file(&args.old), is_file(&args.new)) {
        (true, true) => {
            let (old, new) = (Results::load(&args.old)?, Results::load(&args.new)?);
            let drift = drift(&old, &new);
            println!("the machine itself differed by {:.0} %", drift * 100.0);
            anyhow::ensure!(
                old.machine.processor == new.machine.processor,
                "measured on different processors, {} and {}: the programs cannot be compared",
                old.machine.processor,
                new.machine.processor
            );
            differences(&old.series, &new.series, drift)
        }
        (false, false) => in_turns(args)?,
        _ => anyhow::bail!("compare two results files (.json) or two programs, not one of each"),
    };
    anyhow::ensure!(!found.is_empty(), "the two sides have no measurement in common");
    tell(&found);
    Ok(!found.iter().any(Difference::is_worse))
}

/// Prints the differences, and the size of a difference that would have been visible.
fn tell(found: &[Difference]) {
    let show = |difference: &Difference| {
        println!("  ×{:.2} (noise {:.0} %)  {}", difference.gain, difference.noise * 100.0, difference.key);
    };
    let worse: Vec<_> = found.iter().filter(|difference| difference.is_worse()).collect();
    let better: Vec<_> = found.iter().filter(|difference| difference.is_better()).collect();
    let alone: Vec<_> = found.iter().filter(|difference| difference.alone).collect();
    let groups = [
        ("single points, unlike the rest of their curves (measure again)", alone),
        ("better", better.clone()),
        ("worse", worse.clone()),
    ];
    for (title, group) in groups.iter().filter(|(_, group)| !group.is_empty()) {
        println!("{title}:");
        group.iter().for_each(|difference| show(difference));
    }
    let noises: Vec<f64> = found.iter().map(|difference| difference.noise).collect();
    println!(
        "{} measurements compared: {} worse, {} better, the rest within noise; half of them would have \
         shown a change of {:.0} %",
        found.len(),
        worse.len(),
        better.len(),
        median(&noises) * 100.0
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(variant: &str, better: Better, samples: &[f64]) -> Series {
        Series::of("x", "y", variant, ("m", "u", better), samples.to_vec())
    }

    #[test]
    fn worse_is_lower_rates_and_longer_times_beyond_the_spread_of_both() {
        let old = [
            series("rate", Better::Higher, &[100.0, 101.0, 99.0]),
            series("time", Better::Lower, &[10.0, 10.1, 9.9]),
            series("noisy", Better::Higher, &[60.0, 100.0, 140.0]),
            series("fact", Better::Neither, &[1.0]),
            series("gone", Better::Higher, &[1.0]),
        ];
        let new = [
            series("rate", Better::Higher, &[80.0, 81.0, 79.0]),
            series("time", Better::Lower, &[5.0, 5.1, 4.9]),
            series("noisy", Better::Higher, &[50.0, 80.0, 120.0]),
            series("fact", Better::Neither, &[9.0]),
        ];
        let found = differences(&old, &new, 0.0);
        assert_eq!(found.len(), 3);
        assert!(found[0].is_worse() && !found[0].is_better(), "{found:?}");
        assert!(found[1].is_better() && !found[1].is_worse(), "{found:?}");
        assert!(!found[2].is_worse() && !found[2].is_better(), "{found:?}");
        let slower_machine = differences(&old, &new, 0.5);
        assert!(!slower_machine[0].is_worse(), "the machine explains it");
    }

    #[test]
    fn a_single_point_of_a_curve_is_told_but_not_believed() {
        let curve = |rates: [f64; 4]| {
            let point = |(at, rate): (usize, f64)| {
                #[expect(clippy::cast_precision_loss, reason = "a small number")]
                let point =
                    series("curve", Better::Higher, &[rate * 0.99, rate, rate * 1.01]).with("KiB", at as f64);
                point
            };
            rates.into_iter().enumerate().map(point).collect::<Vec<_>>()
        };
        let old = curve([100.0; 4]);
        let marks = |new: [f64; 4]| {
            let found = differences(&old, &curve(new), 0.0);
            found.iter().map(|point| (point.is_worse(), point.alone)).collect::<Vec<_>>()
        };
        let (same, worse, alone) = ((false, false), (true, false), (false, true));
        assert_eq!(marks([100.0, 50.0, 101.0, 99.0]), [same, alone, same, same]);
        assert_eq!(marks([100.0, 50.0, 60.0, 99.0]), [same, worse, worse, same]);
        assert_eq!(marks([100.0, 50.0, 150.0, 99.0]), [same, alone, alone, same]);
        assert_eq!(marks([50.0; 4]), [worse; 4]);
    }

    #[test]
    fn runs_of_one_program_become_one_sample_each() {
        let mut run = Results::begin(&[Path::new("/")]);
        run.series = vec![series("rate", Better::Higher, &[1.0, 2.0, 30.0])];
        assert_eq!(gather(&[run.clone(), run])[0].samples, [2.0, 2.0]);
    }

    #[test]
    fn the_same_program_under_noise_of_a_shared_machine_is_not_flagged() {
        let mut flags = 0;
        for seed in 0..200_u64 {
            let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut sample = |slow: f64| {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                #[expect(clippy::cast_precision_loss, reason = "a random share")]
                let share = (random >> 11) as f64 / (1_u64 << 53) as f64;
                slow * (1.0 + 0.3 * share * share)
            };
            let mut many = || -> Vec<Series> {
                let names = (0..200).map(|number| number.to_string());
                names.map(|name| series(&name, Better::Lower, &[(); 5].map(|()| sample(10.0)))).collect()
            };
            let flagged = differences(&many(), &many(), 0.02);
            let worse = flagged.iter().filter(|difference| difference.is_worse()).count();
            flags += worse;
        }
        assert!(flags <= 4, "{flags} of 40,000 flagged");
    }
}
