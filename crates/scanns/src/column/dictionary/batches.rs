//! Decodes terms in order, many at a time, at some twenty nanoseconds per term.

use std::ops::Range;

use crate::codec::StringBatch;
use crate::error::Result;

use super::block::BLOCK;
use super::limits::{CHAPTER, MAX_TERM};
use super::read::{DictionaryReader, OpenedBlock};

/// The size of a batch in bytes at which no more blocks are added: it stays in the first level of the cache.
const FULL: usize = 16 << 10;

/// The terms of a chapter in order; see [`DictionaryReader::batches`].
#[derive(Debug)]
pub struct TermBatches<'a> {
    reader: &'a DictionaryReader,
    /// The next block.
    block: usize,
    /// The block after the last one.
    end: usize,
    batch: StringBatch,
}

impl DictionaryReader {
    /// The number of chapters. Each has the terms of 512 blocks; the last one has the rest.
    pub fn chapters(&self) -> usize {
        self.blocks.div_ceil(CHAPTER)
    }

    /// The numbers of the terms of a chapter.
    pub fn numbers_of(&self, chapter: usize) -> Range<u32> {
        let first = |chapter: usize| {
            let term = chapter.saturating_mul(CHAPTER * BLOCK);
            u32::try_from(term).unwrap_or(u32::MAX).min(self.len())
        };
        first(chapter)..first(chapter.saturating_add(1))
    }

    /// Returns the terms of a chapter in batches, before the first batch.
    pub fn batches(&self, chapter: usize) -> TermBatches<'_> {
        let block = chapter.saturating_mul(CHAPTER);
        let end = block.saturating_add(CHAPTER).min(self.blocks);
        TermBatches { reader: self, block, end, batch: StringBatch::new() }
    }
}

impl TermBatches<'_> {
    /// Decodes the next batch and returns it with the number of its first term; `None` after the last.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if a block cannot be read.
    pub fn next(&mut self) -> Result<Option<(u32, &StringBatch)>> {
        let TermBatches { reader, block, end, batch } = self;
        let first = u32::try_from(*block * BLOCK).unwrap_or(u32::MAX);
        batch.clear();
        while *block < *end && batch.text().len() < FULL {
            let OpenedBlock { block: terms, table } = reader.block(*block)?;
            let mut steps = terms.steps();
            for _ in 0..terms.count() {
                let pushed =
                    steps.next().and_then(|kept| batch.push_codes(kept.shared, kept.codes, table, MAX_TERM));
                pushed.ok_or_else(|| reader.damaged(*block))?;
            }
            *block += 1;
        }
        Ok((!batch.is_empty()).then_some((first, &*batch)))
    }
}
