//! Unpacks the terms of whole blocks for readers that look at the beginnings of nearly all terms, such as
//! automata.

use super::block::{BlockParts, TermBlock};
use super::info::{GROUP, TermInfo, TermPositions, prefix_of};
use super::lookup::TermDictionary;
use super::seek::Lengths;
use crate::codec::head;
use crate::error::{Error, Result};

/// A term of a block.
#[derive(Clone, Copy, Debug, Default)]
pub struct TermPlace {
    /// The number of bytes that it shares with the term before; 0 for the first term of a block.
    pub shared: usize,
    /// Its other bytes are `start..end` of [`TermBlocks::text`].
    pub start: usize,
    /// The end of its other bytes.
    pub end: usize,
}

/// Steps through the blocks of terms; it starts before the first.
pub struct TermBlocks<'a> {
    terms: &'a TermDictionary,
    /// The next block.
    next: usize,
    block: Option<TermBlock<'a>>,
    places: [TermPlace; GROUP],
    count: usize,
    text: Vec<u8>,
    /// The number of terms whose postings were read.
    read: usize,
}

impl<'a> TermBlocks<'a> {
    pub(in crate::segment) fn new(terms: &'a TermDictionary) -> Self {
        let places = [TermPlace::default(); GROUP];
        TermBlocks { terms, next: 0, block: None, places, count: 0, text: Vec::new(), read: 0 }
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
        let places = self.places.get_mut(..parts.count)?;
        let (mut len, mut at) = (0, 0);
        if are_short {
            for (place, (shared, own)) in places.iter_mut().zip(lengths.shared.into_iter().zip(lengths.own)) {
                let (shared, own) = (usize::from(shared), usize::from(own));
                if shared > len {
                    return None;
                }
                *place = TermPlace { shared, start: at, end: at + own };
                (len, at) = (shared + own, at + own);
            }
        } else {
            for place in places {
                let (shared, own) = block.next_place(len)?;
                (len, at) = (shared.checked_add(own.len())?, own.end);
                *place = TermPlace { shared, start: own.start, end: own.end };
            }
        }
        (self.block, self.read, self.count) = (Some(block), 0, parts.count);
        (at <= parts.text_len).then_some(())
    }

    /// The terms of the block, in order.
    #[inline]
    pub fn places(&self) -> &[TermPlace] {
        self.places.get(..self.count).unwrap_or_default()
    }

    /// The bytes of the terms of the block that are not shared, and bytes behind them.
    #[inline]
    pub fn text(&self) -> &[u8] {
        &self.text
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
