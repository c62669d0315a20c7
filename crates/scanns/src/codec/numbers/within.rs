//! Compares the numbers of a block with bounds.
//!
//! In most forms a number grows with its packed integer. So the bounds are turned into packed integers, once
//! for a block, and these are compared without being turned into numbers.

use super::{Form, Head, Numbers, Patches, decimal, long, short};
use crate::codec::within::within;

/// Integers that are unpacked at once.
const CHUNK: usize = 1024;

/// The least and the greatest packed integer of numbers within bounds; none if `least` is greater.
#[derive(Clone, Copy)]
struct PackedBounds {
    least: u64,
    most: u64,
}

impl Numbers<'_> {
    /// Fills `words` with a bit for each number, which is set if the number is at least `low` and at most
    /// `high`: the first of 64 numbers is the lowest. Returns `None` if the bytes are damaged.
    pub fn within(&self, low: u64, high: u64, words: &mut Vec<u64>) -> Option<()> {
        words.clear();
        let packed = self.packed_bounds(low, high);
        let PackedBounds { least, most } = packed.unwrap_or(PackedBounds { least: low, most: high });
        let mut chunk = [0; CHUNK];
        for from in (0..self.count).step_by(CHUNK) {
            let chunk = chunk.get_mut(..CHUNK.min(self.count - from))?;
            if packed.is_some() {
                self.packed.unpack(from, chunk);
            } else {
                self.unpack(from, chunk)?;
            }
            let table = self.table.len() as u64;
            if self.head.form == Form::Table && !chunk.iter().all(|&place| place < table) {
                return None;
            }
            match most.checked_sub(least) {
                Some(reach) => words.extend(chunk.chunks(64).map(|values| within(values, least, reach))),
                None => words.resize(words.len() + chunk.len().div_ceil(64), 0),
            }
        }
        if packed.is_some() { self.set_patches(low, high, words) } else { Some(()) }
    }

    /// The packed integers of the numbers within bounds; `None` if they depend on their places.
    fn packed_bounds(&self, low: u64, high: u64) -> Option<PackedBounds> {
        let Head { form, base, step, width, .. } = self.head;
        let last = match form {
            Form::Scaled => u64::MAX.checked_shr(64 - u32::from(width)).unwrap_or(0),
            Form::Patched | Form::Decimal => (1 << width) - 2,
            Form::Table => (self.table.len() as u64).checked_sub(1)?,
            Form::Constant | Form::Line | Form::Runs => return None,
        };
        let (factor, power) = if form == Form::Decimal { decimal::parts(step) } else { (step, 1.0) };
        // `None` is greater than all numbers.
        let number = |packed: u64| match form {
            Form::Table => self.table.get(usize::try_from(packed).ok()?).map(long),
            _ => {
                let sum = base.checked_add(packed.checked_mul(factor)?)?;
                Some(if form == Form::Decimal { decimal::number(sum, power) } else { sum })
            }
        };
        let none = PackedBounds { least: 1, most: 0 };
        let least = first_after(last, |packed| number(packed).is_some_and(|number| number < low));
        let Some(least) = least else { return Some(none) };
        match first_after(last, |packed| number(packed).is_some_and(|number| number <= high)) {
            None => Some(PackedBounds { least, most: last }),
            Some(beyond) => Some(beyond.checked_sub(1).map_or(none, |most| PackedBounds { least, most })),
        }
    }

    /// Sets the bits of the exceptions that are within bounds.
    fn set_patches(&self, low: u64, high: u64, words: &mut [u64]) -> Option<()> {
        let Patches { places, values } = self.patches;
        if !places.is_sorted_by(|before, after| short(before) < short(after)) {
            return None;
        }
        for (place, value) in places.iter().map(short).zip(values) {
            if self.packed.get(place)? != (1 << self.head.width) - 1 {
                return None;
            }
            *words.get_mut(place / 64)? |= u64::from((low..=high).contains(&long(value))) << (place % 64);
        }
        Some(())
    }
}

/// Returns the first integer up to `last` for which `is_before` is false. It must be true for those before.
pub fn first_after(last: u64, is_before: impl Fn(u64) -> bool) -> Option<u64> {
    if is_before(last) {
        return None;
    }
    let (mut first, mut end) = (0, last);
    while first < end {
        let middle = first + (end - first) / 2;
        if is_before(middle) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    Some(first)
}
