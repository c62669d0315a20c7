//! Reads Parquet and Arrow as dumps of file systems: record batches in, entries out.
//!
//! `cells.rs` reads the values of a column. Only columns that the map uses are decoded. A table that does not
//! come from a file in which one can seek is copied to a temporary file, unless it is a stream of Arrow.

mod cells;

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::ops::ControlFlow;

use arrow_array::{Array, ArrayRef, RecordBatch, cast::AsArray};
use arrow_buffer::NullBuffer;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Fields, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use scanns::sources::{
    DumpTally, MappedRow, ReadTable, TableColumn, TableFormat, TableInput, TableMap, Visit,
};

use crate::report;
use cells::{Cells, column_type, sample};

/// The formats.
pub const FORMATS: [TableFormat; 2] = [
    TableFormat { name: "parquet", open: |input| Ok(Box::new(ArrowTable::parquet(input)?)) },
    TableFormat { name: "arrow", open: |input| Ok(Box::new(ArrowTable::arrow(input)?)) },
];

/// Rows of a batch.
const BATCH: usize = 8192;

/// Rows whose values are looked at.
const SAMPLED: usize = 200;

/// The first bytes of a file of Arrow; a stream begins otherwise.
const MAGIC: &[u8] = b"ARROW1";

/// Batches, one after the other.
type Batches<'a> = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'a>;

/// A column without nested ones: its name with dots, and the numbers of the fields that lead to it.
struct Leaf {
    name: String,
    place: Vec<usize>,
    kind: DataType,
}

/// A table of Parquet or Arrow.
struct ArrowTable<'a> {
    leaves: Vec<Leaf>,
    rows: ArrowRows<'a>,
}

enum ArrowRows<'a> {
    Parquet(File),
    /// The first batch, if it was read already, and the others.
    Arrow(Option<RecordBatch>, Batches<'a>),
}

impl<'a> ArrowTable<'a> {
    fn parquet(input: TableInput<'a>) -> io::Result<Self> {
        let file = file(input)?;
        let schema =
            ParquetRecordBatchReaderBuilder::try_new(file.try_clone()?).map_err(invalid)?.schema().clone();
        Ok(ArrowTable { leaves: leaves(&schema), rows: ArrowRows::Parquet(file) })
    }

    fn arrow(input: TableInput<'a>) -> io::Result<Self> {
        let mut head = Vec::new();
        let input = match input {
            TableInput::File(mut file) => {
                (&mut file).take(MAGIC.len() as u64).read_to_end(&mut head)?;
                file.rewind()?;
                TableInput::File(file)
            }
            TableInput::Stream(mut stream) => {
                (&mut stream).take(MAGIC.len() as u64).read_to_end(&mut head)?;
                TableInput::Stream(Box::new(Cursor::new(head.clone()).chain(stream)))
            }
        };
        let (schema, batches): (SchemaRef, Batches<'a>) = if head == MAGIC {
            let reader = FileReader::try_new(BufReader::new(file(input)?), None).map_err(invalid)?;
            (reader.schema(), Box::new(reader))
        } else {
            let stream: Box<dyn Read + Send + 'a> = match input {
                TableInput::File(file) => Box::new(file),
                TableInput::Stream(stream) => stream,
            };
            let reader = StreamReader::try_new(BufReader::new(stream), None).map_err(invalid)?;
            (reader.schema(), Box::new(reader))
        };
        Ok(ArrowTable { leaves: leaves(&schema), rows: ArrowRows::Arrow(None, batches) })
    }
}

