//! Classes of ages and sizes, and sums by both.

use super::sums::EntrySums;

/// A day in nanoseconds.
pub(super) const DAY: i64 = 86_400_000_000_000;

/// The names of the classes of ages. A year has 365 days.
pub const AGE_CLASSES: [&str; 10] = [
    "< 1 day",
    "< 7 days",
    "< 30 days",
    "< 90 days",
    "< 1 year",
    "< 2 years",
    "< 5 years",
    "older",
    "future",
    "unknown",
];

/// Below these ages in days an entry belongs to the class with the same number.
const AGES: [i64; 7] = [1, 7, 30, 90, 365, 2 * 365, 5 * 365];

/// The names of the classes of sizes.
pub const SIZE_CLASSES: [&str; 9] =
    ["0", "< 4 KiB", "< 1 MiB", "< 16 MiB", "< 128 MiB", "< 1 GiB", "< 16 GiB", "larger", "unknown"];

/// Below these sizes a file belongs to the class with the same number.
const SIZES: [u64; 7] = [1, 4 << 10, 1 << 20, 16 << 20, 128 << 20, 1 << 30, 16 << 30];

/// The number of the class of a date, in [`AGE_CLASSES`].
#[inline]
pub(in crate::files) fn age_class(time: Option<i64>, now: i64) -> usize {
    let Some(time) = time else { return AGE_CLASSES.len() - 1 };
    let age = now.saturating_sub(time);
    if age < 0 {
        return AGE_CLASSES.len() - 2;
    }
    AGES.iter().position(|&days| age < days * DAY).unwrap_or(AGES.len())
}

/// The number of the class of a size, in [`SIZE_CLASSES`].
#[inline]
pub(super) fn size_class(size: Option<u64>) -> usize {
    let Some(size) = size else { return SIZE_CLASSES.len() - 1 };
    SIZES.iter().position(|&most| size < most).unwrap_or(SIZES.len())
}

/// Sums of files by the class of their age and the class of their size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgeTable {
    /// By age, in the order of [`AGE_CLASSES`]; by size, in the order of [`SIZE_CLASSES`].
    pub cells: [[EntrySums; SIZE_CLASSES.len()]; AGE_CLASSES.len()],
}

impl AgeTable {
    /// Adds files.
    #[inline]
    pub(super) fn add(&mut self, age: usize, size: usize, sums: EntrySums) {
        if let Some(cell) = self.cells.get_mut(age).and_then(|row| row.get_mut(size)) {
            *cell += sums;
        }
    }

    pub(super) fn merge(&mut self, other: &AgeTable) {
        let cells = self.cells.iter_mut().flatten().zip(other.cells.iter().flatten());
        cells.for_each(|(cell, other)| *cell += *other);
    }

    /// The sums of an age, over all sizes.
    pub fn age(&self, age: usize) -> EntrySums {
        let mut sums = EntrySums::default();
        self.cells.get(age).into_iter().flatten().for_each(|cell| sums += *cell);
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_sizes_belong_to_the_class_below_whose_bound_they_are() {
        let now = 10_000 * DAY;
        for (age, class) in
            [(0, 0), (DAY - 1, 0), (DAY, 1), (29 * DAY, 2), (365 * DAY, 5), (2000 * DAY, 7), (-1, 8)]
        {
            assert_eq!(age_class(Some(now - age), now), class, "{age}");
        }
        assert_eq!(age_class(None, now), 9);
        assert_eq!((age_class(Some(i64::MIN), i64::MAX), age_class(Some(i64::MAX), i64::MIN)), (7, 8));
        for (size, class) in [(0, 0), (1, 1), (4095, 1), (4096, 2), (u64::MAX, 7)] {
            assert_eq!(size_class(Some(size)), class, "{size}");
        }
        assert_eq!(size_class(None), 8);
    }
}
