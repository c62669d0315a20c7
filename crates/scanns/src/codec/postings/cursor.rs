//! Reads lists: document by document, block by block, or by jumping to a document.
//!
//! The bytes are not trusted: widths, places and documents are checked when they are used, and documents only
//! ever increase and stay below the given bound. A cursor over damaged bytes ends early and reports the
//! damage.

#![expect(
    clippy::indexing_slicing,
    reason = "`at` and `len` are at most BLOCK, which decoding sees to, and no array is shorter"
)]

use super::impact::read_impacts;
use super::table::{BlockEntry, Table};
use super::{BLOCK, Impact, PAIRS, docs};
use crate::codec::bitpack::unpack;
use crate::codec::varint::ByteReader;

/// The document of a cursor that has passed its last posting.
pub const NO_MORE: u32 = u32::MAX;

/// Number of postings after the current one that [`ListCursor::seek`] checks before it searches.
const NEAR: usize = 8;

/// The place of a posting among all occurrences of its term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PostingPlace {
    /// The block of the posting.
    pub block: usize,
    /// Number of occurrences in the earlier postings of the block.
    pub before: u64,
}

/// The source of the postings.
enum Source<'a> {
    /// A list with at least one full block.
    Blocks(Table<'a>),
    /// A list that fits one block and was decoded when the cursor was made.
    Short,
    /// Postings in memory.
    Decoded { docs: &'a [u32], tfs: &'a [u32] },
}

/// A position in the list of one term, with the block around it decoded.
pub struct ListCursor<'a> {
    source: Source<'a>,
    doc_freq: u32,
    /// An upper bound: all documents are below this number.
    max_doc: u32,
    /// The last document of the list.
    last: u32,
    doc: u32,
    at: usize,
    block: usize,
    /// Number of postings in the decoded block; the documents after them, up to a whole block, are
    /// [`NO_MORE`].
    len: usize,
    tfs_ready: bool,
    corrupt: bool,
    /// Apart from the rest, so that cursors are cheap to move; each is small enough for the cache of the
    /// allocator.
    docs: Box<docs::Room>,
    tfs: Box<[u32; BLOCK]>,
}

impl<'a> ListCursor<'a> {
    /// Opens the list in `bytes` and moves to its first posting. Returns `None` if the bytes cannot be a list
    /// of `doc_freq` documents below `max_doc`, which is at most 2³¹.
    pub fn new(bytes: &'a [u8], doc_freq: u32, max_doc: u32) -> Option<Self> {
        if doc_freq == 0 || doc_freq > max_doc || max_doc > 1 << 31 {
            return None;
        }
        let mut cursor = Self::empty(Source::Short, doc_freq, max_doc);
        if (doc_freq as usize) < BLOCK {
            cursor.decode_tail(bytes, None, doc_freq as usize)?;
            cursor.last = cursor.docs[cursor.len - 1];
            cursor.doc = cursor.docs[0];
            return Some(cursor);
        }
        let table = Table::of(bytes)?;
        cursor.last = BlockEntry::read(table.entries.last()?).last;
        cursor.source = Source::Blocks(table);
        cursor.load_block(0);
        (cursor.last < max_doc && !cursor.corrupt).then_some(cursor)
    }

    /// Creates a cursor at the first of some postings in memory. `docs` must ascend strictly and have the
    /// length of `tfs`.
    pub fn from_decoded(docs: &'a [u32], tfs: &'a [u32]) -> Self {
        let len = docs.len().min(tfs.len());
        let source = Source::Decoded { docs: &docs[..len], tfs: &tfs[..len] };
        let mut cursor = Self::empty(source, u32::try_from(len).unwrap_or(u32::MAX), NO_MORE);
        cursor.last = docs[..len].last().copied().unwrap_or(NO_MORE);
        cursor.load_block(0);
        cursor
    }

    /// Creates a cursor at the only posting of a term that occurs in one document.
    pub fn single(doc: u32, tf: u32) -> Self {
        let mut cursor = Self::empty(Source::Short, 1, NO_MORE);
        (cursor.docs[0], cursor.tfs[0]) = (doc, tf);
        (cursor.doc, cursor.last, cursor.len) = (doc, doc, 1);
        cursor
    }

