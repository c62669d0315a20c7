//! Packs documents into compressed blocks, front to back.
//!
//! A block ends with the document that fills it, so most documents are in one block. A document that would
//! make a block too large gets separate blocks. A block never contains both parts of a document and whole
//! documents, so that a merge can drop or copy each block separately.
//!
//! Block sizes from 16 to 128 KiB were measured on sources and on lines. Each doubling compresses 1 to 5 %
//! better with LZ4 and 0 to 7 % better with Zstandard, and makes a random read, which unpacks the block of
//! the document, up to twice as slow. LZ4, which is chosen for speed, has blocks of 16 KiB, which are
//! unpacked only up to the document; Zstandard, which is chosen for size, has blocks of 64 KiB. At 64 KiB,
//! LZ4 takes 2.0 to 2.4 s per GiB of sources and compresses them 4.2 times; Zstandard at level 1 takes 2.6 to
//! 3.0 s and compresses them 6.6 times. Rejected: a dictionary that is trained on the first documents of a
//! segment, which saved 1 % of blocks of 64 KiB at best, took 0.8 s to train, and would prevent merges from
//! copying blocks; and the first 2 to 16 KiB of a block as the dictionary of its later parts: to read both
//! takes longer than to read a block that is compressed as well.

use super::codec::Packer;
use crate::codec::{ByteReader, put_varint};
use crate::column::BlockSink;
use crate::error::Result;
use crate::schema::Compression;
use crate::store::EnvelopeWriter;

/// Bytes of text after which the largest blocks end with the current document.
pub(in crate::segment) const FULL: usize = 64 << 10;
/// Bytes of text after which blocks of LZ4 end.
pub(in crate::segment) const FULL_LZ4: usize = 16 << 10;

/// Bytes of text after which a block ends with the current document.
fn full(compression: Compression) -> usize {
    if compression == Compression::Lz4 { FULL_LZ4 } else { FULL }
}
/// Largest uncompressed block that a reader accepts, in bytes.
pub(in crate::segment) const LIMIT: usize = 1 << 20;

/// Bytes of an entry of the index.
pub(in crate::segment) const ENTRY: usize = 24;
/// Bytes before the first entry.
pub(in crate::segment) const HEAD: usize = 16;

/// Whether a block holds whole documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::segment) enum BlockPart {
    /// It holds whole documents.
    Whole = 0,
    /// It holds the first bytes of a document that continues in the next block.
    First = 1,
    /// It holds later bytes of a document.
    Later = 2,
}

/// A block's entry in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::segment) struct StoredBlockEntry {
    /// Offset of the block in its section.
    pub(in crate::segment) offset: u64,
    /// The first document.
    pub(in crate::segment) first: u32,
    /// Bytes of text.
    pub(in crate::segment) text: u32,
    /// Bytes of lengths.
    pub(in crate::segment) lengths: u32,
    pub(in crate::segment) codec: u32,
    pub(in crate::segment) part: BlockPart,
    /// Whether the lengths stand before the text.
    pub(in crate::segment) lengths_first: bool,
}

impl StoredBlockEntry {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.offset.to_le_bytes());
        let kind = self.codec | (self.part as u32) << 8 | u32::from(self.lengths_first) << 16;
        for number in [self.first, self.text, self.lengths, kind] {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }

    pub(in crate::segment) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let offset = reader.u64()?;
        let [first, text, lengths, kind] = [reader.u32()?, reader.u32()?, reader.u32()?, reader.u32()?];
        let lengths_first = match kind >> 16 {
            0 => false,
            1 => true,
            _ => return None,
        };
        let part = match kind >> 8 & 0xff {
            0 => BlockPart::Whole,
            1 => BlockPart::First,
            2 => BlockPart::Later,
            _ => return None,
        };
        let fits = (text as usize).checked_add(lengths as usize)? <= LIMIT;
        let codec = kind & 0xff;
        fits.then_some(StoredBlockEntry { offset, first, text, lengths, codec, part, lengths_first })
    }

    /// Bytes of the uncompressed block.
    pub(in crate::segment) fn len(&self) -> usize {
        self.text as usize + self.lengths as usize
    }

    /// The text and the lengths of the uncompressed block.
    pub(in crate::segment) fn split<'r>(&self, raw: &'r [u8]) -> Option<(&'r [u8], &'r [u8])> {
        if self.lengths_first {
            raw.split_at_checked(self.lengths as usize).map(|(lengths, text)| (text, lengths))
        } else {
            raw.split_at_checked(self.text as usize)
        }
    }
}

/// A block as it is in the file.
pub(in crate::segment) struct PackedBlock<'a> {
    pub(in crate::segment) entry: StoredBlockEntry,
    /// Number of documents that end in the block.
    pub(in crate::segment) docs: u32,
    /// The compressed bytes.
    pub(in crate::segment) packed: &'a [u8],
}

/// Packs documents in sequence.
pub(in crate::segment) struct StoredBlockWriter {
    packer: Packer,
    /// Bytes of text after which a block ends with the current document.
    full: usize,
    /// Text of the current block; the text of the current document begins at `open_at`.
    text: Vec<u8>,
    open_at: usize,
    lengths: Vec<u8>,
    entries: Vec<StoredBlockEntry>,
    /// Number of documents that have ended.
    docs: u32,
    /// The first document of the current block.
    first: u32,
    /// Number of written blocks that hold parts of the current document.
    parts: usize,
    /// Bytes of all blocks.
    packed: u64,
}

