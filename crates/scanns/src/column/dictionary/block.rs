//! A block of terms. Each term stores only the bytes in which it differs from the term before, compressed.
//!
//! The numbers of all terms are in front, in a few bits each, so that a term is found without decompressing
//! the others. Going backwards from the wanted term, only the terms that contribute bytes to it are
//! decompressed, usually two or three.

use crate::codec::{BitWriter, ByteReader, Matcher, SymbolTable, bits_at, common_prefix, put_varint};

use super::limits::MAX_TERM;

/// Terms of a block; the last block may have fewer.
pub(super) const BLOCK: usize = 32;
/// Maximum width of numbers: a width is stored in four bits.
const WIDEST: u32 = 15;

/// Writes blocks; its memory is reused.
#[derive(Debug, Default)]
pub(super) struct DictionaryBlockWriter {
    codes: Vec<u8>,
    numbers: Vec<(u64, u64)>,
    over: Vec<u8>,
}

impl DictionaryBlockWriter {
    /// Appends a block of `terms`, which ascend; they are at least one and at most [`BLOCK`].
    pub(super) fn write(&mut self, terms: &[&[u8]], matcher: &Matcher, out: &mut Vec<u8>) {
        let Some((first, others)) = terms.split_first() else { return };
        self.codes.clear();
        matcher.compress(first, &mut self.codes);
        put_varint(out, self.codes.len() as u64);
        out.extend_from_slice(&self.codes);
        if others.is_empty() {
            return;
        }
        self.codes.clear();
        self.numbers.clear();
        for (before, term) in terms.iter().zip(others) {
            let (shared, start) = (common_prefix(before, term), self.codes.len());
            matcher.compress(term.get(shared..).unwrap_or_default(), &mut self.codes);
            self.numbers.push((shared as u64, (self.codes.len() - start - 1) as u64));
        }
        let most = self.numbers.iter().map(|&(shared, _)| shared).max().unwrap_or(0);
        self.numbers.iter_mut().for_each(|(shared, _)| *shared = most - *shared);
        let widths = (
            width_for(self.numbers.iter().map(|&(down, _)| down)),
            width_for(self.numbers.iter().map(|&(_, len)| len)),
        );
        out.push(u8::try_from(widths.0 | widths.1 << 4).unwrap_or(u8::MAX));
        put_varint(out, most);
        self.over.clear();
        for &(down, len) in &self.numbers {
            for (number, width) in [(down, widths.0), (len, widths.1)] {
                if let Some(over) = number.checked_sub(limit(width)).filter(|_| width > 0) {
                    put_varint(&mut self.over, over);
                }
            }
        }
        put_varint(out, self.over.len() as u64);
        let mut bits = BitWriter::default();
        for &(down, len) in &self.numbers {
            bits.put(down.min(limit(widths.0)), widths.0, out);
            bits.put(len.min(limit(widths.1)), widths.1, out);
        }
        bits.end(out);
        out.extend_from_slice(&self.over);
        out.extend_from_slice(&self.codes);
    }
}

/// The number of this width which means that more follows.
fn limit(width: u32) -> u64 {
    (1 << width) - 1
}

/// The width that takes the fewest bits, including the varints for numbers that are too large for it.
fn width_for(numbers: impl Iterator<Item = u64> + Clone) -> u32 {
    if numbers.clone().all(|number| number == 0) {
        return 0;
    }
    let cost = |width: u32| -> u64 {
        let over = numbers.clone().filter_map(|number| number.checked_sub(limit(width)));
        let each = numbers.clone().count() as u64 * u64::from(width);
        // Reading a number with a varint is a misprediction, so it costs a few bits more.
        each + over.map(|over| 4 + 8 * u64::from((64 - (over | 1).leading_zeros()).div_ceil(7))).sum::<u64>()
    };
    (1..=WIDEST).min_by_key(|&width| cost(width)).unwrap_or(WIDEST)
}

