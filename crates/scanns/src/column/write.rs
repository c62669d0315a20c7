//! Fills the blocks of a column, document by document.

use super::entry::{BLOCKS_OF_RANGE, BlockRange, Header, JUMP, JumpEntry};
use super::kind::ColumnKind;
use super::read::Column;
use crate::codec::{Chooser, Head, MOST_DOCUMENTS, StringEncoder, put_numbers, put_presence};
use crate::error::Result;
use crate::store::EnvelopeWriter;

/// Number of documents with a value at which a block ends.
const FULL: usize = JUMP as usize;

/// Number of values at which a block ends.
const MOST_VALUES: usize = 1 << 16;

/// Bytes of strings at which a block ends.
const MOST_TEXT: usize = 128 << 10;

/// Minimum number of documents of a block that is copied, and of the block before it.
const LEAST_CARRIED: u32 = JUMP / 2;
/// In a column of strings, the alternative minimum number of bytes of both blocks.
const LEAST_TEXT: usize = 32 << 10;

/// An output for blocks, one after the other.
pub trait BlockSink {
    /// Appends the next block.
    fn take(&mut self, block: &[u8]) -> Result<()>;
}

impl BlockSink for EnvelopeWriter {
    fn take(&mut self, block: &[u8]) -> Result<()> {
        self.write(block)
    }
}

impl BlockSink for Vec<u8> {
    fn take(&mut self, block: &[u8]) -> Result<()> {
        self.extend_from_slice(block);
        Ok(())
    }
}

/// Writes the blocks of a column, and holds its index in memory.
#[derive(Debug)]
pub struct ColumnWriter {
    kind: ColumnKind,
    /// The first document of the current block.
    first: u32,
    /// Number of documents in the current block that have ended.
    documents: u32,
    /// The documents with values, as distances from the first document.
    present: Vec<u16>,
    /// For each of them, the number of values up to its last; empty as long as each has one.
    ends: Vec<u64>,
    /// Number of values of documents that have ended.
    ended: usize,
    /// The values, if they are numbers.
    values: Vec<u64>,
    /// The bytes of the values, if they are strings.
    text: Vec<u8>,
    /// The end of each string in `text`.
    text_ends: Vec<usize>,
    entries: Vec<JumpEntry>,
    /// For each block, the sum of all values up to its last, if the column has sums.
    sums: Vec<u128>,
    /// Offset of the current block.
    at: u64,
    block: Vec<u8>,
    chooser: Chooser,
    strings: StringEncoder,
}

impl ColumnWriter {
    /// A writer of a column without documents.
    pub fn new(kind: ColumnKind) -> Self {
        ColumnWriter {
            kind,
            first: 0,
            documents: 0,
            present: Vec::new(),
            ends: Vec::new(),
            ended: 0,
            values: Vec::new(),
            text: Vec::new(),
            text_ends: Vec::new(),
            entries: Vec::new(),
            sums: Vec::new(),
            at: 0,
            block: Vec::new(),
            chooser: Chooser::default(),
            strings: StringEncoder::default(),
        }
    }

    /// A writer of the names of paths, which are read one by one.
    pub fn of_names() -> Self {
        ColumnWriter { strings: StringEncoder::without_frames(), ..Self::new(ColumnKind::Bytes) }
    }

    /// A writer of a column whose blocks follow `written` bytes of other blocks.
    pub fn behind(kind: ColumnKind, written: u64) -> Self {
        ColumnWriter { at: written, ..Self::new(kind) }
    }

    /// Adds a number to the current document.
    #[inline]
    pub fn push(&mut self, order: u64) {
        self.values.push(order);
    }

    /// Adds a string to the current document.
    pub fn push_string(&mut self, string: &[u8]) {
        self.text.extend_from_slice(string);
        self.text_ends.push(self.text.len());
    }

    /// Number of values in the current block.
    fn count(&self) -> usize {
        if self.kind.is_strings() { self.text_ends.len() } else { self.values.len() }
    }

    /// Ends the current document. Its values are all values added since the previous document ended; numbers
    /// are sorted.
    #[inline]
    pub fn end_document(&mut self, out: &mut impl BlockSink) -> Result<()> {
        let (before, count) = (self.ended, self.count());
        if count > before {
            let several = count > before + 1;
            if several {
                self.several_ended(before);
            }
            // A block has fewer than 2¹⁶ documents here.
            self.present.push(u16::try_from(self.documents).unwrap_or(u16::MAX));
            if several || !self.ends.is_empty() {
                self.ends.push(count as u64);
            }
            self.ended = count;
        }
        self.documents += 1;
        if self.is_full() { self.seal(out) } else { Ok(()) }
    }

