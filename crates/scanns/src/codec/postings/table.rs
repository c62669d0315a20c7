//! The table after the blocks of a list: the place, the encoding and the bounds of each block.

use super::{BLOCK, ENTRY, IMPACTS, LOOSE};
use crate::codec::bitpack::packed_len;

/// The parts of a list with a table.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    /// The blocks.
    pub(super) bytes: &'a [u8],
    /// The table entry of each block.
    pub(super) entries: &'a [[u8; ENTRY]],
    /// The impacts of the whole list.
    pub(super) whole: &'a [u8; IMPACTS],
}

impl<'a> Table<'a> {
    /// Splits a list of at least [`BLOCK`] postings into its parts; `None` if its bytes are invalid.
    pub(super) fn of(list: &'a [u8]) -> Option<Self> {
        let (rest, blocks) = list.split_last_chunk()?;
        let (rest, whole) = rest.split_last_chunk()?;
        let len = (u32::from_le_bytes(*blocks) as usize).checked_mul(ENTRY)?;
        let (bytes, entries) = rest.split_at_checked(rest.len().checked_sub(len)?)?;
        let (entries, _) = entries.as_chunks();
        (!entries.is_empty()).then_some(Table { bytes, entries, whole })
    }
}

/// The table entry of a block.
pub(super) struct BlockEntry {
    /// The last document of the block.
    pub(super) last: u32,
    /// The place of the block, in bytes from the start of the list.
    pub(super) start: usize,
    /// The code of the encoding of its documents.
    pub(super) code: u8,
    pub(super) tf_width: u8,
}

impl BlockEntry {
    #[inline]
    pub(super) fn read(bytes: &[u8; ENTRY]) -> BlockEntry {
        let [l0, l1, l2, l3, s0, s1, s2, s3, code, tf_width, ..] = *bytes;
        BlockEntry {
            last: u32::from_le_bytes([l0, l1, l2, l3]),
            start: packed_len(1).saturating_mul(u32::from_le_bytes([s0, s1, s2, s3]) as usize),
            code,
            tf_width,
        }
    }

    /// Returns the number of postings of a loose block; `None` for other blocks.
    #[inline]
    pub(super) fn loose(&self) -> Option<usize> {
        (self.code == LOOSE).then_some(usize::from(self.tf_width).clamp(1, BLOCK - 1))
    }
}
