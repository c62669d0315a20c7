//! Reads many terms in order. Each block is decoded once.

use std::collections::VecDeque;

use crate::codec::SymbolTable;
use crate::error::Result;

use super::block::{BLOCK, BlockSteps, TermStep};
use super::guide::GuideWriter;
use super::read::{DictionaryReader, OpenedBlock};

/// Blocks that are prefetched.
const AHEAD: usize = 8;

/// The current block of a cursor.
#[derive(Debug)]
struct BlockWalk<'a> {
    block: usize,
    steps: BlockSteps<'a>,
    table: &'a SymbolTable,
}

/// Terms in order; see [`DictionaryReader::cursor_from`].
#[derive(Debug)]
pub struct TermCursor<'a> {
    reader: &'a DictionaryReader,
    /// The number of the next term.
    next: u32,
    walk: Option<BlockWalk<'a>>,
    term: Vec<u8>,
}

impl DictionaryReader {
    /// Returns a cursor over the terms from number `ord` on.
    pub fn cursor_from(&self, ord: u32) -> TermCursor<'_> {
        TermCursor { reader: self, next: ord, walk: None, term: Vec::new() }
    }

    /// Calls `each` with the terms `ords`, which ascend, and their numbers. The terms of a block are decoded
    /// together.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if there is no such term or a block cannot be read, and
    /// errors from `each`.
    pub fn terms_of(&self, ords: &[u32], mut each: impl FnMut(u32, &[u8]) -> Result<()>) -> Result<()> {
        let block_of = |ord: u32| ord as usize / BLOCK;
        let groups = || ords.chunk_by(|&a, &b| block_of(a) == block_of(b));
        // Blocks are prefetched while earlier blocks are decoded.
        let mut ahead = groups();
        let mut bytes = VecDeque::with_capacity(AHEAD + 1);
        let mut term = Vec::new();
        for group in groups() {
            while bytes.len() <= AHEAD
                && let Some(&last) = ahead.next().and_then(|group| group.iter().max())
            {
                if last >= self.len() {
                    return Err(self.beyond(last));
                }
                bytes.push_back((last, self.bytes_of(block_of(last))?));
            }
            let Some((last, bytes)) = bytes.pop_front() else { break };
            let block = block_of(last);
            let OpenedBlock { block: terms, table } = self.open_block(block, bytes)?;
            let numbers = terms.numbers(last as usize % BLOCK).ok_or_else(|| self.damaged(block))?;
            let mut before = None;
            term.clear();
            for &ord in group {
                let at = ord as usize % BLOCK;
                // A number that does not ascend starts again at the beginning of the block.
                let from = before.filter(|&before| before < at);
                terms
                    .go(&numbers, TermStep { from, to: at }, table, 0, &mut term)
                    .ok_or_else(|| self.damaged(block))?;
                before = Some(at);
                each(ord, &term)?;
            }
        }
        Ok(())
    }

    /// Verifies that the terms ascend and that the index fits the blocks; calls `progress` now and then.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) for the first fault, and errors from `progress`.
    pub fn check(&self, progress: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let (mut before, mut cursor) = (Vec::new(), self.cursor_from(0));
        let mut guide = GuideWriter::default();
        while let Some((ord, term)) = cursor.next()? {
            let block = ord as usize / BLOCK;
            if ord.is_multiple_of(1 << 15) {
                progress()?;
            }
            if ord > 0 && before.as_slice() >= term {
                return Err(self.terms.corrupt(format!("term {ord} of a dictionary is not in order")));
            }
            if (ord as usize).is_multiple_of(BLOCK) {
                guide.push(term);
            }
            before.clear();
            before.extend_from_slice(term);
            let last = ord as usize % BLOCK + 1 == BLOCK || ord + 1 == self.len();
            if last && !cursor.walk.as_ref().is_some_and(|walk| walk.steps.is_done()) {
                return Err(self.damaged(block));
            }
        }
        let guide = guide.finish(&before).concat();
        if self.index.get(0..guide.len())? != guide {
            return Err(self.index.corrupt("the guide of a dictionary does not match its terms"));
        }
        Ok(())
    }
}

impl<'a> TermCursor<'a> {
    /// Returns the term that was returned last; empty before the first.
    #[inline]
    pub fn term(&self) -> &[u8] {
        &self.term
    }

    /// Returns the next term and its number; `None` after the last.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if its block cannot be read.
    pub fn next(&mut self) -> Result<Option<(u32, &[u8])>> {
        if self.next >= self.reader.len() {
            return Ok(None);
        }
        let ord = self.next;
        let term = self.seek(ord)?;
        Ok(Some((ord, term)))
    }

    /// Moves to term `ord` and returns it. Moving to a later term of the same block takes one step per term.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if there is no such term or its block cannot be read.
    #[inline]
    pub fn seek(&mut self, ord: u32) -> Result<&[u8]> {
        if ord >= self.reader.len() {
            return Err(self.reader.beyond(ord));
        }
        let (block, at) = (ord as usize / BLOCK, ord as usize % BLOCK);
        let mut walk = match self.walk.take() {
            Some(walk) if walk.block == block && walk.steps.at() <= at => walk,
            _ => {
                let OpenedBlock { block: terms, table } = self.reader.block(block)?;
                self.term.clear();
                BlockWalk { block, steps: terms.steps(), table }
            }
        };
        while walk.steps.at() <= at {
            let applied = walk.steps.next().and_then(|kept| kept.apply(walk.table, 0, &mut self.term));
            applied.ok_or_else(|| self.reader.damaged(block))?;
        }
        self.walk = Some(walk);
        self.next = ord + 1;
        Ok(&self.term)
    }
}