/// An open block.
#[derive(Clone, Copy, Debug)]
pub(super) struct DictionaryBlock<'a> {
    /// Codes of the first term.
    first: &'a [u8],
    /// Number of terms.
    count: usize,
    /// The numbers, and everything after them.
    numbers: &'a [u8],
    widths: (u32, u32),
    /// The greatest number of bytes that a term shares with the one before.
    most: usize,
    over: ByteReader<'a>,
    codes: &'a [u8],
}

/// The stored form of a term: the number of bytes that it shares with the previous term, and the codes of the
/// other bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeptBytes<'a> {
    pub(super) shared: usize,
    pub(super) codes: &'a [u8],
}

/// The numbers of the first terms of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct TermNumbers {
    /// For each term, the greatest shared length minus its own.
    less: [usize; BLOCK],
    /// The start of the codes of each term after the first, and then the end of the codes of the last term.
    starts: [usize; BLOCK + 1],
}

/// A step from one term of a block to a later one.
#[derive(Clone, Copy, Debug)]
pub(super) struct TermStep {
    /// The term that is decoded already, if any.
    pub(super) from: Option<usize>,
    pub(super) to: usize,
}

/// Steps through the terms of a block.
#[derive(Clone, Debug)]
pub(super) struct BlockSteps<'a> {
    block: DictionaryBlock<'a>,
    at: usize,
    codes: &'a [u8],
    over: ByteReader<'a>,
}

impl<'a> DictionaryBlock<'a> {
    /// Opens a block of `count` terms, which takes all of `bytes`.
    #[inline]
    pub(super) fn open(bytes: &'a [u8], count: usize) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let len = usize::try_from(reader.varint()?).ok()?;
        let first = reader.take(len)?;
        let none = ByteReader::new(&[]);
        if count <= 1 {
            let block = DictionaryBlock {
                first,
                count,
                numbers: &[],
                widths: (0, 0),
                most: 0,
                over: none,
                codes: &[],
            };
            return (count == 1 && reader.remaining().is_empty()).then_some(block);
        }
        let widths = u32::from(reader.u8()?);
        let widths = (widths & 15, widths >> 4);
        let most = usize::try_from(reader.varint()?).ok().filter(|&most| most <= MAX_TERM)?;
        let over = usize::try_from(reader.varint()?).ok()?;
        let numbers = reader.remaining();
        reader.take(((count - 1) * (widths.0 + widths.1) as usize).div_ceil(8))?;
        let over = ByteReader::new(reader.take(over)?);
        Some(DictionaryBlock { first, count, numbers, widths, most, over, codes: reader.remaining() })
    }

