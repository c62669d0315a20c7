//! Documents of one lane, and what is to be done to older ones, that are in memory only, with the number of the operation that each came from.

use crate::column::ColumnSet;
use crate::error::{Error, Result};
use crate::index::field_set::FieldSet;
use crate::index::update::Setting;
use crate::invert::Inverter;
use crate::schema::{Document, Field, Records, Schema, Stored};
use crate::search::Query;
use crate::segment::{Collector, Keys};

/// Documents among all that came before.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// Those with a key.
    Key(Vec<u8>),
    /// Those that a query matches in a field.
    Query(Field, Query),
}

/// What is to be done to documents.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// They are deleted.
    Delete,
    /// They get other values.
    Set(Setting),
}

/// Something to be done to documents that were added by operations with smaller numbers.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    pub(super) target: Target,
    pub(super) action: Action,
    pub(super) sequence: u64,
}

impl Edit {
    /// Memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        let target = match &self.target {
            Target::Key(key) => key.len(),
            Target::Query(_, query) => query.memory_bytes(),
        };
        let action = match &self.action {
            Action::Delete => 0,
            Action::Set(setting) => setting.bytes(),
        };
        size_of::<Self>() + target + action
    }
}

/// See the module.
pub(super) struct Part {
    fields: FieldSet,
    keys: Keys,
    key_bytes: usize,
    /// By document, the number of the operation that added it.
    sequences: Vec<u64>,
    edits: Vec<Edit>,
    edit_bytes: usize,
    /// Bytes that all of it may take.
    budget: usize,
}

impl Part {
    /// An empty one, whose inverters take at most `budget` bytes each.
    pub(super) fn new(schema: &Schema, stored: &Stored, budget: usize) -> Result<Self> {
        Ok(Part {
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
    /// [`Error::Options`] if it is too large for the memory; nothing of it is then in the index.
    pub(super) fn add(&mut self, document: &Document, sequence: u64) -> Result<()> {
        let outcome = self.add_values(document);
        match outcome {
            Ok(()) => self.fields.end_document((0, 0))?,
            Err(_) => self.fields.void_document()?,
        }
        // A document that is void has a number too.
        self.key_bytes += document.key().len() + size_of::<Vec<u8>>() + 16;
        self.keys.paths.push(document.key().to_vec());
        self.sequences.push(sequence);
        outcome
    }

    /// Adds the values of a document that has not ended.
    fn add_values(&mut self, document: &Document) -> Result<()> {
        let (rest, budget) = (self.rest_bytes(), self.budget);
        let check = |bytes: usize| match bytes + rest < budget {
            true => Ok(()),
            false => Err(too_large(document)),
        };
        let mut values = document.values().iter();
        values.try_for_each(|(field, value)| self.fields.push(*field, value.as_ref(), &check))?;
        check(self.fields.bytes())
    }

    /// Notes what is to be done to older documents.
    pub(super) fn edit(&mut self, edit: Edit) {
        self.edit_bytes += edit.bytes();
        self.edits.push(edit);
    }

    /// True if nothing is in it.
    pub(super) fn is_empty(&self) -> bool {
        self.sequences.is_empty() && self.edits.is_empty()
    }

    /// Documents in it, void ones too.
    pub(super) fn documents(&self) -> usize {
        self.sequences.len()
    }

    /// True when `limit` bytes are used up, or all document numbers.
    pub(super) fn is_full(&mut self, limit: usize) -> bool {
        self.fields.is_full(limit, self.rest_bytes())
    }

    fn rest_bytes(&self) -> usize {
        self.key_bytes + self.edit_bytes + self.sequences.capacity() * 8
    }

    /// Bytes taken, with what is kept from before.
    pub(super) fn resident(&self) -> usize {
        self.fields.resident() + self.rest_bytes()
    }

    /// The fields with their inverters, the keys, what is stored, and the columns, for a flush.
    pub(super) fn for_flush(
        &mut self,
    ) -> (Vec<(Field, &mut Inverter)>, &Keys, &mut Collector, &mut ColumnSet) {
        let (fields, stored, columns) = self.fields.for_flush();
        (fields, &self.keys, stored, columns)
    }

    /// Takes out what a flush does not write: the numbers of the documents, and the edits.
    pub(super) fn take_rest(&mut self) -> (Vec<u64>, Vec<Edit>) {
        (std::mem::take(&mut self.sequences), std::mem::take(&mut self.edits))
    }

    /// Forgets everything and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.fields.clear();
        self.keys = Keys::default();
        (self.key_bytes, self.edit_bytes) = (0, 0);
        drop(self.take_rest());
    }
}

/// Refuses a document that does not fit beside what is there.
fn too_large(document: &Document) -> Error {
    Error::Options(format!(
        "document \"{}\" does not fit into the memory of the writer: give it more, or cut the document",
        document.key().escape_ascii()
    ))
}
