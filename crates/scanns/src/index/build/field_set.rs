//! Documents with fields in memory, before they are written as a segment: an inverted index for each searched
//! field, the stored values, and the columns.
//!
//! Values of the current document come in any order of fields. The caller passes a check of memory that is
//! called at short intervals, so that one document does not fill the memory unnoticed.

use super::budget::PART_BYTES;
use crate::column::ColumnSet;
use crate::error::Result;
use crate::invert::{CHECK_EVERY, InvertOptions, Inverter};
use crate::record::{DocumentParts, DocumentRange};
use crate::schema::{Analyzer, Field, MAX_FIELDS, Postings, Records, Schema, Stored, ValueRef, put_stored};
use crate::segment::StoredCollector;
use crate::sys::PageSize;
use crate::tokenize::{TokenSink, Tokenizer};

/// The minimum size that is counted for a value.
const VALUE: usize = 32;

/// The documents of a segment that has not been written yet.
pub(crate) struct FieldSet {
    fields: Vec<InvertedField>,
    /// By field number, the place of its inverter in `fields`, from 1; 0 if it is not searched.
    places: Vec<u8>,
    /// By field number, true if its values are stored.
    kept: Vec<bool>,
    stored: StoredCollector,
    columns: ColumnSet,
    /// The field whose text is stored as the text of the document.
    text_field: Option<Field>,
    /// The field whose terms are stored in vectors, if the index has vectors.
    vector_field: Option<Field>,
    /// A copy of a value for the tokenizer, which may change it.
    text: Vec<u8>,
    /// The encoded stored values of the current document.
    values: Vec<u8>,
    /// Bytes since memory was last checked.
    unchecked: usize,
}

/// The inverted index of one field.
struct InvertedField {
    field: Field,
    inverter: Inverter,
    /// `None` if each value is one term.
    text: Option<(Analyzer, Tokenizer)>,
    /// Where the next value of the current document begins in the text of all its values.
    begins: u64,
}

impl FieldSet {
    /// An empty set whose inverters take at most `budget` bytes each.
    pub(crate) fn new(schema: &Schema, stored: &Stored, records: Records, budget: usize) -> Result<Self> {
        // With several fields, large pages would waste memory: each array of each inverter takes at least
        // one.
        let pages = if schema.searched().count() > 1 { PageSize::Base } else { PageSize::Auto };
        let field = |(field, postings)| {
            let options = InvertOptions { budget, expected_terms: 0, pages, postings };
            let text = schema.analyzer(field).map(|analyzer| (analyzer.clone(), Tokenizer::new(analyzer)));
            Ok(InvertedField { field, inverter: Inverter::new(&options)?, text, begins: 0 })
        };
        let fields: Vec<InvertedField> = schema.searched().map(field).collect::<Result<_>>()?;
        let mut places = vec![0; usize::from(MAX_FIELDS)];
        for (field, place) in fields.iter().zip(1..) {
            if let Some(slot) = places.get_mut(usize::from(field.field.number())) {
                *slot = place;
            }
        }
        let vector_field = schema.default_field();
        let offsets = vector_field.and_then(|field| schema.entry(field)?.postings());
        Ok(FieldSet {
            fields,
            places,
            kept: schema.fields().map(|(_, entry)| entry.stored).collect(),
            stored: StoredCollector::new(stored, records)?
                .keep_offsets(offsets.is_some_and(Postings::has_offsets)),
            columns: ColumnSet::new(schema),
            text_field: None,
            vector_field,
            text: Vec::new(),
            values: Vec::new(),
            unchecked: 0,
        })
    }

    /// Stores the text of the default field as the text of the document, unless the schema stores fields.
    #[must_use]
    pub(crate) fn store_text(mut self) -> Self {
        self.text_field = self.vector_field.filter(|_| !self.stores());
        self
    }

    /// True if the values of any field are stored.
    pub(crate) fn stores(&self) -> bool {
        self.kept.contains(&true)
    }

    /// The collector of stored values and text.
    pub(crate) fn stored(&mut self) -> &mut StoredCollector {
        &mut self.stored
    }

    /// Documents that have ended, including void ones.
    pub(crate) fn max_doc(&self) -> u32 {
        self.fields.first().map_or(0, |field| field.inverter.max_doc())
    }

    /// The number of the current document.
    pub(crate) fn current_document(&self) -> u32 {
        self.fields.first().map_or(0, |field| field.inverter.current_document())
    }

