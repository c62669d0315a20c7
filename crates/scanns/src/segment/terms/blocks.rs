//! The terms of whole blocks for readers that look at the beginnings of many terms, such as automata.
//!
//! The lengths of all terms of a block are read at once. Bytes are decoded one by one, since most terms are
//! passed by or left after a few bytes.

use super::block::{BlockParts, TermBlock};
use super::info::{TermInfo, TermPositions, prefix_of};
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
    lengths: Lengths,
    /// The lengths of each term, the shared one first, if some do not fit into `lengths`.
    long: Vec<[u32; 2]>,
    /// A term, and where its own bytes start among those of all terms.
    passed: (usize, usize),
    /// The number of terms whose postings were read.
    read: usize,
}

/// The bytes of a term that it does not share with the term before.
pub struct OwnBytes<'b> {
    block: Option<&'b TermBlock<'b>>,
    at: usize,
    end: usize,
}

impl Iterator for OwnBytes<'_> {
    type Item = u8;

    #[inline(always)]
    fn next(&mut self) -> Option<u8> {
        if self.at >= self.end {
            return None;
        }
        self.at += 1;
        self.block?.symbol(self.at - 1)
    }
}

impl<'a> TermBlocks<'a> {
    pub(in crate::segment) fn new(terms: &'a TermDictionary) -> Self {
        TermBlocks {
            terms,
            next: 0,
            block: None,
            count: 0,
            lengths: Lengths::new(),
            long: Vec::new(),
            passed: (0, 0),
            read: 0,
        }
    }

    /// Bytes that are not greater than the first term of the next block, and their number, at most eight;
    /// `None` if there is no such block.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt).
    pub fn next_bound(&self) -> Result<Option<([u8; 8], usize)>> {
        let prefix = self.terms.block_prefix(self.next)?;
        // Zeros may stand for bytes that the term does not have.
        Ok(prefix.map(|prefix| (prefix.to_be_bytes(), 8 - prefix.trailing_zeros() as usize / 8)))
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
        self.open(block, &parts).ok_or_else(|| self.damaged())?;
        Ok(true)
    }

    /// Reads the lengths of a block; `None` if they are damaged.
    fn open(&mut self, mut block: TermBlock<'a>, parts: &BlockParts<'_>) -> Option<()> {
        self.lengths = Lengths::new();
        self.long.clear();
        if self.lengths.read(parts)? {
            self.lengths.are_those_of(parts).then_some(())?;
        } else {
            self.lengths = Lengths::new();
            let mut len = 0;
            for near in self.lengths.shared.get_mut(..parts.count)? {
                let (shared, own) = block.next_place(len)?;
                let lengths = [u32::try_from(shared).ok()?, u32::try_from(own.len()).ok()?];
                self.long.push(lengths);
                *near = u8::try_from(shared).map_or(MOST, |shared| shared.min(MOST));
                len = shared.checked_add(own.len())?;
            }
        }
        (self.block, self.read, self.count, self.passed) = (Some(block), 0, parts.count, (0, 0));
        Some(())
    }

    /// The number of bytes that a term shares with the one before.
    #[inline(always)]
    fn shared(&self, index: usize) -> Option<usize> {
        match self.long.get(index) {
            Some(&[shared, _]) => Some(shared as usize),
            None => self.lengths.shared.get(index).map(|&shared| shared.into()),
        }
    }

    /// The number of the other bytes of a term.
    #[inline(always)]
    fn own(&self, index: usize) -> Option<usize> {
        match self.long.get(index) {
            Some(&[_, own]) => Some(own as usize),
            None => self.lengths.own.get(index).map(|&own| own.into()),
        }
    }

    /// The first term of the block from index `at` on that shares at most `most` bytes with the term before.
    /// The first term of a block shares none.
    #[inline]
    pub fn sharing_at_most(&self, most: usize, at: usize) -> Option<usize> {
        let compared = u64::try_from(most.min(usize::from(MOST))).ok()?;
        let mut passed = (1u64 << (8 * (at % 8))) - 1;
        for (word, near) in self.lengths.shared.as_chunks::<8>().0.iter().enumerate().skip(at / 8) {
            // The high bit stays set where no more is shared.
            let mut open = (HIGH + compared * ONES - u64::from_le_bytes(*near)) & HIGH & !passed;
            while open != 0 {
                let index = 8 * word + open.trailing_zeros() as usize / 8;
                if index >= self.count {
                    return None;
                }
                if self.shared(index)? <= most {
                    return Some(index);
                }
                open &= open - 1;
            }
            passed = 0;
        }
        None
    }

    /// The first term of the block that is not less than `target`; `None` if all are less. Its bytes that it
    /// shares with the term before are the first ones of `target`, too.
    pub fn seek(&mut self, target: &[u8]) -> Option<usize> {
        let (mut matched, mut at) = (0, 0);
        // A term that shares more than the matched bytes is less, as the term before is.
        while let Some(index) = self.sharing_at_most(matched, at) {
            let (shared, own) = self.term(index)?;
            if shared < matched {
                return Some(index);
            }
            let mut rest = target.get(matched..)?.iter();
            for byte in own {
                match rest.next() {
                    Some(&wanted) if byte == wanted => matched += 1,
                    Some(&wanted) if byte < wanted => break,
                    _ => return Some(index),
                }
            }
            if matched == target.len() && self.shared(index)? + self.own(index)? == matched {
                return Some(index);
            }
            at = index + 1;
        }
        None
    }

    /// The number of bytes that a term shares with the term before, and its other bytes; `None` after the
    /// last.
    #[inline]
    pub fn term(&mut self, index: usize) -> Option<(usize, OwnBytes<'_>)> {
        if index >= self.count {
            return None;
        }
        let (mut passed, mut start) = if index < self.passed.0 { (0, 0) } else { self.passed };
        while passed < index {
            start += self.own(passed)?;
            passed += 1;
        }
        self.passed = (passed, start);
        let end = start + self.own(index)?;
        Some((self.shared(index)?, OwnBytes { block: self.block.as_ref(), at: start, end }))
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

impl Lengths {
    /// False if a term shares more than the term before has, or the block has not that many bytes.
    fn are_those_of(&self, parts: &BlockParts<'_>) -> bool {
        let (shared, own) = (&self.shared, &self.own);
        let before = shared.iter().zip(own).map(|(shared, own)| shared.wrapping_add(*own));
        let after = shared.iter().take(parts.count).skip(1);
        // All are compared, since that takes less time than a loop that may end early.
        let fit = after.zip(before).fold(true, |fit, (shared, before)| fit & (*shared <= before));
        let bytes: usize = own.iter().take(parts.count).map(|&own| usize::from(own)).sum();
        fit && shared.first() == Some(&0) && bytes <= parts.text_len
    }
}
