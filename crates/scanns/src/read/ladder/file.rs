//! A file that is read block by block, in each of the designs.

use std::io;
use std::ops::Range;
use std::path::Path;

use super::Design;
use crate::read::unit::choose_path;
use crate::read::wave::CARRY;
use crate::read::work::Unit;
use crate::read::{Direct, ReadOptions};
use crate::schema::Delimiters;
use crate::sys::{BLOCK_PADDING, BlockMemory, PAGE, ReadFile};

/// Bytes that the wave reads beyond a block along with it: nearly every token ends within them.
const ADD_ON: usize = PAGE;

/// A file, and how much of it was handed on.
pub(super) struct OpenFile {
    pub(super) unit: Unit,
    file: io::Result<ReadFile>,
    /// Bytes handed on.
    pub(super) taken: u64,
    /// What comes next is inside a token of which more than 32 KiB were handed on.
    pub(super) mid_token: bool,
}

impl OpenFile {
    /// Opens the file of `unit`; where that fails, the first read says why.
    pub(super) fn open(unit: Unit, path: Option<&Path>, design: Design, options: &ReadOptions) -> Self {
        let file = path.map_or_else(|| Err(io::ErrorKind::NotFound.into()), ReadFile::open);
        if let Ok(file) = &file {
            let direct = if design == Design::Std { Direct::Never } else { options.direct };
            choose_path(file, direct, 0, file.size());
        }
        OpenFile { unit, file, taken: 0, mid_token: false }
    }

    /// Reads the next block: where its bytes are in `memory`, and whether the file ends with them.
    pub(super) fn read(
        &mut self,
        design: Design,
        delimiters: &Delimiters,
        options: &ReadOptions,
        memory: &mut BlockMemory,
    ) -> io::Result<(Range<usize>, bool)> {
        let file = self.file.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()))?;
        let block = options.block_bytes;
        let read = match design {
            Design::Std => fresh(file, self.taken, block, memory)?,
            Design::Pool | Design::Numa => fixed(file, self.taken, block, memory)?,
            Design::Wave => wave(file, self.taken, block, memory, delimiters)?,
        };
        let from = self.taken - self.taken % PAGE as u64;
        self.taken += read.range.len() as u64;
        if options.drop_behind && !file.is_direct() {
            file.drop_cached(from, self.taken - from);
        }
        self.mid_token = read.mid_token;
        Ok((read.range, read.closes))
    }
}

/// A block that was read.
struct Read {
    range: Range<usize>,
    /// The file ends with it.
    closes: bool,
    /// It ends inside a token of which more than 32 KiB are in it.
    mid_token: bool,
}

/// Bytes of the file from `offset` on, at most `most`.
fn left(file: &ReadFile, offset: u64, most: usize) -> usize {
    usize::try_from(file.size().saturating_sub(offset)).unwrap_or(usize::MAX).min(most)
}

/// Completes a read at `offset` of which `have` bytes are in `memory`, up to `most` bytes or the end of the file;
/// `most` is whole pages. Returns how many bytes are there.
fn complete(
    file: &ReadFile,
    offset: u64,
    have: usize,
    most: usize,
    memory: &mut BlockMemory,
) -> io::Result<usize> {
    let wanted = left(file, offset, most);
    let len = if file.is_direct() { wanted.next_multiple_of(PAGE) } else { wanted };
    Ok(file.read_rest(&mut memory.as_mut_slice()[..len], offset, have)?.min(wanted))
}

/// True if the file ends with the `got` bytes at `offset`: at its size, or before that if it has shrunk.
fn ends(file: &ReadFile, offset: u64, got: usize, most: usize) -> bool {
    got < most || offset + got as u64 >= file.size()
}

/// A block in memory that is allocated for it.
fn fresh(file: &ReadFile, offset: u64, block: usize, memory: &mut BlockMemory) -> io::Result<Read> {
    let bytes = file.read_new(offset, left(file, offset, block), block + BLOCK_PADDING)?;
    let got = bytes.len();
    *memory = BlockMemory::filled(bytes);
    Ok(Read { range: 0..got, closes: ends(file, offset, got, block), mid_token: false })
}

/// A block in memory that is there.
fn fixed(file: &ReadFile, offset: u64, block: usize, memory: &mut BlockMemory) -> io::Result<Read> {
    let got = complete(file, offset, 0, block, memory)?;
    Ok(Read { range: 0..got, closes: ends(file, offset, got, block), mid_token: false })
}

/// A block, and what is missing of its last token.
///
/// Blocks stay where those of a fixed size are, so that reads are aligned; what the block before has taken of this
/// one is skipped. A token that does not end within [`CARRY`] bytes is handed on as far as it was read.
fn wave(
    file: &ReadFile,
    taken: u64,
    block: usize,
    memory: &mut BlockMemory,
    delimiters: &Delimiters,
) -> io::Result<Read> {
    // Less than a block, which is at most 1 GiB.
    let skipped = usize::try_from(taken % block as u64).unwrap_or(0);
    let offset = taken - skipped as u64;
    let mut got = complete(file, offset, 0, block + ADD_ON, memory)?;
    let whole = |end: usize, closes| Read { range: skipped..end.max(skipped), closes, mid_token: false };
    if got <= block {
        return Ok(whole(got, true));
    }
    if delimiters.contains(memory.as_mut_slice()[block - 1]) {
        return Ok(whole(block, false));
    }
    let mut seen = block;
    loop {
        let add_on = &memory.as_mut_slice()[seen..got];
        if let Some(at) = add_on.iter().position(|&byte| delimiters.contains(byte)) {
            return Ok(whole(seen + at, false));
        }
        seen = got;
        if offset + got as u64 >= file.size() {
            return Ok(whole(got, true));
        }
        if got - block >= CARRY {
            return Ok(Read { range: skipped..got, closes: false, mid_token: true });
        }
        let more = block + (2 * (got - block)).next_multiple_of(PAGE).min(CARRY);
        got = complete(file, offset, got, more, memory)?;
        if got == seen {
            return Ok(whole(got, true)); // the file has shrunk
        }
    }
}
