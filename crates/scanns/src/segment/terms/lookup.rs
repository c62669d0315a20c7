//! Finds terms. The sparse index gives the only block that has to be read.

use std::ops::Range;
use std::sync::Arc;

use super::batch::TermBatch;
use super::block::{BlockParts, TermBlock};
use super::info::{PrefixedTerm, TermInfo, TermPositions, prefix_of};
use super::recent::RecentTerms;
use super::seek::{self, Sought};
use super::sparse::{BlockPlace, SparseIndex, TermGroup, prefetch_lines};
use crate::codec::head;
use crate::error::{Error, Result};
use crate::schema::Postings;
use crate::store::{Envelope, Section};

/// Blocks between two calls of `progress`.
const LOOK_EVERY: usize = 1 << 10;

/// The terms of one field of a segment.
#[derive(Debug)]
pub struct TermDictionary {
    section: Arc<Section>,
    sparse: SparseIndex,
    /// What the field stores about a term.
    kept: Postings,
    recent: RecentTerms,
}

impl TermDictionary {
    /// A dictionary without terms.
    pub(in crate::segment) fn empty() -> Self {
        TermDictionary {
            section: Section::empty(),
            sparse: SparseIndex::empty(),
            kept: Postings::Frequencies,
            recent: RecentTerms::default(),
        }
    }

    /// Opens the section of terms with its sparse index; `kept` is what the field stores about a term.
    pub(in crate::segment) fn open(file: &Envelope, terms: u32, sparse: u32, kept: Postings) -> Result<Self> {
        let section = file.shared_section(terms)?.clone();
        let sparse = SparseIndex::open(file.shared_section(sparse)?.clone())?;
        Ok(TermDictionary { section, sparse, kept, recent: RecentTerms::default() })
    }

    /// The section of terms and lists.
    pub(in crate::segment) fn section(&self) -> &Section {
        &self.section
    }

    /// Verifies that the sparse index is in order and matches the blocks. Calls `progress` from time to time.
    ///
    /// # Errors
    /// [`Error::Corrupt`], and errors from `progress`.
    pub(in crate::segment) fn check_sparse(&self, progress: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        self.sparse.check()?;
        let mut first = Vec::new();
        for index in 0..self.blocks() {
            if index % LOOK_EVERY == 0 {
                progress()?;
            }
            self.first_of(index, &mut first)?;
            if self.block_prefix(index)? != Some(prefix_of(head(&first))) {
                return Err(self
                    .section
                    .corrupt(format!("block {index} of its terms is in the wrong place")));
            }
        }
        Ok(())
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.sparse.groups()
    }

    /// Returns the first eight bytes of the first term of block `index`, as a big-endian number; `None` if
    /// there are fewer blocks.
    pub fn block_prefix(&self, index: usize) -> Result<Option<u64>> {
        Ok(self.sparse.group(index)?.map(|group| group.prefix))
    }

    /// The range of a block in its section.
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

    /// The bytes of a block, and their offset.
    #[inline]
    fn bytes_of(&self, group: TermGroup) -> Result<(&[u8], u64)> {
        let BlockPlace { offset, len } = group.place;
        let range =
            usize::try_from(offset).ok().and_then(|start| Some(start..start.checked_add(len as usize)?));
        let range = range.ok_or_else(|| self.damaged(group.index))?;
        Ok((self.section.get(range)?, offset))
    }

