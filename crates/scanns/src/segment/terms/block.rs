//! Reads one block of terms: total, whatever the bytes are.

use std::ops::Range;

use super::{GROUP, HALF, TermInfo, TermPositions, packed_len};
use crate::codec::{ByteReader, Occurrence};
use crate::schema::Postings;

/// The parts of a block, as its front tells them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts<'a> {
    /// How many terms it has, 1 to [`GROUP`].
    pub(super) count: usize,
    /// Bits per symbol of suffixes; zero if they are bytes.
    pub(super) width: u8,
    /// A bit for each byte that is a symbol, lowest first.
    pub(super) set: [u64; 2],
    pub(super) lengths: &'a [u8],
    /// Suffixes, and what follows them.
    text: &'a [u8],
    /// Bytes of `text` that are suffixes.
    packed_len: usize,
    /// Bytes of all suffixes, before they were packed.
    pub(super) text_len: usize,
    /// Offset of the first list in the section.
    list: u64,
    /// Bytes of the postings of the first [`HALF`] terms, and of their lists, in a block with more terms.
    half: (usize, u64),
}

impl<'a> Parts<'a> {
    /// Reads the front of a block; `offset` is its place in the section. `None` if it is no block.
    #[inline(always)]
    pub(super) fn open(bytes: &'a [u8], offset: u64) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let count = usize::from(reader.u8()?);
        let width = reader.u8().filter(|width| matches!(width, 0 | 4..=6))?;
        let list = offset.checked_sub(reader.varint()?)?;
        let lengths = usize::try_from(reader.varint()?).ok()?;
        let text_len = usize::try_from(reader.varint()?).ok()?;
        let half = match count > HALF {
            true => (usize::try_from(reader.varint()?).ok()?, reader.varint()?),
            false => (0, 0),
        };
        let set = if width > 0 { [reader.u64()?, reader.u64()?] } else { [0, 0] };
        let lengths = reader.take(lengths)?;
        let packed_len = if width > 0 { packed_len(text_len, width)? } else { text_len };
        let text = reader.remaining();
        let whole = (1..=GROUP).contains(&count) && packed_len <= text.len();
        whole.then_some(Parts { count, width, set, lengths, text, packed_len, text_len, list, half })
    }

    /// Number `at` of the suffixes' symbols, or of their bytes where those are not packed.
    #[inline(always)]
    pub(super) fn symbol(&self, at: usize) -> Option<u8> {
        if self.width == 0 {
            return self.text.get(at).copied();
        }
        let bit = at.checked_mul(usize::from(self.width))?;
        // What follows the suffixes may be read with their last one, but for the very last byte of a damaged block.
        let bytes = self.text.get(bit / 8..)?;
        let pair = bytes
            .first_chunk()
            .map_or_else(|| u16::from(bytes.first().copied().unwrap_or(0)), |pair| u16::from_le_bytes(*pair));
        let [rank, _] = (pair >> (bit % 8) & ((1 << self.width) - 1)).to_le_bytes();
        Some(rank)
    }

    /// The postings, from the first term on; `kept` is what the segment has of a term.
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

    /// The same from the first term of the second half on; `None` if the block is damaged, or has none.
    #[inline(always)]
    pub(super) fn second_half(&self, kept: Postings) -> Option<PostingsReader<'a>> {
        let (bytes, lists) = self.half;
        let mut postings = self.postings(kept);
        postings.bytes.take(bytes)?;
        postings.list = self.list.checked_add(lists)?;
        (self.count > HALF).then_some(postings)
    }
}

/// What a term shares with the one before, and how many bytes are its own.
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
pub(super) struct Block<'a> {
    left: u8,
    symbols: [u8; 64],
    width: u8,
    lengths: ByteReader<'a>,
    suffixes: &'a [u8],
    text_len: usize,
    /// Bytes of suffixes read, before they were packed.
    at: usize,
    postings: PostingsReader<'a>,
    /// Bytes of postings that follow the first half, and where the lists of what follows begin, if there is more.
    half: Option<(usize, u64)>,
    /// Terms whose postings have not been read.
    behind: u8,
}

impl<'a> Block<'a> {
    /// A block at its first term; `offset` is its place in the section, `kept` is what the segment has of a term.
    /// `None` if it is no block.
    pub(super) fn open(bytes: &'a [u8], offset: u64, kept: Postings) -> Option<Self> {
        let parts = Parts::open(bytes, offset)?;
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
        Some(Block {
            left: u8::try_from(parts.count).ok()?,
            symbols,
            width: parts.width,
            lengths: ByteReader::new(parts.lengths),
            suffixes: parts.text.get(..parts.packed_len)?,
            text_len: parts.text_len,
            at: 0,
            postings: parts.postings(kept),
            half: match parts.count > HALF {
                true => parts.second_half(kept).map(|half| Some(half.place()))?,
                false => None,
            },
            behind: 0,
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
        let (shared, own) = read_lengths(&mut self.lengths)?;
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
        self.postings.next_info()
    }

    /// Where the positions of the term are that [`Block::info`] told of last.
    pub(super) fn positions(&self) -> TermPositions {
        self.postings.positions()
    }

    /// True if what the block says of its halves is so, if the postings of the first [`HALF`] terms have just been read.
    pub(super) fn is_half(&self) -> bool {
        self.half.is_none_or(|half| half == self.postings.place())
    }
}

/// Reads the postings of a block, term by term.
pub(super) struct PostingsReader<'a> {
    bytes: ByteReader<'a>,
    /// Offset of the next list in the section.
    list: u64,
    /// True if the segment has positions, and if it has offsets.
    runs: bool,
    offsets: bool,
    /// Where those of the term are whose postings were read last.
    positions: TermPositions,
}

impl PostingsReader<'_> {
    /// Bytes that are left, and where the next list is.
    fn place(&self) -> (usize, u64) {
        (self.bytes.remaining().len(), self.list)
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
                self.pass_run()?;
            }
            return Some(TermInfo::Single { doc: u32::try_from(head >> 2).ok()?, term_freq });
        }
        let doc_freq = u32::try_from(head >> 1).ok()?;
        let len = self.bytes.varint()?;
        let total_freq = self.bytes.varint()?.checked_add(u64::from(doc_freq))?;
        if self.runs {
            self.pass_run()?;
        }
        let offset = self.list;
        self.list = self.list.checked_add(len)?;
        Some(TermInfo::List { doc_freq, total_freq, offset, len })
    }

    /// Notes the run of the term at hand, which is the next thing among the lists.
    fn pass_run(&mut self) -> Option<()> {
        let (offset, len) = (self.list, self.bytes.varint()?);
        self.list = offset.checked_add(len)?;
        self.positions = TermPositions::Run { offset, len, offsets: self.offsets };
        Some(())
    }

    /// Where the positions of the term are whose postings were read last.
    #[inline(always)]
    pub(super) fn positions(&self) -> TermPositions {
        self.positions
    }

    /// Passes the postings of `count` terms.
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

/// Passes a varint without a look at its value; returns its first byte, which has the lowest bits.
#[inline(always)]
fn skip_varint(bytes: &mut ByteReader<'_>) -> Option<u8> {
    let first = bytes.u8()?;
    let mut last = first;
    while last >= 0x80 {
        last = bytes.u8()?;
    }
    Some(first)
}
