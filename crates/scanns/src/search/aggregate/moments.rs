//! The number, sum and sum of squares of the numbers of a column: exact, so that they do not depend on the
//! order of the numbers, and figures of parts add up to those of the whole.

use num_bigint::BigInt;
use serde::{Deserialize, Serialize};

use super::answer::Sum;
use super::exact_sum::{FloatSums, UNIT};
use crate::column::ColumnKind;
use crate::sys::in_wide_vectors;

/// The offset between signed integers and the unsigned integers that represent them.
const SIGN: i128 = 1 << 63;

/// Figures as they are sent: long integers in words of 64 bits, lowest first.
#[derive(Serialize, Deserialize)]
struct MomentParts {
    values: u64,
    least: u64,
    most: u64,
    sum: [u64; 2],
    squares: [u64; 3],
    floats: Option<Box<FloatSums>>,
}

#[expect(clippy::cast_possible_truncation, reason = "these are the low words")]
impl From<Moments> for MomentParts {
    fn from(all: Moments) -> Self {
        let Moments { values, least, most, sum, squares: (low, high), floats } = all;
        let words = |number: u128| [number as u64, (number >> 64) as u64];
        let [first, second] = words(low);
        MomentParts { values, least, most, sum: words(sum), squares: [first, second, high], floats }
    }
}

impl From<MomentParts> for Moments {
    fn from(parts: MomentParts) -> Self {
        let MomentParts { values, least, most, sum, squares: [first, second, high], floats } = parts;
        let number = |low: u64, high: u64| u128::from(high) << 64 | u128::from(low);
        let (sum, squares) = (number(sum[0], sum[1]), (number(first, second), high));
        Moments { values, least, most, sum, squares, floats }
    }
}

/// The figures of numbers of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "MomentParts", from = "MomentParts")]
pub(crate) struct Moments {
    pub(crate) values: u64,
    /// The least and the greatest of the integers that represent the values.
    pub(crate) least: u64,
    pub(crate) most: u64,
    /// The sum of these integers, and of their squares: its low and high bits. Zero for doubles.
    pub(crate) sum: u128,
    pub(crate) squares: (u128, u64),
    pub(crate) floats: Option<Box<FloatSums>>,
}

impl Default for Moments {
    fn default() -> Self {
        Moments { values: 0, least: u64::MAX, most: 0, sum: 0, squares: (0, 0), floats: None }
    }
}

impl Moments {
    /// Adds the numbers that integers represent.
    pub(crate) fn add(&mut self, kind: ColumnKind, values: &[u64]) {
        if values.is_empty() {
            return;
        }
        self.values += values.len() as u64;
        let ends = in_wide_vectors(
            #[inline(always)]
            || values.iter().fold((u64::MAX, 0), |(least, most), &value| (value.min(least), value.max(most))),
        );
        (self.least, self.most) = (self.least.min(ends.0), self.most.max(ends.1));
        if kind.is_float() {
            self.floats().add(values.iter().map(|&value| kind.number_of(value)));
            return;
        }
        let (mut sum, (mut low, mut high)) = (self.sum, self.squares);
        for &value in values {
            sum += u128::from(value);
            let (more, carried) = low.overflowing_add(u128::from(value) * u128::from(value));
            low = more;
            high += u64::from(carried);
        }
        (self.sum, self.squares) = (sum, (low, high));
    }

    /// Adds a number `count` times.
    pub(crate) fn add_same(&mut self, kind: ColumnKind, value: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.values += count;
        (self.least, self.most) = (self.least.min(value), self.most.max(value));
        if kind.is_float() {
            return self.floats().add_times(kind.number_of(value), count);
        }
        self.sum += u128::from(value) * u128::from(count);
        let square = u128::from(value) * u128::from(value);
        let (low, high) = (square & u128::from(u64::MAX), square >> 64);
        let (low, high) = (low * u128::from(count), high * u128::from(count));
        self.add_squares(low, 0);
        self.add_squares(high << 64, (high >> 64) as u64);
    }

