//! Documents and deletes of one lane that are in memory only, with the number of the operation that each came from.

use crate::column::ColumnSet;
use crate::error::{Error, Result};
use crate::invert::{CHECK_EVERY, InvertOptions, Inverter};
use crate::record::Parts;
use crate::schema::{Document, Field, Postings, Records, Schema, Stored};
use crate::search::Query;
use crate::segment::{Collector, Keys};
use crate::source::Stamp;
use crate::sys::PageSize;
use crate::tokenize::{TokenSink, Tokenizer};

/// What is to be deleted of all that came before.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// Documents with a key.
    Key(Vec<u8>),
    /// Documents that a query matches in a field.
    Query(Field, Query),
}

impl Target {
    /// Memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Target::Key(key) => key.len() + 64,
            Target::Query(_, query) => query.memory_bytes() + 64,
        }
    }
}

/// A delete, and the number of its operation: it concerns documents with smaller numbers.
pub(super) type Delete = (Target, u64);

/// See the module.
pub(super) struct Part {
    fields: Vec<PartField>,
    keys: Keys,
    key_bytes: usize,
    /// By document, the number of the operation that added it.
    sequences: Vec<u64>,
    deletes: Vec<Delete>,
    delete_bytes: usize,
    /// What is kept of documents beside.
    stored: Collector,
    columns: ColumnSet,
    /// The field whose text is stored where the schema stores no field.
    text_field: Option<Field>,
    /// The field whose terms are kept by document, where they are.
    vector_field: Option<Field>,
    /// Bytes that all of it may take.
    budget: usize,
    /// Text on its way through a tokenizer, which may change it.
    text: Vec<u8>,
}

/// The index of one field.
struct PartField {
    field: Field,
    inverter: Inverter,
    /// None in a field that is searched as a whole.
    tokenizer: Option<Tokenizer>,
}

impl Part {
    /// An empty one, whose inverters take at most `budget` bytes each.
    pub(super) fn new(schema: &Schema, stored: &Stored, budget: usize) -> Result<Self> {
        // Large pages are for one field: each part of each index takes at least one.
        let pages = if schema.searched().count() > 1 { PageSize::Base } else { PageSize::Auto };
        let field = |(field, postings)| {
            let options = InvertOptions { budget, expected_terms: 0, pages, postings };
            let tokenizer = schema.analyzer(field).map(Tokenizer::new);
            Ok(PartField { field, inverter: Inverter::new(&options)?, tokenizer })
        };
        let vector_field = schema.default_field();
        let text_field = vector_field.filter(|_| !schema.stores());
        let offsets = vector_field.and_then(|field| schema.entry(field)?.postings());
        Ok(Part {
            fields: schema.searched().map(field).collect::<Result<_>>()?,
            keys: Keys::default(),
            key_bytes: 0,
            sequences: Vec::new(),
            deletes: Vec::new(),
            delete_bytes: 0,
            stored: Collector::new(stored, Records::File)?
                .keep_offsets(offsets.is_some_and(Postings::has_offsets)),
            columns: ColumnSet::new(schema),
            text_field,
            vector_field,
            budget,
            text: Vec::new(),
        })
    }

    /// Adds a document that fits the schema.
    ///
    /// # Errors
    /// [`Error::Options`] if it is too large for the memory; nothing of it is then in the index.
    pub(super) fn add(&mut self, schema: &Schema, document: &Document, sequence: u64) -> Result<()> {
        let outcome = self.add_values(schema, document);
        let Part { fields, stored, columns, .. } = self;
        for field in fields {
            if outcome.is_ok() { field.inverter.end_document() } else { field.inverter.void_document() }
        }
        if outcome.is_ok() {
            stored.end_document((0, 0))?;
            columns.end_document()?;
        } else {
            stored.void_document()?;
            columns.void_document()?;
        }
        // A document that is void has a number too.
        self.key_bytes += document.key().len() + size_of::<Vec<u8>>() + size_of::<Stamp>() + 16;
        self.keys.paths.push(document.key().to_vec());
        self.keys.stamps.push(Stamp::default());
        self.sequences.push(sequence);
        // The text of a huge document is not kept for small ones.
        self.text.clear();
        self.text.shrink_to(CHECK_EVERY);
        outcome
    }

    /// Adds the values of a document that has not ended.
    fn add_values(&mut self, schema: &Schema, document: &Document) -> Result<()> {
        for field in 0..self.fields.len() {
            let Some(PartField { field: of, tokenizer, .. }) = self.fields.get(field) else { break };
            let (of, is_text) = (*of, tokenizer.is_some());
            let (mut unchecked, mut begins) = (0, 0);
            for value in document.texts(of) {
                unchecked += value.len().max(64);
                if unchecked >= CHECK_EVERY / 4 {
                    unchecked = 0;
                    self.check_room(document)?;
                }
                if is_text {
                    self.add_text(field, schema, document, (value, begins))?;
                    begins += value.len() as u64 + 1;
                } else {
                    self.add_keyword(field, value);
                }
            }
        }
        if !self.columns.is_empty() {
            document.values().iter().for_each(|(field, value)| self.columns.push(*field, value.as_ref()));
            self.check_room(document)?;
        }
        if self.text_field.is_none() {
            self.text.clear();
            document.put_stored(schema, &mut self.text);
            self.check_room(document)?;
            self.stored.text(&self.text)?;
        }
        Ok(())
    }

