//! Finds the parameters of a build that suit a machine and some data, and says what limits it there.
//!
//! [`tune`] measures what memory, devices and processor can do (`memory.rs`, `device.rs`, `processor.rs`), takes a
//! sample of the inputs (`sample.rs`), builds an index of it with one choice of parameters after the other
//! (`trial.rs`), searches for the best of them (`search.rs`, the grid in `profile.rs`), and compares what was reached
//! with what each resource would permit (`roofline.rs`). Read `search.rs` first: measurements are noisy, and that
//! decides how the search goes.

mod device;
mod memory;
mod processor;
mod profile;
mod roofline;
mod sample;
mod search;
mod trial;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

pub use device::{DeviceLimits, ReadRate};
pub use memory::MemoryLimits;
pub use processor::ProcessorLimits;
pub use profile::Profile;
pub use roofline::{Resource, Roofline};
pub use trial::{Trial, Trials};

use super::IndexOptions;
use crate::error::{Error, Result};
use crate::source::{Input, collect};
use profile::Grid;
use search::{Cost, Found, median, search};

/// What to tune.
#[derive(Clone, Debug)]
pub struct TuneOptions {
    /// The build to tune. The search begins with its parameters, and never takes more index threads.
    pub index: IndexOptions,
    /// Where trial indexes and copies of stretches of files go, in a directory that is removed at the end.
    pub scratch: PathBuf,
    /// How long it may take.
    pub budget: Duration,
}

/// What a tuner is doing, for whoever shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TuneStep {
    /// Finding the inputs.
    Walking,
    /// Measuring what memory and processor can do.
    Machine,
    /// Taking the sample.
    Sampling,
    /// Measuring what the devices can do.
    Devices,
    /// Building with these parameters, as trial `number` of at most `most`.
    Trying {
        /// The parameters.
        profile: Profile,
        /// The number of the trial, from 1.
        number: usize,
        /// How many there will be at most.
        most: usize,
    },
}

/// Parameters that were tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The parameters.
    pub profile: Profile,
    /// How often.
    pub times: usize,
    /// Bytes of text per second, the middle one of all times.
    pub rate: f64,
}

/// What the search for parameters came to.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The best parameters: those of the start, unless others are better beyond noise.
    pub best: Profile,
    /// The start.
    pub start: Profile,
    /// Who won all races; the best, if it was clearly
    /// better than the start in a duel of pairs.
    pub challenger: Profile,
    /// Rate of the challenger over that of the start, by pairs, and its standard error.
    pub gain: (f64, f64),
    /// Everything that was tried, in that order.
    pub tried: Vec<Tried>,
    /// Seconds that the search took.
    pub seconds: f64,
}

impl Tuned {
    /// Bytes of text per second with `profile`, if it was tried.
    pub fn rate(&self, profile: &Profile) -> Option<f64> {
        self.tried.iter().find(|tried| tried.profile == *profile).map(|tried| tried.rate)
    }
}

/// What a tuner found out.
#[derive(Clone, Debug)]
pub struct TuneReport {
    /// The search.
    pub tuned: Tuned,
    /// What memory can do.
    pub memory: MemoryLimits,
    /// What the devices can do.
    pub device: DeviceLimits,
    /// What a processor can do with this text.
    pub processor: ProcessorLimits,
    /// What limits the best parameters.
    pub roofline: Roofline,
    /// Inputs, and their bytes.
    pub inputs: (usize, u64),
    /// Files of the sample, and their bytes.
    pub sample: (usize, u64),
    /// Bytes of the sample that are copies of stretches of large files.
    pub copied: u64,
    /// True if the sample was in the page cache, and so for every trial; else for none.
    pub cached: bool,
    /// Seconds that everything took.
    pub seconds: f64,
}

/// Text that a processor is measured with.
const PROCESSOR_BYTES: u64 = 16 << 20;

/// A search takes about so many trials, and gets as much time for each.
const TRIALS: u32 = 60;

/// A sample is at least and at most so large.
const SAMPLE: (u64, u64) = (16 << 20, 4 << 30);

/// Text for each index thread in a sample, so that all of them have something to do.
const SAMPLE_PER_THREAD: u64 = 16 << 20;