    /// Number of terms.
    #[inline]
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Codes of the first term.
    #[inline]
    pub(super) fn first(&self) -> &'a [u8] {
        self.first
    }

    /// The terms from the first one on.
    #[inline]
    pub(super) fn steps(&self) -> BlockSteps<'a> {
        BlockSteps { block: *self, at: 0, codes: self.codes, over: self.over }
    }

    /// The numbers of the terms up to `at`, at 3 ns each; `None` if the block has fewer terms.
    #[inline]
    #[expect(
        clippy::indexing_slicing,
        reason = "at is below the count, which is at most the length of the arrays"
    )]
    pub(super) fn numbers(&self, at: usize) -> Option<TermNumbers> {
        if at >= self.count {
            return None;
        }
        let mut numbers = TermNumbers { less: [0; BLOCK], starts: [0; BLOCK + 1] };
        numbers.less[0] = self.most;
        let (down, len) = self.widths;
        let (mut over, mut end) = (self.over, 0usize);
        for number in 0..at {
            let bits = bits_at(self.numbers, number * (down + len) as usize, down + len);
            let (mut below, mut own) = (bits & limit(down), bits >> down);
            if bits_end(below, down) || bits_end(own, len) {
                (below, own) = self.and_over((below, own), &mut over)?;
            }
            numbers.starts[number + 1] = end;
            end = end.checked_add(usize::try_from(own).ok()?)?.checked_add(1)?;
            numbers.less[number + 1] = usize::try_from(below).ok()?;
        }
        numbers.starts[at + 1] = end;
        Some(numbers)
    }

    /// Replaces `out[start..]`, which is term `step.from` or empty, by term `step.to`; `numbers` go up to
    /// `to`.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "numbers of terms are below the length of the arrays")]
    pub(super) fn go(
        &self,
        numbers: &TermNumbers,
        step: TermStep,
        table: &SymbolTable,
        start: usize,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let TermNumbers { less, starts } = numbers;
        let TermStep { from, to } = step;
        let (less, first) = (less.get(..=to)?, from.map_or(0, |from| from + 1));
        // Going backwards from the wanted term, the terms that share less than all after them.
        let (mut wanted, mut count, mut below) = ([0; BLOCK], 0, 0);
        for (number, &less) in less.iter().enumerate().skip(first).rev() {
            wanted[count % BLOCK] = number;
            count += usize::from(less >= below);
            below = below.max(less.saturating_add(1));
        }
        for &number in wanted.get(..count)?.iter().rev() {
            let codes = match number {
                0 => self.first,
                _ => self.codes.get(starts[number]..starts[number + 1])?,
            };
            KeptBytes { shared: self.most.checked_sub(less[number])?, codes }.apply(table, start, out)?;
        }
        Some(())
    }

    /// Appends term `at`; `None` if the block has fewer terms.
    #[inline]
    pub(super) fn term(&self, at: usize, table: &SymbolTable, out: &mut Vec<u8>) -> Option<()> {
        self.go(&self.numbers(at)?, TermStep { from: None, to: at }, table, out.len(), out)
    }

    /// Both numbers with their varints of `over` added.
    #[inline(never)]
    fn and_over(&self, numbers: (u64, u64), over: &mut ByteReader) -> Option<(u64, u64)> {
        let (down, len) = self.widths;
        let mut whole = |number: u64, width| {
            if bits_end(number, width) { number.checked_add(over.varint()?) } else { Some(number) }
        };
        Some((whole(numbers.0, down)?, whole(numbers.1, len)?))
    }
}

/// Returns true if a number of this width means that more follows.
#[inline(always)]
fn bits_end(number: u64, width: u32) -> bool {
    width > 0 && number == limit(width)
}

impl<'a> BlockSteps<'a> {
    /// The next term; `None` after the last one, and if it cannot be read.
    #[inline]
    pub(super) fn next(&mut self) -> Option<KeptBytes<'a>> {
        let BlockSteps { block, at, codes, over } = self;
        if *at >= block.count {
            return None;
        }
        *at += 1;
        let Some(number) = at.checked_sub(2) else {
            return Some(KeptBytes { shared: 0, codes: block.first });
        };
        let (down, len) = block.widths;
        let bits = bits_at(block.numbers, number * (down + len) as usize, down + len);
        let (mut less, mut own) = (bits & limit(down), bits >> down);
        if bits_end(less, down) || bits_end(own, len) {
            (less, own) = block.and_over((less, own), over)?;
        }
        let shared = block.most.checked_sub(usize::try_from(less).ok()?)?;
        let (own, rest) = codes.split_at_checked(usize::try_from(own).ok()?.checked_add(1)?)?;
        *codes = rest;
        Some(KeptBytes { shared, codes: own })
    }

    /// Number of terms that were passed.
    #[inline]
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Returns true if all terms were passed and no bytes are left.
    pub(super) fn is_done(&self) -> bool {
        self.at == self.block.count && self.codes.is_empty() && self.over.remaining().is_empty()
    }
}

impl KeptBytes<'_> {
    /// Replaces the previous term, which is `out[start..]`, by this one.
    #[inline]
    pub(super) fn apply(&self, table: &SymbolTable, start: usize, out: &mut Vec<u8>) -> Option<()> {
        let end = start.checked_add(self.shared).filter(|&end| end <= out.len())?;
        out.truncate(end);
        table.decompress(self.codes, MAX_TERM.checked_sub(self.shared)?, out)
    }
}
