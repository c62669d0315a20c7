//! Reserved memory: an address range that is backed by pages only when it is touched.
//!
//! The term table, its entries and the postings arena each have their own [`Region`], so they grow without
//! being moved or copied. Memory is kept between segments: fresh pages cost 0.1 to 4 s per GiB, touched ones
//! nothing.
//!
//! A virtual machine that returns free memory to its host does so in blocks of 2 MiB or more. There, a fresh
//! huge page is always expensive, up to ten times as expensive as base pages from smaller free blocks. On
//! other machines huge pages are cheaper. [`PageSize::Auto`] measures both costs while it runs.

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::lock::lock;

use rustix::mm::{Advice, MapFlags, ProtFlags};

use super::memory::out_of_memory;
use crate::error::Result;

/// How the operating system should back memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageSize {
    /// The base pages of the machine, usually 4 KiB.
    Base,
    /// 2 MiB pages if the machine grants them (transparent huge pages), otherwise base pages.
    Huge,
    /// For each 2 MiB, the kind of page that is currently cheaper.
    Auto,
}

impl PageSize {
    /// The number of bytes by which backed memory grows.
    pub const fn step(self) -> usize {
        match self {
            PageSize::Base => 64 << 10,
            PageSize::Huge | PageSize::Auto => HUGE,
        }
    }

    /// Decides [`PageSize::Auto`] for memory that is not backed in steps; other values are unchanged.
    pub(super) fn decided(self) -> PageSize {
        if self != PageSize::Auto {
            return self;
        }
        if !Prices::get().is_known() {
            // If the address space is short, the steps of the index will find the prices.
            let _ = Region::reserve(2 * HUGE, PageSize::Auto).map(|probe| probe.back(0..2 * HUGE));
        }
        if Prices::get().prefer_huge() { PageSize::Huge } else { PageSize::Base }
    }
}

const HUGE: usize = 2 << 20;

/// The number of steps between two measurements of the more expensive kind of page.
const LOOK_AGAIN: u64 = 128;

/// A huge page may cost this many times the price of the same memory in base pages: it saves address look-ups
/// later.
const WORTH: u64 = 2;

/// Recent costs of backing a step on this machine.
#[derive(Default)]
struct Prices {
    /// Nanoseconds of the last three steps with base pages and of the last three with huge pages; zero if not
    /// measured yet.
    took: [[u64; 3]; 2],
    steps: u64,
}

static PRICES: Mutex<Prices> = Mutex::new(Prices { took: [[0; 3]; 2], steps: 0 });

