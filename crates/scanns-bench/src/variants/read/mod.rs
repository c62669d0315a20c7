//! The four readers of Orhean et al., "SCANNS: Towards Scalable and Concurrent Data Indexing and Searching",
//! as the steps of a ladder from the obvious design to their best.
//!
//! In all of them, a read thread reads one file after another, block by block, into blocks of a fixed size,
//! and passes them to the lanes of index threads. A block belongs to one file, and all blocks of a file go to
//! one lane, in order. The designs differ in where the memory of blocks comes from and in where a block ends;
//! see [`Design`]. An empty block carries the number of its lane, so that a reader that takes it knows which
//! lane needs data.
//!
//! `lane.rs` defines what passes between the threads, `thread.rs` is the read thread, and `file.rs` reads the
//! next block of a file.

mod file;
mod lane;
mod shared;
#[cfg(test)]
mod tests;
mod thread;

pub use lane::{Block, Lane};
pub use shared::{Design, Reading};

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use anyhow::{Context, Result, ensure};
use scanns::internals::{self, BlockMemory, PAGE, ReaderDriver};
use scanns::schema::Delimiters;
use scanns::sources::{Input, ReadOptions};

use file::CARRY;
use lane::{EmptyBlock, Memory, PaperLane};
use shared::SharedInputs;
use thread::{FileReader, LaneEnd};

/// The read threads of a run.
pub enum Driver {
    /// The threads of scanns.
    Ours(ReaderDriver),
    /// The threads of one of the paper's readers.
    Paper(PaperDriver),
}

/// The read threads of one of the paper's readers, and the state that they share.
pub struct PaperDriver {
    shared: Arc<SharedInputs>,
    threads: Vec<JoinHandle<()>>,
}

impl Driver {
    /// Waits for the read threads, which end after all lanes have been emptied or dropped.
    ///
    /// # Errors
    /// If a read thread panicked, or gave up for a reason that does not concern a single input.
    pub fn finish(self) -> Result<Reading> {
        match self {
            Driver::Ours(driver) => {
                let report = driver.finish()?;
                Ok(Reading { bytes: report.bytes, failures: report.failures })
            }
            Driver::Paper(driver) => {
                for thread in driver.threads {
                    ensure!(thread.join().is_ok(), "a read thread panicked");
                }
                Ok(driver.shared.reading())
            }
        }
    }
}

/// Starts reading `inputs` as whole files with one of the designs; see
/// [`ReaderVariant::start`](super::ReaderVariant::start). Blocks may be as small as a page.
///
/// # Errors
/// If the options are invalid, or if memory or a thread is not available.
pub fn start(
    design: Design,
    inputs: Arc<Vec<Input>>,
    delimiters: &Delimiters,
    options: &ReadOptions,
    cancel: Arc<AtomicBool>,
) -> Result<(Driver, Vec<Lane>)> {
    ensure!(options.lanes > 0 && options.read_threads > 0, "reading needs a thread and a lane");
    ensure!(options.blocks_per_lane > 1, "each lane needs at least 2 blocks");
    let block_bytes = options.block_bytes;
    ensure!(block_bytes > 0 && block_bytes.is_multiple_of(PAGE), "blocks must be a multiple of 4 KiB");
    let pinned = options.pin && matches!(design, Design::Numa | Design::Wave);
    let nodes = if pinned { internals::nodes() } else { Vec::new() };
    let cpus_of = |lane: usize| (nodes.len() > 1).then(|| nodes[lane % nodes.len()].clone());
    let shared = Arc::new(SharedInputs {
        inputs,
        cancel: Arc::clone(&cancel),
        next: AtomicUsize::new(0),
        bytes: AtomicU64::new(0),
        failures: Mutex::default(),
    });
    let readers = options.read_threads.min(options.lanes);
    let mut lanes: Vec<Option<Lane>> = (0..options.lanes).map(|_| None).collect();
    let mut threads = Vec::with_capacity(readers);
    for first in 0..readers {
        let (home, empties) = channel();
        let mut ends = Vec::new();
        let mut blocks = Vec::new();
        for (number, lane) in (first..options.lanes).step_by(readers).enumerate() {
            let (full, filled) = channel();
            let cpus = cpus_of(lane);
            for memory in memory_of_lane(design, options)? {
                blocks.push(EmptyBlock { lane: number, memory, home: home.clone() });
            }
            ends.push(LaneEnd { cpus: cpus.clone(), full: Some(full), open: None });
            lanes[lane] = Some(Lane::Paper(PaperLane { filled, cancel: Arc::clone(&cancel), cpus }));
        }
        let reader = FileReader {
            shared: Arc::clone(&shared),
            empties,
            lanes: ends,
            design,
            delimiters: *delimiters,
            options: options.clone(),
        };
        let thread = std::thread::Builder::new().name("bench-read".into());
        threads.push(thread.spawn(move || reader.run(blocks)).context("cannot start a read thread")?);
    }
    Ok((Driver::Paper(PaperDriver { shared, threads }), lanes.into_iter().flatten().collect()))
}

/// Allocates the memory of the blocks of one lane.
fn memory_of_lane(design: Design, options: &ReadOptions) -> Result<Vec<Memory>> {
    let add_on = if design == Design::Wave { CARRY } else { 0 };
    Ok(match design {
        Design::Std => (0..options.blocks_per_lane).map(|_| Memory::Fresh(Vec::new())).collect(),
        _ => BlockMemory::carve(options.blocks_per_lane, options.block_bytes + add_on, options.pages)?
            .into_iter()
            .map(Memory::Pooled)
            .collect(),
    })
}
