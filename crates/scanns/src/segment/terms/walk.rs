//! Steps through terms for readers that skip most of them. Only the terms at which the reader stops are
//! decoded.

use std::ops::Range;

use super::block::TermBlock;
use super::info::{TermInfo, TermPositions, prefix_of};
use super::lookup::TermDictionary;
use crate::codec::head;
use crate::error::{Error, Result};

/// Steps and jumps through terms. It starts before the first term.
pub struct TermsWalk<'a> {
    terms: &'a TermDictionary,
    /// The blocks that have not been opened yet.
    blocks: Range<usize>,
    block: Option<TermBlock<'a>>,
    term: Vec<u8>,
    /// The first eight bytes of the next block; no term of the current block is greater.
    next_prefix: u64,
    /// The postings of the current term, once they have been read.
    found: Option<(TermInfo, TermPositions)>,
}

impl<'a> TermsWalk<'a> {
    pub(in crate::segment) fn new(terms: &'a TermDictionary) -> Self {
        let blocks = 0..terms.blocks();
        TermsWalk { terms, blocks, block: None, term: Vec::new(), next_prefix: 0, found: None }
    }

    /// Moves to the next term; returns false at the end.
    pub fn step(&mut self) -> Result<bool> {
        self.found = None;
        if let Some(block) = &mut self.block
            && block.step(&mut self.term).ok_or_else(|| damaged(self.terms))?
        {
            return Ok(true);
        }
        self.next_block()
    }

    /// Moves to the first term, from the current one on, that is not before `target`; returns false if there
    /// is none.
    pub fn seek(&mut self, target: &[u8]) -> Result<bool> {
        let may_be_here = self.block.is_some() && prefix_of(head(target)) <= self.next_prefix;
        if may_be_here && self.seek_in_block(target)? {
            return Ok(true);
        }
        // The sparse index gives the block; the walk never goes back.
        let found = self.terms.blocks_from(target)?;
        self.blocks = found.start.max(self.blocks.start)..self.blocks.end;
        // The first term of the following block is after the target.
        Ok(self.next_block()? && (self.seek_in_block(target)? || self.next_block()?))
    }

    /// Returns false if the rest of the block is before `target`.
    fn seek_in_block(&mut self, target: &[u8]) -> Result<bool> {
        let Some(block) = &mut self.block else { return Ok(false) };
        loop {
            let same = self.term.iter().zip(target).take_while(|(a, b)| a == b).count();
            if self.term.get(same..) >= target.get(same..) {
                return Ok(true);
            }
            self.found = None;
            // Terms that share more than this with the current term are also before the target.
            if !block.pass(&mut self.term, same + 1).ok_or_else(|| damaged(self.terms))? {
                return Ok(false);
            }
        }
    }

    /// Moves to the first term of the next block; returns false if there is none.
    fn next_block(&mut self) -> Result<bool> {
        (self.block, self.found) = (None, None);
        let Some(index) = self.blocks.next() else { return Ok(false) };
        self.next_prefix = self.terms.block_prefix(self.blocks.start)?.unwrap_or(u64::MAX);
        self.term.clear();
        let mut block = self.terms.open_block(index)?;
        match block.step(&mut self.term) {
            Some(true) => {
                self.block = Some(block);
                Ok(true)
            }
            _ => Err(damaged(self.terms)),
        }
    }

    /// The current term.
    pub fn term(&self) -> &[u8] {
        &self.term
    }

    /// Returns the postings of the current term, and the place of its positions.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt), also if there is no current term.
    pub fn info(&mut self) -> Result<(TermInfo, TermPositions)> {
        if self.found.is_none() {
            let block = self.block.as_mut().ok_or_else(|| damaged(self.terms))?;
            self.found = block.info().map(|info| (info, block.positions()));
        }
        self.found.ok_or_else(|| damaged(self.terms))
    }
}

fn damaged(terms: &TermDictionary) -> Error {
    terms.section().corrupt("a block of its terms cannot be read")
}
