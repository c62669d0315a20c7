//! Reads one block of terms: total, whatever the bytes are.

use super::{GROUP, NIBBLES, TermInfo};
use crate::codec::ByteReader;

/// Steps through the terms of a block.
pub(super) struct Block<'a> {
    left: u8,
    symbols: [u8; NIBBLES],
    /// True if suffixes are nibbles.
    packed: bool,
    lengths: ByteReader<'a>,
    suffixes: &'a [u8],
    /// Symbols of suffixes read.
    at: usize,
    postings: ByteReader<'a>,
    /// Offset of the next list in the section.
    list: u64,
    /// Terms whose postings have not been read.
    behind: u8,
}

impl<'a> Block<'a> {
    /// A block at its first term; `offset` is its place in the section. `None` if it is no block.
    pub(super) fn open(bytes: &'a [u8], offset: u64) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let count = reader.u8().filter(|&count| count > 0 && usize::from(count) <= GROUP)?;
        let symbol_count = reader.u8().map(usize::from).filter(|&symbols| symbols <= NIBBLES)?;
        let list = offset.checked_sub(reader.varint()?)?;
        let lengths = usize::try_from(reader.varint()?).ok()?;
        let suffixes = usize::try_from(reader.varint()?).ok()?;
        let mut symbols = [0; NIBBLES];
        for (slot, &symbol) in symbols.iter_mut().zip(reader.take(symbol_count)?) {
            *slot = symbol;
        }
        let packed = symbol_count > 0;
        let lengths = ByteReader::new(reader.take(lengths)?);
        let suffixes = reader.take(if packed { suffixes.div_ceil(2) } else { suffixes })?;
        Some(Block {
            left: count,
            symbols,
            packed,
            lengths,
            suffixes,
            at: 0,
            postings: reader,
            list,
            behind: 0,
        })
    }

    /// Turns `term`, the term before, into the next one; false at the end, `None` if the block is damaged.
    pub(super) fn step(&mut self, term: &mut Vec<u8>) -> Option<bool> {
        if self.left == 0 {
            return Some(false);
        }
        self.left -= 1;
        self.behind += 1;
        let nibbles = self.lengths.u8()?;
        let shared = self.length(nibbles >> 4)?;
        let own = self.length(nibbles & 15)?;
        if shared > term.len() {
            return None;
        }
        term.truncate(shared);
        if self.packed {
            let end = self.at.checked_add(own).filter(|end| end.div_ceil(2) <= self.suffixes.len())?;
            for at in self.at..end {
                let pair = *self.suffixes.get(at / 2)?;
                let code = pair >> (at % 2 * 4) & 15;
                term.push(*self.symbols.get(usize::from(code))?);
            }
            self.at = end;
        } else {
            let (suffix, rest) = self.suffixes.split_at_checked(own)?;
            term.extend_from_slice(suffix);
            self.suffixes = rest;
        }
        Some(true)
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

    fn next_info(&mut self) -> Option<TermInfo> {
        let head = self.postings.varint()?;
        if head & 1 == 1 {
            let term_freq = if head & 2 == 2 { 1 } else { self.postings.varint32()? };
            return Some(TermInfo::Single { doc: u32::try_from(head >> 2).ok()?, term_freq });
        }
        let doc_freq = u32::try_from(head >> 1).ok()?;
        let len = self.postings.varint()?;
        let total_freq = self.postings.varint()?.checked_add(u64::from(doc_freq))?;
        let offset = self.list;
        self.list = self.list.checked_add(len)?;
        Some(TermInfo::List { doc_freq, total_freq, offset, len })
    }
}
