//! Reads one block of terms. Any input is handled: damage is returned as `None`.

use std::ops::Range;

use super::info::{GROUP, HALF, TermInfo, TermPositions, packed_len};
use crate::codec::{ByteReader, Occurrence};
use crate::schema::Postings;

/// The parts of a block, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockParts<'a> {
    /// Number of terms, 1 to [`GROUP`].
    pub(super) count: usize,
    /// Bits per symbol of suffixes; zero if suffixes are plain bytes.
    pub(super) width: u8,
    /// One bit for each byte that is a symbol, lowest first.
    pub(super) set: [u64; 2],
    pub(super) lengths: &'a [u8],
    /// Suffixes, and the postings after them.
    text: &'a [u8],
    /// Bytes of the suffixes in `text`.
    packed_len: usize,
    /// Bytes of all unpacked suffixes.
    pub(super) text_len: usize,
    /// Offset of the first list in the section.
    list: u64,
    /// Size of the first half, in a block of more than [`HALF`] terms.
    half: HalfSize,
}

/// Size of the first [`HALF`] terms of a block, in bytes.
#[derive(Clone, Copy, Debug)]
struct HalfSize {
    postings: usize,
    lists: u64,
}

impl<'a> BlockParts<'a> {
    /// Reads the front of a block at `offset` of the section; `None` if it is damaged.
    #[inline(always)]
    pub(super) fn open(bytes: &'a [u8], offset: u64) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let count = usize::from(reader.u8()?);
        let width = reader.u8().filter(|width| matches!(width, 0 | 4..=6))?;
        let list = offset.checked_sub(reader.varint()?)?;
        let lengths = usize::try_from(reader.varint()?).ok()?;
        let text_len = usize::try_from(reader.varint()?).ok()?;
        let mut half = HalfSize { postings: 0, lists: 0 };
        if count > HALF {
            half.postings = usize::try_from(reader.varint()?).ok()?;
            half.lists = reader.varint()?;
        }
        let set = if width > 0 { [reader.u64()?, reader.u64()?] } else { [0, 0] };
        let lengths = reader.take(lengths)?;
        let packed_len = if width > 0 { packed_len(text_len, width)? } else { text_len };
        let text = reader.remaining();
        let whole = (1..=GROUP).contains(&count) && packed_len <= text.len();
        whole.then_some(BlockParts { count, width, set, lengths, text, packed_len, text_len, list, half })
    }

    /// Symbol `at` of the suffixes, or their byte `at` if they are not packed.
    #[inline(always)]
    pub(super) fn symbol(&self, at: usize) -> Option<u8> {
        if self.width == 0 {
            return self.text.get(at).copied();
        }
        let bit = at.checked_mul(usize::from(self.width))?;
        // The byte after the suffixes may also be read. It is missing only at the end of a damaged block.
        let bytes = self.text.get(bit / 8..)?;
        let pair = bytes
            .first_chunk()
            .map_or_else(|| u16::from(bytes.first().copied().unwrap_or(0)), |pair| u16::from_le_bytes(*pair));
        let [rank, _] = (pair >> (bit % 8) & ((1 << self.width) - 1)).to_le_bytes();
        Some(rank)
    }

    /// The postings from the first term on; `kept` is the postings format of the segment.
    #[inline(always)]
    pub(super) fn postings(&self, kept: Postings) -> PostingsReader<'a> {
        PostingsReader {
            bytes: ByteReader::new(self.text.get(self.packed_len..).unwrap_or_default()),
            list: self.list,
            runs: kept.has_positions(),
            offsets: kept.has_offsets(),
            positions: TermPositions::NotKept,
        }
    }

    /// The postings from the first term of the second half on; `None` if the block is damaged or has no
    /// second half.
    #[inline(always)]
    pub(super) fn second_half(&self, kept: Postings) -> Option<PostingsReader<'a>> {
        let mut postings = self.postings(kept);
        postings.bytes.take(self.half.postings)?;
        postings.list = self.list.checked_add(self.half.lists)?;
        (self.count > HALF).then_some(postings)
    }
}

/// Reads the number of bytes that a term shares with the previous one, and the number of its own bytes.
#[inline(always)]
pub(super) fn read_lengths(lengths: &mut ByteReader<'_>) -> Option<(usize, usize)> {
    let nibbles = lengths.u8()?;
    let mut length = |nibble: u8| match nibble {
        15 => usize::try_from(lengths.varint()?).ok()?.checked_add(15),
        _ => Some(usize::from(nibble)),
    };
    Some((length(nibbles >> 4)?, length(nibbles & 15)?))
}

