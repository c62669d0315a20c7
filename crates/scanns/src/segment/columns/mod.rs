//! The columns of a segment: written with it, opened, joined when segments are merged, and checked.
//!
//! `merge.rs` joins them, `terms.rs` their dictionaries, `check.rs` proves them. What a column is says the room `column`.

mod check;
mod merge;
mod terms;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::of_field;
use crate::column::{BLOCKS, Column, ColumnSet};
use crate::error::Result;
use crate::schema::Field;
use crate::store::{Envelope, EnvelopeWriter};

pub(super) use merge::merge;

/// Writes the columns of an index thread, which are empty after that.
pub(super) fn write(columns: &mut ColumnSet, out: &mut EnvelopeWriter) -> Result<()> {
    columns.write(out, |field, kind| of_field(kind, field))
}

/// The columns of a file, ascending.
pub(super) fn open(file: &Envelope, documents: u32) -> Result<Vec<(Field, Column)>> {
    let open = |field| {
        let section = |kind| file.shared_section(of_field(kind, field)).map(Arc::clone);
        Ok((field, Column::open(section, documents)?))
    };
    fields_of(file).into_iter().map(open).collect()
}

/// The fields of which a file has columns.
pub(super) fn fields_of(file: &Envelope) -> BTreeSet<Field> {
    let of_column = |kind: u32| (kind & 0xff == BLOCKS).then(|| u16::try_from(kind >> 8).ok());
    file.kinds().filter_map(of_column).flatten().filter_map(Field::new).collect()
}
