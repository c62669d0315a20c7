//! Looks up one term in a block without decoding the terms before it.
//!
//! Terms are in order, so the bytes of most need not be compared. A term that shares more bytes with the
//! previous term than have been matched is less than the wanted term, as the previous term was. A term that
//! shares less is greater. Eight shared lengths are compared at the same time, as the bytes of a word. For
//! the other terms, symbols are compared instead of bytes: the bytes of the wanted term are converted to
//! symbols as far as they match.

use std::cmp::Ordering;

use super::block::{BlockParts, read_lengths};
use super::info::{GROUP, HALF, PrefixedTerm, TermInfo, TermPositions};
use crate::codec::ByteReader;
use crate::schema::Postings;

/// The result of looking up a term in a block.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sought {
    /// The block has the term.
    Found(TermInfo, TermPositions),
    /// The term is before the first term of the block.
    Before,
    /// The block does not have the term.
    Absent,
}

/// The place of a term in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TermSpot {
    /// It is the term with this index.
    At(usize),
    Before,
    Absent,
}

/// Looks up a term in the block `bytes`, which is at `offset` of its section; `first` is the prefix of the
/// first term in the sparse index. Returns `None` if the block is damaged.
#[inline(always)]
pub(super) fn find(
    bytes: &[u8],
    offset: u64,
    kept: Postings,
    wanted: PrefixedTerm<'_>,
    first: u64,
) -> Option<Sought> {
    let PrefixedTerm { term, prefix } = wanted;
    let parts = BlockParts::open(bytes, offset)?;
    // If the prefixes differ, the first term is less, and the place of the difference is known.
    let different = (first < prefix).then(|| (first ^ prefix).leading_zeros() as usize / 8);
    let mut lengths = Lengths::new();
    let spot = if lengths.read(&parts)? {
        by_eights(&parts, &lengths, term, different)?
    } else {
        one_by_one(&parts, term)?
    };
    match spot {
        TermSpot::At(index) => {
            let mut postings = if index < HALF { parts.postings(kept) } else { parts.second_half(kept)? };
            postings.skip(index % HALF)?;
            let info = postings.next_info()?;
            Some(Sought::Found(info, postings.positions()))
        }
        TermSpot::Before => Some(Sought::Before),
        TermSpot::Absent => Some(Sought::Absent),
    }
}

/// Lengths of at least this, and terms that match this many bytes, are left to [`one_by_one`].
pub(super) const MOST: u8 = 127;

/// The number of bytes that each term of a block shares with the one before, and the number of its own bytes.
/// After the last term `shared` is [`MOST`].
pub(super) struct Lengths {
    pub(super) shared: [u8; GROUP],
    pub(super) own: [u8; GROUP],
}

pub(super) const ONES: u64 = 0x0101_0101_0101_0101;
pub(super) const HIGH: u64 = 0x80 * ONES;
const LOW_NIBBLES: u64 = 0x0f * ONES;

/// The high bit of each byte that is a nibble of 15.
#[inline(always)]
fn fifteens(nibbles: u64) -> u64 {
    (nibbles + 0x71 * ONES) & HIGH
}

impl Lengths {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Lengths { shared: [MOST; GROUP], own: [0; GROUP] }
    }

    /// Reads all lengths of a block; returns false if one is too large, `None` if they are damaged.
    #[inline(always)]
    pub(super) fn read(&mut self, parts: &BlockParts<'_>) -> Option<bool> {
        let (count, mut bytes) = (parts.count, parts.lengths);
        let mut index = 0;
        while index < count {
            // Processes eight terms at a time, as long as their lengths are nibbles only.
            let mut plain = 0;
            if let (Some(eight), Some(shared), Some(own)) = (
                bytes.first_chunk::<8>(),
                self.shared.get_mut(index..).and_then(<[u8]>::first_chunk_mut::<8>),
                self.own.get_mut(index..).and_then(<[u8]>::first_chunk_mut::<8>),
            ) {
                let word = u64::from_le_bytes(*eight);
                let (high, low) = (word >> 4 & LOW_NIBBLES, word & LOW_NIBBLES);
                *shared = high.to_le_bytes();
                *own = low.to_le_bytes();
                plain = (fifteens(high) | fifteens(low)).trailing_zeros() as usize / 8;
            }
            index += plain;
            bytes = bytes.get(plain..)?;
            if plain < 8 && index < count {
                let mut reader = ByteReader::new(bytes);
                let nibbles = reader.u8()?;
                let (shared, own) =
                    (read_length(&mut reader, nibbles >> 4)?, read_length(&mut reader, nibbles & 15)?);
                if shared >= MOST || own >= MOST {
                    return Some(false);
                }
                *self.shared.get_mut(index)? = shared;
                *self.own.get_mut(index)? = own;
                index += 1;
                bytes = reader.remaining();
            }
        }
        self.shared.get_mut(count..)?.fill(MOST);
        Some(true)
    }
}

/// The length that begins with `nibble`, at most [`MOST`].
#[inline(always)]
fn read_length(reader: &mut ByteReader<'_>, nibble: u8) -> Option<u8> {
    match nibble {
        15 => Some(u8::try_from(reader.varint()?).map_or(MOST, |excess| excess.saturating_add(15).min(MOST))),
        _ => Some(nibble),
    }
}

/// The sum of the bytes of a word.
#[inline(always)]
fn sum_of(word: u64) -> usize {
    let pairs = (word & 0x00ff_00ff_00ff_00ff) + (word >> 8 & 0x00ff_00ff_00ff_00ff);
    (pairs.wrapping_mul(0x0001_0001_0001_0001) >> 48) as usize
}

