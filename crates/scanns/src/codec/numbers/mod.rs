//! The 64-bit numbers of a block, in the form that takes the fewest bytes. Each number can be read alone.
//!
//! Numbers are unsigned and have the order of the values that they represent, see `column/kind.rs`. The
//! [`Head`] in the index describes the form of a block; the bytes of each form are listed below. Every form
//! consists of sums and products of [`packed`] integers, so that reading one number takes one or two loads,
//! and reading a block takes a fraction of a nanosecond per number:
//!
//! ```text
//! constant  nothing: all are base
//! scaled    packed                               base + step * packed
//! table     value u64 … | packed                 `extra` values, ascending; packed is the place in them
//! line      packed                               base + (step * i >> 16) + packed, step signed
//! runs      end u16 … | packed                   `extra` runs of equal numbers, each base + step * packed
//! patched   packed | place u16 … | value u64 …   as scaled, with `extra` exceptions: packed has all bits set
//! decimal   packed | place u16 … | value u64 …   as patched, divided by the power of ten 10^(step >> 56)
//! ```
//!
//! The step of `scaled` divides the distances of all values from the least; `end` is the place where a run
//! ends. The lower 56 bits of the step of `decimal` are a factor. `decimal` is similar to ALP (Afroozeh,
//! Kuffó, Boncz: "ALP: Adaptive Lossless floating-Point Compression", SIGMOD 2024); it divides instead of
//! multiplying, which gives the nearest double of every decimal number and so fewer exceptions. All sums wrap
//! around.
//!
//! `choose.rs` chooses the form, `decimal.rs` converts doubles, `within.rs` compares numbers with bounds.
//!
//! [`packed`]: super::packed

mod choose;
mod decimal;
#[cfg(test)]
mod tests;
mod within;

use super::packed::{Packed, TAIL};

pub use choose::{Chooser, put_numbers};
pub use decimal::{float_of, order_of};
pub use within::first_after;

/// Maximum number of numbers in a block whose form is neither constant nor scaled.
pub const MOST: usize = 1 << 16;

/// The form of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// All numbers are equal.
    Constant,
    /// Multiples of a step above a base.
    Scaled,
    /// A few distinct numbers.
    Table,
    /// Numbers near a straight line.
    Line,
    /// Runs of equal numbers.
    Runs,
    /// Scaled numbers with a few exceptions.
    Patched,
    /// Doubles that are short decimal numbers, with a few exceptions.
    Decimal,
}

impl Form {
    const ALL: [Form; 7] =
        [Form::Constant, Form::Scaled, Form::Table, Form::Line, Form::Runs, Form::Patched, Form::Decimal];

    /// The number of the form in files.
    pub fn code(self) -> u8 {
        Form::ALL.iter().zip(0..).find(|(form, _)| **form == self).map_or(0, |(_, code)| code)
    }

    /// The form with this number in files.
    pub fn from_code(code: u8) -> Option<Self> {
        Form::ALL.get(usize::from(code)).copied()
    }

    /// The name of the form, for display.
    pub fn name(self) -> &'static str {
        match self {
            Form::Constant => "constant",
            Form::Scaled => "scaled",
            Form::Table => "table",
            Form::Line => "line",
            Form::Runs => "runs",
            Form::Patched => "patched",
            Form::Decimal => "decimal",
        }
    }
}

/// Describes how a block is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The form.
    pub form: Form,
    /// Number of bits of a packed integer.
    pub width: u8,
    /// The number that is added to packed integers.
    pub base: u64,
    /// The factor of packed integers. The module documentation explains its meaning for each form.
    pub step: u64,
    /// Number of values of a table, of runs, or of exceptions.
    pub extra: u32,
}

impl Head {
    /// The head of a block of equal numbers.
    pub const fn constant(base: u64) -> Self {
        Head { form: Form::Constant, width: 0, base, step: 1, extra: 0 }
    }
}

/// The exceptions of patched numbers: their ascending places, and their values.
#[derive(Clone, Copy, Debug)]
struct Patches<'a> {
    places: &'a [[u8; 2]],
    values: &'a [[u8; 8]],
}

impl Patches<'_> {
    fn get(&self, i: usize) -> Option<u64> {
        let found = self.places.binary_search_by_key(&i, short).ok()?;
        self.values.get(found).map(long)
    }
}

fn short(bytes: &[u8; 2]) -> usize {
    usize::from(u16::from_le_bytes(*bytes))
}

