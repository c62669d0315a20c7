//! Intervals of numbers, and units of the calendar.
//!
//! Intervals of integers are computed exactly, in integers; hours, days and weeks are such intervals. Months
//! and years are counted from the year 0. The numbers of intervals ascend.

use super::request::CalendarUnit;
use crate::codec::{float_of, order_of};
use crate::column::ColumnKind;
use crate::error::{Error, Result};
use crate::schema::{Value, day_of, days_since_1970};

const HOUR: i64 = 3_600_000_000_000;
const DAY: i64 = 24 * HOUR;

/// Flipping this bit maps signed integers to unsigned ones in the same order.
const SIGN: u64 = 1 << 63;

/// A division of numbers into intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Intervals {
    /// Of this length. One begins with `first`, which is less than the length; the interval before it is
    /// shorter.
    Whole { kind: ColumnKind, length: u64, first: u64 },
    /// Of floating-point numbers.
    Float { length: f64, offset: f64 },
    /// Of this many months.
    Months(i64),
}

impl Intervals {
    /// Intervals of a column of numbers or dates.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a length or an offset that does not suit the kind, [`Error::Unsupported`]
    /// for other kinds.
    pub(crate) fn new(kind: ColumnKind, length: f64, offset: f64) -> Result<Self> {
        if !(length > 0.0 && length.is_finite() && offset.is_finite()) {
            let found = format!("{length} with offset {offset}");
            return Err(Error::invalid("interval of a histogram", found, "a finite number greater than 0"));
        }
        match kind {
            ColumnKind::Float => Ok(Intervals::Float { length, offset }),
            ColumnKind::Unsigned | ColumnKind::Signed | ColumnKind::Date => {
                match (whole(length), whole(offset)) {
                    (Some(length), Some(offset)) if length <= i128::from(u64::MAX) => {
                        Ok(Self::whole(kind, length, offset))
                    }
                    _ => Err(Error::invalid(
                        "interval of a histogram of integers",
                        format!("{length} with offset {offset}"),
                        "integers that fit 64 bits",
                    )),
                }
            }
            _ => Err(Error::Unsupported {
                what: "a histogram of a column without numbers or dates".into(),
                remedy: "count its values instead".into(),
            }),
        }
    }

    fn whole(kind: ColumnKind, length: i128, offset: i128) -> Self {
        let zero = if kind == ColumnKind::Unsigned { 0 } else { i128::from(SIGN) };
        let first = u64::try_from((zero + offset).rem_euclid(length)).unwrap_or(0);
        Intervals::Whole { kind, length: u64::try_from(length).unwrap_or(u64::MAX), first }
    }

    /// Units of the calendar.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a column that has no dates.
    pub(crate) fn of_calendar(kind: ColumnKind, unit: CalendarUnit) -> Result<Self> {
        if kind != ColumnKind::Date {
            return Err(Error::Unsupported {
                what: "a calendar facet of a column without dates".into(),
                remedy: "use a histogram instead".into(),
            });
        }
        let fixed = |length: i64, offset: i64| Self::whole(kind, length.into(), offset.into());
        Ok(match unit {
            CalendarUnit::Year => Intervals::Months(12),
            CalendarUnit::Month => Intervals::Months(1),
            // 1970 began on a Thursday.
            CalendarUnit::Week => fixed(7 * DAY, 4 * DAY),
            CalendarUnit::Day => fixed(DAY, 0),
            CalendarUnit::Hour => fixed(HOUR, 0),
        })
    }

    /// The number of the interval of a value, given its integer; `None` if the value is not a finite number.
    #[inline]
    pub(crate) fn of(&self, order: u64) -> Option<u64> {
        match *self {
            Intervals::Whole { length, first, .. } => match order.checked_sub(first) {
                // The interval before `first` has number 0.
                None => Some(0),
                Some(beyond) => Some((beyond / length).saturating_add(u64::from(first > 0))),
            },
            Intervals::Float { length, offset } => {
                // -0.0 and 0.0 are the same interval.
                let number = ((float_of(order) - offset) / length).floor() + 0.0;
                number.is_finite().then(|| order_of(number))
            }
            Intervals::Months(months) => {
                let (year, month, _) = day_of(signed(order).div_euclid(DAY));
                u64::try_from((year * 12 + month - 1).div_euclid(months)).ok()
            }
        }
    }

