//! A list as bits, one window of documents at a time, for queries that need the matching documents but not
//! their frequencies.
//!
//! Blocks of bits are combined with the window directly, and only packed blocks are unpacked. The table shows
//! which blocks a window needs.

use std::ops::Range;

use super::table::BlockEntry;
use super::{BLOCK, ListCursor, NO_MORE, docs};
use crate::codec::bits;
use crate::codec::flags::{FLAGS, merge_flags};
use crate::codec::ranks::{RankedBits, Ranks};

/// A list that is read in windows; ascending windows are the fastest.
pub struct WindowedList<'a> {
    cursor: ListCursor<'a>,
    /// The block that was needed last.
    block: usize,
    /// The last block whose bits were verified.
    checked: Option<usize>,
}

/// A block that does not need to be unpacked.
struct Dense<'a> {
    /// The document of the first bit.
    first: u32,
    last: u32,
    /// The bits; `None` if all documents from the first to the last contain the term.
    bits: Option<&'a [u8]>,
}

/// Number of parts of a block whose bits are set in turns. Neighbours are mostly bits of one word, and each
/// write to a word waits for the previous write to it.
const STREAMS: usize = 4;

impl<'a> WindowedList<'a> {
    /// Reads the list of `cursor`, which must not have been moved.
    pub fn new(cursor: ListCursor<'a>) -> Self {
        WindowedList { cursor, block: 0, checked: None }
    }

    /// Returns the number of postings in the list.
    #[inline]
    pub fn doc_freq(&self) -> u32 {
        self.cursor.doc_freq()
    }

    /// Returns the last document of the list.
    #[inline]
    pub fn last_doc(&self) -> u32 {
        self.cursor.last_doc()
    }

    /// Returns true if the bytes are damaged; then no more documents are found.
    #[inline]
    pub fn corrupt(&self) -> bool {
        self.cursor.corrupt()
    }

    /// Returns a lower bound of the next document: the list contains no document from `target` to before it,
    /// but need not contain it. Returns [`NO_MORE`] after the last document.
    pub fn next(&mut self, target: u32) -> u32 {
        self.find(target);
        if self.cursor.corrupt() || self.block >= self.cursor.blocks() {
            return NO_MORE;
        }
        match self.dense(self.block) {
            Some(dense) => target.max(dense.first),
            None => self.cursor.seek(target),
        }
    }

    /// Moves to the block that may contain `target`.
    #[inline]
    fn find(&mut self, target: u32) {
        let is_beyond = self.block > 0 && self.cursor.block_last(self.block - 1) >= target;
        let from = if is_beyond { 0 } else { self.block };
        self.block = self.cursor.find_block(from, target);
    }

    /// Returns true if the list contains `doc`.
    #[inline]
    pub fn contains(&mut self, doc: u32) -> bool {
        self.find(doc);
        if self.cursor.corrupt() {
            return false;
        }
        let Some(dense) = self.dense(self.block) else { return self.cursor.seek(doc) == doc };
        if self.checked != Some(self.block) {
            if !dense.is_whole(self.cursor.last_doc()) {
                self.cursor.give_up();
                return false;
            }
            self.checked = Some(self.block);
        }
        dense.has(doc)
    }

    /// Sets the bits of the documents from `start` on, lowest first, as many as `window` has. Other bits are
    /// unchanged.
    pub fn fill(&mut self, start: u32, window: &mut [u64]) {
        let expected = u64::from(self.doc_freq()) * FLAGS as u64 / u64::from(self.last_doc().max(1));
        if expected >= BLOCK as u64
            && let Ok(whole) = <&mut RankedBits>::try_from(&mut *window)
        {
            self.fill_by_flags(start, whole);
        } else {
            self.fill_with(start, window, |docs, window| set_bits(docs, start, window));
        }
    }

    /// Sets bits of a window with many documents. A byte is set for each, which takes less time than a bit.
    #[expect(clippy::indexing_slicing, reason = "the remainder is below the number of flags")]
    fn fill_by_flags(&mut self, start: u32, window: &mut RankedBits) {
        let mut flags = [0; FLAGS];
        self.fill_with(start, window, |docs, _| {
            docs.iter().for_each(|&doc| flags[doc.wrapping_sub(start) as usize % FLAGS] = 1);
        });
        merge_flags(&flags, window);
    }

    /// Lays dense blocks over the window, and calls `set` with the documents of packed blocks in it.
    #[inline]
    fn fill_with(&mut self, start: u32, window: &mut [u64], mut set: impl FnMut(&[u32], &mut [u64])) {
        let end = (u64::from(start) + 64 * window.len() as u64).min(u64::from(NO_MORE));
        let end = u32::try_from(end).unwrap_or(NO_MORE);
        self.find(start);
        let blocks = self.cursor.blocks();
        while self.block < blocks && !self.cursor.corrupt() {
            match self.dense(self.block) {
                Some(dense) if dense.first >= end => return,
                Some(dense) => {
                    if dense.is_whole(self.cursor.last_doc()) {
                        dense.lay_over(start, window);
                    } else {
                        self.cursor.give_up();
                    }
                }
                None => set(self.unpacked(start..end), window),
            }
            if self.cursor.block_last(self.block) >= end {
                return;
            }
            self.block += 1;
        }
    }

