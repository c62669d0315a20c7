//! Exact sums of floating-point numbers and of their squares, in any order.
//!
//! A sum is kept as an integer in units of the least number that any addend can have (U. Kulisch and
//! W. Miranker, 1981; R. Neal, "Fast exact summation using small and large superaccumulators", 2015). So it
//! does not depend on the order of additions, and sums of parts add up to the sum of the whole. Many numbers
//! at once are first summed as integers of one unit if their exponents are near each other, and by their
//! exponents otherwise.

use std::cell::RefCell;

use num_bigint::{BigInt, Sign};
use serde::{Deserialize, Serialize};

/// Bits of a limb.
const LIMB: u32 = 32;

/// Additions after which limbs are carried over.
const CARRY_AFTER: u32 = 1 << 30;

/// Bits of the mantissa of a double, without the leading one.
const MANTISSA: u32 = 52;

/// The exponent of the unit of sums of doubles: the least positive double is 2⁻¹⁰⁷⁴.
pub(crate) const UNIT: i32 = -1074;

/// Bits of the largest sum of doubles, and of their squares, of up to 2⁶⁴ of them.
const SUM_BITS: usize = 2048 + 53 + 64;
const SQUARE_BITS: usize = 2 * 2048 + 106 + 64;

/// The difference of exponents with which mantissas become integers of less than 63 bits.
const NEAR: u32 = 10;

/// Numbers in one call from which it pays to sum them by exponents first.
const MANY: usize = 64;

/// A signed integer to which numbers are added at any bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WideSum {
    /// Lowest first. Each may exceed its bits until it is carried over.
    limbs: Vec<i64>,
    additions: u32,
}

impl WideSum {
    fn new(bits: usize) -> Self {
        // Three more, so that an addition at the highest bit has room for all its parts.
        WideSum { limbs: vec![0; bits.div_ceil(LIMB as usize) + 3], additions: 0 }
    }

    /// Adds `number · 2^bit`, or subtracts it.
    fn add(&mut self, number: u128, bit: u32, is_negative: bool) {
        let (first, shift) = ((bit / LIMB) as usize, bit % LIMB);
        for (half, limb) in [(number & u128::from(u64::MAX), first), (number >> 64, first + 2)] {
            if half == 0 {
                continue;
            }
            let mut rest = half << shift;
            for limb in self.limbs.get_mut(limb..).into_iter().flatten() {
                #[expect(clippy::cast_possible_truncation, reason = "these are the low bits")]
                let part = i64::from(rest as u32);
                *limb += if is_negative { -part } else { part };
                rest >>= LIMB;
                if rest == 0 {
                    break;
                }
            }
        }
        self.additions += 1;
        if self.additions == CARRY_AFTER {
            self.carry();
        }
    }

    /// Carries over what exceeds each limb.
    fn carry(&mut self) {
        let mut carried = 0;
        if let Some((last, others)) = self.limbs.split_last_mut() {
            for limb in others {
                let sum = *limb + carried;
                carried = sum >> LIMB;
                *limb = sum - (carried << LIMB);
            }
            *last += carried;
        }
        self.additions = 0;
    }

    /// Adds another sum of the same size.
    pub(crate) fn join(&mut self, mut other: WideSum) {
        self.carry();
        other.carry();
        self.limbs.iter_mut().zip(&other.limbs).for_each(|(own, other)| *own += other);
        self.additions = 1;
    }

    /// The limbs, lowest first, carried over.
    pub(crate) fn limbs(mut self) -> Vec<i64> {
        self.carry();
        self.limbs
    }

    /// The sum of these limbs; `None` if they cannot come from a sum of the size of `like`.
    fn from_limbs(limbs: Vec<i64>, like: &WideSum) -> Option<Self> {
        let (last, others) = limbs.split_last()?;
        let fits = |limb: &i64| (0..1 << LIMB).contains(limb);
        let is_sum = limbs.len() == like.limbs.len() && others.iter().all(fits) && last.abs() < 1 << LIMB;
        is_sum.then_some(WideSum { limbs, additions: 0 })
    }

