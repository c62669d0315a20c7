//! The values of a column without others in it as JSON: a closure for each array, which writes the value of a
//! row.
//!
//! | Arrow | JSON |
//! |---|---|
//! | integers | number |
//! | floats | number with the fewest digits that yield it again, with a point or an exponent |
//! | decimals | number with all digits |
//! | texts; bytes that are UTF-8 | string |
//! | UUID | string |
//! | booleans | `true`, `false` |
//! | dates | `"2024-03-01"` |
//! | timestamps | `"2024-03-01T10:20:30.500"`, with `Z` if the column has a time zone |
//! | times of day | `"10:20:30.500"` |
//! | durations | number of seconds |
//! | intervals | `"P1M2DT3.5S"` |
//!
//! A null, NaN, an infinity and bytes that are not UTF-8 have no JSON: their members are left out.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ByteArrayType, ByteViewType, Date32Type, Date64Type, Decimal32Type, Decimal64Type,
    Decimal128Type, Decimal256Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    IntervalDayTimeType, IntervalMonthDayNanoType, IntervalYearMonthType, Time32MillisecondType,
    Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_schema::{DataType, IntervalUnit, TimeUnit};

use super::json_text::{push_decimal, push_float, push_integer, push_string, push_uuid};
use super::line::LineBuffer;
use super::moments::{TicksPerSecond, push_day, push_interval, push_moment, push_time};

/// Writes the value of a row; returns false, and may have written a part, if it has no JSON.
pub(super) type WriteCell<'a> = Box<dyn Fn(usize, &mut LineBuffer) -> bool + 'a>;

const DAY_MS: i64 = 86_400_000;

/// The values of an array without others in it.
pub(super) fn flat(array: &dyn Array, is_uuid: bool) -> Result<WriteCell<'_>, String> {
    Ok(match array.data_type() {
        DataType::Boolean => {
            let flags = array.as_boolean();
            Box::new(move |row, out| {
                out.bytes.extend_from_slice(if flags.value(row) { b"true" } else { b"false" });
                true
            })
        }
        DataType::Utf8 => bytes(array.as_string::<i32>()),
        DataType::LargeUtf8 => bytes(array.as_string::<i64>()),
        DataType::Binary => bytes(array.as_binary::<i32>()),
        DataType::LargeBinary => bytes(array.as_binary::<i64>()),
        DataType::Utf8View => view(array.as_string_view()),
        DataType::BinaryView => view(array.as_binary_view()),
        DataType::FixedSizeBinary(_) => {
            let values = array.as_fixed_size_binary();
            Box::new(move |row, out| {
                is_uuid && push_uuid(&mut out.bytes, values.value(row)) || push_text(values.value(row), out)
            })
        }
        kind if kind.is_numeric() => number(array)?,
        _ => time(array)?,
    })
}

/// Texts or bytes.
fn bytes<T: ByteArrayType>(array: &arrow_array::GenericByteArray<T>) -> WriteCell<'_>
where
    T::Native: AsRef<[u8]>,
{
    Box::new(move |row, out| push_text(array.value(row).as_ref(), out))
}

fn view<T: ByteViewType>(array: &arrow_array::GenericByteViewArray<T>) -> WriteCell<'_>
where
    T::Native: AsRef<[u8]>,
{
    Box::new(move |row, out| push_text(array.value(row).as_ref(), out))
}

/// Writes bytes as text, if they are UTF-8.
fn push_text(bytes: &[u8], out: &mut LineBuffer) -> bool {
    let Ok(text) = simdutf8::basic::from_utf8(bytes) else {
        out.not_text += 1;
        return false;
    };
    push_string(&mut out.bytes, text);
    true
}

/// The values of an array of numbers.
fn number(array: &dyn Array) -> Result<WriteCell<'_>, String> {
    Ok(match array.data_type() {
        DataType::Int8 => integer::<Int8Type>(array),
        DataType::Int16 => integer::<Int16Type>(array),
        DataType::Int32 => integer::<Int32Type>(array),
        DataType::Int64 => integer::<Int64Type>(array),
        DataType::UInt8 => integer::<UInt8Type>(array),
        DataType::UInt16 => integer::<UInt16Type>(array),
        DataType::UInt32 => integer::<UInt32Type>(array),
        DataType::UInt64 => integer::<UInt64Type>(array),
        DataType::Float16 => each::<Float16Type>(array, |number, out| {
            let single = number.to_f32();
            finite(single.is_finite(), out, |out| push_float(out, single))
        }),
        DataType::Float32 => each::<Float32Type>(array, |number, out| {
            finite(number.is_finite(), out, |out| push_float(out, number))
        }),
        DataType::Float64 => each::<Float64Type>(array, |number, out| {
            finite(number.is_finite(), out, |out| push_float(out, number))
        }),
        DataType::Decimal32(_, scale) => decimal::<Decimal32Type>(array, *scale),
        DataType::Decimal64(_, scale) => decimal::<Decimal64Type>(array, *scale),
        DataType::Decimal128(_, scale) => decimal::<Decimal128Type>(array, *scale),
        DataType::Decimal256(_, scale) => {
            let scale = *scale;
            each::<Decimal256Type>(array, move |number, out| {
                push_decimal(&mut out.bytes, &number.to_string(), scale);
                true
            })
        }
        kind => return Err(format!("a column has the type {kind}, which has no form in JSON")),
    })
}

