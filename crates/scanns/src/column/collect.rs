//! The columns of the documents of one index thread, until they are written with their segment.
//!
//! Blocks of numbers are put into their form as soon as they are full, so what waits in memory is small.

use super::{ColumnKind, ColumnWriter};
use crate::error::Result;
use crate::schema::{Field, Schema, ValueRef};

/// See the module.
#[derive(Debug, Default)]
pub struct ColumnSet {
    columns: Vec<Collected>,
}

/// One column.
#[derive(Debug)]
struct Collected {
    field: Field,
    kind: ColumnKind,
    writer: ColumnWriter,
    /// Blocks that are full.
    blocks: Vec<u8>,
}

impl ColumnSet {
    /// The columns of a schema, without documents.
    pub fn new(schema: &Schema) -> Self {
        let column = |(field, entry): (Field, &crate::schema::FieldEntry)| {
            let kind = ColumnKind::of(&entry.kind)?;
            Some(Collected { field, kind, writer: ColumnWriter::new(kind), blocks: Vec::new() })
        };
        ColumnSet { columns: schema.columns().filter_map(column).collect() }
    }

    /// True if there are no columns.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Adds a value of the document at hand; values of other fields, and of another kind, are left out.
    #[inline]
    pub fn push(&mut self, field: Field, value: ValueRef<'_>) {
        // Fields are few, and mostly asked for in their order.
        if let Some(column) = self.columns.iter_mut().find(|column| column.field == field)
            && let Some(order) = column.kind.order_of(value)
        {
            column.writer.push(order);
        }
    }

    /// Ends the document at hand.
    pub fn end_document(&mut self) -> Result<()> {
        self.columns.iter_mut().try_for_each(|column| column.writer.end_document(&mut column.blocks))
    }

    /// Ends the document at hand without values.
    pub fn void_document(&mut self) -> Result<()> {
        self.drop_open();
        self.end_document()
    }

    /// Forgets the values of a document that has not ended.
    pub fn drop_open(&mut self) {
        self.columns.iter_mut().for_each(|column| column.writer.drop_open());
    }

    /// Memory in use.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(|column| column.writer.bytes() + column.blocks.capacity()).sum()
    }

    /// Gives each column with its blocks and its index to `write`, and is then empty.
    pub fn drain(&mut self, mut write: impl FnMut(Field, &[u8], &[u8]) -> Result<()>) -> Result<()> {
        for Collected { field, writer, blocks, .. } in &mut self.columns {
            let index = writer.finish(blocks)?;
            write(*field, blocks, &index)?;
            blocks.clear();
        }
        Ok(())
    }
}