    /// The least value of an interval. An interval that begins before the least number of its kind begins
    /// with that number.
    pub(crate) fn start(&self, number: u64) -> Value {
        match *self {
            Intervals::Whole { kind, length, first } => {
                let start = match (number, first) {
                    (_, 0) => number.saturating_mul(length),
                    (0, _) => 0,
                    _ => first.saturating_add((number - 1).saturating_mul(length)),
                };
                kind.value_of(start)
            }
            Intervals::Float { length, offset } => Value::Float(float_of(number) * length + offset),
            Intervals::Months(months) => {
                let months = i64::try_from(number).unwrap_or(0).saturating_mul(months);
                let days = days_since_1970(months.div_euclid(12), months.rem_euclid(12) + 1, 1);
                // The year 1677 begins before the first moment of a date.
                Value::Date(days.saturating_mul(DAY))
            }
        }
    }
}

fn signed(order: u64) -> i64 {
    (order ^ SIGN).cast_signed()
}

/// A number without a fraction, as an integer.
#[expect(clippy::cast_possible_truncation, reason = "it is whole, and within the range")]
fn whole(number: f64) -> Option<i128> {
    (number.fract() == 0.0 && number.abs() < 1e19).then_some(number as i128)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{ValueRef, format_date, parse_date};

    #[test]
    fn a_number_is_in_the_last_interval_that_begins_at_or_before_it() {
        let seed = 0x5eed_0c01;
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..20_000 {
            let kind = [ColumnKind::Unsigned, ColumnKind::Signed][random.usize(..2)];
            let bits = random.u32(1..54);
            let length = i128::from(random.u64(1..=1 << bits));
            let offset = i128::from(random.i64(..) >> random.u32(11..63));
            #[expect(clippy::cast_precision_loss, reason = "both are exact")]
            let intervals = Intervals::new(kind, length as f64, offset as f64).unwrap();
            let order = random.u64(..) >> random.u32(..64);
            let zero = if kind == ColumnKind::Signed { -(1i128 << 63) } else { 0 };
            let value = i128::from(order) + zero;
            let expected = (value - offset).div_euclid(length) * length + offset;
            let number = |value: Value| match value {
                Value::Unsigned(number) => i128::from(number),
                Value::Signed(number) => i128::from(number),
                other => panic!("{other:?}"),
            };
            let found = intervals.start(intervals.of(order).unwrap());
            assert_eq!(number(found), expected.max(zero), "seed {seed:x} {intervals:?} {value}");
        }
        let halves = Intervals::new(ColumnKind::Float, 0.5, 0.25).unwrap();
        for (number, start) in [(0.25, 0.25), (0.2, -0.25), (-7.0, -7.25), (0.74, 0.25)] {
            assert_eq!(halves.start(halves.of(order_of(number)).unwrap()), Value::Float(start));
        }
        assert_eq!(halves.of(order_of(f64::NAN)), None);
        for (length, offset) in
            [(0.0, 0.0), (-1.0, 0.0), (f64::NAN, 0.0), (0.5, 0.0), (1.0, 0.5), (1e20, 0.0)]
        {
            assert!(Intervals::new(ColumnKind::Signed, length, offset).is_err(), "{length} {offset}");
        }
    }

    #[test]
    fn moments_are_in_their_units_of_the_calendar() {
        for (unit, moment, start) in [
            (CalendarUnit::Year, "2024-12-31T23:59:59.999999999Z", "2024-01-01T00:00:00Z"),
            (CalendarUnit::Month, "2024-02-29T12:00:00Z", "2024-02-01T00:00:00Z"),
            (CalendarUnit::Month, "1969-12-31T23:59:59Z", "1969-12-01T00:00:00Z"),
            (CalendarUnit::Week, "2026-01-01T00:00:00Z", "2025-12-29T00:00:00Z"),
            (CalendarUnit::Week, "2025-12-28T23:59:59Z", "2025-12-22T00:00:00Z"),
            (CalendarUnit::Day, "1900-03-01T00:00:00Z", "1900-03-01T00:00:00Z"),
            (CalendarUnit::Hour, "1900-02-28T23:59:59Z", "1900-02-28T23:00:00Z"),
        ] {
            let intervals = Intervals::of_calendar(ColumnKind::Date, unit).unwrap();
            let date = ValueRef::Date(parse_date(moment.as_bytes()).unwrap());
            let order = ColumnKind::Date.order_of(date).unwrap();
            let Value::Date(found) = intervals.start(intervals.of(order).unwrap()) else { panic!() };
            assert_eq!(format_date(found), start, "{moment}");
        }
        assert!(Intervals::of_calendar(ColumnKind::Signed, CalendarUnit::Day).is_err());
    }
}
