//! Doubles: maps them to unsigned integers of the same order, and short decimal numbers to integers.

use crate::sys::in_wide_vectors;

/// The powers of ten that doubles represent exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// Doubles represent all integers up to this one.
const WHOLE: f64 = (1u64 << 53) as f64;

/// The greatest power to try.
const MOST_POWER: usize = 18;

/// Number of values of a block from which the power is chosen.
const SAMPLE: usize = 32;

/// Maps a double to an unsigned integer, in the total order of IEEE 754: negative numbers, zeros, positive
/// numbers, NaNs.
#[inline]
pub fn order_of(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Returns the double that [`order_of`] maps to `order`.
#[inline]
pub fn float_of(order: u64) -> f64 {
    f64::from_bits(if order >> 63 == 1 { order & !(1 << 63) } else { !order })
}

/// Splits a step into the factor of packed integers and the power of ten.
pub(super) fn parts(step: u64) -> (u64, f64) {
    let power = usize::try_from(step >> 56).unwrap_or(0);
    (step & ((1 << 56) - 1), POWERS.get(power).copied().unwrap_or(1.0))
}

/// Combines a factor and a power to a step.
pub(super) fn step_of(factor: u64, power: usize) -> Option<u64> {
    (factor < 1 << 56 && power < POWERS.len()).then_some(factor | (power as u64) << 56)
}

/// Returns the double of `whole` divided by a power of ten. 2⁶³ was added to `whole`, so that its order is
/// the order of signed integers.
#[inline]
pub(super) fn number(whole: u64, power: f64) -> u64 {
    order_of((whole ^ 1 << 63).cast_signed() as f64 / power)
}

/// The sign of a number. Integers to which it was added have the order of signed ones.
const SIGN: u64 = 1 << 63;

/// Signed integers below this distance from 0 become doubles by an addition: see [`SHIFT`].
const SMALL: u64 = 1 << 51;

/// 1.5 · 2⁵². The bits of this double plus a small signed integer are the double of their sum.
const SHIFT: f64 = 3.0 * SMALL as f64;

/// Replaces packed integers by the numbers that they represent, if none is an exception.
/// They have `width` bits.
pub(super) fn put_numbers(values: &mut [u64], base: u64, step: u64, width: u8) {
    let (factor, power) = parts(step);
    let is_small = |whole: u64| (whole ^ SIGN).cast_signed().unsigned_abs() < SMALL;
    let most = u64::MAX.checked_shr(64 - u32::from(width)).unwrap_or(0);
    let most = most.checked_mul(factor).and_then(|most| base.checked_add(most));
    if !is_small(base) || !most.is_some_and(is_small) {
        for value in values {
            *value = number(base.wrapping_add(value.wrapping_mul(factor)), power);
        }
        return;
    }
    // Few processors convert several integers of 64 bits at once.
    let base = SHIFT.to_bits().wrapping_add(base ^ SIGN);
    in_wide_vectors(move || {
        for value in values {
            let whole = f64::from_bits(base.wrapping_add(value.wrapping_mul(factor))) - SHIFT;
            *value = order_of(whole / power);
        }
    });
}

/// Returns the integer that [`number`] maps to `order`, if it exists.
fn whole(order: u64, power: f64) -> Option<u64> {
    let scaled = (float_of(order) * power).round_ties_even();
    // The comparison is false if one side is NaN.
    if scaled.abs() <= WHOLE {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and within 53 bits")]
        let whole = (scaled as i64).cast_unsigned() ^ 1 << 63;
        return (number(whole, power) == order).then_some(whole);
    }
    None
}

/// Converts the numbers of a block to integers over a power of ten. Returns the power and, for each number,
/// the integer or, as an error, the number itself.
///
/// Returns `None` if a quarter or more of a sample cannot be converted.
pub(super) fn wholes(orders: &[u64]) -> Option<(usize, Vec<Result<u64, u64>>)> {
    // The step is odd, because numbers may have a period.
    let step = (orders.len() / SAMPLE) | 1;
    let sample: Vec<u64> = orders.iter().step_by(step).copied().collect();
    let fits = |power: f64| sample.iter().filter(|&&order| whole(order, power).is_some()).count();
    let mut best = (0, 0);
    for (power, &value) in POWERS.iter().enumerate().take(MOST_POWER + 1) {
        let count = fits(value);
        // With the same count, the least power gives the shortest integers.
        if count > best.0 {
            best = (count, power);
        }
        if count == sample.len() {
            break;
        }
    }
    if best.0 * 4 <= sample.len() * 3 {
        return None;
    }
    let power = POWERS.get(best.1).copied()?;
    Some((best.1, orders.iter().map(|&order| whole(order, power).ok_or(order)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_keep_their_order_and_decimals_are_whole_numbers() {
        let sorted =
            [f64::NEG_INFINITY, -1e300, -1.5, -0.0, 0.0, 5e-324, 0.1, 1.0, 1e300, f64::INFINITY, f64::NAN];
        assert!(sorted.map(order_of).is_sorted_by(|a, b| a < b));
        assert!(sorted.iter().all(|&value| float_of(order_of(value)).to_bits() == value.to_bits()));
        let seed = 0x5eed_0604;
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..20_000 {
            let (digits, power) =
                (random.i64(-999_999_999_999_999..=999_999_999_999_999), random.usize(0..=18));
            let value: f64 = format!("{digits}e-{power}").parse().unwrap();
            if digits != 0 {
                let found =
                    whole(order_of(value), POWERS[power]).map(|whole| (whole ^ 1 << 63).cast_signed());
                assert_eq!(found, Some(digits), "seed {seed:x} {value}");
            }
        }
        for odd in [-0.0, f64::NAN, f64::INFINITY, 1e17, 0.1 + 0.2] {
            assert_eq!(whole(order_of(odd), 10.0), None, "{odd}");
        }
    }
}