impl ReadTable for ArrowTable<'_> {
    fn columns(&mut self) -> io::Result<Vec<TableColumn>> {
        let first = match &mut self.rows {
            ArrowRows::Parquet(file) => {
                let builder = ParquetRecordBatchReaderBuilder::try_new(file.try_clone()?).map_err(invalid)?;
                builder.with_limit(SAMPLED).build().map_err(invalid)?.next().transpose().map_err(invalid)?
            }
            ArrowRows::Arrow(first, batches) => {
                *first = batches.next().transpose().map_err(invalid)?;
                first.clone()
            }
        };
        let column = |leaf: &Leaf| {
            let mut samples = Vec::new();
            if let Some(batch) = &first
                && let Some((array, nulls)) = at(batch, &leaf.place)
                && let Some(cells) = Cells::of(&array, nulls)
            {
                samples.extend((0..batch.num_rows().min(SAMPLED)).filter_map(|row| sample(cells.value(row))));
            }
            TableColumn { name: leaf.name.clone(), kind: column_type(&leaf.kind), samples }
        };
        Ok(self.leaves.iter().map(column).collect())
    }

    fn read(&mut self, map: &TableMap, tally: &mut DumpTally, visit: &mut Visit<'_>) -> io::Result<()> {
        let used: Vec<&Leaf> = map.used().filter_map(|column| self.leaves.get(column)).collect();
        let mut roots: Vec<usize> = used.iter().filter_map(|leaf| leaf.place.first().copied()).collect();
        roots.sort_unstable();
        roots.dedup();
        let mut row = MappedRow::new(map);
        let mut number = 0;
        match &mut self.rows {
            ArrowRows::Parquet(file) => {
                let builder = ParquetRecordBatchReaderBuilder::try_new(file.try_clone()?).map_err(invalid)?;
                let mask = ProjectionMask::roots(builder.parquet_schema(), roots.iter().copied());
                let reader = builder.with_projection(mask).with_batch_size(BATCH).build().map_err(invalid)?;
                // The columns that are not used are missing in the batches.
                let place = |leaf: &&Leaf| {
                    let mut place = leaf.place.clone();
                    if let Some(root) = place.first_mut() {
                        *root = roots.binary_search(root).unwrap_or(usize::MAX);
                    }
                    place
                };
                let places: Vec<_> = used.iter().map(place).collect();
                for batch in reader {
                    let batch = batch.map_err(invalid)?;
                    let cells = cells_of(&batch, &places, &used)?;
                    if each_row(&cells, batch.num_rows(), &mut number, (&mut row, tally, visit)).is_break() {
                        break;
                    }
                }
            }
            ArrowRows::Arrow(first, batches) => {
                let places: Vec<_> = used.iter().map(|leaf| leaf.place.clone()).collect();
                for batch in first.take().map(Ok).into_iter().chain(batches) {
                    let batch = batch.map_err(invalid)?;
                    let cells = cells_of(&batch, &places, &used)?;
                    if each_row(&cells, batch.num_rows(), &mut number, (&mut row, tally, visit)).is_break() {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The values of the used columns in a batch.
fn cells_of(batch: &RecordBatch, places: &[Vec<usize>], used: &[&Leaf]) -> io::Result<Vec<Cells>> {
    let cells = |(place, leaf): (&Vec<usize>, &&Leaf)| {
        let cells = at(batch, place).and_then(|(array, nulls)| Cells::of(&array, nulls));
        cells.ok_or_else(|| {
            let Leaf { name, kind, .. } = leaf;
            io::Error::other(format!(
                "the values of the column {name} have the type {kind}, which fills no field"
            ))
        })
    };
    places.iter().zip(used).map(cells).collect()
}

/// The row that is filled again and again, what is counted, and who takes the entries.
type RowCall<'c, 'm, 'v> = (&'c mut MappedRow<'m>, &'c mut DumpTally, &'c mut Visit<'v>);

/// Visits the entries of the rows of a batch.
fn each_row(cells: &[Cells], rows: usize, number: &mut u64, call: RowCall<'_, '_, '_>) -> ControlFlow<()> {
    let (row, tally, visit) = call;
    for at in 0..rows {
        row.start(*number);
        for (slot, cells) in cells.iter().enumerate() {
            row.put(slot, cells.value(at), tally);
        }
        match row.finish() {
            Ok(Some(entry)) => visit(&entry)?,
            Ok(None) => tally.passed += 1,
            Err(reason) => tally.bad(*number, reason, b""),
        }
        *number += 1;
    }
    ControlFlow::Continue(())
}

/// The array at a place of a batch, and where a struct around it is null.
fn at(batch: &RecordBatch, place: &[usize]) -> Option<(ArrayRef, Option<NullBuffer>)> {
    let (root, deeper) = place.split_first()?;
    let mut array = ArrayRef::clone(batch.columns().get(*root)?);
    let mut nulls = None;
    for number in deeper {
        nulls = NullBuffer::union(nulls.as_ref(), array.nulls());
        let inner = ArrayRef::clone(array.as_struct_opt()?.columns().get(*number)?);
        array = inner;
    }
    Some((array, nulls))
}

/// The columns of a schema, those of structs with dots in their names.
fn leaves(schema: &SchemaRef) -> Vec<Leaf> {
    fn add(fields: &Fields, name: &str, place: &[usize], leaves: &mut Vec<Leaf>) {
        for (number, field) in fields.iter().enumerate() {
            let name =
                if name.is_empty() { field.name().clone() } else { format!("{name}.{}", field.name()) };
            let place = [place, &[number]].concat();
            match field.data_type() {
                DataType::Struct(inner) => add(inner, &name, &place, leaves),
                kind => leaves.push(Leaf { name, place, kind: kind.clone() }),
            }
        }
    }
    let mut leaves = Vec::new();
    add(schema.fields(), "", &[], &mut leaves);
    leaves
}

/// A file in which the reader can seek; a stream is copied.
fn file(input: TableInput<'_>) -> io::Result<File> {
    match input {
        TableInput::File(file) => Ok(file),
        TableInput::Stream(mut stream) => {
            report::note("the table is copied to a temporary file, because it is read from its end");
            let mut file = tempfile::tempfile()?;
            io::copy(&mut stream, &mut file)?;
            file.rewind()?;
            Ok(file)
        }
    }
}

fn invalid(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
