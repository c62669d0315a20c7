//! The words of the extended attributes of entries, in memory.

use crate::error::Result;
use crate::invert::{InvertOptions, Inverter};
use crate::schema::{Field, Schema};
use crate::source::Entry;
use crate::sys::PageSize;
use crate::tokenize::Tokenizer;

/// The inverted index of the field of extended attributes.
pub(super) struct AttributeWords {
    field: Field,
    inverter: Inverter,
    tokenizer: Tokenizer,
    /// A copy of the attributes, which the tokenizer changes.
    text: Vec<u8>,
}

impl AttributeWords {
    /// For the field of extended attributes, if the schema has it.
    pub(super) fn new(schema: &Schema, field: Option<Field>, invert: &InvertOptions) -> Result<Option<Self>> {
        let Some((field, entry)) = field.and_then(|field| Some((field, schema.entry(field)?))) else {
            return Ok(None);
        };
        let (Some(postings), Some(analyzer)) = (entry.postings(), schema.analyzer(field)) else {
            return Ok(None);
        };
        let options = InvertOptions { postings, pages: PageSize::Base, ..*invert };
        let (inverter, tokenizer) = (Inverter::new(&options)?, Tokenizer::new(analyzer));
        Ok(Some(AttributeWords { field, inverter, tokenizer, text: Vec::new() }))
    }

    /// Adds the words of an entry as a document.
    pub(super) fn add(&mut self, entry: &Entry<'_>) {
        if let Some(xattrs) = entry.xattrs {
            self.text.clear();
            self.text.extend_from_slice(xattrs);
            self.tokenizer.run(&mut self.text, 0..xattrs.len(), &mut self.inverter);
        }
        self.inverter.end_document();
    }

    /// What is written as a segment.
    pub(super) fn for_flush(&mut self) -> (Field, &mut Inverter) {
        (self.field, &mut self.inverter)
    }

    /// The number of words that were cut.
    pub(super) fn cut_words(&self) -> u64 {
        self.tokenizer.cut_tokens()
    }
}
