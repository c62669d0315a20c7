//! Writes record batches in the formats of Arrow and Parquet.
//!
//! Arrow has a file format, which allows random access, and a stream format. The types are those that
//! `scanns_arrow` gives to values; a column with a text that is not valid UTF-8 must be marked as binary, or
//! its batch is refused. So no value is replaced or omitted.
//! Parquet holds one group of rows in memory, encoded and compressed, until the group is complete: a million
//! rows or 64 MiB.

use std::io::{self, BufWriter, Write};

use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use scanns::columns::{BatchColumn, ColumnKind};
use scanns_arrow::{ColumnLayout, ConversionError};

use crate::error::{ExportError, Result};
use crate::shape::Shape;
use crate::text::RowWriter;

/// The maximum number of rows in a group of Parquet.
const GROUP_ROWS: usize = 1 << 20;

/// About the maximum number of bytes in a group of Parquet.
const GROUP_BYTES: usize = 64 << 20;

/// The maximum size in bytes of Parquet's dictionary for a column of numbers; a larger one costs more time
/// than it saves space.
const NUMBER_TABLE: usize = 64 << 10;

/// Compression methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableCompression {
    /// No compression.
    None,
    /// Least work, least savings; not for Arrow.
    Snappy,
    /// Fast.
    Lz4,
    /// Small.
    Zstd,
}

/// The schema of the output.
fn schema_of(shapes: &[Shape]) -> SchemaRef {
    scanns_arrow::schema_of(&layouts(shapes))
}

fn layouts(shapes: &[Shape]) -> Vec<ColumnLayout> {
    let layout = |shape: &Shape| {
        let Shape { name, kind, required, several, binary } = shape.clone();
        ColumnLayout { name, kind, required, several, binary }
    };
    shapes.iter().map(layout).collect()
}

/// Converts columns to a record batch.
fn record_batch(schema: &SchemaRef, shapes: &[Shape], columns: &[BatchColumn]) -> Result<RecordBatch> {
    scanns_arrow::record_batch(schema, &layouts(shapes), columns).map_err(|error| match error {
        ConversionError::NotUnicode(place) => ExportError::NotUnicode(place),
        ConversionError::TooLarge(name) => ExportError::TooLarge(name),
        ConversionError::Arrow(error) => unwrapped(error),
    })
}

/// Writes Parquet.
pub struct Parquet<W: Write + Send> {
    shapes: Vec<Shape>,
    schema: SchemaRef,
    writer: ArrowWriter<W>,
}

impl<W: Write + Send> Parquet<W> {
    /// A writer for rows of these columns.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn new(out: W, shapes: Vec<Shape>, compression: TableCompression) -> Result<Self> {
        let compression = match compression {
            TableCompression::None => Compression::UNCOMPRESSED,
            TableCompression::Snappy => Compression::SNAPPY,
            TableCompression::Lz4 => Compression::LZ4_RAW,
            TableCompression::Zstd => Compression::ZSTD(ZstdLevel::try_new(1).map_err(plain)?),
        };
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("scanns ", env!("CARGO_PKG_VERSION")).into())
            .set_compression(compression)
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_max_row_group_bytes(Some(GROUP_BYTES));
        for shape in &shapes {
            let mut parts = vec![shape.name.clone()];
            if shape.several {
                parts.extend(["list".into(), "item".into()]);
            }
            let path = ColumnPath::new(parts);
            if shape.kind.is_number() {
                properties = properties.set_column_dictionary_page_size_limit(path.clone(), NUMBER_TABLE);
            }
            // The encoding if a dictionary would be too large. For 960 MB of integers, with zstd and on one
            // core, this takes 1.3 s and makes 251 MB; without dictionaries 1.3 s and 257 MB, with
            // dictionaries alone 2.1 s and 265 MB, with plain encoding 2.3 s and 273 MB.
            if shape.kind.is_number() && !matches!(shape.kind, ColumnKind::Float | ColumnKind::Boolean) {
                properties = properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
            }
        }
        let schema = schema_of(&shapes);
        let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties.build())).map_err(plain)?;
        Ok(Parquet { shapes, schema, writer })
    }

    /// Completes the file, and returns the output.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn into_inner(self) -> Result<W> {
        self.writer.into_inner().map_err(plain)
    }
}

impl<W: Write + Send> RowWriter for Parquet<W> {
    fn begin(&mut self) -> Result<()> {
        Ok(())
    }

    fn batch(&mut self, columns: &[BatchColumn]) -> Result<()> {
        let batch = record_batch(&self.schema, &self.shapes, columns)?;
        self.writer.write(&batch).map_err(plain)
    }

    fn end(&mut self) -> Result<()> {
        self.writer.finish().map_err(plain)?;
        self.writer.inner_mut().flush().map_err(ExportError::Write)
    }
}

/// Writes Arrow, as a file or as a stream.
pub struct Arrow<W: Write> {
    shapes: Vec<Shape>,
    schema: SchemaRef,
    writer: ArrowFormat<W>,
}

enum ArrowFormat<W: Write> {
    File(FileWriter<BufWriter<W>>),
    Stream(StreamWriter<BufWriter<W>>),
}

impl<W: Write> Arrow<W> {
    /// A writer for rows of these columns, as a stream or as a file.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn new(out: W, shapes: Vec<Shape>, compression: TableCompression, stream: bool) -> Result<Self> {
        let compression = match compression {
            TableCompression::Zstd => Some(CompressionType::ZSTD),
            TableCompression::Lz4 => Some(CompressionType::LZ4_FRAME),
            _ => None,
        };
        let schema = schema_of(&shapes);
        let options = IpcWriteOptions::default().try_with_compression(compression).map_err(unwrapped)?;
        let out = BufWriter::with_capacity(1 << 20, out);
        let writer = if stream {
            StreamWriter::try_new_with_options(out, &schema, options).map(ArrowFormat::Stream)
        } else {
            FileWriter::try_new_with_options(out, &schema, options).map(ArrowFormat::File)
        };
        Ok(Arrow { shapes, schema, writer: writer.map_err(unwrapped)? })
    }
}

impl<W: Write> RowWriter for Arrow<W> {
    fn begin(&mut self) -> Result<()> {
        Ok(())
    }

    fn batch(&mut self, columns: &[BatchColumn]) -> Result<()> {
        let batch = record_batch(&self.schema, &self.shapes, columns)?;
        match &mut self.writer {
            ArrowFormat::File(writer) => writer.write(&batch),
            ArrowFormat::Stream(writer) => writer.write(&batch),
        }
        .map_err(unwrapped)
    }

    fn end(&mut self) -> Result<()> {
        match &mut self.writer {
            ArrowFormat::File(writer) => writer.finish().and_then(|()| writer.flush()),
            ArrowFormat::Stream(writer) => writer.finish().and_then(|()| writer.flush()),
        }
        .map_err(unwrapped)
    }
}

/// The error of the output, if there is one inside.
fn plain(error: ParquetError) -> ExportError {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(inner) => ExportError::Write(*inner),
            Err(other) => ExportError::Table(other),
        },
        other => ExportError::Table(other.into()),
    }
}

fn unwrapped(error: ArrowError) -> ExportError {
    match error {
        ArrowError::IoError(_, inner) => ExportError::Write(inner),
        other => ExportError::Table(other.into()),
    }
}
