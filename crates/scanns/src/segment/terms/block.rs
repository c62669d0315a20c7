//! Reads one block of terms: total, whatever the bytes are.

use std::ops::Range;

use super::{GROUP, TermInfo, TermPositions, packed_len};
use crate::codec::{ByteReader, Occurrence};
use crate::schema::Postings;

/// Steps through the terms of a block.
pub(super) struct Block<'a> {
    left: u8,
    symbols: [u8; 64],
    /// Bits per symbol of suffixes; zero if they are bytes.
    width: u8,
    lengths: ByteReader<'a>,
    suffixes: &'a [u8],
    /// Bytes of all suffixes, before they were packed.
    text_len: usize,
    /// Bytes of suffixes read, before they were packed.
    at: usize,
    postings: ByteReader<'a>,
    /// Offset of the next list in the section.
    list: u64,
    /// Terms whose postings have not been read.
    behind: u8,
    /// True if the segment has positions, and if it has offsets.
    runs: bool,
    offsets: bool,
    /// Where those of the term are whose postings were read last.
    positions: TermPositions,
}

impl<'a> Block<'a> {
    /// A block at its first term; `offset` is its place in the section, `kept` is what the segment has of a term.
    /// `None` if it is no block.
    pub(super) fn open(bytes: &'a [u8], offset: u64, kept: Postings) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let count = reader.u8().filter(|&count| count > 0 && usize::from(count) <= GROUP)?;
        let width = reader.u8().filter(|width| matches!(width, 0 | 4..=6))?;
        let list = offset.checked_sub(reader.varint()?)?;
        let lengths = usize::try_from(reader.varint()?).ok()?;
        let text_len = usize::try_from(reader.varint()?).ok()?;
        let mut symbols = [0; 64];
        if width > 0 {
            let mut set = u128::from_le_bytes(*reader.take(16)?.first_chunk()?);
            for slot in &mut symbols {
                if set == 0 {
                    break;
                }
                *slot = u8::try_from(set.trailing_zeros()).ok()?;
                set &= set - 1;
            }
        }
        let lengths = ByteReader::new(reader.take(lengths)?);
        let suffixes = reader.take(if width > 0 { packed_len(text_len, width)? } else { text_len })?;
        Some(Block {
            left: count,
            symbols,
            width,
            lengths,
            suffixes,
            text_len,
            at: 0,
            postings: reader,
            list,
            behind: 0,
            runs: kept.has_positions(),
            offsets: kept.has_offsets(),
            positions: TermPositions::NotKept,
        })
    }

    /// Turns `term`, the term before, into the next one; false at the end, `None` if the block is damaged.
    pub(super) fn step(&mut self, term: &mut Vec<u8>) -> Option<bool> {
        if self.left == 0 {
            return Some(false);
        }
        let (shared, suffix) = self.next_lengths(term.len())?;
        self.append(term, shared, suffix)?;
        Some(true)
    }

    /// Turns `term`, the term before, into the next one that does not begin with the first `len` bytes of it; false at the
    /// end, `None` if the block is damaged. Terms between are not put together.
    pub(super) fn pass(&mut self, term: &mut Vec<u8>, len: usize) -> Option<bool> {
        let mut before = term.len();
        while self.left > 0 {
            let (shared, suffix) = self.next_lengths(before)?;
            if shared >= len {
                before = shared.checked_add(suffix.len())?;
                continue;
            }
            // All terms since share more than this with the one that `term` has.
            self.append(term, shared, suffix)?;
            return Some(true);
        }
        Some(false)
    }

    /// Turns `term` into what shares so many bytes with it and has a suffix of its own.
    fn append(&self, term: &mut Vec<u8>, shared: usize, suffix: Range<usize>) -> Option<()> {
        term.truncate(shared);
        if self.width == 0 {
            term.extend_from_slice(self.suffixes.get(suffix)?);
        } else if packed_len(suffix.end, self.width)? > self.suffixes.len() {
            return None;
        } else {
            for at in suffix {
                term.push(self.symbol(at)?);
            }
        }
        Some(())
    }

    /// What the next term shares with the one before, of `before` bytes, and where its suffix is.
    #[inline(always)]
    fn next_lengths(&mut self, before: usize) -> Option<(usize, Range<usize>)> {
        self.left -= 1;
        self.behind += 1;
        let nibbles = self.lengths.u8()?;
        let shared = self.length(nibbles >> 4)?;
        let own = self.length(nibbles & 15)?;
        let start = self.at;
        self.at = start.checked_add(own)?;
        (shared <= before).then_some((shared, start..self.at))
    }

    /// Terms that are left.
    pub(super) fn left(&self) -> usize {
        usize::from(self.left)
    }

    /// The bytes that the next term shares with the one before, of `before` bytes, and the place of its own among those
    /// that [`Block::unpack`] gave.
    #[inline(always)]
    pub(super) fn next_place(&mut self, before: usize) -> Option<(usize, Range<usize>)> {
        let (shared, own) = self.next_lengths(before)?;
        (own.end <= self.text_len).then_some((shared, own))
    }

