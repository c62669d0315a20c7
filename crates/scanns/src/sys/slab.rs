//! A typed array in reserved memory: zeroed, never moved, grown by touching it.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use super::{PageSize, Region};
use crate::error::Result;

/// Values for which every bit pattern is valid, zero included.
///
/// # Safety
/// The type has no padding that is read, no references, no invalid bit patterns and no drop code.
pub unsafe trait Plain: Copy + Send + Sync + 'static {}

// SAFETY: integers take every bit pattern.
unsafe impl Plain for u8 {}
// SAFETY: integers take every bit pattern.
unsafe impl Plain for u64 {}
// SAFETY: integers take every bit pattern.
unsafe impl Plain for u128 {}

/// An array of `T` over reserved memory. Its length is the reserved length; only touched memory costs
/// anything.
#[derive(Debug)]
pub struct Slab<T: Plain> {
    region: Region,
    len: usize,
    /// Bytes at the start that are backed by memory.
    backed: usize,
    of: PhantomData<T>,
}

impl<T: Plain> Slab<T> {
    /// Reserves room for at least `len` zeroed values.
    pub fn reserve(len: usize, pages: PageSize) -> Result<Self> {
        let region = Region::reserve(len.saturating_mul(size_of::<T>()), pages)?;
        let len = region.len() / size_of::<T>();
        Ok(Slab { region, len, backed: 0, of: PhantomData })
    }

    /// Backs the first `used` values with memory. Call this before they are written.
    #[inline(always)]
    pub fn grow(&mut self, used: usize) {
        if used * size_of::<T>() > self.backed {
            self.back(used);
        }
    }

    #[cold]
    #[inline(never)]
    fn back(&mut self, used: usize) {
        let end = self.touched(used);
        self.region.back(self.backed..end);
        self.backed = end;
    }

    /// The number of bytes of memory that the first `used` values take, in whole steps.
    pub fn touched(&self, used: usize) -> usize {
        (used * size_of::<T>()).next_multiple_of(self.region.pages().step())
    }

    /// Returns the pages after the first `used` values to the system; they are zero when they are touched
    /// again.
    pub fn release_behind(&mut self, used: usize) {
        let kept = self.touched(used);
        self.region.release(kept);
        self.backed = self.backed.min(kept);
    }

    /// The same memory as an array of another plain type.
    pub fn cast_mut<U: Plain>(&mut self) -> &mut [U] {
        const { assert!(align_of::<U>() <= 4096) };
        // SAFETY: the region is page-aligned, initialised (zeroed by the kernel), exclusively borrowed, and
        // any bit pattern is a `U`.
        unsafe {
            std::slice::from_raw_parts_mut(self.region.as_ptr().cast(), self.region.len() / size_of::<U>())
        }
    }
}

impl<T: Plain> Deref for Slab<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: the region holds `len` values: it is page-aligned, initialised, and any bit pattern is a
        // `T`.
        unsafe { std::slice::from_raw_parts(self.region.as_ptr().cast(), self.len) }
    }
}

impl<T: Plain> DerefMut for Slab<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and the exclusive borrow of the slab makes this the only reference.
        unsafe { std::slice::from_raw_parts_mut(self.region.as_ptr().cast(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slab_is_an_array_like_any_other() {
        let mut slab = Slab::<u128>::reserve(1000, PageSize::Base).unwrap();
        let mut twin = vec![0u128; slab.len()];
        slab.grow(1000);
        for i in (0..slab.len()).step_by(7) {
            slab[i] = i as u128 + 1;
            twin[i] = i as u128 + 1;
        }
        assert_eq!(slab[..], twin[..]);
        assert_eq!(slab.cast_mut::<u8>()[0], 1);
        assert_eq!(slab.touched(1), PageSize::Base.step());
        let kept = PageSize::Base.step() / size_of::<u128>();
        slab.release_behind(1);
        twin[kept..].fill(0);
        slab.grow(kept + 1);
        assert_eq!(slab[..], twin[..]);
    }
}
