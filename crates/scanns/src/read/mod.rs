//! The ReaderDriver: brings the bytes of inputs into blocks that cut no token and no record.
//!
//! Comes in: the list of inputs. Goes out: [`Lane`]s, one for each index thread, which give [`Block`]s of
//! [`Piece`]s. The list is taken as units in order, whole files or ranges of lines; all pieces of a unit go to
//! one lane, in order. Small files are packed many to a block, large ones span many.
//!
//! Read `work.rs` (units) first, then `reader.rs` (the thread); `unit.rs` opens, `pack.rs` packs small files,
//! `wave.rs` finds the cuts, `queue.rs` hands blocks to and fro, `lines.rs` numbers lines across units. `ladder/` has
//! four older readers to measure ours by.

mod block;
pub(crate) mod ladder;
mod lines;
mod pack;
mod queue;
mod reader;
mod unit;
mod wave;
mod work;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;

pub use block::{Block, Lane, Piece};
pub use lines::LineNumber;
pub use work::Span;

use crate::error::{Error, Result};
use crate::schema::{Analyzer, Records};
use crate::source::{Failure, Input};
use crate::sys::{self, BlockMemory, Cpus, PAGE, PageSize, Ring};
use block::Buffer;
use queue::DualQueue;
use reader::{LaneState, Reader};
use wave::{CARRY, Rules};
use work::Work;

/// Whether large files are read past the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direct {
    /// Where they are not in the page cache already.
    Auto,
    /// Wherever the file system allows it.
    Always,
    /// Never.
    Never,
}

/// How inputs are read.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Reader threads, at most one for each lane.
    pub read_threads: usize,
    /// Lanes, one for each index thread.
    pub lanes: usize,
    /// Bytes read at once, a multiple of 4096; below 256 KiB reading is slow. Files up to this size are packed.
    pub block_bytes: usize,
    /// Blocks that each lane owns, at least 2.
    pub blocks_per_lane: usize,
    /// Asynchronous reads under way for each lane; more than its blocks are never under way.
    pub queue_depth: usize,
    /// Where records are lines, larger files are cut into units of this size.
    pub chunk_bytes: u64,
    /// Whether large files are read past the page cache.
    pub direct: Direct,
    /// Drop what was read through the page cache from it.
    pub drop_behind: bool,
    /// Use io_uring where there is one.
    pub uring: bool,
    /// Keep threads and their memory together on machines with several NUMA nodes.
    pub pin: bool,
    /// Pages that back the blocks.
    pub pages: PageSize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            read_threads: 1,
            lanes: std::thread::available_parallelism().map_or(1, usize::from),
            block_bytes: 1 << 20,
            blocks_per_lane: 4,
            queue_depth: 4,
            chunk_bytes: 16 << 20,
            direct: Direct::Auto,
            drop_behind: false,
            uring: true,
            pin: true,
            pages: PageSize::Auto,
        }
    }
}

impl ReadOptions {
    /// Says what cannot work.
    fn check(&self) -> Result<()> {
        let fault = if self.lanes == 0 || self.read_threads == 0 {
            "reading needs at least one thread and one lane"
        } else if self.block_bytes == 0 || !self.block_bytes.is_multiple_of(PAGE) {
            "the block size must be a multiple of 4 KiB"
        } else if self.block_bytes > 1 << 30 {
            "the block size must be at most 1 GiB"
        } else if self.blocks_per_lane < 2 || self.queue_depth == 0 {
            "each lane needs at least 2 blocks and a queue depth of 1"
        } else {
            return Ok(());
        };
        Err(Error::Options(fault.into()))
    }

    /// Memory that the blocks take, for the memory cap.
    pub fn memory_bytes(&self) -> usize {
        self.lanes * BlockMemory::carved_bytes(self.blocks_per_lane, CARRY + self.block_bytes, self.pages)
    }
}

/// The reader threads of one run.
#[derive(Debug)]
pub struct ReaderDriver {
    work: Arc<Work>,
    threads: Vec<JoinHandle<Result<()>>>,
}

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadReport {
    /// Bytes handed on.
    pub bytes: u64,
    /// Every input that could not be read, or not to its end.
    pub failures: Vec<Failure>,
}

/// Starts reading `inputs`.
///
/// Each lane must be emptied by a thread of its own, or dropped. Setting `cancel` makes readers and lanes end
/// as soon as a block moves.
///
/// # Errors
/// Options that cannot work; no memory or no thread to be had.
pub fn start(
    inputs: Arc<Vec<Input>>,
    records: Records,
    analyzer: &Analyzer,
    options: &ReadOptions,
    cancel: Arc<AtomicBool>,
) -> Result<(ReaderDriver, Vec<Lane>)> {
    start_after(inputs, BTreeMap::new(), records, analyzer, options, cancel)
}

