//! Chooses the smallest form of a block.

use super::super::packed::{pack_all, packed_bytes, packed_width};
use super::decimal;
use super::{Form, Head, MOST};

/// Maximum number of values in a table.
const MOST_IN_TABLE: usize = 256;

/// A form that one load can read is replaced only if another form takes less than this percentage of its
/// size.
const WORTH: usize = 90;

/// The step of a line is in units of 2⁻¹⁶. It is limited so that 2¹⁶ steps do not overflow.
const LINE_SHIFT: u32 = 16;
const LINE_STEPS: u64 = 1 << 30;

/// Chooses forms; its memory is reused from block to block.
#[derive(Debug, Default)]
pub struct Chooser {
    sorted: Vec<u64>,
    packed: Vec<u64>,
}

/// Multiples of a step above a base, and the greatest multiple.
#[derive(Clone, Copy)]
struct Scale {
    base: u64,
    step: u64,
    most: u64,
}

impl Scale {
    fn of(values: &[u64]) -> Self {
        let base = values.iter().copied().min().unwrap_or(0);
        let most = values.iter().copied().max().unwrap_or(0) - base;
        let mut step = 0;
        for value in values {
            step = common_divisor(value - base, step);
            if step == 1 {
                break;
            }
        }
        let step = step.max(1);
        Scale { base, step, most: most / step }
    }

    fn width(self) -> u8 {
        packed_width(self.most)
    }

    /// Returns the integer to pack for a number. Most steps are 1, and divisions are slow.
    fn code(self, value: u64) -> u64 {
        let distance = value.wrapping_sub(self.base);
        if self.step == 1 { distance } else { distance / self.step }
    }
}

/// Returns the greatest common divisor; for 0 and a number, the number.
fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        // Most numbers of a block are multiples of the step so far, or the step soon becomes 1.
        (a, b) = (b, a % b);
    }
    a
}

/// Appends `values` in the form that takes the fewest bytes and returns how to read them. There must be at
/// least one value.
///
/// If `floats` is true, the values are doubles encoded by [`decimal::order_of`].
pub fn put_numbers(chooser: &mut Chooser, values: &[u64], floats: bool, out: &mut Vec<u8>) -> Head {
    let scale = Scale::of(values);
    if scale.most == 0 && values.len() <= MOST {
        return Head::constant(scale.base);
    }
    let plain = packed_bytes(values.len(), scale.width());
    let mut best = (Form::Scaled, plain);
    if values.len() <= MOST {
        let mut offer = |form: Form, bytes: Option<usize>| {
            if let Some(bytes) = bytes.filter(|&bytes| bytes < best.1 && bytes * 100 < plain * WORTH) {
                best = (form, bytes);
            }
        };
        if floats {
            let decimal = Decimal::of(values);
            offer(Form::Decimal, decimal.as_ref().map(Decimal::bytes));
            if best.0 == Form::Decimal
                && let Some(decimal) = decimal
            {
                return decimal.put(out);
            }
        }
        let mut offer = |form: Form, bytes: Option<usize>| {
            if let Some(bytes) = bytes.filter(|&bytes| bytes < best.1 && bytes * 100 < plain * WORTH) {
                best = (form, bytes);
            }
        };
        offer(Form::Line, line(values).map(|line| packed_bytes(values.len(), line.width)));
        offer(Form::Runs, Some(runs(values) * 2 + packed_bytes(runs(values), scale.width())));
        let codes = values.iter().map(|&value| scale.code(value));
        offer(Form::Patched, patch_width(codes, values.len()).map(|(_, bytes)| bytes));
        offer(Form::Table, chooser.table_bytes(values, plain));
    }
    match best.0 {
        Form::Line => put_line(values, out),
        Form::Runs => put_runs(values, scale, out),
        Form::Patched => {
            let codes: Vec<_> = values.iter().map(|&value| Ok((scale.code(value), value))).collect();
            put_patched(Form::Patched, scale.base, scale.step, &codes, out)
        }
        Form::Table => chooser.put_table(values, out),
        _ => {
            // A block of very many numbers has bytes for them, so that a reader can check that they exist.
            let width = if values.len() > MOST { scale.width().max(1) } else { scale.width() };
            pack_all(values.iter().map(|&value| scale.code(value)), width, out);
            Head { form: Form::Scaled, width, base: scale.base, step: scale.step, extra: 0 }
        }
    }
}

