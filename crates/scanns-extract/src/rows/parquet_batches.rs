//! Reads Parquet as batches of rows: one row group after the other, in batches of about the same bytes.
//!
//! Texts and bytes are read as views: the values of a batch then share the memory of the pages. A dictionary
//! with one long value that all rows have would otherwise fill a batch with copies of it.

use std::fs::File;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, FieldRef, Schema};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;

/// The most rows of a batch.
const MOST_ROWS: u64 = 8192;

/// Decoded bytes of a batch, as far as the footer tells them.
const BATCH_BYTES: u64 = 8 << 20;

/// A Parquet file whose footer was read.
pub(super) struct ParquetBatches {
    file: File,
    metadata: ArrowReaderMetadata,
    /// The next row group.
    next: usize,
    open: Option<OpenRowGroup>,
}

/// A row group that is being read.
struct OpenRowGroup {
    batches: ParquetRecordBatchReader,
    /// Rows that it has according to the footer, and that were not read yet.
    left: u64,
}

impl ParquetBatches {
    /// Reads the footer.
    pub(super) fn open(file: File) -> Result<Self, ParquetError> {
        let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())?;
        let fields: Vec<FieldRef> = metadata.schema().fields().iter().map(with_views).collect();
        let schema = Schema::new_with_metadata(fields, metadata.schema().metadata().clone());
        let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
        let viewed = ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options);
        Ok(Self { file, metadata: viewed.unwrap_or(metadata), next: 0, open: None })
    }

    /// True if there are no columns. Such a file may claim any number of rows.
    pub(super) fn is_without_columns(&self) -> bool {
        self.metadata.schema().fields().is_empty()
    }

    /// Opens the next row group; `None` after the last one.
    fn open_next(&mut self) -> Option<Result<OpenRowGroup, ParquetError>> {
        let group = self.metadata.metadata().row_groups().get(self.next)?;
        let (number, left) = (self.next, u64::try_from(group.num_rows()).unwrap_or(0));
        let batch = usize::try_from(batch_rows(group)).unwrap_or(1);
        self.next += 1;
        let open = || {
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
                self.file.try_clone()?,
                self.metadata.clone(),
            );
            let batches = builder.with_row_groups(vec![number]).with_batch_size(batch).build()?;
            Ok(OpenRowGroup { batches, left })
        };
        Some(open())
    }
}

impl Iterator for ParquetBatches {
    type Item = Result<RecordBatch, String>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some(open) = &mut self.open else {
                match self.open_next()? {
                    Ok(group) => self.open = Some(group),
                    Err(error) => return Some(Err(error.to_string())),
                }
                continue;
            };
            match open.batches.next() {
                Some(Ok(batch)) => {
                    open.left = open.left.saturating_sub(batch.num_rows() as u64);
                    return Some(Ok(batch));
                }
                Some(Err(error)) => return Some(Err(error.to_string())),
                None if open.left > 0 => {
                    let what = format!("a row group ends {} rows too early", open.left);
                    return Some(Err(what));
                }
                None => self.open = None,
            }
        }
    }
}

/// The rows of a batch, fewer if the rows of the group are long.
fn batch_rows(group: &RowGroupMetaData) -> u64 {
    let positive = |number: i64| u64::try_from(number).unwrap_or(0).max(1);
    let bytes_per_row = positive(group.total_byte_size()) / positive(group.num_rows());
    (BATCH_BYTES / bytes_per_row.max(1)).clamp(1, MOST_ROWS)
}

/// The field with views in place of other texts and bytes.
fn with_views(field: &FieldRef) -> FieldRef {
    Arc::new(Field::clone(field).with_data_type(viewed(field.data_type())))
}

fn viewed(kind: &DataType) -> DataType {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        DataType::Dictionary(_, values) => match viewed(values) {
            text @ (DataType::Utf8View | DataType::BinaryView) => text,
            _ => kind.clone(),
        },
        DataType::List(item) => DataType::List(with_views(item)),
        DataType::LargeList(item) => DataType::LargeList(with_views(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(with_views(item), *size),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(with_views).collect()),
        DataType::Map(entries, sorted) => DataType::Map(with_views(entries), *sorted),
        _ => kind.clone(),
    }
}
