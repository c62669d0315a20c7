//! Finds documents in compressed blocks. Every number is checked before it is used.

use std::ops::Range;

use super::block::{BlockPart, ENTRY, HEAD, PackedBlock, StoredBlockEntry};
use super::cache::StoredCache;
use super::codec::{BlockFront, RAW, Unpacker};
use super::spans::SpanReader;
use crate::codec::ByteReader;
use crate::error::{Error, Result};
use crate::segment::layout::{BlockSections, TEXT, VECTORS};
use crate::store::{Envelope, Section};

/// Verifies that the sizes of the stored data of a file are consistent.
pub(in crate::segment) fn verify(file: &Envelope, max_doc: u32) -> Result<()> {
    BlockReader::open(file, TEXT, max_doc)?;
    BlockReader::open(file, VECTORS, max_doc)?;
    SpanReader::open(file, max_doc).map(drop)
}

/// One block store of a segment.
#[derive(Clone, Copy)]
pub(in crate::segment) struct BlockReader<'a> {
    blocks: &'a Section,
    index: &'a Section,
    /// What the blocks hold, for error messages.
    what: &'static str,
    docs: u32,
    /// Number of blocks.
    count: usize,
    /// Bytes of all documents.
    text: u64,
}

/// An uncompressed block.
#[derive(Clone, Copy)]
pub(in crate::segment) struct StoredBlock<'a> {
    entry: StoredBlockEntry,
    /// Number of documents that end in the block.
    pub(in crate::segment) docs: u32,
    text: &'a [u8],
    lengths: &'a [u8],
}

impl<'a> BlockReader<'a> {
    /// Opens the store in `sections`, if the file has one; it must have `max_doc` documents.
    pub(in crate::segment) fn open(
        file: &'a Envelope,
        sections: BlockSections,
        max_doc: u32,
    ) -> Result<Option<Self>> {
        let Ok(index) = file.section(sections.index) else { return Ok(None) };
        let blocks = file.section(sections.blocks)?;
        let wrong = || index.corrupt(format!("the index of its {} does not match them", sections.what));
        let mut head = ByteReader::new(index.get(0..HEAD)?);
        let (Some(docs), Some(0), Some(text)) = (head.u32(), head.u32(), head.u64()) else {
            return Err(wrong());
        };
        let entries = index.len() - HEAD;
        let fits = docs == max_doc && entries.is_multiple_of(ENTRY) && (entries > 0 || docs == 0);
        let count = entries / ENTRY;
        let reader = BlockReader { blocks, index, what: sections.what, docs, count, text };
        if fits { Ok(Some(reader)) } else { Err(wrong()) }
    }

    /// Bytes of all compressed blocks and of their index.
    pub(in crate::segment) fn packed_bytes(&self) -> u64 {
        (self.blocks.len() + self.index.len()) as u64
    }

    /// Bytes of all documents.
    pub(in crate::segment) fn text_bytes(&self) -> u64 {
        self.text
    }

    /// Number of blocks.
    pub(in crate::segment) fn count(&self) -> usize {
        self.count
    }

    pub(in crate::segment) fn damaged(&self, block: usize) -> Error {
        self.blocks.corrupt(format!("block {block} of {} of its {} cannot be read", self.count, self.what))
    }

    fn entry(&self, block: usize) -> Result<StoredBlockEntry> {
        let at = HEAD + block * ENTRY;
        StoredBlockEntry::read(self.index.get(at..at + ENTRY)?).ok_or_else(|| self.damaged(block))
    }

