//! Documents from record batches of Arrow. Nothing here needs the interpreter.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use scanns::schema::{Document, Field, FieldEntry, FieldKind, Value, parse_date};
use scanns::{Error, Result};

use crate::documents::DocumentShape;

const DAY: i64 = 86_400_000_000_000;

/// A value in an array, before it is of a kind.
enum Cell<'a> {
    Bytes(&'a [u8]),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Boolean(bool),
    Moment(i64),
}

/// Reads the cell of a row.
type CellReader<'a> = Box<dyn Fn(usize) -> Option<Cell<'a>> + 'a>;

/// Why rows cannot become documents.
pub enum RowFault {
    /// No row of the table can.
    Table(Error),
    /// The first row that was not made cannot.
    Row(Error),
}

/// The documents of the rows of a record batch before the first wrong one.
pub fn before_fault(shape: &DocumentShape, batch: &RecordBatch) -> (Vec<Document>, Option<RowFault>) {
    if let Ok(made) = documents(shape, batch) {
        return (made, None);
    }
    if let Err(error) = documents(shape, &batch.slice(0, 0)) {
        return (Vec::new(), Some(RowFault::Table(error)));
    }
    let mut made = Vec::new();
    for row in 0..batch.num_rows() {
        match documents(shape, &batch.slice(row, 1)) {
            Ok(one) => made.extend(one),
            Err(error) => return (made, Some(RowFault::Row(error))),
        }
    }
    (made, None)
}

/// The documents of a record batch.
fn documents(shape: &DocumentShape, batch: &RecordBatch) -> Result<Vec<Document>> {
    let schema = batch.schema();
    let Some(key) = batch.column_by_name(&shape.key) else {
        return Err(Error::invalid(
            "record batch",
            format!("without a column '{}'", shape.key),
            "a column with the keys of documents",
        ));
    };
    let key_of = cells(key, &shape.key)?;
    let mut documents = (0..batch.num_rows())
        .map(|row| Ok(Document::new(key_text(key_of(row))?)))
        .collect::<Result<Vec<_>>>()?;
    for (field, array) in schema.fields().iter().zip(batch.columns()) {
        if *field.name() == shape.key && !shape.key_is_field {
            continue;
        }
        let (field, entry) = shape.field(field.name())?;
        add_column(&mut documents, array, field, entry)?;
    }
    Ok(documents)
}

fn key_text(cell: Option<Cell<'_>>) -> Result<Vec<u8>> {
    Ok(match cell {
        Some(Cell::Bytes(bytes)) => bytes.to_vec(),
        Some(Cell::Unsigned(number)) => number.to_string().into_bytes(),
        Some(Cell::Signed(number)) => number.to_string().into_bytes(),
        _ => {
            return Err(Error::invalid(
                "key",
                "nothing, or a value of another type",
                "a text or a whole number",
            ));
        }
    })
}

/// Adds the values of a column to all documents.
fn add_column(documents: &mut [Document], array: &ArrayRef, field: Field, entry: &FieldEntry) -> Result<()> {
    let lists: Option<(ArrayRef, Vec<usize>)> = match array.data_type() {
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            let ends = list.value_offsets().iter().map(|&end| usize::try_from(end).unwrap_or(0));
            Some((list.values().clone(), ends.collect()))
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            let ends = list.value_offsets().iter().map(|&end| usize::try_from(end).unwrap_or(0));
            Some((list.values().clone(), ends.collect()))
        }
        _ => None,
    };
    let items = lists.as_ref().map_or(array, |(items, _)| items);
    let cell_of = cells(items, &entry.name)?;
    for (row, document) in documents.iter_mut().enumerate() {
        let places = match &lists {
            None => row..row + 1,
            Some(_) if array.is_null(row) => 0..0,
            Some((_, ends)) => {
                let end = |at: usize| ends.get(at).copied().unwrap_or(0);
                end(row)..end(row + 1)
            }
        };
        for cell in places.filter_map(&cell_of) {
            let value = value_of(cell, entry)?;
            *document = std::mem::take(document).with(field, value);
        }
    }
    Ok(())
}

/// A cell as a value of a field.
fn value_of(cell: Cell<'_>, entry: &FieldEntry) -> Result<Value> {
    let value = match (&entry.kind, cell) {
        (FieldKind::Text { .. } | FieldKind::Keyword | FieldKind::Path, Cell::Bytes(bytes)) => {
            Some(Value::Text(bytes.to_vec()))
        }
        (FieldKind::Bytes, Cell::Bytes(bytes)) => Some(Value::Bytes(bytes.to_vec())),
        (FieldKind::Unsigned, Cell::Unsigned(number)) => Some(Value::Unsigned(number)),
        (FieldKind::Unsigned, Cell::Signed(number)) => u64::try_from(number).ok().map(Value::Unsigned),
        (FieldKind::Signed, Cell::Signed(number)) => Some(Value::Signed(number)),
        (FieldKind::Signed, Cell::Unsigned(number)) => i64::try_from(number).ok().map(Value::Signed),
        (FieldKind::Float, Cell::Float(number)) => Some(Value::Float(number)),
        (FieldKind::Float, Cell::Signed(number)) => exact(number as f64, number).map(Value::Float),
        (FieldKind::Boolean, Cell::Boolean(truth)) => Some(Value::Boolean(truth)),
        (FieldKind::Date, Cell::Moment(moment) | Cell::Signed(moment)) => Some(Value::Date(moment)),
        (FieldKind::Date, Cell::Bytes(text)) => parse_date(text).map(Value::Date),
        _ => None,
    };
    value.ok_or_else(|| Error::InvalidField {
        field: entry.name.clone(),
        problem: format!("holds values of type {}, but a value in Arrow is not", entry.kind.name()),
        remedy: "cast the column, or choose another type for the field".into(),
    })
}

