//! Blocks of [`BLOCK`] integers packed to a common width.
//!
//! The layout is vertical: integer `i` is in lane `i % LANES`, and each lane packs its 32 integers into
//! `width` words. So every step processes [`LANES`] neighbours with the same shift. Widths are constants of
//! the generated code, and the compiler turns plain arrays of [`LANES`] integers into vector registers.
//! Unpacking with the running sum costs 0.2 to 0.35 ns per integer on Zen 4 with SSE2 alone, and 0.5 ns with
//! scalar sums.
//!
//! A block is `width × LANES` words, little-endian, word-major: all lanes of the first word come first.

#![expect(
    clippy::indexing_slicing,
    reason = "rows and lanes are constants, or below the length of their array"
)]

/// Number of integers that one instruction processes; every x86-64 and aarch64 processor handles 4.
pub const LANES: usize = 4;

/// Number of integers in a block. Each lane holds one integer per bit of a word, so that every width fills
/// whole words.
pub const BLOCK: usize = 32 * LANES;

/// Number of bytes of a block of width 1; the size of every block is a multiple of it.
pub const UNIT: usize = 4 * LANES;

type Row = [u32; LANES];

/// Calls `$function::<W>` for the constant `W` that equals `$width`; `None` above 32.
macro_rules! with_width {
    ($width:expr, $function:ident ($($argument:expr),*)) => {
        with_width!(@ $width, $function ($($argument),*)
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32)
    };
    (@ $width:expr, $function:ident $arguments:tt $($value:literal)*) => {
        match $width {
            $($value => with_width!(! $function $value $arguments),)*
            _ => None,
        }
    };
    (! $function:ident $value:literal ($($argument:expr),*)) => {
        $function::<$value>($($argument),*)
    };
}

/// Runs `$step!(R)` for the rows 0 to 31 with `R` a constant, so that shifts are constants too.
macro_rules! for_each_row {
    ($step:ident) => {
        for_each_row!(@ $step
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31)
    };
    (@ $step:ident $($row:literal)*) => { $($step!($row);)* };
}

/// Returns the width that `all_bits` needs, where `all_bits` is the bitwise OR of all values.
#[inline]
pub fn width_of(all_bits: u32) -> u8 {
    u8::try_from(32 - all_bits.leading_zeros()).unwrap_or(32)
}

/// Returns the size in bytes of a block of `width` bits.
#[inline]
pub fn packed_len(width: u8) -> usize {
    UNIT * usize::from(width)
}

/// Appends `values`; none of them may need more than `width` bits.
#[inline]
pub fn pack(values: &[u32; BLOCK], width: u8, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + packed_len(width), 0);
    let (target, _) = out.split_at_mut(start).1.as_chunks_mut::<UNIT>();
    let packed = with_width!(width, pack_width(values, target));
    debug_assert!(packed.is_some(), "widths are at most 32");
}

#[inline(never)]
fn pack_width<const W: usize>(values: &[u32; BLOCK], target: &mut [[u8; UNIT]]) -> Option<()> {
    let target: &mut [[u8; UNIT]; W] = target.first_chunk_mut()?;
    let (rows, _) = values.as_chunks::<LANES>();
    let rows: &[Row; 32] = rows.first_chunk()?;
    let mut word: Row = [0; LANES];
    macro_rules! step {
        ($row:literal) => {
            write_row(target, $row, &rows[$row], &mut word);
        };
    }
    for_each_row!(step);
    Some(())
}

/// Adds row `row` to `word`, the unfinished word of every lane, and writes `word` when it is full.
#[inline(always)]
fn write_row<const W: usize>(target: &mut [[u8; UNIT]; W], row: usize, values: &Row, word: &mut Row) {
    if W == 0 {
        return;
    }
    let (index, shift) = (row * W / 32, row * W % 32);
    *word = merge(*word, shl(*values, shift));
    if shift + W >= 32 {
        target[index] = to_bytes(*word);
        *word = if shift + W > 32 { shr(*values, 32 - shift) } else { [0; LANES] };
    }
}

