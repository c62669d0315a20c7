//! Converts rows to record batches of Arrow, with the types that `scanns_arrow` gives them.
//!
//! If an export to a file finds a text that is not valid UTF-8, it starts the file again, with `Binary` for
//! all fields that have such a text. The output of a pipe cannot be rewritten, so all texts are checked
//! first. Either way no value is replaced or omitted, and valid columns are `Utf8`.

use anyhow::{Result, anyhow};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use scanns::columns::BatchColumn;
use scanns_arrow::{ColumnLayout, ConversionError};

use super::shape::{NotUnicode, Shape};

fn layouts(shapes: &[Shape]) -> Vec<ColumnLayout> {
    let layout = |shape: &Shape| {
        let Shape { name, kind, required, several, binary } = shape.clone();
        ColumnLayout { name, kind, required, several, binary }
    };
    shapes.iter().map(layout).collect()
}

/// The schema of the output.
pub fn schema(shapes: &[Shape]) -> SchemaRef {
    scanns_arrow::schema_of(&layouts(shapes))
}

/// Converts columns to a record batch.
///
/// # Errors
/// [`NotUnicode`] for invalid UTF-8 in a column that is not binary.
pub fn record_batch(schema: &SchemaRef, shapes: &[Shape], columns: &[BatchColumn]) -> Result<RecordBatch> {
    scanns_arrow::record_batch(schema, &layouts(shapes), columns).map_err(|error| match error {
        ConversionError::NotUnicode(place) => anyhow!(NotUnicode(place)),
        ConversionError::TooLarge(_) => anyhow!("{error} from --fields"),
        error @ ConversionError::Arrow(_) => anyhow!(error).context("cannot make a record batch of the rows"),
    })
}