/// A float, if it is the same number.
#[expect(clippy::cast_possible_truncation, reason = "a float that is not the number is refused")]
fn exact(float: f64, number: i64) -> Option<f64> {
    (float as i64 == number).then_some(float)
}

/// Reads the cells of an array.
fn cells<'a>(array: &'a ArrayRef, name: &str) -> Result<CellReader<'a>> {
    Ok(match array.data_type() {
        DataType::Utf8 => {
            let array = array.as_string::<i32>();
            Box::new(move |row| array.is_valid(row).then(|| Cell::Bytes(array.value(row).as_bytes())))
        }
        DataType::LargeUtf8 => {
            let array = array.as_string::<i64>();
            Box::new(move |row| array.is_valid(row).then(|| Cell::Bytes(array.value(row).as_bytes())))
        }
        DataType::Utf8View => {
            let array = array.as_string_view();
            Box::new(move |row| array.is_valid(row).then(|| Cell::Bytes(array.value(row).as_bytes())))
        }
        DataType::Binary => {
            let array = array.as_binary::<i32>();
            Box::new(move |row| array.is_valid(row).then(|| Cell::Bytes(array.value(row))))
        }
        DataType::LargeBinary => {
            let array = array.as_binary::<i64>();
            Box::new(move |row| array.is_valid(row).then(|| Cell::Bytes(array.value(row))))
        }
        DataType::BinaryView => {
            let array = array.as_binary_view();
            Box::new(move |row| array.is_valid(row).then(|| Cell::Bytes(array.value(row))))
        }
        DataType::Boolean => {
            let array = array.as_boolean();
            Box::new(move |row| array.is_valid(row).then(|| Cell::Boolean(array.value(row))))
        }
        DataType::Null => Box::new(|_| None),
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            let (keys, value_of) = (dictionary.normalized_keys(), cells(dictionary.values(), name)?);
            Box::new(move |row| match array.is_valid(row) {
                true => keys.get(row).and_then(|&key| value_of(key)),
                false => None,
            })
        }
        other => match number_cells(array, other) {
            Some(reader) => reader,
            None => {
                return Err(Error::Unsupported {
                    what: format!("the type {other} of the column '{name}'"),
                    remedy: "cast it to text, numbers, booleans, dates or lists of these".into(),
                });
            }
        },
    })
}

/// Reads the cells of an array of numbers or dates.
fn number_cells<'a>(array: &'a ArrayRef, kind: &DataType) -> Option<CellReader<'a>> {
    Some(match kind {
        DataType::UInt8 => primitive::<UInt8Type>(array, |number| Cell::Unsigned(number.into())),
        DataType::UInt16 => primitive::<UInt16Type>(array, |number| Cell::Unsigned(number.into())),
        DataType::UInt32 => primitive::<UInt32Type>(array, |number| Cell::Unsigned(number.into())),
        DataType::UInt64 => primitive::<UInt64Type>(array, Cell::Unsigned),
        DataType::Int8 => primitive::<Int8Type>(array, |number| Cell::Signed(number.into())),
        DataType::Int16 => primitive::<Int16Type>(array, |number| Cell::Signed(number.into())),
        DataType::Int32 => primitive::<Int32Type>(array, |number| Cell::Signed(number.into())),
        DataType::Int64 => primitive::<Int64Type>(array, Cell::Signed),
        DataType::Float32 => primitive::<Float32Type>(array, |number| Cell::Float(number.into())),
        DataType::Float64 => primitive::<Float64Type>(array, Cell::Float),
        DataType::Date32 => primitive::<Date32Type>(array, |days| Cell::Moment(i64::from(days) * DAY)),
        DataType::Date64 => primitive::<Date64Type>(array, |time| moment(time, 1_000_000)),
        DataType::Timestamp(TimeUnit::Second, _) => {
            primitive::<TimestampSecondType>(array, |time| moment(time, 1_000_000_000))
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            primitive::<TimestampMillisecondType>(array, |time| moment(time, 1_000_000))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            primitive::<TimestampMicrosecondType>(array, |time| moment(time, 1000))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            primitive::<TimestampNanosecondType>(array, Cell::Moment)
        }
        _ => return None,
    })
}

/// A date in nanoseconds; one that these cannot express is no date.
fn moment<'a>(time: i64, unit: i64) -> Cell<'a> {
    time.checked_mul(unit).map_or(Cell::Float(f64::NAN), Cell::Moment)
}

fn primitive<'a, T: ArrowPrimitiveType>(
    array: &'a ArrayRef,
    cell: impl Fn(T::Native) -> Cell<'a> + 'a,
) -> CellReader<'a> {
    let array = array.as_primitive::<T>();
    Box::new(move |row| array.is_valid(row).then(|| cell(array.value(row))))
}
