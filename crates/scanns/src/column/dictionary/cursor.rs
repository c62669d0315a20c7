//! Many terms in order: each block is decoded once.

use std::collections::VecDeque;

use crate::codec::SymbolTable;
use crate::error::Result;

use super::block::{BLOCK, Steps};
use super::guide::GuideWriter;
use super::read::{DictionaryReader, Opened};

/// Blocks that are fetched before they are needed.
const AHEAD: usize = 8;

/// A block that is gone through.
#[derive(Debug)]
struct Walk<'a> {
    block: usize,
    steps: Steps<'a>,
    table: &'a SymbolTable,
}

/// Terms in order; see [`DictionaryReader::cursor_from`].
#[derive(Debug)]
pub struct TermCursor<'a> {
    reader: &'a DictionaryReader,
    /// The number of the next term.
    next: u32,
    walk: Option<Walk<'a>>,
    term: Vec<u8>,
}

impl DictionaryReader {
    /// Goes through the terms from number `ord` on.
    pub fn cursor_from(&self, ord: u32) -> TermCursor<'_> {
        TermCursor { reader: self, next: ord, walk: None, term: Vec::new() }
    }

    /// Hands the terms `ords`, which ascend, to `each` with their numbers; those of one block are decoded together.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if there are not so many or a block cannot be read, and what `each`
    /// says.
    pub fn terms_of(&self, ords: &[u32], mut each: impl FnMut(u32, &[u8]) -> Result<()>) -> Result<()> {
        let block_of = |ord: u32| ord as usize / BLOCK;
        let groups = || ords.chunk_by(|&a, &b| block_of(a) == block_of(b));
        // Blocks come to the cache while those before them are decoded.
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
            let Opened { block: terms, table } = self.open_block(block, bytes)?;
            let numbers = terms.numbers(last as usize % BLOCK).ok_or_else(|| self.damaged(block))?;
            let mut before = None;
            term.clear();
            for &ord in group {
                let at = ord as usize % BLOCK;
                // One that does not come after the one before begins with the block again.
                let from = before.filter(|&before| before < at);
                terms.go(&numbers, from, at, table, 0, &mut term).ok_or_else(|| self.damaged(block))?;
                before = Some(at);
                each(ord, &term)?;
            }
        }
        Ok(())
    }

    /// Proves that the terms ascend, that each shares with the one before what it can, and that the index is that of
    /// these blocks. Ends with what `go_on` fails with, which is asked now and then.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if not.
    pub fn check(&self, go_on: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let (mut before, mut cursor) = (Vec::new(), self.cursor_from(0));
        let mut guide = GuideWriter::default();
        while let Some((ord, term)) = cursor.next()? {
            let block = ord as usize / BLOCK;
            if ord.is_multiple_of(1 << 15) {
                go_on()?;
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
            return Err(self
                .index
                .corrupt("the guide to the terms of a dictionary is not that of its terms"));
        }
        Ok(())
    }
}

impl<'a> TermCursor<'a> {
    /// The next term and its number; `None` behind the last.
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

    /// Term `ord`; the next one is that after it. Terms of the same block that come later take no longer than a step
    /// each.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if there are not so many, or the block cannot be read.
    #[inline]
    pub fn seek(&mut self, ord: u32) -> Result<&[u8]> {
        if ord >= self.reader.len() {
            return Err(self.reader.beyond(ord));
        }
        let (block, at) = (ord as usize / BLOCK, ord as usize % BLOCK);
        let mut walk = match self.walk.take() {
            Some(walk) if walk.block == block && walk.steps.at() <= at => walk,
            _ => {
                let Opened { block: terms, table } = self.reader.block(block)?;
                self.term.clear();
                Walk { block, steps: terms.steps(), table }
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