    fn add_squares(&mut self, low: u128, high: u64) {
        let (sum, carried) = self.squares.0.overflowing_add(low);
        self.squares = (sum, self.squares.1.wrapping_add(high).wrapping_add(carried.into()));
    }

    fn floats(&mut self) -> &mut FloatSums {
        self.floats.get_or_insert_with(|| Box::new(FloatSums::new()))
    }

    /// Adds the figures of other numbers of the same kind.
    pub(crate) fn join(&mut self, other: Moments) {
        self.values = self.values.saturating_add(other.values);
        (self.least, self.most) = (self.least.min(other.least), self.most.max(other.most));
        self.sum = self.sum.wrapping_add(other.sum);
        self.add_squares(other.squares.0, other.squares.1);
        if let Some(floats) = other.floats {
            self.floats().join(*floats);
        }
    }

    /// The sum and the mean.
    pub(crate) fn sum(&self, kind: ColumnKind) -> (Sum, f64) {
        let count = approximate(self.values);
        if let Some(floats) = &self.floats {
            let exact = || rounded(&floats.sum.whole(), UNIT);
            let sum = floats.odd_sum().unwrap_or_else(exact);
            return (Sum::Float(sum), sum / count);
        }
        let is_signed = matches!(kind, ColumnKind::Signed | ColumnKind::Date);
        let shift = if is_signed { SIGN * i128::from(self.values) } else { 0 };
        let sum = self.sum.cast_signed().wrapping_sub(shift);
        #[expect(clippy::cast_precision_loss, reason = "means are rounded")]
        let mean = sum as f64 / count;
        (Sum::Whole(sum), mean)
    }

    /// The standard deviation: of all values, not an estimate from a sample.
    pub(crate) fn deviation(&self) -> f64 {
        let (sum, squares, unit) = match &self.floats {
            Some(floats) if floats.odd_sum().is_some() => return f64::NAN,
            Some(floats) => (floats.sum.whole(), floats.squares.whole(), UNIT),
            None => {
                let squares = (BigInt::from(self.squares.1) << 128) + self.squares.0;
                (BigInt::from(self.sum), squares, 0)
            }
        };
        // The distances from the mean do not depend on what the integers are counted from.
        let apart = squares * self.values - &sum * &sum;
        root(&apart, unit) / approximate(self.values)
    }
}

#[expect(clippy::cast_precision_loss, reason = "means of more than 2⁵³ values are rounded")]
pub(crate) fn approximate(number: u64) -> f64 {
    number as f64
}

/// The highest 64 bits of the size of an integer, and the exponent of two that they are multiplied with.
fn highest(whole: &BigInt) -> (u64, i32) {
    let beyond = whole.bits().saturating_sub(64);
    let top = (whole.magnitude() >> beyond).iter_u64_digits().next().unwrap_or(0);
    (top, i32::try_from(beyond).unwrap_or(i32::MAX))
}

/// `whole · 2^unit` as a double.
fn rounded(whole: &BigInt, unit: i32) -> f64 {
    let (top, beyond) = highest(whole);
    let size = scaled(approximate(top), beyond + unit);
    if whole.sign() == num_bigint::Sign::Minus { -size } else { size }
}

/// The square root of `square · 2^(2 · unit)`.
fn root(square: &BigInt, unit: i32) -> f64 {
    let (top, beyond) = highest(square);
    let (top, beyond) = if beyond % 2 == 0 { (top, beyond) } else { (top >> 1, beyond + 1) };
    scaled(approximate(top).sqrt(), beyond / 2 + unit)
}