    /// Adds a value of the field's kind to the current document. Calls `check` at intervals with the bytes in
    /// use.
    ///
    /// # Errors
    /// The errors of `check`. The caller must then void the document.
    #[inline]
    pub(crate) fn push(
        &mut self,
        field: Field,
        value: ValueRef<'_>,
        check: &impl Fn(usize) -> Result<()>,
    ) -> Result<()> {
        let number = usize::from(field.number());
        self.columns.push(field, value);
        if self.kept.get(number) == Some(&true) {
            put_stored(field, value, &mut self.values);
        }
        let len = match value {
            ValueRef::Text(text) | ValueRef::Bytes(text) => text.len(),
            _ => 0,
        };
        self.unchecked += len.max(VALUE);
        if self.unchecked >= PART_BYTES {
            self.unchecked = 0;
            check(self.bytes() + len)?;
        }
        let place = self.places.get(number).copied().unwrap_or(0);
        let (ValueRef::Text(text), Some(at)) = (value, usize::from(place).checked_sub(1)) else {
            return Ok(());
        };
        match self.fields.get_mut(at) {
            Some(InvertedField { text: None, inverter, .. }) if !text.is_empty() => {
                inverter.token(text, 0..text.len());
                Ok(())
            }
            Some(InvertedField { text: Some(_), .. }) => self.add_text(at, text, check),
            _ => Ok(()),
        }
    }

    /// Adds a value of a text field to the values before it.
    fn add_text(&mut self, at: usize, value: &[u8], check: &impl Fn(usize) -> Result<()>) -> Result<()> {
        self.text.clear();
        self.text.extend_from_slice(value);
        let mut from = 0;
        loop {
            let Some(InvertedField { field, inverter, text: Some((analyzer, tokenizer)), begins }) =
                self.fields.get_mut(at)
            else {
                return Ok(());
            };
            // The text before `from` has been indexed.
            let range = from..self.text.len();
            let mut parts =
                DocumentParts::new(Records::File, analyzer, DocumentRange::whole(range), PART_BYTES);
            let Some(part) = parts.step(&self.text) else { return Ok(()) };
            from = part.next;
            inverter.text_begins(*begins);
            self.stored.text_begins(*begins);
            let kept = if self.vector_field == Some(*field) { Some(&mut self.stored) } else { None };
            match kept.and_then(StoredCollector::vectors) {
                Some(vectors) => tokenizer.run(&mut self.text, part.range, &mut (inverter, vectors)),
                None => tokenizer.run(&mut self.text, part.range, inverter),
            }
            if part.closes {
                *begins += value.len() as u64 + 1;
                if self.text_field == Some(*field) {
                    self.stored.text(value)?;
                }
                return Ok(());
            }
            check(self.bytes())?;
        }
    }

    /// Ends the current document, which is at `span` of its file.
    pub(crate) fn end_document(&mut self, span: (u64, u64)) -> Result<()> {
        self.fields.iter_mut().for_each(|field| field.inverter.end_document());
        if self.stores() {
            self.stored.text(&self.values)?;
        }
        self.stored.end_document(span)?;
        self.columns.end_document()?;
        self.begin_next();
        Ok(())
    }

    /// Ends the current document as a void one: it has a number, but no contents.
    pub(crate) fn void_document(&mut self) -> Result<()> {
        self.fields.iter_mut().for_each(|field| field.inverter.void_document());
        self.stored.void_document()?;
        self.columns.void_document()?;
        self.begin_next();
        Ok(())
    }

    fn begin_next(&mut self) {
        self.fields.iter_mut().for_each(|field| field.begins = 0);
        // Give back the memory of a huge document.
        for text in [&mut self.text, &mut self.values] {
            text.clear();
            text.shrink_to(CHECK_EVERY);
        }
    }

    /// True if `limit` bytes are in use, including `beside` bytes elsewhere, or if no document number is
    /// left.
    ///
    /// Frees memory kept from earlier segments if it does not fit in addition to the memory in use.
    pub(crate) fn is_full(&mut self, limit: usize, beside: usize) -> bool {
        if self.resident() + beside > limit / 4 * 5 {
            self.fields.iter_mut().for_each(|field| field.inverter.release_unused());
        }
        self.bytes() + beside >= limit
            || self.fields.iter_mut().any(|field| field.inverter.is_full(usize::MAX))
    }

    fn rest_bytes(&self) -> usize {
        self.text.capacity() + self.values.capacity() + self.stored.bytes() + self.columns.bytes()
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.fields.iter().map(|field| field.inverter.bytes()).sum::<usize>() + self.rest_bytes()
    }

    /// Bytes resident, including memory kept from earlier segments.
    pub(crate) fn resident(&self) -> usize {
        self.fields.iter().map(|field| field.inverter.resident()).sum::<usize>() + self.rest_bytes()
    }

    /// Tokens that were cut to the maximum length of a term.
    pub(crate) fn cut_terms(&self) -> u64 {
        let tokenizers = self.fields.iter().filter_map(|field| field.text.as_ref());
        tokenizers.map(|(_, tokenizer)| tokenizer.cut_tokens()).sum()
    }

    /// The input of a flush: the fields with their inverters, the stored values, and the columns.
    pub(crate) fn for_flush(
        &mut self,
    ) -> (Vec<(Field, &mut Inverter)>, &mut StoredCollector, &mut ColumnSet) {
        let fields = self.fields.iter_mut().map(|field| (field.field, &mut field.inverter)).collect();
        (fields, &mut self.stored, &mut self.columns)
    }

    /// Empties the inverters, and keeps their memory.
    pub(crate) fn clear(&mut self) {
        self.fields.iter_mut().for_each(|field| field.inverter.clear());
    }
}
