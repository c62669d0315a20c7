//! Documents and deletes of one lane that are in memory only, with the number of the operation that each came from.

use crate::error::{Error, Result};
use crate::invert::{CHECK_EVERY, InvertOptions, Inverter};
use crate::record::Parts;
use crate::schema::{Document, Field, FieldKind, Records, Schema, Stored};
use crate::search::Query;
use crate::segment::{Collector, Keys};
use crate::source::Stamp;
use crate::sys::PageSize;
use crate::tokenize::{MAX_TOKEN, Tokenizer};

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
            Target::Query(..) => 1024,
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
    /// The field whose text and terms are stored where the schema stores no field.
    text_field: Option<Field>,
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
        let field = |(field, postings)| {
            let options = InvertOptions { budget, expected_terms: 0, pages: PageSize::Auto, postings };
            let tokenizer = schema.analyzer(field).map(Tokenizer::new);
            Ok(PartField { field, inverter: Inverter::new(&options)?, tokenizer })
        };
        Ok(Part {
            fields: schema.searched().map(field).collect::<Result<_>>()?,
            keys: Keys::default(),
            key_bytes: 0,
            sequences: Vec::new(),
            deletes: Vec::new(),
            delete_bytes: 0,
            stored: Collector::new(stored, Records::File)?,
            text_field: schema.default_field().filter(|_| !schema.stores()),
            text: Vec::new(),
        })
    }

    /// Adds a document that fits the schema.
    ///
    /// # Errors
    /// [`Error::Options`] if it is too large for the memory; nothing of it is then in the index.
    pub(super) fn add(&mut self, schema: &Schema, document: &Document, sequence: u64) -> Result<()> {
        let Part { fields, text, stored, .. } = self;
        let text_field = self.text_field;
        let mut outcome = fields.iter_mut().try_for_each(|field| {
            let kept = if text_field == Some(field.field) { Some(&mut *stored) } else { None };
            field.add(schema, document, text, kept)
        });
        if text_field.is_none() && outcome.is_ok() {
            text.clear();
            document.put_stored(schema, text);
            outcome = stored.text(text);
        }
        for field in fields {
            if outcome.is_ok() { field.inverter.end_document() } else { field.inverter.void_document() }
        }
        if outcome.is_ok() {
            stored.end_document((0, 0))?
        } else {
            stored.void_document()?
        }
        // A document that is void has a number too.
        self.key_bytes += document.key().len() + size_of::<Vec<u8>>() + size_of::<Stamp>() + 16;
        self.keys.paths.push(document.key().to_vec());
        self.keys.stamps.push(Stamp::default());
        self.sequences.push(sequence);
        // The text of a huge document is not kept for small ones.
        self.text.shrink_to(CHECK_EVERY);
        outcome
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

    /// True if it has documents, be they void.
    pub(super) fn has_documents(&self) -> bool {
        !self.sequences.is_empty()
    }

    /// True when `limit` bytes are used up.
    pub(super) fn is_full(&mut self, limit: usize) -> bool {
        // Each is asked: that is when it gives memory back.
        let full =
            self.fields.iter_mut().map(|field| field.inverter.is_full(limit)).filter(|full| *full).count()
                > 0;
        full || self.bytes() >= limit
    }

    fn rest_bytes(&self) -> usize {
        let lists = self.sequences.capacity() * 8 + self.text.capacity();
        self.key_bytes + self.delete_bytes + lists + self.stored.bytes()
    }

    /// Bytes in use.
    fn bytes(&self) -> usize {
        self.fields.iter().map(|field| field.inverter.bytes()).sum::<usize>() + self.rest_bytes()
    }

    /// Bytes taken, with what is kept from before.
    pub(super) fn resident(&self) -> usize {
        self.fields.iter().map(|field| field.inverter.resident()).sum::<usize>() + self.rest_bytes()
    }

    /// The fields with their inverters, the keys, and what is stored, for a flush.
    pub(super) fn for_flush(&mut self) -> (Vec<(Field, &mut Inverter)>, &Keys, &mut Collector) {
        let fields = self.fields.iter_mut().map(|field| (field.field, &mut field.inverter)).collect();
        (fields, &self.keys, &mut self.stored)
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

impl PartField {
    /// Adds the texts of a document; `stored` gets them too, if that is to keep them.
    fn add(
        &mut self,
        schema: &Schema,
        document: &Document,
        buffer: &mut Vec<u8>,
        mut stored: Option<&mut Collector>,
    ) -> Result<()> {
        let Some(FieldKind::Text { analyzer, .. }) = schema.entry(self.field).map(|entry| &entry.kind) else {
            let add = |value: &[u8]| {
                crate::tokenize::TokenSink::token(
                    &mut self.inverter,
                    value.get(..MAX_TOKEN).unwrap_or(value),
                );
            };
            document.texts(self.field).filter(|value| !value.is_empty()).for_each(add);
            return Ok(());
        };
        let Some(tokenizer) = &mut self.tokenizer else { return Ok(()) };
        for text in document.texts(self.field) {
            buffer.clear();
            buffer.extend_from_slice(text);
            let mut parts =
                Parts::new(Records::File, analyzer, 0..buffer.len(), (false, true), CHECK_EVERY / 4);
            if let Some(stored) = &mut stored {
                stored.text(text)?;
            }
            while let Some(part) = parts.step(buffer) {
                match stored.as_mut().and_then(|stored| stored.vectors()) {
                    Some(vectors) => tokenizer.run(buffer, part.range, &mut (&mut self.inverter, vectors)),
                    None => tokenizer.run(buffer, part.range, &mut self.inverter),
                }
                if !part.closes && self.inverter.is_full(usize::MAX) {
                    return Err(Error::Options(format!(
                        "document \"{}\" does not fit into the memory of the writer: give it more, or cut the document",
                        document.key().escape_ascii()
                    )));
                }
            }
        }
        Ok(())
    }
}