/// `number · 2^exponent`, in steps that neither overflow nor vanish on the way.
fn scaled(number: f64, exponent: i32) -> f64 {
    let (first, second) = (exponent / 2, exponent - exponent / 2);
    number * 2f64.powi(first) * 2f64.powi(second)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [ColumnKind; 4] =
        [ColumnKind::Unsigned, ColumnKind::Signed, ColumnKind::Float, ColumnKind::Date];

    fn any(random: &mut fastrand::Rng, kind: ColumnKind) -> u64 {
        let wide = random.u64(..);
        match kind {
            ColumnKind::Float => {
                let number = if random.u32(..9) == 0 { wide as f64 } else { random.f64() * 8.0 - 4.0 };
                kind.order_of(crate::schema::ValueRef::Float(number)).unwrap()
            }
            _ if random.u32(..9) == 0 => wide,
            ColumnKind::Unsigned => random.u64(..100),
            _ => (1 << 63) + random.u64(..100) - 50,
        }
    }

    #[test]
    fn figures_do_not_depend_on_order_and_parts_and_are_near_those_of_doubles() {
        let seed = fastrand::u64(..);
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..400 {
            let kind = KINDS[round % KINDS.len()];
            let mut values: Vec<u64> = (0..random.usize(1..300)).map(|_| any(&mut random, kind)).collect();
            let mut whole = Moments::default();
            whole.add(kind, &values);
            random.shuffle(&mut values);
            let mut joined = Moments::default();
            let mut rest = &values[..];
            while let Some((&first, others)) = rest.split_first() {
                let (some, later) = others.split_at(random.usize(..=others.len()));
                let mut part = Moments::default();
                part.add_same(kind, first, 1);
                part.add(kind, some);
                joined.join(part);
                rest = later;
            }
            let figures = |of: &Moments| {
                let (sum, mean) = of.sum(kind);
                (of.values, of.least, of.most, sum, mean.to_bits(), of.deviation().to_bits())
            };
            assert_eq!(figures(&whole), figures(&joined), "seed {seed} round {round} {kind:?}");
            let numbers: Vec<f64> = values.iter().map(|&value| kind.number_of(value)).collect();
            let count = numbers.len() as f64;
            let mean = numbers.iter().sum::<f64>() / count;
            let size = numbers.iter().map(|number| number.abs()).fold(1e-9, f64::max);
            assert!((whole.sum(kind).1 - mean).abs() <= 1e-9 * size, "seed {seed} round {round}");
            let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
            let near = (whole.deviation() - (squares / count).sqrt()).abs() <= 1e-6 * size;
            assert!(near, "seed {seed} round {round} {kind:?}");
        }
    }

    #[test]
    fn equal_numbers_do_not_deviate_and_many_are_added_at_once() {
        for kind in KINDS {
            let orders = [0, 1, 1 << 63, 0xbff0_0000_0000_0001].into_iter();
            for order in orders.filter(|&order| kind.number_of(order).is_finite()) {
                let (mut one, mut other) = (Moments::default(), Moments::default());
                one.add_same(kind, order, 1000);
                other.add(kind, &[order; 1000]);
                assert_eq!((one.sum(kind), one.deviation()), (other.sum(kind), 0.0), "{kind:?} {order}");
            }
        }
        let mut huge = Moments::default();
        huge.add_same(ColumnKind::Unsigned, u64::MAX, 1 << 62);
        huge.add_same(ColumnKind::Unsigned, u64::MAX, 3);
        assert_eq!(huge.deviation(), 0.0);
    }

    #[test]
    fn numbers_that_are_not_finite_are_said() {
        let kind = ColumnKind::Float;
        let order = |number: f64| kind.order_of(crate::schema::ValueRef::Float(number)).unwrap();
        let mut sums = Moments::default();
        sums.add(kind, &[order(1.0), order(f64::INFINITY)]);
        assert_eq!(sums.sum(kind).0, Sum::Float(f64::INFINITY));
        assert!(sums.deviation().is_nan());
        sums.add(kind, &[order(f64::NEG_INFINITY)]);
        assert!(matches!(sums.sum(kind).0, Sum::Float(sum) if sum.is_nan()));
    }
}