impl StoredBlockWriter {
    pub(in crate::segment) fn new(compression: Compression) -> Result<Self> {
        Ok(StoredBlockWriter {
            packer: Packer::new(compression)?,
            full: full(compression),
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

    /// Bytes of memory that increase with the size of the segment.
    pub(in crate::segment) fn bytes(&self) -> usize {
        self.entries.capacity() * (size_of::<StoredBlockEntry>() + ENTRY)
    }

    /// Appends to the current document.
    #[inline]
    pub(in crate::segment) fn push(&mut self, mut bytes: &[u8], out: &mut impl BlockSink) -> Result<()> {
        let most = 2 * self.full;
        while self.text.len() + bytes.len() > most {
            let (now, rest) = bytes.split_at(most - self.text.len());
            self.text.extend_from_slice(now);
            bytes = rest;
            if self.docs > self.first { self.seal_documents(out)? } else { self.seal_part(out)? }
        }
        self.text.extend_from_slice(bytes);
        Ok(())
    }

    /// Ends the current document.
    #[inline]
    pub(in crate::segment) fn end_document(&mut self, out: &mut impl BlockSink) -> Result<()> {
        put_varint(&mut self.lengths, (self.text.len() - self.open_at) as u64);
        self.open_at = self.text.len();
        self.docs += 1;
        if self.parts > 0 {
            self.parts = 0;
            return self.seal(BlockPart::Later, out);
        }
        // Many short documents end a block, too.
        let full = self.text.len() >= self.full || self.lengths.len() >= self.full / 4;
        if full { self.seal(BlockPart::Whole, out) } else { Ok(()) }
    }

    /// Returns true if `text` bytes are so few for a block that it should be joined with others.
    pub(in crate::segment) fn is_small(&self, text: usize) -> bool {
        text < self.full / 2
    }

    /// Returns true if the current document has bytes.
    pub(in crate::segment) fn is_open(&self) -> bool {
        self.parts > 0 || self.text.len() > self.open_at
    }

    /// Bytes of whole documents in the current block.
    pub(in crate::segment) fn pending(&self) -> usize {
        self.open_at
    }

    /// Drops the current document; returns the bytes of the blocks that are left.
    pub(in crate::segment) fn drop_open(&mut self) -> u64 {
        self.text.truncate(self.open_at);
        let kept = self.entries.len() - self.parts;
        self.packed = self.entries.get(kept).map_or(self.packed, |part| part.offset);
        self.entries.truncate(kept);
        self.parts = 0;
        self.packed
    }

    /// Ends the current block with its last whole document.
    pub(in crate::segment) fn seal_documents(&mut self, out: &mut impl BlockSink) -> Result<()> {
        if self.docs == self.first {
            return Ok(());
        }
        let open = self.text.split_off(self.open_at);
        self.seal(BlockPart::Whole, out)?;
        self.text.extend_from_slice(&open);
        Ok(())
    }

    fn seal_part(&mut self, out: &mut impl BlockSink) -> Result<()> {
        let part = if self.parts == 0 { BlockPart::First } else { BlockPart::Later };
        self.parts += 1;
        self.seal(part, out)
    }

    fn seal(&mut self, part: BlockPart, out: &mut impl BlockSink) -> Result<()> {
        let len = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let (text, lengths) = (len(&self.text), len(&self.lengths));
        // The lengths come first, so that a document is found without the text after it.
        self.lengths.extend_from_slice(&self.text);
        let (codec, packed) = self.packer.pack(&self.lengths);
        out.take(packed)?;
        let (offset, first) = (self.packed, self.first);
        let entry = StoredBlockEntry { offset, first, text, lengths, codec, part, lengths_first: true };
        self.packed += packed.len() as u64;
        self.entries.push(entry);
        self.text.clear();
        self.lengths.clear();
        (self.open_at, self.first) = (0, self.docs);
        Ok(())
    }

    /// Copies a block of another store: a block of whole documents, or each of the parts of one document in
    /// turn. There must be no current document, and all documents must be in blocks.
    pub(in crate::segment) fn carry(
        &mut self,
        block: &PackedBlock<'_>,
        out: &mut impl BlockSink,
    ) -> Result<()> {
        out.take(block.packed)?;
        self.entries.push(StoredBlockEntry { offset: self.packed, first: self.docs, ..block.entry });
        self.packed += block.packed.len() as u64;
        self.docs += block.docs;
        self.first = self.docs;
        Ok(())
    }

    /// Ends the segment; the current document becomes the first of the next one. Returns the index and the
    /// bytes of its blocks, which precede all others.
    pub(in crate::segment) fn cut(&mut self, out: &mut impl BlockSink) -> Result<(StoredBlockIndex, u64)> {
        self.seal_documents(out)?;
        let mut open = self.entries.split_off(self.entries.len() - self.parts);
        let packed = open.first().map_or(self.packed, |part| part.offset);
        for part in &mut open {
            (part.offset, part.first) = (part.offset - packed, 0);
        }
        let index = StoredBlockIndex { docs: self.docs, entries: std::mem::replace(&mut self.entries, open) };
        self.packed -= packed;
        (self.docs, self.first) = (0, 0);
        Ok((index, packed))
    }
}

/// The index over all blocks of a store.
pub(in crate::segment) struct StoredBlockIndex {
    docs: u32,
    entries: Vec<StoredBlockEntry>,
}

impl StoredBlockIndex {
    /// Writes the index to its section, which must be open.
    pub(in crate::segment) fn write(&self, out: &mut EnvelopeWriter) -> Result<()> {
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