fn long(bytes: &[u8; 8]) -> u64 {
    u64::from_le_bytes(*bytes)
}

/// The numbers of a block.
#[derive(Clone, Copy, Debug)]
pub struct Numbers<'a> {
    head: Head,
    count: usize,
    packed: Packed<'a>,
    /// The values of a table.
    table: &'a [[u8; 8]],
    /// The ends of the runs.
    ends: &'a [[u8; 2]],
    patches: Patches<'a>,
}

impl<'a> Numbers<'a> {
    /// Opens the `count` numbers that [`put_numbers`] wrote to the front of `bytes`. Returns `None` if the
    /// bytes are invalid.
    #[inline]
    pub fn read(bytes: &'a [u8], head: Head, count: usize) -> Option<Self> {
        // This prevents readers from allocating memory for more numbers than can exist.
        if count > MOST && (head.form != Form::Scaled || head.width == 0) {
            return None;
        }
        if matches!(head.form, Form::Constant | Form::Scaled | Form::Line) {
            let bytes = if head.form == Form::Constant { &[0; TAIL][..] } else { bytes };
            let width = if head.form == Form::Constant { 0 } else { head.width };
            let patches = Patches { places: &[], values: &[] };
            let packed = Packed::new(bytes, count, width)?;
            return Some(Numbers { head, count, packed, table: &[], ends: &[], patches });
        }
        Self::read_rare(bytes, head, count)
    }

    fn read_rare(bytes: &'a [u8], head: Head, count: usize) -> Option<Self> {
        let extra = usize::try_from(head.extra).ok().filter(|&extra| extra <= count)?;
        let longs = |at: usize| Some(bytes.get(at..at + 8 * extra)?.as_chunks().0);
        let shorts = |at: usize| Some(bytes.get(at..at + 2 * extra)?.as_chunks().0);
        let (mut table, mut ends): (&[[u8; 8]], &[[u8; 2]]) = (&[], &[]);
        let mut patches = Patches { places: &[], values: &[] };
        let packed = match head.form {
            Form::Table => {
                table = longs(0)?;
                Packed::new(bytes.get(8 * extra..)?, count, head.width)?
            }
            Form::Runs => {
                ends = shorts(0)?;
                let last = ends.last().map(short);
                // The end of a full block does not fit into 16 bits, and no run is empty.
                if last != Some(count & 0xffff) || extra == 0 {
                    return None;
                }
                Packed::new(bytes.get(2 * extra..)?, extra, head.width)?
            }
            _ => {
                let packed =
                    Packed::new(bytes, count, head.width).filter(|_| (1..64).contains(&head.width))?;
                let at = packed.len_bytes();
                patches = Patches { places: shorts(at)?, values: longs(at + 2 * extra)? };
                packed
            }
        };
        Some(Numbers { head, count, packed, table, ends, patches })
    }

    /// Returns the number of numbers.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Appends numbers `docs[i] - first`. Returns `None` if one is after the last number, or if the bytes are
    /// damaged. `docs` must ascend.
    pub fn pick(&self, first: u32, docs: &[u32], out: &mut Vec<u64>) -> Option<()> {
        let Head { form, base, step, width, .. } = self.head;
        let places = docs.iter().map(|&doc| doc.wrapping_sub(first) as usize);
        let start = out.len();
        if matches!(form, Form::Constant | Form::Runs) {
            for place in places {
                out.push(self.get(place)?);
            }
            return Some(());
        }
        self.packed.pick(first, docs, out)?;
        let picked = out.get_mut(start..)?.iter_mut();
        if form == Form::Scaled && step == 1 {
            picked.for_each(|value| *value = base.wrapping_add(*value));
            return Some(());
        }
        if form == Form::Decimal && self.patches.places.is_empty() {
            decimal::put_numbers(out.get_mut(start..)?, base, step, width);
            return Some(());
        }
        for (value, place) in picked.zip(places) {
            *value = self.of_packed(*value, place)?;
        }
        Some(())
    }

    /// Returns number `i`; `None` after the last one, or if the bytes are damaged.
    #[inline]
    pub fn get(&self, i: usize) -> Option<u64> {
        let Head { form, base, step, .. } = self.head;
        match form {
            Form::Scaled => Some(base.wrapping_add(self.packed.get(i)?.wrapping_mul(step))),
            Form::Constant => (i < self.count).then_some(base),
            Form::Line => Some(base.wrapping_add(along(step, i)).wrapping_add(self.packed.get(i)?)),
            _ => self.get_rare(i),
        }
    }

