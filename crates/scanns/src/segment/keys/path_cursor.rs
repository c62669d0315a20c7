//! Reads paths whose numbers mostly ascend, as they do in merges in another order.
//!
//! A path is coded as a difference from the one before it, so reading one alone decodes up to 32 of them. The
//! cursor goes on from the last path instead, if the next one is in the same block.

use super::format::BLOCK;
use super::read::{KeyReader, read_path};
use crate::codec::ByteReader;
use crate::error::Result;

/// A place among the paths of a segment.
pub(super) struct PathCursor<'k, 'a> {
    keys: &'k KeyReader<'a>,
    block: ByteReader<'a>,
    /// The number of the path that comes next in the block.
    next: u32,
    path: Vec<u8>,
}

impl<'k, 'a> PathCursor<'k, 'a> {
    /// A cursor before the first path.
    pub(super) fn new(keys: &'k KeyReader<'a>) -> Self {
        PathCursor { keys, block: ByteReader::new(&[]), next: 0, path: Vec::new() }
    }

    /// Reads path `number`.
    pub(super) fn path(&mut self, number: u32) -> Result<&[u8]> {
        let (block, next) = (number as usize / BLOCK, self.next as usize);
        let is_in_block = next / BLOCK == block && !next.is_multiple_of(BLOCK);
        if !is_in_block || self.next > number {
            self.block = self.keys.block(block)?;
            self.next = u32::try_from(block * BLOCK).unwrap_or(u32::MAX);
            self.path.clear();
        }
        while self.next <= number {
            read_path(&mut self.block, &mut self.path).ok_or_else(|| self.keys.no_path(self.next))?;
            self.next += 1;
        }
        Ok(&self.path)
    }
}
