//! The values of a column of a record batch.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryArray, BinaryViewArray, BooleanArray, FixedSizeBinaryArray,
    LargeBinaryArray, LargeStringArray, StringArray, StringViewArray,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, TimeUnit};
use scanns::sources::{ColumnType, TableValue};

/// The values of a column.
pub(super) struct Cells {
    values: CellValues,
    nulls: Option<NullBuffer>,
}

enum CellValues {
    Null,
    Text(StringArray),
    LargeText(LargeStringArray),
    TextView(StringViewArray),
    Bytes(BinaryArray),
    LargeBytes(LargeBinaryArray),
    BytesView(BinaryViewArray),
    FixedBytes(FixedSizeBinaryArray),
    Unsigned(Vec<u64>),
    Signed(Vec<i64>),
    Float(Vec<f64>),
    Moment(Vec<i64>),
    Flag(BooleanArray),
    /// Numbers with digits behind a point.
    Digits(Vec<String>),
    /// The numbers of the values, and the values.
    Dictionary(Vec<usize>, Box<Cells>),
}

impl Cells {
    /// The values of an array that is null where `around` is; `None` if no field has values of its type.
    pub(super) fn of(array: &ArrayRef, around: Option<NullBuffer>) -> Option<Self> {
        let values = match array.data_type() {
            DataType::Null => CellValues::Null,
            DataType::Utf8 => CellValues::Text(array.as_string().clone()),
            DataType::LargeUtf8 => CellValues::LargeText(array.as_string().clone()),
            DataType::Utf8View => CellValues::TextView(array.as_string_view().clone()),
            DataType::Binary => CellValues::Bytes(array.as_binary().clone()),
            DataType::LargeBinary => CellValues::LargeBytes(array.as_binary().clone()),
            DataType::BinaryView => CellValues::BytesView(array.as_binary_view().clone()),
            DataType::FixedSizeBinary(_) => CellValues::FixedBytes(array.as_fixed_size_binary().clone()),
            DataType::Boolean => CellValues::Flag(array.as_boolean().clone()),
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let cells = Cells::of(dictionary.values(), None)?;
                let keys =
                    if dictionary.values().is_empty() { Vec::new() } else { dictionary.normalized_keys() };
                CellValues::Dictionary(keys, Box::new(cells))
            }
            DataType::Decimal128(_, 0) => {
                CellValues::Digits(numbers::<Decimal128Type, _>(array, |number| number.to_string()))
            }
            DataType::Decimal128(_, scale) => {
                let digits = |number| with_point(number, *scale);
                CellValues::Digits(numbers::<Decimal128Type, _>(array, digits))
            }
            _ => number_values(array)?,
        };
        Some(Cells { values, nulls: NullBuffer::union(around.as_ref(), array.nulls()) })
    }

    /// The value in a row.
    #[inline]
    pub(super) fn value(&self, row: usize) -> TableValue<'_> {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return TableValue::Null;
        }
        let null = TableValue::Null;
        match &self.values {
            CellValues::Null => null,
            CellValues::Text(array) => TableValue::Text(array.value(row).as_bytes()),
            CellValues::LargeText(array) => TableValue::Text(array.value(row).as_bytes()),
            CellValues::TextView(array) => TableValue::Text(array.value(row).as_bytes()),
            CellValues::Bytes(array) => TableValue::Text(array.value(row)),
            CellValues::LargeBytes(array) => TableValue::Text(array.value(row)),
            CellValues::BytesView(array) => TableValue::Text(array.value(row)),
            CellValues::FixedBytes(array) => TableValue::Text(array.value(row)),
            CellValues::Flag(array) => TableValue::Flag(array.value(row)),
            CellValues::Unsigned(numbers) => {
                numbers.get(row).map_or(null, |number| TableValue::Unsigned(*number))
            }
            CellValues::Signed(numbers) => {
                numbers.get(row).map_or(null, |number| TableValue::Signed(*number))
            }
            CellValues::Float(numbers) => numbers.get(row).map_or(null, |number| TableValue::Float(*number)),
            CellValues::Moment(moments) => {
                moments.get(row).map_or(null, |moment| TableValue::Moment(*moment))
            }
            CellValues::Digits(texts) => {
                texts.get(row).map_or(null, |text| TableValue::Text(text.as_bytes()))
            }
            CellValues::Dictionary(keys, cells) => keys.get(row).map_or(null, |key| cells.value(*key)),
        }
    }
}

