//! Reads the values of matches from a column.
//!
//! A block of a complete column with one value per document is exactly a window. If all documents of the
//! window match, its values are passed on as they were unpacked, and a block with a single value is not even
//! unpacked; so counting is as fast as unpacking. Blocks of sparse columns span several windows, so the last
//! block stays unpacked. If few documents match, their values are picked out of the packed block.

use std::ops::RangeInclusive;

use super::matches::{Matches, Which};
use crate::codec::{count_ones, within};
use crate::column::{Column, FoundBlock, JumpEntry, Scan, Values, find_blocks, prefetch_entries};
use crate::error::Result;
use crate::search::exec::bits::{MatchBits, WINDOW, docs_of};

/// Unpacking a block takes as long as looking up one value in this many of its values.
const LOOK_UP: u64 = 16;

/// Values of matches.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ValueRun<'v> {
    /// A value, and the number of documents that have it.
    Same(u64, u64),
    /// One value for each document, for as many documents as values.
    Singles(&'v [u64]),
    /// The values of one document, ascending unless they are paths.
    Document(&'v [u64]),
}

/// Reads a column batch by batch.
#[derive(Debug)]
pub(crate) struct MatchReader<'c> {
    column: &'c Column,
    scan: Scan,
    /// The block that is unpacked.
    held: Option<u32>,
    picked: Vec<u64>,
    values: Vec<u64>,
    parts: Vec<FoundBlock>,
}

impl<'c> MatchReader<'c> {
    pub(crate) fn new(column: &'c Column) -> Self {
        MatchReader {
            column,
            scan: Scan::new(),
            held: None,
            picked: Vec::new(),
            values: Vec::new(),
            parts: Vec::new(),
        }
    }

    pub(crate) fn column(&self) -> &'c Column {
        self.column
    }

    /// Calls `visit` with the values of matches; returns the number of matches that have a value.
    #[inline]
    pub(crate) fn runs(&mut self, matches: &Matches<'_>, mut visit: impl FnMut(ValueRun<'_>)) -> Result<u64> {
        let mut documents = 0;
        let mut picked = std::mem::take(&mut self.picked);
        let mut parts = MatchesByBlock::of(self.column, matches, std::mem::take(&mut self.parts))?;
        while let Some(block) = parts.next(self.column)? {
            picked.clear();
            if !block.entry.is_plain() {
                self.each_in(&block, |_, values| {
                    documents += 1;
                    match values {
                        [value] => picked.push(*value),
                        values => visit(ValueRun::Document(values)),
                    }
                })?;
                visit(ValueRun::Singles(&picked));
                continue;
            }
            let BlockMatches { number, entry, which, count } = block;
            documents += count;
            if entry.least == entry.most {
                visit(ValueRun::Same(entry.least, count));
            } else if count == u64::from(entry.documents) {
                visit(ValueRun::Singles(self.unpacked(number)?.values));
            } else {
                match &which {
                    Inside::Docs(docs) => self.column.pick(number, entry, docs, &mut picked)?,
                    Inside::Bits(start, bits) => {
                        let values = self.unpacked(number)?.values;
                        let places = docs_of(*start, &bits[..]).map(|doc| doc.wrapping_sub(entry.first));
                        picked.extend(places.filter_map(|place| values.get(place as usize)));
                    }
                }
                visit(ValueRun::Singles(&picked));
            }
        }
        self.parts = parts.memory();
        self.picked = picked;
        Ok(documents)
    }

    /// Calls `visit` with each match that has a value, and its values, in order.
    #[inline]
    pub(crate) fn each(&mut self, matches: &Matches<'_>, visit: impl FnMut(u32, &[u64])) -> Result<()> {
        self.each_within(matches, |_| true, &(0..=u64::MAX), visit).map(drop)
    }

    /// Does the same for the blocks that `admits` accepts, and may leave out matches whose only value is not
    /// among `wanted`. Returns the number of matches in these blocks that have a value.
    #[inline]
    pub(crate) fn each_within(
        &mut self,
        matches: &Matches<'_>,
        admits: impl Fn(&JumpEntry) -> bool,
        wanted: &RangeInclusive<u64>,
        mut visit: impl FnMut(u32, &[u64]),
    ) -> Result<u64> {
        let mut parts = MatchesByBlock::of(self.column, matches, std::mem::take(&mut self.parts))?;
        let mut present = 0;
        while let Some(block) = parts.next(self.column)? {
            let (number, entry) = (block.number, block.entry);
            match &block.which {
                _ if !admits(entry) => {}
                Inside::Docs(docs) if entry.is_plain() => {
                    let mut picked = std::mem::take(&mut self.picked);
                    picked.clear();
                    self.column.pick(number, entry, docs, &mut picked)?;
                    for (docs, values) in docs.chunks(64).zip(picked.chunks(64)) {
                        visit_word(docs_at(docs), values, u64::MAX, wanted, &mut visit);
                    }
                    self.picked = picked;
                    present += block.count;
                }
                Inside::Bits(start, bits) if entry.is_plain() && entry.first == *start => {
                    let values = self.unpacked(number)?.values.chunks(64);
                    for ((values, &word), first) in values.zip(bits.iter()).zip((*start..).step_by(64)) {
                        if word != 0 {
                            visit_word(|bit| first + bit, values, word, wanted, &mut visit);
                        }
                    }
                    present += block.count;
                }
                _ => self.each_in(&block, |doc, values| {
                    present += 1;
                    visit(doc, values);
                })?,
            }
        }
        self.parts = parts.memory();
        Ok(present)
    }

    /// Visits the matches in a block of any form.
    fn each_in(&mut self, block: &BlockMatches<'_, '_>, mut visit: impl FnMut(u32, &[u64])) -> Result<()> {
        let BlockMatches { number, entry, ref which, count } = *block;
        let docs = match which {
            Inside::Bits(start, bits) => {
                visit_bits(&self.unpacked(number)?, *start, bits, visit);
                return Ok(());
            }
            Inside::Docs(docs) => *docs,
        };
        if self.held == Some(number) || count * LOOK_UP >= u64::from(entry.values) {
            visit_docs(&self.unpacked(number)?, docs, visit);
            return Ok(());
        }
        let (block, mut values) = (self.column.block(number)?, std::mem::take(&mut self.values));
        for &doc in docs {
            values.clear();
            block.get(doc, &mut values).map_err(|_| self.column.damaged(number))?;
            if !values.is_empty() {
                visit(doc, &values);
            }
        }
        self.values = values;
        Ok(())
    }

    fn unpacked(&mut self, number: u32) -> Result<Values<'_>> {
        if self.held != Some(number) {
            self.held = None;
            self.scan.read(self.column, number)?;
            self.held = Some(number);
        }
        Ok(self.scan.last())
    }
}

