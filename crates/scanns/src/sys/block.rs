//! Block memory: the buffers that files are read into.
//!
//! The blocks of one lane are carved out of one [`Region`], so that huge pages are shared between them
//! instead of rounded up for each. Blocks begin at page boundaries, as direct I/O demands.

use std::sync::Arc;

use crate::error::Result;
use crate::sys::{PageSize, Region};

/// Alignment of blocks, and of offsets and lengths in direct reads.
pub const PAGE: usize = 4096;

/// Bytes after a block's capacity that may be read and written: vector loads may run over the end.
pub const BLOCK_PADDING: usize = PAGE;

/// Memory of one block, page-aligned, owned by one thread at a time.
#[derive(Debug)]
pub struct BlockMemory {
    region: Arc<Region>,
    /// Offset of the first byte in the region.
    start: usize,
    capacity: usize,
}

impl BlockMemory {
    /// Allocates `count` blocks of `capacity` bytes each (rounded up to whole pages) with padding.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the address space is limited; see
    /// [`Region::reserve`].
    pub fn carve(count: usize, capacity: usize, pages: PageSize) -> Result<Vec<BlockMemory>> {
        let capacity = capacity.next_multiple_of(PAGE);
        let stride = capacity + BLOCK_PADDING;
        // Blocks cross steps and are touched one by one, so all use the same kind of page.
        let region = Arc::new(Region::reserve(count * stride, pages.decided())?);
        let block = |i: usize| BlockMemory { region: Arc::clone(&region), start: i * stride, capacity };
        Ok((0..count).map(block).collect())
    }

    /// The memory that [`BlockMemory::carve`] takes with these arguments once all blocks are in use.
    pub fn carved_bytes(count: usize, capacity: usize, pages: PageSize) -> usize {
        (count * (capacity.next_multiple_of(PAGE) + BLOCK_PADDING)).next_multiple_of(pages.step())
    }

    /// The number of bytes that may be filled.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// First byte.
    pub(super) fn as_mut_ptr(&mut self) -> *mut u8 {
        // SAFETY: `start` was chosen in `carve` so that the block lies inside the region.
        unsafe { self.region.as_ptr().add(self.start) }
    }

    /// The capacity and its padding.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        let len = self.capacity + BLOCK_PADDING;
        // SAFETY: the bytes lie inside the region, which lives as long as this block; anonymous memory is
        // initialised with zeros; blocks of a region are disjoint, so the exclusive borrow of this one
        // excludes all.
        unsafe { std::slice::from_raw_parts_mut(self.as_mut_ptr(), len) }
    }

    /// Writes to every page, so that the calling thread's NUMA node provides the memory.
    pub fn touch(&mut self) {
        for page in self.as_mut_slice().chunks_mut(PAGE) {
            page[0] = 0;
            // An optimiser that can prove that the memory is zeroed must not drop the write.
            std::hint::black_box(&page[0]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carved_blocks_are_aligned_disjoint_and_padded() {
        let mut blocks = BlockMemory::carve(3, 10_000, PageSize::Base).unwrap();
        for (block, fill) in blocks.iter_mut().zip(1u8..) {
            assert_eq!(block.capacity(), 12_288);
            assert_eq!(block.as_mut_slice().as_ptr() as usize % PAGE, 0);
            assert_eq!(block.as_mut_slice().len(), 12_288 + BLOCK_PADDING);
            block.as_mut_slice().fill(fill);
        }
        blocks[1].touch();
        for (block, fill) in [0, 2].map(|i| (i, [1, 2, 3][i])) {
            assert!(blocks[block].as_mut_slice().iter().all(|&byte| byte == fill));
        }
    }

    #[test]
    fn blocks_outlive_their_siblings() {
        let mut blocks = BlockMemory::carve(2, PAGE, PageSize::Huge).unwrap();
        let mut last = blocks.pop().unwrap();
        drop(blocks);
        last.as_mut_slice().fill(9);
        assert!(BlockMemory::carved_bytes(2, PAGE, PageSize::Huge) == 2 << 20);
    }
}
