//! Data that readers pass to lanes: blocks of bytes, and the pieces of inputs in them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::content::{ArchiveMember, TextForm};
use crate::read::cuts::PieceStart;
use crate::read::lines::LineNumber;
use crate::read::queue::DualQueue;
use crate::source::{Entry, EntryKind};
use crate::sys::{BLOCK_PADDING, BlockMemory, Cpus, pin_current_thread};

/// Room for carried bytes, and the distance over which a cut is searched backwards. It is twice the maximum
/// length of a token, so that a block without a place to cut contains only a token that is too long anyway.
pub(super) const CARRY: usize = 64 << 10;

/// The bytes of one input that lie in one block.
///
/// A piece never begins or ends inside a token. It ends inside a record only if `closes` is false; such a
/// piece contains no line feed if records end with lines.
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
    /// The first byte begins the file or a record. If false, it continues the lane's previous piece.
    pub opens: bool,
    /// The last byte ends the file, or a record: it is a line feed or the file ends here.
    pub closes: bool,
    /// True if the piece begins inside a token of which more than 32 KiB came before: drop bytes up to the
    /// first place where a token may begin.
    pub mid_token: bool,
    /// Reading the input failed here, and nothing more follows; if the whole file is a document, it is void.
    pub failed: bool,
    /// The bytes are decoded text: `offset` counts in this text, whose length is not the size of the file.
    pub decoded: bool,
    /// Nothing of the input follows. Only set for decoded text; the last piece may be empty.
    pub last: bool,
    /// If records end with lines: number of the line that contains the first byte; `None` if the file could
    /// not be opened. Otherwise, the number of the first record if `from_cut` is set.
    pub first_line: Option<LineNumber>,
    /// How to read the records from here on, if the piece opens where a text of records was cut.
    pub from_cut: Option<PieceStart>,
    /// How the bytes become text. Only pieces of plain text are cut between tokens.
    pub form: TextForm,
    /// What the piece holds of an archive.
    pub part: Option<Arc<ArchivePart>>,
}

/// A member of an archive, or, after all members, the archive itself.
#[derive(Debug)]
pub struct ArchivePart {
    /// The number of members before it, those of archives within the archive included.
    pub number: u64,
    /// The path of the archive, `!/` and the path in the archive; empty for the archive itself.
    pub path: Vec<u8>,
    /// What the archive says about the member; `None` for the archive itself.
    pub(crate) member: Option<ArchiveMember>,
}

impl ArchivePart {
    /// The member as an entry of a file system; `None` for the archive itself.
    pub(crate) fn entry(&self) -> Option<Entry<'_>> {
        let member = self.member.as_ref()?;
        Some(Entry {
            path: &self.path,
            kind: Some(EntryKind::Member),
            target: member.target.as_deref(),
            owner: member.owner.as_deref(),
            group: member.group.as_deref(),
            mtime: member.modified,
            size: Some(member.size),
            uid: member.uid,
            gid: member.gid,
            mode: member.mode,
            ..Entry::default()
        })
    }
}

/// The memory of a block and the pieces in it; circulates between reader and lane.
#[derive(Debug)]
pub(super) struct Buffer {
    pub(super) memory: BlockMemory,
    pub(super) pieces: Vec<Piece>,
}

/// Puts the empty blocks of all lanes into their reader's queue for the first time. If threads are pinned, a
/// thread on the lane's node touches the blocks first; the calling thread stays on the nodes of all its
/// lanes.
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

/// A filled block; dropping it lets it be filled again.
#[derive(Debug)]
pub struct ReadBlock {
    /// Empty only while the block is being dropped.
    buffer: Option<Buffer>,
    queue: Arc<DualQueue<Buffer>>,
    lane: usize,
}

impl ReadBlock {
    /// The pieces in the block, in the order of their bytes, and the block's bytes, which the ranges of the
    /// pieces slice. At least [`BLOCK_PADDING`] bytes follow the last piece; bytes outside of pieces have no
    /// meaning.
    pub fn split(&mut self) -> (&[Piece], &mut [u8]) {
        let Some(buffer) = self.buffer.as_mut() else { return (&[], &mut []) };
        let filled = buffer.pieces.last().map_or(0, |piece| piece.end);
        (&buffer.pieces, &mut buffer.memory.as_mut_slice()[..filled + BLOCK_PADDING])
    }
}

impl Drop for ReadBlock {
    fn drop(&mut self) {
        if let Some(mut buffer) = self.buffer.take() {
            buffer.pieces.clear();
            self.queue.put_empty(self.lane, buffer);
        }
    }
}

/// The end of a queue that belongs to one index thread. Dropping a lane early discards the data for it.
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
    type Item = ReadBlock;

    /// The next block, waiting for it. `None` after the last, and soon after the work was cancelled or a
    /// reader panicked, which may leave the last piece's file or record open.
    fn next(&mut self) -> Option<ReadBlock> {
        if self.cancel.load(Ordering::Relaxed) {
            return None;
        }
        let buffer = self.queue.take_full(self.number)?;
        Some(ReadBlock { buffer: Some(buffer), queue: Arc::clone(&self.queue), lane: self.number })
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.queue.leave(self.number);
    }
}
