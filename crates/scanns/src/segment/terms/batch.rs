//! Decodes all terms of a block together, for merges, which read every term of their sources.
//!
//! Decoding term by term has short loops whose ends are mispredicted. Here one loop unpacks suffixes, one
//! builds terms, and one reads postings. Terms of up to 16 bytes are built and stored as numbers, see
//! [`head`](crate::codec::head).

use super::block::TermBlock;
use super::info::{GROUP, HALF, TermInfo, TermPositions};

/// Bytes of a head.
const HEAD: usize = 16;

/// A term of the batch.
#[derive(Clone, Copy)]
struct BatchTerm {
    head: u128,
    start: usize,
    len: usize,
    info: TermInfo,
    positions: TermPositions,
}

/// The decoded terms of a block, positioned at one of them.
pub(super) struct TermBatch {
    entries: [BatchTerm; GROUP],
    /// Index of the current term; `len` after the last one.
    at: usize,
    len: usize,
    /// The bytes of all terms, with room for a head after them.
    text: Vec<u8>,
    suffixes: Vec<u8>,
}

impl TermBatch {
    /// A batch without terms.
    pub(super) fn new() -> Self {
        let info = TermInfo::Single { doc: 0, term_freq: 0 };
        let entry = BatchTerm { head: 0, start: 0, len: 0, info, positions: TermPositions::NotKept };
        TermBatch { entries: [entry; GROUP], at: 0, len: 0, text: vec![0; 4096], suffixes: Vec::new() }
    }

    /// Decodes the terms of `block` and moves to the first of them; `None` if the block is damaged.
    pub(super) fn load(&mut self, mut block: TermBlock<'_>) -> Option<()> {
        (self.at, self.len) = (0, 0);
        let count = block.left();
        block.unpack(&mut self.suffixes)?;
        let (mut before, mut start, mut len) = (0u128, 0, 0);
        for entry in self.entries.get_mut(..count)? {
            let (shared, own) = block.next_place(len)?;
            let place = start + len;
            let suffix = u128::from_be_bytes(*self.suffixes.get(own.start..)?.first_chunk()?);
            let suffix = suffix & first_bytes(own.len());
            let moved = if shared < HEAD { suffix >> (8 * shared) } else { 0 };
            before = before & first_bytes(shared) | moved;
            let shared_at = start;
            (start, len) = (place, shared + own.len());
            if self.text.len() < start + len + HEAD {
                self.text.resize((start + len + HEAD).next_power_of_two(), 0);
            }
            if len <= HEAD {
                *self.text.get_mut(start..)?.first_chunk_mut()? = before.to_be_bytes();
            } else {
                self.text.copy_within(shared_at..shared_at + shared, start);
                let own_bytes = self.suffixes.get(own)?;
                self.text.get_mut(start + shared..start + len)?.copy_from_slice(own_bytes);
            }
            (entry.head, entry.start, entry.len) = (before, start, len);
        }
        let (first, second) = self.entries.get_mut(..count)?.split_at_mut(count.min(HALF));
        read(&mut block, first)?;
        if count > HALF && !block.is_half() {
            return None;
        }
        read(&mut block, second)?;
        self.len = count;
        Some(())
    }

    /// Moves to the next term; returns false if there is none.
    #[inline(always)]
    pub(super) fn step(&mut self) -> bool {
        self.at += 1;
        self.at < self.len
    }

    #[inline(always)]
    #[expect(clippy::indexing_slicing, reason = "the remainder is below the length")]
    fn entry(&self) -> &BatchTerm {
        &self.entries[self.at % GROUP]
    }

    /// The bytes of the current term.
    #[inline(always)]
    pub(super) fn term(&self) -> &[u8] {
        let entry = self.entry();
        self.text.get(entry.start..entry.start + entry.len).unwrap_or_default()
    }

    /// The [`head`](crate::codec::head) of the current term.
    #[inline(always)]
    pub(super) fn head(&self) -> u128 {
        self.entry().head
    }

    /// The postings of the current term.
    #[inline(always)]
    pub(super) fn info(&self) -> TermInfo {
        self.entry().info
    }

    /// The positions of the current term.
    #[inline(always)]
    pub(super) fn positions(&self) -> TermPositions {
        self.entry().positions
    }
}

/// Reads the postings of `entries`.
#[inline(always)]
fn read(block: &mut TermBlock<'_>, entries: &mut [BatchTerm]) -> Option<()> {
    for entry in entries {
        entry.info = block.next_info()?;
        entry.positions = block.positions();
    }
    Some(())
}

/// A mask for the first `count` bytes of a head.
#[inline(always)]
fn first_bytes(count: usize) -> u128 {
    if count < HEAD { !(u128::MAX >> (8 * count)) } else { u128::MAX }
}