/// The values of an array of numbers or times.
fn number_values(array: &ArrayRef) -> Option<CellValues> {
    const DAY: i64 = 86_400_000_000_000;
    Some(match array.data_type() {
        DataType::UInt8 => CellValues::Unsigned(numbers::<UInt8Type, _>(array, u64::from)),
        DataType::UInt16 => CellValues::Unsigned(numbers::<UInt16Type, _>(array, u64::from)),
        DataType::UInt32 => CellValues::Unsigned(numbers::<UInt32Type, _>(array, u64::from)),
        DataType::UInt64 => CellValues::Unsigned(numbers::<UInt64Type, _>(array, u64::from)),
        DataType::Int8 => CellValues::Signed(numbers::<Int8Type, _>(array, i64::from)),
        DataType::Int16 => CellValues::Signed(numbers::<Int16Type, _>(array, i64::from)),
        DataType::Int32 => CellValues::Signed(numbers::<Int32Type, _>(array, i64::from)),
        DataType::Int64 => CellValues::Signed(numbers::<Int64Type, _>(array, i64::from)),
        DataType::Float32 => CellValues::Float(numbers::<Float32Type, _>(array, f64::from)),
        DataType::Float64 => CellValues::Float(numbers::<Float64Type, _>(array, f64::from)),
        DataType::Date32 => {
            CellValues::Moment(numbers::<Date32Type, _>(array, |days| i64::from(days).saturating_mul(DAY)))
        }
        DataType::Date64 => {
            CellValues::Moment(numbers::<Date64Type, _>(array, |time| time.saturating_mul(1_000_000)))
        }
        DataType::Timestamp(TimeUnit::Second, _) => {
            CellValues::Moment(numbers::<TimestampSecondType, _>(array, |time| {
                time.saturating_mul(1_000_000_000)
            }))
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            CellValues::Moment(numbers::<TimestampMillisecondType, _>(array, |time| {
                time.saturating_mul(1_000_000)
            }))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            CellValues::Moment(numbers::<TimestampMicrosecondType, _>(array, |time| {
                time.saturating_mul(1000)
            }))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            CellValues::Moment(numbers::<TimestampNanosecondType, _>(array, i64::from))
        }
        _ => return None,
    })
}

fn numbers<T: ArrowPrimitiveType, N>(array: &ArrayRef, of: impl Fn(T::Native) -> N) -> Vec<N> {
    array.as_primitive::<T>().values().iter().map(|number| of(*number)).collect()
}

/// A decimal number whose last digits stand behind a point; with a scale below zero, zeros follow.
fn with_point(number: i128, scale: i8) -> String {
    let Ok(behind) = usize::try_from(scale) else {
        return format!("{number}{}", "0".repeat(usize::from(scale.unsigned_abs())));
    };
    let sign = if number < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", number.unsigned_abs(), width = behind + 1);
    let (whole, fraction) = digits.split_at(digits.len() - behind);
    format!("{sign}{whole}.{fraction}")
}

/// What the values of a type are.
pub(super) fn column_type(kind: &DataType) -> ColumnType {
    match kind {
        DataType::Timestamp(..) | DataType::Date32 | DataType::Date64 => ColumnType::Moment,
        DataType::Boolean => ColumnType::Flag,
        DataType::Dictionary(_, values) => column_type(values),
        kind if kind.is_numeric() => ColumnType::Number,
        _ => ColumnType::Text,
    }
}

/// A value as a sample; `None` for a null.
pub(super) fn sample(value: TableValue<'_>) -> Option<Vec<u8>> {
    match value {
        TableValue::Null => None,
        TableValue::Text(text) => Some(text.to_vec()),
        TableValue::Unsigned(number) => Some(number.to_string().into_bytes()),
        TableValue::Signed(number) | TableValue::Moment(number) => Some(number.to_string().into_bytes()),
        TableValue::Float(number) => Some(number.to_string().into_bytes()),
        TableValue::Flag(flag) => Some(flag.to_string().into_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_numbers_have_their_point_where_the_scale_says() {
        for (number, scale, expected) in [
            (12_345, 2, "123.45"),
            (-5, 2, "-0.05"),
            (0, 1, "0.0"),
            (i128::MIN, 3, "-170141183460469231731687303715884105.728"),
            (7, -2, "700"),
        ] {
            assert_eq!(with_point(number, scale), expected);
        }
    }
}
