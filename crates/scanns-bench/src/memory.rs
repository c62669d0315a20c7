//! Random writes to memory, by the size of a write, threads and pages, after figure 11 of Orhean et al.,
//! "SCANNS: Towards Scalable and Concurrent Data Indexing and Searching": the upper limit for a table of
//! terms.
//!
//! Each thread writes to random, aligned places in its own share of one region, which is backed by memory
//! beforehand. Places are drawn while writing, which takes about a nanosecond. After each run, the first
//! places of the run are drawn again and checked: a missing write stops the experiment.

use std::sync::Barrier;
use std::time::Instant;

use anyhow::{Context, Result};
use fastrand::Rng;
use scanns::internals::Slab;
use scanns::sources::PageSize;

use scanns_bench::results::{Better, Results, Series};
use scanns_bench::stats::in_turns;

/// What to write.
#[derive(Debug, clap::Args)]
pub struct MemoryArgs {
    /// Size of the region in MiB, for each kind of page
    #[arg(long, default_value_t = 1024)]
    pub region: usize,
    /// Sizes of a write in bytes, powers of two
    #[arg(long, value_delimiter = ',', default_values_t = SIZES)]
    pub blocks: Vec<usize>,
    /// Concurrent threads
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    pub threads: Vec<usize>,
    /// MiB that each thread writes in a run, at most 4 million writes
    #[arg(long, default_value_t = 1024)]
    pub amount: usize,
    /// Rounds
    #[arg(long, default_value_t = 5)]
    pub repetitions: usize,
}

const SIZES: [usize; 9] = [8, 32, 128, 512, 2 << 10, 8 << 10, 32 << 10, 128 << 10, 1 << 20];

/// Limit for the writes of a thread in a run.
const MOST: usize = 4 << 20;

/// Writes that are checked after a run.
const LOOKED_AT: usize = 1 << 14;

impl MemoryArgs {
    /// A smaller region, and fewer writes and rounds, for a fast run.
    pub fn quick() -> Self {
        MemoryArgs { region: 256, blocks: SIZES.into(), threads: vec![1, 2], amount: 128, repetitions: 3 }
    }
}

/// A point of the experiment.
#[derive(Clone, Copy, Debug)]
struct Point {
    block: usize,
    threads: usize,
    pages: PageSize,
}

impl Point {
    fn pages(self) -> &'static str {
        if self.pages == PageSize::Huge { "2 MiB" } else { "4 KiB" }
    }

    /// The number of writes of each thread.
    fn writes(self, args: &MemoryArgs) -> usize {
        ((args.amount << 20) / self.block).clamp(1, MOST)
    }
}

/// Places for writes of `block` bytes in a share of memory.
struct Places {
    random: Rng,
    blocks: usize,
    block: usize,
}

impl Places {
    fn new(seed: u64, share: usize, block: usize) -> Self {
        Places { random: Rng::with_seed(seed), blocks: share / block, block }
    }

    #[inline]
    fn draw(&mut self) -> usize {
        self.random.usize(0..self.blocks) * self.block
    }
}