/// Steps through the terms of a block.
pub(super) struct TermBlock<'a> {
    left: u8,
    symbols: [u8; 64],
    width: u8,
    lengths: ByteReader<'a>,
    suffixes: &'a [u8],
    text_len: usize,
    /// Number of unpacked bytes of suffixes that have been passed.
    at: usize,
    postings: PostingsReader<'a>,
    /// The start of the postings of the second half, if there is one.
    half: Option<PostingsPlace>,
    /// Number of passed terms whose postings have not been read.
    behind: u8,
}

impl<'a> TermBlock<'a> {
    /// Opens a block at `offset` of the section, before its first term; `kept` is the postings format of the
    /// segment. Returns `None` if the block is damaged.
    pub(super) fn open(bytes: &'a [u8], offset: u64, kept: Postings) -> Option<Self> {
        Self::of(&BlockParts::open(bytes, offset)?, kept)
    }

    /// Opens the block with these parts; `None` if it is damaged.
    pub(super) fn of(parts: &BlockParts<'a>, kept: Postings) -> Option<Self> {
        let mut symbols = [0; 64];
        let mut slots = symbols.iter_mut();
        for (mut half, first) in parts.set.into_iter().zip([0, 64]) {
            while half != 0
                && let Some(slot) = slots.next()
            {
                *slot = first + u8::try_from(half.trailing_zeros()).ok()?;
                half &= half - 1;
            }
        }
        Some(TermBlock {
            left: u8::try_from(parts.count).ok()?,
            symbols,
            width: parts.width,
            lengths: ByteReader::new(parts.lengths),
            suffixes: parts.text.get(..parts.packed_len)?,
            text_len: parts.text_len,
            at: 0,
            postings: parts.postings(kept),
            half: if parts.count > HALF { Some(parts.second_half(kept)?.place()) } else { None },
            behind: 0,
        })
    }

    /// Replaces `term`, the previous term, by the next one. Returns false at the end, `None` if the block is
    /// damaged.
    pub(super) fn step(&mut self, term: &mut Vec<u8>) -> Option<bool> {
        if self.left == 0 {
            return Some(false);
        }
        let (shared, suffix) = self.next_lengths(term.len())?;
        self.append(term, shared, suffix)?;
        Some(true)
    }

    /// Replaces `term`, the previous term, by the next one that does not begin with its first `len` bytes.
    /// Returns false at the end, `None` if the block is damaged. The terms between are not decoded.
    pub(super) fn pass(&mut self, term: &mut Vec<u8>, len: usize) -> Option<bool> {
        let mut before = term.len();
        while self.left > 0 {
            let (shared, suffix) = self.next_lengths(before)?;
            if shared >= len {
                before = shared.checked_add(suffix.len())?;
                continue;
            }
            // All skipped terms share more bytes than this with `term`.
            self.append(term, shared, suffix)?;
            return Some(true);
        }
        Some(false)
    }

    /// Keeps the first `shared` bytes of `term` and appends a suffix.
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

    /// The number of bytes that the next term shares with the previous one, which has `before` bytes, and the
    /// range of its suffix.
    #[inline(always)]
    fn next_lengths(&mut self, before: usize) -> Option<(usize, Range<usize>)> {
        self.left -= 1;
        self.behind += 1;
        let (shared, own) = read_lengths(&mut self.lengths)?;
        let start = self.at;
        self.at = start.checked_add(own)?;
        (shared <= before).then_some((shared, start..self.at))
    }

    /// Number of remaining terms.
    pub(super) fn left(&self) -> usize {
        usize::from(self.left)
    }

    /// The number of bytes that the next term shares with the previous one, which has `before` bytes, and the
    /// range of its own bytes in the output of [`TermBlock::unpack`].
    #[inline(always)]
    pub(super) fn next_place(&mut self, before: usize) -> Option<(usize, Range<usize>)> {
        let (shared, own) = self.next_lengths(before)?;
        (own.end <= self.text_len).then_some((shared, own))
    }

    /// Fills `text` with the bytes of all suffixes and at least 16 more bytes.
    #[expect(clippy::indexing_slicing, reason = "the remainder is below the length")]
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

