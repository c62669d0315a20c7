//! The columns of the documents of one index thread, until they are written with their segment.
//!
//! Blocks of numbers and of strings are put into their form as soon as they are full, so what waits in memory is small. Of
//! keywords, terms and numbers wait, since it is not known before the end which number is that of which term.

use super::keywords::Keywords;
use super::{BLOCKS, ColumnKind, ColumnWriter, INDEX, NAMES, NAMES_INDEX, TERMS, TERMS_INDEX};
use crate::error::Result;
use crate::schema::{Field, FieldEntry, Schema, ValueRef};
use crate::store::EnvelopeWriter;

/// See the module.
#[derive(Debug, Default)]
pub struct ColumnSet {
    columns: Vec<Collected>,
    /// By number of a field, the place of its column, counted from one.
    places: Vec<u8>,
}

/// One column.
#[derive(Debug)]
struct Collected {
    field: Field,
    kind: ColumnKind,
    column: Filling,
    /// Terms of keywords, directories of paths.
    terms: Option<Keywords>,
    /// Names of paths.
    names: Option<Filling>,
}

/// Blocks that are full, and what will be one.
#[derive(Debug)]
struct Filling {
    writer: ColumnWriter,
    blocks: Vec<u8>,
}

impl Filling {
    fn new(kind: ColumnKind) -> Self {
        Filling { writer: ColumnWriter::new(kind), blocks: Vec::new() }
    }

    fn bytes(&self) -> usize {
        self.writer.bytes() + self.blocks.capacity()
    }

    fn end_document(&mut self) -> Result<()> {
        self.writer.end_document(&mut self.blocks)
    }

    /// Writes both sections.
    fn write(&mut self, [blocks, index]: [u32; 2], out: &mut EnvelopeWriter) -> Result<()> {
        let entries = self.writer.finish(&mut self.blocks)?;
        out.begin(blocks)?;
        // Given back, since its room would count as memory in use.
        out.write(&std::mem::take(&mut self.blocks))?;
        out.begin(index)?;
        out.write(&entries)
    }
}

/// A path cut into its directory, with the slash, and its name.
pub(super) fn split_path(path: &[u8]) -> (&[u8], &[u8]) {
    let name = memchr::memrchr(b'/', path).map_or(0, |slash| slash + 1);
    path.split_at(name)
}

impl Collected {
    fn new((field, entry): (Field, &FieldEntry)) -> Self {
        let kind = ColumnKind::of(&entry.kind);
        let names = (kind == ColumnKind::Path).then(|| Filling::new(ColumnKind::Bytes));
        let terms = kind.has_terms().then(Keywords::default);
        Collected { field, kind, column: Filling::new(kind), terms, names }
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
        self.column.bytes() + terms + self.names.as_ref().map_or(0, Filling::bytes)
    }

    fn write(&mut self, out: &mut EnvelopeWriter, of: impl Fn(u32) -> u32) -> Result<()> {
        if let Some(terms) = &mut self.terms {
            out.begin(of(TERMS))?;
            let Filling { writer, blocks } = &mut self.column;
            terms.write(of(TERMS_INDEX), out, writer, self.kind.is_sorted(), blocks)?;
        }
        self.column.write([BLOCKS, INDEX].map(&of), out)?;
        match &mut self.names {
            Some(names) => names.write([NAMES, NAMES_INDEX].map(of), out),
            None => Ok(()),
        }
    }
}

impl ColumnSet {
    /// The columns of a schema, without documents.
    pub fn new(schema: &Schema) -> Self {
        let columns: Vec<Collected> = schema.columns().map(Collected::new).collect();
        let mut places = vec![0; usize::from(crate::schema::MAX_FIELDS)];
        for (column, place) in columns.iter().zip(1..) {
            if let Some(slot) = places.get_mut(usize::from(column.field.number())) {
                *slot = place;
            }
        }
        ColumnSet { columns, places }
    }

    /// Adds a value of the document at hand; values of other fields, and of another kind, are left out.
    #[inline]
    pub fn push(&mut self, field: Field, value: ValueRef<'_>) {
        let place = self.places.get(usize::from(field.number())).copied().unwrap_or(0);
        if let Some(column) = usize::from(place).checked_sub(1).and_then(|at| self.columns.get_mut(at)) {
            column.push(value);
        }
    }

    /// Ends the document at hand.
    pub fn end_document(&mut self) -> Result<()> {
        self.columns.iter_mut().try_for_each(Collected::end_document)
    }

    /// Ends the document at hand without values.
    pub fn void_document(&mut self) -> Result<()> {
        self.drop_open();
        self.end_document()
    }

    /// Forgets the values of a document that has not ended.
    pub fn drop_open(&mut self) {
        self.columns.iter_mut().for_each(Collected::drop_open);
    }

    /// Memory in use.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(Collected::bytes).sum()
    }

    /// Writes all columns to sections of the kind that `of` gives a section of a field; what remains is empty.
    pub fn write(&mut self, out: &mut EnvelopeWriter, of: impl Fn(Field, u32) -> u32) -> Result<()> {
        self.columns.iter_mut().try_for_each(|column| {
            let field = column.field;
            column.write(out, |kind| of(field, kind))
        })
    }
}
