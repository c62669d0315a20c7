//! The steps of tuning: measure the machine, take a sample, search, and compare with the limits.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::numbers::{float, previous_power_of_two, whole};
use super::profile::{Grid, Profile};
use super::report::{Tried, TuneOptions, TuneReport, TuneStep, Tuned};
use super::roofline::Roofline;
use super::search::{Cost, Measured, SearchOutcome, median, search};
use super::trial::Trials;
use super::{device, memory, processor, sample};
use crate::error::{Error, Result};
use crate::index::build::budget::default_segment_memory;
use crate::schema::{Analyzer, Postings, Schema};
use crate::source::{Input, collect};

/// Bytes of text with which a processor is measured.
const PROCESSOR_BYTES: u64 = 16 << 20;

/// The approximate number of trials of a search. Each gets an equal share of the time.
const TRIALS: u32 = 60;

/// The minimum and maximum size of a sample, in bytes.
const LEAST_SAMPLE: u64 = 16 << 20;
const MOST_SAMPLE: u64 = 4 << 30;

/// Bytes of text in a sample for each index thread, so that all of them have work.
const SAMPLE_PER_THREAD: u64 = 16 << 20;

/// Measures the machine, and searches for the parameters that suit it and the inputs.
///
/// Set `cancel` to stop. Temporary files are always removed.
///
/// # Errors
/// [`Error::Cancelled`]; [`Error::InvalidValue`] if no input can be read; and the errors of a build.
pub fn tune(
    options: &TuneOptions,
    watch: &mut dyn FnMut(TuneStep),
    cancel: &Arc<AtomicBool>,
) -> Result<TuneReport> {
    let begun = Instant::now();
    let index = &options.index;
    let schema =
        Schema::of_files(index.analyzer.clone().unwrap_or(Analyzer::Standard), Postings::Frequencies);
    let default_memory = || default_segment_memory(index.records, &schema);
    let segment_memory = index.segment_memory.unwrap_or_else(default_memory);
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
    // Reserve at least half of the budget for the search.
    let left = options.budget.saturating_sub(begun.elapsed()).max(options.budget / 2);
    let tuned = find_parameters(&trials, left, watch)?;
    // One more trial, for figures that the search does not store.
    let trial = trials.run(&tuned.best)?;
    let rate = tuned.rate(&tuned.best).unwrap_or_else(|| trial.rate());
    let mut roofline = Roofline::of(&memory, &device, &processor, segment_memory, &tuned.best, &trial);
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

/// Trials of a sample as large as the budget allows, at `rate` or at the rate that a first trial reaches.
fn sized_trials(
    inputs: &[Input],
    rate: f64,
    options: &TuneOptions,
    cancel: &Arc<AtomicBool>,
) -> Result<Trials> {
    let least = LEAST_SAMPLE.max(SAMPLE_PER_THREAD * options.index.read.lanes as u64);
    let seconds = options.budget.as_secs_f64() / f64::from(TRIALS);
    // A power of two, so that noise does not change the sample.
    let bytes = |rate: f64| previous_power_of_two(whole(rate * seconds)).clamp(least, MOST_SAMPLE.max(least));
    let prepare = |bytes| Trials::prepare(inputs, bytes, &options.index, &options.scratch, cancel);
    let wanted = bytes(rate);
    let trials = prepare(wanted)?;
    // The first trial is not counted because caches are cold. It shows whether a device is the limit.
    let reached = trials.run(&Profile::of(&options.index.read))?.rate();
    let affordable = bytes(reached);
    if affordable * 2 > wanted {
        return Ok(trials);
    }
    drop(trials);
    prepare(affordable)
}

/// Searches for the best parameters, for at most the time of `budget`.
///
/// # Errors
/// [`Error::Cancelled`], and the errors of a build.
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
            // The first build worked, so these parameters need more memory than is available.
            Err(Error::InvalidValue { .. }) => Ok(Cost::Impossible),
            Err(error) => Err(error),
        }
    })?;
    Ok(tuned(&grid, start, &found, begun.elapsed().as_secs_f64()))
}

/// Translates the result of the search into parameters and rates.
fn tuned(grid: &Grid, start: Profile, found: &SearchOutcome, seconds: f64) -> Tuned {
    let profile = |point: &[usize]| grid.profile(point).unwrap_or(start);
    let tried = |measured: &Measured| Tried {
        profile: profile(&measured.point),
        times: measured.costs.len(),
        rate: 1.0 / median(&measured.costs),
    };
    Tuned {
        best: profile(&found.best),
        start,
        challenger: profile(&found.challenger),
        gain: (found.gain.ratio, found.gain.error),
        tried: found.measured.iter().map(tried).collect(),
        seconds,
    }
}
