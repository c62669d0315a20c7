//! The limits of a build: the rate that each resource would permit if the others cost nothing.
//!
//! The lowest of these rates is the roof. No parameters make a build faster than the roof; this needs another
//! machine or other data.

use super::device::DeviceLimits;
use super::memory::MemoryLimits;
use super::numbers::float;
use super::processor::ProcessorLimits;
use super::profile::Profile;
use super::trial::Trial;

/// A resource that a build needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Reading the inputs, from the page cache if they were found there.
    Reading,
    /// Writing the index until it is durable.
    Writing,
    /// Traffic, look-ups and fresh pages of memory.
    Memory,
    /// The instructions of the index threads.
    Processor,
}

/// Rates in bytes of text per second.
#[derive(Clone, Debug, PartialEq)]
pub struct Roofline {
    /// The rate that each resource alone would permit, the lowest first.
    pub roofs: Vec<(Resource, f64)>,
    /// The rate that a build reached.
    pub reached: f64,
    /// The average number of busy processors.
    pub busy: f64,
    /// The number of threads that index.
    pub threads: usize,
}

/// Look-ups that a new term always costs: its bucket and its entry are in no cache.
const LOOKUPS_PER_TERM: f64 = 2.0;

/// The number of times that text passes through memory: the read writes it, and the tokenizer reads it.
const TOUCHES_PER_BYTE: f64 = 2.0;

impl Roofline {
    /// The limits of a build with `profile`, whose figures are in `trial`.
    pub(super) fn of(
        memory: &MemoryLimits,
        device: &DeviceLimits,
        processor: &ProcessorLimits,
        segment_memory: u64,
        profile: &Profile,
        trial: &Trial,
    ) -> Roofline {
        let threads = profile.index_threads;
        let text = float(trial.bytes);
        let fresh = memory.fresh_base.min(memory.fresh_huge);
        // Memory is allocated once and reused by later segments.
        let taken = (text * processor.memory).min(float(segment_memory) * float(threads as u64));
        let waiting = TOUCHES_PER_BYTE / at(&memory.copy, threads)
            + LOOKUPS_PER_TERM / processor.bytes_per_term / at(&memory.independent, threads)
            + taken * fresh / text / float(threads as u64);
        let mut roofs = vec![
            (Resource::Reading, device.sample),
            (Resource::Writing, device.write * text / float(trial.written.max(1))),
            (Resource::Memory, 1.0 / waiting),
            (Resource::Processor, processor.rate() * float(threads as u64)),
        ];
        roofs.sort_by(|a, b| a.1.total_cmp(&b.1));
        Roofline { roofs, reached: trial.rate(), busy: trial.processor_seconds / trial.seconds, threads }
    }

    /// Returns the lowest roof, and the reached rate as a share of it.
    pub fn limit(&self) -> (Resource, f64) {
        let lowest = self.roofs.first().copied().unwrap_or((Resource::Processor, f64::INFINITY));
        (lowest.0, self.reached / lowest.1)
    }
}

/// The figure for `threads`, or for the next larger number of threads that was measured.
fn at(figures: &[(usize, f64)], threads: usize) -> f64 {
    let found = figures.iter().find(|&&(count, _)| count >= threads).or(figures.last());
    found.map_or(f64::INFINITY, |&(_, figure)| figure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::ReadOptions;

    #[test]
    fn the_scarcest_resource_is_the_limit() {
        let memory = MemoryLimits {
            copy: vec![(1, 1e10), (2, 2e10)],
            dependent: 2e-7,
            independent: vec![(1, 5e7), (2, 1e8)],
            fresh_base: 1e-10,
            fresh_huge: 2e-10,
        };
        let device = DeviceLimits { direct: vec![], sample: 1e9, small_file: None, write: 1e9, sync: 0.01 };
        let processor = ProcessorLimits {
            invert: 4e8,
            invert_fresh: 3e8,
            flush: 12e8,
            bytes_per_token: 7.0,
            bytes_per_term: 50.0,
            memory: 0.5,
            written: 0.125,
        };
        let profile = Profile::of(&ReadOptions { lanes: 2, ..ReadOptions::default() });
        let trial = Trial { seconds: 1.0, bytes: 480_000_000, processor_seconds: 1.9, written: 60_000_000 };
        let of = |device: &DeviceLimits, processor: &ProcessorLimits| {
            Roofline::of(&memory, device, processor, 64 << 20, &profile, &trial)
        };
        let roofline = of(&device, &processor);
        // 4e8 and 12e8 in a row are 3e8, by two threads.
        let (limit, share) = roofline.limit();
        assert!(limit == Resource::Processor && (share - 0.8).abs() < 1e-9, "{roofline:?}");
        assert!(roofline.roofs.contains(&(Resource::Writing, 8e9)), "{roofline:?}");
        // 2 / 2e10 + 2 / 50 / 1e8 + 0.279 * 1e-10 / 2 seconds a byte.
        let of_memory = roofline.roofs.iter().find(|roof| roof.0 == Resource::Memory).unwrap().1;
        assert!((of_memory / 1.945e9 - 1.0).abs() < 0.01, "{of_memory}");
        let slow = of(&DeviceLimits { sample: 1e8, ..device.clone() }, &processor);
        assert_eq!(slow.limit().0, Resource::Reading);
        let rich = of(&device, &ProcessorLimits { bytes_per_term: 0.5, ..processor });
        assert_eq!(rich.limit().0, Resource::Memory);
    }

    #[test]
    fn figures_are_taken_from_the_next_number_of_threads() {
        let figures = [(1, 1.0), (2, 2.0), (4, 3.0)];
        assert_eq!([1, 2, 3, 4, 9].map(|threads| at(&figures, threads)), [1.0, 2.0, 3.0, 3.0, 3.0]);
    }
}
