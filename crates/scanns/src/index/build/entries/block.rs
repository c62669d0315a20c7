//! Entries on their way from those who find them to the index threads.

use std::sync::Arc;

use crate::index::build::file_fields::EntrySource;
use crate::record::dump::ReadRows;
use crate::source::EntryBatch;

/// Rows or entries of a dump, or entries of a scan.
pub(super) struct EntryBlock {
    /// The number of the dump.
    pub(super) dump: usize,
    /// Where the entries come from: of several sources the last one that covers an entry.
    pub(super) from: Arc<[Arc<EntrySource>]>,
    pub(super) rows: BlockRows,
}

pub(super) enum BlockRows {
    /// Complete rows, which begin at byte `offset` of the dump.
    Bytes {
        bytes: Vec<u8>,
        offset: u64,
        rows: Arc<dyn ReadRows>,
    },
    Entries(EntryBatch),
}

/// Passes a block on; false if nobody takes it any more. Several threads may call it.
pub(super) type SendBlock<'s> = dyn Fn(EntryBlock) -> bool + Sync + 's;

impl EntryBlock {
    /// Where an entry of the block comes from.
    #[inline]
    pub(super) fn source_of(&self, path: &[u8]) -> Option<&Arc<EntrySource>> {
        match &*self.from {
            [only] => Some(only),
            several => several.iter().rev().find(|source| source.covers(path)).or(several.first()),
        }
    }
}