/// Reads a block of `width` bits from the front of `bytes`. Returns `None` if there are too few bytes or
/// `width` exceeds 32.
#[inline]
pub fn unpack(bytes: &[u8], width: u8, values: &mut [u32; BLOCK]) -> Option<()> {
    let (source, _) = bytes.as_chunks::<UNIT>();
    with_width!(width, unpack_width(source, values))
}

#[inline(never)]
fn unpack_width<const W: usize>(source: &[[u8; UNIT]], values: &mut [u32; BLOCK]) -> Option<()> {
    let source: &[[u8; UNIT]; W] = source.first_chunk()?;
    let rows: &mut [Row; 32] = values.as_chunks_mut::<LANES>().0.first_chunk_mut()?;
    macro_rules! step {
        ($row:literal) => {
            rows[$row] = read_row::<W>(source, $row);
        };
    }
    for_each_row!(step);
    Some(())
}

/// Reads a block of gaps as [`unpack`] does and returns their running sum: value `i` is
/// `before + (gap 0 + 1) + … + (gap i + 1)`, modulo 2³².
#[inline]
pub fn unpack_gaps(bytes: &[u8], width: u8, before: u32, values: &mut [u32; BLOCK]) -> Option<()> {
    let (source, _) = bytes.as_chunks::<UNIT>();
    with_width!(width, unpack_gaps_width(source, before, values))
}

#[inline(never)]
fn unpack_gaps_width<const W: usize>(
    source: &[[u8; UNIT]],
    before: u32,
    values: &mut [u32; BLOCK],
) -> Option<()> {
    let source: &[[u8; UNIT]; W] = source.first_chunk()?;
    let rows: &mut [Row; 32] = values.as_chunks_mut::<LANES>().0.first_chunk_mut()?;
    let mut carry: Row = [before; LANES];
    macro_rules! step {
        ($row:literal) => {
            rows[$row] = running_sum(read_row::<W>(source, $row), &mut carry);
        };
    }
    for_each_row!(step);
    Some(())
}

/// Row `row` of a block; constant-folded, since `W` and `row` are constants where it is inlined.
#[inline(always)]
fn read_row<const W: usize>(source: &[[u8; UNIT]; W], row: usize) -> Row {
    if W == 0 {
        return [0; LANES];
    }
    let (index, shift) = (row * W / 32, row * W % 32);
    let mut values = shr(from_bytes(&source[index]), shift);
    if shift + W > 32 {
        values = merge(values, shl(from_bytes(&source[index + 1]), 32 - shift));
    }
    if W < 32 { values.map(|value| value & ((1 << (W % 32)) - 1)) } else { values }
}

/// Returns the running sums of a row of gaps, each incremented by one. `carry` is the last sum of the row
/// before.
///
/// This takes two steps of shifted additions. It uses intrinsics because the compiler makes scalar code of
/// the plain form, which takes twice as long.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn running_sum(gaps: Row, carry: &mut Row) -> Row {
    use std::arch::x86_64::{__m128i, _mm_add_epi32, _mm_set1_epi32, _mm_shuffle_epi32, _mm_slli_si128};
    use std::mem::transmute;
    // SAFETY: SSE2 is part of every x86-64; both types are 16 bytes in which every bit pattern is valid.
    unsafe {
        let ones = _mm_add_epi32(transmute::<Row, __m128i>(gaps), _mm_set1_epi32(1));
        let pairs = _mm_add_epi32(ones, _mm_slli_si128::<4>(ones));
        let sums = _mm_add_epi32(
            _mm_add_epi32(pairs, _mm_slli_si128::<8>(pairs)),
            transmute::<Row, __m128i>(*carry),
        );
        *carry = transmute::<__m128i, Row>(_mm_shuffle_epi32::<0xff>(sums));
        transmute::<__m128i, Row>(sums)
    }
}

