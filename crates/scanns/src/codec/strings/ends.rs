//! Where each of many strings ends in their text: numbers that rise along a line, so only what is off the line is kept.
//!
//! ```text
//! ends  = entry … | bits …                                        an entry for each 128 ends, the last of what is left
//! entry = base u64 | slope << 6 | width u32 | place u32           16 bytes
//! bits  = above … | zeros                                         up to a whole byte
//! ```
//!
//! End `k` of a group, from 0, is `base + (slope * (k + 1) >> 6) + above`, modulo 2^64. `above` has `width` bits, 0 to 56,
//! lowest first, one after the other; those of a group begin `place * 16` bytes behind the last entry. A string begins
//! where the one before it ends, the first at 0. So two reads find any string; ends of strings of one length take 1 bit.

use std::ops::Range;

use super::super::ByteReader;

/// Ends of a group.
const GROUP: usize = 128;
const ENTRY: usize = 16;
/// Bits of a width, and of what is behind the point in a slope.
const POINT: u32 = 6;
/// Most bits that one read of eight bytes is sure to hold.
const WIDEST: u32 = 56;
/// Full groups take a multiple of this many bytes.
const UNIT: usize = GROUP / 8;

/// The `width` bits from bit `bit` on, lowest first; zeros behind the end. `width` is at most 56.
#[inline(always)]
pub fn bits_at(bytes: &[u8], bit: usize, width: u32) -> u64 {
    let rest = bytes.get(bit / 8..).unwrap_or_default();
    let word = match rest.first_chunk() {
        Some(whole) => u64::from_le_bytes(*whole),
        None => rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    word >> (bit % 8) & ((1 << width) - 1)
}

/// Appends numbers of any widths, lowest bits first.
#[derive(Debug, Default)]
pub struct BitWriter {
    held: u64,
    bits: u32,
}

impl BitWriter {
    /// Appends the lowest `width` bits of `value`, which has no others; at most 56.
    #[inline]
    pub fn put(&mut self, value: u64, width: u32, out: &mut Vec<u8>) {
        self.held |= value << self.bits;
        self.bits += width;
        while self.bits >= 8 {
            out.push(self.held.to_le_bytes()[0]);
            self.held >>= 8;
            self.bits -= 8;
        }
    }

    /// Fills the last byte up with zeros; what comes next begins with a new one.
    pub fn end(&mut self, out: &mut Vec<u8>) {
        if self.bits > 0 {
            out.push(self.held.to_le_bytes()[0]);
        }
        *self = BitWriter::default();
    }
}

/// Gathers ends, which must not fall and must be below 2^56.
#[derive(Debug, Default)]
pub struct EndsWriter {
    group: Vec<u64>,
    /// Where the group begins.
    start: u64,
    entries: Vec<u8>,
    bits: Vec<u8>,
}

impl EndsWriter {
    /// The next end.
    #[inline]
    pub fn push(&mut self, end: u64) {
        self.group.push(end);
        if self.group.len() == GROUP {
            self.end_group();
        }
    }

    fn end_group(&mut self) {
        let Some(&last) = self.group.last() else { return };
        let mean = (u128::from(last - self.start) << POINT) / self.group.len() as u128;
        let slope = u64::try_from(mean).unwrap_or(u64::MAX).min(u64::from(u32::MAX >> POINT));
        let line = |(end, k): (&u64, u64)| end.wrapping_sub(slope * k >> POINT);
        let off = self.group.iter().zip(1..).map(line);
        // Numbers below the line are negative here.
        let base = off.clone().map(u64::cast_signed).min().map_or(0, i64::cast_unsigned);
        let most = off.clone().map(|off| off.wrapping_sub(base)).max().unwrap_or(0);
        let width = 64 - most.leading_zeros();
        debug_assert!(width <= WIDEST, "ends are below 2^56");
        self.entries.extend_from_slice(&base.to_le_bytes());
        let slope = u32::try_from(slope).unwrap_or(0) << POINT | width;
        self.entries.extend_from_slice(&slope.to_le_bytes());
        let place = u32::try_from(self.bits.len() / UNIT).unwrap_or(u32::MAX);
        self.entries.extend_from_slice(&place.to_le_bytes());
        let mut writer = BitWriter::default();
        for off in off {
            writer.put(off.wrapping_sub(base), width, &mut self.bits);
        }
        writer.end(&mut self.bits);
        self.start = last;
        self.group.clear();
    }

    /// Appends all ends.
    pub fn finish(mut self, out: &mut Vec<u8>) {
        self.end_group();
        out.extend_from_slice(&self.entries);
        out.extend_from_slice(&self.bits);
    }
}

/// How many bytes entries have for `count` ends.
fn entries_len(count: usize) -> usize {
    count.div_ceil(GROUP).saturating_mul(ENTRY)
}

/// How many bytes `count` ends have, of which `last` are the bytes of the last entry.
fn len_of(count: usize, last: &[u8]) -> Option<usize> {
    let Some(in_last) = count.checked_sub(1).map(|last| last % GROUP + 1) else { return Some(0) };
    let (_, width, place) = entry(last)?;
    let bits = place.checked_mul(UNIT)?.checked_add((in_last * width as usize).div_ceil(8))?;
    entries_len(count).checked_add(bits)
}

/// The fields of an entry: its base and slope, its width, its place.
#[inline(always)]
fn entry(bytes: &[u8]) -> Option<((u64, u64), u32, usize)> {
    let bytes: &[u8; ENTRY] = bytes.first_chunk()?;
    let [a, b, c, d, e, f, g, h, rest @ ..] = *bytes;
    let [i, j, k, l, m, n, o, p] = rest;
    let slope = u32::from_le_bytes([i, j, k, l]);
    let width = slope & ((1 << POINT) - 1);
    let base = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
    let place = u32::from_le_bytes([m, n, o, p]) as usize;
    (width <= WIDEST).then_some(((base, u64::from(slope >> POINT)), width, place))
}

/// Ends, read where they lie.
#[derive(Clone, Copy, Debug)]
pub struct Ends<'a> {
    entries: &'a [u8],
    bits: &'a [u8],
    count: usize,
}