/// The blocks of a window that have values.
struct WindowBlocks {
    next: u32,
    end: u32,
}

impl WindowBlocks {
    /// The blocks of the window that begins with `start`.
    fn of(column: &Column, start: u32) -> Result<Self> {
        let end = start.saturating_add(WINDOW).min(column.documents());
        let next = if start < end { column.block_of(start)? } else { column.blocks() };
        Ok(WindowBlocks { next, end })
    }

    /// The next block.
    fn next(&mut self, column: &Column) -> Result<Option<(u32, JumpEntry)>> {
        while self.next < column.blocks() {
            let number = self.next;
            let entry = column.entry(number)?;
            if entry.first >= self.end {
                break;
            }
            self.next += 1;
            if entry.present > 0 {
                return Ok(Some((number, entry)));
            }
        }
        Ok(None)
    }
}

/// The matches in one block.
struct BlockMatches<'p, 'm> {
    number: u32,
    entry: &'p JumpEntry,
    which: Inside<'m>,
    /// The number of matches.
    count: u64,
}

/// The matches of a block.
enum Inside<'m> {
    Docs(&'m [u32]),
    /// A bit for each document from this one on.
    Bits(u32, Box<MatchBits>),
}

/// Matches by block, without the blocks that have no values.
struct MatchesByBlock<'m> {
    rest: Rest<'m>,
    /// Blocks that were found, and how many of them were returned.
    found: Vec<FoundBlock>,
    handed: usize,
}

/// Matches in blocks that were not returned yet.
enum Rest<'m> {
    Docs {
        docs: &'m [u32],
        /// How many of them are in blocks that were returned, and in blocks that were found.
        handed: usize,
        found: usize,
    },
    Bits(WindowBlocks, u32, &'m MatchBits),
}

impl<'m> MatchesByBlock<'m> {
    fn of(column: &Column, matches: &Matches<'m>, mut memory: Vec<FoundBlock>) -> Result<Self> {
        memory.clear();
        let rest = match matches.which {
            Which::Few(docs) => {
                prefetch_entries(column, docs);
                Rest::Docs { docs, handed: 0, found: 0 }
            }
            Which::Many(start, bits) => Rest::Bits(WindowBlocks::of(column, start)?, start, bits),
        };
        Ok(MatchesByBlock { rest, found: memory, handed: 0 })
    }

    /// The buffer, for reuse.
    fn memory(self) -> Vec<FoundBlock> {
        self.found
    }

