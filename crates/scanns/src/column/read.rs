//! Finds documents in a column.

use std::ops::Range;
use std::sync::Arc;

use super::dictionary::DictionaryReader;
use super::entry::{BLOCKS_OF_RANGE, BlockRange, ENTRY, HEADER, Header, JUMP, JumpEntry, RANGE};
use super::kind::ColumnKind;
use super::recent::RecentStrings;
use super::sections::{BLOCKS, INDEX, NAMES, NAMES_INDEX, TERMS, TERMS_INDEX};
use crate::codec::{ByteReader, Form, Head, Numbers, Presence, TAIL, place_in_packed};
use crate::error::{Error, Result};
use crate::store::Section;

/// Bytes before the presence of a block.
const FRONT: usize = 8;

/// Opening a block takes as long as reading this many of its values directly.
const FEW: usize = 6;

/// Bytes before the numbers of the ends.
pub(super) const ENDS: usize = 28;

/// An open column: its blocks and the index over them.
#[derive(Clone, Debug)]
pub struct Column {
    kind: ColumnKind,
    pub(super) header: Header,
    blocks: Arc<Section>,
    /// Blocks that later replaced some of `blocks`. Their offsets begin at the end of `blocks`.
    newer: Option<Arc<Section>>,
    pub(super) index: Arc<Section>,
    /// Terms of keywords, or directories of paths.
    terms: Option<Arc<DictionaryReader>>,
    /// Names of paths.
    names: Option<Arc<Column>>,
    /// Blocks of strings that are kept open.
    pub(super) recent: Arc<RecentStrings>,
}

/// An open block, whose checksums are verified.
#[derive(Clone, Copy, Debug)]
pub struct ColumnBlock<'a> {
    /// The index entry of the block.
    pub entry: JumpEntry,
    /// The documents that have values.
    pub presence: Presence<'a>,
    /// For each document with values, the number of values up to its last, if some document has several.
    ends: Option<Numbers<'a>>,
    /// The values; empty in a column of strings.
    pub numbers: Numbers<'a>,
    /// The encoded strings; empty in a column of numbers.
    text: &'a [u8],
}

impl Column {
    /// Opens a column of a segment with `documents` documents; `section` returns the sections of its field.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the header of the index is damaged; entries are verified when they are used.
    /// Errors from `section`.
    pub fn open(section: impl Fn(u32) -> Result<Arc<Section>>, documents: u32) -> Result<Self> {
        let mut column = Self::open_plain(section(BLOCKS)?, section(INDEX)?, documents)?;
        if column.kind.has_terms() {
            let terms = DictionaryReader::open(section(TERMS)?, section(TERMS_INDEX)?)?;
            column.terms = Some(Arc::new(terms));
        }
        if column.kind == ColumnKind::Path {
            let names = Self::open_plain(section(NAMES)?, section(NAMES_INDEX)?, documents)?;
            if !names.kind.is_strings() {
                return Err(names.index.corrupt("the names of a column of paths are not strings"));
            }
            column.names = Some(Arc::new(names));
        }
        Ok(column)
    }

    /// Opens a column without its dictionary and names.
    fn open_plain(blocks: Arc<Section>, index: Arc<Section>, documents: u32) -> Result<Self> {
        let damaged = || index.corrupt("the index of a column cannot be read");
        let header = Header::read(index.get(0..HEADER.min(index.len()))?).ok_or_else(damaged)?;
        let kind = ColumnKind::from_code(header.kind).ok_or_else(damaged)?;
        if header.documents != documents {
            let found = header.documents;
            return Err(index.corrupt(format!("a column of {found} documents in a segment of {documents}")));
        }
        if header.places().end != index.len() || (header.blocks == 0) != (documents == 0) {
            return Err(damaged());
        }
        let recent = Arc::default();
        Ok(Column { kind, header, blocks, newer: None, index, terms: None, names: None, recent })
    }

    /// Returns this column with other values in some blocks. `index` leads to blocks of this column as it was
    /// written and, at offsets after them, to blocks in `newer`.
    ///
    /// # Errors
    /// [`Error::Corrupt`] as in [`Column::open`], or if the values are of another kind.
    pub fn with_newer(&self, newer: Arc<Section>, index: Arc<Section>) -> Result<Self> {
        let plain = Self::open_plain(self.blocks.clone(), index, self.header.documents)?;
        if plain.kind != self.kind || !plain.kind.is_number() {
            return Err(plain.index.corrupt("the changed values of a column have another kind"));
        }
        Ok(Column { newer: Some(newer), ..plain })
    }

    /// Returns the size of the blocks that the column was written with; the offsets of replacing blocks begin
    /// here.
    pub(crate) fn written_bytes(&self) -> u64 {
        self.blocks.len() as u64
    }

