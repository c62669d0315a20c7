//! Options for reading inputs.

use std::sync::Arc;

use crate::content::ContentOptions;
use crate::error::{Error, Result};
use crate::read::block::CARRY;
use crate::read::collections::KnowCollections;
use crate::read::stream::StreamSource;
use crate::read::tables::TableReading;
use crate::sys::{BlockMemory, PAGE, PageSize};

/// Whether large files are read past the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direct {
    /// Read large files past the page cache, unless they are in it.
    Auto,
    /// Read large files past the page cache wherever the file system allows it.
    Always,
    /// Read all files through the page cache.
    Never,
}

/// Options for reading inputs.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Reader threads, at most one for each lane.
    pub read_threads: usize,
    /// Lanes, one for each index thread.
    pub lanes: usize,
    /// Bytes per read, a multiple of 4096; reading is slow below 256 KiB. Files up to this size are packed.
    pub block_bytes: usize,
    /// The number of blocks of each lane, at least 2.
    pub blocks_per_lane: usize,
    /// The number of asynchronous reads in flight for each lane, at most the number of its blocks.
    pub queue_depth: usize,
    /// If records are lines, larger files are divided into units of this size, in bytes.
    pub chunk_bytes: u64,
    /// Whether large files are read past the page cache.
    pub direct: Direct,
    /// Whether to drop data from the page cache after it was read.
    pub drop_behind: bool,
    /// Whether to use io_uring if it is available.
    pub uring: bool,
    /// Whether to keep threads close to their memory on machines with several NUMA nodes.
    pub pin: bool,
    /// Pages that back the blocks.
    pub pages: PageSize,
    /// What to do with files that are not plain text.
    pub contents: ContentOptions,
    /// What to do with tables, where records are JSON.
    pub tables: TableReading,
    /// What knows the records of collections that are files among others; without it, they are text.
    pub collections: Option<&'static dyn KnowCollections>,
    /// Where the bytes of an input come from that is a stream; `None` for standard input.
    pub stream: Option<Arc<StreamSource>>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            read_threads: 1,
            lanes: std::thread::available_parallelism().map_or(1, usize::from),
            block_bytes: 1 << 20,
            blocks_per_lane: 4,
            queue_depth: 4,
            chunk_bytes: 16 << 20,
            direct: Direct::Auto,
            drop_behind: false,
            uring: true,
            pin: true,
            pages: PageSize::Auto,
            contents: ContentOptions::default(),
            tables: TableReading::AsBytes,
            collections: None,
            stream: None,
        }
    }
}

impl ReadOptions {
    /// Checks that the values are valid.
    pub(super) fn check(&self) -> Result<()> {
        let at_least = |what: &str, value: usize, least: usize| {
            if value < least { Err(Error::invalid(what, value, format!("at least {least}"))) } else { Ok(()) }
        };
        at_least("number of reader threads", self.read_threads, 1)?;
        at_least("number of lanes", self.lanes, 1)?;
        at_least("number of blocks per lane", self.blocks_per_lane, 2)?;
        at_least("read queue depth", self.queue_depth, 1)?;
        let is_valid = self.block_bytes.is_multiple_of(PAGE) && (PAGE..=1 << 30).contains(&self.block_bytes);
        if !is_valid {
            let expected = "a multiple of 4 KiB, at most 1 GiB";
            return Err(Error::invalid("block size", self.block_bytes, expected));
        }
        Ok(())
    }

    /// Memory that the blocks take, for the memory cap.
    pub fn memory_bytes(&self) -> usize {
        self.lanes * BlockMemory::carved_bytes(self.blocks_per_lane, CARRY + self.block_bytes, self.pages)
    }
}