/// Like [`start`], but what `done` has of the lines of an input, by its number, is not read again.
///
/// # Errors
/// As [`start`].
pub fn start_after(
    inputs: Arc<Vec<Input>>,
    done: BTreeMap<u32, Vec<Span>>,
    records: Records,
    analyzer: &Analyzer,
    options: &ReadOptions,
    cancel: Arc<AtomicBool>,
) -> Result<(ReaderDriver, Vec<Lane>)> {
    options.check()?;
    let rules = Rules { records, analyzer: analyzer.clone() };
    let work = Arc::new(Work::new(inputs, done, records, options.chunk_bytes, cancel));
    let blocks = || BlockMemory::carve(options.blocks_per_lane, CARRY + options.block_bytes, options.pages);
    share_out(&work, options, blocks, |share| {
        let reader = Reader {
            work: Arc::clone(&work),
            rules: rules.clone(),
            ring: options.uring.then(|| Ring::new(options.queue_depth * share.lanes.len())).flatten(),
            lanes: share.lanes.into_iter().map(|(cpus, spare)| LaneState::new(cpus, spare)).collect(),
            options: options.clone(),
            queue: share.queue,
            next_token: 0,
        };
        || reader.run()
    })
}

/// What a reader thread begins with.
struct Share {
    queue: Arc<DualQueue<Buffer>>,
    /// For each lane that it serves, where the lane's thread runs if threads are pinned, and its empty blocks.
    lanes: Vec<(Option<Cpus>, Vec<Buffer>)>,
}

/// Shares the lanes out among reader threads and starts these: `blocks` makes the blocks of one lane, `reader` what
/// a thread runs.
fn share_out<R>(
    work: &Arc<Work>,
    options: &ReadOptions,
    blocks: impl Fn() -> Result<Vec<BlockMemory>>,
    reader: impl Fn(Share) -> R,
) -> Result<(ReaderDriver, Vec<Lane>)>
where
    R: FnOnce() -> Result<()> + Send + 'static,
{
    if u32::try_from(work.inputs.len()).is_err() {
        return Err(Error::Options("more than 2^32 inputs: split them between several indexes".into()));
    }
    let nodes = if options.pin { sys::nodes() } else { Vec::new() };
    let node = |lane: usize| (nodes.len() > 1).then(|| nodes[lane % nodes.len()].clone());
    let readers = options.read_threads.min(options.lanes);
    let mut driver = ReaderDriver { work: Arc::clone(work), threads: Vec::with_capacity(readers) };
    let mut lanes = Vec::with_capacity(options.lanes);
    for first in 0..readers {
        let served: Vec<_> = (first..options.lanes).step_by(readers).collect();
        let queue = Arc::new(DualQueue::new(served.len()));
        let mut share = Share { queue: Arc::clone(&queue), lanes: Vec::with_capacity(served.len()) };
        for (number, &lane) in served.iter().enumerate() {
            let buffers = blocks()?.into_iter().map(|memory| Buffer { memory, pieces: Vec::new() });
            share.lanes.push((node(lane), buffers.collect()));
            let (queue, cancel) = (Arc::clone(&queue), Arc::clone(&work.cancel));
            lanes.push((lane, Lane { queue, number, cancel, cpus: node(lane) }));
        }
        driver.threads.push(spawn(reader(share))?);
    }
    lanes.sort_unstable_by_key(|(number, _)| *number);
    Ok((driver, lanes.into_iter().map(|(_, lane)| lane).collect()))
}

fn spawn(run: impl FnOnce() -> Result<()> + Send + 'static) -> Result<JoinHandle<Result<()>>> {
    let thread = std::thread::Builder::new().name("scanns-read".into());
    thread.spawn(run).map_err(|source| Error::System {
        action: "start a reader thread",
        source,
        remedy: "lift the limit on processes (ulimit -u) or give fewer --threads",
    })
}

impl ReaderDriver {
    /// Bytes handed on so far.
    pub fn bytes_read(&self) -> u64 {
        self.work.bytes()
    }

    /// Files read to their end so far, failed ones included.
    pub fn files_done(&self) -> u64 {
        self.work.files_done()
    }

    /// Has the readers begin nothing new: what was begun is still read to its end, or that of its range of lines.
    pub fn begin_nothing(&self) {
        self.work.close();
    }

    /// Waits for the readers, which end after all lanes were emptied or dropped, and reports.
    ///
    /// # Errors
    /// Where a reader thread died, or had to give up for a reason that no single input is to blame for.
    pub fn finish(self) -> Result<ReadReport> {
        let mut ended = Ok(());
        for thread in self.threads {
            let outcome = thread.join().unwrap_or_else(|_| {
                Err(Error::System {
                    action: "read on",
                    source: std::io::Error::other("a reader thread ended unexpectedly"),
                    remedy: "this is a fault in the program: please report it",
                })
            });
            ended = ended.and(outcome);
        }
        ended?;
        Ok(ReadReport { bytes: self.work.bytes(), failures: self.work.failures() })
    }
}

#[cfg(test)]
mod tests;
