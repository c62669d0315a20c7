//! Packs documents into compressed blocks, front to back.
//!
//! A block is full with the document that fills it, so that most documents are in one block; a document that would make
//! one too large gets blocks of its own. Such parts and whole documents are never in one block: a merge can leave out
//! or carry over each by itself.
//!
//! Sizes were measured on sources and on lines, from 16 to 128 KiB: with each doubling blocks pack 1 to 4 % better by LZ4 and 0
//! to 7 % by Zstandard, and a random read, which unpacks the block of the document, takes up to twice as long. At 64 KiB LZ4
//! takes 2.0 to 2.4 s per GiB of sources and makes it 4.2 times as small, Zstandard at level 1 2.6 to 3.0 s and 6.6 times. A
//! dictionary trained on the first documents of a segment was worth 1 % at best, took 0.8 s to train, and would keep
//! blocks from being carried over.

use super::BlockSink;
use super::codec::Packer;
use crate::codec::{ByteReader, put_varint};
use crate::error::Result;
use crate::schema::Compression;
use crate::store::EnvelopeWriter;

/// Bytes of text after which a block ends with the document at hand.
pub(super) const FULL: usize = 64 << 10;
/// Most bytes of text in a block.
pub(super) const MOST: usize = 2 * FULL;
/// Bytes of lengths after which a block ends, however little text it has.
const MOST_LENGTHS: usize = FULL / 4;
/// Most bytes that a reader takes a block to unpack to.
pub(super) const LIMIT: usize = 1 << 20;

/// Bytes of an entry of the index.
pub(super) const ENTRY: usize = 24;
/// Bytes before the first entry.
pub(super) const HEAD: usize = 16;

/// What of documents a block has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Whole ones.
    Whole = 0,
    /// The first bytes of one that goes on in the next block.
    First = 1,
    /// More of it.
    Later = 2,
}

/// What the index says of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Where it begins in its section.
    pub(super) offset: u64,
    /// Its first document.
    pub(super) first: u32,
    /// Bytes of text in it.
    pub(super) text: u32,
    /// Bytes of lengths after them.
    pub(super) lengths: u32,
    pub(super) codec: u32,
    pub(super) part: Part,
}

impl Entry {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.offset.to_le_bytes());
        let kind = self.codec | (self.part as u32) << 8;
        for number in [self.first, self.text, self.lengths, kind] {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let offset = reader.u64()?;
        let [first, text, lengths, kind] = [reader.u32()?, reader.u32()?, reader.u32()?, reader.u32()?];
        let part = match kind >> 8 {
            0 => Part::Whole,
            1 => Part::First,
            2 => Part::Later,
            _ => return None,
        };
        let fits = (text as usize).checked_add(lengths as usize)? <= LIMIT;
        fits.then_some(Entry { offset, first, text, lengths, codec: kind & 0xff, part })
    }
}

/// See the module.
pub(super) struct BlockWriter {
    packer: Packer,
    /// Text of the block at hand; behind `open_at` that of the document at hand.
    text: Vec<u8>,
    open_at: usize,
    lengths: Vec<u8>,
    entries: Vec<Entry>,
    /// Documents ended.
    docs: u32,
    /// The first document of the block at hand.
    first: u32,
    /// Blocks that hold the first parts of the document at hand.
    parts: usize,
    /// Bytes of all blocks.
    packed: u64,
}

impl BlockWriter {
    pub(super) fn new(compression: Compression) -> Result<Self> {
        Ok(BlockWriter {
            packer: Packer::new(compression)?,
            text: Vec::new(),
            open_at: 0,
            lengths: Vec::new(),
            entries: Vec::new(),
            docs: 0,
            first: 0,
            parts: 0,
            packed: 0,
        })
    }

    /// Bytes of memory taken by what grows with the segment.
    pub(super) fn bytes(&self) -> usize {
        self.entries.capacity() * (size_of::<Entry>() + ENTRY)
    }

    /// Adds to the document at hand.
    #[inline]
    pub(super) fn push(&mut self, mut bytes: &[u8], out: &mut impl BlockSink) -> Result<()> {
        while self.text.len() + bytes.len() > MOST {
            let (now, rest) = bytes.split_at(MOST - self.text.len());
            self.text.extend_from_slice(now);
            bytes = rest;
            if self.docs > self.first { self.seal_documents(out)? } else { self.seal_part(out)? }
        }
        self.text.extend_from_slice(bytes);
        Ok(())
    }