    /// Fills `text` with the bytes of all suffixes and at least 16 more.
    pub(super) fn unpack(&self, text: &mut Vec<u8>) -> Option<()> {
        let room = self.text_len.checked_add(32)?;
        if text.len() < room {
            text.resize(room.next_power_of_two(), 0);
        }
        if self.width == 0 {
            text.get_mut(..self.text_len)?.copy_from_slice(self.suffixes.get(..self.text_len)?);
            return Some(());
        }
        let (width, mask) = (usize::from(self.width), (1u64 << self.width) - 1);
        let groups = self.text_len.div_ceil(8);
        for (group, eight) in text.as_chunks_mut::<8>().0.iter_mut().take(groups).enumerate() {
            let bytes = self.suffixes.get(group * width..)?;
            let mut word = match bytes.first_chunk() {
                Some(bytes) => u64::from_le_bytes(*bytes),
                None => bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
            };
            for slot in eight {
                *slot = self.symbols[usize::try_from(word & mask).unwrap_or(0) % 64];
                word >>= width;
            }
        }
        Some(())
    }

    /// Byte `at` of the suffixes, all of them taken together.
    #[inline(always)]
    fn symbol(&self, at: usize) -> Option<u8> {
        if self.width == 0 {
            return self.suffixes.get(at).copied();
        }
        let bit = at.checked_mul(usize::from(self.width))?;
        let low = u16::from(*self.suffixes.get(bit / 8)?);
        let high = u16::from(self.suffixes.get(bit / 8 + 1).copied().unwrap_or(0));
        let rank = (high << 8 | low) >> (bit % 8) & ((1 << self.width) - 1);
        self.symbols.get(usize::from(rank)).copied()
    }

    /// Moves from the start of the block to `term`; false if it is not there, `None` if the block is damaged.
    ///
    /// Terms are in order, so most need no look at their bytes: one that shares more with the term before than
    /// `term` does is as much too small as that one was; one that shares less is too great.
    pub(super) fn seek(&mut self, term: &[u8]) -> Option<bool> {
        let (mut matched, mut before) = (0, 0usize);
        while self.left > 0 {
            let (shared, suffix) = self.next_lengths(before)?;
            let (start, own) = (suffix.start, suffix.len());
            before = shared.checked_add(own)?;
            if shared > matched {
                continue;
            }
            let rest = term.get(matched..)?;
            if shared < matched {
                return Some(false);
            }
            let mut same = 0;
            while same < own && same < rest.len() && self.symbol(start + same)? == *rest.get(same)? {
                same += 1;
            }
            if same == own && same == rest.len() {
                return Some(true);
            }
            if same < own && (same == rest.len() || self.symbol(start + same)? > *rest.get(same)?) {
                return Some(false);
            }
            matched += same;
        }
        Some(false)
    }

    #[inline]
    fn length(&mut self, nibble: u8) -> Option<usize> {
        if nibble < 15 {
            return Some(usize::from(nibble));
        }
        usize::try_from(self.lengths.varint()?).ok()?.checked_add(15)
    }

    /// The postings of the term that [`Block::step`] gave last; `None` if the block is damaged.
    pub(super) fn info(&mut self) -> Option<TermInfo> {
        let mut info = None;
        for _ in 0..std::mem::take(&mut self.behind) {
            info = Some(self.next_info()?);
        }
        info
    }

    /// The postings of the next term of which they have not been asked.
    #[inline(always)]
    pub(super) fn next_info(&mut self) -> Option<TermInfo> {
        let head = self.postings.varint()?;
        if head & 1 == 1 {
            let term_freq = if head & 2 == 2 { 1 } else { self.postings.varint32()? };
            if self.runs && term_freq == 1 {
                self.positions = TermPositions::Only(Occurrence::read(&mut self.postings, self.offsets)?);
            } else if self.runs {
                self.pass_run()?;
            }
            return Some(TermInfo::Single { doc: u32::try_from(head >> 2).ok()?, term_freq });
        }
        let doc_freq = u32::try_from(head >> 1).ok()?;
        let len = self.postings.varint()?;
        let total_freq = self.postings.varint()?.checked_add(u64::from(doc_freq))?;
        if self.runs {
            self.pass_run()?;
        }
        let offset = self.list;
        self.list = self.list.checked_add(len)?;
        Some(TermInfo::List { doc_freq, total_freq, offset, len })
    }

    /// Notes the run of the term at hand, which is the next thing among the lists.
    fn pass_run(&mut self) -> Option<()> {
        let (offset, len) = (self.list, self.postings.varint()?);
        self.list = offset.checked_add(len)?;
        self.positions = TermPositions::Run { offset, len, offsets: self.offsets };
        Some(())
    }

    /// Where the positions of the term are that [`Block::info`] told of last.
    pub(super) fn positions(&self) -> TermPositions {
        self.positions
    }
}