/// Returns the running sums of a row of gaps, each incremented by one. `carry` is the last sum of the row
/// before.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn running_sum(gaps: Row, carry: &mut Row) -> Row {
    let mut sum = carry[LANES - 1];
    let sums = gaps.map(|gap| {
        sum = sum.wrapping_add(gap).wrapping_add(1);
        sum
    });
    *carry = [sum; LANES];
    sums
}

#[inline(always)]
fn merge(left: Row, right: Row) -> Row {
    std::array::from_fn(|lane| left[lane] | right[lane])
}

#[inline(always)]
fn shl(row: Row, shift: usize) -> Row {
    row.map(|value| value << shift)
}

#[inline(always)]
fn shr(row: Row, shift: usize) -> Row {
    row.map(|value| value >> shift)
}

#[inline(always)]
fn from_bytes(bytes: &[u8; UNIT]) -> Row {
    std::array::from_fn(|lane| {
        u32::from_le_bytes([bytes[4 * lane], bytes[4 * lane + 1], bytes[4 * lane + 2], bytes[4 * lane + 3]])
    })
}

#[inline(always)]
fn to_bytes(row: Row) -> [u8; UNIT] {
    let mut bytes = [0; UNIT];
    for (chunk, value) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(row) {
        *chunk = value.to_le_bytes();
    }
    bytes
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "test data is small")]
mod tests {
    use super::*;

    /// Packs bit by bit, as a reference for the layout.
    fn pack_slowly(values: &[u32; BLOCK], width: usize) -> Vec<u8> {
        let mut bytes = vec![0u8; UNIT * width];
        for (i, value) in values.iter().enumerate() {
            for bit in 0..width {
                let at = i / LANES * width + bit;
                let word = at / 32 * LANES + i % LANES;
                bytes[4 * word + at % 32 / 8] |= ((value >> bit & 1) as u8) << (at % 8);
            }
        }
        bytes
    }

    fn random_block(width: u8, seed: u64) -> [u32; BLOCK] {
        let mut state = seed;
        std::array::from_fn(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 16) & ((1u64 << width) - 1)) as u32
        })
    }

    #[test]
    fn every_width_packs_as_the_definition_says_and_reads_back() {
        for width in 0..=32u8 {
            let values = random_block(width, 17 + u64::from(width));
            let mut bytes = vec![7];
            pack(&values, width, &mut bytes);
            assert_eq!(bytes[1..], pack_slowly(&values, usize::from(width)));
            let mut back = [1; BLOCK];
            unpack(&bytes[1..], width, &mut back).unwrap();
            assert_eq!(back, values, "width {width}");
        }
    }

    #[test]
    fn gaps_read_back_as_running_sums() {
        for width in 0..=32u8 {
            let gaps = random_block(width, 99);
            let mut bytes = Vec::new();
            pack(&gaps, width, &mut bytes);
            let mut sums = [0; BLOCK];
            unpack_gaps(&bytes, width, 41, &mut sums).unwrap();
            let mut sum = 41u32;
            for (gap, found) in gaps.into_iter().zip(sums) {
                sum = sum.wrapping_add(gap).wrapping_add(1);
                assert_eq!(found, sum, "width {width}");
            }
        }
    }

    #[test]
    fn missing_bytes_and_impossible_widths_are_refused() {
        let mut values = [0; BLOCK];
        for width in 1..=32 {
            assert!(unpack(&vec![0; packed_len(width) - 1], width, &mut values).is_none());
            assert!(unpack_gaps(&vec![0; packed_len(width) - 1], width, 0, &mut values).is_none());
        }
        assert!(unpack(&[0; 4096], 33, &mut values).is_none());
        assert!(unpack_gaps(&[0; 4096], 255, 0, &mut values).is_none());
    }

    #[test]
    fn widths_cover_their_values() {
        assert_eq!([0, 1, 2, 3, u32::MAX].map(width_of), [0, 1, 2, 2, 32]);
    }
}