    /// Returns true if blocks were replaced after the column was written.
    pub fn has_newer(&self) -> bool {
        self.newer.is_some()
    }

    /// Returns the kind of the values.
    pub fn kind(&self) -> ColumnKind {
        self.kind
    }

    /// Returns the dictionary of keywords, or of the directories of paths.
    pub fn terms(&self) -> Option<&DictionaryReader> {
        self.terms.as_deref()
    }

    /// Returns the names of paths.
    pub fn names(&self) -> Option<&Column> {
        self.names.as_deref()
    }

    /// Returns the number of documents of the segment.
    pub fn documents(&self) -> u32 {
        self.header.documents
    }

    /// Returns the number of documents that have a value.
    pub fn present(&self) -> u64 {
        self.header.present
    }

    /// Returns the number of values.
    pub fn values(&self) -> u64 {
        self.header.values
    }

    /// Returns the least and the greatest value; `None` without values.
    pub fn bounds(&self) -> Option<(u64, u64)> {
        (self.header.values > 0).then_some((self.header.least, self.header.most))
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> u32 {
        self.header.blocks
    }

    /// Returns the size in bytes, including terms and names.
    pub fn bytes(&self) -> u64 {
        let terms = self.terms().map_or(0, DictionaryReader::bytes);
        let names = self.names().map_or(0, Column::bytes);
        let newer = self.newer.as_ref().map_or(0, |newer| newer.len());
        (self.blocks.len() + newer + self.index.len()) as u64 + terms + names
    }

    /// Returns the number of ranges of blocks.
    pub fn ranges(&self) -> u32 {
        self.header.blocks.div_ceil(u32::try_from(BLOCKS_OF_RANGE).unwrap_or(1))
    }

    /// Returns the summary of a range, and its blocks.
    pub fn range(&self, number: u32) -> Result<(BlockRange, Range<u32>)> {
        let at = self.header.places().ranges + RANGE * number as usize;
        let range = BlockRange::read(self.index.get(at..at + RANGE)?).ok_or_else(|| self.damaged(number))?;
        let first = number * u32::try_from(BLOCKS_OF_RANGE).unwrap_or(1);
        let end = (first + u32::try_from(BLOCKS_OF_RANGE).unwrap_or(1)).min(self.header.blocks);
        Ok((range, first..end))
    }

    /// Returns the index entry of a block.
    #[inline]
    pub fn entry(&self, block: u32) -> Result<JumpEntry> {
        let at = HEADER + ENTRY * block as usize;
        if block < self.header.blocks
            && let Some(entry) = JumpEntry::read(self.index.get(at..at + ENTRY)?)
            && self.documents().checked_sub(entry.documents).is_some_and(|most| entry.first <= most)
            && entry.strings == self.kind.is_strings()
        {
            return Ok(entry);
        }
        Err(self.damaged(block))
    }

    /// Returns the number of the block of a document.
    #[inline]
    pub fn block_of(&self, doc: u32) -> Result<u32> {
        let guess = doc / JUMP;
        if self.header.uniform {
            return Ok(guess);
        }
        let jumps = self.header.places().jumps;
        let jump = |place: usize| -> Result<u32> {
            let bytes = self.index.get(jumps + 4 * place..jumps + 4 * place + 4)?;
            ByteReader::new(bytes).u32().ok_or_else(|| self.damaged(guess))
        };
        let mut first = jump(guess as usize)?;
        let mut end = self.header.blocks;
        if guess + 1 < self.documents().div_ceil(JUMP) {
            end = jump(guess as usize + 1)?.saturating_add(1).min(end);
        }
        // Few blocks begin within so few documents.
        while end.saturating_sub(first) > 1 {
            let middle = first + (end - first) / 2;
            if self.entry(middle)?.first <= doc { first = middle } else { end = middle }
        }
        Ok(first)
    }

    /// Opens a block.
    #[inline]
    pub fn block(&self, number: u32) -> Result<ColumnBlock<'_>> {
        let entry = self.entry(number)?;
        let bytes = self.block_bytes(number, &entry)?;
        ColumnBlock::read(bytes, entry).ok_or_else(|| self.damaged(number))
    }

    /// The bytes of a block.
    pub(crate) fn block_bytes(&self, number: u32, entry: &JumpEntry) -> Result<&[u8]> {
        let Ok(start) = usize::try_from(entry.offset) else { return Err(self.damaged(number)) };
        let (section, start) = self.section_of(start);
        match start.checked_add(entry.length as usize) {
            Some(end) => section.get(start..end),
            None => Err(self.damaged(number)),
        }
    }

    /// The section of a block, and its offset there.
    #[inline]
    fn section_of(&self, start: usize) -> (&Section, usize) {
        match (&self.newer, start.checked_sub(self.blocks.len())) {
            (Some(newer), Some(start)) => (newer, start),
            _ => (&self.blocks, start),
        }
    }

