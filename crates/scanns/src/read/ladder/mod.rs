//! Four readers to measure ours by, after Orhean et al., "SCANNS: Towards Scalable and Concurrent Data Indexing and
//! Searching": each step of a ladder from the obvious design to their best.
//!
//! In all of them a read thread reads one file after the other, block by block, into blocks of a fixed size, and gives
//! them to index threads through a [`DualQueue`](super::queue::DualQueue). A block belongs to one file, and all blocks
//! of a file go to one lane, in order. Where the memory of blocks comes from and where a block ends is what differs;
//! see [`Design`]. `thread.rs` is the read thread, `file.rs` reads the next block of a file. Lanes, queues, blocks,
//! NUMA nodes and direct I/O are those of our reader.

mod file;
mod thread;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::wave::CARRY;
use super::work::Work;
use super::{Lane, ReadOptions, ReaderDriver, share_out};
use crate::error::Result;
use crate::schema::{Delimiters, Records};
use crate::source::Input;
use crate::sys::BlockMemory;
use thread::Reader;

/// The steps of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// Each block is allocated afresh, read through the page cache, and freed by the thread that is done with it.
    /// Blocks cut tokens.
    Std,
    /// Blocks come from a pool and go back to it; they are read past the page cache where that is possible. Blocks
    /// cut tokens.
    Pool,
    /// As [`Design::Pool`], with blocks and threads on one memory node.
    Numa,
    /// As [`Design::Numa`], and with each block a little is read beyond its end, so that it ends with a whole token.
    Wave,
}

/// Starts reading `inputs`, whole files, with one of the designs; see [`start`](super::start).
///
/// Of the options, `queue_depth`, `chunk_bytes` and `uring` mean nothing here, `direct` and `pages` nothing to
/// [`Design::Std`], and `pin` something to the last two only. Blocks may be as small as a page.
///
/// # Errors
/// As those of [`start`](super::start).
pub fn start(
    design: Design,
    inputs: Arc<Vec<Input>>,
    delimiters: &Delimiters,
    options: &ReadOptions,
    cancel: Arc<AtomicBool>,
) -> Result<(ReaderDriver, Vec<Lane>)> {
    options.check()?;
    let mut options = options.clone();
    options.pin &= matches!(design, Design::Numa | Design::Wave);
    let add_on = if design == Design::Wave { CARRY } else { 0 };
    let blocks = || match design {
        Design::Std => Ok((0..options.blocks_per_lane).map(|_| BlockMemory::none()).collect()),
        _ => BlockMemory::carve(options.blocks_per_lane, options.block_bytes + add_on, options.pages),
    };
    let work = Arc::new(Work::new(inputs, BTreeMap::new(), Records::File, options.chunk_bytes, cancel));
    share_out(&work, &options, blocks, |share| {
        let reader = Reader::new(Arc::clone(&work), share, design, *delimiters, options.clone());
        || reader.run()
    })
}

#[cfg(test)]
mod tests;
