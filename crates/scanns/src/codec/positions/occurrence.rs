//! One occurrence of a term, and the columns that readers decode of many occurrences.

use crate::codec::bitpack::BLOCK;
use crate::codec::varint::{ByteReader, put_varint};

/// An occurrence of a term; or its difference to the previous occurrence in the same document, except for
/// `extra`, which is always absolute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occurrence {
    /// The number of the token in the document.
    pub position: u32,
    /// The byte offset in the text at which it begins; 0 without offsets.
    pub start: u32,
    /// The number of bytes by which it is longer in the text than the term, in zigzag form: 0, -1, 1, -2, …;
    /// 0 without offsets.
    pub extra: u32,
}

impl Occurrence {
    /// Returns the zigzag form of the difference of two lengths in bytes.
    #[inline(always)]
    pub fn extra_of(in_text: usize, term: usize) -> u32 {
        let differs = i64::try_from(in_text).unwrap_or(i64::MAX) - i64::try_from(term).unwrap_or(0);
        let differs = i32::try_from(differs).unwrap_or(i32::MAX);
        (differs.cast_unsigned() << 1) ^ (differs >> 31).cast_unsigned()
    }

    /// Returns the end of an occurrence that begins at `start`, of a term of `len` bytes; at most 2³² - 1.
    /// Returns `None` if the end is before the start.
    #[inline]
    pub fn end_of(start: u32, extra: u32, len: usize) -> Option<u32> {
        let longer = i64::from(extra >> 1) ^ -i64::from(extra & 1);
        let len = u64::try_from(i64::try_from(len).ok()?.checked_add(longer)?).ok()?;
        Some(u32::try_from(u64::from(start).saturating_add(len)).unwrap_or(u32::MAX))
    }

    /// Returns the occurrence whose difference to `before` is `self`.
    #[inline(always)]
    #[must_use]
    pub fn after(self, before: Self) -> Self {
        let position = self.position.wrapping_add(before.position);
        Occurrence { position, start: self.start.wrapping_add(before.start), extra: self.extra }
    }

    /// Appends the numbers of the occurrence that readers of `C` decode.
    #[inline(always)]
    pub fn put<C: Columns>(self, out: &mut Vec<u8>) {
        put_varint(out, u64::from(self.position));
        if C::OFFSETS {
            put_varint(out, u64::from(self.start) << 1 | u64::from(self.extra != 0));
            if self.extra != 0 {
                put_varint(out, u64::from(self.extra));
            }
        }
    }

    /// Reads an occurrence that [`Occurrence::put`] appended, with or without offsets.
    #[inline]
    pub fn read(reader: &mut ByteReader<'_>, offsets: bool) -> Option<Self> {
        let position = reader.varint32()?;
        if !offsets {
            return Some(Occurrence { position, start: 0, extra: 0 });
        }
        let head = reader.varint()?;
        let extra = if head & 1 == 1 { reader.varint32()? } else { 0 };
        Some(Occurrence { position, start: u32::try_from(head >> 1).ok()?, extra })
    }
}

/// The columns that are decoded of a block of occurrences.
pub trait Columns {
    /// True if offsets are decoded.
    const OFFSETS: bool;

    /// Creates room for a block.
    fn new() -> Self;

    /// The starts and extras, if they are decoded.
    fn offsets(&self) -> Option<&Offsets>;

    /// The starts and extras, to be filled.
    fn offsets_mut(&mut self) -> Option<&mut Offsets>;
}

/// The start and the [`Occurrence::extra`] of each occurrence in a block.
pub struct Offsets {
    pub(super) starts: [u32; BLOCK],
    pub(super) extras: [u32; BLOCK],
}

/// Decodes positions only.
pub struct OnlyPositions;

impl Columns for OnlyPositions {
    const OFFSETS: bool = false;

    #[inline(always)]
    fn new() -> Self {
        OnlyPositions
    }

    #[inline(always)]
    fn offsets(&self) -> Option<&Offsets> {
        None
    }

    #[inline(always)]
    fn offsets_mut(&mut self) -> Option<&mut Offsets> {
        None
    }
}

/// Decodes positions and offsets.
pub struct WithOffsets(Offsets);

impl Columns for WithOffsets {
    const OFFSETS: bool = true;

    fn new() -> Self {
        WithOffsets(Offsets { starts: [0; BLOCK], extras: [0; BLOCK] })
    }

    #[inline(always)]
    fn offsets(&self) -> Option<&Offsets> {
        Some(&self.0)
    }

    #[inline(always)]
    fn offsets_mut(&mut self) -> Option<&mut Offsets> {
        Some(&mut self.0)
    }
}

/// Consecutive occurrences, as differences.
#[derive(Clone, Copy, Debug)]
pub struct Differences<'a> {
    /// The differences of their positions.
    pub positions: &'a [u32],
    /// The differences of their starts; empty unless offsets are decoded.
    pub starts: &'a [u32],
    /// The [`Occurrence::extra`] of each; empty unless offsets are decoded.
    pub extras: &'a [u32],
}

impl Differences<'_> {
    /// Returns an iterator over the occurrences; it is empty unless offsets are decoded.
    pub fn occurrences(&self) -> impl Iterator<Item = Occurrence> {
        let offsets = self.starts.iter().zip(self.extras);
        self.positions.iter().zip(offsets).map(|(&position, (&start, &extra))| Occurrence {
            position,
            start,
            extra,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_those_of_the_text_and_what_is_put_reads_back() {
        for (in_text, term) in [(3, 3), (0, 9), (9, 1), (32 << 10, 1), (1, 32 << 10), (1 << 30, 5)] {
            for start in [0, 1, 0x7fff_ffff, u32::MAX - 2, u32::MAX] {
                let extra = Occurrence::extra_of(in_text, term);
                let end = (u64::from(start) + in_text as u64).min(u64::from(u32::MAX));
                assert_eq!(Occurrence::end_of(start, extra, term).map(u64::from), Some(end));
                assert_eq!(extra == 0, in_text == term);
                let occurrence = Occurrence { position: u32::MAX, start, extra };
                let mut bytes = Vec::new();
                occurrence.put::<WithOffsets>(&mut bytes);
                assert_eq!(Occurrence::read(&mut ByteReader::new(&bytes), true), Some(occurrence));
                let cut = |len: usize| Occurrence::read(&mut ByteReader::new(&bytes[..len]), true);
                assert!((0..bytes.len()).all(|len| cut(len).is_none()));
            }
        }
        assert_eq!(Occurrence::end_of(9, Occurrence::extra_of(0, 4), 3), None);
        assert_eq!(
            [(5, 5), (4, 5), (6, 5), (3, 5)].map(|(text, term)| Occurrence::extra_of(text, term)),
            [0, 1, 2, 3]
        );
    }
}