/// Finds a term by comparing eight lengths at a time.
#[inline(always)]
fn by_eights(
    parts: &BlockParts<'_>,
    lengths: &Lengths,
    term: &[u8],
    different: Option<usize>,
) -> Option<TermSpot> {
    // Zeros after the end of the first term do not belong to it.
    let matched = different.map_or(0, |different| different.min(usize::from(lengths.own[0])));
    let mut wanted = WantedTerm::new(parts, term, matched);
    let (mut start, mut passed) = (0, if different.is_some() { 0xff } else { 0 });
    let words = lengths.shared.as_chunks::<8>().0.iter().zip(lengths.own.as_chunks::<8>().0).enumerate();
    for (word, (shared, own)) in words.take(parts.count.div_ceil(8)) {
        let (shared, own) = (u64::from_le_bytes(*shared), u64::from_le_bytes(*own));
        loop {
            // The high bit stays set where no more is shared than has been matched. After the last term more
            // is shared.
            let matched = u64::try_from(wanted.matched).ok()?;
            let open = (HIGH + matched * ONES - shared) & HIGH & !passed;
            if open == 0 {
                break;
            }
            let bit = open.trailing_zeros() & !7;
            let byte = |lengths: u64| (lengths >> bit & 0xff) as usize;
            if byte(shared) < wanted.matched {
                return Some(TermSpot::Absent);
            }
            let from = start + sum_of(own & ((1 << bit) - 1));
            match wanted.compare(from, byte(own))? {
                Ordering::Less => passed = u64::MAX >> (56 - bit),
                Ordering::Equal => return Some(TermSpot::At(8 * word + bit as usize / 8)),
                Ordering::Greater if word == 0 && bit == 0 => return Some(TermSpot::Before),
                Ordering::Greater => return Some(TermSpot::Absent),
            }
            if wanted.matched >= usize::from(MOST) {
                return one_by_one(parts, term);
            }
        }
        start += sum_of(own);
        passed = 0;
    }
    Some(TermSpot::Absent)
}

/// Finds a term by comparing the lengths one by one, however large they are.
#[inline(never)]
fn one_by_one(parts: &BlockParts<'_>, term: &[u8]) -> Option<TermSpot> {
    let mut wanted = WantedTerm::new(parts, term, 0);
    let mut lengths = ByteReader::new(parts.lengths);
    let (mut before, mut at) = (0, 0usize);
    for index in 0..parts.count {
        let (shared, own) = read_lengths(&mut lengths)?;
        if shared > before {
            return None;
        }
        let from = at;
        at = at.checked_add(own)?;
        before = shared.checked_add(own)?;
        if shared > wanted.matched {
            continue;
        }
        if shared < wanted.matched {
            return Some(TermSpot::Absent);
        }
        match wanted.compare(from, own)? {
            Ordering::Less => {}
            Ordering::Equal => return Some(TermSpot::At(index)),
            Ordering::Greater if index == 0 => return Some(TermSpot::Before),
            Ordering::Greater => return Some(TermSpot::Absent),
        }
    }
    Some(TermSpot::Absent)
}

/// The wanted term, and the length of its matched prefix.
struct WantedTerm<'a> {
    parts: &'a BlockParts<'a>,
    term: &'a [u8],
    /// Number of its bytes that the last compared term shares.
    matched: usize,
    /// Number of symbols that are bytes below 64.
    lows: u32,
    /// Twice the rank of the next byte of the term, minus one if it is not a symbol.
    next: i32,
}

impl<'a> WantedTerm<'a> {
    #[inline(always)]
    fn new(parts: &'a BlockParts<'a>, term: &'a [u8], matched: usize) -> Self {
        let mut wanted = WantedTerm { parts, term, matched, lows: parts.set[0].count_ones(), next: 0 };
        wanted.next = wanted.symbol_of_next();
        wanted
    }

    /// The value of [`WantedTerm::next`] for the byte after the matched ones.
    #[inline(always)]
    fn symbol_of_next(&self) -> i32 {
        let Some(&byte) = self.term.get(self.matched) else {
            // Every longer term is greater.
            return -1;
        };
        if self.parts.width == 0 {
            return 2 * i32::from(byte);
        }
        let upper = byte >= 64;
        let (word, before) = if upper { (self.parts.set[1], self.lows) } else { (self.parts.set[0], 0) };
        let bit = 1u64 << (byte % 64);
        let rank = before + (word & (bit - 1)).count_ones();
        let is_symbol = word & bit != 0;
        // Every symbol is less than a byte that is not ASCII.
        if byte >= 128 { i32::from(u8::MAX) * 2 } else { rank.cast_signed() * 2 - i32::from(!is_symbol) }
    }

    /// Compares the term whose own bytes are the `own` bytes at `from` of all suffixes with the wanted term.
    /// The bytes before them are matched. `None` if the suffixes end earlier.
    #[inline(always)]
    fn compare(&mut self, from: usize, own: usize) -> Option<Ordering> {
        if from + own > self.parts.text_len {
            return None;
        }
        for at in from..from + own {
            let symbol = 2 * i32::from(self.parts.symbol(at)?);
            if symbol != self.next {
                return Some(if symbol < self.next { Ordering::Less } else { Ordering::Greater });
            }
            self.matched += 1;
            self.next = self.symbol_of_next();
        }
        Some(if self.matched == self.term.len() { Ordering::Equal } else { Ordering::Less })
    }
}
