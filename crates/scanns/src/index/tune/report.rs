//! The options, steps and report of a tuner.

use std::path::PathBuf;
use std::time::Duration;

use super::device::DeviceLimits;
use super::memory::MemoryLimits;
use super::processor::ProcessorLimits;
use super::profile::Profile;
use super::roofline::Roofline;
use crate::index::build::options::IndexOptions;

/// Options of a tuner.
#[derive(Clone, Debug)]
pub struct TuneOptions {
    /// The build to tune. The search starts from its parameters, and never uses more index threads.
    pub index: IndexOptions,
    /// The directory for trial indexes and copies of file ranges. They are written to a subdirectory that is
    /// removed at the end.
    pub scratch: PathBuf,
    /// The maximum time for tuning.
    pub budget: Duration,
}

/// The current step of a tuner, for progress displays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TuneStep {
    /// Collecting the inputs.
    Walking,
    /// Measuring memory and processor.
    Machine,
    /// Taking the sample.
    Sampling,
    /// Measuring the devices.
    Devices,
    /// Building with these parameters, as trial `number` of at most `most`.
    Trying {
        /// The parameters.
        profile: Profile,
        /// The number of the trial, from 1.
        number: usize,
        /// The maximum number of trials.
        most: usize,
    },
}

/// The result of trying some parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The parameters.
    pub profile: Profile,
    /// The number of trials.
    pub times: usize,
    /// Bytes of text per second, the median of all trials.
    pub rate: f64,
}

/// The result of the search for parameters.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The best parameters. They differ from the starting ones only if they are better beyond noise.
    pub best: Profile,
    /// The starting parameters.
    pub start: Profile,
    /// The winner of all races. It becomes the best if it was clearly better than the start in a duel of
    /// pairs.
    pub challenger: Profile,
    /// The rate of the challenger divided by the rate of the start, over pairs, and its standard error.
    pub gain: (f64, f64),
    /// All parameters that were tried, in order.
    pub tried: Vec<Tried>,
    /// The time of the search, in seconds.
    pub seconds: f64,
}

impl Tuned {
    /// Returns the bytes of text per second with `profile`, if it was tried.
    pub fn rate(&self, profile: &Profile) -> Option<f64> {
        self.tried.iter().find(|tried| tried.profile == *profile).map(|tried| tried.rate)
    }
}

/// The result of tuning.
#[derive(Clone, Debug)]
pub struct TuneReport {
    /// The result of the search for parameters.
    pub tuned: Tuned,
    /// The limits of memory.
    pub memory: MemoryLimits,
    /// The limits of the devices.
    pub device: DeviceLimits,
    /// The limits of one processor with this text.
    pub processor: ProcessorLimits,
    /// The limits for the best parameters.
    pub roofline: Roofline,
    /// The number of inputs, and their bytes.
    pub inputs: (usize, u64),
    /// The number of files in the sample, and their bytes.
    pub sample: (usize, u64),
    /// Bytes of the sample that are copies of ranges of large files.
    pub copied: u64,
    /// True if the sample was in the page cache for every trial, false if it was for none.
    pub cached: bool,
    /// The time of tuning, in seconds.
    pub seconds: f64,
}