    fn add_keyword(&mut self, field: usize, value: &[u8]) {
        if let Some(field) = self.fields.get_mut(field).filter(|_| !value.is_empty()) {
            field.inverter.token(value, 0..value.len());
        }
    }

    /// Adds a value of a text, which begins behind the values before it.
    fn add_text(
        &mut self,
        field: usize,
        schema: &Schema,
        document: &Document,
        (value, begins): (&[u8], u64),
    ) -> Result<()> {
        self.text.clear();
        self.text.extend_from_slice(value);
        if value.len() >= CHECK_EVERY / 4 {
            self.check_room(document)?;
        }
        let Some(analyzer) = self.fields.get(field).and_then(|field| schema.analyzer(field.field)) else {
            return Ok(());
        };
        let mut parts = Parts::new(Records::File, analyzer, 0..value.len(), (false, true), CHECK_EVERY / 4);
        let mut first = true;
        while let Some(part) = parts.step(&self.text) {
            if !std::mem::take(&mut first) {
                self.check_room(document)?;
            }
            let Part { fields, stored, text, vector_field, .. } = self;
            let Some(PartField { field, inverter, tokenizer: Some(tokenizer) }) = fields.get_mut(field)
            else {
                break;
            };
            inverter.text_begins(begins);
            stored.text_begins(begins);
            let kept = if *vector_field == Some(*field) { Some(stored) } else { None };
            match kept.and_then(|stored| stored.vectors()) {
                Some(vectors) => tokenizer.run(text, part.range, &mut (inverter, vectors)),
                None => tokenizer.run(text, part.range, inverter),
            }
        }
        let is_kept = self.fields.get(field).is_some_and(|field| self.text_field == Some(field.field));
        if is_kept { self.stored.text(value) } else { Ok(()) }
    }

    /// Refuses a document that does not fit beside what is there.
    fn check_room(&self, document: &Document) -> Result<()> {
        if self.bytes() < self.budget {
            return Ok(());
        }
        Err(Error::Options(format!(
            "document \"{}\" does not fit into the memory of the writer: give it more, or cut the document",
            document.key().escape_ascii()
        )))
    }

    /// Notes what is to be deleted.
    pub(super) fn delete(&mut self, target: Target, sequence: u64) {
        self.delete_bytes += target.bytes();
        self.deletes.push((target, sequence));
    }

    /// True if nothing is in it.
    pub(super) fn is_empty(&self) -> bool {
        self.sequences.is_empty() && self.deletes.is_empty()
    }

    /// Documents in it, void ones too.
    pub(super) fn documents(&self) -> usize {
        self.sequences.len()
    }

    /// True when `limit` bytes are used up, or all document numbers.
    ///
    /// Memory kept from what was written before is given back here where it would not fit beside what is used now.
    pub(super) fn is_full(&mut self, limit: usize) -> bool {
        if self.resident() > limit / 4 * 5 {
            self.fields.iter_mut().for_each(|field| field.inverter.release_unused());
        }
        self.bytes() >= limit || self.fields.iter_mut().any(|field| field.inverter.is_full(usize::MAX))
    }

    fn rest_bytes(&self) -> usize {
        let lists = self.sequences.capacity() * 8 + self.text.capacity();
        self.key_bytes + self.delete_bytes + lists + self.stored.bytes() + self.columns.bytes()
    }

    /// Bytes in use.
    fn bytes(&self) -> usize {
        self.fields.iter().map(|field| field.inverter.bytes()).sum::<usize>() + self.rest_bytes()
    }

    /// Bytes taken, with what is kept from before.
    pub(super) fn resident(&self) -> usize {
        self.fields.iter().map(|field| field.inverter.resident()).sum::<usize>() + self.rest_bytes()
    }

    /// The fields with their inverters, the keys, what is stored, and the columns, for a flush.
    pub(super) fn for_flush(
        &mut self,
    ) -> (Vec<(Field, &mut Inverter)>, &Keys, &mut Collector, &mut ColumnSet) {
        let fields = self.fields.iter_mut().map(|field| (field.field, &mut field.inverter)).collect();
        (fields, &self.keys, &mut self.stored, &mut self.columns)
    }

    /// Takes out what a flush does not write: the numbers of the documents, and the deletes.
    pub(super) fn take_rest(&mut self) -> (Vec<u64>, Vec<Delete>) {
        (std::mem::take(&mut self.sequences), std::mem::take(&mut self.deletes))
    }

    /// Forgets everything and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.fields.iter_mut().for_each(|field| field.inverter.clear());
        self.keys = Keys::default();
        (self.key_bytes, self.delete_bytes) = (0, 0);
        drop(self.take_rest());
    }
}