impl Chooser {
    /// Returns the size of a table; `None` if there are too many distinct values, or if a table would not
    /// pay.
    fn table_bytes(&mut self, values: &[u64], plain: usize) -> Option<usize> {
        self.sorted.clear();
        // Neighbours are often equal, and too many distinct values are noticed early.
        let mut last = None;
        for &value in values {
            if last != Some(value)
                && let Err(place) = self.sorted.binary_search(&value)
            {
                if self.sorted.len() == MOST_IN_TABLE || 8 * self.sorted.len() > plain {
                    return None;
                }
                self.sorted.insert(place, value);
            }
            last = Some(value);
        }
        let width = packed_width(self.sorted.len() as u64 - 1);
        Some(8 * self.sorted.len() + packed_bytes(values.len(), width))
    }

    /// Writes a table of the values that [`Chooser::table_bytes`] found.
    fn put_table(&mut self, values: &[u64], out: &mut Vec<u8>) -> Head {
        let Chooser { sorted, packed } = self;
        sorted.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
        packed.clear();
        packed.extend(values.iter().map(|value| sorted.partition_point(|known| known < value) as u64));
        let width = packed_width(sorted.len() as u64 - 1);
        pack_all(packed.iter().copied(), width, out);
        let extra = u32::try_from(sorted.len()).unwrap_or(0);
        Head { form: Form::Table, width, base: 0, step: 1, extra }
    }
}

/// A line below all values.
struct Line {
    base: u64,
    step: u64,
    width: u8,
}

fn line(values: &[u64]) -> Option<Line> {
    let (first, last) = (*values.first()?, *values.last()?);
    let steps = values.len() as u64 - 1;
    let rise = last.wrapping_sub(first).cast_signed();
    // A line cannot rise this far with steps of this size.
    if steps == 0 || rise.unsigned_abs() / steps >= LINE_STEPS {
        return None;
    }
    let step = i64::try_from((i128::from(rise) << LINE_SHIFT) / i128::from(steps)).ok()?.cast_unsigned();
    let above = |(i, &value): (usize, &u64)| value.wrapping_sub(super::along(step, i)).wrapping_sub(first);
    let (mut least, mut most) = (0i64, 0i64);
    for each in values.iter().enumerate() {
        let above = above(each).cast_signed();
        (least, most) = (least.min(above), most.max(above));
    }
    let width = packed_width(most.cast_unsigned().wrapping_sub(least.cast_unsigned()));
    Some(Line { base: first.wrapping_add(least.cast_unsigned()), step, width })
}

fn put_line(values: &[u64], out: &mut Vec<u8>) -> Head {
    let Line { base, step, width } = line(values).unwrap_or(Line { base: 0, step: 0, width: 64 });
    let above = |(i, &value): (usize, &u64)| value.wrapping_sub(super::along(step, i)).wrapping_sub(base);
    pack_all(values.iter().enumerate().map(above), width, out);
    Head { form: Form::Line, width, base, step, extra: 0 }
}

/// Returns the number of runs of equal values.
fn runs(values: &[u64]) -> usize {
    1 + values.iter().zip(values.get(1..).unwrap_or_default()).filter(|(a, b)| a != b).count()
}

