//! What readers hand over: blocks of bytes and the pieces of inputs in them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::read::lines::LineNumber;
use crate::read::queue::DualQueue;
use crate::sys::{BLOCK_PADDING, BlockMemory, Cpus, pin_current_thread};

/// A part of one input that lies in one block.
///
/// A piece never begins or ends inside a token, and ends inside a record only if `closes` is false; such a
/// piece contains no line feed where records end with lines. Records of CSV are not known here: their files are whole. Pieces of the readers in `ladder/`, but for the wave, begin
/// and end anywhere.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Number of the input in the list given to [`start`](crate::read::start).
    pub input: u32,
    /// First byte in the block.
    pub start: usize,
    /// End in the block.
    pub end: usize,
    /// Position of the first byte in the file.
    pub offset: u64,
    /// The first byte begins the file or a record; false: it continues what this lane's previous piece left open.
    pub opens: bool,
    /// The last byte ends the file, or a record (after a line feed or at the end of the file).
    pub closes: bool,
    /// The piece begins inside a token of which more than 32 KiB have gone before: drop bytes up to the first
    /// place where a token may begin.
    pub mid_token: bool,
    /// Reading the input failed here and nothing more will come of it; a document that is one file is void.
    pub failed: bool,
    /// Where records end with lines: number of the line that the first byte belongs to; none if the file could not
    /// be opened.
    pub first_line: Option<LineNumber>,
}

/// Memory of a block and what is in it; circulates between reader and lane.
#[derive(Debug)]
pub(super) struct Buffer {
    pub(super) memory: BlockMemory,
    pub(super) pieces: Vec<Piece>,
}

/// Puts the first empty blocks of all lanes into their reader's queue. Where threads are pinned, blocks are touched
/// by a thread on the lane's node first; the calling thread stays on the nodes of all its lanes.
pub(super) fn give_out<'a>(
    queue: &DualQueue<Buffer>,
    lanes: impl Iterator<Item = (Option<&'a [usize]>, Vec<Buffer>)>,
) {
    let mut own: Cpus = Vec::new();
    for (number, (cpus, mut buffers)) in lanes.enumerate() {
        if let Some(cpus) = cpus {
            pin_current_thread(cpus);
            buffers.iter_mut().for_each(|buffer| buffer.memory.touch());
            own.extend_from_slice(cpus);
        }
        buffers.into_iter().for_each(|buffer| queue.put_empty(number, buffer));
    }
    pin_current_thread(&own);
}

/// A block that has been filled; dropping it lets it be filled again.
#[derive(Debug)]
pub struct Block {
    /// Empty only while the block is being dropped.
    buffer: Option<Buffer>,
    queue: Arc<DualQueue<Buffer>>,
    lane: usize,
}

impl Block {
    /// What is in the block, in the order of the bytes.
    pub fn pieces(&self) -> &[Piece] {
        self.buffer.as_ref().map_or(&[], |buffer| &buffer.pieces)
    }

    /// The block's bytes, to be sliced by the pieces' ranges. At least [`BLOCK_PADDING`] bytes follow the last
    /// piece; what is outside of pieces has no meaning.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.split().1
    }

    /// Pieces and bytes at once.
    pub fn split(&mut self) -> (&[Piece], &mut [u8]) {
        let Some(buffer) = self.buffer.as_mut() else { return (&[], &mut []) };
        let filled = buffer.pieces.last().map_or(0, |piece| piece.end);
        (&buffer.pieces, &mut buffer.memory.as_mut_slice()[..filled + BLOCK_PADDING])
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(mut buffer) = self.buffer.take() {
            buffer.pieces.clear();
            buffer.memory.free();
            self.queue.put_empty(self.lane, buffer);
        }
    }
}

/// One index thread's end of the queue. A lane that is dropped early gives up what was meant for it.
#[derive(Debug)]
pub struct Lane {
    pub(super) queue: Arc<DualQueue<Buffer>>,
    /// Number among the lanes of its reader.
    pub(super) number: usize,
    pub(super) cancel: Arc<AtomicBool>,
    pub(super) cpus: Option<Cpus>,
}

impl Lane {
    /// Processors next to this lane's memory, if threads are to be pinned.
    pub fn node_cpus(&self) -> Option<&[usize]> {
        self.cpus.as_deref()
    }
}

impl Iterator for Lane {
    type Item = Block;

    /// The next block, waiting for it; `None` after the last, and soon after the work was cancelled or a
    /// reader died, which may leave the last piece's file or record open.
    fn next(&mut self) -> Option<Block> {
        if self.cancel.load(Ordering::Relaxed) {
            return None;
        }
        let buffer = self.queue.take_full(self.number)?;
        Some(Block { buffer: Some(buffer), queue: Arc::clone(&self.queue), lane: self.number })
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.queue.leave(self.number);
    }
}
