//! The columns of a view: without the values that come from the content of documents that may not be read.
//!
//! Such columns are written again, in memory. They have the values of the readable documents and no others,
//! in their dictionaries and in the bounds of their blocks, too, so nothing that reads a column can tell that
//! there were more. This takes some 100 ns for each document with a value, once for a view, and as much
//! memory as the columns. Segments whose visible documents can all be read keep their columns.

use std::sync::Arc;

use super::columns;
use super::doc_bits::DocBits;
use super::layout::of_field;
use super::reader::Segment;
use super::visible::SegmentView;
use crate::column::{Column, ColumnSet};
use crate::error::Result;
use crate::schema::{Field, Schema};
use crate::store::{Envelope, EnvelopeWriter, FileKind, RamDirectory};

/// The kind of the file, which is in memory only.
const SHOWN: FileKind = FileKind { magic: *b"SCANNVUE", format: 1, oldest: 1 };

/// Documents whose values are read together.
const BATCH: usize = 4_096;

impl Segment {
    /// Replaces the columns of content by columns with the values of readable documents, if the view hides
    /// the content of some, and leaves the column of `hidden` out. `schema` has the fields with their numbers
    /// in the segment.
    pub(super) fn with_shown_columns(mut self, hidden: Option<Field>, schema: &Schema) -> Result<Self> {
        if self.columns().iter().any(|(field, _)| Some(*field) == hidden) {
            let kept = self.columns().iter().filter(|(field, _)| Some(*field) != hidden);
            self.columns = Arc::new(kept.cloned().collect());
        }
        let Some(contents) = self.view().and_then(SegmentView::contents) else { return Ok(self) };
        let is_content = |field: Field| self.view().is_some_and(|view| view.is_content(field));
        let mut shown = Vec::with_capacity(self.columns().len());
        for (field, column) in self.columns() {
            let column = if is_content(*field) {
                self.written_again(*field, column, contents, schema)?
            } else {
                Some(column.clone())
            };
            shown.extend(column.map(|column| (*field, column)));
        }
        self.columns = Arc::new(shown);
        Ok(self)
    }

    /// A column with the values of some documents only.
    fn written_again(
        &self,
        field: Field,
        column: &Column,
        docs: &DocBits,
        schema: &Schema,
    ) -> Result<Option<Column>> {
        let mut set = ColumnSet::of_field(schema, field);
        let (mut all, mut next) = (docs.iter().peekable(), 0);
        let (mut batch, mut rows) = (Vec::with_capacity(BATCH), Vec::new());
        while all.peek().is_some() {
            batch.clear();
            batch.extend(all.by_ref().take(BATCH));
            rows.clear();
            rows.resize(batch.len(), Vec::new());
            column.values_of_each(&batch, &mut rows)?;
            for (&doc, values) in batch.iter().zip(&rows) {
                while next < doc {
                    set.end_document()?;
                    next += 1;
                }
                values.iter().for_each(|value| set.push(field, value.as_ref()));
            }
        }
        while next < docs.documents() {
            set.end_document()?;
            next += 1;
        }
        let memory = RamDirectory::new();
        let mut out = EnvelopeWriter::create(&memory, "view", SHOWN, self.id())?;
        set.write(&mut out, |field, kind| of_field(kind, field))?;
        out.finish()?.sync()?;
        let file = Envelope::open(&memory, "view", SHOWN)?;
        Ok(columns::open(&file, docs.documents())?.pop().map(|(_, column)| column))
    }
}
