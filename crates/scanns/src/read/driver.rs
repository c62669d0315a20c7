//! Starts the reader threads of a run, and waits for them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;

use crate::error::{Error, Result};
use crate::read::block::{Buffer, CARRY, Lane};
use crate::read::count::ContentCount;
use crate::read::options::ReadOptions;
use crate::read::queue::DualQueue;
use crate::read::reader::{LaneState, ReaderThread};
use crate::read::wave::Rules;
use crate::read::work::{DoneParts, WorkList};
use crate::schema::{Analyzer, Records};
use crate::source::{Failure, Input};
use crate::sys::{self, BlockMemory, Cpus, Ring};

/// The reader threads of one run.
#[derive(Debug)]
pub struct ReaderDriver {
    pub(super) work: Arc<WorkList>,
    pub(super) threads: Vec<JoinHandle<Result<()>>>,
}

/// The result of reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadReport {
    /// Bytes passed to lanes.
    pub bytes: u64,
    /// Inputs that could not be read completely.
    pub failures: Vec<Failure>,
    /// Files whose content was left out because it is binary, by kind.
    pub binary: Vec<ContentCount>,
    /// Files whose text was decoded, by encoding.
    pub decoded: Vec<ContentCount>,
    /// What was left out of inputs that did not fail.
    pub remarks: Vec<Failure>,
}

/// Starts reading all bytes of `inputs`, whose records are not cut.
///
/// # Errors
/// Invalid options, or a lack of memory or threads.
pub fn start(
    inputs: Arc<Vec<Input>>,
    records: Records,
    analyzer: &Analyzer,
    options: &ReadOptions,
    cancel: Arc<AtomicBool>,
) -> Result<(ReaderDriver, Vec<Lane>)> {
    let rules = Rules { records, analyzer: analyzer.clone(), cuts: None };
    start_after(inputs, DoneParts::default(), rules, options, cancel)
}

/// Starts reading `inputs`, without the parts in `parts`.
///
/// Each lane must be emptied by its own thread, or dropped. After `cancel` was set, readers and lanes end as
/// soon as a block moves.
///
/// # Errors
/// Invalid options, or a lack of memory or threads.
pub fn start_after(
    inputs: Arc<Vec<Input>>,
    parts: DoneParts,
    rules: Rules,
    options: &ReadOptions,
    cancel: Arc<AtomicBool>,
) -> Result<(ReaderDriver, Vec<Lane>)> {
    options.check()?;
    let mut options = options.clone();
    options.contents.collections &= options.collections.is_some();
    let options = &options;
    let work = Arc::new(WorkList::new(inputs, parts, rules.records, options, cancel));
    let blocks = || BlockMemory::carve(options.blocks_per_lane, CARRY + options.block_bytes, options.pages);
    share_out(&work, options, blocks, |share| {
        let reader = ReaderThread {
            work: Arc::clone(&work),
            rules: rules.clone(),
            ring: options.uring.then(|| Ring::new(options.queue_depth * share.lanes.len())).flatten(),
            lanes: share.lanes.into_iter().map(|(cpus, spare)| LaneState::new(cpus, spare)).collect(),
            options: options.clone(),
            queue: share.queue,
            next_token: 0,
            scratch: Vec::new(),
            shared: None,
            ready: Vec::new(),
        };
        || reader.run()
    })
}

/// The state of a new reader thread.
pub(super) struct Share {
    pub(super) queue: Arc<DualQueue<Buffer>>,
    /// For each lane that it serves: the processors of the lane's thread if threads are pinned, and its
    /// empty blocks.
    pub(super) lanes: Vec<(Option<Cpus>, Vec<Buffer>)>,
}

/// Divides the lanes among reader threads and starts them: `blocks` allocates the blocks of one lane,
/// `reader` creates the state of a thread.
pub(super) fn share_out<R>(
    work: &Arc<WorkList>,
    options: &ReadOptions,
    blocks: impl Fn() -> Result<Vec<BlockMemory>>,
    reader: impl Fn(Share) -> R,
) -> Result<(ReaderDriver, Vec<Lane>)>
where
    R: FnOnce() -> Result<()> + Send + 'static,
{
    if u32::try_from(work.inputs.len()).is_err() {
        let remedy = "split them between several indexes";
        return Err(Error::TooMany { what: "inputs", limit: u32::MAX.into(), remedy });
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

pub(super) fn spawn(run: impl FnOnce() -> Result<()> + Send + 'static) -> Result<JoinHandle<Result<()>>> {
    let thread = std::thread::Builder::new().name("scanns-read".into());
    thread.spawn(run).map_err(|source| Error::System {
        action: "start a reader thread",
        source,
        remedy: "raise the limits (ulimit -u, ulimit -v) or use fewer threads",
    })
}

impl ReaderDriver {
    /// Bytes passed to lanes so far.
    pub fn bytes_read(&self) -> u64 {
        self.work.bytes()
    }

    /// Bytes of files that are done so far: read, or left out on purpose. For compressed files this is less
    /// than the bytes passed to lanes.
    pub fn bytes_done(&self) -> u64 {
        self.work.consumed()
    }

    /// Files read to their end so far, failed ones included.
    pub fn files_done(&self) -> u64 {
        self.work.files_done()
    }

    /// Makes the readers start no new unit. A file or range of lines that was begun is still read to its end.
    pub fn begin_nothing(&self) {
        self.work.close();
    }

    /// Waits for the readers, which end after all lanes were emptied or dropped, and reports.
    ///
    /// # Errors
    /// A reader thread panicked, or gave up for a reason that concerns no single input.
    pub fn finish(self) -> Result<ReadReport> {
        let mut ended = Ok(());
        for thread in self.threads {
            let outcome =
                thread.join().unwrap_or_else(|panic| Err(Error::panicked("a reader thread", &*panic)));
            ended = ended.and(outcome);
        }
        ended?;
        let [binary, decoded] = self.work.kinds();
        let (failures, remarks) = (self.work.failures(), self.work.remarks());
        Ok(ReadReport { bytes: self.work.bytes(), failures, binary, decoded, remarks })
    }
}