    /// A block as it is in the file.
    pub(in crate::segment) fn block(&self, number: usize) -> Result<PackedBlock<'a>> {
        let entry = self.entry(number)?;
        let (end, next) = if number + 1 < self.count {
            self.entry(number + 1).map(|next| (next.offset, next.first))?
        } else {
            (self.blocks.len() as u64, self.docs)
        };
        let docs = next.checked_sub(entry.first);
        let range = usize::try_from(entry.offset).ok().zip(usize::try_from(end).ok());
        let fits = |docs: u32| if entry.part == BlockPart::Whole { docs > 0 } else { docs <= 1 };
        match (range, docs) {
            (Some((start, end)), Some(docs)) if start <= end && fits(docs) => {
                Ok(PackedBlock { entry, docs, packed: self.blocks.get(start..end)? })
            }
            _ => Err(self.damaged(number)),
        }
    }

    /// Decompresses a block.
    pub(in crate::segment) fn load<'u>(
        &self,
        number: usize,
        unpacker: &'u mut Unpacker,
    ) -> Result<StoredBlock<'u>>
    where
        'a: 'u,
    {
        let PackedBlock { entry, docs, packed } = self.block(number)?;
        let raw = unpacker.unpack(entry.codec, packed, entry.len());
        let (text, lengths) = raw.and_then(|raw| entry.split(raw)).ok_or_else(|| self.damaged(number))?;
        Ok(StoredBlock { entry, docs, text, lengths })
    }

    /// The last block of document `doc`.
    fn find(&self, doc: u32) -> Result<usize> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low.midpoint(high);
            if self.entry(middle)?.first <= doc { low = middle + 1 } else { high = middle }
        }
        low.checked_sub(1).filter(|_| doc < self.docs).ok_or_else(|| self.damaged(low))
    }

    /// The bytes of a document.
    pub(in crate::segment) fn get(&self, doc: u32) -> Result<Vec<u8>> {
        let last = self.find(doc)?;
        let block = self.block(last)?;
        if block.entry.part == BlockPart::Whole {
            let read = || -> Option<Vec<u8>> {
                let (mut front, place) = block.open_at(doc)?;
                front.until(place.end)?.get(place).map(<[u8]>::to_vec)
            };
            return read().ok_or_else(|| self.damaged(last));
        }
        self.get_parts(doc, last)
    }

    /// Calls `take` with the bytes of a document. Its block is decompressed as far as needed, and kept in
    /// `cache`; `segment` is the identity of this store there. A block that is read again beyond the bytes
    /// that are kept is decompressed to its end.
    pub(in crate::segment) fn get_cached<T>(
        &self,
        doc: u32,
        cache: &StoredCache,
        segment: u128,
        take: impl FnOnce(&[u8]) -> T,
    ) -> Result<T> {
        let last = self.find(doc)?;
        let block = self.block(last)?;
        if block.entry.part != BlockPart::Whole {
            return self.get_parts(doc, last).map(|text| take(&text));
        }
        let damaged = || self.damaged(last);
        if !block.is_packed() {
            let (_, place) = block.open_at(doc).ok_or_else(damaged)?;
            return block.packed.get(place).map(take).ok_or_else(damaged);
        }
        let kept = cache.get((segment, last));
        let found = kept.as_deref().and_then(|raw| raw.get(block.place(doc, raw)?));
        if let Some(text) = found {
            return Ok(take(text));
        }
        let (mut front, place) = block.open_at(doc).ok_or_else(damaged)?;
        let need = if kept.is_some() { block.entry.len() } else { place.end };
        let raw = front.until(need).ok_or_else(damaged)?;
        let taken = raw.get(place).map(take).ok_or_else(damaged)?;
        cache.put((segment, last), raw);
        Ok(taken)
    }

    /// The bytes of a document whose last part is in block `last`.
    fn get_parts(&self, doc: u32, last: usize) -> Result<Vec<u8>> {
        let mut unpacker = Unpacker::default();
        let mut first = last;
        while self.entry(first)?.part == BlockPart::Later {
            first = first.checked_sub(1).ok_or_else(|| self.damaged(last))?;
        }
        let mut text = Vec::new();
        for number in first..=last {
            let block = self.load(number, &mut unpacker)?;
            if block.entry.first != doc || block.entry.part == BlockPart::Whole {
                return Err(self.damaged(number));
            }
            text.extend_from_slice(block.text);
        }
        Ok(text)
    }

    /// Calls `visit` with the index and the bytes of each of the ascending documents `docs`. Each block is
    /// decompressed once.
    pub(in crate::segment) fn each_of(
        &self,
        docs: &[u32],
        unpacker: &mut Unpacker,
        mut visit: impl FnMut(usize, &[u8]),
    ) -> Result<()> {
        let mut next = 0;
        while let Some(&doc) = docs.get(next) {
            let number = self.find(doc)?;
            if self.entry(number)?.part != BlockPart::Whole {
                visit(next, &self.get(doc)?);
                next += 1;
                continue;
            }
            let (block, before) = (self.load(number, unpacker)?, next);
            for (doc, text) in block.documents() {
                if docs.get(next) == Some(&doc) {
                    visit(next, text);
                    next += 1;
                }
            }
            if next == before {
                return Err(self.damaged(number));
            }
        }
        Ok(())
    }

    /// The blocks from `first` on that hold one document, or the one block of whole documents.
    pub(in crate::segment) fn group(&self, first: usize) -> Result<Range<usize>> {
        let mut end = first + 1;
        if self.entry(first)?.part != BlockPart::Whole {
            while end < self.count && self.entry(end)?.part == BlockPart::Later {
                end += 1;
            }
        }
        Ok(first..end)
    }

    /// Calls `visit` with every document in order.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if a block cannot be decompressed or contradicts the index, and errors from
    /// `visit`.
    pub(in crate::segment) fn each(&self, mut visit: impl FnMut(u32, &[u8]) -> Result<()>) -> Result<()> {
        let mut unpacker = Unpacker::default();
        let (mut parts, mut next, mut at, mut sum) = (Vec::new(), 0, 0, 0);
        while at < self.count {
            let group = self.group(at)?;
            at = group.end;
            parts.clear();
            let mut ended = 0;
            for number in group {
                let block = self.load(number, &mut unpacker)?;
                sum += u64::from(block.entry.text);
                let in_place = block.entry.first == next && self.follows(number)?;
                if !in_place || !block.is_whole() {
                    return Err(self.damaged(number));
                }
                ended += block.docs;
                if block.entry.part != BlockPart::Whole {
                    parts.extend_from_slice(block.text);
                    if block.docs == 1 {
                        visit(next, &parts)?;
                    }
                    continue;
                }
                for (doc, text) in block.documents() {
                    visit(doc, text)?;
                }
            }
            next += ended;
        }
        if next == self.docs && sum == self.text { Ok(()) } else { Err(self.damaged(self.count)) }
    }

    /// Returns true if a block fits the block after it: the parts of a document follow each other.
    fn follows(&self, number: usize) -> Result<bool> {
        let PackedBlock { entry, docs, .. } = self.block(number)?;
        let starts = number > 0 || (entry.offset == 0 && entry.part != BlockPart::Later);
        let more = number + 1 < self.count && self.entry(number + 1)?.part == BlockPart::Later;
        // A document continues in the next block if it is in parts and does not end in this one.
        let goes_on = entry.part != BlockPart::Whole && docs == 0;
        Ok(starts && more == goes_on)
    }
}

