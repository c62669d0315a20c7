//! The sections of a segment that hold its columns. See the module `column` for columns.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::layout::of_field;
use crate::column::{BLOCKS, Column, ColumnSet};
use crate::error::Result;
use crate::schema::Field;
use crate::store::{Envelope, EnvelopeWriter};

/// Writes the columns of an index thread and empties them.
pub(super) fn write(columns: &mut ColumnSet, out: &mut EnvelopeWriter) -> Result<()> {
    columns.write(out, |field, kind| of_field(kind, field))
}

/// Opens the columns of a file, in ascending order of their fields.
pub(super) fn open(file: &Envelope, documents: u32) -> Result<Vec<(Field, Column)>> {
    let open = |field| {
        let section = |kind| file.shared_section(of_field(kind, field)).map(Arc::clone);
        Ok((field, Column::open(section, documents)?))
    };
    fields_of(file).into_iter().map(open).collect()
}

/// The fields that have a column in the file.
pub(super) fn fields_of(file: &Envelope) -> BTreeSet<Field> {
    let of_column = |kind: u32| (kind & 0xff == BLOCKS).then(|| u16::try_from(kind >> 8).ok());
    file.kinds().filter_map(of_column).flatten().filter_map(Field::new).collect()
}

/// The column of a field in a list that is sorted by field.
pub(super) fn find(columns: &[(Field, Column)], field: Field) -> Option<&Column> {
    let place = columns.binary_search_by_key(&field, |(field, _)| *field).ok()?;
    columns.get(place).map(|(_, column)| column)
}
