//! Converts rows to record batches of Arrow.
//!
//! Unsigned numbers are `UInt64`, signed numbers `Int64`, doubles `Float64`, booleans `Boolean`, dates
//! `Timestamp` in nanoseconds of UTC, and bytes `Binary`; texts, keywords and paths are `Utf8`. A document
//! without a value has a null. A field is a `List` for all documents if some document of the index has
//! several values, or if it is only stored, since its number of values is then unknown.
//!
//! Texts can be arbitrary bytes, but `Utf8` cannot. If an export to a file finds a text that is not valid
//! UTF-8, it starts the file again, with `Binary` for all fields that have such a text. The output of a pipe
//! cannot be rewritten, so all texts are checked first. Either way no value is replaced or omitted, and valid
//! columns are `Utf8`.

use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use arrow_array::builder::BooleanBuilder;
use arrow_array::types::{Float64Type, Int64Type, TimestampNanosecondType, UInt64Type};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, ListArray, PrimitiveArray, RecordBatch,
    StringArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use scanns::columns::{BatchColumn, ColumnKind};

use super::shape::{NotUnicode, Shape};

impl Shape {
    fn item_type(&self) -> DataType {
        match self.kind {
            ColumnKind::Unsigned => DataType::UInt64,
            ColumnKind::Signed => DataType::Int64,
            ColumnKind::Float => DataType::Float64,
            ColumnKind::Boolean => DataType::Boolean,
            ColumnKind::Date => DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
            _ if self.is_text() && !self.binary => DataType::Utf8,
            _ => DataType::Binary,
        }
    }

    fn field(&self) -> Field {
        let item = self.item_type();
        if self.several {
            Field::new(&self.name, DataType::List(Arc::new(Field::new("item", item, false))), true)
        } else {
            Field::new(&self.name, item, !self.required)
        }
    }

    /// The array of a column; `None` if a text is not valid UTF-8.
    fn array(&self, column: &BatchColumn) -> Result<Option<ArrayRef>> {
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
    fn items(&self, column: &BatchColumn, ends: Option<&[u32]>) -> Result<Option<ArrayRef>> {
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

    fn strings(&self, column: &BatchColumn, gaps: bool) -> Result<Option<ArrayRef>> {
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
            ends.push(end.map_err(|_| {
                let name = &self.name;
                anyhow!(
                    "a value of {name} is larger than 2 GiB, the limit of Arrow and Parquet: omit it from \
                    --fields"
                )
            })?);
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

/// The schema of the output.
pub fn schema(shapes: &[Shape]) -> SchemaRef {
    Arc::new(Schema::new(shapes.iter().map(Shape::field).collect::<Vec<_>>()))
}

/// Converts columns to a record batch.
///
/// # Errors
/// [`NotUnicode`] for invalid UTF-8 in a column that is not binary.
pub fn record_batch(schema: &SchemaRef, shapes: &[Shape], columns: &[BatchColumn]) -> Result<RecordBatch> {
    let array = |(place, (shape, column)): (usize, (&Shape, &BatchColumn))| {
        shape.array(column)?.ok_or_else(|| anyhow!(NotUnicode(place)))
    };
    let arrays = shapes.iter().zip(columns).enumerate().map(array).collect::<Result<_>>()?;
    RecordBatch::try_new(Arc::clone(schema), arrays).context("cannot make a record batch of the rows")
}