    /// Sets `tfs` to the frequencies in `docs`, which ascend and whose bits are set in `bits`: those of all
    /// documents of the list in the window that begins with `start`. The rank of a document among them shows
    /// which posting of its block it is, so that its block need not be searched.
    #[expect(clippy::indexing_slicing, reason = "the remainder is below the length of a block")]
    pub fn tfs(&mut self, start: u32, bits: &RankedBits, docs: &[u32], mut tfs: &mut [u32]) {
        let (ranks, mut left) = (Ranks::new(bits), docs);
        while let Some(&doc) = left.first() {
            self.find(doc);
            let last = self.cursor.block_last(self.block);
            let count = left.iter().take(BLOCK).take_while(|&&doc| doc <= last).count();
            let (docs, others) = left.split_at(count);
            let Some((found, rest)) = tfs.split_at_mut_checked(count) else { return };
            if count == 0 || self.cursor.corrupt() {
                return;
            }
            let mut numbers = [0; BLOCK];
            ranks.rank_all(start, docs, &mut numbers);
            let moved = self.first_number(start, last, &ranks);
            let (of_block, _) = self.cursor.tfs_of(self.block);
            for (tf, number) in found.iter_mut().zip(numbers) {
                *tf = of_block[number.wrapping_add(moved) as usize % BLOCK];
            }
            (left, tfs) = (others, rest);
        }
    }

    /// The number of a posting of the current block, which ends with `last`, less its rank in the window.
    fn first_number(&mut self, start: u32, last: u32, ranks: &Ranks) -> u32 {
        let first = match self.block.checked_sub(1) {
            Some(before) => self.cursor.block_last(before).saturating_add(1),
            None => 0,
        };
        if first >= start {
            return ranks.rank(first - start).wrapping_neg();
        }
        if ((last - start) as usize) < FLAGS - 1 {
            let (_, len) = self.cursor.tfs_of(self.block);
            return u32::try_from(len).unwrap_or(0).wrapping_sub(ranks.rank(last + 1 - start));
        }
        // The block is on both sides of the window.
        self.cursor.load_block(self.block);
        self.cursor.rest_of_docs().iter().take_while(|&&doc| doc < start).map(|_| 1).sum()
    }

    /// Unpacks the current block, and returns its documents in the span.
    #[inline]
    fn unpacked(&mut self, span: Range<u32>) -> &[u32] {
        self.cursor.load_block(self.block);
        let docs = self.cursor.rest_of_docs();
        // Most blocks are within the window.
        let from = match docs.first() {
            Some(&first) if first < span.start => docs.partition_point(|&doc| doc < span.start),
            _ => 0,
        };
        let docs = docs.get(from..).unwrap_or_default();
        docs.get(..count_below(docs, span.end)).unwrap_or_default()
    }

    /// Returns a block that is stored as bits or has no gaps.
    #[inline]
    fn dense(&self, block: usize) -> Option<Dense<'a>> {
        let table = self.cursor.table()?;
        let entry = BlockEntry::read(table.entries.get(block)?);
        if entry.code != 0 && docs::units(entry.code).is_none() {
            return None;
        }
        let first = match block.checked_sub(1) {
            Some(before) => BlockEntry::read(table.entries.get(before)?).last.saturating_add(1),
            None => 0,
        };
        let bits = match entry.code {
            0 => None,
            code => Some(table.bytes.get(entry.start..)?.get(..docs::len(code))?),
        };
        Some(Dense { first, last: entry.last, bits })
    }
}

/// Sets the bits of documents, which are in the window.
fn set_bits(docs: &[u32], start: u32, window: &mut [u64]) {
    let mut set = |doc: u32| {
        let place = doc - start;
        if let Some(word) = window.get_mut((place / 64) as usize) {
            *word |= 1 << (place % 64);
        }
    };
    let (first, rest) = docs.split_at(docs.len() / STREAMS);
    let (second, rest) = rest.split_at(first.len());
    let (third, rest) = rest.split_at(first.len());
    for (((&first, &second), &third), &fourth) in first.iter().zip(second).zip(third).zip(rest) {
        set(first);
        set(second);
        set(third);
        set(fourth);
    }
    rest.iter().skip(first.len()).for_each(|&doc| set(doc));
}

/// Returns how many of the ascending `docs` are below `end`.
#[inline]
pub fn count_below(docs: &[u32], end: u32) -> usize {
    match docs.last() {
        Some(&last) if last >= end => docs.partition_point(|&doc| doc < end),
        _ => docs.len(),
    }
}

impl Dense<'_> {
    /// Returns true if the block has the right number of documents, and none after its last document or after
    /// the last document of the list.
    #[inline]
    fn is_whole(&self, last_of_list: u32) -> bool {
        let ends_right = match self.bits {
            Some(bits) => docs::ends_at(bits, self.last.wrapping_sub(self.first)),
            None => u64::from(self.last) + 1 == u64::from(self.first) + BLOCK as u64,
        };
        ends_right && self.last <= last_of_list
    }

    /// Returns true if the block contains `doc`.
    #[inline]
    fn has(&self, doc: u32) -> bool {
        let place = doc.wrapping_sub(self.first);
        let is_set =
            |bits: &[u8]| bits.get(place as usize / 8).is_some_and(|byte| byte >> (place % 8) & 1 == 1);
        doc >= self.first && doc <= self.last && self.bits.is_none_or(is_set)
    }

    /// Sets the bits of its documents in a window.
    #[inline]
    fn lay_over(&self, start: u32, window: &mut [u64]) {
        let by = i64::from(self.first) - i64::from(start);
        if let Some(bits) = self.bits {
            bits::lay_over(docs::words_of(bits), by, window);
        } else {
            let end = (u64::from(self.last) + 1).saturating_sub(u64::from(start));
            bits::set_range(by.max(0).cast_unsigned(), end, window);
        }
    }
}
