//! The end of each of many strings in their text. These numbers rise along a line, so only the distances from
//! a line are stored.
//!
//! ```text
//! ends  = entry … | bits …                                   an entry for each 128 ends, or what is left
//! entry = base u64 | (slope << 6 | width) u32 | place u32      16 bytes
//! bits  = above … | zeros                                    up to a whole byte
//! ```
//!
//! End `k` of a group, from 0, is `base + (slope * (k + 1) >> 6) + above`, modulo 2^64. `above` has `width`
//! bits, 0 to 56, lowest first. The bits of a group begin `place * 16` bytes after the last entry. A string
//! begins where the previous one ends, and the first one begins at 0. So two reads find any string. If all
//! strings have the same length, an end takes 1 bit.

use std::ops::Range;

use super::super::ByteReader;

/// Number of ends in a group.
const GROUP: usize = 128;
const ENTRY: usize = 16;
/// Number of bits of a width, and of the fraction of a slope.
const POINT: u32 = 6;
/// Maximum number of bits that a read of eight bytes always contains.
const WIDEST: u32 = 56;
/// The size of a full group is a multiple of this number of bytes.
const UNIT: usize = GROUP / 8;

/// Returns the `width` bits from bit `bit` on, lowest first, padded with zeros after the end. `width` must be
/// at most 56.
#[inline(always)]
pub fn bits_at(bytes: &[u8], bit: usize, width: u32) -> u64 {
    let rest = bytes.get(bit / 8..).unwrap_or_default();
    let word = match rest.first_chunk() {
        Some(whole) => u64::from_le_bytes(*whole),
        None => last_word(rest),
    };
    word >> (bit % 8) & ((1 << width) - 1)
}

/// Reads a word that the end of the bytes cuts off.
#[cold]
fn last_word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Appends numbers of any widths, lowest bits first.
#[derive(Debug, Default)]
pub struct BitWriter {
    held: u64,
    bits: u32,
}

impl BitWriter {
    /// Appends the lowest `width` bits of `value`. All other bits of `value` must be zero, and `width` must
    /// be at most 56.
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

    /// Fills the last byte with zeros; the next number begins with a new byte.
    pub fn end(&mut self, out: &mut Vec<u8>) {
        if self.bits > 0 {
            out.push(self.held.to_le_bytes()[0]);
        }
        *self = BitWriter::default();
    }
}

/// Collects ends, which must not descend and must be below 2^56.
#[derive(Debug, Default)]
pub struct EndsWriter {
    group: Vec<u64>,
    /// The start of the first string of the group.
    start: u64,
    entries: Vec<u8>,
    bits: Vec<u8>,
}

impl EndsWriter {
    /// Appends the next end.
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
        let line = |(end, k): (&u64, u64)| end.wrapping_sub((slope * k) >> POINT);
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

    /// Appends the encoding of all ends.
    pub fn finish(mut self, out: &mut Vec<u8>) {
        self.end_group();
        out.extend_from_slice(&self.entries);
        out.extend_from_slice(&self.bits);
    }
}

/// Returns the size in bytes of the entries for `count` ends.
fn entries_len(count: usize) -> usize {
    count.div_ceil(GROUP).saturating_mul(ENTRY)
}

/// An entry: the base, the slope, the width of `above`, and its place in bytes after the last entry.
#[derive(Clone, Copy)]
struct EndsGroup {
    base: u64,
    slope: u64,
    width: u32,
    place: usize,
}

impl EndsGroup {
    #[inline(always)]
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let (base, slope, place) = (reader.u64()?, reader.u32()?, reader.u32()? as usize);
        let width = slope & ((1 << POINT) - 1);
        let place = place.checked_mul(UNIT)?;
        (width <= WIDEST).then_some(EndsGroup { base, slope: u64::from(slope >> POINT), width, place })
    }

    /// Returns end `k`; `bytes` begin with bit `from` of the group.
    #[inline(always)]
    fn end(&self, k: usize, bytes: &[u8], from: usize) -> u64 {
        let above = bits_at(bytes, k * self.width as usize - from, self.width);
        self.base.wrapping_add((self.slope * (k as u64 + 1)) >> POINT).wrapping_add(above)
    }
}

/// The place of ends that are read in parts: a function `read` returns the requested ranges of their bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct EndsPlace {
    count: usize,
    len: usize,
}

impl EndsPlace {
    /// Finds `count` ends at the beginning of `most` bytes; `None` if the bytes are invalid. Only the last
    /// entry is read.
    ///
    /// # Errors
    /// Errors from `read`.
    pub fn find<'a, E>(
        count: usize,
        most: usize,
        read: impl FnOnce(Range<usize>) -> Result<&'a [u8], E>,
    ) -> Result<Option<Self>, E> {
        let entries = entries_len(count);
        let Some(last) = count.checked_sub(1) else { return Ok(Some(EndsPlace::default())) };
        if entries > most {
            return Ok(None);
        }
        let last_group = EndsGroup::read(read(entries - ENTRY..entries)?);
        let len = last_group.and_then(|EndsGroup { width, place, .. }| {
            let bits = (last % GROUP + 1) * width as usize;
            entries.checked_add(place)?.checked_add(bits.div_ceil(8))
        });
        Ok(len.filter(|&len| len <= most).map(|len| EndsPlace { count, len }))
    }

    /// Returns the size of the ends in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the range of string `i`; `None` if there are fewer strings, or if it ends before it starts.
    ///
    /// # Errors
    /// Errors from `read`.
    #[inline]
    pub fn range<'a, E>(
        &self,
        i: usize,
        read: impl Fn(Range<usize>) -> Result<&'a [u8], E>,
    ) -> Result<Option<Range<usize>>, E> {
        if i >= self.count {
            return Ok(None);
        }
        let (group, k) = (i / GROUP, i % GROUP);
        let Some(found) = EndsGroup::read(read(group * ENTRY..(group + 1) * ENTRY)?) else { return Ok(None) };
        let before = k.saturating_sub(1);
        // From the byte in which the previous end begins; both ends are within the next 17 bytes.
        let from = before * found.width as usize / 8;
        let Some(at) = entries_len(self.count).checked_add(found.place).and_then(|at| at.checked_add(from))
        else {
            return Ok(None);
        };
        let bytes = if at < self.len { read(at..self.len.min(at + 24))? } else { &[] };
        let end = found.end(k, bytes, 8 * from);
        let start = match (k, group.checked_sub(1)) {
            (1.., _) => found.end(before, bytes, 8 * from),
            (0, None) => 0,
            (0, Some(_)) => match self.range(i - 1, read)? {
                Some(before) => before.end as u64,
                None => return Ok(None),
            },
        };
        let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        Ok(range.filter(|(start, end)| start <= end).map(|(start, end)| start..end))
    }
}

/// Ends in memory.
#[derive(Clone, Copy, Debug)]
pub struct Ends<'a> {
    bytes: &'a [u8],
    place: EndsPlace,
}

impl<'a> Ends<'a> {
    /// Reads `count` ends from the front.
    pub fn open(reader: &mut ByteReader<'a>, count: usize) -> Option<Self> {
        let all = reader.remaining();
        let place = EndsPlace::find(count, all.len(), |range| all.get(range).ok_or(())).ok()??;
        Some(Ends { bytes: reader.take(place.len())?, place })
    }

    /// Returns the range of string `i`; `None` if there are fewer strings, or if it ends before it starts.
    #[inline]
    pub fn range(&self, i: usize) -> Option<Range<usize>> {
        self.place.range(i, |range| self.bytes.get(range).ok_or(())).ok()?
    }
}