    #[inline]
    fn next(&mut self, column: &Column) -> Result<Option<BlockMatches<'_, 'm>>> {
        loop {
            if self.handed == self.found.len() {
                self.handed = 0;
                self.found.clear();
                match &mut self.rest {
                    Rest::Docs { docs, found, .. } => find_blocks(column, docs, found, &mut self.found)?,
                    Rest::Bits(blocks, ..) => {
                        let next = blocks.next(column)?;
                        self.found.extend(next.map(|(number, entry)| FoundBlock { number, entry, end: 0 }));
                    }
                }
            }
            let at = self.handed;
            let Some(FoundBlock { number, entry, end }) = self.found.get(at) else { return Ok(None) };
            self.handed += 1;
            let (which, count) = match &mut self.rest {
                Rest::Docs { docs, handed, .. } => {
                    let inside = docs.get(std::mem::replace(handed, *end)..*end).unwrap_or_default();
                    (Inside::Docs(inside), inside.len() as u64)
                }
                Rest::Bits(_, start, bits) => {
                    let inside = bits_in(bits, *start, entry);
                    let count = count_ones(&inside);
                    (Inside::Bits(*start, Box::new(inside)), count)
                }
            };
            if entry.present > 0 && count > 0 {
                // Looked up again, since the entry is borrowed for as long as the returned block.
                let Some(FoundBlock { entry, .. }) = self.found.get(at) else { return Ok(None) };
                return Ok(Some(BlockMatches { number: *number, entry, which, count }));
            }
        }
    }
}

/// The bits of the documents of a block.
///
/// Most blocks are exactly a window. Making masks for its words would take longer than looking up some of its
/// documents.
#[inline]
fn bits_in(bits: &MatchBits, start: u32, entry: &JumpEntry) -> MatchBits {
    let mut inside = *bits;
    let (first, end) = (entry.first, entry.first.saturating_add(entry.documents));
    if first <= start && end >= start.saturating_add(WINDOW) {
        return inside;
    }
    for (word, from) in inside.iter_mut().zip((u64::from(start)..).step_by(64)) {
        let low = u64::from(first).saturating_sub(from).min(64);
        let high = u64::from(end).saturating_sub(from).min(64);
        let below = |bit: u64| if bit == 64 { u64::MAX } else { (1 << bit) - 1 };
        *word &= below(high) & !below(low);
    }
    inside
}

/// The document of each bit of a word.
fn docs_at(docs: &[u32]) -> impl Fn(u32) -> u32 {
    |bit| docs.get(bit as usize).copied().unwrap_or(u32::MAX)
}

/// Calls `visit` with the documents of up to 64 values whose bit is set, if the value is wanted.
#[inline]
fn visit_word(
    doc_of: impl Fn(u32) -> u32,
    values: &[u64],
    word: u64,
    wanted: &RangeInclusive<u64>,
    visit: &mut impl FnMut(u32, &[u64]),
) {
    let mut left = word & within(values, *wanted.start(), wanted.end() - wanted.start());
    while left != 0 {
        let bit = left.trailing_zeros();
        left &= left - 1;
        if let Some(value) = values.get(bit as usize) {
            visit(doc_of(bit), std::slice::from_ref(value));
        }
    }
}

/// The values of the document with this rank among the documents of a block that have values.
#[inline]
fn of_rank<'v>(block: &Values<'v>, rank: usize) -> Option<&'v [u64]> {
    let Some(ends) = block.ends else { return block.values.get(rank..rank + 1) };
    let before = rank.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    block.values.get(before as usize..ends.get(rank).copied().unwrap_or(0) as usize)
}

/// Calls `visit` with the documents whose bit is set and that have values, and these values.
#[inline]
fn visit_bits(block: &Values<'_>, start: u32, bits: &MatchBits, mut visit: impl FnMut(u32, &[u64])) {
    let first = block.first;
    let Some(present) = block.present else {
        for doc in docs_of(start, bits) {
            if let Some(values) = doc.checked_sub(first).and_then(|rank| of_rank(block, rank as usize)) {
                visit(doc, values);
            }
        }
        return;
    };
    let rank = present.partition_point(|&offset| first + u32::from(offset) < start);
    let docs = present.get(rank..).unwrap_or_default().iter().map(|&offset| first + u32::from(offset));
    for (rank, doc) in (rank..).zip(docs) {
        let Some(word) = bits.get(((doc - start) / 64) as usize) else { break };
        if word >> (doc % 64) & 1 == 1
            && let Some(values) = of_rank(block, rank)
        {
            visit(doc, values);
        }
    }
}

/// Calls `visit` with the documents of `docs` that have values, and these values.
fn visit_docs(block: &Values<'_>, docs: &[u32], mut visit: impl FnMut(u32, &[u64])) {
    let mut rank = 0;
    for &doc in docs {
        let Some(place) = doc.checked_sub(block.first) else { continue };
        if let Some(present) = block.present {
            let rest = present.get(rank..).unwrap_or_default();
            rank += rest.partition_point(|&offset| u32::from(offset) < place);
            if present.get(rank).is_none_or(|&offset| u32::from(offset) != place) {
                continue;
            }
        } else {
            rank = place as usize;
        }
        if let Some(values) = of_rank(block, rank) {
            visit(doc, values);
        }
    }
}
