//! Finds terms: the sparse index in memory names the one block to read.

use std::ops::Range;

use super::batch::Batch;
use super::block::Block;
use super::{SPARSE_ENTRY, TermInfo, TermPositions, prefix_of};
use crate::codec::{ByteReader, head};
use crate::error::Result;
use crate::schema::Postings;
use crate::store::{Envelope, Section};

/// The sparse index of one segment.
#[derive(Debug)]
pub struct Terms {
    /// First eight bytes of the first term of each block.
    prefixes: Vec<u64>,
    places: Vec<(u64, u32)>,
    /// What the field has of a term.
    kept: Postings,
}

impl Terms {
    /// The index over no terms.
    pub(in crate::segment) const fn none() -> Self {
        Terms { prefixes: Vec::new(), places: Vec::new(), kept: Postings::Frequencies }
    }

    /// Loads the sparse index from its section; `kept` is what the field has of a term.
    pub(in crate::segment) fn load(section: &Section, kept: Postings) -> Result<Self> {
        let (entries, rest) = section.all()?.as_chunks::<SPARSE_ENTRY>();
        let mut terms = Terms { prefixes: Vec::new(), places: Vec::new(), kept };
        for entry in entries {
            let mut reader = ByteReader::new(entry);
            if let (Some(prefix), Some(offset), Some(len)) = (reader.u64(), reader.u64(), reader.u32()) {
                terms.prefixes.push(prefix);
                terms.places.push((offset, len));
            }
        }
        if !rest.is_empty() || !terms.prefixes.is_sorted() {
            return Err(section.corrupt("the sparse index of terms is not in order"));
        }
        Ok(terms)
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.prefixes.len()
    }

    /// First eight bytes, as a big-endian number, of the first term of block `index`.
    pub fn block_prefix(&self, index: usize) -> Option<u64> {
        self.prefixes.get(index).copied()
    }

    pub(super) fn open<'a>(&self, section: &'a Section, index: usize) -> Result<Block<'a>> {
        let damaged = || section.corrupt(format!("block {index} of its terms cannot be read"));
        let &(offset, len) = self.places.get(index).ok_or_else(damaged)?;
        let start = usize::try_from(offset).map_err(|_| damaged())?;
        let end = start.checked_add(len as usize).ok_or_else(damaged)?;
        Block::open(section.get(start..end)?, offset, self.kept).ok_or_else(damaged)
    }

    /// The last block whose first term is not after `term`.
    fn block_of(&self, section: &Section, term: &[u8]) -> Result<Option<usize>> {
        let prefix = prefix_of(head(term));
        let mut low = self.prefixes.partition_point(|&found| found < prefix);
        // Most prefixes are of one block.
        let same = self.prefixes.get(low..).unwrap_or_default();
        let mut high = low
            + if same.first() == Some(&prefix) { same.partition_point(|&found| found == prefix) } else { 0 };
        let mut first = Vec::new();
        // Blocks that share the eight bytes are told apart by their first term.
        while low < high {
            let middle = low.midpoint(high);
            first.clear();
            let stepped = self.open(section, middle)?.step(&mut first);
            if stepped != Some(true) {
                return Err(section.corrupt(format!("block {middle} of its terms cannot be read")));
            }
            if first.as_slice() <= term {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low.checked_sub(1))
    }

    /// Looks `term` up: its postings and its positions.
    pub fn find(&self, section: &Section, term: &[u8]) -> Result<Option<(TermInfo, TermPositions)>> {
        let Some(index) = self.block_of(section, term)? else { return Ok(None) };
        let damaged = || section.corrupt(format!("block {index} of its terms cannot be read"));
        let mut block = self.open(section, index)?;
        match block.seek(term).ok_or_else(damaged)? {
            true => block.info().map(|info| Some((info, block.positions()))).ok_or_else(damaged),
            false => Ok(None),
        }
    }

    /// First terms of blocks that stand at least `step` bytes apart, in order, each with the bytes of the section that
    /// lie between it and the one before.
    pub fn samples(&self, section: &Section, step: u64) -> Result<Vec<(Vec<u8>, u64)>> {
        let (mut samples, mut last, mut end) = (Vec::new(), 0, 0);
        for (index, &(offset, len)) in self.places.iter().enumerate() {
            let between = end - last;
            if between >= step.max(1) {
                let mut first = Vec::new();
                if self.open(section, index)?.step(&mut first) != Some(true) {
                    return Err(section.corrupt(format!("block {index} of its terms cannot be read")));
                }
                samples.push((first, between));
                last = end;
            }
            end = end.max(offset.saturating_add(u64::from(len)));
        }
        Ok(samples)
    }

    /// The blocks that may hold `target` and what follows, and all after them.
    pub(super) fn blocks_from(&self, section: &Section, target: &[u8]) -> Result<Range<usize>> {
        Ok(self.block_of(section, target)?.unwrap_or(0)..self.blocks())
    }

    /// All terms from `start` on, in order.
    pub fn iter_from<'a>(&'a self, section: &'a Section, start: &[u8]) -> Result<TermsIter<'a>> {
        let mut iter = self.iter_blocks(section, self.blocks_from(section, start)?);
        while iter.step()? {
            if iter.term() >= start {
                iter.waiting = true;
                break;
            }
        }
        Ok(iter)
    }

    /// The terms of some blocks, in order.
    pub fn iter_blocks<'a>(&'a self, section: &'a Section, blocks: Range<usize>) -> TermsIter<'a> {
        TermsIter { terms: self, section, blocks, batch: Box::new(Batch::new()), waiting: false }
    }
}

/// Steps through terms in order.
pub struct TermsIter<'a> {
    terms: &'a Terms,
    section: &'a Section,
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
        let loaded = self.batch.load(self.terms.open(self.section, index)?);
        let damaged = || self.section.corrupt(format!("block {index} of its terms cannot be read"));
        loaded.map(|()| true).ok_or_else(damaged)
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

/// Opens the section of terms together with its sparse index; `kept` is what the field has of a term.
pub(in crate::segment) fn load(file: &Envelope, terms: u32, sparse: u32, kept: Postings) -> Result<Terms> {
    file.section(terms)?;
    Terms::load(file.section(sparse)?, kept)
}
