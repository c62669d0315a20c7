//! The jump table of a column: an entry for each block, and a summary of each range of 64 blocks.

use crate::codec::{ByteReader, EVERY, Form, Head};

/// Bytes of an entry: one cache line.
pub(super) const ENTRY: usize = 64;

/// Bytes of a header.
pub(super) const HEADER: usize = 64;

/// Bytes of a range.
pub(super) const RANGE: usize = 32;

/// Blocks of a range.
pub(super) const BLOCKS_OF_RANGE: usize = 64;

/// Bytes of a sum.
pub(super) const SUM: usize = 16;

/// Number of documents per place in the table of jumps.
pub(super) const JUMP: u32 = 4_096;

/// Flag: every block but the last has [`JUMP`] documents, so there is no table of jumps.
const UNIFORM: u32 = 1;

/// Flag: there is a table of sums.
const SUMS: u32 = 2;

/// The form of blocks of strings.
const STRINGS: u8 = 255;

/// The index entry of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JumpEntry {
    /// Offset of the block in its section.
    pub offset: u64,
    /// Length of the block in bytes.
    pub length: u32,
    /// Its least value, or 0 without values.
    pub least: u64,
    /// Its greatest value, or 0 without values.
    pub most: u64,
    /// Its first document.
    pub first: u32,
    /// Number of documents, from 1 to 65,536.
    pub documents: u32,
    /// Number of documents that have a value.
    pub present: u32,
    /// Number of values.
    pub values: u32,
    /// How the documents with a value are encoded: see `codec/presence.rs`.
    pub presence: u8,
    /// True if some document has more than one value.
    pub several: bool,
    /// True if values are strings, whose encoding is in the block.
    pub strings: bool,
    /// How numbers are encoded.
    pub head: Head,
}

impl JumpEntry {
    /// Returns true if every document has exactly one value, so that the block contains nothing but numbers.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.presence == EVERY && self.present == self.documents && !self.several && !self.strings
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let Head { form, width, base, step, extra } = self.head;
        out.extend([self.offset, self.least, self.most, base, step].map(u64::to_le_bytes).as_flattened());
        // Neither is 0, except `present` in a block without values.
        let less_one = |count: u32| u16::try_from(count.saturating_sub(1)).unwrap_or(u16::MAX);
        out.extend([self.first, self.length].map(u32::to_le_bytes).as_flattened());
        out.extend([less_one(self.documents), less_one(self.present)].map(u16::to_le_bytes).as_flattened());
        out.extend([self.values, extra].map(u32::to_le_bytes).as_flattened());
        let form = if self.strings { STRINGS } else { form.code() };
        out.extend([self.presence, form, width, self.several.into()]);
    }

    #[inline]
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; ENTRY] = bytes.first_chunk()?;
        let (longs, rest) = bytes.split_first_chunk::<40>()?;
        let (longs, shorts) = (longs.as_chunks::<8>().0, rest.as_chunks::<4>().0);
        let long = |i: usize| longs.get(i).map(|bytes| u64::from_le_bytes(*bytes));
        let short = |i: usize| shorts.get(i).map(|bytes| u32::from_le_bytes(*bytes));
        let [presence, form, width, several] = *shorts.get(5)?;
        let strings = form == STRINGS;
        let form = if strings { Form::Constant } else { Form::from_code(form)? };
        let head = Head { form, width, base: long(3)?, step: long(4)?, extra: short(4)? };
        let [d0, d1, p0, p1] = *shorts.get(2)?;
        let values = short(3)?;
        let present = if values == 0 { 0 } else { u32::from(u16::from_le_bytes([p0, p1])) + 1 };
        let entry = JumpEntry {
            offset: long(0)?,
            length: short(1)?,
            least: long(1)?,
            most: long(2)?,
            first: short(0)?,
            documents: u32::from(u16::from_le_bytes([d0, d1])) + 1,
            present,
            values,
            presence,
            several: several == 1,
            strings,
            head,
        };
        let counts = entry.present <= entry.documents;
        let single = several > 1 || entry.several || entry.values == entry.present;
        (counts && single && several <= 1).then_some(entry)
    }
}

