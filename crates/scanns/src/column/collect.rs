//! The columns of the documents that an index thread has in memory, until they are written with their
//! segment.
//!
//! Blocks of numbers and strings are encoded as soon as they are full, so little memory is needed for them.
//! Keywords wait as terms and preliminary numbers, because the final numbers of terms are known only at the
//! end.

use super::keywords::Keywords;
use super::kind::ColumnKind;
use super::sections::{BLOCKS, INDEX, NAMES, NAMES_INDEX, TERMS, TERMS_INDEX};
use super::write::ColumnWriter;
use crate::error::Result;
use crate::schema::{Field, FieldEntry, Schema, ValueRef};
use crate::store::EnvelopeWriter;

/// The columns of the documents in memory.
#[derive(Debug, Default)]
pub struct ColumnSet {
    columns: Vec<PendingColumn>,
    /// By number of a field: the place of its column, counted from one, or 0 without a column.
    places: Vec<u8>,
}

/// One column.
#[derive(Debug)]
struct PendingColumn {
    field: Field,
    kind: ColumnKind,
    column: PendingBlocks,
    /// Terms of keywords, or directories of paths.
    terms: Option<Keywords>,
    /// Names of paths.
    names: Option<PendingBlocks>,
}

/// Encoded blocks, and the block that is being filled.
#[derive(Debug)]
struct PendingBlocks {
    writer: ColumnWriter,
    blocks: Vec<u8>,
}

impl PendingBlocks {
    fn new(kind: ColumnKind) -> Self {
        PendingBlocks { writer: ColumnWriter::new(kind), blocks: Vec::new() }
    }

    fn of_names() -> Self {
        PendingBlocks { writer: ColumnWriter::of_names(), blocks: Vec::new() }
    }

    fn bytes(&self) -> usize {
        self.writer.bytes() + self.blocks.capacity()
    }

    fn end_document(&mut self) -> Result<()> {
        self.writer.end_document(&mut self.blocks)
    }

    /// Writes the section `blocks` and the section `index`.
    fn write(&mut self, blocks: u32, index: u32, out: &mut EnvelopeWriter) -> Result<()> {
        let entries = self.writer.finish(&mut self.blocks)?;
        out.begin(blocks)?;
        // The memory is released, because it would count as memory in use.
        out.write(&std::mem::take(&mut self.blocks))?;
        out.begin(index)?;
        out.write(&entries)
    }
}

/// Splits a path into its directory, with the slash, and its name.
pub fn split_path(path: &[u8]) -> (&[u8], &[u8]) {
    let name = memchr::memrchr(b'/', path).map_or(0, |slash| slash + 1);
    path.split_at(name)
}

impl PendingColumn {
    fn new(field: Field, entry: &FieldEntry) -> Self {
        let kind = ColumnKind::of(&entry.kind);
        let names = (kind == ColumnKind::Path).then(PendingBlocks::of_names);
        let terms = kind.has_terms().then(Keywords::default);
        PendingColumn { field, kind, column: PendingBlocks::new(kind), terms, names }
    }

    #[inline]
    fn push(&mut self, value: ValueRef<'_>) {
        match (value, &mut self.terms, &mut self.names) {
            (ValueRef::Text(path), Some(terms), Some(names)) => {
                let (directory, name) = split_path(path);
                terms.push(directory);
                names.writer.push_string(name);
            }
            (ValueRef::Text(term), Some(terms), None) => terms.push(term),
            (ValueRef::Text(string) | ValueRef::Bytes(string), None, None) if self.kind.is_strings() => {
                self.column.writer.push_string(string);
            }
            (value, None, _) => {
                if let Some(order) = self.kind.order_of(value) {
                    self.column.writer.push(order);
                }
            }
            _ => {}
        }
    }

    fn end_document(&mut self) -> Result<()> {
        if let Some(names) = &mut self.names {
            names.end_document()?;
        }
        match &mut self.terms {
            Some(terms) => {
                terms.end_document();
                Ok(())
            }
            None => self.column.end_document(),
        }
    }

    fn drop_open(&mut self) {
        self.column.writer.drop_open();
        if let Some(terms) = &mut self.terms {
            terms.drop_open();
        }
        if let Some(names) = &mut self.names {
            names.writer.drop_open();
        }
    }

    fn bytes(&self) -> usize {
        let terms = self.terms.as_ref().map_or(0, Keywords::bytes);
        self.column.bytes() + terms + self.names.as_ref().map_or(0, PendingBlocks::bytes)
    }

