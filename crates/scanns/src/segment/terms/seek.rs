//! Looks one term up in a block, without stepping through those before it.
//!
//! Terms are in order, so most need no look at their bytes: one that shares more with the term before than has been
//! matched is as much too small as that one was; one that shares less is too great. Which terms share how much is told for
//! eight at once, by numbers of eight bytes. Of the others symbols are compared, not bytes: the bytes of the term that is
//! looked up become symbols, one by one as far as they match.

use super::block::{Parts, read_lengths};
use super::{GROUP, HALF, TermInfo, TermPositions};
use crate::codec::ByteReader;
use crate::schema::Postings;

/// What there is of a term in a block.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sought {
    /// It is there.
    Found(TermInfo, TermPositions),
    /// It is before the first term of the block.
    Before,
    /// It is not there.
    Absent,
}

/// Where a term is in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spot {
    /// It is the one with that number.
    At(usize),
    Before,
    Absent,
}

/// Looks for a term, with its first eight bytes as a number, in the block of these bytes, which stands at `offset` in its
/// section; `first` is what the sparse index says of the first term. `None` if the block is damaged.
#[inline(always)]
pub(super) fn find(
    bytes: &[u8],
    offset: u64,
    kept: Postings,
    (term, prefix): (&[u8], u64),
    first: u64,
) -> Option<Sought> {
    let parts = Parts::open(bytes, offset)?;
    // Where they differ, the first term is less, and known well enough.
    let different = (first < prefix).then(|| (first ^ prefix).leading_zeros() as usize / 8);
    let mut lengths = Lengths { shared: [MOST; GROUP], own: [0; GROUP] };
    let spot = match lengths.read(&parts)? {
        true => by_eights(&parts, &lengths, term, different)?,
        false => one_by_one(&parts, term)?,
    };
    match spot {
        Spot::At(index) => {
            let mut postings = if index < HALF { parts.postings(kept) } else { parts.second_half(kept)? };
            postings.skip(index % HALF)?;
            let info = postings.next_info()?;
            Some(Sought::Found(info, postings.positions()))
        }
        Spot::Before => Some(Sought::Before),
        Spot::Absent => Some(Sought::Absent),
    }
}

/// Lengths from here on are left to the slow way; so are terms that match as much.
const MOST: u8 = 127;

/// What the terms of a block share with the ones before, and how many bytes are their own. Behind the last term `shared`
/// is [`MOST`].
struct Lengths {
    shared: [u8; GROUP],
    own: [u8; GROUP],
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * ONES;
const LOW_NIBBLES: u64 = 0x0f * ONES;

/// The high bit of each byte that is a nibble of 15.
#[inline(always)]
fn fifteens(nibbles: u64) -> u64 {
    (nibbles + 0x71 * ONES) & HIGH
}

impl Lengths {
    /// Reads all lengths of a block; false if one of them is too large, `None` if they are damaged.
    #[inline(always)]
    fn read(&mut self, parts: &Parts<'_>) -> Option<bool> {
        let (count, mut bytes) = (parts.count, parts.lengths);
        let mut index = 0;
        while index < count {
            // Eight at once, as far as they are nibbles only.
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

/// The length that a nibble begins, [`MOST`] for all that are as long or longer.
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

/// Finds a term by its neighbours' lengths, eight at once.
#[inline(always)]
fn by_eights(parts: &Parts<'_>, lengths: &Lengths, term: &[u8], different: Option<usize>) -> Option<Spot> {
    // Zeros behind the end of the first term are none of it.
    let matched = different.map_or(0, |different| different.min(usize::from(lengths.own[0])));
    let mut wanted = Wanted::new(parts, term, matched);
    let (mut start, mut passed) = (0, if different.is_some() { 0xff } else { 0 });
    let words = lengths.shared.as_chunks::<8>().0.iter().zip(lengths.own.as_chunks::<8>().0).enumerate();
    for (word, (shared, own)) in words.take(parts.count.div_ceil(8)) {
        let (shared, own) = (u64::from_le_bytes(*shared), u64::from_le_bytes(*own));
        loop {
            // The high bit stays where no more is shared than has been matched; behind the last term more is.
            let matched = u64::try_from(wanted.matched).ok()?;
            let open = (HIGH + matched * ONES - shared) & HIGH & !passed;
            if open == 0 {
                break;
            }
            let bit = open.trailing_zeros() & !7;
            let byte = |lengths: u64| (lengths >> bit & 0xff) as usize;
            if byte(shared) < wanted.matched {
                return Some(Spot::Absent);
            }
            let from = start + sum_of(own & ((1 << bit) - 1));
            match wanted.compare(from, byte(own))? {
                Found::Less => passed = u64::MAX >> (56 - bit),
                Found::Equal => return Some(Spot::At(8 * word + bit as usize / 8)),
                Found::Greater if word == 0 && bit == 0 => return Some(Spot::Before),
                Found::Greater => return Some(Spot::Absent),
            }
            if wanted.matched >= usize::from(MOST) {
                return one_by_one(parts, term);
            }
        }
        start += sum_of(own);
        passed = 0;
    }
    Some(Spot::Absent)
}

/// The same, whatever the lengths are.
#[inline(never)]
fn one_by_one(parts: &Parts<'_>, term: &[u8]) -> Option<Spot> {
    let mut wanted = Wanted::new(parts, term, 0);
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
            return Some(Spot::Absent);
        }
        match wanted.compare(from, own)? {
            Found::Less => {}
            Found::Equal => return Some(Spot::At(index)),
            Found::Greater if index == 0 => return Some(Spot::Before),
            Found::Greater => return Some(Spot::Absent),
        }
    }
    Some(Spot::Absent)
}

/// How a term of the block compares with the one that is looked up.
enum Found {
    Less,
    Equal,
    Greater,
}

/// The term that is looked up, as far as it has not been matched.
struct Wanted<'a> {
    parts: &'a Parts<'a>,
    term: &'a [u8],
    /// Bytes of it that are those of the terms at hand.
    matched: usize,
    /// How many symbols are bytes below 64.
    lows: u32,
    /// Twice the rank of the next byte of the term, one less if no symbol is it.
    next: i32,
}

impl<'a> Wanted<'a> {
    #[inline(always)]
    fn new(parts: &'a Parts<'a>, term: &'a [u8], matched: usize) -> Self {
        let mut wanted = Wanted { parts, term, matched, lows: parts.set[0].count_ones(), next: 0 };
        wanted.next = wanted.symbol_of_next();
        wanted
    }

    /// What [`Wanted::next`] is of the byte behind those that are matched.
    #[inline(always)]
    fn symbol_of_next(&self) -> i32 {
        let Some(&byte) = self.term.get(self.matched) else {
            // All that is longer is greater.
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
        // No symbol is as great as a byte that is not ASCII.
        if byte >= 128 { i32::from(u8::MAX) * 2 } else { rank.cast_signed() * 2 - i32::from(!is_symbol) }
    }

    /// Compares with the `own` bytes at `from` of all suffixes; what is before them is matched. `None` if there are not as
    /// many.
    #[inline(always)]
    fn compare(&mut self, from: usize, own: usize) -> Option<Found> {
        if from + own > self.parts.text_len {
            return None;
        }
        for at in from..from + own {
            let symbol = 2 * i32::from(self.parts.symbol(at)?);
            if symbol != self.next {
                return Some(if symbol < self.next { Found::Less } else { Found::Greater });
            }
            self.matched += 1;
            self.next = self.symbol_of_next();
        }
        Some(if self.matched == self.term.len() { Found::Equal } else { Found::Less })
    }
}
