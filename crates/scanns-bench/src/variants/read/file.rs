//! Reads a file block by block, in each of the designs.

use std::io;
use std::ops::Range;
use std::path::Path;

use scanns::internals::{BLOCK_PADDING, PAGE, ReadFile};
use scanns::schema::Delimiters;
use scanns::sources::{Direct, ReadOptions};

use super::lane::Memory;
use super::shared::Design;

/// Bytes beyond the end of a block in which the wave looks for the end of its last token.
pub(super) const CARRY: usize = 64 << 10;

/// Bytes beyond a block that the wave reads along with it. Nearly every token ends within them.
const ADD_ON: usize = PAGE;

/// Files of at least this size are read past the page cache if they are not in it.
const DIRECT_FROM: u64 = 1 << 20;

/// An open file, and how much of it was passed to its lane.
pub(super) struct OpenFile {
    pub(super) input: usize,
    file: io::Result<ReadFile>,
    /// Bytes passed to the lane.
    pub(super) taken: u64,
    /// True if the next byte is inside a token of which more than [`CARRY`] bytes were passed on.
    pub(super) mid_token: bool,
}

/// The range of a block that was read.
pub(super) struct Stretch {
    pub(super) range: Range<usize>,
    /// True if the file ends with it.
    pub(super) closes: bool,
    /// True if it ends inside a token that is too long to be completed.
    pub(super) mid_token: bool,
}

impl OpenFile {
    /// Opens a file. If that fails, the first read returns the error.
    pub(super) fn open(input: usize, path: &Path, design: Design, options: &ReadOptions) -> Self {
        let file = ReadFile::open(path);
        if let Ok(file) = &file {
            let past_cache = match options.direct {
                _ if design == Design::Std => false,
                Direct::Never => false,
                Direct::Always => true,
                Direct::Auto => file.size() >= DIRECT_FROM && !file.seems_cached(0, file.size()),
            };
            if past_cache {
                file.enter_direct();
            }
        }
        OpenFile { input, file, taken: 0, mid_token: false }
    }

    /// Reads the next block.
    pub(super) fn read(
        &mut self,
        design: Design,
        delimiters: &Delimiters,
        options: &ReadOptions,
        memory: &mut Memory,
    ) -> io::Result<Stretch> {
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
        Ok(read)
    }
}

/// The number of bytes of the file from `offset` on, at most `most`.
fn left(file: &ReadFile, offset: u64, most: usize) -> usize {
    usize::try_from(file.size().saturating_sub(offset)).unwrap_or(usize::MAX).min(most)
}

/// Completes a read at `offset` of which `have` bytes are in `memory`, up to `most` bytes or the end of the
/// file. `most` is a multiple of the page size. Returns the number of bytes that are in `memory`.
fn complete(file: &ReadFile, offset: u64, have: usize, most: usize, memory: &mut [u8]) -> io::Result<usize> {
    let wanted = left(file, offset, most);
    let len = if file.is_direct() { wanted.next_multiple_of(PAGE) } else { wanted };
    Ok(file.read_rest(&mut memory[..len], offset, have)?.min(wanted))
}

/// True if the file ends with the `got` bytes at `offset`: at its size, or earlier if it has shrunk.
fn ends(file: &ReadFile, offset: u64, got: usize, most: usize) -> bool {
    got < most || offset + got as u64 >= file.size()
}

/// Reads a block into newly allocated memory, which is not cleared first.
fn fresh(file: &ReadFile, offset: u64, block: usize, memory: &mut Memory) -> io::Result<Stretch> {
    let wanted = left(file, offset, block);
    let mut bytes = Vec::with_capacity(wanted + BLOCK_PADDING);
    while bytes.len() < wanted {
        let have = bytes.len();
        let into = &mut bytes.spare_capacity_mut()[..wanted - have];
        let got = match rustix::io::pread(file, into, offset + have as u64) {
            Ok(([], _)) => break,
            Ok((got, _)) => got.len(),
            Err(rustix::io::Errno::INTR) => continue,
            Err(errno) => return Err(errno.into()),
        };
        // SAFETY: the system has written `got` bytes to the front of the spare capacity.
        unsafe { bytes.set_len(have + got) };
    }
    let got = bytes.len();
    bytes.resize(got + BLOCK_PADDING, 0);
    *memory = Memory::Fresh(bytes);
    Ok(Stretch { range: 0..got, closes: ends(file, offset, got, block), mid_token: false })
}

/// Reads a block into the memory of the block.
fn fixed(file: &ReadFile, offset: u64, block: usize, memory: &mut Memory) -> io::Result<Stretch> {
    let got = complete(file, offset, 0, block, memory.as_mut_slice())?;
    Ok(Stretch { range: 0..got, closes: ends(file, offset, got, block), mid_token: false })
}

/// Reads a block, and the rest of its last token.
///
/// Blocks begin at the same offsets as blocks of a fixed size, so that reads are aligned. Bytes of this block
/// that the previous block has taken are skipped. A token that does not end within [`CARRY`] bytes is passed
/// on as far as it was read.
fn wave(
    file: &ReadFile,
    taken: u64,
    block: usize,
    memory: &mut Memory,
    delimiters: &Delimiters,
) -> io::Result<Stretch> {
    // Less than a block, so it fits.
    let skipped = usize::try_from(taken % block as u64).unwrap_or(0);
    let offset = taken - skipped as u64;
    let mut got = complete(file, offset, 0, block + ADD_ON, memory.as_mut_slice())?;
    let whole = |end: usize, closes| Stretch { range: skipped..end.max(skipped), closes, mid_token: false };
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
            return Ok(Stretch { range: skipped..got, closes: false, mid_token: true });
        }
        let more = block + (2 * (got - block)).next_multiple_of(PAGE).min(CARRY);
        got = complete(file, offset, got, more, memory.as_mut_slice())?;
        if got == seen {
            return Ok(whole(got, true)); // the file has shrunk
        }
    }
}