    pub(crate) fn whole(&self) -> BigInt {
        let limbs = self.clone().limbs();
        let Some((last, others)) = limbs.split_last() else { return BigInt::from(0) };
        // Only the last one can be negative or larger than a limb.
        let digits = others.iter().map(|&limb| u32::try_from(limb).unwrap_or(0)).collect();
        BigInt::new(Sign::Plus, digits) + (BigInt::from(*last) << (LIMB as usize * others.len()))
    }
}

/// Sums as they are sent: the limbs of the sum and of the squares.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FloatParts {
    sum: Vec<i64>,
    squares: Vec<i64>,
    odd: [u64; 3],
}

impl From<FloatSums> for FloatParts {
    fn from(sums: FloatSums) -> Self {
        FloatParts { sum: sums.sum.limbs(), squares: sums.squares.limbs(), odd: sums.odd }
    }
}

impl TryFrom<FloatParts> for FloatSums {
    type Error = &'static str;

    fn try_from(parts: FloatParts) -> Result<Self, Self::Error> {
        let new = FloatSums::new();
        let sum = WideSum::from_limbs(parts.sum, &new.sum);
        let squares = WideSum::from_limbs(parts.squares, &new.squares);
        let (Some(sum), Some(squares)) = (sum, squares) else { return Err("limbs that are no sum") };
        Ok(FloatSums { sum, squares, odd: parts.odd })
    }
}

/// The exact sums of doubles and of their squares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "FloatParts", try_from = "FloatParts")]
pub(crate) struct FloatSums {
    /// In units of 2⁻¹⁰⁷⁴.
    pub(crate) sum: WideSum,
    /// In units of 2⁻²¹⁴⁸.
    pub(crate) squares: WideSum,
    /// How many of the numbers were not a number, and how many were infinite, above and below.
    pub(crate) odd: [u64; 3],
}

impl FloatSums {
    pub(crate) fn new() -> Self {
        FloatSums { sum: WideSum::new(SUM_BITS), squares: WideSum::new(SQUARE_BITS), odd: [0; 3] }
    }

    pub(crate) fn join(&mut self, other: FloatSums) {
        self.sum.join(other.sum);
        self.squares.join(other.squares);
        self.odd.iter_mut().zip(other.odd).for_each(|(own, other)| *own = own.saturating_add(other));
    }

    /// Adds numbers.
    pub(crate) fn add(&mut self, numbers: impl ExactSizeIterator<Item = f64> + Clone) {
        if numbers.len() < MANY {
            return numbers.for_each(|number| self.add_times(number, 1));
        }
        match NearSums::of(numbers.clone()) {
            Some(near) => near.add_to(self),
            None => BINS.with_borrow_mut(|bins| bins.add_to(self, numbers)),
        }
    }

    /// Adds a number `times` times.
    pub(crate) fn add_times(&mut self, number: f64, times: u64) {
        let Some(DoubleParts { mantissa, exponent, is_negative }) = parts(number) else {
            return self.add_odd(number, times);
        };
        let times = u128::from(times);
        self.sum.add(u128::from(mantissa) * times, exponent, is_negative);
        let square = u128::from(mantissa) * u128::from(mantissa);
        self.squares.add((square & u128::from(u64::MAX)) * times, 2 * exponent, false);
        self.squares.add((square >> 64) * times, 2 * exponent + 64, false);
    }

    fn add_odd(&mut self, number: f64, times: u64) {
        let [not, above, below] = &mut self.odd;
        *(if number.is_nan() {
            not
        } else if number > 0.0 {
            above
        } else {
            below
        }) += times;
    }

    /// The sum if it is not finite.
    pub(crate) fn odd_sum(&self) -> Option<f64> {
        match self.odd {
            [0, 0, 0] => None,
            [0, _, 0] => Some(f64::INFINITY),
            [0, 0, _] => Some(f64::NEG_INFINITY),
            _ => Some(f64::NAN),
        }
    }
}