impl<'a> PackedBlock<'a> {
    /// Returns true if the block is compressed.
    fn is_packed(&self) -> bool {
        self.entry.codec != RAW
    }

    /// Begins to decompress the block, and returns the place of a document in its bytes.
    fn open_at(&self, doc: u32) -> Option<(BlockFront<'a>, Range<usize>)> {
        let StoredBlockEntry { codec, lengths, lengths_first, .. } = self.entry;
        let mut front = BlockFront::new(codec, self.packed, self.entry.len())?;
        let need = if lengths_first { lengths as usize } else { self.entry.len() };
        let place = self.place(doc, front.until(need)?)?;
        Some((front, place))
    }

    /// The place of a document in the bytes of the block, of which `raw` has at least the lengths.
    fn place(&self, doc: u32, raw: &[u8]) -> Option<Range<usize>> {
        let StoredBlockEntry { first, text, lengths, lengths_first, .. } = self.entry;
        let (text, count) = (text as usize, lengths as usize);
        let lengths = if lengths_first { 0..count } else { text..text + count };
        let mut lengths = ByteReader::new(raw.get(lengths)?);
        let mut start = 0usize;
        for _ in 0..doc.checked_sub(first).filter(|&before| before < self.docs)? {
            start = start.checked_add(usize::try_from(lengths.varint()?).ok()?)?;
        }
        let end = start.checked_add(usize::try_from(lengths.varint()?).ok()?).filter(|&end| end <= text)?;
        let before = if lengths_first { count } else { 0 };
        Some(before + start..before + end)
    }
}

impl<'a> StoredBlock<'a> {
    /// The whole documents of the block with their numbers, up to the first invalid length.
    pub(in crate::segment) fn documents(&self) -> impl Iterator<Item = (u32, &'a [u8])> + use<'a> {
        let (mut lengths, mut rest) = (ByteReader::new(self.lengths), self.text);
        (self.entry.first..self.entry.first.saturating_add(self.docs)).map_while(move |doc| {
            let len = usize::try_from(lengths.varint()?).ok()?;
            let (text, after) = rest.split_at_checked(len)?;
            rest = after;
            Some((doc, text))
        })
    }

    /// Returns true if there is one length for each document that ends in the block, and the lengths add up
    /// to its text.
    fn is_whole(&self) -> bool {
        let mut lengths = ByteReader::new(self.lengths);
        let mut sum = Some(0u64);
        for _ in 0..self.docs {
            sum = sum.zip(lengths.varint()).and_then(|(sum, len)| sum.checked_add(len));
        }
        let all = self.docs == 0 || sum == Some(self.text.len() as u64);
        all && lengths.remaining().is_empty()
    }
}