/// Calls `push` with the value of a row.
fn each<'a, T: ArrowPrimitiveType>(
    array: &'a dyn Array,
    push: impl Fn(T::Native, &mut LineBuffer) -> bool + 'a,
) -> WriteCell<'a> {
    let values = array.as_primitive::<T>().values();
    Box::new(move |row, out| values.get(row).is_some_and(|value| push(*value, out)))
}

fn integer<T: ArrowPrimitiveType<Native: itoa::Integer>>(array: &dyn Array) -> WriteCell<'_> {
    each::<T>(array, |number, out| {
        push_integer(&mut out.bytes, number);
        true
    })
}

fn decimal<T: ArrowPrimitiveType<Native: itoa::Integer>>(array: &dyn Array, scale: i8) -> WriteCell<'_> {
    each::<T>(array, move |number, out| {
        push_decimal(&mut out.bytes, itoa::Buffer::new().format(number), scale);
        true
    })
}

/// Writes a number if it is finite, or counts it.
fn finite(is_finite: bool, out: &mut LineBuffer, push: impl FnOnce(&mut Vec<u8>)) -> bool {
    if is_finite {
        push(&mut out.bytes)
    } else {
        out.not_finite += 1
    }
    is_finite
}

const SECOND: TicksPerSecond = TicksPerSecond(1);
const MILLISECOND: TicksPerSecond = TicksPerSecond(1000);
const MICROSECOND: TicksPerSecond = TicksPerSecond(1_000_000);
const NANOSECOND: TicksPerSecond = TicksPerSecond(1_000_000_000);

/// The values of an array of dates, times or durations.
fn time(array: &dyn Array) -> Result<WriteCell<'_>, String> {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    Ok(match array.data_type() {
        DataType::Date32 => day::<Date32Type>(array),
        DataType::Date64 => each::<Date64Type>(array, |time, out| {
            if time % DAY_MS == 0 {
                out.quoted(|out| push_day(out, time / DAY_MS));
            } else {
                out.quoted(|out| push_moment(out, time, MILLISECOND, false));
            }
            true
        }),
        DataType::Timestamp(unit, zone) => {
            let is_utc = zone.is_some();
            match unit {
                Second => moment::<TimestampSecondType>(array, SECOND, is_utc),
                Millisecond => moment::<TimestampMillisecondType>(array, MILLISECOND, is_utc),
                Microsecond => moment::<TimestampMicrosecondType>(array, MICROSECOND, is_utc),
                Nanosecond => moment::<TimestampNanosecondType>(array, NANOSECOND, is_utc),
            }
        }
        DataType::Time32(Second) => clock::<Time32SecondType>(array, SECOND),
        DataType::Time32(Millisecond) => clock::<Time32MillisecondType>(array, MILLISECOND),
        DataType::Time64(Microsecond) => clock::<Time64MicrosecondType>(array, MICROSECOND),
        DataType::Time64(Nanosecond) => clock::<Time64NanosecondType>(array, NANOSECOND),
        DataType::Duration(Second) => decimal::<DurationSecondType>(array, 0),
        DataType::Duration(Millisecond) => decimal::<DurationMillisecondType>(array, 3),
        DataType::Duration(Microsecond) => decimal::<DurationMicrosecondType>(array, 6),
        DataType::Duration(Nanosecond) => decimal::<DurationNanosecondType>(array, 9),
        DataType::Interval(IntervalUnit::YearMonth) => each::<IntervalYearMonthType>(array, |months, out| {
            out.quoted(|out| push_interval(out, months, 0, 0));
            true
        }),
        DataType::Interval(IntervalUnit::DayTime) => each::<IntervalDayTimeType>(array, |interval, out| {
            let nanoseconds = i64::from(interval.milliseconds) * 1_000_000;
            out.quoted(|out| push_interval(out, 0, interval.days, nanoseconds));
            true
        }),
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            each::<IntervalMonthDayNanoType>(array, |interval, out| {
                let (months, days) = (interval.months, interval.days);
                out.quoted(|out| push_interval(out, months, days, interval.nanoseconds));
                true
            })
        }
        kind => return Err(format!("a column has the type {kind}, which has no form in JSON")),
    })
}

fn day<T: ArrowPrimitiveType<Native: Into<i64>>>(array: &dyn Array) -> WriteCell<'_> {
    each::<T>(array, |days, out| {
        out.quoted(|out| push_day(out, days.into()));
        true
    })
}

fn moment<T: ArrowPrimitiveType<Native = i64>>(
    array: &dyn Array,
    unit: TicksPerSecond,
    is_utc: bool,
) -> WriteCell<'_> {
    each::<T>(array, move |ticks, out| {
        out.quoted(|out| push_moment(out, ticks, unit, is_utc));
        true
    })
}

fn clock<T: ArrowPrimitiveType<Native: Into<i64>>>(array: &dyn Array, unit: TicksPerSecond) -> WriteCell<'_> {
    each::<T>(array, move |ticks, out| {
        out.quoted(|out| push_time(out, ticks.into(), unit));
        true
    })
}
