//! Record batches of Arrow from batches of values: what the command exports, and what Python reads.
//!
//! Unsigned numbers are `UInt64`, signed numbers `Int64`, doubles `Float64`, booleans `Boolean`, dates
//! `Timestamp` in nanoseconds of UTC, and bytes `Binary`; texts, keywords and paths are `Utf8`. A document
//! without a value has a null. A field is a `List` for all documents if some document of the index has
//! several values, or if it is only stored, since its number of values is then unknown.
//!
//! Texts can be arbitrary bytes, but `Utf8` cannot. A column with a text that is not valid UTF-8 is an error,
//! after which the caller can ask for `Binary`.

use std::sync::Arc;

use arrow_array::builder::BooleanBuilder;
use arrow_array::types::{Float64Type, Int64Type, TimestampNanosecondType, UInt64Type};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, ListArray, PrimitiveArray, RecordBatch,
    StringArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use scanns::columns::{BatchColumn, ColumnKind};

/// Values that cannot be converted.
#[derive(Debug, thiserror::Error)]
pub enum ConversionError {
    /// The column with this number contains invalid UTF-8.
    #[error("column {} contains a text that is not valid UTF-8", .0 + 1)]
    NotUnicode(usize),
    /// The values of a batch exceed what Arrow can address.
    #[error("a value of {0} is larger than 2 GiB, the limit of Arrow and Parquet: omit the field")]
    TooLarge(String),
    /// Arrow refused the arrays.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}

/// How a column of values becomes a column of Arrow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnLayout {
    /// The name.
    pub name: String,
    /// The kind of its values.
    pub kind: ColumnKind,
    /// True if every row has a value.
    pub required: bool,
    /// True if a row may have several values.
    pub several: bool,
    /// True for texts of which some are not valid UTF-8.
    pub binary: bool,
}

impl ColumnLayout {
    /// The type of one value.
    pub fn item_type(&self) -> DataType {
        match self.kind {
            ColumnKind::Unsigned => DataType::UInt64,
            ColumnKind::Signed => DataType::Int64,
            ColumnKind::Float => DataType::Float64,
            ColumnKind::Boolean => DataType::Boolean,
            ColumnKind::Date => DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
            ColumnKind::Keyword | ColumnKind::Path | ColumnKind::Text if !self.binary => DataType::Utf8,
            _ => DataType::Binary,
        }
    }

    /// The column in a schema of Arrow.
    pub fn field(&self) -> Field {
        let item = self.item_type();
        if self.several {
            Field::new(&self.name, DataType::List(Arc::new(Field::new("item", item, false))), true)
        } else {
            Field::new(&self.name, item, !self.required)
        }
    }

    /// The array of a column; `None` if a text is not valid UTF-8.
    fn array(&self, column: &BatchColumn) -> Result<Option<ArrayRef>, ConversionError> {
        if !self.several {
            return self.items(column, column.ends());
        }
        let Some(items) = self.items(column, None)? else { return Ok(None) };
        let offsets = match column.ends() {
            None => OffsetBuffer::from_lengths(std::iter::repeat_n(1, column.rows())),
            Some(_) => OffsetBuffer::from_lengths((0..column.rows()).map(|row| column.of_row(row).len())),
        };
        let item = Arc::new(Field::new("item", self.item_type(), false));
        Ok(Some(Arc::new(ListArray::try_new(item, offsets, items, nulls(column))?)))
    }

    /// All values of a column; with `ends`, one for each row, which may be null.
    fn items(&self, column: &BatchColumn, ends: Option<&[u32]>) -> Result<Option<ArrayRef>, ConversionError> {
        let gaps = ends.is_some();
        let array: ArrayRef = match self.kind {
            ColumnKind::Unsigned => numbers::<UInt64Type>(column, gaps, column.orders().iter().copied()),
            ColumnKind::Signed => numbers::<Int64Type>(column, gaps, column.signed()),
            ColumnKind::Float => numbers::<Float64Type>(column, gaps, column.floats()),
            ColumnKind::Date => {
                let moments = spread(column, gaps, column.signed());
                let nulls = if gaps { nulls(column) } else { None };
                let array = PrimitiveArray::<TimestampNanosecondType>::new(moments.into(), nulls);
                Arc::new(array.with_timezone("UTC"))
            }
            ColumnKind::Boolean => {
                let flags = spread(column, gaps, column.orders().iter().map(|&order| order != 0));
                let mut builder = BooleanBuilder::with_capacity(flags.len());
                builder.append_slice(&flags);
                let bits = builder.finish().values().clone();
                Arc::new(BooleanArray::new(bits, if gaps { nulls(column) } else { None }))
            }
            _ => return self.strings(column, gaps),
        };
        Ok(Some(array))
    }

