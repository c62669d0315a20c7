//! The documents of one lane that are only in memory, and the edits of older documents, each with the number
//! of its operation.

use crate::error::{Error, Result};
use crate::index::build::field_set::FieldSet;
use crate::index::commit::column_setting::ColumnSetting;
use crate::query::Query;
use crate::schema::{Document, Records, Schema, Stored};
use crate::segment::{Keys, SegmentContents};

/// The documents that an edit changes, among those that were added before it.
#[derive(Clone, Debug)]
pub(super) enum EditTarget {
    /// The documents with a key.
    Key(Vec<u8>),
    /// The documents that a query matches.
    Query(Query),
    /// The documents that the operation itself has added.
    Operation,
}

/// The change that an edit makes to documents.
#[derive(Clone, Debug)]
pub(super) enum EditAction {
    /// Deletes them.
    Delete,
    /// Sets new values.
    Set(ColumnSetting),
}

/// A change to the documents that were added by operations with smaller numbers, or by the operation itself.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    pub(super) target: EditTarget,
    pub(super) action: EditAction,
    pub(super) sequence: u64,
}

impl Edit {
    /// Bytes of memory in use.
    pub(super) fn bytes(&self) -> usize {
        let target = match &self.target {
            EditTarget::Key(key) => key.len(),
            EditTarget::Query(query) => query.memory_bytes(),
            EditTarget::Operation => 0,
        };
        let action = match &self.action {
            EditAction::Delete => 0,
            EditAction::Set(setting) => setting.bytes(),
        };
        size_of::<Self>() + target + action
    }
}

/// The buffer of a lane. See the module documentation.
pub(super) struct LaneBuffer {
    fields: FieldSet,
    keys: Keys,
    key_bytes: usize,
    /// The number of the operation that added each document.
    sequences: Vec<u64>,
    edits: Vec<Edit>,
    edit_bytes: usize,
    /// Bytes that the whole buffer may use.
    budget: usize,
}

impl LaneBuffer {
    /// An empty buffer, whose inverters take at most `budget` bytes each.
    pub(super) fn new(schema: &Schema, stored: &Stored, budget: usize) -> Result<Self> {
        Ok(LaneBuffer {
            fields: FieldSet::new(schema, stored, Records::File, budget)?.store_text(),
            keys: Keys::default(),
            key_bytes: 0,
            sequences: Vec::new(),
            edits: Vec::new(),
            edit_bytes: 0,
            budget,
        })
    }

    /// Adds a document that fits the schema.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if the document is too large for the memory. The index then contains nothing
    /// of it.
    pub(super) fn add(&mut self, document: &Document, sequence: u64) -> Result<()> {
        let outcome = self.add_values(document);
        match outcome {
            Ok(()) => self.fields.end_document((0, 0))?,
            Err(_) => self.fields.void_document()?,
        }
        // A void document has a number too.
        self.key_bytes += document.key().len() + size_of::<Vec<u8>>() + 16;
        self.keys.paths.push(document.key().to_vec());
        self.sequences.push(sequence);
        outcome
    }

    /// Adds the values of a document. The caller ends it or makes it void.
    fn add_values(&mut self, document: &Document) -> Result<()> {
        let (rest, budget) = (self.rest_bytes(), self.budget);
        let check =
            |bytes: usize| if bytes + rest < budget { Ok(()) } else { Err(too_large(document, budget)) };
        let mut values = document.values().iter();
        values.try_for_each(|(field, value)| self.fields.push(*field, value.as_ref(), &check))?;
        check(self.fields.bytes())
    }

    /// Adds an edit of older documents.
    pub(super) fn edit(&mut self, edit: Edit) {
        self.edit_bytes += edit.bytes();
        self.edits.push(edit);
    }

    /// True if the buffer has neither documents nor edits.
    pub(super) fn is_empty(&self) -> bool {
        self.sequences.is_empty() && self.edits.is_empty()
    }

    /// The number of documents, including void ones.
    pub(super) fn documents(&self) -> usize {
        self.sequences.len()
    }

    /// True once `limit` bytes or all document numbers are used.
    pub(super) fn is_full(&mut self, limit: usize) -> bool {
        self.fields.is_full(limit, self.rest_bytes())
    }

    fn rest_bytes(&self) -> usize {
        self.key_bytes + self.edit_bytes + self.sequences.capacity() * 8
    }

    /// Bytes in use, including the memory kept from earlier documents.
    pub(super) fn resident(&self) -> usize {
        self.fields.resident() + self.rest_bytes()
    }

    /// The documents, as input of a flush.
    pub(super) fn for_flush(&mut self) -> SegmentContents<'_> {
        let (fields, stored, columns) = self.fields.for_flush();
        SegmentContents { fields, keys: &self.keys, stored, columns }
    }

    /// Takes the data that a flush does not write: the numbers of the operations by document, and the edits.
    pub(super) fn take_rest(&mut self) -> (Vec<u64>, Vec<Edit>) {
        (std::mem::take(&mut self.sequences), std::mem::take(&mut self.edits))
    }

    /// Empties the buffer and keeps its memory.
    pub(super) fn clear(&mut self) {
        self.fields.clear();
        self.keys = Keys::default();
        (self.key_bytes, self.edit_bytes) = (0, 0);
        drop(self.take_rest());
    }
}

/// Refuses a document that does not fit into a buffer.
fn too_large(document: &Document, budget: usize) -> Error {
    Error::invalid(
        "size of a document",
        format!("of \"{}\"", document.key().escape_ascii()),
        format!(
            "at most {} MiB in the memory of the writer: raise its memory limit, or split the document",
            budget >> 20
        ),
    )
}
