//! Reserved memory: an address range taken at once, backed by pages only where it is touched.
//!
//! The term table, its entries and the postings arena each live in one [`Region`], so growing them never moves
//! or copies anything, and memory is kept between segments: fresh pages cost 0.1 to 2.4 s per GiB, touched ones
//! nothing.

use std::ptr::NonNull;

use rustix::mm::{Advice, MapFlags, ProtFlags};

use crate::error::{Error, Result};

/// How the operating system should back memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageSize {
    /// The machine's base pages, 4 KiB on most.
    Base,
    /// 2 MiB pages where the machine grants them (transparent huge pages), base pages elsewhere.
    Huge,
}

impl PageSize {
    /// Bytes by which touched memory grows, for accounting.
    pub const fn bytes(self) -> usize {
        match self {
            PageSize::Base => 4 << 10,
            PageSize::Huge => 2 << 20,
        }
    }
}

/// A zeroed, page-aligned address range owned by one thread at a time.
#[derive(Debug)]
pub struct Region {
    start: NonNull<u8>,
    len: usize,
    pages: PageSize,
}

// SAFETY: a region is plain memory without thread affinity; it is handed over as a whole.
unsafe impl Send for Region {}

// SAFETY: shared references only allow reading through raw pointers whose users uphold the aliasing rules.
unsafe impl Sync for Region {}

impl Region {
    /// Reserves at least `bytes` of address space; memory is taken page by page at first touch.
    ///
    /// # Errors
    /// [`Error::System`] where the address space is limited (`ulimit -v`, strict overcommit).
    pub fn reserve(bytes: usize, pages: PageSize) -> Result<Region> {
        const HUGE: usize = PageSize::Huge.bytes();
        let refused = |source: rustix::io::Errno| Error::System {
            action: "reserve memory",
            source: source.into(),
            remedy: "give a smaller --memory or lift the address space limit (ulimit -v)",
        };
        let len = bytes.max(1).next_multiple_of(HUGE);
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice aliases nothing.
        let raw = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                len + HUGE,
                ProtFlags::READ | ProtFlags::WRITE,
                flags,
            )
        }
        .map_err(refused)?;
        let raw = raw.cast::<u8>();
        let head = raw.align_offset(HUGE);
        // SAFETY: the mapping is HUGE longer than `len`, so the aligned start and `len` bytes lie inside it; the
        // parts cut off are never used again.
        let start = unsafe {
            let start = raw.add(head);
            if head > 0 {
                rustix::mm::munmap(raw.cast(), head).map_err(refused)?;
            }
            if head < HUGE {
                rustix::mm::munmap(start.add(len).cast(), HUGE - head).map_err(refused)?;
            }
            start
        };
        if pages == PageSize::Huge {
            // SAFETY: advice on memory that is ours; a kernel without huge pages refuses, which costs speed only.
            let _ = unsafe { rustix::mm::madvise(start.cast(), len, Advice::LinuxHugepage) };
        }
        let start = NonNull::new(start).ok_or_else(|| refused(rustix::io::Errno::NOMEM))?;
        Ok(Region { start, len, pages })
    }

    /// Gives the pages from byte `from`, a multiple of the page size, to the end back to the system.
    pub fn release(&mut self, from: usize) {
        let from = from.min(self.len);
        // SAFETY: the range lies inside the region, which is exclusively borrowed; its pages read as zero later.
        let _ = unsafe {
            rustix::mm::madvise(self.start.as_ptr().add(from).cast(), self.len - from, Advice::LinuxDontNeed)
        };
    }

    /// First byte; valid for reads and writes of [`Region::len`] bytes while the region lives.
    #[inline]
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Bytes reserved.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The pages asked for.
    pub fn pages(&self) -> PageSize {
        self.pages
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: start and len are exactly what is left of the mapping made in `reserve`.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_zeroed_aligned_and_writable_to_its_last_byte() {
        for pages in [PageSize::Base, PageSize::Huge] {
            let region = Region::reserve(5 << 20, pages).unwrap();
            assert_eq!(region.as_ptr() as usize % PageSize::Huge.bytes(), 0);
            assert!(region.len() >= 5 << 20);
            for at in [0, 4095, region.len() - 1] {
                // SAFETY: `at` lies inside the region, which nobody else uses.
                unsafe {
                    assert_eq!(region.as_ptr().add(at).read(), 0);
                    region.as_ptr().add(at).write(7);
                    assert_eq!(region.as_ptr().add(at).read(), 7);
                }
            }
        }
    }

    #[test]
    fn a_reservation_beyond_the_address_space_is_refused_with_a_remedy() {
        let error = Region::reserve(1 << 60, PageSize::Base).unwrap_err();
        assert!(error.to_string().contains("--memory"), "{error}");
    }
}
