//! Documents of several fields that are in memory only: an inverted index for each field that is searched, what is stored,
//! and columns.
//!
//! Values of the document at hand come in any order of fields. Whoever gives them says how to check that there is room for
//! more, which is asked at short intervals, so that one document does not fill the memory unseen.

use crate::column::ColumnSet;
use crate::error::Result;
use crate::invert::{CHECK_EVERY, InvertOptions, Inverter};
use crate::record::Parts;
use crate::schema::{Analyzer, Field, MAX_FIELDS, Postings, Records, Schema, Stored, ValueRef, put_stored};
use crate::segment::Collector;
use crate::sys::PageSize;
use crate::tokenize::{TokenSink, Tokenizer};

/// Bytes of values between two looks at the memory.
const PART: usize = CHECK_EVERY / 4;

/// What a value counts as at least.
const VALUE: usize = 32;

/// See the module.
pub(super) struct FieldSet {
    fields: Vec<Inverted>,
    /// By number of a field, the place of its index, counted from one.
    places: Vec<u8>,
    /// By number of a field, true if its values are stored.
    kept: Vec<bool>,
    stored: Collector,
    columns: ColumnSet,
    /// The field whose text is stored.
    text_field: Option<Field>,
    /// The field whose terms are kept by document, where they are.
    vector_field: Option<Field>,
    /// Text on its way through a tokenizer, which may change it.
    text: Vec<u8>,
    /// The stored values of the document at hand.
    values: Vec<u8>,
    /// Bytes since the memory was looked at.
    unchecked: usize,
}

/// The index of one field.
struct Inverted {
    field: Field,
    inverter: Inverter,
    /// None in a field that is searched as a whole.
    text: Option<(Analyzer, Tokenizer)>,
    /// Where the next value of the document at hand begins, behind those before it.
    begins: u64,
}

