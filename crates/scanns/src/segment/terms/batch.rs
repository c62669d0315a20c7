//! All terms of a block, decoded at once: for a merge, which looks at every term of its sources.
//!
//! Term by term, each loop ends where no processor foresees it. Here one short loop unpacks suffixes, one builds terms, one
//! reads postings. Terms of up to 16 bytes are numbers, see [`head`](crate::codec::head), and are put together and
//! stored as those.

use super::block::Block;
use super::{GROUP, HALF, TermInfo, TermPositions};

/// Bytes of a head.
const HEAD: usize = 16;

/// A term of the batch.
#[derive(Clone, Copy)]
struct Entry {
    head: u128,
    start: usize,
    len: usize,
    info: TermInfo,
    positions: TermPositions,
}

/// See the module; at one of its terms.
pub(super) struct Batch {
    entries: [Entry; GROUP],
    /// The term at hand; `len` past the last one.
    at: usize,
    len: usize,
    /// All terms, one after the other, and free bytes for a head.
    text: Vec<u8>,
    suffixes: Vec<u8>,
}

impl Batch {
    /// Without terms.
    pub(super) fn new() -> Self {
        let info = TermInfo::Single { doc: 0, term_freq: 0 };
        let entry = Entry { head: 0, start: 0, len: 0, info, positions: TermPositions::NotKept };
        Batch { entries: [entry; GROUP], at: 0, len: 0, text: vec![0; 4096], suffixes: Vec::new() }
    }

    /// Takes in the terms of `block`, which is at its first, and goes there; `None` if the block is damaged.
    pub(super) fn load(&mut self, mut block: Block<'_>) -> Option<()> {
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

    /// Moves to the next term; false if there is none.
    #[inline(always)]
    pub(super) fn step(&mut self) -> bool {
        self.at += 1;
        self.at < self.len
    }

    #[inline(always)]
    fn entry(&self) -> &Entry {
        &self.entries[self.at % GROUP]
    }

    /// The term at hand.
    #[inline(always)]
    pub(super) fn term(&self) -> &[u8] {
        let entry = self.entry();
        self.text.get(entry.start..entry.start + entry.len).unwrap_or_default()
    }

    /// Its [`head`](crate::codec::head).
    #[inline(always)]
    pub(super) fn head(&self) -> u128 {
        self.entry().head
    }

    /// Its postings.
    #[inline(always)]
    pub(super) fn info(&self) -> TermInfo {
        self.entry().info
    }

    /// Its positions.
    #[inline(always)]
    pub(super) fn positions(&self) -> TermPositions {
        self.entry().positions
    }
}

/// Reads the postings of as many terms.
#[inline(always)]
fn read(block: &mut Block<'_>, entries: &mut [Entry]) -> Option<()> {
    for entry in entries {
        entry.info = block.next_info()?;
        entry.positions = block.positions();
    }
    Some(())
}

/// Ones for the first `count` bytes of a head.
#[inline(always)]
fn first_bytes(count: usize) -> u128 {
    if count < HEAD { !(u128::MAX >> (8 * count)) } else { u128::MAX }
}
