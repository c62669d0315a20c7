//! The documents of a full block: packed gaps, or where they are dense a bit for each number.
//!
//! Bits take no more room where every third document or so has the term, and lists of such blocks are joined
//! and intersected 64 documents at a time without being unpacked. A code says how a block is written: up to
//! 32 the width of its gaps, above [`DENSE`] how many [`UNIT`]s of bits follow, of which the first is for the
//! document after `before`.

#![expect(clippy::indexing_slicing, reason = "the arrays have as many elements as a block")]

use super::DENSE;
use crate::codec::bitpack::{BLOCK, UNIT, pack, packed_len, unpack_gaps, width_of};
use crate::codec::bits::{self, SLACK};

/// Documents that a unit of bits spans.
const SPAN: u32 = 128;

const _: () = assert!(SPAN as usize == 8 * UNIT);

/// Units of bits in a block, at most.
const MOST_UNITS: u8 = 12;

/// Gaps up to this width cannot overflow a document number within a block that starts below 2³¹.
const SAFE_WIDTH: u8 = 24;

const _: () = assert!(BLOCK << SAFE_WIDTH <= 1 << 31);

/// How many units a dense block has.
#[inline]
pub(super) fn units(code: u8) -> Option<u8> {
    code.checked_sub(DENSE).filter(|units| (1..=MOST_UNITS).contains(units))
}

/// Bytes of the documents of a block.
#[inline]
pub(super) fn len(code: u8) -> usize {
    packed_len(units(code).unwrap_or(code))
}

/// Appends rising documents, all after `before` (-1 for none), and returns the code of how they are written.
pub(super) fn write(docs: &[u32; BLOCK], before: u32, out: &mut Vec<u8>) -> u8 {
    let mut gaps = [0; BLOCK];
    let (mut gap_bits, mut last) = (0, before);
    for (gap, &doc) in gaps.iter_mut().zip(docs) {
        *gap = doc.wrapping_sub(last).wrapping_sub(1);
        gap_bits |= *gap;
        last = doc;
    }
    let width = width_of(gap_bits);
    match dense_units(last.wrapping_sub(before), width) {
        Some(units) => {
            let start = out.len();
            out.resize(start + packed_len(units), 0);
            let (_, bits) = out.split_at_mut(start);
            for &doc in docs {
                let place = doc.wrapping_sub(before).wrapping_sub(1);
                if let Some(byte) = bits.get_mut(place as usize / 8) {
                    *byte |= 1 << (place % 8);
                }
            }
            DENSE + units
        }
        None => {
            pack(&gaps, width, out);
            width
        }
    }
}

/// The units that bits take, if they are worth it: up to a quarter more than the gaps, which are slower to
/// work with. Documents without any gap need nothing at all.
#[inline]
fn dense_units(span: u32, width: u8) -> Option<u8> {
    let units = u8::try_from(span.div_ceil(SPAN)).ok()?;
    (width > 0 && units <= MOST_UNITS && units <= width + width / 4).then_some(units)
}

/// The documents of a block, and what may be written behind them while they are read.
pub(super) type Room = [u32; BLOCK + SLACK];

/// Reads what [`write`] wrote; `None` if the bytes cannot be that. Documents rise, and are after `before`, if
/// `before` is below 2³¹ or -1; whether the last one is right the caller has to see.
#[inline]
pub(super) fn read(bytes: &[u8], code: u8, before: u32, room: &mut Room) -> Option<()> {
    if let Some(units) = units(code) {
        return read_dense(bytes.get(..packed_len(units))?, before, room);
    }
    let docs = room.first_chunk_mut()?;
    unpack_gaps(bytes, code, before, docs)?;
    let rising = code <= SAFE_WIDTH || docs.is_sorted_by(|left, right| left < right);
    (rising && (before == u32::MAX || before < docs[0])).then_some(())
}

#[inline(never)]
fn read_dense(bytes: &[u8], before: u32, room: &mut Room) -> Option<()> {
    (bits::list(words_of(bytes), before.wrapping_add(1), room)? == BLOCK).then_some(())
}

/// The bits of a dense block.
#[inline]
pub(super) fn words_of(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
}

/// True if the bits of a dense block are as many as they should be, and the last of them is bit number
/// `last`.
#[inline]
pub(super) fn ends_at(bytes: &[u8], last: u32) -> bool {
    let mut words = [0; 2 * MOST_UNITS as usize];
    words.iter_mut().zip(words_of(bytes)).for_each(|(word, bits)| *word = bits);
    let highest = words.iter().rposition(|&word| word != 0);
    let place = highest.map(|at| 64 * at + words[at].ilog2() as usize);
    place == Some(last as usize) && bits::count_ones(&words) == BLOCK as u64
}
