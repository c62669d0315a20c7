//! Finds the number of a term.

use std::cmp::Ordering;
use std::ops::Range;

use crate::codec::{SymbolTable, common_prefix};
use crate::error::Result;

use super::block::{BLOCK, DictionaryBlock};
use super::guide::Turn;
use super::limits::MAX_TERM;
use super::read::{DictionaryReader, OpenedBlock};

impl DictionaryReader {
    /// Finds the number of `term`; if there is no such term, returns as `Err` the number of terms that are
    /// less.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if a block on the way cannot be read.
    pub fn find(&self, term: &[u8]) -> Result<std::result::Result<u32, u32>> {
        let Some((first, last)) = self.outermost()? else { return Ok(Err(0)) };
        // Only terms between these two begin as the guide expects.
        if term < first.as_slice() {
            return Ok(Err(0));
        }
        if term > last.as_slice() {
            return Ok(Err(self.len()));
        }
        let mut memory = Vec::new();
        let block = self.block_of(term, &mut memory)?;
        let OpenedBlock { block: terms, table } = self.block(block)?;
        let found = search(&terms, table, term, &mut memory).ok_or_else(|| self.damaged(block))?;
        let number = |at: usize| u32::try_from(block * BLOCK + at).unwrap_or(u32::MAX);
        Ok(found.map(number).map_err(number))
    }

    /// Returns the numbers of all terms that begin with `prefix`.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if a block on the way cannot be read.
    pub fn prefix_range(&self, prefix: &[u8]) -> Result<Range<u32>> {
        let either = |found: std::result::Result<u32, u32>| found.unwrap_or_else(|at| at);
        let start = either(self.find(prefix)?);
        // The least string that is greater than all strings with this prefix, if there is one.
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

    /// The last block whose first term is at most `term`, which must be between the first and the last term.
    fn block_of(&self, term: &[u8], memory: &mut Vec<u8>) -> Result<usize> {
        let mut node = 0;
        for level in 0..self.guide.levels() {
            let bytes = self.index.get(self.guide.place(level, node))?;
            let Turn { child, tied: Range { start: mut low, end: mut high } } =
                self.guide.turn(level, node, bytes, term);
            node = child;
            while low < high {
                let middle = low.midpoint(high);
                let block = self.guide.block(level, middle);
                let OpenedBlock { block: terms, table } = self.block(block)?;
                memory.clear();
                table.decompress(terms.first(), MAX_TERM, memory).ok_or_else(|| self.damaged(block))?;
                if memory.as_slice() <= term {
                    (node, low) = (middle, middle + 1);
                } else {
                    high = middle;
                }
            }
        }
        Ok(node)
    }
}

/// Looks for `term` in a block: returns its place, or, as an error, the number of terms of the block that are
/// less.
///
/// Most terms are distinguished by the lengths that they share with the terms before, without decompressing
/// them.
fn search(
    block: &DictionaryBlock,
    table: &SymbolTable,
    term: &[u8],
    memory: &mut Vec<u8>,
) -> Option<std::result::Result<usize, usize>> {
    let mut steps = block.steps();
    // Length of the common prefix of the wanted term and the last passed term, which is less.
    let mut same = 0;
    for at in 0..block.count() {
        let kept = steps.next()?;
        match kept.shared.cmp(&same) {
            // It continues as the previous term, which is less.
            Ordering::Greater => continue,
            // It is greater than the previous term where that one equals the wanted term.
            Ordering::Less => return Some(Err(at)),
            Ordering::Equal => {}
        }
        memory.clear();
        table.decompress(kept.codes, MAX_TERM, memory)?;
        let rest = term.get(same..)?;
        match memory.as_slice().cmp(rest) {
            Ordering::Equal => return Some(Ok(at)),
            Ordering::Greater => return Some(Err(at)),
            Ordering::Less => same += common_prefix(memory, rest),
        }
    }
    Some(Err(block.count()))
}