    /// The document at hand ends.
    #[inline]
    pub(super) fn end_document(&mut self, out: &mut impl BlockSink) -> Result<()> {
        put_varint(&mut self.lengths, (self.text.len() - self.open_at) as u64);
        self.open_at = self.text.len();
        self.docs += 1;
        if self.parts > 0 {
            self.parts = 0;
            return self.seal(Part::Later, out);
        }
        let full = self.text.len() >= FULL || self.lengths.len() >= MOST_LENGTHS;
        if full { self.seal(Part::Whole, out) } else { Ok(()) }
    }

    /// True if the document at hand has bytes.
    pub(super) fn is_open(&self) -> bool {
        self.parts > 0 || self.text.len() > self.open_at
    }

    /// Bytes of whole documents in the block at hand.
    pub(super) fn pending(&self) -> usize {
        self.open_at
    }

    /// Forgets what there is of the document at hand; returns the bytes of blocks that are left.
    pub(super) fn drop_open(&mut self) -> u64 {
        self.text.truncate(self.open_at);
        let kept = self.entries.len() - self.parts;
        self.packed = self.entries.get(kept).map_or(self.packed, |part| part.offset);
        self.entries.truncate(kept);
        self.parts = 0;
        self.packed
    }

    /// Ends the block at hand with its last whole document.
    pub(super) fn seal_documents(&mut self, out: &mut impl BlockSink) -> Result<()> {
        if self.docs == self.first {
            return Ok(());
        }
        let open = self.text.split_off(self.open_at);
        self.seal(Part::Whole, out)?;
        self.text.extend_from_slice(&open);
        Ok(())
    }

    fn seal_part(&mut self, out: &mut impl BlockSink) -> Result<()> {
        let part = if self.parts == 0 { Part::First } else { Part::Later };
        self.parts += 1;
        self.seal(part, out)
    }

    fn seal(&mut self, part: Part, out: &mut impl BlockSink) -> Result<()> {
        let len = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let (text, lengths) = (len(&self.text), len(&self.lengths));
        self.text.extend_from_slice(&self.lengths);
        let (codec, packed) = self.packer.pack(&self.text);
        out.take(packed)?;
        let entry = Entry { offset: self.packed, first: self.first, text, lengths, codec, part };
        self.packed += packed.len() as u64;
        self.entries.push(entry);
        self.text.clear();
        self.lengths.clear();
        (self.open_at, self.first) = (0, self.docs);
        Ok(())
    }

    /// Takes blocks over as they are: either one of whole documents or all parts of one. No document is at hand, and none
    /// is pending.
    pub(super) fn carry(
        &mut self,
        entry: Entry,
        docs: u32,
        packed: &[u8],
        out: &mut impl BlockSink,
    ) -> Result<()> {
        out.take(packed)?;
        self.entries.push(Entry { offset: self.packed, first: self.docs, ..entry });
        self.packed += packed.len() as u64;
        self.docs += docs;
        self.first = self.docs;
        Ok(())
    }

    /// Ends the segment: what there is of the document at hand becomes the first of the next one. Returns the index, and
    /// the bytes of the blocks that belong to it, which come before all others.
    pub(super) fn cut(&mut self, out: &mut impl BlockSink) -> Result<(Index, u64)> {
        self.seal_documents(out)?;
        let mut open = self.entries.split_off(self.entries.len() - self.parts);
        let packed = open.first().map_or(self.packed, |part| part.offset);
        for part in &mut open {
            (part.offset, part.first) = (part.offset - packed, 0);
        }
        let index = Index { docs: self.docs, entries: std::mem::replace(&mut self.entries, open) };
        self.packed -= packed;
        (self.docs, self.first) = (0, 0);
        Ok((index, packed))
    }
}

/// What is written of all blocks.
pub(super) struct Index {
    docs: u32,
    entries: Vec<Entry>,
}

impl Index {
    /// Writes the section, which has begun.
    pub(super) fn write(&self, out: &mut EnvelopeWriter) -> Result<()> {
        let mut bytes = Vec::with_capacity(HEAD);
        let text: u64 = self.entries.iter().map(|entry| u64::from(entry.text)).sum();
        bytes.extend_from_slice(&self.docs.to_le_bytes());
        bytes.extend_from_slice(&0u32.to_le_bytes());
        bytes.extend_from_slice(&text.to_le_bytes());
        for entry in &self.entries {
            entry.put(&mut bytes);
            if bytes.len() >= FULL {
                out.write(&bytes)?;
                bytes.clear();
            }
        }
        out.write(&bytes)
    }
}