/// A finite double: `mantissa · 2^(exponent - 1074)`.
struct DoubleParts {
    mantissa: u64,
    exponent: u32,
    is_negative: bool,
}

/// The parts of a double; `None` if it is not finite.
#[inline]
fn parts(number: f64) -> Option<DoubleParts> {
    let bits = number.to_bits();
    let exponent = (bits >> MANTISSA) as u32 & 0x7ff;
    let fraction = bits & ((1 << MANTISSA) - 1);
    let is_negative = bits >> 63 == 1;
    match exponent {
        0 => Some(DoubleParts { mantissa: fraction, exponent: 0, is_negative }),
        0x7ff => None,
        _ => Some(DoubleParts { mantissa: fraction | 1 << MANTISSA, exponent: exponent - 1, is_negative }),
    }
}

/// The sums of numbers whose exponents are near each other, in units of the least one.
#[derive(Default)]
struct NearSums {
    /// The least exponent.
    exponent: u32,
    sum: i128,
    /// The sum of the squares, and how often it exceeded its bits.
    squares: u128,
    carried: u64,
}

impl NearSums {
    /// The sums of finite numbers whose exponents differ by at most [`NEAR`], apart from zeros; `None` for
    /// others.
    fn of(numbers: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        // Without the sign, bits have the order of numbers. Of zeros, they become the greatest.
        let (mut least, mut most) = (u64::MAX, 0);
        for number in numbers.clone() {
            let bits = number.to_bits() & !(1 << 63);
            (least, most) = (least.min(bits.wrapping_sub(1)), most.max(bits));
        }
        if most == 0 {
            return Some(NearSums::default());
        }
        let exponent = parts(f64::from_bits(least + 1))?.exponent;
        if parts(f64::from_bits(most))?.exponent - exponent > NEAR {
            return None;
        }
        let mut all = NearSums { exponent, ..NearSums::default() };
        for number in numbers {
            let DoubleParts { mantissa, exponent: own, is_negative } = parts(number)?;
            let size = mantissa << own.saturating_sub(exponent);
            all.sum += i128::from(if is_negative { -size.cast_signed() } else { size.cast_signed() });
            let (squares, is_over) = all.squares.overflowing_add(u128::from(size) * u128::from(size));
            (all.squares, all.carried) = (squares, all.carried + u64::from(is_over));
        }
        Some(all)
    }

    fn add_to(&self, all: &mut FloatSums) {
        all.sum.add(self.sum.unsigned_abs(), self.exponent, self.sum < 0);
        all.squares.add(self.squares, 2 * self.exponent, false);
        all.squares.add(self.carried.into(), 2 * self.exponent + u128::BITS, false);
    }
}

/// Sums by exponent. 2²⁰ squares of mantissas fit.
struct Bins {
    sums: Vec<i128>,
    squares: Vec<u128>,
}

const EXPONENTS: usize = 2047;
const BIN_ADDITIONS: usize = 1 << 20;

thread_local! {
    static BINS: RefCell<Bins> =
        RefCell::new(Bins { sums: vec![0; EXPONENTS], squares: vec![0; EXPONENTS] });
}

