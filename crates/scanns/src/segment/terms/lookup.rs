//! Finds terms: the sparse index names the one block to read.

use std::ops::Range;
use std::sync::Arc;

use super::batch::Batch;
use super::block::Block;
use super::seek::{self, Sought};
use super::sparse::{Group, Place, Sparse, prefetch_lines};
use super::{TermInfo, TermPositions, prefix_of};
use crate::codec::head;
use crate::error::{Error, Result};
use crate::schema::Postings;
use crate::store::{Envelope, Section};

/// Blocks that are checked before whoever asked for it is asked whether to go on.
const LOOK_EVERY: usize = 1 << 10;

/// The terms of one field of a segment.
#[derive(Debug)]
pub struct Terms {
    section: Arc<Section>,
    sparse: Sparse,
    /// What the field has of a term.
    kept: Postings,
}

impl Terms {
    /// No terms.
    pub(in crate::segment) fn none() -> Self {
        Terms { section: Section::empty(), sparse: Sparse::none(), kept: Postings::Frequencies }
    }

    /// Opens the section of terms together with its sparse index; `kept` is what the field has of a term.
    pub(in crate::segment) fn open(file: &Envelope, terms: u32, sparse: u32, kept: Postings) -> Result<Self> {
        let section = file.shared_section(terms)?.clone();
        Ok(Terms { section, sparse: Sparse::open(file.shared_section(sparse)?.clone())?, kept })
    }

    /// The section of terms and lists.
    pub(in crate::segment) fn section(&self) -> &Section {
        &self.section
    }

    /// Proves that the sparse index is in order, and that it is one of these blocks. Ends with what `go_on` fails with, which
    /// is asked now and then.
    pub(in crate::segment) fn check_sparse(&self, go_on: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        self.sparse.check()?;
        let mut first = Vec::new();
        for index in 0..self.blocks() {
            if index % LOOK_EVERY == 0 {
                go_on()?;
            }
            self.first_of(index, &mut first)?;
            if self.block_prefix(index)? != Some(prefix_of(head(&first))) {
                return Err(self
                    .section
                    .corrupt(format!("block {index} of its terms is not where it should be")));
            }
        }
        Ok(())
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.sparse.groups()
    }

    /// First eight bytes, as a big-endian number, of the first term of block `index`, if there are so many.
    pub fn block_prefix(&self, index: usize) -> Result<Option<u64>> {
        Ok(self.sparse.group(index)?.map(|group| group.prefix))
    }

    /// Where a block is in its section.
    #[cfg(test)]
    pub(in crate::segment) fn place_of_block(&self, index: usize) -> Range<usize> {
        let place = self.sparse.group(index).ok().flatten().map(|group| group.place);
        let start = place.map_or(0, |place| usize::try_from(place.offset).unwrap_or(0));
        start..start + place.map_or(0, |place| place.len as usize)
    }

    #[cold]
    fn damaged(&self, index: usize) -> Error {
        self.section.corrupt(format!("block {index} of its terms cannot be read"))
    }

    /// The bytes of a block, and where they begin.
    #[inline]
    fn bytes_of(&self, group: Group) -> Result<(&[u8], u64)> {
        let Place { offset, len } = group.place;
        let range =
            usize::try_from(offset).ok().and_then(|start| Some(start..start.checked_add(len as usize)?));
        let range = range.ok_or_else(|| self.damaged(group.index))?;
        Ok((self.section.get(range)?, offset))
    }

