//! From a term to its number.

use std::cmp::Ordering;
use std::ops::Range;

use crate::codec::SymbolTable;
use crate::error::Result;

use super::block::{BLOCK, Block, common};
use super::read::{DictionaryReader, Opened};
use super::{MAX_TERM, prefix_of};

impl DictionaryReader {
    /// The number of `term`, or else how many terms are less.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if a block on the way cannot be read.
    pub fn find(&self, term: &[u8]) -> Result<std::result::Result<u32, u32>> {
        let mut memory = Vec::new();
        let Some(block) = self.block_of(term, &mut memory)?.checked_sub(1) else { return Ok(Err(0)) };
        let Opened { block: terms, table } = self.block(block)?;
        let found = search(&terms, table, term, &mut memory).ok_or_else(|| self.damaged(block))?;
        let number = |at: usize| u32::try_from(block * BLOCK + at).unwrap_or(u32::MAX);
        Ok(found.map(number).map_err(number))
    }

    /// The numbers of all terms that begin with `prefix`.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if a block on the way cannot be read.
    pub fn prefix_range(&self, prefix: &[u8]) -> Result<Range<u32>> {
        let either = |found: std::result::Result<u32, u32>| found.unwrap_or_else(|at| at);
        let start = either(self.find(prefix)?);
        // The least string that is greater than all with this prefix, if there is one.
        let mut after = prefix.to_vec();
        while after.pop_if(|last| *last == u8::MAX).is_some() {}
        let end = match after.last_mut() {
            Some(last) => {
                *last += 1;
                either(self.find(&after)?)
            }
            None => self.len(),
        };
        Ok(start..end.max(start))
    }

    /// How many blocks begin with a term that is at most `term`.
    fn block_of(&self, term: &[u8], memory: &mut Vec<u8>) -> Result<usize> {
        let prefix = prefix_of(term);
        let least = self.first_block(|block| Ok(self.prefix(block)? < prefix), 0..self.blocks)?;
        let most = self.first_block(|block| Ok(self.prefix(block)? <= prefix), least..self.blocks)?;
        let at_most = |block| {
            let Opened { block: terms, table } = self.block(block)?;
            memory.clear();
            table.decompress(terms.first(), MAX_TERM, memory).ok_or_else(|| self.damaged(block))?;
            Ok(memory.as_slice() <= term)
        };
        self.first_block(at_most, least..most)
    }

    /// The first block of a range that is not `before`, where those that are stand first.
    fn first_block(
        &self,
        mut before: impl FnMut(usize) -> Result<bool>,
        range: Range<usize>,
    ) -> Result<usize> {
        let Range { start: mut low, end: mut high } = range;
        while low < high {
            let middle = low.midpoint(high);
            if before(middle)? {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }
}

/// Looks for `term` in a block: its place, or else how many terms of the block are less.
///
/// What a term shares with the one before tells most of them apart without a look at their bytes.
fn search(
    block: &Block,
    table: &SymbolTable,
    term: &[u8],
    memory: &mut Vec<u8>,
) -> Option<std::result::Result<usize, usize>> {
    let mut steps = block.steps();
    // Bytes that the wanted term has in common with the last one passed, which is less.
    let mut same = 0;
    for at in 0..block.count() {
        let kept = steps.next()?;
        match kept.shared.cmp(&same) {
            // It goes on as the one before does, which is less.
            Ordering::Greater => continue,
            // It is greater than the one before where that is what is wanted.
            Ordering::Less => return Some(Err(at)),
            Ordering::Equal => {}
        }
        memory.clear();
        table.decompress(kept.codes, MAX_TERM, memory)?;
        let rest = term.get(same..)?;
        match memory.as_slice().cmp(rest) {
            Ordering::Equal => return Some(Ok(at)),
            Ordering::Greater => return Some(Err(at)),
            Ordering::Less => same += common(memory, rest),
        }
    }
    Some(Err(block.count()))
}