impl FieldSet {
    /// An empty one, whose inverters take at most `budget` bytes each.
    pub(super) fn new(schema: &Schema, stored: &Stored, records: Records, budget: usize) -> Result<Self> {
        // Large pages are for one field: each part of each index takes at least one.
        let pages = if schema.searched().count() > 1 { PageSize::Base } else { PageSize::Auto };
        let field = |(field, postings)| {
            let options = InvertOptions { budget, expected_terms: 0, pages, postings };
            let text = schema.analyzer(field).map(|analyzer| (analyzer.clone(), Tokenizer::new(analyzer)));
            Ok(Inverted { field, inverter: Inverter::new(&options)?, text, begins: 0 })
        };
        let fields: Vec<Inverted> = schema.searched().map(field).collect::<Result<_>>()?;
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
            stored: Collector::new(stored, records)?.keep_offsets(offsets.is_some_and(Postings::has_offsets)),
            columns: ColumnSet::new(schema),
            text_field: None,
            vector_field,
            text: Vec::new(),
            values: Vec::new(),
            unchecked: 0,
        })
    }

    /// The same set, which stores the text of the field that is searched where none is named, if no other field is stored.
    #[must_use]
    pub(super) fn store_text(mut self) -> Self {
        self.text_field = self.vector_field.filter(|_| !self.stores());
        self
    }

    /// True if values of some field are stored.
    pub(super) fn stores(&self) -> bool {
        self.kept.contains(&true)
    }

    /// What keeps documents beside.
    pub(super) fn stored(&mut self) -> &mut Collector {
        &mut self.stored
    }

    /// Documents that have ended, void ones too.
    pub(super) fn max_doc(&self) -> u32 {
        self.fields.first().map_or(0, |field| field.inverter.max_doc())
    }

    /// The number of the document at hand.
    pub(super) fn current_document(&self) -> u32 {
        self.fields.first().map_or(0, |field| field.inverter.current_document())
    }

    /// Adds a value that fits its field to the document at hand. `check` is told now and then how many bytes are in use.
    ///
    /// # Errors
    /// Those of `check`, after which the document must be void.
    #[inline]
    pub(super) fn push(
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
        if self.unchecked >= PART {
            self.unchecked = 0;
            check(self.bytes() + len)?;
        }
        let place = self.places.get(number).copied().unwrap_or(0);
        let (ValueRef::Text(text), Some(at)) = (value, usize::from(place).checked_sub(1)) else {
            return Ok(());
        };
        match self.fields.get_mut(at) {
            Some(Inverted { text: None, inverter, .. }) if !text.is_empty() => {
                inverter.token(text, 0..text.len());
                Ok(())
            }
            Some(Inverted { text: Some(_), .. }) => self.add_text(at, text, check),
            _ => Ok(()),
        }
    }

    /// Adds a value of a text, which begins behind the values before it.
    fn add_text(&mut self, at: usize, value: &[u8], check: &impl Fn(usize) -> Result<()>) -> Result<()> {
        self.text.clear();
        self.text.extend_from_slice(value);
        let mut from = 0;
        loop {
            let Some(Inverted { field, inverter, text: Some((analyzer, tokenizer)), begins }) =
                self.fields.get_mut(at)
            else {
                return Ok(());
            };
            // What is in front of `from` has been taken.
            let range = from..self.text.len();
            let mut parts = Parts::new(Records::File, analyzer, range, (false, true), PART);
            let Some(part) = parts.step(&self.text) else { return Ok(()) };
            from = part.next;
            inverter.text_begins(*begins);
            self.stored.text_begins(*begins);
            let kept = if self.vector_field == Some(*field) { Some(&mut self.stored) } else { None };
            match kept.and_then(Collector::vectors) {
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

    /// Ends the document at hand, which stands at `span` of its file.
    pub(super) fn end_document(&mut self, span: (u64, u64)) -> Result<()> {
        self.fields.iter_mut().for_each(|field| field.inverter.end_document());
        if self.stores() {
            self.stored.text(&self.values)?;
        }
        self.stored.end_document(span)?;
        self.columns.end_document()?;
        self.begin_next();
        Ok(())
    }

    /// Ends the document at hand, void: it keeps its number, and nothing of it will be read.
    pub(super) fn void_document(&mut self) -> Result<()> {
        self.fields.iter_mut().for_each(|field| field.inverter.void_document());
        self.stored.void_document()?;
        self.columns.void_document()?;
        self.begin_next();
        Ok(())
    }

    fn begin_next(&mut self) {
        self.fields.iter_mut().for_each(|field| field.begins = 0);
        // The text of a huge document is not kept for small ones.
        for text in [&mut self.text, &mut self.values] {
            text.clear();
            text.shrink_to(CHECK_EVERY);
        }
    }

    /// True when `limit` bytes are used up beside `beside` others, or all document numbers.
    ///
    /// Memory kept from what was written before is given back here where it would not fit beside what is used now.
    pub(super) fn is_full(&mut self, limit: usize, beside: usize) -> bool {
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
    pub(super) fn bytes(&self) -> usize {
        self.fields.iter().map(|field| field.inverter.bytes()).sum::<usize>() + self.rest_bytes()
    }

    /// Bytes taken, with what is kept from before.
    pub(super) fn resident(&self) -> usize {
        self.fields.iter().map(|field| field.inverter.resident()).sum::<usize>() + self.rest_bytes()
    }

    /// Words that were longer than a term may be.
    pub(super) fn cut_terms(&self) -> u64 {
        let tokenizers = self.fields.iter().filter_map(|field| field.text.as_ref());
        tokenizers.map(|(_, tokenizer)| tokenizer.cut_tokens()).sum()
    }

    /// The fields with their inverters, what is stored, and the columns, for a flush.
    pub(super) fn for_flush(&mut self) -> (Vec<(Field, &mut Inverter)>, &mut Collector, &mut ColumnSet) {
        let fields = self.fields.iter_mut().map(|field| (field.field, &mut field.inverter)).collect();
        (fields, &mut self.stored, &mut self.columns)
    }

    /// Forgets what inverters have, and keeps their memory.
    pub(super) fn clear(&mut self) {
        self.fields.iter_mut().for_each(|field| field.inverter.clear());
    }
}