    fn empty(source: Source<'a>, doc_freq: u32, max_doc: u32) -> Self {
        ListCursor {
            source,
            doc_freq,
            max_doc,
            last: NO_MORE,
            doc: NO_MORE,
            at: 0,
            block: 0,
            len: 0,
            tfs_ready: true,
            corrupt: false,
            docs: Box::new([NO_MORE; _]),
            tfs: Box::new([0; BLOCK]),
        }
    }

    /// Returns the number of postings in the list.
    #[inline]
    pub fn doc_freq(&self) -> u32 {
        self.doc_freq
    }

    /// Returns the last document of the list.
    #[inline]
    pub fn last_doc(&self) -> u32 {
        self.last
    }

    /// Returns the current document, [`NO_MORE`] at the end.
    #[inline]
    pub fn doc(&self) -> u32 {
        self.doc
    }

    /// Returns the frequency in the current document.
    #[inline]
    pub fn tf(&mut self) -> u32 {
        if !self.tfs_ready {
            self.decode_tfs();
        }
        self.tfs[self.at % BLOCK]
    }

    /// Returns true if the bytes are damaged; the cursor is then at its end.
    #[inline]
    pub fn corrupt(&self) -> bool {
        self.corrupt
    }

    /// Moves to the next posting and returns its document.
    #[inline]
    pub fn step(&mut self) -> u32 {
        self.consume(1)
    }

    /// Moves to the first document that is not below `target`; stays if the current document is not below it.
    #[inline]
    pub fn advance(&mut self, target: u32) -> u32 {
        if target <= self.doc {
            return self.doc;
        }
        if target > self.block_end() {
            let block = self.find_block(self.block + 1, target);
            self.load_block(block);
            if target <= self.doc {
                return self.doc;
            }
        }
        self.seek_in_block(target)
    }

    /// Moves to the first document not below `target`, forwards or backwards. No block before `from` may
    /// contain this document.
    #[inline]
    pub fn jump(&mut self, from: usize, target: u32) -> u32 {
        let block = self.find_block(from, target);
        self.load_block(block);
        if target <= self.doc { self.doc } else { self.seek_in_block(target) }
    }

    /// Moves to the first document not below `target`, forwards or backwards. Checks the next postings first.
    #[inline]
    pub fn seek(&mut self, target: u32) -> u32 {
        let last = self.docs[self.len.saturating_sub(1) % BLOCK];
        if self.len == 0 || target < self.docs[0] {
            self.jump(0, target)
        } else if target > last {
            self.jump(self.block + 1, target)
        } else if target <= self.doc {
            if target < self.doc {
                (self.at, self.doc) = (0, self.docs[0]);
            }
            if target == self.doc { self.doc } else { self.seek_in_block(target) }
        } else {
            let near = self.docs[..BLOCK].get(self.at + 1..self.at + 1 + NEAR).unwrap_or_default();
            let below = near.iter().filter(|&&doc| doc < target).count();
            if below < near.len() {
                self.at = (self.at + 1 + below) % BLOCK;
                self.doc = self.docs[self.at];
                return self.doc;
            }
            self.seek_in_block(target)
        }
    }

    /// Returns the last document of the decoded block; [`NO_MORE`] at the end.
    #[inline]
    fn block_end(&self) -> u32 {
        if self.doc == NO_MORE { NO_MORE } else { self.docs[(self.len - 1) % BLOCK] }
    }

    #[inline]
    fn seek_in_block(&mut self, target: u32) -> u32 {
        let mut at = self.at + 1;
        if self.docs[at % BLOCK] < target {
            at = 0;
            let mut half = BLOCK / 2;
            while half > 0 {
                at += if self.docs[(at + half - 1) % BLOCK] < target { half } else { 0 };
                half /= 2;
            }
        }
        self.at = at % BLOCK;
        self.doc = self.docs[self.at];
        self.doc
    }

    /// Returns the documents from the current one to the end of its block; an empty slice at the end of the
    /// list.
    #[inline]
    pub fn rest_of_docs(&self) -> &[u32] {
        self.docs.get(self.at..self.len).unwrap_or_default()
    }

    /// Returns the documents from the current one to the end of its block, and their frequencies.
    #[inline]
    pub fn rest_of_block(&mut self) -> (&[u32], &[u32]) {
        if !self.tfs_ready {
            self.decode_tfs();
        }
        (
            self.docs.get(self.at..self.len).unwrap_or_default(),
            self.tfs.get(self.at..self.len).unwrap_or_default(),
        )
    }

