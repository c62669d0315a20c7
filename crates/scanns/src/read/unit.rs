//! Opening a unit: whether it is read in one go or block by block, through the page cache or past it.

use std::io;
use std::sync::Arc;

use crate::read::wave::{CARRY, Wave};
use crate::read::work::{Unit, Work};
use crate::read::{Direct, ReadOptions};
use crate::sys::{PAGE, ReadFile};

/// Files from this size on are read past the page cache where they are not in it.
const DIRECT_FROM: u64 = 1 << 20;

/// A unit that has been opened, or could not be.
pub(super) enum Opened {
    /// A whole file that fits into a block.
    Small(Unit, ReadFile),
    /// A unit that is read block by block.
    Large(Box<LargeUnit>),
    /// A unit that cannot be read, and why.
    Failed(Unit, io::Error),
}

/// A unit that is read block by block, and which reads of it are still to be made.
pub(super) struct LargeUnit {
    pub(super) file: Arc<ReadFile>,
    pub(super) wave: Wave,
    next: u64,
    until: u64,
    step: u64,
}

/// Opens `unit`.
pub(super) fn open(work: &Work, unit: Unit, options: &ReadOptions) -> Opened {
    let opened = work.inputs.get(unit.input as usize).map(|input| ReadFile::open(&input.path));
    match opened.unwrap_or_else(|| Err(io::ErrorKind::NotFound.into())) {
        Err(error) => Opened::Failed(unit, error),
        Ok(file) if unit.part.is_none() && file.size() <= options.block_bytes as u64 => {
            Opened::Small(unit, file)
        }
        Ok(file) => Opened::Large(Box::new(LargeUnit::new(unit, file, options))),
    }
}

/// Has `file` read past the page cache if that is what `direct` means for `len` bytes at `offset`.
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
    fn new(unit: Unit, file: ReadFile, options: &ReadOptions) -> Self {
        const PAGE_BYTES: u64 = PAGE as u64;
        let size = file.size();
        // The byte before the unit tells whether a line begins with it.
        let next = unit.start.saturating_sub(1) / PAGE_BYTES * PAGE_BYTES;
        // Most lines that begin in the unit end within the carried room after it.
        let until = unit.end.map_or(size, |end| size.min(end.saturating_add(CARRY as u64))).max(next + 1);
        // Blocks of equal size, so that no read at the end is tiny.
        let blocks = (until - next).div_ceil(options.block_bytes as u64);
        let step = (until - next).div_ceil(blocks).next_multiple_of(PAGE_BYTES);
        choose_path(&file, options.direct, next, until - next);
        LargeUnit { file: Arc::new(file), wave: Wave::new(unit, size), next, until, step }
    }

    /// The next read to make: offset and length, whole pages.
    pub(super) fn next_read(&mut self) -> Option<(u64, usize)> {
        let offset = self.next;
        if offset >= self.until {
            return None;
        }
        self.next += self.step;
        usize::try_from(self.step).ok().map(|len| (offset, len))
    }

    /// Allows further reads where a line runs on after what was planned.
    pub(super) fn extend(&mut self, reads: usize) {
        if self.next >= self.until {
            self.until = self.next.saturating_add(self.step.saturating_mul(reads as u64));
        }
    }

    /// True if it is known which reads the unit takes; otherwise its last line decides.
    pub(super) fn is_bounded(&self) -> bool {
        self.wave.unit.end.is_none()
    }
}
