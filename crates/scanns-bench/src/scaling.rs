//! Predicts rates on other machines with a model that is fitted to measurements on this one.
//!
//! Index threads share nothing but the memory and the devices of their node, so the model has three terms. A
//! single thread indexes at a rate r. Each further thread on a node adds a share σ of a thread's time to all
//! threads. This is Amdahl's law over a node, or Gunther's universal law without the term for coherence,
//! since no cache line is written by two threads. Memory and devices set limits of their own. A machine with
//! k nodes of n threads therefore indexes at
//!
//! ```text
//! min(k · n · r · speed / (1 + σ (n − 1)),  memory rate / traffic,  devices · device rate)
//! ```
//!
//! r and σ are fitted to the rates of this machine by number of threads, separately for each variant. The
//! model assumes that threads stay on their node, that a core of the other machine is `speed` times as fast
//! as a core of this one, that [`TRAFFIC`] bytes per byte of input go over the memory bus, and that the rates
//! of devices add up. Each prediction has a minimum and a maximum, which follow from the least and the
//! greatest measured rates. They say nothing about the assumptions. If the cores of this machine are two
//! threads of one core, as in many virtual machines, σ is what two such threads take from each other, and
//! predictions are too low.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context, Result};
use scanns_bench::results::{Results, Series, Setting};
use scanns_bench::stats::{Summary, median};

/// Bytes over the memory bus per byte of input. The device writes the text, and it is read once and evicted
/// once (3). Of about 120,000 tokens per MiB, one in three misses the caches twice, and each miss reads and
/// writes back a line of 64 bytes (10).
const TRAFFIC: f64 = 13.0;

/// What to fit, and where to predict.
#[derive(Debug, clap::Args)]
pub struct ScalingArgs {
    /// Results (`results.json`) with an `index` experiment
    pub results: PathBuf,
    /// A machine: name=…,nodes=…,cores=… (per node),speed=… (of a core; this machine's is 1),memory=… (GiB/s
    /// per node),devices=…,device=… (MiB/s per device). Default: the largest machine in the paper
    #[arg(long)]
    pub machine: Vec<Target>,
}

/// A machine to predict for.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    name: String,
    nodes: f64,
    cores: f64,
    speed: f64,
    memory: f64,
    devices: f64,
    device: f64,
}

impl Target {
    /// The largest machine in the paper: 192 cores in 8 nodes, 16 NVMe drives. The paper does not give the
    /// other values; they are assumed to be two thirds of this machine's speed for a core, 80 GiB/s for a
    /// node and 3,000 MiB/s for a drive.
    fn paper() -> Self {
        Target {
            name: "192 cores, 8 nodes, 16 drives".into(),
            nodes: 8.0,
            cores: 24.0,
            speed: 0.67,
            memory: 80.0,
            devices: 16.0,
            device: 3000.0,
        }
    }
}

impl FromStr for Target {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut target =
            Target { name: text.into(), nodes: 1.0, speed: 1.0, devices: 1.0, ..Target::paper() };
        for part in text.split(',') {
            let (key, value) = part.split_once('=').with_context(|| format!("'{part}' is not key=value"))?;
            let number = || -> Result<f64> {
                let number: f64 =
                    value.parse().with_context(|| format!("{key}: '{value}' is not a number"))?;
                anyhow::ensure!(number.is_finite() && number > 0.0, "{key} must be above 0");
                Ok(number)
            };
            match key.trim() {
                "name" => target.name = value.into(),
                "nodes" => target.nodes = number()?,
                "cores" => target.cores = number()?,
                "speed" => target.speed = number()?,
                "memory" => target.memory = number()?,
                "devices" => target.devices = number()?,
                "device" => target.device = number()?,
                _ => anyhow::bail!(
                    "'{key}' is unknown: use name, nodes, cores, speed, memory, devices, device"
                ),
            }
        }
        Ok(target)
    }
}

/// A fitted variant.
#[derive(Clone, Copy, Debug)]
struct Fit {
    /// MiB/s of one thread.
    alone: f64,
    /// The share of a thread's time that each further thread costs all threads.
    shared: f64,
}