    /// Sorts the values from `before` on, which are several of one document, and writes down the ends of the
    /// documents before it.
    #[cold]
    fn several_ended(&mut self, before: usize) {
        if self.kind.is_sorted() {
            self.values.get_mut(before..).unwrap_or_default().sort_unstable();
        }
        if self.ends.is_empty() {
            self.ends.extend(1..=before as u64);
        }
    }

    /// Adds documents with at most one number each.
    pub fn extend(
        &mut self,
        numbers: impl Iterator<Item = Option<u64>>,
        out: &mut impl BlockSink,
    ) -> Result<()> {
        for number in numbers {
            self.values.extend(number);
            self.end_document(out)?;
        }
        Ok(())
    }

    /// Returns true if the current block should end. If all documents have values, all blocks have the same
    /// number of documents, so that a block is found by a division.
    fn is_full(&self) -> bool {
        self.present.len() >= FULL
            || self.documents as usize >= MOST_DOCUMENTS
            || self.count() >= MOST_VALUES
            || self.text.len() >= MOST_TEXT
    }

    /// Drops the values of the current document.
    pub fn drop_open(&mut self) {
        let ended = self.ended;
        self.values.truncate(ended);
        self.text_ends.truncate(ended);
        self.text.truncate(self.text_ends.last().copied().unwrap_or(0));
    }

    /// Ends `count` documents without values.
    pub fn skip(&mut self, mut count: u32, out: &mut impl BlockSink) -> Result<()> {
        while count > 0 {
            let room = u32::try_from(MOST_DOCUMENTS).unwrap_or(u32::MAX) - self.documents;
            let now = count.min(room);
            self.documents += now;
            count -= now;
            if self.is_full() {
                self.seal(out)?;
            }
        }
        Ok(())
    }

    /// Number of documents that have ended.
    pub fn documents(&self) -> u32 {
        self.first + self.documents
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        self.text.capacity()
            + self.text_ends.capacity() * 8
            + self.values.capacity() * 8
            + self.ends.capacity() * 8
            + self.present.capacity() * 2
            + self.block.capacity()
            + self.entries.capacity() * size_of::<JumpEntry>()
            + self.sums.capacity() * size_of::<u128>()
    }

    /// Copies a block of another column, unless the current block would become a small block. Returns false
    /// if the block was not copied.
    pub fn carry(&mut self, column: &Column, number: u32, out: &mut impl BlockSink) -> Result<bool> {
        let entry = column.entry(number)?;
        let is_large = |documents: u32, bytes: usize| {
            documents >= LEAST_CARRIED || (self.kind.is_strings() && bytes >= LEAST_TEXT)
        };
        if !is_large(entry.documents, entry.length as usize)
            || (self.documents > 0 && !is_large(self.documents, self.text.len()))
        {
            return Ok(false);
        }
        self.copy(column, number, out)?;
        Ok(true)
    }

    /// Copies a block of another column.
    pub fn copy(&mut self, column: &Column, number: u32, out: &mut impl BlockSink) -> Result<()> {
        self.seal(out)?;
        let entry = column.entry(number)?;
        let block = column.block_bytes(number, &entry)?;
        self.add(JumpEntry { offset: self.at, ..entry }, column.sum_of_block(number)?);
        self.at += block.len() as u64;
        out.take(block)
    }

    /// Adds an index entry for a block of another column that has already been written.
    pub fn keep(&mut self, column: &Column, number: u32, out: &mut impl BlockSink) -> Result<()> {
        self.seal(out)?;
        self.add(column.entry(number)?, column.sum_of_block(number)?);
        Ok(())
    }

    /// Adds an index entry for the next documents, whose values have the given sum.
    fn add(&mut self, entry: JumpEntry, sum: u128) {
        self.entries.push(JumpEntry { first: self.first, ..entry });
        self.first += entry.documents;
        if self.kind.has_sums() {
            self.sums.push(self.sums.last().copied().unwrap_or(0).saturating_add(sum));
        }
    }

