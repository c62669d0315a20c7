//! The jump table of a column: an entry for each block, and ranges of 64 of them.

use crate::codec::{ByteReader, Form, Head};

/// Bytes of an entry: a line of the cache.
pub(super) const ENTRY: usize = 64;

/// Bytes of a header.
pub(super) const HEADER: usize = 64;

/// Bytes of a range.
pub(super) const RANGE: usize = 32;

/// Blocks of a range.
pub(super) const BLOCKS_OF_RANGE: usize = 64;

/// Documents for which the table of jumps has one place.
pub(super) const JUMP: u32 = 4_096;

/// Every block but the last has [`JUMP`] documents, so there is no table of jumps.
const UNIFORM: u32 = 1;

/// The form of strings.
const STRINGS: u8 = 255;

/// What the index says of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it begins in its section.
    pub offset: u64,
    /// Bytes that it takes.
    pub length: u32,
    /// Its least value, or 0 without one.
    pub least: u64,
    /// Its greatest.
    pub most: u64,
    /// Its first document.
    pub first: u32,
    /// Documents that it is about: at least one, at most 65,536.
    pub documents: u32,
    /// Those that have a value.
    pub present: u32,
    /// Values that they have.
    pub values: u32,
    /// How it is written which of them have one: see `codec/presence.rs`.
    pub presence: u8,
    /// True if some document has more than one.
    pub several: bool,
    /// True if values are strings, which say themselves how they are written.
    pub strings: bool,
    /// How values are written.
    pub head: Head,
}

impl Entry {
    /// True if every document has exactly one value.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.present == self.documents && !self.several
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let Head { form, width, base, step, extra } = self.head;
        out.extend([self.offset, self.least, self.most, base, step].map(u64::to_le_bytes).as_flattened());
        // Neither is ever 0 but `present` where there are no values.
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
        let entry = Entry {
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

/// What the index says of [`BLOCKS_OF_RANGE`] blocks together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The least value, or all bits set without one.
    pub least: u64,
    /// The greatest, or 0.
    pub most: u64,
    /// Values of all documents.
    pub values: u64,
    /// Documents that have one.
    pub present: u32,
    /// Documents.
    pub documents: u32,
}

impl Range {
    /// Of no block.
    pub const NONE: Range = Range { least: u64::MAX, most: 0, values: 0, present: 0, documents: 0 };

    /// Takes a block in.
    pub(super) fn add(&mut self, entry: &Entry) {
        let (least, most) = if entry.values > 0 { (entry.least, entry.most) } else { (u64::MAX, 0) };
        let (present, documents) = (entry.present, entry.documents);
        self.take(&Range { least, most, values: entry.values.into(), present, documents });
    }

    /// Takes another range in.
    pub fn take(&mut self, other: &Range) {
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
        Some(Range {
            least: reader.u64()?,
            most: reader.u64()?,
            values: reader.u64()?,
            present: reader.u32()?,
            documents: reader.u32()?,
        })
    }
}

/// What stands before the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: u32,
    /// True if block and document are one division apart.
    pub(super) uniform: bool,
    pub(super) documents: u32,
    pub(super) blocks: u32,
    pub(super) present: u64,
    pub(super) values: u64,
    pub(super) least: u64,
    pub(super) most: u64,
}

impl Header {
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let flags = if self.uniform { UNIFORM } else { 0 };
        out.extend([self.kind, flags, self.documents, self.blocks].map(u32::to_le_bytes).as_flattened());
        out.extend([self.present, self.values, self.least, self.most].map(u64::to_le_bytes).as_flattened());
        out.extend([0; 16]);
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes.get(..HEADER)?);
        let (kind, flags) = (reader.u32()?, reader.u32()?);
        let header = Header {
            kind,
            uniform: flags == UNIFORM,
            documents: reader.u32()?,
            blocks: reader.u32()?,
            present: reader.u64()?,
            values: reader.u64()?,
            least: reader.u64()?,
            most: reader.u64()?,
        };
        let uniform = !header.uniform || header.blocks == header.documents.div_ceil(JUMP);
        let counts = header.blocks <= header.documents && header.present <= header.documents.into();
        (flags <= UNIFORM && uniform && counts).then_some(header)
    }

    /// Where jumps and ranges begin, and where all of the index ends.
    pub(super) fn places(&self) -> (usize, usize, usize) {
        let jumps = HEADER + ENTRY * self.blocks as usize;
        let places = if self.uniform { 0 } else { 4 * self.documents.div_ceil(JUMP) as usize };
        let ranges = (jumps + places).next_multiple_of(8);
        (jumps, ranges, ranges + RANGE * (self.blocks as usize).div_ceil(BLOCKS_OF_RANGE))
    }
}
