//! Opens a unit, and decides whether it is read as a whole or block by block, through the page cache or past
//! it.

use std::io;
use std::sync::Arc;

use crate::read::options::{Direct, ReadOptions};
use crate::read::wave::{CARRY, Wave};
use crate::read::work::{ReadUnit, WorkList};
use crate::sys::{PAGE, ReadFile};

/// Files of at least this size are read past the page cache if they are not in it.
const DIRECT_FROM: u64 = 1 << 20;

/// A unit that has been opened, or could not be.
pub(super) enum OpenedUnit {
    /// A whole file that fits into a block.
    Small(ReadUnit, ReadFile),
    /// A unit that is read block by block.
    Large(Box<LargeUnit>),
    /// A unit that cannot be read, and why.
    Failed(ReadUnit, io::Error),
}

/// A range of a file that one read fetches.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadRange {
    pub(super) offset: u64,
    pub(super) len: usize,
}

/// A unit that is read block by block, and its remaining reads.
pub(super) struct LargeUnit {
    pub(super) file: Arc<ReadFile>,
    pub(super) wave: Wave,
    next: u64,
    until: u64,
    step: u64,
}

/// Opens `unit`.
pub(super) fn open(work: &WorkList, unit: ReadUnit, options: &ReadOptions) -> OpenedUnit {
    let opened = work.inputs.get(unit.input as usize).map(|input| ReadFile::open(&input.path));
    match opened.unwrap_or_else(|| Err(io::ErrorKind::NotFound.into())) {
        Err(error) => OpenedUnit::Failed(unit, error),
        Ok(file) if unit.link.is_none() && file.size() <= options.block_bytes as u64 => {
            OpenedUnit::Small(unit, file)
        }
        Ok(file) => OpenedUnit::Large(Box::new(LargeUnit::new(unit, file, options))),
    }
}

/// Makes reads of `file` bypass the page cache if `direct` says so for `len` bytes at `offset`.
pub(super) fn choose_path(file: &ReadFile, direct: Direct, offset: u64, len: u64) {
    let past = match direct {
        Direct::Never => false,
        Direct::Always => true,
        Direct::Auto => file.size() >= DIRECT_FROM && !file.seems_cached(offset, len),
    };
    if past {
        file.enter_direct();
    }
}

impl LargeUnit {
    fn new(unit: ReadUnit, file: ReadFile, options: &ReadOptions) -> Self {
        const PAGE_BYTES: u64 = PAGE as u64;
        let size = file.size();
        // The byte before the unit tells whether a line starts with the unit.
        let next = unit.start.saturating_sub(1) / PAGE_BYTES * PAGE_BYTES;
        // Most lines that start in the unit end within the next CARRY bytes.
        let until = unit.end.map_or(size, |end| size.min(end.saturating_add(CARRY as u64))).max(next + 1);
        // Blocks of equal size, so that the last read is not tiny.
        let blocks = (until - next).div_ceil(options.block_bytes as u64);
        let step = (until - next).div_ceil(blocks).next_multiple_of(PAGE_BYTES);
        choose_path(&file, options.direct, next, until - next);
        LargeUnit { file: Arc::new(file), wave: Wave::new(unit, size), next, until, step }
    }

    /// The next read to make, whole pages.
    pub(super) fn next_read(&mut self) -> Option<ReadRange> {
        let offset = self.next;
        if offset >= self.until {
            return None;
        }
        self.next += self.step;
        usize::try_from(self.step).ok().map(|len| ReadRange { offset, len })
    }

    /// Allows further reads when a line continues beyond the planned ones.
    pub(super) fn extend(&mut self, reads: usize) {
        if self.next >= self.until {
            self.until = self.next.saturating_add(self.step.saturating_mul(reads as u64));
        }
    }

    /// True if the reads of the unit are known; if false, its last line decides.
    pub(super) fn is_bounded(&self) -> bool {
        self.wave.unit.end.is_none()
    }
}