    fn get_rare(&self, i: usize) -> Option<u64> {
        if self.head.form != Form::Runs {
            return self.of_packed(self.packed.get(i)?, i);
        }
        if i >= self.count {
            return None;
        }
        let before = self.ends.len() - 1;
        let run = self.ends.get(..before)?.partition_point(|end| short(end) <= i);
        self.of_packed(self.packed.get(run)?, run)
    }

    /// Returns the number that a packed integer represents; `i` is the index of the number or of the run.
    #[inline]
    fn of_packed(&self, packed: u64, i: usize) -> Option<u64> {
        let Head { form, base, step, .. } = self.head;
        match form {
            Form::Scaled | Form::Runs => Some(base.wrapping_add(packed.wrapping_mul(step))),
            Form::Line => Some(base.wrapping_add(along(step, i)).wrapping_add(packed)),
            Form::Table => self.table.get(usize::try_from(packed).ok()?).map(long),
            Form::Patched | Form::Decimal if packed == (1 << self.head.width) - 1 => self.patches.get(i),
            Form::Patched => Some(base.wrapping_add(packed.wrapping_mul(step))),
            Form::Decimal => {
                let (factor, power) = decimal::parts(step);
                Some(decimal::number(base.wrapping_add(packed.wrapping_mul(factor)), power))
            }
            Form::Constant => Some(base),
        }
    }

    /// Fills `out` with the numbers from `from` on. Returns `None` if there are too few, or if the bytes are
    /// damaged.
    pub fn unpack(&self, from: usize, out: &mut [u64]) -> Option<()> {
        let end = from.checked_add(out.len()).filter(|&end| end <= self.count)?;
        let Head { form, base, step, width, .. } = self.head;
        if form == Form::Constant {
            out.fill(base);
            return Some(());
        }
        if form == Form::Runs {
            return self.unpack_runs(from, out);
        }
        self.packed.unpack(from, out);
        match form {
            Form::Scaled if step == 1 => out.iter_mut().for_each(|value| *value = base.wrapping_add(*value)),
            Form::Scaled | Form::Patched => {
                out.iter_mut().for_each(|value| *value = base.wrapping_add(value.wrapping_mul(step)));
            }
            Form::Line => {
                for (value, i) in out.iter_mut().zip(from..) {
                    *value = base.wrapping_add(along(step, i)).wrapping_add(*value);
                }
            }
            Form::Table => {
                for value in out.iter_mut() {
                    *value = self.table.get(usize::try_from(*value).ok()?).map(long)?;
                }
            }
            _ => decimal::put_numbers(out, base, step, width),
        }
        self.put_patches(from, end, out)
    }

    /// Puts the exceptions into the numbers from `from` on. Returns `None` if their places are not marked, or
    /// (for the first numbers) do not ascend, as [`Numbers::get`] needs it.
    fn put_patches(&self, from: usize, end: usize, out: &mut [u64]) -> Option<()> {
        let Patches { places, values } = self.patches;
        if from == 0 && !places.is_sorted_by(|before, after| short(before) < short(after)) {
            return None;
        }
        let first = places.partition_point(|place| short(place) < from);
        for (place, value) in places.iter().map(short).zip(values).skip(first) {
            if place >= end {
                break;
            }
            if self.packed.get(place)? != (1 << self.head.width) - 1 {
                return None;
            }
            *out.get_mut(place.checked_sub(from)?)? = long(value);
        }
        Some(())
    }

    fn unpack_runs(&self, from: usize, out: &mut [u64]) -> Option<()> {
        let Head { base, step, .. } = self.head;
        let before = self.ends.len() - 1;
        let first = self.ends.get(..before)?.partition_point(|end| short(end) <= from);
        let mut at = 0;
        for run in first..self.ends.len() {
            let end = if run == before { self.count } else { self.ends.get(run).map(short)? };
            let end = end.checked_sub(from)?.min(out.len());
            let value = base.wrapping_add(self.packed.get(run)?.wrapping_mul(step));
            out.get_mut(at..end)?.fill(value);
            at = end;
            if at == out.len() {
                break;
            }
        }
        (at == out.len()).then_some(())
    }
}

/// Returns the rise of a line at number `i`. The step is signed, in units of 2⁻¹⁶.
#[inline]
fn along(step: u64, i: usize) -> u64 {
    (step.cast_signed().wrapping_mul(i as u64 as i64) >> 16).cast_unsigned()
}