    fn open_group(&self, group: Group) -> Result<Block<'_>> {
        let (bytes, offset) = self.bytes_of(group)?;
        Block::open(bytes, offset, self.kept).ok_or_else(|| self.damaged(group.index))
    }

    pub(super) fn open_block(&self, index: usize) -> Result<Block<'_>> {
        self.open_group(self.sparse.group(index)?.ok_or_else(|| self.damaged(index))?)
    }

    /// The first term of a block.
    fn first_of(&self, index: usize, first: &mut Vec<u8>) -> Result<()> {
        first.clear();
        match self.open_block(index)?.step(first) {
            Some(true) => Ok(()),
            _ => Err(self.damaged(index)),
        }
    }

    /// The last block whose first term is not after `term`.
    fn block_of(&self, term: &[u8]) -> Result<Option<usize>> {
        let prefix = prefix_of(head(term));
        let Some(last) = self.sparse.last_at_most(prefix)? else { return Ok(None) };
        if last.prefix < prefix {
            return Ok(Some(last.index));
        }
        // Blocks that share the eight bytes are told apart by their first term.
        let (mut low, mut high, mut first) = (self.sparse.count_below(prefix)?, last.index + 1, Vec::new());
        while low < high {
            let middle = low.midpoint(high);
            self.first_of(middle, &mut first)?;
            if first.as_slice() <= term {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low.checked_sub(1))
    }

    /// Looks `term` up: its postings and its positions.
    pub fn find(&self, term: &[u8]) -> Result<Option<(TermInfo, TermPositions)>> {
        let prefix = prefix_of(head(term));
        let Some(group) = self.sparse.last_at_most(prefix)? else { return Ok(None) };
        match self.seek_in(group, (term, prefix))? {
            Sought::Found(info, positions) => Ok(Some((info, positions))),
            // It is in a block before, whose first term has the same eight bytes or is less.
            Sought::Before if group.prefix == prefix => self.find_before((term, prefix)),
            Sought::Before | Sought::Absent => Ok(None),
        }
    }

    /// The same, where the last block with the first eight bytes of the term begins after it.
    #[inline(never)]
    fn find_before(&self, (term, prefix): (&[u8], u64)) -> Result<Option<(TermInfo, TermPositions)>> {
        let Some(index) = self.block_of(term)? else { return Ok(None) };
        let group = self.sparse.group(index)?.ok_or_else(|| self.damaged(index))?;
        match self.seek_in(group, (term, prefix))? {
            Sought::Found(info, positions) => Ok(Some((info, positions))),
            Sought::Before | Sought::Absent => Ok(None),
        }
    }

    /// Looks for a term, with its first eight bytes, in one block.
    #[inline]
    fn seek_in(&self, group: Group, (term, prefix): (&[u8], u64)) -> Result<Sought> {
        let (bytes, offset) = self.bytes_of(group)?;
        // Of most blocks this is all, and all of it is needed.
        prefetch_lines::<8>(bytes);
        let found = seek::find(bytes, offset, self.kept, (term, prefix), group.prefix);
        found.ok_or_else(|| self.damaged(group.index))
    }

    /// First terms of blocks that stand at least `step` bytes apart, in order, each with the bytes of the section that
    /// lie between it and the one before.
    pub fn samples(&self, step: u64) -> Result<Vec<(Vec<u8>, u64)>> {
        let (mut samples, mut last, mut end) = (Vec::new(), 0, 0);
        for index in 0..self.blocks() {
            let Some(group) = self.sparse.group(index)? else { break };
            let between = end - last;
            if between >= step.max(1) {
                let mut first = Vec::new();
                self.first_of(index, &mut first)?;
                samples.push((first, between));
                last = end;
            }
            end = end.max(group.place.offset.saturating_add(u64::from(group.place.len)));
        }
        Ok(samples)
    }

    /// The blocks that may hold `target` and what follows, and all after them.
    pub(super) fn blocks_from(&self, target: &[u8]) -> Result<Range<usize>> {
        Ok(self.block_of(target)?.unwrap_or(0)..self.blocks())
    }

    /// All terms from `start` on, in order.
    pub fn iter_from(&self, start: &[u8]) -> Result<TermsIter<'_>> {
        let blocks = self.blocks_from(start)?;
        let mut iter = TermsIter { terms: self, blocks, batch: Box::new(Batch::new()), waiting: false };
        while iter.step()? {
            if iter.term() >= start {
                iter.waiting = true;
                break;
            }
        }
        Ok(iter)
    }
}

/// Steps through terms in order.
pub struct TermsIter<'a> {
    terms: &'a Terms,
    blocks: Range<usize>,
    batch: Box<Batch>,
    /// True if the term at hand has not been given out.
    waiting: bool,
}

impl TermsIter<'_> {
    /// Moves to the next term; false at the end.
    #[inline(always)]
    pub fn step(&mut self) -> Result<bool> {
        if std::mem::take(&mut self.waiting) || self.batch.step() { Ok(true) } else { self.next_block() }
    }

    #[inline(never)]
    fn next_block(&mut self) -> Result<bool> {
        let Some(index) = self.blocks.next() else { return Ok(false) };
        let loaded = self.batch.load(self.terms.open_block(index)?);
        loaded.map(|()| true).ok_or_else(|| self.terms.damaged(index))
    }

    /// The term at hand.
    #[inline(always)]
    pub fn term(&self) -> &[u8] {
        self.batch.term()
    }

    /// Its [`head`].
    #[inline(always)]
    pub fn head(&self) -> u128 {
        self.batch.head()
    }

    /// The postings of the term at hand.
    #[inline(always)]
    pub fn info(&self) -> TermInfo {
        self.batch.info()
    }

    /// Where the positions of the term at hand are.
    #[inline(always)]
    pub fn positions(&self) -> TermPositions {
        self.batch.positions()
    }
}
