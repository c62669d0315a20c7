//! Measures the devices: reading the sample without indexing it, and writing where the index will be.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::numbers::float;
use crate::error::{Error, Result};
use crate::index::build::options::IndexOptions;
use crate::read::{Direct, Lane, ReadOptions, start};
use crate::schema::Analyzer;
use crate::source::Input;
use crate::store::{Directory, FsDirectory};

/// The speed of reading past the page cache with one block size and queue depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadRate {
    /// Bytes per read.
    pub block_bytes: usize,
    /// The number of reads in flight.
    pub queue_depth: usize,
    /// Bytes per second of one read thread.
    pub bytes_per_second: f64,
}

/// The measured limits of the devices.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceLimits {
    /// The speed of reading large files past the page cache; empty if the sample has no large files.
    pub direct: Vec<ReadRate>,
    /// Bytes per second of reading the sample as a build does, including the cost of small files. The page
    /// cache is used if the sample was found there.
    pub sample: f64,
    /// Seconds to open, read and close a small file; `None` if there are too few small files to measure.
    pub small_file: Option<f64>,
    /// Bytes written per second until they are durable.
    pub write: f64,
    /// Seconds until a small file is durable.
    pub sync: f64,
}

/// The time to measure one combination of block size and queue depth.
const TIME: Duration = Duration::from_millis(120);

/// The longest time for reading the whole sample, and the time for writing.
const LONG: Duration = Duration::from_millis(500);

const BLOCKS: [usize; 3] = [256 << 10, 1 << 20, 4 << 20];
const DEPTHS: [usize; 3] = [1, 4, 16];

/// The largest small file.
const SMALL: u64 = 64 << 10;

/// The minimum number of small files to measure.
const ENOUGH: usize = 100;

/// Measures reading of `inputs` with the options of a build, and writing to `dir`. `forget` evicts the inputs
/// from the page cache, unless they were found there.
///
/// # Errors
/// [`Error::Cancelled`], and errors of reading and writing.
pub(super) fn measure(
    inputs: &[Input],
    options: &IndexOptions,
    dir: &Path,
    forget: &dyn Fn(),
    cancel: &AtomicBool,
) -> Result<DeviceLimits> {
    let some = |wanted: &dyn Fn(u64) -> bool| {
        Arc::new(inputs.iter().filter(|input| wanted(input.bytes)).cloned().collect::<Vec<_>>())
    };
    let reading = Reading { options, cancel };
    let one = ReadOptions { lanes: 1, read_threads: 1, ..options.read.clone() };
    let mut direct = Vec::new();
    let large = some(&|bytes| bytes > BLOCKS[2] as u64);
    let ways = BLOCKS.iter().flat_map(|&block| DEPTHS.iter().map(move |&depth| (block, depth)));
    for (block_bytes, queue_depth) in ways.filter(|_| !large.is_empty()) {
        let blocks_per_lane = queue_depth + 2;
        let read =
            ReadOptions { block_bytes, queue_depth, blocks_per_lane, direct: Direct::Always, ..one.clone() };
        let (bytes, _, seconds) = reading.run(&large, &read, TIME)?;
        direct.push(ReadRate { block_bytes, queue_depth, bytes_per_second: bytes / seconds });
    }
    let small = some(&|bytes| bytes > 0 && bytes <= SMALL);
    let small_file = if small.len() < ENOUGH {
        None
    } else {
        forget();
        let (_, files, seconds) = reading.run(&small, &one, LONG)?;
        Some(seconds / files.max(1.0))
    };
    forget();
    let (bytes, _, seconds) = reading.run(&some(&|_| true), &options.read, LONG)?;
    let (write, sync) = writing(dir)?;
    Ok(DeviceLimits { direct, sample: bytes / seconds, small_file, write, sync })
}

struct Reading<'a> {
    options: &'a IndexOptions,
    cancel: &'a AtomicBool,
}

impl Reading<'_> {
    /// Reads inputs for at most `time` without using them. Returns bytes, files and seconds.
    fn run(&self, inputs: &Arc<Vec<Input>>, read: &ReadOptions, time: Duration) -> Result<(f64, f64, f64)> {
        let stop = Arc::new(AtomicBool::new(false));
        let analyzer = self.options.analyzer.clone().unwrap_or(Analyzer::Standard);
        let begun = Instant::now();
        let (driver, lanes) =
            start(Arc::clone(inputs), self.options.records, &analyzer, read, Arc::clone(&stop))?;
        let drop_all = |lane: Lane| {
            for _ in lane {
                if begun.elapsed() > time || self.cancel.load(Ordering::Relaxed) {
                    stop.store(true, Ordering::Relaxed);
                }
            }
        };
        std::thread::scope(|scope| {
            for lane in lanes {
                scope.spawn(|| drop_all(lane));
            }
        });
        let (bytes, files) = (driver.bytes_read(), driver.files_done());
        driver.finish()?;
        if self.cancel.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        Ok((float(bytes), float(files), begun.elapsed().as_secs_f64()))
    }
}

/// Bytes written per second until they are durable, and seconds for one small file.
fn writing(dir: &Path) -> Result<(f64, f64)> {
    const NAME: &str = "probe";
    let directory = FsDirectory::new(dir);
    let write = |most: Duration, chunk: &[u8]| -> Result<f64> {
        let begun = Instant::now();
        let mut out = directory.create(NAME)?;
        let mut bytes = 0u64;
        loop {
            out.write_all(chunk).map_err(|source| Error::io("write", &dir.join(NAME), source))?;
            bytes += chunk.len() as u64;
            if begun.elapsed() >= most || bytes >= 256 << 20 {
                break;
            }
        }
        out.finish()?;
        Ok(float(bytes) / begun.elapsed().as_secs_f64())
    };
    // No two pages are equal, in case the file system deduplicates.
    let chunk: Vec<u8> =
        (0..1u32 << 18).flat_map(|word| word.wrapping_mul(0x9e37_79b1).to_le_bytes()).collect();
    let rate = write(LONG, &chunk)?;
    let small = write(Duration::ZERO, &chunk[..4096])?;
    directory.remove(NAME)?;
    Ok((rate, 4096.0 / small))
}