/// Measures the machine, and searches for the parameters that suit it and the inputs.
///
/// Set `cancel` to stop; nothing is left behind then.
///
/// # Errors
/// [`Error::Cancelled`], inputs of which none can be read, and whatever stops a build.
pub fn tune(
    options: &TuneOptions,
    watch: &mut dyn FnMut(TuneStep),
    cancel: &Arc<AtomicBool>,
) -> Result<TuneReport> {
    let begun = Instant::now();
    let index = &options.index;
    watch(TuneStep::Walking);
    let inputs = collect(&index.source, cancel)?;
    watch(TuneStep::Machine);
    let memory = memory::measure(index.read.lanes)?;
    let processor =
        processor::measure(&inputs.inputs, &sample::choose(&inputs.inputs, PROCESSOR_BYTES, 1), index)?;
    watch(TuneStep::Sampling);
    let rate = processor.rate() * float(index.read.lanes as u64);
    let trials = sized_trials(&inputs.inputs, rate, options, cancel)?;
    watch(TuneStep::Devices);
    let device =
        device::measure(&trials.inputs()?, trials.options(), trials.scratch(), &|| trials.forget(), cancel)?;
    // However small the budget, half of it is for the search.
    let left = options.budget.saturating_sub(begun.elapsed()).max(options.budget / 2);
    let tuned = find_parameters(&trials, left, watch)?;
    // Once more, for what only a trial by itself tells.
    let trial = trials.run(&tuned.best)?;
    let rate = tuned.rate(&tuned.best).unwrap_or_else(|| trial.rate());
    let mut roofline = Roofline::of(&memory, &device, &processor, index.segment_memory, &tuned.best, &trial);
    roofline.reached = rate;
    Ok(TuneReport {
        tuned,
        memory,
        device,
        processor,
        roofline,
        inputs: (inputs.inputs.len(), inputs.bytes),
        sample: (trials.files(), trials.bytes()),
        copied: trials.copied(),
        cached: trials.cached(),
        seconds: begun.elapsed().as_secs_f64(),
    })
}

/// Trials of a sample that is as large as the budget allows, if a build reaches `rate` or what it then reaches.
fn sized_trials(
    inputs: &[Input],
    rate: f64,
    options: &TuneOptions,
    cancel: &Arc<AtomicBool>,
) -> Result<Trials> {
    let least = SAMPLE.0.max(SAMPLE_PER_THREAD * options.index.read.lanes as u64);
    let seconds = options.budget.as_secs_f64() / f64::from(TRIALS);
    // A power of two, so that a little noise does not change the sample.
    let bytes = |rate: f64| previous_power_of_two(whole(rate * seconds)).clamp(least, SAMPLE.1.max(least));
    let prepare = |bytes| Trials::prepare(inputs, bytes, &options.index, &options.scratch, cancel);
    let wanted = bytes(rate);
    let trials = prepare(wanted)?;
    // The first trial is not counted: it meets cold caches. It tells whether a device is the limit.
    let reached = trials.run(&Profile::of(&options.index.read))?.rate();
    let affordable = bytes(reached);
    if affordable * 2 > wanted {
        return Ok(trials);
    }
    drop(trials);
    prepare(affordable)
}

/// Searches for the best parameters in the time of `budget`; it takes less where it can.
///
/// # Errors
/// [`Error::Cancelled`], and whatever stops a build.
pub fn find_parameters(trials: &Trials, budget: Duration, watch: &mut dyn FnMut(TuneStep)) -> Result<Tuned> {
    let begun = Instant::now();
    let start = Profile::of(&trials.options().read);
    let grid = Grid::around(start, trials.reads_past_cache()?);
    let first = trials.run(&start)?;
    let most = whole(budget.as_secs_f64() / first.seconds);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut number = 0;
    let found = search(&grid.axes(), &grid.start(), most, &mut |point| {
        let Some(profile) = grid.profile(point) else { return Ok(Cost::Impossible) };
        if begun.elapsed() >= budget {
            return Ok(Cost::OutOfTime);
        }
        number += 1;
        watch(TuneStep::Trying { profile, number, most });
        match trials.run(&profile) {
            Ok(trial) => Ok(Cost::Of(trial.seconds / float(trial.bytes.max(1)))),
            // The start could be built: it is these parameters that need more memory than there is.
            Err(Error::Options(_)) => Ok(Cost::Impossible),
            Err(error) => Err(error),
        }
    })?;
    Ok(tuned(&grid, start, &found, begun.elapsed().as_secs_f64()))
}

/// What was found, in parameters and rates.
fn tuned(grid: &Grid, start: Profile, found: &Found, seconds: f64) -> Tuned {
    let profile = |point: &[usize]| grid.profile(point).unwrap_or(start);
    let tried = |measured: &search::Measured| Tried {
        profile: profile(&measured.point),
        times: measured.costs.len(),
        rate: 1.0 / median(&measured.costs),
    };
    Tuned {
        best: profile(&found.best),
        start,
        challenger: profile(&found.challenger),
        gain: found.gain,
        tried: found.measured.iter().map(tried).collect(),
        seconds,
    }
}

fn previous_power_of_two(number: u64) -> u64 {
    1 << number.max(1).ilog2()
}

/// A count as a float, exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "for rates, where 53 bits are plenty")]
fn float(number: u64) -> f64 {
    number as f64
}

/// The next whole number below a float that is not negative.
#[expect(clippy::cast_possible_truncation, reason = "a float beyond the range becomes the nearest bound")]
#[expect(clippy::cast_sign_loss, reason = "rates and times have no sign")]
fn whole(number: f64) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests;
