//! Unpacks the terms of whole blocks for readers that look at the beginnings of nearly all terms, such as
//! automata.

use super::block::{BlockParts, TermBlock};
use super::info::{GROUP, TermInfo, TermPositions, prefix_of};
use super::lookup::TermDictionary;
use super::seek::{HIGH, Lengths, MOST, ONES};
use crate::codec::head;
use crate::error::{Error, Result};

/// Steps through the blocks of terms; it starts before the first.
pub struct TermBlocks<'a> {
    terms: &'a TermDictionary,
    /// The next block.
    next: usize,
    block: Option<TermBlock<'a>>,
    count: usize,
    /// The number of bytes that each term shares with the one before, and the same, but at most [`MOST`];
    /// after the last term it is [`MOST`].
    shared: [u32; GROUP],
    near: [u8; GROUP],
    /// Where the other bytes of each term start in the text; those of the last end where a next one would
    /// start.
    starts: [u32; GROUP + 1],
    text: Vec<u8>,
    /// The number of terms whose postings were read.
    read: usize,
}

impl<'a> TermBlocks<'a> {
    pub(in crate::segment) fn new(terms: &'a TermDictionary) -> Self {
        TermBlocks {
            terms,
            next: 0,
            block: None,
            count: 0,
            shared: [0; GROUP],
            near: [MOST; GROUP],
            starts: [0; GROUP + 1],
            text: Vec::new(),
            read: 0,
        }
    }

    /// Moves to the next block that may have terms from `target` on; returns false if there is none.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt).
    pub fn next(&mut self, target: &[u8]) -> Result<bool> {
        // A block ends before the first term of the following one.
        let following = self.terms.block_prefix(self.next.saturating_add(1))?;
        if following.is_some_and(|following| following < prefix_of(head(target))) {
            self.next = self.next.max(self.terms.blocks_from(target)?.start);
        }
        (self.block, self.count) = (None, 0);
        if self.next >= self.terms.blocks() {
            return Ok(false);
        }
        let parts = self.terms.block_parts(self.next)?;
        self.next += 1;
        let block = TermBlock::of(&parts, self.terms.kept()).ok_or_else(|| self.damaged())?;
        self.unpack(block, &parts).ok_or_else(|| self.damaged())?;
        Ok(true)
    }

    /// Unpacks a block; `None` if it is damaged.
    fn unpack(&mut self, mut block: TermBlock<'a>, parts: &BlockParts<'a>) -> Option<()> {
        let mut lengths = Lengths::new();
        let are_short = lengths.read(parts)?;
        block.unpack(&mut self.text)?;
        let text_len = u32::try_from(parts.text_len).ok()?;
        let (mut len, mut at) = (0u32, 0u32);
        for index in 0..parts.count {
            let (shared, own) = if are_short {
                (u32::from(*lengths.shared.get(index)?), u32::from(*lengths.own.get(index)?))
            } else {
                let (shared, own) = block.next_place(len as usize)?;
                (u32::try_from(shared).ok()?, u32::try_from(own.len()).ok()?)
            };
            if shared > len {
                return None;
            }
            *self.shared.get_mut(index)? = shared;
            *self.near.get_mut(index)? = u8::try_from(shared).map_or(MOST, |shared| shared.min(MOST));
            *self.starts.get_mut(index)? = at;
            (len, at) = (shared.checked_add(own)?, at.checked_add(own)?);
        }
        *self.starts.get_mut(parts.count)? = at;
        self.near.get_mut(parts.count..)?.fill(MOST);
        (self.block, self.read, self.count) = (Some(block), 0, parts.count);
        (at <= text_len).then_some(())
    }

    /// The first term of the block from index `at` on that shares at most `most` bytes with the term before.
    /// The first term of a block shares none.
    #[inline]
    pub fn sharing_at_most(&self, most: usize, at: usize) -> Option<usize> {
        let compared = u64::try_from(most.min(usize::from(MOST))).ok()?;
        let mut passed = (1u64 << (8 * (at % 8))) - 1;
        for (word, near) in self.near.as_chunks::<8>().0.iter().enumerate().skip(at / 8) {
            // The high bit stays set where no more is shared.
            let mut open = (HIGH + compared * ONES - u64::from_le_bytes(*near)) & HIGH & !passed;
            while open != 0 {
                let index = 8 * word + open.trailing_zeros() as usize / 8;
                if index >= self.count {
                    return None;
                }
                if self.shared.get(index).is_some_and(|&shared| shared as usize <= most) {
                    return Some(index);
                }
                open &= open - 1;
            }
            passed = 0;
        }
        None
    }

    /// The number of bytes that a term shares with the term before, and its other bytes; `None` after the
    /// last.
    #[inline]
    pub fn term(&self, index: usize) -> Option<(usize, &[u8])> {
        if index >= self.count {
            return None;
        }
        let (start, end) = (*self.starts.get(index)? as usize, *self.starts.get(index + 1)? as usize);
        Some((*self.shared.get(index)? as usize, self.text.get(start..end)?))
    }

    /// The postings of the term with this index in the block, and the place of its positions. Each call for a
    /// block must have a greater index than the one before.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt), also if there is no such term.
    pub fn info(&mut self, index: usize) -> Result<(TermInfo, TermPositions)> {
        let mut found = None;
        if let Some(block) = &mut self.block
            && index < self.count
        {
            while self.read <= index {
                found = block.next_info().map(|info| (info, block.positions()));
                self.read += 1;
            }
        }
        found.ok_or_else(|| self.damaged())
    }

    #[cold]
    fn damaged(&self) -> Error {
        self.terms.section().corrupt("a block of its terms cannot be read")
    }
}