    fn write(&mut self, out: &mut EnvelopeWriter, of: impl Fn(u32) -> u32) -> Result<()> {
        if let Some(terms) = &mut self.terms {
            out.begin(of(TERMS))?;
            let PendingBlocks { writer, blocks } = &mut self.column;
            terms.write(of(TERMS_INDEX), out, writer, self.kind.is_sorted(), blocks)?;
        }
        self.column.write(of(BLOCKS), of(INDEX), out)?;
        match &mut self.names {
            Some(names) => names.write(of(NAMES), of(NAMES_INDEX), out),
            None => Ok(()),
        }
    }
}

impl ColumnSet {
    /// The empty columns of a schema.
    pub fn new(schema: &Schema) -> Self {
        Self::of(schema, |_| true)
    }

    /// The empty column of one field of a schema.
    pub fn of_field(schema: &Schema, field: Field) -> Self {
        Self::of(schema, |one| one == field)
    }

    fn of(schema: &Schema, is_wanted: impl Fn(Field) -> bool) -> Self {
        let wanted = schema.columns().filter(|(field, _)| is_wanted(*field));
        let columns: Vec<PendingColumn> =
            wanted.map(|(field, entry)| PendingColumn::new(field, entry)).collect();
        let mut places = vec![0; usize::from(crate::schema::MAX_FIELDS)];
        for (column, place) in columns.iter().zip(1..) {
            if let Some(slot) = places.get_mut(usize::from(column.field.number())) {
                *slot = place;
            }
        }
        ColumnSet { columns, places }
    }

    /// Adds a value of the current document. Values of fields without a column and values of another kind are
    /// ignored.
    #[inline]
    pub fn push(&mut self, field: Field, value: ValueRef<'_>) {
        if let Some(column) = self.column(field) {
            column.push(value);
        }
    }

    /// The column of a field.
    #[inline]
    fn column(&mut self, field: Field) -> Option<&mut PendingColumn> {
        let place = self.places.get(usize::from(field.number())).copied().unwrap_or(0);
        usize::from(place).checked_sub(1).and_then(|at| self.columns.get_mut(at))
    }

    /// Ends the current document.
    pub fn end_document(&mut self) -> Result<()> {
        self.columns.iter_mut().try_for_each(PendingColumn::end_document)
    }

    /// Ends the current document in the columns of texts and keywords. Columns of numbers get their documents
    /// by [`ColumnSet::extend`].
    pub fn end_texts(&mut self) -> Result<()> {
        let of_texts = self.columns.iter_mut().filter(|column| !column.kind.is_number());
        of_texts.into_iter().try_for_each(PendingColumn::end_document)
    }

    /// Adds documents to a column of numbers alone, each with at most one. In the end, all columns must have
    /// the same number of documents.
    #[inline]
    pub fn extend<'v>(
        &mut self,
        field: Field,
        values: impl Iterator<Item = Option<ValueRef<'v>>>,
    ) -> Result<()> {
        let Some(PendingColumn { kind, column: PendingBlocks { writer, blocks }, .. }) = self.column(field)
        else {
            return Ok(());
        };
        let kind = *kind;
        writer.extend(values.map(|value| kind.order_of(value?)), blocks)
    }

    /// Adds documents without values to columns of numbers that have less than `documents`.
    pub fn fill_up(&mut self, documents: u32) -> Result<()> {
        self.columns.iter_mut().filter(|column| column.kind.is_number()).try_for_each(|column| {
            let PendingBlocks { writer, blocks } = &mut column.column;
            writer.skip(documents.saturating_sub(writer.documents()), blocks)
        })
    }

    /// Ends the current document without values.
    pub fn void_document(&mut self) -> Result<()> {
        self.drop_open();
        self.end_document()
    }

    /// Drops the values of the current document.
    pub fn drop_open(&mut self) {
        self.columns.iter_mut().for_each(PendingColumn::drop_open);
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(PendingColumn::bytes).sum()
    }

    /// Writes all columns and empties them; `of` returns the number of a section of a field.
    pub fn write(&mut self, out: &mut EnvelopeWriter, of: impl Fn(Field, u32) -> u32) -> Result<()> {
        self.columns.iter_mut().try_for_each(|column| {
            let field = column.field;
            column.write(out, |kind| of(field, kind))
        })
    }
}