impl Prices {
    fn get() -> MutexGuard<'static, Prices> {
        lock(&PRICES)
    }

    /// The usual price of base or huge pages, zero if unknown: the median of three, because single steps may
    /// be slow for other reasons.
    fn usual(&self, huge: bool) -> u64 {
        let mut took = self.took[usize::from(huge)];
        took.sort_unstable();
        if took[1] == 0 { took[2] } else { took[1] }
    }

    fn is_known(&self) -> bool {
        self.usual(false) != 0 && self.usual(true) != 0
    }

    /// Whether the next step should be a huge page.
    fn prefer_huge(&mut self) -> bool {
        if !self.is_known() {
            return self.usual(true) == 0;
        }
        self.steps += 1;
        (self.usual(true) <= self.usual(false) * WORTH) != self.steps.is_multiple_of(LOOK_AGAIN)
    }

    fn learn(&mut self, huge: bool, took: Duration) {
        let prices = &mut self.took[usize::from(huge)];
        prices.rotate_right(1);
        prices[0] = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX).max(1);
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
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the address space is limited (`ulimit -v`, strict
    /// overcommit).
    pub fn reserve(bytes: usize, pages: PageSize) -> Result<Region> {
        let len = bytes.max(1).next_multiple_of(HUGE);
        let refused =
            |_: rustix::io::Errno| out_of_memory("reserve memory for the build", (len + HUGE) as u64);
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
        // SAFETY: the mapping is HUGE longer than `len`, so the aligned start and `len` bytes lie inside it;
        // the parts cut off are never used again.
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
        let start = NonNull::new(start).ok_or_else(|| refused(rustix::io::Errno::NOMEM))?;
        let region = Region { start, len, pages };
        if pages == PageSize::Huge {
            region.advise(0, len, Advice::LinuxHugepage);
        }
        Ok(region)
    }

    /// Backs `bytes`, whole steps of this region's pages, with memory in one call, which is cheaper than one
    /// page after another at first touch. If the system does not support this (Linux before 5.14), the pages
    /// are backed when they are touched.
    ///
    /// With [`PageSize::Auto`], this call chooses the kind of pages; memory that is touched without it gets
    /// base pages.
    pub fn back(&self, bytes: Range<usize>) {
        let mut at = bytes.start.min(self.len);
        let end = bytes.end.min(self.len);
        while at < end {
            let len = self.pages.step().min(end - at);
            match self.pages {
                PageSize::Auto if len == HUGE => {
                    let huge = Prices::get().prefer_huge();
                    let start = Instant::now();
                    if huge {
                        self.advise(at, len, Advice::LinuxHugepage);
                    }
                    self.advise(at, len, Advice::LinuxPopulateWrite);
                    Prices::get().learn(huge, start.elapsed());
                }
                _ => self.advise(at, len, Advice::LinuxPopulateWrite),
            }
            at += len;
        }
    }

    /// Advises the kernel about a part of the region. A refusal only costs speed.
    fn advise(&self, at: usize, len: usize, advice: Advice) {
        debug_assert!(at + len <= self.len && !matches!(advice, Advice::LinuxDontNeed));
        // SAFETY: the part lies inside the region, and none of these kinds of advice changes what is in it.
        let _ = unsafe { rustix::mm::madvise(self.start.as_ptr().add(at).cast(), len, advice) };
    }

    /// Returns the pages from byte `from`, a multiple of the page size, to the end to the system.
    pub fn release(&mut self, from: usize) {
        let from = from.min(self.len);
        // SAFETY: the range lies inside the region, which is exclusively borrowed; its pages read as zero
        // later.
        let _ = unsafe {
            rustix::mm::madvise(self.start.as_ptr().add(from).cast(), self.len - from, Advice::LinuxDontNeed)
        };
    }

    /// First byte; valid for reads and writes of [`Region::len`] bytes while the region lives.
    #[inline]
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// The number of reserved bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The requested kind of pages.
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
        for pages in [PageSize::Base, PageSize::Huge, PageSize::Auto] {
            let region = Region::reserve(5 << 20, pages).unwrap();
            assert_eq!(region.as_ptr() as usize % HUGE, 0);
            assert!(region.len() >= 5 << 20);
            region.back(0..3 << 20);
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
    fn the_cheaper_pages_are_taken_and_the_others_looked_at_again() {
        let mut prices = Prices::default();
        let learn = |prices: &mut Prices, huge, micros| prices.learn(huge, Duration::from_micros(micros));
        let of_many = |prices: &mut Prices| (0..LOOK_AGAIN * 10).filter(|_| prices.prefer_huge()).count();
        assert!(prices.prefer_huge());
        learn(&mut prices, true, 7000);
        assert!(!prices.prefer_huge(), "base pages have not been tried");
        learn(&mut prices, false, 800);
        assert_eq!(of_many(&mut prices), 10);
        // One cheap step changes nothing, two do; at about the same price, huge pages are preferred.
        learn(&mut prices, true, 900);
        learn(&mut prices, true, 7000);
        assert_eq!(of_many(&mut prices), 10);
        learn(&mut prices, true, 900);
        assert_eq!(of_many(&mut prices) as u64, LOOK_AGAIN * 10 - 10);
    }

    #[test]
    fn a_reservation_beyond_the_address_space_is_refused_with_a_remedy() {
        let error = Region::reserve(1 << 60, PageSize::Base).unwrap_err();
        assert!(error.to_string().contains("cannot reserve memory"), "{error}");
    }
}