fn put_runs(values: &[u64], scale: Scale, out: &mut Vec<u8>) -> Head {
    let mut firsts = Vec::new();
    let mut end = 0;
    for run in values.chunk_by(|a, b| a == b) {
        end += run.len();
        // The end of a full block becomes 0; the reader knows it anyway.
        out.extend_from_slice(&u16::try_from(end).unwrap_or(0).to_le_bytes());
        firsts.extend(run.first().map(|&value| scale.code(value)));
    }
    let extra = u32::try_from(firsts.len()).unwrap_or(0);
    pack_all(firsts, scale.width(), out);
    Head { form: Form::Runs, width: scale.width(), base: scale.base, step: scale.step, extra }
}

/// Number of bytes of an exception.
const PATCH: usize = 2 + 8;

/// Returns the width at which numbers with exceptions take the fewest bytes, and this number of bytes.
///
/// A packed number with all bits set marks an exception, so other numbers must be less.
fn patch_width(codes: impl Iterator<Item = u64>, count: usize) -> Option<(u8, usize)> {
    let mut by_bits = [0usize; 65];
    for code in codes {
        // The width at which the code is less than the number with all bits set.
        let bits = 64 - code.checked_add(1).map_or(0, u64::leading_zeros);
        if let Some(times) = by_bits.get_mut(bits as usize) {
            *times += 1;
        }
    }
    let mut best: Option<(u8, usize)> = None;
    let mut exceptions = count;
    for (width, times) in (0..=56u8).zip(by_bits) {
        exceptions -= times;
        let bytes = packed_bytes(count, width) + PATCH * exceptions;
        if width > 0 && best.is_none_or(|(_, least)| bytes < least) {
            best = Some((width, bytes));
        }
    }
    best
}

/// Writes numbers with exceptions. Each number has its packed integer and its value, or only its value if it
/// cannot be packed.
fn put_patched(
    form: Form,
    base: u64,
    step: u64,
    codes: &[Result<(u64, u64), u64>],
    out: &mut Vec<u8>,
) -> Head {
    let known = codes.iter().map(|code| code.map_or(u64::MAX, |(code, _)| code));
    let width = patch_width(known, codes.len()).map_or(56, |(width, _)| width);
    let marked = (1u64 << width) - 1;
    let packed = |code: &Result<(u64, u64), u64>| code.map_or(marked, |(code, _)| code.min(marked));
    pack_all(codes.iter().map(packed), width, out);
    let exceptions = || codes.iter().zip(0u16..=u16::MAX).filter(|(code, _)| packed(code) == marked);
    exceptions().for_each(|(_, place)| out.extend_from_slice(&place.to_le_bytes()));
    for (code, _) in exceptions() {
        let value = code.map_or_else(|value| value, |(_, value)| value);
        out.extend_from_slice(&value.to_le_bytes());
    }
    let extra = u32::try_from(exceptions().count()).unwrap_or(0);
    Head { form, width, base, step, extra }
}

/// Doubles as integers divided by a power of ten.
struct Decimal {
    scale: Scale,
    step: u64,
    codes: Vec<Result<(u64, u64), u64>>,
}

impl Decimal {
    fn of(orders: &[u64]) -> Option<Self> {
        let (power, wholes) = decimal::wholes(orders)?;
        let good: Vec<u64> = wholes.iter().flatten().copied().collect();
        let scale = Scale::of(&good);
        let step = decimal::step_of(scale.step, power)?;
        let code = |(whole, &order): (&Result<u64, u64>, &u64)| whole.map(|whole| (scale.code(whole), order));
        Some(Decimal { scale, step, codes: wholes.iter().zip(orders).map(code).collect() })
    }

    fn bytes(&self) -> usize {
        let known = self.codes.iter().map(|code| code.map_or(u64::MAX, |(code, _)| code));
        patch_width(known, self.codes.len()).map_or(usize::MAX, |(_, bytes)| bytes)
    }

    fn put(&self, out: &mut Vec<u8>) -> Head {
        put_patched(Form::Decimal, self.scale.base, self.step, &self.codes, out)
    }
}
