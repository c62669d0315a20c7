//! Conversions between counts and rates.

/// The largest power of two that is at most `number`, or 1.
pub(super) fn previous_power_of_two(number: u64) -> u64 {
    1 << number.max(1).ilog2()
}

/// A count as a float, exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "53 bits are plenty for rates")]
pub(super) fn float(number: u64) -> f64 {
    number as f64
}

/// The integer part of a float that is not negative.
#[expect(clippy::cast_possible_truncation, reason = "a float beyond the range becomes the nearest bound")]
#[expect(clippy::cast_sign_loss, reason = "rates and times have no sign")]
pub(super) fn whole(number: f64) -> u64 {
    number as u64
}
