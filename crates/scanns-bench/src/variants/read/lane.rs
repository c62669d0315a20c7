//! The blocks that pass between a read thread and its lanes: full blocks, and blocks that are empty again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};

use scanns::internals::{self, BLOCK_PADDING, BlockMemory, Piece};

/// The memory of a block.
pub(super) enum Memory {
    /// Memory of a pool, page-aligned.
    Pooled(BlockMemory),
    /// Memory that was allocated for the bytes that were read, with their padding; no memory in an empty
    /// block.
    Fresh(Vec<u8>),
}

impl Memory {
    pub(super) fn as_mut_slice(&mut self) -> &mut [u8] {
        match self {
            Memory::Pooled(memory) => memory.as_mut_slice(),
            Memory::Fresh(bytes) => bytes,
        }
    }
}

/// A block to fill for a lane, and where it goes when it is empty again.
pub(super) struct EmptyBlock {
    pub(super) lane: usize,
    pub(super) memory: Memory,
    pub(super) home: Sender<EmptyBlock>,
}

/// A block of one of the paper's readers. When it is dropped, it can be filled again.
pub struct PaperBlock {
    pub(super) piece: Piece,
    /// `None` once the block must not be filled again.
    pub(super) block: Option<EmptyBlock>,
}

impl Drop for PaperBlock {
    fn drop(&mut self) {
        if let Some(mut block) = self.block.take() {
            if let Memory::Fresh(bytes) = &mut block.memory {
                *bytes = Vec::new();
            }
            let home = block.home.clone();
            // A reader that has ended needs no blocks.
            let _ = home.send(block);
        }
    }
}

/// A block that has been filled.
pub enum Block {
    /// A block of scanns.
    Ours(internals::ReadBlock),
    /// A block of one of the paper's readers.
    Paper(PaperBlock),
}

impl Block {
    /// The pieces of files in the block, and its bytes, which the ranges of the pieces index. At least
    /// [`BLOCK_PADDING`] bytes follow the last piece.
    pub fn split(&mut self) -> (&[Piece], &mut [u8]) {
        match self {
            Block::Ours(block) => block.split(),
            Block::Paper(PaperBlock { piece, block }) => {
                let bytes = block.as_mut().map_or(&mut [][..], |block| block.memory.as_mut_slice());
                (std::slice::from_ref(piece), &mut bytes[..piece.end + BLOCK_PADDING])
            }
        }
    }
}

/// The end of the queue at one index thread. A lane that is dropped early gives up the data meant for it.
pub enum Lane {
    /// A lane of scanns.
    Ours(internals::Lane),
    /// A lane of one of the paper's readers.
    Paper(PaperLane),
}

/// A lane of one of the paper's readers.
pub struct PaperLane {
    pub(super) filled: Receiver<PaperBlock>,
    pub(super) cancel: Arc<AtomicBool>,
    pub(super) cpus: Option<Vec<usize>>,
}

impl Lane {
    /// Processors next to the memory of the lane, if threads are to be pinned.
    pub fn node_cpus(&self) -> Option<&[usize]> {
        match self {
            Lane::Ours(lane) => lane.node_cpus(),
            Lane::Paper(lane) => lane.cpus.as_deref(),
        }
    }
}

impl Iterator for Lane {
    type Item = Block;

    /// Waits for the next block. Returns `None` after the last one, and soon after a cancellation.
    fn next(&mut self) -> Option<Block> {
        match self {
            Lane::Ours(lane) => lane.next().map(Block::Ours),
            Lane::Paper(lane) if lane.cancel.load(Ordering::Relaxed) => None,
            Lane::Paper(lane) => lane.filled.recv().ok().map(Block::Paper),
        }
    }
}
