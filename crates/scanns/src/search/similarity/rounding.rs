//! Rounds scores to 32 bits, and bounds what is rounded.

use crate::sys::in_wide_vectors;

/// The nearest 32-bit float, as a cast gives it in Java.
#[inline]
pub(crate) fn narrow(value: f64) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "rounding to the nearest float is intended")]
    let nearest = value as f32;
    nearest
}

/// Sets `rounded` to the nearest 32-bit floats, up to the end of the shorter slice.
#[inline]
pub(crate) fn narrow_all(values: &[f64], rounded: &mut [f32]) {
    in_wide_vectors(
        #[inline(always)]
        move || rounded.iter_mut().zip(values).for_each(|(rounded, &value)| *rounded = narrow(value)),
    );
}

/// An upper bound of all sums of up to 1,024 terms that equal `sum` in some order and are rounded to 32 bits
/// once.
#[inline]
pub(crate) fn above(sum: f64) -> f32 {
    narrow(sum * (1.0 + 1e-12))
}

/// A lower bound of all sums that round to `threshold` or more, in any order of addition.
#[inline]
pub(crate) fn below(threshold: f32) -> f64 {
    f64::from(threshold) - f64::from(threshold.abs()) * 1e-6
}