impl Fit {
    /// Least squares over rates by threads: `n / rate = (1 + σ (n − 1)) / r` is a line in `n − 1`.
    fn of(points: &[(f64, f64)]) -> Option<Self> {
        let points: Vec<_> = points.iter().map(|&(threads, rate)| (threads - 1.0, threads / rate)).collect();
        let count = f64::from(u32::try_from(points.len()).ok()?);
        let mean_x = points.iter().map(|point| point.0).sum::<f64>() / count;
        let mean_y = points.iter().map(|point| point.1).sum::<f64>() / count;
        let spread: f64 = points.iter().map(|point| (point.0 - mean_x).powi(2)).sum();
        let together: f64 = points.iter().map(|point| (point.0 - mean_x) * (point.1 - mean_y)).sum();
        if spread == 0.0 {
            return None;
        }
        // A negative share would mean that threads help each other, which is noise.
        let slope = (together / spread).max(0.0);
        let at_one = mean_y - slope * mean_x;
        (at_one > 0.0).then(|| Fit { alone: 1.0 / at_one, shared: slope / at_one })
    }

    /// MiB/s of `threads` threads on one node of this machine.
    fn rate(&self, threads: f64) -> f64 {
        threads * self.alone / (1.0 + self.shared * (threads - 1.0))
    }

    /// MiB/s on `target` with `threads` spread over its nodes, and what limits it.
    fn predict(&self, target: &Target, threads: f64) -> (f64, &'static str) {
        let nodes = target.nodes.min(threads);
        let processor = nodes * self.rate(threads / nodes) * target.speed;
        let memory = nodes * target.memory * 1024.0 / TRAFFIC;
        let device = target.devices * target.device;
        [(processor, "the cores"), (memory, "the memory"), (device, "the devices")]
            .into_iter()
            .min_by(|one, next| one.0.total_cmp(&next.0))
            .unwrap_or((processor, "the cores"))
    }
}

/// Threads and samples of every variant that was measured with at least two numbers of threads.
fn measured(results: &Results) -> Vec<(String, Vec<(f64, &Series)>)> {
    let mut variants: Vec<(String, Vec<(f64, &Series)>)> = Vec::new();
    for series in results.series.iter().filter(|series| series.experiment == "index" && !series.published) {
        let Some(Setting::Number(threads)) = series.settings.get("threads") else { continue };
        let others: Vec<_> = series.settings.iter().filter(|(name, _)| *name != "threads").collect();
        let others: String = others.iter().map(|(name, value)| format!(", {name} {value}")).collect();
        let name = format!("{}: {}{others}", series.subject, series.variant);
        match variants.iter_mut().find(|variant| variant.0 == name) {
            Some(variant) => variant.1.push((*threads, series)),
            None => variants.push((name, vec![(*threads, series)])),
        }
    }
    variants.retain(|variant| variant.1.len() > 1);
    variants
}

/// Fits the model to one variant and predicts its rates.
fn one(name: &str, points: &[(f64, &Series)], targets: &[Target], results: &mut Results) {
    let by = |pick: fn(Summary) -> f64| -> Option<Fit> {
        Fit::of(
            &points.iter().map(|(threads, series)| (*threads, pick(series.summary()))).collect::<Vec<_>>(),
        )
    };
    let fits: Vec<Fit> = [by(|s| s.min), by(|s| s.median), by(|s| s.max)].into_iter().flatten().collect();
    let Some(fit) = fits.get(fits.len() / 2) else { return };
    let errors = points.iter().map(|(threads, series)| fit.rate(*threads) / median(&series.samples) - 1.0);
    let worst = errors.fold(0.0, |worst: f64, error| if error.abs() > worst.abs() { error } else { worst });
    // The error for the most threads of a model in which threads share nothing.
    let most = points.iter().max_by(|one, next| one.0.total_cmp(&next.0));
    let alone = most.map_or(0.0, |(threads, series)| threads * fit.alone / median(&series.samples) - 1.0);
    results.note(format!(
        "{name}: {:.1} MiB/s per thread; each further thread costs all threads {:.1} % of their time; the \
         model is off by {:+.1} % at most, and would be off by {:+.1} % if threads shared nothing",
        fit.alone,
        fit.shared * 100.0,
        worst * 100.0,
        alone * 100.0
    ));
    for target in targets {
        let whole = target.nodes * target.cores;
        let mut counts = vec![1.0];
        while counts.last().is_some_and(|last| last * 2.0 < whole) {
            counts.push(counts.last().copied().unwrap_or(1.0) * 2.0);
        }
        counts.push(whole);
        for threads in counts {
            let mut rates: Vec<f64> = fits.iter().map(|fit| fit.predict(target, threads).0).collect();
            rates.sort_by(f64::total_cmp);
            let subject = format!("predicted: {}", target.name);
            results.add(Series::rate("scaling", &subject, name, rates).with("threads", threads), None);
        }
        let (rate, limit) = fit.predict(target, whole);
        results.note(format!("{}: {name}: {rate:.0} MiB/s with all cores, limited by {limit}", target.name));
    }
}