    fn strings(&self, column: &BatchColumn, gaps: bool) -> Result<Option<ArrayRef>, ConversionError> {
        let is_text = self.item_type() == DataType::Utf8;
        if is_text && column.distinct_strings().any(|string| std::str::from_utf8(string).is_err()) {
            return Ok(None);
        }
        let all = if gaps { column.rows() } else { column.len() };
        let (mut bytes, mut ends) = (Vec::with_capacity(column.bytes()), Vec::with_capacity(all + 1));
        ends.push(0i32);
        for at in 0..all {
            let place = if gaps { column.of_row(at) } else { at..at + 1 };
            place.take(1).for_each(|place| bytes.extend_from_slice(column.string(place)));
            let end = i32::try_from(bytes.len());
            ends.push(end.map_err(|_| ConversionError::TooLarge(self.name.clone()))?);
        }
        let (ends, bytes) = (OffsetBuffer::new(ScalarBuffer::from(ends)), Buffer::from(bytes));
        let nulls = if gaps { nulls(column) } else { None };
        Ok(Some(if is_text {
            Arc::new(StringArray::try_new(ends, bytes, nulls)?)
        } else {
            Arc::new(BinaryArray::try_new(ends, bytes, nulls)?)
        }))
    }
}

/// The rows that have a value, if not all rows do.
fn nulls(column: &BatchColumn) -> Option<NullBuffer> {
    column.ends()?;
    let has = (0..column.rows()).map(|row| !column.of_row(row).is_empty());
    Some(NullBuffer::from_iter(has)).filter(|nulls| nulls.null_count() > 0)
}

/// All values; with gaps, the first value of each row, or a default if a row has none.
fn spread<T: Copy + Default>(column: &BatchColumn, gaps: bool, values: impl Iterator<Item = T>) -> Vec<T> {
    if !gaps {
        return values.collect();
    }
    let mut values = values;
    let next = |row| {
        let mut own = values.by_ref().take(column.of_row(row).len());
        let first = own.next().unwrap_or_default();
        own.for_each(drop);
        first
    };
    (0..column.rows()).map(next).collect()
}

fn numbers<T: ArrowPrimitiveType>(
    column: &BatchColumn,
    gaps: bool,
    values: impl Iterator<Item = T::Native>,
) -> ArrayRef {
    let nulls = if gaps { nulls(column) } else { None };
    Arc::new(PrimitiveArray::<T>::new(spread(column, gaps, values).into(), nulls))
}

/// The schema of columns.
pub fn schema_of<'l>(layouts: impl IntoIterator<Item = &'l ColumnLayout>) -> SchemaRef {
    Arc::new(Schema::new(layouts.into_iter().map(ColumnLayout::field).collect::<Vec<_>>()))
}

/// Converts columns to a record batch of `schema`, which [`schema_of`] made of the same layouts.
///
/// # Errors
/// [`ConversionError::NotUnicode`] for invalid UTF-8 in a column that is not binary,
/// [`ConversionError::TooLarge`] for more than 2 GiB of text.
pub fn record_batch<'l>(
    schema: &SchemaRef,
    layouts: impl IntoIterator<Item = &'l ColumnLayout>,
    columns: &[BatchColumn],
) -> Result<RecordBatch, ConversionError> {
    let array = |(place, (layout, column)): (usize, (&ColumnLayout, &BatchColumn))| {
        layout.array(column)?.ok_or(ConversionError::NotUnicode(place))
    };
    let arrays = layouts.into_iter().zip(columns).enumerate().map(array).collect::<Result<_, _>>()?;
    Ok(RecordBatch::try_new(Arc::clone(schema), arrays)?)
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use scanns::schema::ValueRef;

    use super::*;

    fn layout(kind: ColumnKind, several: bool) -> ColumnLayout {
        ColumnLayout { name: "x".into(), kind, required: false, several, binary: false }
    }

    #[test]
    fn missing_values_are_nulls_and_several_are_lists() {
        let mut column = BatchColumn::new(ColumnKind::Signed);
        column.push_row([ValueRef::Signed(-3)]);
        column.push_row([]);
        column.push_row([ValueRef::Signed(4), ValueRef::Signed(5)]);
        for several in [false, true] {
            let layouts = [layout(ColumnKind::Signed, several)];
            let schema = schema_of(&layouts);
            let batch = record_batch(&schema, &layouts, std::slice::from_ref(&column)).unwrap();
            let array = batch.column(0);
            assert_eq!((array.len(), array.null_count()), (3, 1));
            if several {
                assert_eq!(array.as_list::<i32>().value(2).as_primitive::<Int64Type>().values(), &[4, 5]);
            } else {
                assert_eq!(array.as_primitive::<Int64Type>().values(), &[-3, 0, 4]);
            }
        }
    }

    #[test]
    fn invalid_text_is_refused_until_it_is_binary() {
        let mut column = BatchColumn::new(ColumnKind::Keyword);
        column.push_row([ValueRef::Text(b"\xff")]);
        let mut layouts = [layout(ColumnKind::Keyword, false)];
        let refused = record_batch(&schema_of(&layouts), &layouts, std::slice::from_ref(&column));
        assert!(matches!(refused, Err(ConversionError::NotUnicode(0))));
        layouts[0].binary = true;
        let batch = record_batch(&schema_of(&layouts), &layouts, std::slice::from_ref(&column)).unwrap();
        assert_eq!(batch.column(0).as_binary::<i32>().value(0), b"\xff");
    }
}
