//! Work that has nothing to do with scanns, to see how steady the machine is.
//!
//! A shared machine has slow minutes. Comparing the times of this work in two runs shows how much of a
//! difference between the runs comes from the machine. Each kind of work takes a few hundredths of a second.

use std::time::Instant;

use crate::results::{Better, Results, Series};

/// Bytes of memory to walk over: more than the caches of most cores.
const BYTES: usize = 64 << 20;

/// Samples of each kind of work, taken whenever [`Reference::sample`] is called.
pub struct Reference {
    /// The next place of each place: a permutation with a single cycle.
    next: Vec<u32>,
    copy: Vec<u32>,
    samples: [Vec<f64>; 4],
}

/// The kinds of work, with their units.
const KINDS: [(&str, &str); 4] = [
    ("arithmetic", "ns per step"),
    ("dependent loads", "ns per load"),
    ("copying", "ns per KiB"),
    ("fresh memory", "µs per MiB"),
];

impl Default for Reference {
    fn default() -> Self {
        Reference::new()
    }
}

impl Reference {
    /// Prepares the work.
    pub fn new() -> Self {
        let count = BYTES / size_of::<u32>();
        let mut next: Vec<u32> = (0..=u32::MAX).take(count).collect();
        // Sattolo's shuffle makes one cycle of all places.
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        for at in (1..count).rev() {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let other = usize::try_from(random >> 11).unwrap_or(0) % at;
            next.swap(at, other);
        }
        Reference { copy: next.clone(), next, samples: Default::default() }
    }

    /// Does all the work once.
    #[expect(clippy::cast_precision_loss, reason = "counts of steps")]
    pub fn sample(&mut self) {
        let steps = 20_000_000_u64;
        let time = |work: &mut dyn FnMut()| {
            let begin = Instant::now();
            work();
            begin.elapsed().as_secs_f64() * 1e9
        };
        let arithmetic = time(&mut || {
            let mut value = 1_u64;
            for step in 0..std::hint::black_box(steps) {
                value =
                    std::hint::black_box(value).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(step);
            }
            std::hint::black_box(value);
        });
        let loads = 200_000_u32;
        let dependent = time(&mut || {
            let mut at = 0;
            for _ in 0..loads {
                at = self.next.get(at as usize).copied().unwrap_or(0);
            }
            std::hint::black_box(at);
        });
        let copying = time(&mut || {
            self.copy.copy_from_slice(std::hint::black_box(&self.next));
            std::hint::black_box(&self.copy);
        });
        let fresh = time(&mut || {
            std::hint::black_box(vec![1_u8; BYTES]);
        });
        let mib = BYTES as f64 / f64::from(1 << 20);
        let values = [
            arithmetic / steps as f64,
            dependent / f64::from(loads),
            copying / mib / 1024.0,
            fresh / mib / 1e3,
        ];
        for (samples, value) in self.samples.iter_mut().zip(values) {
            samples.push(value);
        }
    }

    /// Adds the samples to `results`.
    pub fn finish(self, results: &mut Results) {
        println!("reference: work that has nothing to do with scanns");
        for ((name, unit), samples) in KINDS.into_iter().zip(self.samples) {
            let subject = format!("reference, {name}");
            results
                .add(Series::of("reference", &subject, name, ("time", unit, Better::Neither), samples), None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loads_go_through_all_places_and_each_kind_has_a_sample() {
        let mut reference = Reference::new();
        let (mut at, mut steps) = (0, 0);
        while steps == 0 || at != 0 {
            at = reference.next[at] as usize;
            steps += 1;
        }
        assert_eq!(steps, reference.next.len());
        reference.sample();
        assert!(reference.samples.iter().all(|samples| samples.len() == 1 && samples[0] > 0.0));
    }
}