    /// Byte `at` of all suffixes together.
    #[inline(always)]
    pub(super) fn symbol(&self, at: usize) -> Option<u8> {
        if self.width == 0 {
            return self.suffixes.get(at).copied();
        }
        let bit = at.checked_mul(usize::from(self.width))?;
        let low = u16::from(*self.suffixes.get(bit / 8)?);
        let high = u16::from(self.suffixes.get(bit / 8 + 1).copied().unwrap_or(0));
        let rank = (high << 8 | low) >> (bit % 8) & ((1 << self.width) - 1);
        self.symbols.get(usize::from(rank)).copied()
    }

    /// The postings of the current term; `None` if the block is damaged.
    pub(super) fn info(&mut self) -> Option<TermInfo> {
        let mut info = None;
        for _ in 0..std::mem::take(&mut self.behind) {
            info = Some(self.next_info()?);
        }
        info
    }

    /// The postings of the next term whose postings were not requested yet.
    #[inline(always)]
    pub(super) fn next_info(&mut self) -> Option<TermInfo> {
        self.postings.next_info()
    }

    /// The place of the positions of the current term. Call it after [`TermBlock::info`].
    pub(super) fn positions(&self) -> TermPositions {
        self.postings.positions()
    }

    /// Returns true if the sizes of the halves in the header are correct. Call it after the postings of the
    /// first [`HALF`] terms were read.
    pub(super) fn is_half(&self) -> bool {
        self.half.is_none_or(|half| half == self.postings.place())
    }
}

/// A place among the postings of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PostingsPlace {
    /// Bytes of postings from here on.
    left: usize,
    /// Offset of the next list in the section.
    list: u64,
}

/// Reads the postings of a block, term by term.
pub(super) struct PostingsReader<'a> {
    bytes: ByteReader<'a>,
    /// Offset of the next list in the section.
    list: u64,
    /// True if the segment has positions.
    runs: bool,
    /// True if the segment has offsets.
    offsets: bool,
    /// The place of the positions of the last term.
    positions: TermPositions,
}

impl PostingsReader<'_> {
    fn place(&self) -> PostingsPlace {
        PostingsPlace { left: self.bytes.remaining().len(), list: self.list }
    }

    /// The postings of the next term.
    #[inline(always)]
    pub(super) fn next_info(&mut self) -> Option<TermInfo> {
        let head = self.bytes.varint()?;
        if head & 1 == 1 {
            let term_freq = if head & 2 == 2 { 1 } else { self.bytes.varint32()? };
            if self.runs && term_freq == 1 {
                self.positions = TermPositions::Only(Occurrence::read(&mut self.bytes, self.offsets)?);
            } else if self.runs {
                self.skip_run()?;
            }
            return Some(TermInfo::Single { doc: u32::try_from(head >> 2).ok()?, term_freq });
        }
        let doc_freq = u32::try_from(head >> 1).ok()?;
        let len = self.bytes.varint()?;
        let total_freq = self.bytes.varint()?.checked_add(u64::from(doc_freq))?;
        if self.runs {
            self.skip_run()?;
        }
        let offset = self.list;
        self.list = self.list.checked_add(len)?;
        Some(TermInfo::List { doc_freq, total_freq, offset, len })
    }

    /// Stores the place of the run of the current term, which is next among the lists.
    fn skip_run(&mut self) -> Option<()> {
        let (offset, len) = (self.list, self.bytes.varint()?);
        self.list = offset.checked_add(len)?;
        self.positions = TermPositions::Run { offset, len, offsets: self.offsets };
        Some(())
    }

    /// The place of the positions of the last term.
    #[inline(always)]
    pub(super) fn positions(&self) -> TermPositions {
        self.positions
    }

    /// Skips the postings of `count` terms.
    #[inline(always)]
    pub(super) fn skip(&mut self, count: usize) -> Option<()> {
        if self.runs {
            return (0..count).try_for_each(|_| self.next_info().map(drop));
        }
        for _ in 0..count {
            let first = skip_varint(&mut self.bytes)?;
            if first & 1 == 0 {
                self.list = self.list.checked_add(self.bytes.varint()?)?;
                skip_varint(&mut self.bytes)?;
            } else if first & 2 == 0 {
                skip_varint(&mut self.bytes)?;
            }
        }
        Some(())
    }
}

/// Skips a varint; returns its first byte, which has the lowest bits.
#[inline(always)]
fn skip_varint(bytes: &mut ByteReader<'_>) -> Option<u8> {
    let first = bytes.u8()?;
    let mut last = first;
    while last >= 0x80 {
        last = bytes.u8()?;
    }
    Some(first)
}
