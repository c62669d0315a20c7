//! The documents of a full block: packed gaps or, if they are dense, a bit for each document number.
//!
//! If about every third document contains the term, bits take no more space. Lists of such blocks are joined
//! and intersected 64 documents at a time without being unpacked. A code describes the encoding: up to 32 it
//! is the width of the gaps. Above [`DENSE`], the rest is the number of [`UNIT`]s of bits; the first bit is
//! for the document after `before`.

#![expect(clippy::indexing_slicing, reason = "the arrays have as many elements as a block")]

use super::DENSE;
use crate::codec::bitpack::{BLOCK, UNIT, pack, packed_len, unpack_gaps, width_of};
use crate::codec::bits::{self, SLACK};

/// Number of documents that a unit of bits spans.
const SPAN: u32 = 128;

const _: () = assert!(SPAN as usize == 8 * UNIT);

/// Maximum number of units of bits in a block.
const MOST_UNITS: u8 = 12;

/// Gaps up to this width cannot overflow a document number within a block that starts below 2³¹.
const SAFE_WIDTH: u8 = 24;

const _: () = assert!(BLOCK << SAFE_WIDTH <= 1 << 31);

/// Returns the number of units of a dense block.
#[inline]
pub(super) fn units(code: u8) -> Option<u8> {
    code.checked_sub(DENSE).filter(|units| (1..=MOST_UNITS).contains(units))
}

/// Returns the size in bytes of the documents of a block.
#[inline]
pub(super) fn len(code: u8) -> usize {
    packed_len(units(code).unwrap_or(code))
}

/// Appends ascending documents, all after `before` (-1 for none), and returns the code of their encoding.
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

/// Returns the number of units of bits, if bits pay: they may take up to a quarter more than gaps, which are
/// slower to process. Documents without gaps need no bytes at all.
#[inline]
fn dense_units(span: u32, width: u8) -> Option<u8> {
    let units = u8::try_from(span.div_ceil(SPAN)).ok()?;
    (width > 0 && units <= MOST_UNITS && units <= width + width / 4).then_some(units)
}

/// The documents of a block, and room for the entries that readers overwrite after them.
pub(super) type Room = [u32; BLOCK + SLACK];

/// Reads documents that [`write`] wrote; `None` if the bytes are invalid. The documents ascend and are after
/// `before`, if `before` is below 2³¹ or -1. The caller must check the last document.
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

/// Returns the bits of a dense block.
#[inline]
pub(super) fn words_of(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
}

/// Returns true if a dense block has the right number of bits, and the last one is bit `last`.
#[inline]
pub(super) fn ends_at(bytes: &[u8], last: u32) -> bool {
    let mut words = [0; 2 * MOST_UNITS as usize];
    words.iter_mut().zip(words_of(bytes)).for_each(|(word, bits)| *word = bits);
    let highest = words.iter().rposition(|&word| word != 0);
    let place = highest.map(|at| 64 * at + words[at].ilog2() as usize);
    place == Some(last as usize) && bits::count_ones(&words) == BLOCK as u64
}
