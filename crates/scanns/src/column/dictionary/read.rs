//! Finds the term of a number.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::codec::{ByteReader, EndsPlace, SymbolTable};
use crate::error::{Error, Result};
use crate::store::Section;
use crate::sys::prefetch;

use super::block::{BLOCK, DictionaryBlock};
use super::guide::Guide;
use super::limits::{CHAPTER, MAX_TERMS};

/// Bytes of the number of terms at the end of the index.
const COUNT: usize = 8;
/// Cache lines that most blocks fit into.
const LINES: usize = 6;

/// A dictionary, read in place. Tables are decoded when they are first needed, and then cached.
#[derive(Debug)]
pub struct DictionaryReader {
    pub(super) terms: Arc<Section>,
    pub(super) index: Arc<Section>,
    len: u32,
    pub(super) blocks: usize,
    pub(super) guide: Guide,
    /// The place of the ends of the blocks, counted from the end of the guide.
    ends: EndsPlace,
    /// The first and the last term, once a term was looked up.
    outermost: OnceLock<(Vec<u8>, Vec<u8>)>,
    chapters: Vec<OnceLock<Box<Chapter>>>,
}

/// The table of a chapter.
#[derive(Debug)]
pub(super) struct Chapter {
    pub(super) table: SymbolTable,
    /// Its bytes before the first block.
    bytes: usize,
}

/// An open block with its table.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenedBlock<'a> {
    pub(super) block: DictionaryBlock<'a>,
    pub(super) table: &'a SymbolTable,
}

/// A range of the bytes after the guide, as a range of the index.
#[inline]
fn behind(guide: &Guide, range: Range<usize>) -> Range<usize> {
    range.start.saturating_add(guide.len())..range.end.saturating_add(guide.len())
}

impl DictionaryReader {
    /// Opens the section of terms with its index, of which only the end is read.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the size of the index is wrong.
    pub fn open(terms: Arc<Section>, index: Arc<Section>) -> Result<Self> {
        let wrong = || index.corrupt("the index of a dictionary has the wrong size");
        let end = index.len().checked_sub(COUNT).ok_or_else(wrong)?;
        let len = ByteReader::new(index.get(end..index.len())?).u64();
        let len = len.and_then(|len| usize::try_from(len).ok()).filter(|&len| len <= MAX_TERMS);
        let len = len.ok_or_else(wrong)?;
        let blocks = len.div_ceil(BLOCK);
        let guide = Guide::of(blocks);
        let rest = end.checked_sub(guide.len()).ok_or_else(wrong)?;
        let ends =
            EndsPlace::find(blocks, rest, |range| index.get(behind(&guide, range)))?.ok_or_else(wrong)?;
        if ends.len() != rest {
            return Err(wrong());
        }
        let len = u32::try_from(len).map_err(|_| wrong())?;
        let chapters = (0..blocks.div_ceil(CHAPTER)).map(|_| OnceLock::new()).collect();
        let outermost = OnceLock::new();
        let reader = DictionaryReader { terms, index, len, blocks, guide, ends, outermost, chapters };
        let last = reader.blocks.checked_sub(1).map(|last| reader.range(last)).transpose()?;
        if last.map_or(0, |last| last.end) != reader.terms.len() {
            return Err(reader.index.corrupt("the blocks of a dictionary do not end with their section"));
        }
        Ok(reader)
    }

    /// Returns the number of terms.
    #[inline]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> u64 {
        (self.terms.len() + self.index.len()) as u64
    }

    /// Returns true if there is no term.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[cold]
    pub(super) fn damaged(&self, block: usize) -> Error {
        self.terms.corrupt(format!("block {block} of a dictionary cannot be read"))
    }

    #[cold]
    pub(super) fn beyond(&self, ord: u32) -> Error {
        self.terms.corrupt(format!("there is no term {ord} in a dictionary of {} terms", self.len))
    }

    /// The range of a block in its section.
    #[inline]
    fn range(&self, block: usize) -> Result<Range<usize>> {
        let range = self.ends.range(block, |range| self.index.get(behind(&self.guide, range)))?;
        range.ok_or_else(|| {
            self.index.corrupt(format!("the place of block {block} of a dictionary cannot be read"))
        })
    }

    /// The first and the last term; `None` if there are no terms.
    #[inline]
    pub(super) fn outermost(&self) -> Result<Option<&(Vec<u8>, Vec<u8>)>> {
        let Some(last) = self.len.checked_sub(1) else { return Ok(None) };
        if let Some(found) = self.outermost.get() {
            return Ok(Some(found));
        }
        let (mut lowest, mut highest) = (Vec::new(), Vec::new());
        self.term(0, &mut lowest)?;
        self.term(last, &mut highest)?;
        Ok(Some(self.outermost.get_or_init(|| (lowest, highest))))
    }

    /// Opens block `block`.
    #[inline]
    pub(super) fn block(&self, block: usize) -> Result<OpenedBlock<'_>> {
        self.open_block(block, self.bytes_of(block)?)
    }

    /// The bytes of a block, which are prefetched.
    #[inline]
    pub(super) fn bytes_of(&self, block: usize) -> Result<&[u8]> {
        let bytes = self.terms.get(self.range(block)?)?;
        // All lines of a block are needed soon.
        for line in 0..LINES {
            prefetch(bytes.as_ptr().wrapping_add(64 * line));
        }
        Ok(bytes)
    }

    /// Opens block `block` from its bytes.
    #[inline]
    pub(super) fn open_block<'a>(&'a self, block: usize, mut bytes: &'a [u8]) -> Result<OpenedBlock<'a>> {
        let damaged = || self.damaged(block);
        let chapter = self.chapter(block / CHAPTER)?;
        if block.is_multiple_of(CHAPTER) {
            bytes = bytes.get(chapter.bytes..).ok_or_else(damaged)?;
        }
        let before = (block * BLOCK).min(self.len as usize);
        let count = (self.len as usize - before).min(BLOCK);
        Ok(OpenedBlock {
            block: DictionaryBlock::open(bytes, count).ok_or_else(damaged)?,
            table: &chapter.table,
        })
    }

    #[inline]
    fn chapter(&self, chapter: usize) -> Result<&Chapter> {
        let slot = self.chapters.get(chapter).ok_or_else(|| self.damaged(chapter.saturating_mul(CHAPTER)))?;
        match slot.get() {
            Some(found) => Ok(found),
            None => self.decode(chapter, slot),
        }
    }

    #[cold]
    fn decode<'a>(&self, chapter: usize, slot: &'a OnceLock<Box<Chapter>>) -> Result<&'a Chapter> {
        let bytes = self.terms.get(self.range(chapter * CHAPTER)?)?;
        let mut reader = ByteReader::new(bytes);
        let table = SymbolTable::decode(&mut reader).ok_or_else(|| self.damaged(chapter * CHAPTER))?;
        let bytes = bytes.len() - reader.remaining().len();
        Ok(slot.get_or_init(|| Box::new(Chapter { table, bytes })))
    }

    /// Appends term `ord`.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if there is no such term or it cannot be read; nothing is appended then.
    #[inline]
    pub fn term(&self, ord: u32, out: &mut Vec<u8>) -> Result<()> {
        if ord >= self.len {
            return Err(self.beyond(ord));
        }
        let (start, block) = (out.len(), ord as usize / BLOCK);
        let OpenedBlock { block: terms, table } = self.block(block)?;
        if terms.term(ord as usize % BLOCK, table, out).is_none() {
            out.truncate(start);
            return Err(self.damaged(block));
        }
        Ok(())
    }
}