    /// Returns the place of the current posting among all occurrences of the term; meaningless at the end of
    /// the list.
    pub fn place(&mut self) -> PostingPlace {
        if !self.tfs_ready {
            self.decode_tfs();
        }
        let before = self.tfs.get(..self.at.min(self.len)).unwrap_or_default();
        PostingPlace { block: self.block, before: before.iter().map(|&tf| u64::from(tf)).sum() }
    }

    /// Skips `count` postings, at most as many as the block has left, and returns the document after them.
    #[inline]
    pub fn consume(&mut self, count: usize) -> u32 {
        self.at += count;
        if self.at >= self.len {
            self.load_block(self.block + 1);
        } else {
            self.doc = self.docs[self.at % BLOCK];
        }
        self.doc
    }

    /// Returns the number of the decoded block.
    #[inline]
    pub fn block(&self) -> usize {
        self.block
    }

    /// Returns the number of blocks in the list.
    #[inline]
    pub fn blocks(&self) -> usize {
        match &self.source {
            Source::Blocks(table) => table.entries.len(),
            Source::Short => 1,
            Source::Decoded { docs, .. } => docs.len().div_ceil(BLOCK),
        }
    }

    /// Returns the first block from `from` on that may contain a document not below `target`;
    /// [`ListCursor::blocks`] if there is none. Only the table is read.
    #[inline]
    pub fn find_block(&self, from: usize, target: u32) -> usize {
        let (blocks, mut low, mut step) = (self.blocks(), from, 1);
        while low + step <= blocks && self.block_last(low + step - 1) < target {
            low += step;
            step *= 2;
        }
        let mut high = (low + step - 1).min(blocks);
        while low < high {
            let middle = low.midpoint(high);
            if self.block_last(middle) < target { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Returns the table of the list, if it has one.
    pub(super) fn table(&self) -> Option<&Table<'a>> {
        match &self.source {
            Source::Blocks(table) => Some(table),
            _ => None,
        }
    }

    /// Ends the list because it is damaged.
    #[cold]
    pub(super) fn give_up(&mut self) {
        self.corrupt = true;
        self.end();
    }

    /// Returns the last document of a block, [`NO_MORE`] after the last block.
    #[inline]
    pub fn block_last(&self, block: usize) -> u32 {
        match &self.source {
            Source::Blocks(table) => {
                table.entries.get(block).map_or(NO_MORE, |entry| BlockEntry::read(entry).last)
            }
            Source::Short if block == 0 => self.last,
            Source::Short => NO_MORE,
            Source::Decoded { docs, .. } if block >= docs.len().div_ceil(BLOCK) => NO_MORE,
            Source::Decoded { docs, .. } => docs.get(block * BLOCK + BLOCK - 1).copied().unwrap_or(self.last),
        }
    }

    /// Returns impacts that bound the postings of a block; pairs may repeat.
    #[inline]
    pub fn block_impacts(&self, block: usize) -> [Impact; PAIRS] {
        match &self.source {
            Source::Blocks(table) => match table.entries.get(block).and_then(|entry| entry.last_chunk()) {
                Some(impacts) => read_impacts(impacts),
                None => [Impact::UNBOUNDED; PAIRS],
            },
            _ => [Impact::UNBOUNDED; PAIRS],
        }
    }

    /// Returns impacts that bound all postings of the list; unbounded for lists without a table.
    pub fn list_impacts(&self) -> [Impact; PAIRS] {
        match &self.source {
            Source::Blocks(table) => read_impacts(table.whole),
            _ => [Impact::UNBOUNDED; PAIRS],
        }
    }

    /// Decodes a block, before or after the current one, and moves to its first posting. After the last
    /// block, this is the end of the list.
    pub fn load_block(&mut self, block: usize) {
        if block == self.block && self.len > 0 {
            (self.at, self.doc) = (0, self.docs[0]);
            return;
        }
        self.block = block;
        let loaded = match self.source {
            Source::Blocks(table) if block < table.entries.len() => self.decode_block(&table, block),
            Source::Short if block == 0 => {
                self.len = self.doc_freq as usize;
                Some(())
            }
            Source::Decoded { docs, tfs } if block < docs.len().div_ceil(BLOCK) => {
                self.copy_block(docs, tfs, block)
            }
            _ => {
                self.end();
                return;
            }
        };
        if loaded.is_some() {
            (self.at, self.doc) = (0, self.docs[0]);
        } else {
            self.give_up();
        }
    }

    fn end(&mut self) {
        (self.at, self.len, self.doc) = (0, 0, NO_MORE);
        self.tfs_ready = true;
    }

    fn copy_block(&mut self, docs: &[u32], tfs: &[u32], block: usize) -> Option<()> {
        let start = block * BLOCK;
        self.len = BLOCK.min(docs.len() - start);
        self.docs[self.len..].fill(NO_MORE);
        self.docs[..self.len].copy_from_slice(docs.get(start..start + self.len)?);
        self.tfs[..self.len].copy_from_slice(tfs.get(start..start + self.len)?);
        Some(())
    }

    fn decode_block(&mut self, table: &Table<'_>, block: usize) -> Option<()> {
        let entry = BlockEntry::read(table.entries.get(block)?);
        let before = match block.checked_sub(1) {
            Some(previous) => Some(BlockEntry::read(table.entries.get(previous)?).last),
            None => None,
        };
        let bytes = table.bytes.get(entry.start..)?;
        if let Some(count) = entry.loose() {
            self.decode_tail(bytes, before, count)?;
            return (self.docs[count - 1] == entry.last && entry.last <= self.last).then_some(());
        }
        let from = before.unwrap_or(u32::MAX);
        docs::read(bytes, entry.code, from, &mut self.docs)?;
        (self.len, self.tfs_ready) = (BLOCK, false);
        let starts_above = before.is_none_or(|before| before < self.last);
        let ends_right = self.docs[BLOCK - 1] == entry.last && entry.last <= self.last;
        (starts_above && ends_right).then_some(())
    }

    /// Reads `count` postings, fewer than a block, that follow the document `before`.
    fn decode_tail(&mut self, bytes: &[u8], before: Option<u32>, count: usize) -> Option<()> {
        let mut reader = ByteReader::new(bytes);
        let mut next = before.map_or(0, |before| u64::from(before) + 1);
        self.docs[count..].fill(NO_MORE);
        for (doc, tf) in self.docs[..count].iter_mut().zip(&mut *self.tfs) {
            let code = reader.varint()?;
            *tf = if code & 1 == 1 { 1 } else { reader.varint32()? };
            let found = next + (code >> 1);
            if found >= u64::from(self.max_doc) || *tf == 0 {
                return None;
            }
            *doc = u32::try_from(found).ok()?;
            next = found + 1;
        }
        (self.len, self.tfs_ready) = (count, true);
        Some(())
    }

    /// Returns the frequencies of a block, in order, and the number of its postings. The cursor has no
    /// document until it is moved. Documents are only decoded where frequencies are among them.
    pub(super) fn tfs_of(&mut self, block: usize) -> (&[u32; BLOCK], usize) {
        let packed = match &self.source {
            Source::Blocks(table) => table.entries.get(block).map(BlockEntry::read),
            _ => None,
        };
        if packed.is_none_or(|entry| entry.loose().is_some()) {
            self.load_block(block);
            return (&self.tfs, self.len);
        }
        if self.block != block || !self.tfs_ready {
            self.end();
            self.block = block;
            self.decode_tfs();
        }
        (&self.tfs, BLOCK)
    }

    #[inline(never)]
    fn decode_tfs(&mut self) {
        self.tfs_ready = true;
        if self.unpack_tfs().is_none() {
            self.corrupt = true;
            self.tfs.fill(1);
        }
    }

    fn unpack_tfs(&mut self) -> Option<()> {
        let Source::Blocks(table) = self.source else { return None };
        let entry = BlockEntry::read(table.entries.get(self.block)?);
        if entry.tf_width == 0 {
            self.tfs.fill(1);
            return Some(());
        }
        let start = entry.start.checked_add(docs::len(entry.code))?;
        unpack(table.bytes.get(start..)?, entry.tf_width, &mut self.tfs)?;
        self.tfs.iter_mut().for_each(|tf| *tf = tf.saturating_add(1));
        Some(())
    }
}