/// The summary of [`BLOCKS_OF_RANGE`] blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRange {
    /// The least value, or [`u64::MAX`] without values.
    pub least: u64,
    /// The greatest value, or 0 without values.
    pub most: u64,
    /// Number of values.
    pub values: u64,
    /// Number of documents that have a value.
    pub present: u32,
    /// Number of documents.
    pub documents: u32,
}

impl BlockRange {
    /// The summary of no block.
    pub const NONE: BlockRange = BlockRange { least: u64::MAX, most: 0, values: 0, present: 0, documents: 0 };

    /// Adds a block.
    pub(super) fn add(&mut self, entry: &JumpEntry) {
        let (least, most) = if entry.values > 0 { (entry.least, entry.most) } else { (u64::MAX, 0) };
        let (present, documents) = (entry.present, entry.documents);
        self.take(&BlockRange { least, most, values: entry.values.into(), present, documents });
    }

    /// Adds another range.
    pub fn take(&mut self, other: &BlockRange) {
        (self.least, self.most) = (self.least.min(other.least), self.most.max(other.most));
        self.values += other.values;
        self.present += other.present;
        self.documents += other.documents;
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.extend([self.least, self.most, self.values].map(u64::to_le_bytes).as_flattened());
        out.extend([self.present, self.documents].map(u32::to_le_bytes).as_flattened());
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        Some(BlockRange {
            least: reader.u64()?,
            most: reader.u64()?,
            values: reader.u64()?,
            present: reader.u32()?,
            documents: reader.u32()?,
        })
    }
}

/// The header of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: u32,
    /// True if the block of a document is found by a division.
    pub(super) uniform: bool,
    /// True if there is a table of sums.
    pub(super) has_sums: bool,
    pub(super) documents: u32,
    pub(super) blocks: u32,
    pub(super) present: u64,
    pub(super) values: u64,
    pub(super) least: u64,
    pub(super) most: u64,
}

impl Header {
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
        let flags = flag(self.uniform, UNIFORM) | flag(self.has_sums, SUMS);
        out.extend([self.kind, flags, self.documents, self.blocks].map(u32::to_le_bytes).as_flattened());
        out.extend([self.present, self.values, self.least, self.most].map(u64::to_le_bytes).as_flattened());
        out.extend([0; 16]);
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes.get(..HEADER)?);
        let (kind, flags) = (reader.u32()?, reader.u32()?);
        let header = Header {
            kind,
            uniform: flags & UNIFORM != 0,
            has_sums: flags & SUMS != 0,
            documents: reader.u32()?,
            blocks: reader.u32()?,
            present: reader.u64()?,
            values: reader.u64()?,
            least: reader.u64()?,
            most: reader.u64()?,
        };
        let uniform = !header.uniform || header.blocks == header.documents.div_ceil(JUMP);
        let counts = header.blocks <= header.documents && header.present <= header.documents.into();
        (flags <= UNIFORM | SUMS && uniform && counts).then_some(header)
    }

    /// Returns the places in the index.
    pub(super) fn places(&self) -> IndexPlaces {
        let (blocks, documents) = (self.blocks as usize, self.documents.div_ceil(JUMP) as usize);
        let jumps = HEADER + ENTRY * blocks;
        let ranges = (jumps + if self.uniform { 0 } else { 4 * documents }).next_multiple_of(8);
        let sums = ranges + RANGE * blocks.div_ceil(BLOCKS_OF_RANGE);
        IndexPlaces { jumps, ranges, sums, end: sums + if self.has_sums { SUM * blocks } else { 0 } }
    }
}

/// The offsets of the parts of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IndexPlaces {
    pub(super) jumps: usize,
    pub(super) ranges: usize,
    pub(super) sums: usize,
    /// The length of the index.
    pub(super) end: usize,
}