/// Writes. Returns the seconds that it took.
fn write(share: &mut [u8], block: usize, writes: usize, seed: u64) -> f64 {
    let source = vec![mark(seed); block];
    let mut places = Places::new(seed, share.len(), block);
    let begin = Instant::now();
    for _ in 0..writes {
        let at = places.draw();
        // Each drawn place has room for a block. A known length makes the smallest write a single store.
        if block == 8 {
            if let Some(place) = share[at..].first_chunk_mut::<8>() {
                *place = [mark(seed); 8];
            }
        } else {
            share[at..at + block].copy_from_slice(&source);
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    std::hint::black_box(&mut *share);
    seconds
}

/// The byte that a run with this seed writes.
fn mark(seed: u64) -> u8 {
    seed.to_le_bytes()[0] | 1
}

/// True if the first places hold what a run with this seed writes.
fn is_written(share: &[u8], block: usize, writes: usize, seed: u64) -> bool {
    let mut places = Places::new(seed, share.len(), block);
    (0..writes.min(LOOKED_AT)).all(|_| {
        let at = places.draw();
        share[at] == mark(seed) && share[at + block - 1] == mark(seed)
    })
}

/// Nanoseconds per write of the slowest thread, by the wall clock.
fn measure(memory: &mut [u8], point: Point, writes: usize, seed: u64) -> Result<f64> {
    let share = memory.len() / point.threads;
    anyhow::ensure!(
        share >= point.block,
        "the region is too small for {} threads: increase --region",
        point.threads
    );
    let barrier = Barrier::new(point.threads);
    let barrier = &barrier;
    let shares = memory.chunks_exact_mut(share).take(point.threads);
    let seconds = std::thread::scope(|scope| {
        let threads: Vec<_> = (seed..)
            .zip(shares)
            .map(|(seed, share)| {
                scope.spawn(move || {
                    barrier.wait();
                    let seconds = write(share, point.block, writes, seed);
                    is_written(share, point.block, writes, seed).then_some(seconds)
                })
            })
            .collect();
        let joined = threads.into_iter().map(|thread| thread.join().ok().flatten());
        joined.collect::<Option<Vec<f64>>>().context("a write is missing from memory")
    })?;
    let slowest = seconds.into_iter().fold(0.0, f64::max);
    Ok(slowest * 1e9 / as_f64(writes))
}

/// MiB/s of all threads, from the nanoseconds per write.
fn rate(point: Point, nanoseconds: f64) -> f64 {
    as_f64(point.block * point.threads) / f64::from(1 << 20) / (nanoseconds * 1e-9)
}

#[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
fn as_f64(count: usize) -> f64 {
    count as f64
}

/// Bytes of this process in huge pages, if the kernel reports them.
fn huge_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("AnonHugePages:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

/// Reserves memory of each kind of page, and adds a remark if the kernel gave another kind.
fn regions(args: &MemoryArgs, results: &mut Results) -> Result<[Slab<u8>; 2]> {
    let bytes = args.region << 20;
    let region = |pages| -> Result<(Slab<u8>, Option<u64>)> {
        let before = huge_bytes();
        let mut slab = Slab::reserve(bytes, pages)?;
        slab.grow(bytes);
        // Backs the pages that were not backed at once.
        slab[..bytes].fill(0);
        Ok((slab, huge_bytes().zip(before).map(|(after, before)| after.saturating_sub(before))))
    };
    let (base, base_huge) = region(PageSize::Base)?;
    let (huge, huge_huge) = region(PageSize::Huge)?;
    let whole = u64::try_from(bytes)?;
    if base_huge.is_some_and(|found| found > whole / 10) {
        results.note(
            "memory: the kernel gave huge pages where base pages were requested \
            (transparent_hugepage is always)",
        );
    }
    if huge_huge.is_some_and(|found| found < whole / 10 * 9) {
        results.note("memory: the kernel gave base pages where huge pages were requested, so both are alike");
    }
    Ok([base, huge])
}

/// Measures every point.
pub fn run(args: &MemoryArgs, results: &mut Results) -> Result<()> {
    let bytes = args.region << 20;
    for &block in &args.blocks {
        anyhow::ensure!(
            block.is_power_of_two() && (8..=bytes).contains(&block),
            "{block} is not a valid size of a write: give powers of two from 8 up to the region"
        );
    }
    anyhow::ensure!(args.threads.iter().all(|&threads| threads > 0), "give at least one thread");
    let [mut base, mut huge] = regions(args, results)?;
    let mut points = Vec::new();
    for pages in [PageSize::Base, PageSize::Huge] {
        for &threads in &args.threads {
            points.extend(args.blocks.iter().map(|&block| Point { block, threads, pages }));
        }
    }
    let subject = format!("region of {} MiB", args.region);
    println!("memory: {subject}, {} points, {} rounds", points.len(), args.repetitions.max(1));
    let mut seed = 1;
    let times = in_turns(args.repetitions.max(1), &points, |point| {
        seed += 2;
        let slab = if point.pages == PageSize::Huge { &mut huge } else { &mut base };
        measure(&mut slab[..bytes], *point, point.writes(args), seed)
    })?;
    for (metric, unit, better) in [("rate", "MiB/s", Better::Higher), ("time", "ns per write", Better::Lower)]
    {
        for (point, times) in points.iter().zip(&times) {
            let of = |&time: &f64| if metric == "rate" { rate(*point, time) } else { time };
            let samples = times.iter().map(of).collect();
            let series = Series::of(
                "memory",
                &subject,
                &format!("pages of {}", point.pages()),
                (metric, unit, better),
                samples,
            );
            let series =
                series.with("bytes of a write", as_f64(point.block)).with("threads", as_f64(point.threads));
            results.add(series, None);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_has_a_finite_rate_and_time() {
        let mut results = Results::begin(&[]);
        let args = MemoryArgs {
            region: 4,
            blocks: vec![8, 4096, 1 << 20],
            threads: vec![1, 2],
            amount: 1,
            repetitions: 1,
        };
        run(&args, &mut results).unwrap();
        assert_eq!(results.series.len(), 2 * 2 * 2 * 3);
        assert!(
            results
                .series
                .iter()
                .flat_map(|series| &series.samples)
                .all(|&value| value.is_finite() && value > 0.0)
        );
    }

    #[test]
    fn a_rate_is_that_of_all_threads() {
        let point = Point { block: 1 << 20, threads: 2, pages: PageSize::Base };
        assert_eq!(rate(point, 1e9), 2.0);
        let args = MemoryArgs { amount: 3, ..MemoryArgs::quick() };
        assert_eq!((point.writes(&args), Point { block: 8, ..point }.writes(&args)), (3, 393_216));
    }

    #[test]
    fn a_write_that_is_missing_is_found() {
        let mut memory = vec![0; 1 << 16];
        write(&mut memory, 64, 100, 5);
        assert!(is_written(&memory, 64, 100, 5) && !is_written(&memory, 64, 100, 7));
        let at = Places::new(5, memory.len(), 64).draw();
        memory[at + 63] = 0;
        assert!(!is_written(&memory, 64, 100, 5));
    }

    #[test]
    fn sizes_that_make_no_sense_are_refused() {
        let error =
            run(&MemoryArgs { blocks: vec![12], region: 1, ..MemoryArgs::quick() }, &mut Results::begin(&[]))
                .unwrap_err();
        assert!(error.to_string().contains("powers of two"), "{error}");
    }
}