    /// Returns the least value of a document; `None` without values.
    #[inline]
    pub fn first(&self, doc: u32) -> Result<Option<u64>> {
        let number = self.block_of(doc)?;
        let entry = self.entry(number)?;
        if entry.is_plain() {
            let place = doc.wrapping_sub(entry.first);
            match entry.head.form {
                Form::Constant if place < entry.documents => return Ok(Some(entry.head.base)),
                Form::Scaled if place < entry.documents => {
                    return self.plain(number, &entry, place as usize).map(Some);
                }
                _ => {}
            }
        }
        let bytes = self.block_bytes(number, &entry)?;
        let block = ColumnBlock::read(bytes, entry).ok_or_else(|| self.damaged(number))?;
        block.first(doc).map_err(|Damaged| self.damaged(number))
    }

    /// A number of a block that contains nothing but packed numbers; only the word with the number is read.
    #[inline]
    fn plain(&self, number: u32, entry: &JumpEntry, place: usize) -> Result<u64> {
        let Head { width, base, step, .. } = entry.head;
        let (at, read) = place_in_packed(place, width);
        let (at, length) = (FRONT + at, entry.length as usize);
        if (width <= 56 || width == 64)
            && at + TAIL <= length
            && let Ok(start) = usize::try_from(entry.offset)
        {
            let (section, start) = self.section_of(start);
            let at = start.saturating_add(at);
            if let Some(word) = section.get(at..at.saturating_add(TAIL))?.first_chunk() {
                return Ok(base.wrapping_add(read(*word).wrapping_mul(step)));
            }
        }
        Err(self.damaged(number))
    }

    /// Prefetches the index entry of the block of a document, if it can be found by a division.
    #[inline]
    pub(crate) fn prefetch_entry(&self, doc: u32) {
        if self.header.uniform {
            self.index.prefetch(HEADER + ENTRY * (doc / JUMP) as usize);
        }
    }

    /// Prefetches the value of a document, if its block is plain.
    #[inline]
    pub(crate) fn prefetch_value(&self, entry: &JumpEntry, doc: u32) {
        if let (true, Ok(start)) = (entry.is_plain(), usize::try_from(entry.offset)) {
            let (section, start) = self.section_of(start);
            let place = doc.wrapping_sub(entry.first) as usize;
            let (at, _) = place_in_packed(place, entry.head.width);
            section.prefetch(start.saturating_add(FRONT).saturating_add(at));
        }
    }

    /// Appends the values of `docs`, which ascend, in a block that [is plain](JumpEntry::is_plain).
    pub(crate) fn pick(
        &self,
        number: u32,
        entry: &JumpEntry,
        docs: &[u32],
        out: &mut Vec<u64>,
    ) -> Result<()> {
        if entry.head.form == Form::Scaled && docs.len() <= FEW {
            for &doc in docs {
                out.push(self.plain(number, entry, doc.wrapping_sub(entry.first) as usize)?);
            }
            return Ok(());
        }
        let block = ColumnBlock::read(self.block_bytes(number, entry)?, *entry);
        let picked = block.and_then(|block| block.numbers.pick(entry.first, docs, out));
        picked.ok_or_else(|| self.damaged(number))
    }

    /// Appends the values of a document, ascending.
    pub fn get(&self, doc: u32, out: &mut Vec<u64>) -> Result<()> {
        let number = self.block_of(doc)?;
        self.block(number)?.get(doc, out).map_err(|Damaged| self.damaged(number))
    }

    /// Reads the length and the number of documents from the front of the block at `offset`.
    pub fn front(&self, offset: u64) -> Result<(u32, u32)> {
        let (section, start) = self.section_of(usize::try_from(offset).unwrap_or(usize::MAX));
        let mut front = ByteReader::new(section.get(start..start.saturating_add(FRONT))?);
        let found = front.u32().zip(front.u32()).filter(|(length, documents)| *length > 0 && *documents > 0);
        found.ok_or_else(|| section.corrupt(format!("no block of a column begins at byte {offset}")))
    }

    /// Returns the error for a block that cannot be decoded.
    #[cold]
    pub fn damaged(&self, block: u32) -> Error {
        self.blocks.corrupt(format!("block {block} of a column cannot be read"))
    }
}

/// Reads values of documents that are requested in about ascending order. The current block is kept open.
#[derive(Clone, Debug)]
pub struct ColumnCursor<'a> {
    column: &'a Column,
    block: Option<(u32, ColumnBlock<'a>)>,
}

impl<'a> ColumnCursor<'a> {
    /// Creates a cursor without a current block.
    pub fn new(column: &'a Column) -> Self {
        ColumnCursor { column, block: None }
    }