/// Fits the model to `results` and adds predictions to them.
pub fn predict(targets: &[Target], results: &mut Results) -> Result<()> {
    let paper = [Target::paper()];
    let targets = if targets.is_empty() { &paper[..] } else { targets };
    let known = results.clone();
    let variants = measured(&known);
    anyhow::ensure!(
        !variants.is_empty(),
        "there is nothing to fit: run 'scanns-bench index' with at least two numbers of threads"
    );
    println!("scaling: predicted by a model of the measurements on this machine");
    for (name, points) in &variants {
        one(name, points, targets, results);
    }
    Ok(())
}

/// Reads results and adds predictions.
pub fn run(args: &ScalingArgs, results: &mut Results) -> Result<()> {
    *results = Results::load(&args.results)?;
    results.series.retain(|series| series.experiment != "scaling");
    predict(&args.machine, results)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fit_finds_the_rate_and_the_share_that_rates_were_made_from() {
        let known = Fit { alone: 150.0, shared: 0.07 };
        let points: Vec<_> = [1.0, 2.0, 8.0].map(|threads| (threads, known.rate(threads))).to_vec();
        let found = Fit::of(&points).unwrap();
        assert!((found.alone - 150.0).abs() < 1e-6 && (found.shared - 0.07).abs() < 1e-9, "{found:?}");
        assert!(Fit::of(&points[..1]).is_none(), "one point does not define a line");
    }

    #[test]
    fn the_scarcest_of_cores_memory_and_devices_limits() {
        let fit = Fit { alone: 100.0, shared: 0.0 };
        let target = |text: &str| -> Target { text.parse().unwrap() };
        let large = target("nodes=2,cores=8,memory=1000,devices=9,device=9000");
        assert_eq!(fit.predict(&large, 16.0), (1600.0, "the cores"));
        assert_eq!(fit.predict(&large, 1.0), (100.0, "the cores"));
        assert_eq!(fit.predict(&target("cores=8,memory=1000,device=500"), 8.0), (500.0, "the devices"));
        assert_eq!(fit.predict(&target("cores=8,memory=1,device=9000"), 8.0).1, "the memory");
    }

    #[test]
    fn machines_are_described_by_known_keys_and_numbers() {
        assert!("cores=8,speed=0".parse::<Target>().is_err());
        assert!("cores=x".parse::<Target>().is_err());
        assert!("core=8".parse::<Target>().is_err());
        assert!("8".parse::<Target>().is_err());
        assert_eq!("name=a b,cores=4".parse::<Target>().unwrap().name, "a b");
    }

    #[test]
    fn predictions_are_added_for_every_variant_with_two_numbers_of_threads() {
        let mut results = Results::begin(&[]);
        for threads in [1.0, 2.0] {
            let rates = vec![90.0 * threads, 100.0 * threads, 110.0 * threads];
            results.add(Series::rate("index", "dump", "ours", rates).with("threads", threads), None);
        }
        results.add(Series::rate("index", "dump", "once", vec![1.0]).with("threads", 1.0), None);
        predict(&["cores=4,device=100000,memory=1000".parse().unwrap()], &mut results).unwrap();
        let predicted: Vec<_> =
            results.series.iter().filter(|series| series.experiment == "scaling").collect();
        assert_eq!(predicted.len(), 3);
        assert!((predicted[2].summary().median - 400.0).abs() < 1e-6);
        assert!(predict(&[], &mut Results::begin(&[])).is_err());
    }
}
