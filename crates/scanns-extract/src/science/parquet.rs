//! The footer of Parquet files: columns, types, rows and the metadata of the writer, by the crate `parquet`.
//!
//! ```text
//! file = "PAR1" data footer length:4 "PAR1"            "PARE" where the footer is encrypted
//! ```

use std::io::{Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::schema::types::ColumnDescriptor;

use super::bytes::{Bytes, MOST_READ, Order, Source};
use super::cdl::{self, Attribute, Group, Variable};
use crate::error::ExtractError;
use crate::output::Output;

const FORMAT: &str = "Parquet";

/// Writes the columns of a file.
pub(crate) fn extract(
    source: &mut Source<'_, impl Read + Seek>,
    out: &mut Output,
) -> Result<(), ExtractError> {
    let damaged = |reason: String| ExtractError::damaged(FORMAT, reason);
    let tail = source.read_at(source.size().saturating_sub(8), 8)?;
    let len = Bytes::new(&tail, Order::Little).u32().unwrap_or(0);
    match tail.get(4..) {
        Some(b"PAR1") => {}
        Some(b"PARE") => return Err(ExtractError::Encrypted { format: FORMAT }),
        _ => return Err(damaged("the file does not end with PAR1".into())),
    }
    let start = source.size().checked_sub(8 + u64::from(len));
    let len = usize::try_from(len).ok().filter(|&len| len <= MOST_READ);
    let (Some(start), Some(len)) = (start, len) else {
        return Err(damaged("the length of the footer is larger than the file".into()));
    };
    let footer = source.read_at(start, len)?;
    let metadata = catch_unwind(AssertUnwindSafe(|| ParquetMetaDataReader::decode_metadata(&footer)));
    let metadata = metadata.map_err(|_| damaged("the reader of the footer failed".into()))?;
    write(&metadata.map_err(|error| damaged(error.to_string()))?, out);
    Ok(())
}

fn write(metadata: &ParquetMetaData, out: &mut Output) {
    let file = metadata.file_metadata();
    let rows = u64::try_from(file.num_rows()).unwrap_or(0);
    let schema = file.schema_descr();
    let mut group = Group { name: schema.name().to_string(), ..Group::default() };
    group.variables = schema.columns().iter().map(|column| variable(column, rows)).collect();
    group.attributes.push(Attribute::number("rows", rows.to_string()));
    group.attributes.push(Attribute::number("row_groups", metadata.num_row_groups().to_string()));
    group.attributes.extend(file.created_by().map(|writer| Attribute::text("created_by", writer)));
    for pair in file.key_value_metadata().into_iter().flatten() {
        // The schema of Arrow is a blob in base64 that repeats the columns.
        if pair.key != "ARROW:schema" {
            group.attributes.push(Attribute::text(&pair.key, pair.value.as_deref().unwrap_or("")));
        }
    }
    cdl::write(FORMAT, &group, out);
}

fn variable(column: &ColumnDescriptor, rows: u64) -> Variable {
    let physical = column.physical_type().to_string().to_ascii_lowercase();
    let logical = match (column.logical_type_ref(), column.converted_type().to_string()) {
        (None, converted) if converted == "NONE" => String::new(),
        (Some(logical), converted) if converted == "NONE" => format!("{logical:?}"),
        (_, converted) => converted,
    };
    let path = column.path().string();
    let mut attributes = Vec::new();
    if !logical.is_empty() {
        attributes.push(Attribute::text("logical_type", logical));
    }
    // A column of a list or a struct is found by its path.
    Variable { name: path, dtype: physical, shape: vec![rows], attributes, ..Variable::default() }
}