impl<'a> Ends<'a> {
    /// How many bytes `count` ends take, at the beginning of a section of `len` bytes, of which `read` gets some: only the
    /// last entry is looked at. `None` if they are more than the section has.
    pub fn len_in<E>(
        count: usize,
        len: usize,
        read: impl FnOnce(Range<usize>) -> Result<&'a [u8], E>,
    ) -> Result<Option<usize>, E> {
        let entries = entries_len(count);
        if entries > len {
            return Ok(None);
        }
        let last = read(entries.saturating_sub(ENTRY)..entries)?;
        Ok(len_of(count, last).filter(|&found| found <= len))
    }

    /// Reads `count` ends from the front.
    pub fn open(reader: &mut ByteReader<'a>, count: usize) -> Option<Self> {
        let all = reader.remaining();
        let entries = entries_len(count);
        let len = len_of(count, all.get(entries.checked_sub(ENTRY).unwrap_or(0)..entries)?)?;
        let (entries, bits) = reader.take(len)?.split_at_checked(entries)?;
        Some(Ends { entries, bits, count })
    }

    /// End `i`, if there are so many.
    #[inline]
    pub fn end(&self, i: usize) -> Option<u64> {
        if i >= self.count {
            return None;
        }
        let ((base, slope), width, place) = entry(self.entries.get(i / GROUP * ENTRY..)?)?;
        let k = i % GROUP;
        let bits = self.bits.get(place.checked_mul(UNIT)?..)?;
        let above = bits_at(bits, k * width as usize, width);
        Some(base.wrapping_add(slope * (k as u64 + 1) >> POINT).wrapping_add(above))
    }

    /// From where to where string `i` is; `None` if there are not so many, or its end is before its start.
    #[inline]
    pub fn range(&self, i: usize) -> Option<Range<usize>> {
        let end = usize::try_from(self.end(i)?).ok()?;
        let start = match i.checked_sub(1) {
            Some(before) => usize::try_from(self.end(before)?).ok()?,
            None => 0,
        };
        (start <= end).then_some(start..end)
    }
}