    /// Writes the current block; its last document must have ended.
    pub fn seal(&mut self, out: &mut impl BlockSink) -> Result<()> {
        if self.documents == 0 {
            return Ok(());
        }
        let (strings, count) = (self.kind.is_strings(), self.count());
        let block = &mut self.block;
        block.clear();
        block.extend([0; 4]);
        block.extend(self.documents.to_le_bytes());
        let presence = put_presence(&self.present, self.documents as usize, block);
        let several = count > self.present.len();
        if several {
            put_ends(&mut self.chooser, &self.ends, block);
        }
        let head = if self.values.is_empty() {
            Head::constant(0)
        } else {
            put_numbers(&mut self.chooser, &self.values, self.kind.is_float(), block)
        };
        if strings && count > 0 {
            put_strings(&mut self.strings, &self.text, &self.text_ends, block);
        }
        let length = u32::try_from(block.len()).unwrap_or(u32::MAX);
        if let Some(front) = block.first_chunk_mut() {
            *front = length.to_le_bytes();
        }
        let entry = JumpEntry {
            offset: self.at,
            length,
            least: self.values.iter().copied().min().unwrap_or(0),
            most: self.values.iter().copied().max().unwrap_or(0),
            first: self.first,
            documents: self.documents,
            present: u32::try_from(self.present.len()).unwrap_or(u32::MAX),
            values: u32::try_from(count).unwrap_or(u32::MAX),
            presence,
            several,
            strings,
            head,
        };
        self.at += self.block.len() as u64;
        out.take(&self.block)?;
        let sum = if self.kind.has_sums() { self.values.iter().copied().map(u128::from).sum() } else { 0 };
        self.add(entry, sum);
        self.documents = 0;
        self.present.clear();
        self.ends.clear();
        self.ended = 0;
        self.values.clear();
        self.text.clear();
        self.text_ends.clear();
        Ok(())
    }

    /// Writes the last block and returns the index. The writer is then empty.
    pub fn finish(&mut self, out: &mut impl BlockSink) -> Result<Vec<u8>> {
        self.drop_open();
        self.seal(out)?;
        let entries = std::mem::take(&mut self.entries);
        let index = index_of(self.kind, self.first, &entries, &self.sums);
        *self = ColumnWriter { strings: self.strings.anew(), ..Self::new(self.kind) };
        Ok(index)
    }
}

/// Appends the encoded strings; `ends` has the end of each in `text`.
fn put_strings(encoder: &mut StringEncoder, text: &[u8], ends: &[usize], block: &mut Vec<u8>) {
    let mut start = 0;
    let string = |&end: &usize| text.get(std::mem::replace(&mut start, end)..end).unwrap_or_default();
    let strings: Vec<&[u8]> = ends.iter().map(string).collect();
    encoder.encode(&strings, block);
}

/// Appends the ends: for each document with values, the number of values up to its last.
fn put_ends(chooser: &mut Chooser, ends: &[u64], block: &mut Vec<u8>) {
    let at = block.len();
    block.extend([0; super::read::ENDS]);
    let head = put_numbers(chooser, ends, false, block);
    let Head { form, width, base, step, extra } = head;
    let length = u32::try_from(block.len() - at).unwrap_or(u32::MAX);
    let mut front = length.to_le_bytes().to_vec();
    front.extend([form.code(), width, 0, 0]);
    front.extend(extra.to_le_bytes());
    front.extend([base, step].map(u64::to_le_bytes).as_flattened());
    if let Some(place) = block.get_mut(at..at + front.len()) {
        place.copy_from_slice(&front);
    }
}

/// The index over `entries`.
fn index_of(kind: ColumnKind, documents: u32, entries: &[JumpEntry], sums: &[u128]) -> Vec<u8> {
    let count = entries.len();
    let last = count.saturating_sub(1);
    let uniform = entries.iter().take(last).all(|entry| entry.documents == JUMP)
        && entries.last().is_none_or(|entry| entry.documents <= JUMP);
    let ranges: Vec<BlockRange> = entries
        .chunks(BLOCKS_OF_RANGE)
        .map(|blocks| {
            let mut range = BlockRange::NONE;
            blocks.iter().for_each(|entry| range.add(entry));
            range
        })
        .collect();
    let header = Header {
        kind: kind.code(),
        uniform,
        has_sums: kind.has_sums(),
        documents,
        blocks: u32::try_from(count).unwrap_or(u32::MAX),
        present: ranges.iter().map(|range| u64::from(range.present)).sum(),
        values: ranges.iter().map(|range| range.values).sum(),
        least: ranges.iter().map(|range| range.least).min().unwrap_or(u64::MAX),
        most: ranges.iter().map(|range| range.most).max().unwrap_or(0),
    };
    let places = header.places();
    let mut index = Vec::with_capacity(places.end);
    header.put(&mut index);
    entries.iter().for_each(|entry| entry.put(&mut index));
    if !uniform {
        let mut block = 0u32;
        for doc in (0..documents).step_by(JUMP as usize) {
            let holds = |block: u32| entries.get(block as usize + 1).is_some_and(|next| next.first <= doc);
            while holds(block) {
                block += 1;
            }
            index.extend(block.to_le_bytes());
        }
    }
    index.resize(places.ranges, 0);
    ranges.iter().for_each(|range| range.put(&mut index));
    sums.iter().for_each(|sum| index.extend(sum.to_le_bytes()));
    index
}
