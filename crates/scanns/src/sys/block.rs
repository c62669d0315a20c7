//! Block memory: the buffers that files are read into.
//!
//! The blocks of one lane are carved out of one [`Region`], so that huge pages are shared between them instead
//! of rounded up for each. Blocks begin at page boundaries, as direct I/O demands. A block can also own memory of
//! the general allocator: that is how others do it, for comparison.

use std::sync::Arc;

use crate::error::Result;
use crate::sys::{PageSize, Region};

/// Alignment of blocks, and of offsets and lengths in direct reads.
pub const PAGE: usize = 4096;

/// Bytes after a block's capacity that may be read and written: vector loads may run over the end.
pub const BLOCK_PADDING: usize = PAGE;

/// Memory of one block, owned by one thread at a time; page-aligned if it was carved.
#[derive(Debug)]
pub struct BlockMemory {
    home: Home,
    capacity: usize,
}

/// Where the memory of a block comes from.
#[derive(Debug)]
enum Home {
    /// From a region shared with other blocks, from this offset on.
    Region(Arc<Region>, usize),
    /// From the general allocator: the capacity and its padding, or nothing.
    Heap(Vec<u8>),
}

impl BlockMemory {
    /// `count` blocks of `capacity` bytes each (rounded up to whole pages) and their padding.
    ///
    /// # Errors
    /// Where the address space is limited, see [`Region::reserve`].
    pub fn carve(count: usize, capacity: usize, pages: PageSize) -> Result<Vec<BlockMemory>> {
        let capacity = capacity.next_multiple_of(PAGE);
        let stride = capacity + BLOCK_PADDING;
        // Blocks lie across steps and are touched one by one: one kind of page for all.
        let region = Arc::new(Region::reserve(count * stride, pages.decided())?);
        let block = |i: usize| BlockMemory { home: Home::Region(Arc::clone(&region), i * stride), capacity };
        Ok((0..count).map(block).collect())
    }

    /// A block without memory: it only counts among the blocks that there may be.
    pub fn none() -> BlockMemory {
        BlockMemory { home: Home::Heap(Vec::new()), capacity: 0 }
    }

    /// A block that is filled with `bytes` and has no room for more.
    ///
    /// Nothing is copied if `bytes` has room for [`BLOCK_PADDING`] bytes more.
    pub fn filled(mut bytes: Vec<u8>) -> BlockMemory {
        let capacity = bytes.len();
        bytes.resize(capacity + BLOCK_PADDING, 0);
        BlockMemory { home: Home::Heap(bytes), capacity }
    }

    /// Gives memory of the general allocator back to it; carved memory stays.
    pub fn free(&mut self) {
        if matches!(self.home, Home::Heap(_)) {
            *self = Self::none();
        }
    }

    /// Memory that [`BlockMemory::carve`] takes with these arguments once all blocks are in use.
    pub fn carved_bytes(count: usize, capacity: usize, pages: PageSize) -> usize {
        (count * (capacity.next_multiple_of(PAGE) + BLOCK_PADDING)).next_multiple_of(pages.step())
    }

    /// Bytes that may be filled.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// First byte.
    pub(super) fn as_mut_ptr(&mut self) -> *mut u8 {
        match &mut self.home {
            // SAFETY: `start` was chosen in `carve` so that the block lies inside the region.
            Home::Region(region, start) => unsafe { region.as_ptr().add(*start) },
            Home::Heap(bytes) => bytes.as_mut_ptr(),
        }
    }

    /// The capacity and its padding; nothing of a block without memory.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        let len = match &self.home {
            Home::Region(..) => self.capacity + BLOCK_PADDING,
            Home::Heap(bytes) => bytes.len(),
        };
        // SAFETY: the bytes lie inside the region, which lives as long as this block; anonymous memory is
        // initialised with zeros; blocks of a region are disjoint, so the exclusive borrow of this one excludes all.
        // Those of the heap are all of a vector that this block owns.
        unsafe { std::slice::from_raw_parts_mut(self.as_mut_ptr(), len) }
    }

    /// Writes to every page, so that the calling thread's NUMA node provides the memory.
    pub fn touch(&mut self) {
        for page in self.as_mut_slice().chunks_mut(PAGE) {
            page[0] = 0;
            // An optimiser that proves the memory zeroed may not drop the write.
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
    fn a_block_of_its_own_is_what_it_was_filled_with_until_it_is_freed() {
        let mut bytes = Vec::with_capacity(5 + BLOCK_PADDING);
        bytes.extend_from_slice(b"bytes");
        let place = bytes.as_ptr();
        let mut block = BlockMemory::filled(bytes);
        assert_eq!((block.capacity(), block.as_mut_slice().as_ptr()), (5, place));
        assert_eq!(block.as_mut_slice().len(), 5 + BLOCK_PADDING);
        assert!(block.as_mut_slice().starts_with(b"bytes\0"));
        block.free();
        assert_eq!((block.capacity(), block.as_mut_slice().len()), (0, 0));
        let mut carved = BlockMemory::carve(1, PAGE, PageSize::Base).unwrap().remove(0);
        carved.free();
        assert_eq!(carved.capacity(), PAGE);
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