impl Bins {
    fn add_to(&mut self, all: &mut FloatSums, mut numbers: impl ExactSizeIterator<Item = f64>) {
        while numbers.len() > 0 {
            let (mut least, mut most) = (EXPONENTS, 0);
            for number in numbers.by_ref().take(BIN_ADDITIONS) {
                let Some(DoubleParts { mantissa, exponent, is_negative }) = parts(number) else {
                    all.add_odd(number, 1);
                    continue;
                };
                let place = exponent as usize;
                (least, most) = (least.min(place), most.max(place));
                let signed = if is_negative { -i128::from(mantissa) } else { i128::from(mantissa) };
                if let (Some(sum), Some(square)) = (self.sums.get_mut(place), self.squares.get_mut(place)) {
                    *sum += signed;
                    *square += u128::from(mantissa) * u128::from(mantissa);
                }
            }
            for (place, exponent) in (least..=most).zip(u32::try_from(least).unwrap_or(0)..) {
                let (Some(sum), Some(square)) = (self.sums.get_mut(place), self.squares.get_mut(place))
                else {
                    break;
                };
                let (sum, square) = (std::mem::take(sum), std::mem::take(square));
                all.sum.add(sum.unsigned_abs(), exponent, sum < 0);
                all.squares.add(square, 2 * exponent, false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn any(random: &mut fastrand::Rng) -> f64 {
        match random.u32(..8) {
            0 => f64::from_bits(random.u64(..)),
            1 => f64::from_bits(random.u64(..) & 0x800f_ffff_ffff_ffff),
            2 => [f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, 0.0, -0.0][random.usize(..6)],
            _ => random.f64() * 2000.0 - 1000.0,
        }
    }

    /// The same by integers of any size.
    fn whole(numbers: &[f64]) -> (BigInt, BigInt) {
        let exact = |number: f64| {
            let DoubleParts { mantissa, exponent, is_negative } = parts(number).unwrap();
            let size = BigInt::from(mantissa) << exponent;
            if is_negative { -size } else { size }
        };
        let sum = numbers.iter().map(|&number| exact(number)).sum();
        (sum, numbers.iter().map(|&number| exact(number) * exact(number)).sum())
    }

    #[test]
    fn sums_are_exact_in_any_order_and_in_any_parts() {
        let seed = fastrand::u64(..);
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..300 {
            let scale = 2f64.powi(random.i32(-1080..1000));
            let mut number = || match round % 3 {
                0 => any(&mut random),
                // Exponents near each other, and zeros.
                1 => [0.0, 1.0, -1.0][random.usize(..3)] * scale * (1.0 + random.f64()),
                _ => scale * (random.f64() + 0.001) * 1000.0,
            };
            let mut numbers: Vec<f64> = (0..400).map(|_| number()).collect();
            numbers.truncate(random.usize(..=400));
            let odd = numbers.iter().filter(|number| !number.is_finite()).count() as u64;
            let finite: Vec<f64> = numbers.iter().copied().filter(|number| number.is_finite()).collect();
            let expected = whole(&finite);
            let mut all = FloatSums::new();
            random.shuffle(&mut numbers);
            let mut rest = &numbers[..];
            while !rest.is_empty() {
                let (part, others) = rest.split_at(random.usize(1..=rest.len()));
                let mut sums = FloatSums::new();
                sums.add(part.iter().copied());
                all.join(FloatParts::from(sums).try_into().unwrap());
                rest = others;
            }
            assert_eq!((all.sum.whole(), all.squares.whole()), expected, "seed {seed} round {round}");
            assert_eq!(all.odd.iter().sum::<u64>(), odd, "seed {seed} round {round}");
        }
    }

    #[test]
    fn a_number_many_times_is_its_multiple() {
        let seed = fastrand::u64(..);
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..2000 {
            let (number, times) = (any(&mut random), random.u64(..) >> random.u32(..64));
            let mut sums = FloatSums::new();
            sums.add_times(number, times);
            if number.is_finite() {
                let (sum, square) = whole(&[number]);
                let found = (sums.sum.whole(), sums.squares.whole());
                assert_eq!(found, (sum * times, square * times), "seed {seed}: {number} times {times}");
            } else {
                assert!(sums.odd_sum().is_some_and(|sum| !sum.is_finite()) || times == 0, "seed {seed}");
            }
        }
    }

    #[test]
    fn limbs_that_are_no_sum_are_refused() {
        let good = FloatSums::new();
        let parts = || FloatParts::from(good.clone());
        let refused = |parts: FloatParts| FloatSums::try_from(parts).is_err();
        assert_eq!(FloatSums::try_from(parts()).as_ref(), Ok(&good));
        let FloatParts { sum, squares, odd } = parts();
        assert!(refused(FloatParts { sum: squares, squares: sum, odd }));
        assert!(refused(FloatParts { sum: Vec::new(), ..parts() }));
        let mut wrong = parts();
        wrong.sum[3] = i64::MAX;
        assert!(refused(wrong));
    }
}