    fn open_group(&self, group: TermGroup) -> Result<TermBlock<'_>> {
        let (bytes, offset) = self.bytes_of(group)?;
        TermBlock::open(bytes, offset, self.kept).ok_or_else(|| self.damaged(group.index))
    }

    pub(super) fn open_block(&self, index: usize) -> Result<TermBlock<'_>> {
        self.open_group(self.sparse.group(index)?.ok_or_else(|| self.damaged(index))?)
    }

    /// The parts of a block.
    pub(super) fn block_parts(&self, index: usize) -> Result<BlockParts<'_>> {
        let group = self.sparse.group(index)?.ok_or_else(|| self.damaged(index))?;
        let (bytes, offset) = self.bytes_of(group)?;
        BlockParts::open(bytes, offset).ok_or_else(|| self.damaged(index))
    }

    /// What the field stores about a term.
    pub(super) fn kept(&self) -> Postings {
        self.kept
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
        // Blocks with the same first eight bytes are distinguished by their first terms.
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

    /// Looks up `term`. Returns its postings, and the place of its positions.
    pub fn find(&self, term: &[u8]) -> Result<Option<(TermInfo, TermPositions)>> {
        let wanted = PrefixedTerm::new(term);
        let Some(group) = self.sparse.last_at_most(wanted.prefix)? else { return Ok(None) };
        match self.seek_in(group, wanted)? {
            Sought::Found(info, positions) => Ok(Some((info, positions))),
            // It is in an earlier block, whose first term has the same eight bytes or is less.
            Sought::Before if group.prefix == wanted.prefix => self.find_before(wanted),
            Sought::Before | Sought::Absent => Ok(None),
        }
    }

    /// Does the same for a term that may be looked up again soon.
    #[inline]
    pub fn find_recent(&self, term: &[u8]) -> Result<Option<(TermInfo, TermPositions)>> {
        self.recent.find(term, self.blocks(), || self.find(term))
    }

    /// Looks up a term that is before the last block with its first eight bytes.
    #[inline(never)]
    fn find_before(&self, wanted: PrefixedTerm<'_>) -> Result<Option<(TermInfo, TermPositions)>> {
        let Some(index) = self.block_of(wanted.term)? else { return Ok(None) };
        let group = self.sparse.group(index)?.ok_or_else(|| self.damaged(index))?;
        match self.seek_in(group, wanted)? {
            Sought::Found(info, positions) => Ok(Some((info, positions))),
            Sought::Before | Sought::Absent => Ok(None),
        }
    }

    /// Looks up a term in one block.
    #[inline]
    fn seek_in(&self, group: TermGroup, wanted: PrefixedTerm<'_>) -> Result<Sought> {
        let (bytes, offset) = self.bytes_of(group)?;
        // Most blocks are not longer, and the whole block is needed.
        prefetch_lines::<8>(bytes);
        let found = seek::find(bytes, offset, self.kept, wanted, group.prefix);
        found.ok_or_else(|| self.damaged(group.index))
    }

    /// Returns the first terms of blocks that are at least `step` bytes apart, in order, each with the number
    /// of bytes of the section since the previous one.
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

    /// The blocks that may contain `target` or greater terms.
    pub(super) fn blocks_from(&self, target: &[u8]) -> Result<Range<usize>> {
        Ok(self.block_of(target)?.unwrap_or(0)..self.blocks())
    }

    /// Returns all terms from `start` on, in order.
    pub fn iter_from(&self, start: &[u8]) -> Result<TermsIter<'_>> {
        let blocks = self.blocks_from(start)?;
        let mut iter = TermsIter { terms: self, blocks, batch: Box::new(TermBatch::new()), waiting: false };
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
    terms: &'a TermDictionary,
    blocks: Range<usize>,
    batch: Box<TermBatch>,
    /// True if the current term has not been returned yet.
    waiting: bool,
}

impl TermsIter<'_> {
    /// Moves to the next term; returns false at the end.
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

    /// Returns the current term.
    #[inline(always)]
    pub fn term(&self) -> &[u8] {
        self.batch.term()
    }

    /// Returns the [`head`] of the current term.
    #[inline(always)]
    pub fn head(&self) -> u128 {
        self.batch.head()
    }

    /// Returns the postings of the current term.
    #[inline(always)]
    pub fn info(&self) -> TermInfo {
        self.batch.info()
    }

    /// Returns the place of the positions of the current term.
    #[inline(always)]
    pub fn positions(&self) -> TermPositions {
        self.batch.positions()
    }
}
