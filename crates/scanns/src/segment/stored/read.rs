//! Finds documents in compressed blocks; believes nothing that it reads.

use std::ops::Range;

use super::Sections;
use super::block::{ENTRY, Entry, HEAD, Part};
use super::codec::Unpacker;
use crate::codec::ByteReader;
use crate::error::{Error, Result};
use crate::store::{Envelope, Section};

/// One block store of a segment.
#[derive(Clone, Copy)]
pub(super) struct BlockReader<'a> {
    blocks: &'a Section,
    index: &'a Section,
    what: &'static str,
    docs: u32,
    /// Number of blocks.
    count: usize,
    text: u64,
}

/// A block that is unpacked.
#[derive(Clone, Copy)]
pub(super) struct Block<'a> {
    pub(super) entry: Entry,
    /// Documents that end in it.
    pub(super) docs: u32,
    pub(super) text: &'a [u8],
    lengths: &'a [u8],
}

impl<'a> BlockReader<'a> {
    /// The store in `sections`, if the file has one, whose documents must be `max_doc`.
    pub(super) fn open(file: &'a Envelope, sections: Sections, max_doc: u32) -> Result<Option<Self>> {
        let Ok(index) = file.section(sections.index) else { return Ok(None) };
        let blocks = file.section(sections.blocks)?;
        let wrong = || index.corrupt(format!("the index of its {} does not fit them", sections.what));
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

    /// Bytes of all blocks, and of their index.
    pub(super) fn packed_bytes(&self) -> u64 {
        (self.blocks.len() + self.index.len()) as u64
    }

    /// Bytes of all documents.
    pub(super) fn text_bytes(&self) -> u64 {
        self.text
    }

    /// Number of blocks.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn damaged(&self, block: usize) -> Error {
        self.blocks.corrupt(format!("block {block} of {} of its {} cannot be read", self.count, self.what))
    }

    fn entry(&self, block: usize) -> Result<Entry> {
        let at = HEAD + block * ENTRY;
        Entry::read(self.index.get(at..at + ENTRY)?).ok_or_else(|| self.damaged(block))
    }

    /// An entry, with the documents that end in its block, and its bytes.
    pub(super) fn block(&self, number: usize) -> Result<(Entry, u32, &'a [u8])> {
        let entry = self.entry(number)?;
        let (end, next) = match number + 1 < self.count {
            true => self.entry(number + 1).map(|next| (next.offset, next.first))?,
            false => (self.blocks.len() as u64, self.docs),
        };
        let docs = next.checked_sub(entry.first);
        let range = usize::try_from(entry.offset).ok().zip(usize::try_from(end).ok());
        let fits = |docs: u32| if entry.part == Part::Whole { docs > 0 } else { docs <= 1 };
        match (range, docs) {
            (Some((start, end)), Some(docs)) if start <= end && fits(docs) => {
                Ok((entry, docs, self.blocks.get(start..end)?))
            }
            _ => Err(self.damaged(number)),
        }
    }

    /// Unpacks a block.
    pub(super) fn load<'u>(&self, number: usize, unpacker: &'u mut Unpacker) -> Result<Block<'u>>
    where
        'a: 'u,
    {
        let (entry, docs, packed) = self.block(number)?;
        let (text, lengths) = (entry.text as usize, entry.lengths as usize);
        let raw = unpacker.unpack(entry.codec, packed, text + lengths);
        let (text, lengths) =
            raw.and_then(|raw| raw.split_at_checked(text)).ok_or_else(|| self.damaged(number))?;
        Ok(Block { entry, docs, text, lengths })
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
    pub(super) fn get(&self, doc: u32) -> Result<Vec<u8>> {
        let mut unpacker = Unpacker::default();
        let last = self.find(doc)?;
        let entry = self.entry(last)?;
        if entry.part == Part::Whole {
            let block = self.load(last, &mut unpacker)?;
            let mut found = Err(self.damaged(last));
            block.each(|number, text| {
                if number == doc {
                    found = Ok(text.to_vec());
                }
            });
            return found;
        }
        let mut first = last;
        while self.entry(first)?.part == Part::Later {
            first = first.checked_sub(1).ok_or_else(|| self.damaged(last))?;
        }
        let mut text = Vec::new();
        for number in first..=last {
            let block = self.load(number, &mut unpacker)?;
            if block.entry.first != doc || block.entry.part == Part::Whole {
                return Err(self.damaged(number));
            }
            text.extend_from_slice(block.text);
        }
        Ok(text)
    }

    /// Calls `visit` with each of `docs`, which ascend, and its place among them; each block is unpacked once.
    pub(super) fn each_of(
        &self,
        docs: &[u32],
        unpacker: &mut Unpacker,
        mut visit: impl FnMut(usize, &[u8]),
    ) -> Result<()> {
        let mut next = 0;
        while let Some(&doc) = docs.get(next) {
            let number = self.find(doc)?;
            if self.entry(number)?.part != Part::Whole {
                visit(next, &self.get(doc)?);
                next += 1;
                continue;
            }
            let (block, before) = (self.load(number, unpacker)?, next);
            block.each(|number, text| {
                if docs.get(next) == Some(&number) {
                    visit(next, text);
                    next += 1;
                }
            });
            if next == before {
                return Err(self.damaged(number));
            }
        }
        Ok(())
    }

    /// Blocks from `first` on that hold parts of one document, or the one of whole documents.
    pub(super) fn group(&self, first: usize) -> Result<Range<usize>> {
        let mut end = first + 1;
        if self.entry(first)?.part != Part::Whole {
            while end < self.count && self.entry(end)?.part == Part::Later {
                end += 1;
            }
        }
        Ok(first..end)
    }

    /// Calls `visit` with every document in order.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if any block does not unpack, or the index does not fit; and whatever `visit` says.
    pub(super) fn each(&self, mut visit: impl FnMut(u32, &[u8]) -> Result<()>) -> Result<()> {
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
                if block.entry.part != Part::Whole {
                    parts.extend_from_slice(block.text);
                    if block.docs == 1 {
                        visit(next, &parts)?;
                    }
                    continue;
                }
                let mut outcome = Ok(());
                block.each(|doc, text| {
                    if outcome.is_ok() {
                        outcome = visit(doc, text);
                    }
                });
                outcome?;
            }
            next += ended;
        }
        if next == self.docs && sum == self.text { Ok(()) } else { Err(self.damaged(self.count)) }
    }

    /// True if what stands beside a block fits it: the parts of a document follow each other.
    fn follows(&self, number: usize) -> Result<bool> {
        let (entry, docs, _) = self.block(number)?;
        let starts = number > 0 || (entry.offset == 0 && entry.part != Part::Later);
        let more = number + 1 < self.count && self.entry(number + 1)?.part == Part::Later;
        // A document goes on in the next block if it is in parts and none of it ends here.
        let goes_on = entry.part != Part::Whole && docs == 0;
        Ok(starts && more == goes_on)
    }
}

impl Block<'_> {
    /// Calls `visit` with every document that is whole in this block, as far as lengths make sense.
    pub(super) fn each(&self, mut visit: impl FnMut(u32, &[u8])) {
        let (mut lengths, mut rest) = (ByteReader::new(self.lengths), self.text);
        for doc in self.entry.first..self.entry.first.saturating_add(self.docs) {
            let len = lengths.varint().and_then(|len| usize::try_from(len).ok());
            let Some((text, after)) = len.and_then(|len| rest.split_at_checked(len)) else { return };
            visit(doc, text);
            rest = after;
        }
    }

    /// True if the lengths are those of the documents that end in it, and add up.
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