    /// Returns the block of a document.
    #[inline]
    pub fn block_of(&mut self, doc: u32) -> Result<&ColumnBlock<'a>> {
        let is_there = |block: &ColumnBlock<'_>| doc.wrapping_sub(block.entry.first) < block.entry.documents;
        if !self.block.as_ref().is_some_and(|(_, block)| is_there(block)) {
            let number = self.column.block_of(doc)?;
            self.block = Some((number, self.column.block(number)?));
        }
        match &self.block {
            Some((_, block)) => Ok(block),
            None => Err(self.column.damaged(0)),
        }
    }

    /// Returns the least value of a document; `None` without values.
    #[inline]
    pub fn first(&mut self, doc: u32) -> Result<Option<u64>> {
        let found = self.block_of(doc)?.first(doc);
        found.map_err(|Damaged| self.damaged())
    }

    /// Appends the values of a document, ascending.
    #[inline]
    pub fn get(&mut self, doc: u32, out: &mut Vec<u64>) -> Result<()> {
        let found = self.block_of(doc)?.get(doc, out);
        found.map_err(|Damaged| self.damaged())
    }

    #[cold]
    fn damaged(&self) -> Error {
        self.column.damaged(self.block.as_ref().map_or(0, |(number, _)| *number))
    }
}

/// The error for a block whose bytes contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

impl<'a> ColumnBlock<'a> {
    /// Opens a block from its bytes and its index entry.
    #[inline]
    fn read(bytes: &'a [u8], entry: JumpEntry) -> Option<Self> {
        // The front is not read: it would cost a wait for memory per value.
        let mut at = FRONT;
        let (documents, present) = (entry.documents as usize, entry.present as usize);
        let (presence, len) = Presence::read(bytes.get(at..)?, entry.presence, documents, present)?;
        at += len;
        let mut ends = None;
        if entry.several {
            let bytes = bytes.get(at..)?;
            let (numbers, len) = read_ends(bytes, present)?;
            ends = Some(numbers);
            at += len;
        }
        let rest = bytes.get(at..)?;
        if entry.strings {
            let numbers = Numbers::read(&[], Head::constant(0), 0)?;
            return Some(ColumnBlock { entry, presence, ends, numbers, text: rest });
        }
        let numbers = Numbers::read(rest, entry.head, entry.values as usize)?;
        Some(ColumnBlock { entry, presence, ends, numbers, text: &[] })
    }

    /// The documents of the block.
    #[inline]
    pub fn documents(&self) -> Range<u32> {
        self.entry.first..self.entry.first + self.entry.documents
    }

    /// The range of values of the document that is number `rank` among those that have values.
    #[inline]
    pub fn values_of(&self, rank: usize) -> std::result::Result<Range<usize>, Damaged> {
        let Some(ends) = &self.ends else { return Ok(rank..rank + 1) };
        let end = |rank: usize| ends.get(rank).and_then(|end| usize::try_from(end).ok()).ok_or(Damaged);
        let start = if rank == 0 { 0 } else { end(rank - 1)? };
        let end = end(rank)?;
        if start < end && end <= self.entry.values as usize { Ok(start..end) } else { Err(Damaged) }
    }

    /// The encoded strings.
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// Returns true if some document has more than one value.
    pub fn has_several(&self) -> bool {
        self.ends.is_some()
    }

    /// The least value of a document of the block.
    #[inline]
    pub fn first(&self, doc: u32) -> std::result::Result<Option<u64>, Damaged> {
        let Some(rank) = self.rank(doc) else { return Ok(None) };
        let place = self.values_of(rank)?.start;
        self.numbers.get(place).map(Some).ok_or(Damaged)
    }

    /// Appends the values of a document of the block.
    pub fn get(&self, doc: u32, out: &mut Vec<u64>) -> std::result::Result<(), Damaged> {
        let Some(rank) = self.rank(doc) else { return Ok(()) };
        for place in self.values_of(rank)? {
            out.push(self.numbers.get(place).ok_or(Damaged)?);
        }
        Ok(())
    }

    /// Number of documents with values before `doc`; `None` if `doc` has none.
    #[inline]
    pub fn rank(&self, doc: u32) -> Option<usize> {
        self.presence.rank(doc.checked_sub(self.entry.first)? as usize)
    }
}

/// Reads the ends: for each document with values, the number of values up to its last. Returns them and their
/// length.
fn read_ends(bytes: &[u8], present: usize) -> Option<(Numbers<'_>, usize)> {
    let mut front = ByteReader::new(bytes);
    let len = front.u32()? as usize;
    let [form, width, 0, 0] = *front.take(4)?.first_chunk()? else { return None };
    let extra = front.u32()?;
    let head = Head { form: Form::from_code(form)?, width, base: front.u64()?, step: front.u64()?, extra };
    let numbers = Numbers::read(bytes.get(ENDS..len)?, head, present)?;
    Some((numbers, len))
}
