//! Measures memory: copying, random look-ups, and fresh pages.
//!
//! A build waits for memory more than for anything else, because each term that is not in a cache is a
//! look-up at a random place. Independent look-ups overlap, dependent ones do not.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use super::numbers::float;
use crate::error::Result;
use crate::sys::{PageSize, Slab, lock};

/// The measured limits of memory.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryLimits {
    /// Bytes read and written per second by copying, for each measured number of threads.
    pub copy: Vec<(usize, f64)>,
    /// Seconds of a look-up that depends on the previous one.
    pub dependent: f64,
    /// Independent look-ups per second over all threads, for each measured number of threads.
    pub independent: Vec<(usize, f64)>,
    /// Seconds per byte of fresh memory in base pages.
    pub fresh_base: f64,
    /// Seconds per byte of fresh memory in huge pages.
    pub fresh_huge: f64,
}

/// The time to measure each figure.
const TIME: Duration = Duration::from_millis(80);

/// Bytes of memory for random look-ups, more than most caches.
const RANDOM_BYTES: usize = 64 << 20;

/// Words of a cache line.
const LINE: usize = 8;

/// Bytes that each thread copies.
const COPIED: usize = 16 << 20;

/// Bytes of fresh memory to measure.
const FRESH: usize = 32 << 20;

/// Measures memory with up to `threads` threads.
///
/// # Errors
/// [`Error::System`](crate::Error::System) if there is not enough memory.
pub(super) fn measure(threads: usize) -> Result<MemoryLimits> {
    let mut counts: Vec<usize> = std::iter::successors(Some(1), |count| Some(count * 2))
        .take_while(|&count| count < threads)
        .collect();
    counts.push(threads);
    let ring = ring()?;
    Ok(MemoryLimits {
        copy: counts.iter().map(|&count| Ok((count, copy(count)?))).collect::<Result<_>>()?,
        dependent: dependent(&ring),
        independent: counts.iter().map(|&count| (count, independent(&ring, count))).collect(),
        fresh_base: fresh(PageSize::Base)?,
        fresh_huge: fresh(PageSize::Huge)?,
    })
}

/// The next pseudo-random number (xorshift64).
fn next(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    usize::try_from(*state >> 20).unwrap_or(0)
}

/// Cache lines that form a cycle in random order: each holds the number of the next.
fn ring() -> Result<Slab<u64>> {
    let lines = RANDOM_BYTES / LINE / size_of::<u64>();
    // Sattolo's shuffle makes a single cycle.
    let mut order: Vec<usize> = (0..lines).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15;
    for last in (1..lines).rev() {
        order.swap(last, next(&mut state) % last);
    }
    let mut words = Slab::reserve(lines * LINE, PageSize::Auto)?;
    words.grow(lines * LINE);
    for (line, &after) in order.iter().enumerate() {
        words[line * LINE] = after as u64;
    }
    Ok(words)
}

/// Seconds of a look-up whose address depends on the previous look-up.
fn dependent(ring: &[u64]) -> f64 {
    let (mut at, mut steps) = (0, 0u32);
    let begun = Instant::now();
    while begun.elapsed() < TIME {
        for _ in 0..1024 {
            at = usize::try_from(ring[at * LINE]).unwrap_or(0);
        }
        steps += 1024;
    }
    std::hint::black_box(at);
    begun.elapsed().as_secs_f64() / f64::from(steps)
}

/// Random look-ups per second over all threads.
fn independent(ring: &[u64], threads: usize) -> f64 {
    sum_of_threads(threads, |number| {
        let (mut state, mut sum, mut steps) = (number as u64 + 1, 0u64, 0u32);
        let begun = Instant::now();
        while begun.elapsed() < TIME {
            for _ in 0..1024 {
                sum = sum.wrapping_add(ring[next(&mut state) % ring.len()]);
            }
            steps += 1024;
        }
        std::hint::black_box(sum);
        f64::from(steps) / begun.elapsed().as_secs_f64()
    })
}

/// Bytes read and written per second by threads that each copy their own memory.
fn copy(threads: usize) -> Result<f64> {
    let mut memory = Vec::new();
    for _ in 0..threads {
        let mut both = [Slab::<u8>::reserve(COPIED, PageSize::Auto)?, Slab::reserve(COPIED, PageSize::Auto)?];
        both.iter_mut().for_each(|slab| slab.grow(COPIED));
        memory.push(std::sync::Mutex::new(both));
    }
    Ok(sum_of_threads(threads, |number| {
        let mut both = lock(&memory[number]);
        let [from, to] = &mut *both;
        let mut rounds = 0u32;
        let begun = Instant::now();
        while begun.elapsed() < TIME {
            to[..COPIED].copy_from_slice(&from[..COPIED]);
            std::hint::black_box(&to);
            rounds += 1;
        }
        f64::from(rounds) * 2.0 * float(COPIED as u64) / begun.elapsed().as_secs_f64()
    }))
}

/// The sum of the results of `rate` over `threads` threads that start at the same time.
fn sum_of_threads(threads: usize, rate: impl Fn(usize) -> f64 + Sync) -> f64 {
    let barrier = Barrier::new(threads);
    std::thread::scope(|scope| {
        let (barrier, rate) = (&barrier, &rate);
        let run = move |number| {
            barrier.wait();
            rate(number)
        };
        let others: Vec<_> = (1..threads).map(|number| scope.spawn(move || run(number))).collect();
        let own = run(0);
        own + others.into_iter().map(|other| other.join().unwrap_or(0.0)).sum::<f64>()
    })
}

/// Seconds per byte of fresh memory.
fn fresh(pages: PageSize) -> Result<f64> {
    let mut slab = Slab::<u8>::reserve(FRESH, pages)?;
    let begun = Instant::now();
    slab.grow(FRESH);
    Ok(begun.elapsed().as_secs_f64() / float(FRESH as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_is_a_single_cycle() {
        let ring = ring().unwrap();
        let (mut at, mut steps) = (0, 0);
        loop {
            at = usize::try_from(ring[at * LINE]).unwrap();
            steps += 1;
            if at == 0 {
                break;
            }
        }
        assert_eq!(steps, RANDOM_BYTES / 64);
    }

    #[test]
    fn every_figure_is_a_positive_number() {
        let limits = measure(3).unwrap();
        let counts = |of: &[(usize, f64)]| of.iter().map(|&(count, _)| count).collect::<Vec<_>>();
        assert_eq!((counts(&limits.copy), counts(&limits.independent)), (vec![1, 2, 3], vec![1, 2, 3]));
        let figures = limits.copy.iter().chain(&limits.independent).map(|&(_, figure)| figure);
        let all = figures.chain([limits.dependent, limits.fresh_base, limits.fresh_huge]);
        assert!(all.into_iter().all(|figure| figure > 0.0 && figure.is_finite()), "{limits:?}");
    }
}
